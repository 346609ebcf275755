//! Query-focused summaries: the whole text and a query, and what is no summary is not asked.

use crate::support::{Case, ScriptedHost, item};
use closeread_core::benchmark::Task;
use expect_test::expect;
use serde_json::json;

#[test]
fn a_summary_sees_the_whole_text_and_the_query() {
    Case::new("query-summary", json!({})).check(
        &ScriptedHost::always(Ok("Ana hid a key. Ben found it.")),
        &item(Task::Summary),
        &expect![[""]],
    );
}

#[test]
fn a_question_is_not_asked() {
    Case::new("query-summary", json!({})).check(
        &ScriptedHost::always(Ok("never asked")),
        &item(Task::Choice),
        &expect![[""]],
    );
}

#[test]
fn an_empty_reply_and_a_book_beyond_the_window_are_outcomes() {
    let case = Case::new("query-summary", json!({}));
    case.check(&ScriptedHost::always(Ok("  ")), &item(Task::Summary), &expect![[""]]);
    Case { window: Some(150), ..case }.check(
        &ScriptedHost::always(Ok("never asked")),
        &item(Task::Summary),
        &expect![[""]],
    );
}

#[test]
fn nothing_is_asked_twice() {
    let script = |_: &_, _| Ok("Ana hid a key.".to_owned());
    Case::new("query-summary", json!({})).survives_any_death(&script, &[&item(Task::Summary), &item(Task::Choice)]);
}
