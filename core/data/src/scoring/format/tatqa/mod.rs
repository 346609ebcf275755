//! TAT-QA: answers with their scales by question id, against its data set.

mod number;
mod score;

use super::draft::{Draft, ended, share};
use super::layout::{Format, FormatError, FormatInput, no_systems};
use super::read::{Entry, entries, records, text};
use crate::scoring::{Attempt, Submission};
use closeread_eval::Outcome;
use closeread_eval::rows::{WrongRow, kind, scalar};
use closeread_eval::{InputFile, Item, Task};
use closeread_metrics::Metric;
use score::{Gold, score};
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads the predictions that `tatqa_eval.py` takes.
pub(super) const FORMAT: Format = Format {
    name: "tatqa",
    source: "Zhu et al. 2021, TAT-QA; tatqa_eval.py and tatqa_metric.py of github.com/NExTplusplus/TAT-QA@870accc41953",
    wants: "one JSON object {question uid: [answer, scale]}; as gold, tatqa_dataset_dev.json or files of its layout",
    tasks: &[],
    systems: no_systems,
    read,
};

/// Reads one item a question of the data set, labels `answer_type`, `answer_from` and `scale`.
///
/// `exact_match` and `f1` (the numeracy-focused F1) are given as the official script computes them, see [`score`];
/// `scale_accuracy` is its scale score. A prediction that is null, an empty list, an empty text or the number 0, which
/// the script all takes for no answer, is `unparsed` and scores 0. The script counts a question without a prediction
/// as wrong; here it is `missing`.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    FORMAT.check_with_gold(input, "tatqa_dataset_dev.json or files of its layout")?;
    let mut draft = Draft::new(&[Metric::ExactMatch, Metric::F1]);
    let mut golds = BTreeMap::new();
    for file in input.gold {
        read_gold(&mut draft, file, &mut golds);
    }
    for file in input.files {
        for Entry { line, key, value } in draft.keep(entries(file)) {
            let Some(gold) = golds.get(&key) else {
                draft.unknown(file, Some(line), &key);
                continue;
            };
            match attempt(gold, &value) {
                Ok(attempt) => draft.attempt(file, Some(line), &key, attempt),
                Err(why) => draft.malformed(file, Some(line), Some(&key), why),
            }
        }
    }
    draft.finish(&FORMAT, input)
}

fn read_gold(draft: &mut Draft, file: &InputFile, golds: &mut BTreeMap<String, Gold>) {
    for row in draft.keep_gold(records(file)) {
        let table = row.fields.get("table").and_then(|table| table.get("uid")).and_then(scalar);
        let questions = row.fields.get("questions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if questions.is_empty() {
            draft.note(file, Some(row.line), table.as_deref(), "no `questions` in this context: expected a list");
        }
        for question in questions {
            let Some(uid) = question.get("uid").and_then(scalar) else {
                draft.note(file, Some(row.line), table.as_deref(), "a question without `uid` is left out");
                continue;
            };
            let gold = match Gold::new(question) {
                Ok(gold) => gold,
                Err(why) => {
                    draft.note(file, Some(row.line), Some(&uid), format!("{why}: the question is left out"));
                    continue;
                }
            };
            draft.gold_item(&file.name, Some(row.line), item(&uid, table.as_deref(), question, &gold));
            golds.entry(uid).or_insert(gold);
        }
    }
}

fn item(uid: &str, table: Option<&str>, question: &Value, gold: &Gold) -> Item {
    let field = |name: &str| question.get(name).and_then(scalar).unwrap_or_default();
    let mut item = Item::new(uid, table.unwrap_or_default(), field("question"), Task::Generative)
        .label("answer_type", &field("answer_type"))
        .label("answer_from", &field("answer_from"))
        .label("scale", if gold.scale.is_empty() { "none" } else { &gold.scale });
    if table.is_none() {
        item.documents.clear();
    }
    item.answers = vec![shown(&gold.answers, &gold.scale)];
    item
}

/// Spans and scale as one readable text.
fn shown(answers: &[String], scale: &str) -> String {
    let spans = answers.join(", ");
    if scale.is_empty() { spans } else { format!("{spans} {scale}") }
}

fn attempt(gold: &Gold, value: &Value) -> Result<Attempt, WrongRow> {
    let Some([answer, scale]) = value.as_array().map(Vec::as_slice) else {
        return Err(
            format!("expected a list of answer and scale, as in `[[\"2019\"], \"\"]`, found {}", kind(value)).into()
        );
    };
    let scale = match scale {
        Value::Null => String::new(),
        Value::String(scale) => scale.clone(),
        other => return Err(format!("the scale is {}: expected text, empty where there is none", kind(other)).into()),
    };
    let predicted = score::predicted(answer)?;
    let texts = predicted.iter().map(|value| text(value).unwrap_or_default()).collect::<Vec<_>>();
    let scores = score(gold, &predicted, &scale);
    let mut attempt = ended(match predicted.is_empty() {
        true => Outcome::Unparsed { response: answer.to_string() },
        false => Outcome::Answered { answer: shown(&texts, &scale), choice: None },
    });
    attempt.given.insert("exact_match".into(), scores.exact_match);
    attempt.given.insert("f1".into(), scores.f1);
    attempt.given.insert("scale_accuracy".into(), share(scores.is_scale_right));
    Ok(attempt)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, notes, read_with};
    use super::*;
    use serde_json::json;

    fn gold() -> [InputFile; 1] {
        let contexts = json!([{"table": {"uid": "t"}, "questions": [
            {"uid": "a", "question": "Which?", "answer": ["red", "blue"], "answer_type": "multi-span", "answer_from": "text", "scale": ""},
            {"uid": "b", "question": "How much?", "answer": -12.6, "answer_type": "arithmetic", "answer_from": "table", "scale": "million"},
            {"uid": "c", "question": "How many?", "answer": "3", "answer_type": "count", "answer_from": "table", "scale": ""},
            {"uid": "d", "question": "What?", "answer": "x", "answer_type": "span", "scale": ""},
        ]}]);
        [file("dev.json", &contexts.to_string())]
    }

    #[test]
    fn scores_are_those_of_the_script() {
        let predictions = json!({"a": [["blue", "red"], ""], "b": [-12600000, ""], "c": [[], ""], "e": [1, ""]});
        let submission = read_with(&FORMAT, &[file("p.json", &predictions.to_string())], &gold()).unwrap();
        check(
            &submission,
            &["a", "b", "c"],
            &["p.json:1 (e): the gold has no such item: expected one of its 3 ids [left out]"],
        );
        let given = |id: &str| &submission.attempts[id].given;
        assert_eq!((given("a")["exact_match"], given("a")["f1"]), (1.0, 1.0));
        assert_eq!((given("b")["exact_match"], given("b")["scale_accuracy"]), (1.0, 0.0));
        assert_eq!(given("c")["exact_match"], 0.0);
        assert_eq!(submission.attempts["c"].outcome, Outcome::Unparsed { response: "[]".into() });
        assert_eq!(submission.items[1].answers, ["-12.6 million"]);
        assert_eq!(submission.items[0].documents, ["t"]);
        assert_eq!(
            notes(&submission),
            ["dev.json:1 (d): the answer of a span question: expected a list, found text: the question is left out"]
        );
    }

    #[test]
    fn rows_of_another_shape_are_malformed() {
        let predictions =
            "{\"a\": \"red\",\n \"b\": [1, 2],\n \"c\": [1, \"\", 3],\n \"b\": [{}, \"\"],\n \"b\": [NaN, \"\"]}";
        let submission = read_with(&FORMAT, &[file("p.json", predictions)], &gold()).unwrap();
        check(
            &submission,
            &["a", "b", "c"],
            &[
                "p.json:1 (a): expected a list of answer and scale, as in `[[\"2019\"], \"\"]`, found text [left out]",
                "p.json:2 (b): the scale is a number: expected text, empty where there is none [left out]",
                "p.json:3 (c): expected a list of answer and scale, as in `[[\"2019\"], \"\"]`, found a list [left out]",
                "p.json:4 (b): the answer is an object: expected text, a number or a list of these [left out]",
            ],
        );
        assert_eq!(submission.attempts["b"].outcome, Outcome::Unparsed { response: "null".into() });
    }

    #[test]
    fn gold_is_needed() {
        let error = read_with(&FORMAT, &[file("p.json", "{}")], &[]).unwrap_err().to_string();
        assert!(error.starts_with("tatqa predictions carry no gold answers"), "{error}");
    }
}
