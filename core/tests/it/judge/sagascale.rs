//! SagaScale's judge of answers and its classifier of questions.

use super::{Case, correct};
use closeread_judges::{Judge, QuestionType, Ruling, Verdict};
use expect_test::expect;

#[test]
fn an_answer_is_judged_in_a_box() {
    Case::new(Judge::SagaScale).check("It names the stair.\n\\boxed{CORRECT}", &expect![[r#"
            chat judge-sagascale (<= 64 tokens, temperature 0)
              | You grade answers to questions about a novel. You are given the question, a reference answer that is known to be right, and the answer of a reader. Judge the reader's answer by the reference answer alone; do not use what you may know of the book.
              |
              | Novel: The Key
              |
              | Question: Where was the key?
              |
              | Reference answer: under the third stair
              |
              | Reader's answer: below a stair
              |
              | The reader's answer is correct only if all of these hold:
              | 1. It responds to the question that was asked.
              | 2. Nothing in it contradicts the reference answer.
              | 3. It contains the key points of the reference answer. Other words, another order or harmless additions do not matter.
              |
              | Think it through briefly. Then end with your verdict in a box: \boxed{CORRECT} or \boxed{INCORRECT}.
            {"state":"ruled","ruling":{"kind":"correctness","correct":true}}
        "#]]);
}

#[test]
fn several_gold_answers_are_alternatives() {
    let mut case = Case::new(Judge::SagaScale);
    case.item.answers.push("under a stair".into());
    case.check("\\boxed{INCORRECT}", &expect![[r#"
            chat judge-sagascale (<= 64 tokens, temperature 0)
              | You grade answers to questions about a novel. You are given the question, a reference answer that is known to be right, and the answer of a reader. Judge the reader's answer by the reference answer alone; do not use what you may know of the book.
              |
              | Novel: The Key
              |
              | Question: Where was the key?
              |
              | Reference answer 1: under the third stair
              | Reference answer 2: under a stair
              |
              | Reader's answer: below a stair
              |
              | The reader's answer is correct only if all of these hold:
              | 1. It responds to the question that was asked.
              | 2. Nothing in it contradicts the reference answer.
              | 3. It contains the key points of the reference answer. Other words, another order or harmless additions do not matter.
              | Several reference answers are alternatives: agreeing with one of them is enough.
              |
              | Think it through briefly. Then end with your verdict in a box: \boxed{CORRECT} or \boxed{INCORRECT}.
            {"state":"ruled","ruling":{"kind":"correctness","correct":false}}
        "#]]);
}

#[test]
fn the_last_box_counts_and_holds_nothing_else() {
    let case = Case::new(Judge::SagaScale);
    assert_eq!(case.verdict("\\boxed{CORRECT}, no: \\boxed{ incorrect }"), correct(false));
    assert_eq!(case.verdict("<think>\\boxed{INCORRECT}</think>\n\\boxed{CORRECT}"), correct(true));
    for reply in ["CORRECT", "\\boxed{CORRECT or not}", "\\boxed{YES}", "\\boxed{CORRECT"] {
        assert_eq!(case.verdict(reply), Verdict::Unparsed, "{reply}");
    }
}

#[test]
fn a_question_gets_one_of_ten_types() {
    let case = Case::new(Judge::ClassifyQuestion);
    case.check(
        "\\boxed{Location}",
        &expect![[r#"
            chat classify-question (<= 64 tokens, temperature 0)
              | Sort a question about a novel by what it asks for. Use the question and its answer. The types are:
              |
              | - Location: where something is or happens
              | - Character: which person or other acting being
              | - Reason: why: a cause, a motive or a purpose
              | - Method: how: a way or a means of doing something
              | - Event: what happened or what somebody did
              | - Entity: which thing, group, institution or name, other than a person or a place
              | - Quantity: how many or how much
              | - Temporal: when, how long or in which order
              | - Quotation: which words were said or written
              | - Miscellaneous: none of the others
              |
              | Question: Where was the key?
              | Answer: under the third stair
              |
              | Choose exactly one type, the one that fits best. Write its name in a box, for example \boxed{Location}.
            {"state":"ruled","ruling":{"kind":"question_type","question_type":"Location"}}
        "#]],
    );
    for kind in QuestionType::ALL {
        let ruling = Ruling::QuestionType { question_type: kind };
        assert_eq!(case.verdict(&format!("\\boxed{{{}}}", kind.name().to_lowercase())), Verdict::Ruled { ruling });
    }
    assert_eq!(case.verdict("\\boxed{Place}"), Verdict::Unparsed);
}
