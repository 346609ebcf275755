//! The verdicts of judges on answers.

use crate::scoring::{Attempt, Submission};
use closeread_eval::answer::Parsed;
use closeread_eval::answer::novelqa::judge_letter;
use closeread_eval::rows::{Row, WrongRow, kind};
use closeread_eval::{Item, Outcome};
use serde_json::Value;

/// The judge's `C` or `N`, or the verdict itself, where a row has one; anything else that a judge said counts as wrong.
///
/// # Errors
/// A verdict that is no text, and neither true nor false.
pub(super) fn verdict(row: &Row) -> Result<Option<bool>, WrongRow> {
    let mut fields = ["correct", "judge"].into_iter().filter_map(|name| Some((name, row.fields.get(name)?)));
    match fields.find(|(_, value)| !value.is_null()) {
        None => Ok(None),
        Some((_, Value::Bool(is_correct))) => Ok(Some(*is_correct)),
        Some((_, Value::String(said))) => {
            Ok(Some(said.trim().eq_ignore_ascii_case("true") || judge_letter(said) == Parsed::Answer(true)))
        }
        Some((name, other)) => Err(format!("`{name}`: expected true, false, C or N, found {}", kind(other)).into()),
    }
}

/// Says how many answers have no verdict; `None` where all have one.
pub(super) fn unjudged(submission: &Submission) -> Option<String> {
    let has_gold = |item: &&Item| !item.answers.is_empty() || item.correct.is_some();
    let waits = |attempt: &&Attempt| {
        matches!(attempt.outcome, Outcome::Answered { .. }) && !attempt.given.contains_key("accuracy")
    };
    let attempts = submission.items.iter().filter(has_gold).filter_map(|item| submission.attempts.get(&item.id));
    let n = attempts.filter(waits).count();
    (n > 0).then(|| format!("answers without a judge's verdict, in no mean: {n}"))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{file, notes, read_with};
    use super::super::FORMAT;

    #[test]
    fn a_verdict_that_cannot_be_read_costs_its_row_and_a_missing_one_is_counted() {
        let gold = r#"{"Q1": {"Question": "Who?", "Golden": "Ana"}, "Q2": {"Question": "Who?", "Golden": "Bo"},
            "Q3": {"Question": "Who?", "Golden": "Cy"}, "Q4": {"Question": "Who?", "Golden": "Di"}}"#;
        let rows = [
            r#"{"QID": "Q1", "pred": "Ana", "correct": null, "judge": "N"}"#,
            r#"{"QID": "Q2", "pred": "Bo", "correct": "True"}"#,
            r#"{"QID": "Q3", "pred": "Cy", "correct": 1}"#,
            r#"{"QID": "Q4", "pred": "Di"}"#,
        ];
        let files = [file("res_gen.json", &rows.join("\n"))];
        let submission = read_with(&FORMAT, &files, &[file("B00.json", gold)]).unwrap();
        let given = |id: &str| submission.attempts[id].given.get("accuracy").copied();
        assert_eq!([given("B00/Q1"), given("B00/Q2"), given("B00/Q4")], [Some(0.0), Some(1.0), None]);
        let wrong: Vec<String> = submission.problems.malformed_rows.iter().map(ToString::to_string).collect();
        let why = "res_gen.json:3 (B00/Q3): `correct`: expected true, false, C or N, found a number [left out]";
        assert_eq!(wrong, [why]);
        assert_eq!(
            notes(&submission).last().unwrap(),
            "res_gen.json: answers without a judge's verdict, in no mean: 1"
        );
    }
}
