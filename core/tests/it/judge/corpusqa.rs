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
              | Decide whether two answers to the same problem are equivalent.
              |
              | Problem: Where was the key?
              |
              | Answer 1: below a stair
              |
              | Answer 2 (any of these): under the third stair | beneath stair 3
              |
              | Answer 2 is right. Answer 1 is equivalent to it if it means the same as a solution of the problem: the same values, the same entities, the same elements of a list. Notation, units written out or left out, rounding of the last digit and the order of a list do not matter unless the problem asks for them. A value that differs, an element that is missing and an element too many do matter.
              |
              | If they are equivalent, write [[YES]]; if they are not, write [[NO]]. Write one of the two and no other text in double brackets.
            {"state":"ruled","ruling":{"kind":"correctness","correct":true}}
        "#]]);
    assert_eq!(case.verdict("[[NO]]"), correct(false));
    for reply in ["[[YES]] or [[NO]]", "[[yes]]", "YES"] {
        assert_eq!(case.verdict(reply), Verdict::Unparsed, "{reply}");
    }
}
