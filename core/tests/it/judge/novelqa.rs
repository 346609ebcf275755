//! NovelQA's judges of answers and of evidence.

use super::{Case, correct};
use closeread_judges::{Judge, Verdict};
use expect_test::expect;

#[test]
fn an_answer_is_marked_by_a_letter() {
    let case = Case::new(Judge::NovelQa);
    case.check("C", &expect![[r#"
        chat judge-novelqa (<= 64 tokens, temperature 0)
          | You are a professor of literature and mark a student's quiz. You know the right answer to a question about a novel and the passages that prove it.
          |
          | Novel: The Key
          | Question: Where was the key?
          | Evidence 1: Ana hid the key under the third stair.
          | Right answer: under the third stair
          | Student's answer: below a stair
          |
          | Mark C (correct) if the student's answer says the same as the right answer, in whatever words. Mark N (not correct) otherwise. In particular, mark N if anything in it is factually wrong, and mark N if the question asks for a specific number and the student gives only a rough one.
          |
          | Reply with the single letter C or N and nothing else.
        {"state":"ruled","ruling":{"kind":"correctness","correct":true}}
    "#]]);
    assert_eq!(case.verdict(" **N**.\n"), correct(false));
    for response in ["Correct", "C or N", "c", "CN"] {
        assert_eq!(case.verdict(response), Verdict::Unparsed, "{response}");
    }
}

#[test]
fn evidence_gets_three_marks() {
    let cited = vec!["Ana hid the key.".to_owned(), "Ben rowed.".to_owned()];
    let case = Case { cited, ..Case::new(Judge::NovelQaEvidence) };
    case.check("C50R66S33", &expect![[r#"
        chat judge-novelqa-evidence (<= 64 tokens, temperature 0)
          | You are a professor of literature and review the evidence that a student gives for an answer about a novel.
          |
          | Novel: The Key
          | Question: Where was the key?
          | Right answer: under the third stair
          | Student's answer: below a stair
          |
          | Right evidence:
          | 1. Ana hid the key under the third stair.
          |
          | Student's evidence:
          | 1. Ana hid the key.
          | 2. Ben rowed.
          |
          | Mark three aspects of the student's evidence:
          | - C, correctness: is it the right evidence, or does it mean something similar that is right?
          | - R, relevance: is it relevant to the answer?
          | - S, sufficiency: is enough of it there to support the answer?
          |
          | Each mark is a whole number from 1 to 100. It is for the evidence alone and not for the answer. Reply with the three marks in exactly this form and nothing else: C50R66S33
        {"state":"ruled","ruling":{"kind":"evidence","correctness":50,"relevance":66,"sufficiency":33}}
    "#]]);
    assert!(matches!(case.verdict("C0R66S33"), Verdict::Ruled { .. }), "marks begin at 0 (section 4.5)");
    for response in ["C50R101S33", "C50R66", "50 66 33"] {
        assert_eq!(case.verdict(response), Verdict::Unparsed, "{response}");
    }
}
