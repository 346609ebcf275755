//! Query-focused summaries: the whole text and a query, and what is no summary is not asked.

use crate::support::{Case, ScriptedHost, item};
use closeread_eval::Task;
use expect_test::expect;
use serde_json::json;

#[test]
fn a_summary_sees_the_whole_text_and_the_query() {
    Case::new("query-summary", json!({})).check(
        &ScriptedHost::always(Ok("Ana hid a key. Ben found it.")),
        &item(Task::Summary),
        &expect![[r#"
            chat read-summary (<= 64 tokens, temperature 0)
              | Below is the text you have to work with. It lies between the two marker lines.
              |
              | === CONTEXT BEGINS ===
              | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
              | === CONTEXT ENDS ===
              |
              | Write a summary of this text that responds to the following query, and only to it. Use several full sentences, in the language of the query. State what the text says and nothing beyond it.
              |
              | Query: Where was the key?
            context 0..184 (44 tokens)
            Answered { answer: "Ana hid a key. Ben found it.", choice: None }
        "#]],
    );
}

#[test]
fn a_question_is_not_asked() {
    Case::new("query-summary", json!({})).check(
        &ScriptedHost::always(Ok("never asked")),
        &item(Task::Choice),
        &expect![[r#"
            NotAsked { reason: "query-summary answers items of task summary" }
        "#]],
    );
}

#[test]
fn an_empty_response_and_a_book_beyond_the_window_are_outcomes() {
    let case = Case::new("query-summary", json!({}));
    case.check(&ScriptedHost::always(Ok("  ")), &item(Task::Summary), &expect![[r#"
        chat read-summary (<= 64 tokens, temperature 0)
          | Below is the text you have to work with. It lies between the two marker lines.
          |
          | === CONTEXT BEGINS ===
          | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
          | === CONTEXT ENDS ===
          |
          | Write a summary of this text that responds to the following query, and only to it. Use several full sentences, in the language of the query. State what the text says and nothing beyond it.
          |
          | Query: Where was the key?
        context 0..184 (44 tokens)
        Unparsed { response: "  " }
    "#]]);
    Case { window: Some(150), ..case }.check(
        &ScriptedHost::always(Ok("never asked")),
        &item(Task::Summary),
        &expect![[r#"
            Overflow { needed: Some(186), context_window: Some(150) }
        "#]],
    );
}

#[test]
fn nothing_is_asked_twice() {
    let script = |_: &_, _| Ok("Ana hid a key.".to_owned());
    Case::new("query-summary", json!({})).survives_any_death(&script, &[&item(Task::Summary), &item(Task::Choice)]);
}
