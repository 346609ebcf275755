//! CorpusQA's judge of equivalence.

use crate::{Case, correct};
use closeread_core::judge::{Judge, Verdict};
use expect_test::expect;

#[test]
fn two_answers_are_equivalent_or_not() {
    let mut case = Case::new(Judge::CorpusQa);
    case.item.answers.push("beneath stair 3".into());
    case.check("Both name it. [[YES]]", &expect![[r#""#]]);
    assert_eq!(case.verdict("[[NO]]"), correct(false));
    for reply in ["[[YES]] or [[NO]]", "[[yes]]", "YES"] {
        assert_eq!(case.verdict(reply), Verdict::Unparsed, "{reply}");
    }
}
