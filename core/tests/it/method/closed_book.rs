//! Closed book: the title, and nothing of the text.

use crate::support::{Case, ScriptedHost, item};
use closeread_eval::Task;
use expect_test::expect;
use serde_json::json;

#[test]
fn closed_book_names_the_title_and_nothing_of_the_text() {
    Case::new("closed-book", json!({})).check(
        &ScriptedHost::always(Ok("I would say [[7]].")),
        &item(Task::Choice),
        &expect![[r#"
            chat closed-book-choice (<= 64 tokens, temperature 0)
              | You know literature well. The question below is about "The Key". Answer from memory; the text is not given.
              |
              | Question: Where was the key?
              |
              | [[1]] In the river
              | [[2]] Under a stair
              |
              | First explain your decision in one or two short sentences. Then close with the number of the option you choose, written in double square brackets, for example [[1]].
            Unparsed { response: "I would say [[7]]." }
        "#]],
    );
}
