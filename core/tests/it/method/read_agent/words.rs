//! Word for word: what is asked for pages, gists, look-ups and answers.

use super::case;
use crate::support::{ScriptedHost, item};
use closeread_eval::Task;
use expect_test::expect;
use serde_json::json;

#[test]
fn a_book_becomes_pages_and_gists_and_a_question_is_answered_from_them() {
    let host = ScriptedHost::scripted(|call, n| {
        Ok(match (call.prompt.as_str(), n) {
            ("read-agent-paginate", 0) => "Break point: <2>\nBecause the river rises.",
            ("read-agent-paginate", _) => "Break point: <4>",
            ("read-agent-gist", _) if call.messages[0].content.contains("Ana") => " Ana hid a key. ",
            ("read-agent-gist", _) if call.messages[0].content.contains("Ben") => "Ben came over the flood.",
            ("read-agent-gist", _) => "He kept it.",
            ("read-agent-lookup", _) => "I want to look up Page [0] to see where she hid it.",
            _ => "Answer: (B) Under a stair",
        }
        .to_owned())
    });
    case(json!({})).check(&host, &item(Task::Choice), &expect![[r#"
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | Ana hid the key under the third stair.
          | <1>
          | Nobody saw her do it.
          | <2>
          | In spring the river rose and took the bridge.
          | <3>
          | Ben rowed across with a lantern.
          | ...
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | ...
          | Ana hid the key under the third stair. Nobody saw her do it.
          | In spring the river rose and took the bridge.
          | <3>
          | Ben rowed across with a lantern.
          | <4>
          | He found the key and kept it for nine years.
          | <5>
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | ...
          | In spring the river rose and took the bridge. Ben rowed across with a lantern.
          | He found the key and kept it for nine years.
          | <5>
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | Ana hid the key under the third stair. Nobody saw her do it.
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | In spring the river rose and took the bridge. Ben rowed across with a lantern.
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | He found the key and kept it for nine years.
        chat read-agent-lookup (<= 64 tokens, temperature 0)
          | Here is what you remember of a text that you have read, page by page, and a question about it. You may read up to 6 pages again before you have to answer.
          |
          | Say which pages you want to read, by their numbers in square brackets. For page 8 alone, write "I want to look up Page [8] to ..."; for pages 7 and 12, write "I want to look up Page [7, 12] to ...". Write out every number; a range such as 3-5 is not understood. Ask for no more pages than you need, and do not answer the question yet.
          |
          | What you remember:
          | <Page 0>
          | Ana hid a key.
          | <Page 1>
          | Ben came over the flood.
          | <Page 2>
          | He kept it.
          |
          | Question:
          | Where was the key?
          |
          | (A) In the river
          | (B) Under a stair
          |
          | Which pages do you want to read again?
        chat read-agent-choice (<= 64 tokens, temperature 0)
          | Read the text below, parts of which are shortened, and answer the question that follows it by choosing one option.
          |
          | Begin your reply with the letter of the option, in parentheses: if (C) is right, write "Answer: (C) ...".
          |
          | Text:
          | Ana hid the key under the third stair. Nobody saw her do it.
          | Ben came over the flood.
          | He kept it.
          |
          | Question:
          | Where was the key?
          |
          | (A) In the river
          | (B) Under a stair
        context 0..60 (25 tokens)
        measures {"compression":0.6842105263157895,"compression_after_lookup":0.4473684210526315,"pages":3.0,"pages_looked_up":1.0}
        Answered { answer: "Under a stair", choice: Some(1) }
    "#]]);
}

#[test]
fn one_page_a_turn_until_stop() {
    let host = ScriptedHost::scripted(|call, _| {
        let text = &call.messages[0].content;
        Ok(match call.prompt.as_str() {
            "read-agent-lookup-next" if text.contains("page 2") => "STOP",
            "read-agent-lookup-next" if text.contains("page 0") => "I want to look up Page [2] to be sure.",
            "read-agent-lookup-next" => "I want to look up Page [0, 1] to see.",
            "read-agent-gist" => "Something.",
            "read-agent-question" => "under the third stair",
            _ => "no idea",
        }
        .to_owned())
    });
    let case = case(json!({ "lookup": "sequential", "word_limit": 10, "start_threshold": 5, "min_words": 5 }));
    case.check(&host, &item(Task::Generative), &expect![[r#"
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | Ana hid the key under the third stair.
          | <1>
          | Nobody saw her do it.
          | <2>
          | In spring the river rose and took the bridge.
          | ...
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | ...
          | Ana hid the key under the third stair. Nobody saw her do it.
          | In spring the river rose and took the bridge.
          | <3>
          | Ben rowed across with a lantern.
          | <4>
          | He found the key and kept it for nine years.
          | ...
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | ...
          | In spring the river rose and took the bridge. Ben rowed across with a lantern.
          | He found the key and kept it for nine years.
          | <5>
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | Ana hid the key under the third stair. Nobody saw her do it.
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | In spring the river rose and took the bridge. Ben rowed across with a lantern.
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | He found the key and kept it for nine years.
        chat read-agent-lookup-next (<= 64 tokens, temperature 0)
          | Here is what you remember of a text that you have read, page by page, and a question about it. Before you have to answer you may read pages again, one at a time.
          |
          | If another page would help, name it by its number in square brackets: for page 8, write "I want to look up Page [8] to ...". Name one page only, and none that is already in full. If you know enough, write STOP. Do not answer the question yet.
          |
          | What you remember:
          | <Page 0>
          | Something.
          | <Page 1>
          | Something.
          | <Page 2>
          | Something.
          |
          | Question:
          | Where was the key?
          |
          |
          | Which page do you want to read next, or STOP?
        chat read-agent-lookup-next (<= 64 tokens, temperature 0)
          | Here is what you remember of a text that you have read, page by page, and a question about it. Before you have to answer you may read pages again, one at a time. Already in full below: page 0.
          |
          | If another page would help, name it by its number in square brackets: for page 8, write "I want to look up Page [8] to ...". Name one page only, and none that is already in full. If you know enough, write STOP. Do not answer the question yet.
          |
          | What you remember:
          | <Page 0>
          | Ana hid the key under the third stair. Nobody saw her do it.
          | <Page 1>
          | Something.
          | <Page 2>
          | Something.
          |
          | Question:
          | Where was the key?
          |
          |
          | Which page do you want to read next, or STOP?
        chat read-agent-lookup-next (<= 64 tokens, temperature 0)
          | Here is what you remember of a text that you have read, page by page, and a question about it. Before you have to answer you may read pages again, one at a time. Already in full below: page 0, page 2.
          |
          | If another page would help, name it by its number in square brackets: for page 8, write "I want to look up Page [8] to ...". Name one page only, and none that is already in full. If you know enough, write STOP. Do not answer the question yet.
          |
          | What you remember:
          | <Page 0>
          | Ana hid the key under the third stair. Nobody saw her do it.
          | <Page 1>
          | Something.
          | <Page 2>
          | He found the key and kept it for nine years.
          |
          | Question:
          | Where was the key?
          |
          |
          | Which page do you want to read next, or STOP?
        chat read-agent-question (<= 64 tokens, temperature 0)
          | Read the text below, parts of which are shortened, and answer the question that follows it.
          |
          | Text:
          | Ana hid the key under the third stair. Nobody saw her do it.
          | Something.
          | He found the key and kept it for nine years.
          |
          | Question: Where was the key?
          |
          | Rules for your answer:
          | - Rely on the text and on nothing else.
          | - Be brief and factual: preferably 1 to 20 words.
          | - Give no explanation, and no details that are not needed.
          | - If the text does not explicitly state the answer, write exactly: Not found in context.
        context 0..60 140..184 (28 tokens)
        measures {"compression":0.9210526315789473,"compression_after_lookup":0.368421052631579,"pages":3.0,"pages_looked_up":2.0}
        Answered { answer: "under the third stair", choice: None }
    "#]]);
}
