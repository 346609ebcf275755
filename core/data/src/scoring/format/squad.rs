//! SQuAD: answers by question id, against its data set.

use super::draft::{Draft, answered, ended};
use super::layout::{Format, FormatError, FormatInput, no_systems};
use super::read::{Entry, entries, field, records, text};
use crate::scoring::Submission;
use closeread_eval::Outcome;
use closeread_eval::rows::{Row, WrongRow, kind, scalar};
use closeread_eval::{InputFile, Item, Problem, Task};
use closeread_metrics::{Metric, Words, squad_normalize};
use serde_json::Value;

/// Reads the predictions that `evaluate-v1.1.py` and `evaluate-v2.0.py` take.
pub(super) const FORMAT: Format = Format {
    name: "squad",
    source: "Rajpurkar et al. 2016 and 2018, SQuAD; evaluate-v1.1.py and evaluate-v2.0.py of rajpurkar.github.io/SQuAD-explorer",
    wants: "one JSON object {question id: answer}; as gold, the data set's JSON (dev-v1.1.json, dev-v2.0.json)",
    tasks: &[],
    systems: no_systems,
    read,
};

const GOLD: &str = "the data set's JSON (dev-v1.1.json, dev-v2.0.json)";

/// Reads one answer a question: `{id: text}`, or rows with `id` and `prediction_text` (or `prediction`, `answer`).
///
/// The data set is version 2 if its `version` or an `is_impossible` says so: then the metric is F1 by v2's script, a
/// question without an answer has the empty text as its gold answer, and an empty prediction is an answer, not a
/// failure. For version 1 it is F1 by v1's, and an empty prediction is `unparsed`. Exact match is beside both. A question
/// without a prediction is `missing`: v1's script counts it as wrong, v2's leaves it out, so see the policy.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    FORMAT.check_with_gold(input, GOLD)?;
    let (items, is_v2, wrong) = gold(input.gold);
    let f1 = if is_v2 { Metric::F1V2 } else { Metric::F1 };
    let mut draft = Draft::new(&[f1, Metric::ExactMatch]);
    for (file, item) in items {
        draft.gold_item(&file.name, None, item);
    }
    for (file, line, why) in wrong {
        draft.note(file, line, None, why);
    }
    for file in input.files {
        for Entry { line, key, value } in draft.keep(predictions(file)) {
            match text(&value) {
                Some(answer) if is_v2 => {
                    draft.attempt(file, Some(line), &key, ended(Outcome::Answered { answer, choice: None }));
                }
                Some(answer) => draft.attempt(file, Some(line), &key, answered(answer)),
                None if draft.item_of(&key).is_none() => draft.unknown(file, Some(line), &key),
                None => {
                    let why = format!("expected the answer as text, found {}", kind(&value));
                    draft.malformed(file, Some(line), Some(&key), why);
                }
            }
        }
    }
    draft.finish(&FORMAT, input)
}

/// Entries of an object, or of rows with an id.
fn predictions(file: &InputFile) -> Vec<Result<Entry, Problem>> {
    const ANSWER: [&str; 4] = ["prediction_text", "prediction", "pred", "answer"];
    let rows = records(file);
    let is_rows = rows.iter().flatten().any(|row| row.fields.contains_key("id") && field(row, &ANSWER).is_some());
    if !is_rows {
        return entries(file);
    }
    let entry = |row: Row| {
        let wrong = |why: &str| Problem::dropped(&file.name, Some(row.line), None, why);
        let key = row.fields.get("id").and_then(scalar).ok_or_else(|| wrong("no `id`: expected the question's"))?;
        let value = field(&row, &ANSWER).map_or(Value::Null, |(_, value)| value.clone());
        Ok(Entry { line: row.line, key, value })
    };
    rows.into_iter().map(|row| row.and_then(entry)).collect()
}

type Gold<'f> = (Vec<(&'f InputFile, Item)>, bool, Vec<(&'f InputFile, Option<usize>, String)>);

/// The questions of the data set, whether it is version 2, and what is wrong with it.
fn gold(files: &[InputFile]) -> Gold<'_> {
    let (mut items, mut is_v2, mut wrong) = (Vec::new(), false, Vec::new());
    for file in files {
        let mut articles = Vec::new();
        for entry in entries(file) {
            match entry {
                Ok(Entry { key, value, .. }) if key == "version" => {
                    is_v2 |= text(&value).is_some_and(|version| version.trim_start_matches('v').starts_with('2'));
                }
                Ok(Entry { key, value: Value::Array(list), .. }) if key == "data" => articles = list,
                Ok(_) => {}
                Err(problem) => wrong.push((file, problem.line, problem.message)),
            }
        }
        if articles.is_empty() {
            wrong.push((file, None, "no `data`: expected the data set's list of articles".into()));
        }
        for article in &articles {
            let title = article.get("title").and_then(scalar).unwrap_or_default();
            for paragraph in list(article, "paragraphs") {
                for question in list(paragraph, "qas") {
                    is_v2 |= question.get("is_impossible").is_some();
                    match item(question, &title) {
                        Ok(item) => items.push((file, item)),
                        Err(why) => wrong.push((file, None, why.into())),
                    }
                }
            }
        }
    }
    if is_v2 {
        for (_, item) in &mut items {
            // As in v2's script: an answer that the normalisation leaves nothing of is none.
            item.answers.retain(|answer| !squad_normalize(answer, Words::Reference).is_empty());
            if item.answers.is_empty() {
                item.answers.push(String::new());
            }
        }
    }
    (items, is_v2, wrong)
}

fn item(question: &Value, title: &str) -> Result<Item, WrongRow> {
    let id = question.get("id").and_then(scalar).ok_or("a question without `id` is left out")?;
    let mut item =
        Item::new(id, title, question.get("question").and_then(scalar).unwrap_or_default(), Task::Generative);
    if title.is_empty() {
        item.documents.clear();
    }
    let is_impossible = question.get("is_impossible").and_then(Value::as_bool);
    if let Some(is_impossible) = is_impossible {
        item = item.label("answerable", if is_impossible { "no" } else { "yes" });
    }
    for answer in list(question, "answers").iter().filter_map(|answer| text(answer.get("text")?)) {
        if !item.answers.contains(&answer) {
            item.answers.push(answer);
        }
    }
    Ok(item)
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, notes, read_with};
    use super::*;
    use serde_json::json;

    fn gold_file(version: &str, questions: serde_json::Value) -> [InputFile; 1] {
        let set = json!({"version": version, "data": [{"title": "Mill", "paragraphs": [{"context": "Ana.", "qas": questions}]}]});
        [file("dev.json", &set.to_string())]
    }

    #[test]
    fn version_two_knows_questions_without_an_answer() {
        let gold = gold_file(
            "v2.0",
            json!([
            {"id": "a", "question": "Who?", "answers": [{"text": "Ana"}, {"text": "Ana"}, {"text": "A."}, {"text": "the Ana"}], "is_impossible": false},
            {"id": "b", "question": "Why?", "answers": [{"text": "the"}], "is_impossible": true},
            {"question": "When?"}, {"id": "a", "question": "Who?"}]),
        );
        let predictions = "{\"a\": \"Ana\",\n\"b\": \"\", \"b\": \"x\", \"c\": null,\n\"a\": [1]}";
        let submission = read_with(&FORMAT, &[file("p.json", predictions)], &gold).unwrap();
        check(
            &submission,
            &["a", "b"],
            &[
                "p.json:3 (a): expected the answer as text, found a list [left out]",
                "p.json:2 (c): the gold has no such item: expected one of its 2 ids [left out]",
                "p.json:2 (b): a second prediction for this item: the first counts [left out]",
            ],
        );
        assert_eq!(submission.metrics, [Metric::F1V2, Metric::ExactMatch]);
        assert_eq!(submission.items[0].answers, ["Ana", "the Ana"]);
        assert_eq!(submission.items[1].answers, [""]);
        assert_eq!(submission.attempts["b"].outcome, Outcome::Answered { answer: String::new(), choice: None });
        assert_eq!(
            notes(&submission),
            [
                "dev.json (a): the gold file has this item twice: the first counts [left out]",
                "dev.json: a question without `id` is left out"
            ]
        );
    }

    #[test]
    fn version_one_wants_an_answer_and_rows_will_do() {
        let gold = gold_file(
            "1.1",
            json!([{"id": 7, "question": "Who?", "answers": [{"text": "Ana"}]}, {"id": "8", "answers": []}]),
        );
        let rows = "[{\"id\": 7, \"prediction_text\": \" \"}, {\"prediction_text\": \"x\"}]";
        let submission = read_with(&FORMAT, &[file("p.json", rows)], &gold).unwrap();
        check(&submission, &["7", "8"], &["p.json:1: no `id`: expected the question's [left out]"]);
        assert_eq!(submission.metrics[0], Metric::F1);
        assert_eq!(submission.attempts["7"].outcome, Outcome::Unparsed { response: " ".into() });
        assert_eq!(submission.items[1].answers, Vec::<String>::new());
    }

    #[test]
    fn what_is_no_gold_is_named() {
        let error = read_with(&FORMAT, &[file("p.json", "{\"a\": \"x\"}")], &[file("g.json", "[]")]).unwrap_err();
        assert!(error.to_string().starts_with("p.json: nothing"), "{error}");
        let error = read_with(&FORMAT, &[file("p.json", "{}")], &[file("g.json", "{\"a\": 1}")]).unwrap_err();
        assert!(error.to_string().contains("g.json"), "{error}");
    }
}
