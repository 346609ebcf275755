//! NovelQA's judges of answers and of evidence.

use crate::{Case, correct};
use closeread_core::judge::{Judge, Verdict};
use expect_test::expect;

#[test]
fn an_answer_is_marked_by_a_letter() {
    let case = Case::new(Judge::NovelQa);
    case.check("C", &expect![[r#""#]]);
    assert_eq!(case.verdict(" **N**.\n"), correct(false));
    for reply in ["Correct", "C or N", "c", "CN"] {
        assert_eq!(case.verdict(reply), Verdict::Unparsed, "{reply}");
    }
}

#[test]
fn evidence_gets_three_marks() {
    let cited = vec!["Ana hid the key.".to_owned(), "Ben rowed.".to_owned()];
    let case = Case { cited, ..Case::new(Judge::NovelQaEvidence) };
    case.check("C50R66S33", &expect![[r#""#]]);
    for reply in ["C0R66S33", "C50R101S33", "C50R66", "50 66 33"] {
        assert_eq!(case.verdict(reply), Verdict::Unparsed, "{reply}");
    }
}
