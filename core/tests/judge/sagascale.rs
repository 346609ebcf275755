//! SagaScale's judge of answers and its classifier of questions.

use crate::{Case, correct};
use closeread_core::judge::{Judge, QuestionType, Ruling, Verdict};
use expect_test::expect;

#[test]
fn an_answer_is_judged_in_a_box() {
    Case::new(Judge::SagaScale).check("It names the stair.\n\\boxed{CORRECT}", &expect![[r#""#]]);
}

#[test]
fn several_gold_answers_are_alternatives() {
    let mut case = Case::new(Judge::SagaScale);
    case.item.answers.push("under a stair".into());
    case.check("\\boxed{INCORRECT}", &expect![[r#""#]]);
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
    case.check("\\boxed{Location}", &expect![[r#""#]]);
    for kind in QuestionType::ALL {
        let ruling = Ruling::QuestionType { question_type: kind };
        assert_eq!(case.verdict(&format!("\\boxed{{{}}}", kind.name().to_lowercase())), Verdict::Ruled { ruling });
    }
    assert_eq!(case.verdict("\\boxed{Place}"), Verdict::Unparsed);
}
