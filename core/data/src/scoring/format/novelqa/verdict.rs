//! The verdicts of judges on answers.

use crate::scoring::{Attempt, Submission};
use closeread_eval::answer::Parsed;
use closeread_eval::answer::novelqa::judge_letter;
use closeread_eval::rows::{Row, WrongRow, excerpt, kind};
use closeread_eval::{Item, Outcome};
use serde_json::Value;

/// The judge's `C` or `N`, or the verdict itself, where a row has one; anything else that a judge said counts as wrong.
///
/// # Errors
/// A verdict `correct` that is none, such as `yes`, and one of a judge that is no text.
pub(super) fn verdict(row: &Row) -> Result<Option<bool>, WrongRow> {
    let mut fields = ["correct", "judge"].into_iter().filter_map(|name| Some((name, row.fields.get(name)?)));
    let is_blank = |name: &str, value: &Value| value.is_null() || name == "correct" && value.as_str() == Some("");
    match fields.find(|(name, value)| !is_blank(name, value)) {
        None => Ok(None),
        Some((_, Value::Bool(is_correct))) => Ok(Some(*is_correct)),
        Some((name, Value::String(said))) => match (said.trim().to_ascii_lowercase().parse(), judge_letter(said)) {
            (Ok(is_correct), _) | (_, Parsed::Answer(is_correct)) => Ok(Some(is_correct)),
            _ if name == "judge" => Ok(Some(false)),
            _ => Err(format!("`{name}`: expected true, false, C or N, found `{}`", excerpt(said)).into()),
        },
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
            "Q3": {"Question": "Who?", "Golden": "Cy"}, "Q4": {"Question": "Who?", "Golden": "Di"},
            "Q5": {"Question": "Who?", "Golden": "Ed"}, "Q6": {"Question": "Who?", "Golden": "Flo"}}"#;
        let rows = [
            r#"{"QID": "Q1", "pred": "Ana", "correct": null, "judge": "N"}"#,
            r#"{"QID": "Q2", "pred": "Bo", "correct": "True"}"#,
            r#"{"QID": "Q3", "pred": "Cy", "correct": 1}"#,
            r#"{"QID": "Q4", "pred": "Di"}"#,
            r#"{"QID": "Q5", "pred": "Ed", "correct": "yes"}"#,
            r#"{"QID": "Q6", "pred": "Flo", "correct": "", "judge": "It is."}"#,
        ];
        let files = [file("res_gen.json", &rows.join("\n"))];
        let submission = read_with(&FORMAT, &files, &[file("B00.json", gold)]).unwrap();
        let given = |id: &str| submission.attempts[id].given.get("accuracy").copied();
        assert_eq!([given("B00/Q1"), given("B00/Q2"), given("B00/Q4")], [Some(0.0), Some(1.0), None]);
        assert_eq!(given("B00/Q6"), Some(0.0), "whatever else a judge said");
        let wrong: Vec<String> = submission.problems.malformed_rows.iter().map(ToString::to_string).collect();
        let why = ["3 (B00/Q3)", "5 (B00/Q5)"].into_iter().zip(["a number", "`yes`"]);
        let why = why.map(|(row, found)| {
            format!("res_gen.json:{row}: `correct`: expected true, false, C or N, found {found} [left out]")
        });
        assert_eq!(wrong, why.collect::<Vec<_>>());
        assert_eq!(
            notes(&submission).last().unwrap(),
            "res_gen.json: answers without a judge's verdict, in no mean: 1"
        );
    }
}
