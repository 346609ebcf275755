//! CorpusQA: responses with their gold answers, judged or not.

use super::draft::{Draft, ended, share};
use super::layout::{Format, FormatError, FormatInput, no_systems};
use super::read::{field, field_text, records, text};
use crate::scoring::{Attempt, Submission};
use closeread_eval::Outcome;
use closeread_eval::answer::Parsed;
use closeread_eval::answer::corpusqa;
use closeread_eval::answer::corpusqa::{Reading, agrees};
use closeread_eval::rows::{Row, WrongRow, kind, scalar};
use closeread_eval::{InputFile, Item, Task};
use closeread_metrics::Metric;
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads `runs/*.jsonl` as `infer.py` writes them and `evals/*_eval.jsonl` as `eval.py` does.
pub(super) const FORMAT: Format = Format {
    name: "corpusqa",
    source: "CorpusQA; src/infer.py and src/eval.py of github.com/Tongyi-Zhiwen/CorpusQA@b83fcf5285f5",
    wants: "JSON Lines with id, question, answer and response, or id, question, gold_answer, model_answer, correct and reason",
    tasks: &[],
    systems: no_systems,
    read,
};

/// Reads one item a row with an id; the label `domain` is the id's beginning, where it is one of the four.
///
/// The answer is what follows the first `The answer is: ` on its line, else the whole response, stripped. A row with a
/// verdict (`correct`, or `judge` with the judge's response, which is right if it holds `[[YES]]` and no `[[NO]]`) has it
/// given as `accuracy`; the judge's own failures count as wrong, as in the script. Without a verdict `accuracy` is the
/// strict rule-based reading. Both rule-based readings stand beside it, as `accuracy_strict` and `accuracy_tolerant`,
/// see [`agrees`]. `unparsed` are empty answers and, where no judge was asked, those of another type than the gold.
///
/// Rows without an id are skipped and not counted, as in the script, and noted. The script knows only the rows that are
/// there; with gold files (the test set: `id`, `question`, `answer`) the others are `missing`.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    FORMAT.check(input)?;
    let mut draft = Draft::new(&[Metric::Accuracy]);
    let mut golds: BTreeMap<String, Value> = BTreeMap::new();
    for file in input.gold {
        for row in draft.keep_gold(records(file)) {
            match (row.text("id"), gold(&row)) {
                (Some(id), Some(gold)) => {
                    draft.gold_item(&file.name, Some(row.line), item(&id, &row, gold));
                    golds.entry(id).or_insert_with(|| gold.clone());
                }
                (id, _) => draft.note(file, Some(row.line), id.as_deref(), "no gold here: expected `id` and `answer`"),
            }
        }
    }
    let (mut n_judged, mut n_ruled) = (0, 0);
    for file in input.files {
        for row in draft.keep(records(file)) {
            match read_row(&mut draft, file, &row, &mut golds, input.gold.is_empty()) {
                Some(true) => n_judged += 1,
                Some(false) => n_ruled += 1,
                None => {}
            }
        }
    }
    if n_judged > 0 && n_ruled > 0 {
        let rest = format!("the accuracy of {n_ruled} others is the strict rule's");
        let note = format!("answers with a judge's verdict: {n_judged}; {rest}");
        draft.note(&input.files[0], None, None, note);
    }
    draft.finish(&FORMAT, input)
}

/// Reads a row; returns whether a judge has ruled on it, if it counts.
fn read_row(
    draft: &mut Draft,
    file: &InputFile,
    row: &Row,
    golds: &mut BTreeMap<String, Value>,
    has_own_gold: bool,
) -> Option<bool> {
    let Some(id) = row.text("id") else {
        let message = "no `id`: the row is skipped and not counted, as by the reference";
        draft.note(file, Some(row.line), None, message);
        return None;
    };
    if has_own_gold {
        let Some(gold) = gold(row) else {
            let why = "no `answer`: expected the gold answer";
            draft.malformed(file, Some(row.line), Some(&id), why);
            return None;
        };
        if draft.item(item(&id, row, gold)) {
            golds.insert(id.clone(), gold.clone());
        }
    }
    let Some(gold) = golds.get(&id) else {
        draft.unknown(file, Some(row.line), &id);
        return None;
    };
    match attempt(row, gold) {
        Ok((attempt, is_judged)) => {
            let counts = !draft.has_attempt(&id);
            draft.attempt(file, Some(row.line), &id, attempt);
            counts.then_some(is_judged)
        }
        Err(why) => {
            draft.malformed(file, Some(row.line), Some(&id), why);
            None
        }
    }
}

/// The gold answer: `gold_answer` of a judged row, else `answer`.
fn gold(row: &Row) -> Option<&Value> {
    field(row, &["gold_answer", "answer"]).map(|(_, value)| value).filter(|value| !value.is_null())
}

fn item(id: &str, row: &Row, gold: &Value) -> Item {
    let mut item = Item::new(id, "", row.text("question").unwrap_or_default(), Task::Generative);
    item.documents.clear();
    item.answers = vec![gold_text(gold)];
    item = item.label("domain", corpusqa::domain(id).unwrap_or_default());
    for label in ["difficulty", "level", "length_set", "set"] {
        item = item.label(label, &row.text(label).unwrap_or_default());
    }
    item
}

/// Returns the attempt of a row and whether a judge has ruled on it.
fn attempt(row: &Row, gold: &Value) -> Result<(Attempt, bool), WrongRow> {
    // A judged row holds the answer that was extracted, an unjudged one the response.
    let answer = match field(row, &["model_answer"]) {
        Some(_) => field_text(row, &["model_answer"])?,
        None => corpusqa::answer(&field_text(row, &["response"])?).to_owned(),
    };
    let gold = gold_text(gold);
    let is_strict = agrees(&answer, &gold, Reading::Strict) == Parsed::Answer(true);
    let tolerant = agrees(&answer, &gold, Reading::Tolerant);
    let verdict = verdict(row)?;
    let is_unparsed = answer.is_empty() || verdict.is_none() && tolerant == Parsed::Unparsed;
    let mut attempt = ended(match is_unparsed {
        true => Outcome::Unparsed { response: field_text(row, &["response", "model_answer"])? },
        false => Outcome::Answered { answer, choice: None },
    });
    attempt.given.insert("accuracy".into(), share(verdict.unwrap_or(is_strict)));
    attempt.given.insert("accuracy_strict".into(), share(is_strict));
    attempt.given.insert("accuracy_tolerant".into(), share(is_strict || tolerant == Parsed::Answer(true)));
    Ok((attempt, verdict.is_some()))
}

fn gold_text(gold: &Value) -> String {
    text(gold).unwrap_or_else(|| gold.to_string())
}

/// Returns the judge's verdict, if a judge was asked.
fn verdict(row: &Row) -> Result<Option<bool>, WrongRow> {
    match (row.fields.get("correct"), field(row, &["judge", "judgement", "judgment"])) {
        (Some(Value::Bool(is_correct)), _) => Ok(Some(*is_correct)),
        (Some(Value::Null) | None, Some((_, response))) if !response.is_null() => {
            Ok(Some(corpusqa::verdict(&scalar(response).unwrap_or_default()) == Parsed::Answer(true)))
        }
        (Some(Value::Null) | None, _) => Ok(None),
        (Some(other), _) => Err(format!("`correct`: expected true or false, found {}", kind(other)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, notes, read_with};
    use super::*;
    use serde_json::json;

    #[test]
    fn unjudged_responses_are_read_by_rule() {
        let row = |id: Value, answer: Value, response: Value| {
            json!({"id": id, "question": "Which?", "answer": answer, "response": response}).to_string()
        };
        let rows = [
            row(json!("financial_en_1"), json!(1234.5), json!("So.\nThe answer is: 1234.50 \nDone")),
            row(json!("real_estate_zh_2"), json!(["Ana", "Bo"]), json!("The answer is: ['bo', 'ANA']")),
            row(json!("education_en_3"), json!("7"), json!("The answer is:7")),
            row(json!(null), json!("7"), json!("7")),
            row(json!(""), json!("7"), json!("7")),
            row(json!("a"), json!(null), json!("7")),
            row(json!("b"), json!("7"), json!("The answer is: ")),
            row(json!("c"), json!("7"), json!(null)),
            row(json!("b"), json!("7"), json!("7")),
        ];
        let submission = read_with(&FORMAT, &[file("r.jsonl", &rows.join("\n"))], &[]).unwrap();
        check(
            &submission,
            &["financial_en_1", "real_estate_zh_2", "education_en_3", "b", "c"],
            &[
                "r.jsonl:6 (a): no `answer`: expected the gold answer [left out]",
                "r.jsonl:8 (c): `response`: expected text, found null [left out]",
                "r.jsonl:9 (b): a second prediction for this item: the first counts [left out]",
            ],
        );
        assert_eq!(notes(&submission).len(), 2);
        let given = |id: &str| {
            ["accuracy", "accuracy_strict", "accuracy_tolerant"].map(|name| submission.attempts[id].given[name])
        };
        assert_eq!(given("financial_en_1"), [1.0, 1.0, 1.0]);
        assert_eq!(given("real_estate_zh_2"), [0.0, 0.0, 1.0]);
        assert_eq!(given("education_en_3"), [0.0, 0.0, 0.0]);
        assert!(matches!(submission.attempts["b"].outcome, Outcome::Unparsed { .. }));
        assert_eq!(submission.items[0].labels["domain"], "financial_en");
        assert!(!submission.items[1].labels.contains_key("domain"));
    }

    #[test]
    fn a_verdict_stands_beside_the_rules() {
        let rows = [
            json!({"id": "a", "gold_answer": "7", "model_answer": "seven", "correct": true, "reason": "x"}).to_string(),
            json!({"id": "b", "gold_answer": "7", "model_answer": "7", "correct": false}).to_string(),
            json!({"id": "c", "answer": "7", "response": "7", "judge": "[[NO]] [[YES]]"}).to_string(),
            json!({"id": "d", "answer": "7", "response": "x", "judge": "so [[YES]]"}).to_string(),
            json!({"id": "e", "answer": "7", "response": "x", "correct": "yes"}).to_string(),
        ];
        let submission = read_with(&FORMAT, &[file("e.jsonl", &rows.join("\n"))], &[]).unwrap();
        let problem = "e.jsonl:5 (e): `correct`: expected true or false, found text [left out]";
        check(&submission, &["a", "b", "c", "d", "e"], &[problem]);
        let given = |name: &str| submission.attempts.values().map(|attempt| attempt.given[name]).collect::<Vec<_>>();
        assert_eq!(given("accuracy"), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(given("accuracy_strict"), [0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn answers_with_and_without_a_verdict_are_counted() {
        let judged = |id: &str| json!({"id": id, "gold_answer": "7", "model_answer": "7", "correct": true}).to_string();
        let row = |id: &str| json!({"id": id, "answer": "7", "response": "7"}).to_string();
        let notes = |rows: &[String]| notes(&read_with(&FORMAT, &[file("e.jsonl", &rows.join("\n"))], &[]).unwrap());
        let note = "e.jsonl: answers with a judge's verdict: 1; the accuracy of 2 others is the strict rule's";
        assert_eq!(notes(&[judged("a"), row("b"), row("c"), judged("c")]), [note]);
        assert!(notes(&[judged("a"), judged("b")]).is_empty() && notes(&[row("a"), row("b")]).is_empty());
    }

    #[test]
    fn the_test_set_says_what_is_missing() {
        let gold = [file(
            "set1.jsonl",
            "{\"id\": \"a\", \"answer\": 7}\n{\"id\": \"b\", \"answer\": 8, \"difficulty\": \"Easy\"}\n{}",
        )];
        let rows = "{\"id\": \"b\", \"answer\": 9, \"response\": \"8\"}\n{\"id\": \"z\", \"response\": \"8\"}";
        let submission = read_with(&FORMAT, &[file("r.jsonl", rows)], &gold).unwrap();
        check(
            &submission,
            &["a", "b"],
            &["r.jsonl:2 (z): the gold has no such item: expected one of its 2 ids [left out]"],
        );
        assert_eq!(submission.attempts["b"].given["accuracy"], 1.0);
        assert_eq!(submission.items[1].labels["difficulty"], "Easy");
    }
}
