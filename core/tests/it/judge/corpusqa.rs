//! CorpusQA's judge of equivalence.

use super::{Case, correct};
use closeread_judges::{Judge, Verdict};
use expect_test::expect;

#[test]
fn two_answers_are_equivalent_or_not() {
    let mut case = Case::new(Judge::CorpusQa);
    case.item.answers.push("beneath stair 3".into());
    case.check("Both name it. [[YES]]", &expect![[r#"
        chat judge-corpusqa (<= 64 tokens, temperature 0)
          System
          | You are an expert who verifies whether two answers say the same. You get a problem and two answers to it, Answer 1 and Answer 2. Find out whether they are equivalent. Do not try to solve the problem.
          |
          | Compare the answers: they are equivalent if they stand for identical values or mean the same, even where form or notation differ. Where Answer 2 gives alternatives, it is enough that Answer 1 is equivalent to one of them.
          |
          | Your output MUST have this form:
          | 1. Explain why the answers are equivalent or why they are not.
          | 2. Then give your final answer as [[YES]] or [[NO]].
          User
          | Problem: Where was the key?
          |
          | Answer 1: below a stair
          |
          | Answer 2 (alternatives): under the third stair | beneath stair 3
        {"state":"ruled","ruling":{"kind":"correctness","correct":true}}
    "#]]);
    assert_eq!(case.verdict("[[NO]]"), correct(false));
    for response in ["[[YES]] or [[NO]]", "[[yes]]", "YES"] {
        assert_eq!(case.verdict(response), Verdict::Unparsed, "{response}");
    }
}
