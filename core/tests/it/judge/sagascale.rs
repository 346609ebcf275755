//! SagaScale's judge of answers and its classifier of questions.

use super::{Case, correct};
use closeread_judges::{Judge, QuestionType, Ruling, Verdict};
use expect_test::expect;

#[test]
fn an_answer_is_judged_in_a_box() {
    Case::new(Judge::SagaScale).check("It names the stair.\n\\boxed{CORRECT}", &expect![[r#"
        chat judge-sagascale (<= 64 tokens, temperature 0)
          | Decide whether a model has answered a question about "The Key" correctly. You know the ground truth.
          |
          | Its answer is correct exactly when all of this holds:
          | - The answer responds to the very question that was put.
          | - Nothing in the answer is at odds with the ground truth.
          | - The answer conveys the core of the ground truth, its main points. Only the meaning has to be the same, not the words.
          |
          | Write the decision in a box, \boxed{CORRECT} or \boxed{INCORRECT}.
          |
          | Question: Where was the key?
          |
          | Ground truth answer: under the third stair
          |
          | Answer of the model: below a stair
        {"state":"ruled","ruling":{"kind":"correctness","correct":true}}
    "#]]);
}

#[test]
fn several_gold_answers_are_alternatives() {
    let mut case = Case::new(Judge::SagaScale);
    case.item.answers.push("under a stair".into());
    case.check("\\boxed{INCORRECT}", &expect![[r#"
        chat judge-sagascale (<= 64 tokens, temperature 0)
          | Decide whether a model has answered a question about "The Key" correctly. You know the ground truth.
          |
          | Its answer is correct exactly when all of this holds:
          | - The answer responds to the very question that was put.
          | - Nothing in the answer is at odds with the ground truth.
          | - The answer conveys the core of the ground truth, its main points. Only the meaning has to be the same, not the words.
          | The ground truth answers are alternatives: one of them is enough.
          |
          | Write the decision in a box, \boxed{CORRECT} or \boxed{INCORRECT}.
          |
          | Question: Where was the key?
          |
          | Ground truth answer 1: under the third stair
          | Ground truth answer 2: under a stair
          |
          | Answer of the model: below a stair
        {"state":"ruled","ruling":{"kind":"correctness","correct":false}}
    "#]]);
}

#[test]
fn the_last_box_counts_and_holds_nothing_else() {
    let case = Case::new(Judge::SagaScale);
    assert_eq!(case.verdict("\\boxed{CORRECT}, no: \\boxed{ incorrect }"), correct(false));
    assert_eq!(case.verdict("<think>\\boxed{INCORRECT}</think>\n\\boxed{CORRECT}"), correct(true));
    for response in ["CORRECT", "\\boxed{CORRECT or not}", "\\boxed{YES}", "\\boxed{CORRECT"] {
        assert_eq!(case.verdict(response), Verdict::Unparsed, "{response}");
    }
}

#[test]
fn a_question_gets_one_of_ten_types() {
    let case = Case::new(Judge::ClassifyQuestion);
    case.check(
        "\\boxed{Location}",
        &expect![[r#"
            chat classify-question (<= 64 tokens, temperature 0)
              | Sort a question about a novel into one of the types below. Write the name of the type in one box, for example \boxed{Location}.
              |
              | What each type asks for:
              | Location: a place
              | Character: a role in the narrative, and who has it
              | Reason: a reason or a motive
              | Method: how somebody accomplished something
              | Event: a certain occurrence or a point of the plot
              | Entity: a certain entity that is neither a character nor a place
              | Quantity: an amount or a number
              | Temporal: when something happens or how long it takes
              | Quotation: a certain phrase or term of the text
              | Miscellaneous: anything else
              |
              | A question of each type:
              | Location: Where does Jim Hawkins overhear the plan of the mutiny?
              | Character: Who turns out to be the benefactor that pays for Pip's life in London?
              | Reason: Why does Elizabeth Bennet turn Mr Darcy down at first?
              | Method: How does Edmond Dantes get out of the Chateau d'If?
              | Event: What becomes of the Pequod on the third day of the chase?
              | Entity: What does Hester Prynne have to wear on her dress?
              | Quantity: How many pounds does Phileas Fogg bet on his journey?
              | Temporal: How long does Robinson Crusoe live alone on his island before he meets Friday?
              | Quotation: With which words does Bartleby refuse every task?
              | Miscellaneous: Under which name does Jean Valjean become a mayor?
              |
              | The question to sort:
              | Where was the key?
            {"state":"ruled","ruling":{"kind":"question_type","question_type":"Location"}}
        "#]],
    );
    for kind in QuestionType::ALL {
        let ruling = Ruling::QuestionType { question_type: kind };
        assert_eq!(case.verdict(&format!("\\boxed{{{}}}", kind.name().to_lowercase())), Verdict::Ruled { ruling });
    }
    assert_eq!(case.verdict("\\boxed{Place}"), Verdict::Unparsed);
}
