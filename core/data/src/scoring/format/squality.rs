//! SQuALITY: predicted summaries against their references, and the marks that people gave.

use super::draft::{Draft, answered};
use super::layout::{Format, FormatError, FormatInput};
use super::read::{Entry, entries, field, field_text, records, text, texts};
use crate::scoring::{Attempt, Submission};
use crate::squality;
use closeread_eval::rows::{Row, WrongRow, scalar};
use closeread_eval::{InputFile, Item, Task};
use closeread_metrics::Metric;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Reads `data/human-eval/all-responses.jsonl`, and predictions as `run_summarization.py` writes them.
pub(super) const FORMAT: Format = Format {
    name: "squality",
    source: "Wang et al. 2022, SQuALITY; data/human-eval and run_summarization.py of github.com/nyu-mll/SQuALITY@dc08d4f57463",
    wants: "all-responses.jsonl of data/human-eval, or predictions with passage_id, question_n and prediction a line; as gold, dev.jsonl or test.jsonl of data/<version>/txt",
    tasks: &[],
    systems,
    read,
};

/// Marks that people gave, by their name in the file and their name in the paper.
const MARKS: [(&str, &str); 3] = [("correctness", "correctness"), ("selection", "coverage"), ("overall", "overall")];
const PREDICTION: [&str; 4] = ["prediction", "pred", "summary", "response"];

/// Item ids are `<passage id>/<question number, from 1>`, as those of the adapter `squality`.
///
/// Human evaluation: one submission a system; the items are the questions that were rated, whatever else the gold file
/// has. The marks are given as `correctness`, `coverage` and `overall`: the mean over the reviewers, of 0 to 100, divided
/// by 100. Predictions: rows `{"passage_id", "question_n", "prediction", "reference"}`, a row for each reference, or one
/// object `{id: prediction}`. `question_n` is `<passage>-<number>`, which counts from 0 if a 0 occurs in the file. With a
/// gold file its questions are the items.
///
/// References come from the gold file, else from the rows; a rated summary that is one of them is scored against the others.
/// With them the metrics are ROUGE-1, 2 and L; the paper's stem words and take the best reference, here words stay as they are.
/// Without references only the marks are scored.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    FORMAT.check(input)?;
    let mut draft = Draft::new(&[Metric::Rouge1, Metric::Rouge2, Metric::RougeL]);
    let gold = squality::read_questions(input.gold);
    if !input.gold.is_empty() {
        draft.keep_gold(gold.problems.into_iter().map(Err).collect());
    }
    if systems(input).is_empty() {
        for item in gold.items {
            draft.gold_item(input.gold.first().map_or("", |file| &file.name), None, item);
        }
        for file in input.files {
            read_predictions(&mut draft, file, input.gold.is_empty());
        }
    } else {
        let system = FORMAT.system(input)?;
        let references = gold.items.into_iter().map(|item| (item.id.clone(), item)).collect();
        for file in input.files {
            for row in draft.keep(records(file)) {
                read_marks(&mut draft, file, &row, &system, &references);
            }
        }
        note_own(&mut draft, &input.files[0], &system, &references);
    }
    let mut submission = draft.finish(&FORMAT, input)?;
    if submission.items.iter().all(|item| item.answers.is_empty()) {
        submission.metrics.clear();
    }
    Ok(submission)
}

/// The systems of a human evaluation, in the order of first use.
fn systems(input: &FormatInput<'_>) -> Vec<String> {
    let mut systems: Vec<String> = Vec::new();
    for row in input.files.iter().flat_map(records).flatten() {
        for (_, question) in questions(&row) {
            for (system, _) in question.iter().filter(|(_, value)| value.is_object()) {
                if !systems.contains(system) {
                    systems.push(system.clone());
                }
            }
        }
    }
    systems
}

/// The rated questions of a story by number, from 0: an object by number, or a list.
fn questions(row: &Row) -> Vec<(usize, &Map<String, Value>)> {
    let mut found: Vec<(usize, &Map<String, Value>)> = match row.fields.get("questions") {
        Some(Value::Object(by_number)) => by_number
            .iter()
            .filter_map(|(number, value)| Some((number.trim().parse().ok()?, value.as_object()?)))
            .collect(),
        Some(Value::Array(list)) => {
            list.iter().enumerate().filter_map(|(n, value)| Some((n, value.as_object()?))).collect()
        }
        _ => Vec::new(),
    };
    found.sort_by_key(|(number, _)| *number);
    found
}

fn read_marks(draft: &mut Draft, file: &InputFile, row: &Row, system: &str, references: &BTreeMap<String, Item>) {
    let Some(passage) = field(row, &["passage-id", "passage_id"]).and_then(|(_, value)| scalar(value)) else {
        return draft.malformed(file, Some(row.line), None, "no `passage-id`: expected the id of the story");
    };
    let questions = questions(row);
    if questions.is_empty() {
        let why = "no `questions`: expected an object or a list of them";
        return draft.malformed(file, Some(row.line), Some(&passage), why);
    }
    for (number, question) in questions {
        let id = format!("{passage}/{}", number + 1);
        let mut item = references.get(&id).cloned().unwrap_or_else(|| bare_item(&id, &passage, number));
        leave_out_own(&mut item, question.get(system));
        if !draft.item(item) {
            draft.duplicate(file, Some(row.line), &id);
            continue;
        }
        match question.get(system) {
            // A system that was not rated on this question: the item is missing.
            None | Some(Value::Null) => {}
            Some(rated) => match attempt(rated) {
                Ok(attempt) => draft.attempt(file, Some(row.line), &id, attempt),
                Err(why) => draft.malformed(file, Some(row.line), Some(&id), why),
            },
        }
    }
}

/// A person whose summary is one of the references is held against the others.
fn leave_out_own(item: &mut Item, rated: Option<&Value>) {
    let Some(own) = rated.and_then(|rated| rated.get("response")).and_then(text) else { return };
    if item.answers.iter().any(|reference| *reference != own) {
        item.answers.retain(|reference| *reference != own);
    }
}

fn note_own(draft: &mut Draft, file: &InputFile, system: &str, references: &BTreeMap<String, Item>) {
    let has_fewer = |item: &&Item| references.get(&item.id).is_some_and(|all| item.answers.len() < all.answers.len());
    let n = draft.items().iter().filter(has_fewer).count();
    if n > 0 {
        let message = format!("`{system}` wrote {n} of the references: each is scored against the others");
        draft.note(file, None, None, message);
    }
}

fn attempt(rated: &Value) -> Result<Attempt, WrongRow> {
    let response = rated.get("response").and_then(text).ok_or("no `response`: expected the summary")?;
    let mut attempt = answered(response);
    for (field, name) in MARKS {
        let rating = format!("{field}-rating");
        let mean = rated.get("overall").and_then(|overall| overall.get(&rating)).and_then(Value::as_f64);
        let mean = match mean {
            Some(mean) => mean,
            None => {
                let reviews = rated.get("reviews").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let marks: Vec<f64> = reviews.iter().filter_map(|review| review.get(&rating)?.as_f64()).collect();
                if marks.is_empty() {
                    return Err(format!("no `{rating}` in `overall` or in any of `reviews`: expected 0 to 100").into());
                }
                marks.iter().sum::<f64>() / marks.len() as f64
            }
        };
        if !(0.0..=100.0).contains(&mean) {
            return Err(format!("`{rating}` is {mean}: expected 0 to 100").into());
        }
        attempt.given.insert(name.into(), mean / 100.0);
    }
    Ok(attempt)
}

fn read_predictions(draft: &mut Draft, file: &InputFile, has_own_references: bool) {
    let rows = records(file);
    if !rows.iter().flatten().any(|row| field(row, &PREDICTION).is_some()) {
        let entries = draft.keep(entries(file));
        let is_from_zero = is_from_zero(draft, file, entries.iter().map(|entry| entry.key.as_str()));
        for Entry { line, key, value } in entries {
            let id = id_of(&key, is_from_zero);
            match text(&value) {
                Some(prediction) => {
                    if has_own_references {
                        draft.item(bare_item_of(&id));
                    }
                    draft.attempt(file, Some(line), &id, answered(prediction));
                }
                None => draft.malformed(file, Some(line), Some(&id), "expected the summary as text"),
            }
        }
        return;
    }
    let rows = draft.keep(rows);
    let keys: Vec<Option<String>> = rows.iter().map(key).collect();
    let is_from_zero = is_from_zero(draft, file, keys.iter().flatten().map(String::as_str));
    let mut grouped: BTreeMap<String, Group> = BTreeMap::new();
    let mut order = Vec::new();
    for (row, key) in rows.iter().zip(keys) {
        let Some(key) = key else {
            let why = "no `question_n`: expected `<passage id>-<number of the question>`";
            draft.malformed(file, Some(row.line), None, why);
            continue;
        };
        let id = id_of(&key, is_from_zero);
        let prediction = field_text(row, &PREDICTION);
        let references = row.fields.get("reference").map(texts).unwrap_or_default();
        match grouped.get_mut(&id) {
            None => {
                order.push(id.clone());
                grouped.insert(id, Group { line: row.line, prediction, references });
            }
            // A row for each reference repeats the prediction.
            Some(group) if group.prediction == prediction && !references.is_empty() => {
                group.references.extend(references)
            }
            Some(_) => draft.duplicate(file, Some(row.line), &id),
        }
    }
    for id in order {
        let Some(Group { line, prediction, references }) = grouped.remove(&id) else { continue };
        if has_own_references {
            let mut item = bare_item_of(&id);
            let mut seen = BTreeSet::new();
            item.answers = references.into_iter().filter(|reference| seen.insert(reference.clone())).collect();
            draft.item(item);
        }
        match prediction {
            Ok(prediction) => draft.attempt(file, Some(line), &id, answered(prediction)),
            Err(why) => draft.malformed(file, Some(line), Some(&id), why),
        }
    }
}

struct Group {
    line: usize,
    prediction: Result<String, WrongRow>,
    references: Vec<String>,
}

/// `<passage>-<number>` of a row: `question_n`, or the number with `passage_id` before it, or `id`.
fn key(row: &Row) -> Option<String> {
    let number = field(row, &["question_n", "question_number", "id"]).and_then(|(_, value)| scalar(value))?;
    let passage = field(row, &["passage_id", "passage-id"]).and_then(|(_, value)| scalar(value));
    match (place(&number), passage) {
        (None, Some(passage)) => Some(format!("{passage}-{number}")),
        _ => Some(number),
    }
}

/// Passage and number of `63833-0` or `63833_0`.
fn place(key: &str) -> Option<(&str, usize)> {
    let (passage, number) = key.rsplit_once(['-', '_'])?;
    Some((passage, number.parse().ok()?))
}

/// Returns whether questions count from 0. A story has five: without a 0 or a 5 it is not known, which is noted.
fn is_from_zero<'k>(draft: &mut Draft, file: &InputFile, keys: impl Iterator<Item = &'k str>) -> bool {
    let numbers: BTreeSet<usize> = keys.filter_map(place).map(|(_, number)| number).collect();
    if !numbers.is_empty() && !numbers.contains(&0) && !numbers.contains(&5) {
        draft.note(file, None, None, "no question has the number 0 or 5: numbers are taken to count from 1");
    }
    numbers.contains(&0)
}

fn id_of(key: &str, is_from_zero: bool) -> String {
    match place(key) {
        Some((passage, number)) => format!("{passage}/{}", number + usize::from(is_from_zero)),
        None => key.to_owned(),
    }
}

fn bare_item_of(id: &str) -> Item {
    let (passage, number) = id.rsplit_once('/').unwrap_or((id, "0"));
    bare_item(id, passage, number.parse().unwrap_or(0_usize).wrapping_sub(1))
}

/// A question that only its number is known of; the first of a story asks for the plot.
fn bare_item(id: &str, passage: &str, number_from_zero: usize) -> Item {
    let query = if number_from_zero == 0 { "plot" } else { "specific" };
    Item::new(id, passage, "", Task::Summary).label("query", query)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, notes, read_system, read_with};
    use super::*;
    use closeread_eval::Outcome;
    use serde_json::json;

    fn rated(response: &str, marks: [f64; 3]) -> Value {
        json!({"response": response, "reviews": [], "overall":
            {"correctness-rating": marks[0], "selection-rating": marks[1], "overall-rating": marks[2]}})
    }

    fn gold() -> [InputFile; 1] {
        let story = json!({"metadata": {"passage_id": "7"}, "document": "Ana came.", "questions": [
            {"question_text": "What is the plot?", "question_number": 1, "responses": [{"response_text": "Ana comes."}]},
            {"question_text": "Who?", "question_number": 2, "responses": [{"response_text": "Ana."}, {"response_text": "She."}]}]});
        [file("dev.jsonl", &story.to_string())]
    }

    #[test]
    fn marks_are_given_a_system() {
        let mut reviewed = json!({"response": "b", "reviews": []});
        for mark in [10, 40] {
            let review = json!({"correctness-rating": mark, "selection-rating": mark, "overall-rating": mark});
            reviewed["reviews"].as_array_mut().unwrap().push(review);
        }
        let row = json!({"passage-id": "7", "questions": {"1": {"bart": reviewed, "human": rated("h", [50.0, 40.0, 30.0])},
            "0": {"bart": rated("a", [100.0, 80.0, 95.5]), "human": null}, "2": {"bart": rated("c", [101.0, 1.0, 1.0])}}});
        let files = [file("h.jsonl", &format!("{row}\n{{\"passage-id\": 8}}\n{{\"questions\": []}}"))];
        assert_eq!(systems(&FormatInput { files: &files, ..FormatInput::default() }), ["bart", "human"]);
        let bart = read_system(&FORMAT, &files, "bart").unwrap();
        check(
            &bart,
            &["7/1", "7/2", "7/3"],
            &[
                "h.jsonl:1 (7/3): `correctness-rating` is 101: expected 0 to 100 [left out]",
                "h.jsonl:2 (8): no `questions`: expected an object or a list of them [left out]",
                "h.jsonl:3: no `passage-id`: expected the id of the story [left out]",
            ],
        );
        assert_eq!(bart.metrics, []);
        let marks = |id: &str| ["correctness", "coverage", "overall"].map(|name| bart.attempts[id].given[name]);
        assert_eq!((marks("7/1"), marks("7/2")), ([1.0, 0.8, 0.955], [0.25, 0.25, 0.25]));
        let human = read_system(&FORMAT, &files, "human").unwrap();
        assert_eq!(human.attempts.keys().collect::<Vec<_>>(), ["7/2"]);
        let both = FormatInput { files: &files, gold: &gold(), task: None, system: Some("human") };
        let both = super::read(&both).unwrap();
        assert_eq!(both.metrics[0], Metric::Rouge1);
        assert_eq!(both.items[1].answers, ["Ana.", "She."]);
    }

    #[test]
    fn a_reference_is_not_held_against_itself() {
        let marks = [50.0, 40.0, 30.0];
        let row = json!({"passage-id": "7", "questions": {
            "0": {"bart": rated("She.", marks), "human": rated("Ana comes.", marks)},
            "1": {"bart": rated("Ana?", marks), "human": rated("She.", marks)}}});
        let files = [file("h.jsonl", &row.to_string())];
        for (system, answers, noted) in [
            (
                "human",
                [vec!["Ana comes."], vec!["Ana."]],
                "h.jsonl: `human` wrote 1 of the references: each is scored against the others",
            ),
            ("bart", [vec!["Ana comes."], vec!["Ana.", "She."]], ""),
        ] {
            let input = FormatInput { files: &files, gold: &gold(), task: None, system: Some(system) };
            let submission = super::read(&input).unwrap();
            assert_eq!([0, 1].map(|n| submission.items[n].answers.clone()), answers, "{system}");
            assert_eq!(notes(&submission).join("|"), noted);
        }
    }

    #[test]
    fn a_row_for_each_reference_is_one_prediction() {
        let row = |n: &str, prediction: &str, reference: &str| {
            json!({"prediction": prediction, "reference": reference, "passage_id": "7", "question_n": n}).to_string()
        };
        let rows = [
            row("7-0", "x", "r1"),
            row("7-0", "x", "r2"),
            row("7-0", "x", "r1"),
            row("7-1", "y", "r3"),
            row("7-1", "z", "r4"),
            "{\"prediction\": \"x\"}".to_owned(),
            "{\"question_n\": \"7-2\", \"prediction\": null}".to_owned(),
        ];
        let files = [file("p.jsonl", &rows.join("\n"))];
        let submission = read_with(&FORMAT, &files, &[]).unwrap();
        check(
            &submission,
            &["7/1", "7/2", "7/3"],
            &[
                "p.jsonl:6: no `question_n`: expected `<passage id>-<number of the question>` [left out]",
                "p.jsonl:7 (7/3): `prediction`: expected text, found null [left out]",
                "p.jsonl:5 (7/2): a second prediction for this item: the first counts [left out]",
            ],
        );
        assert_eq!(submission.items[0].answers, ["r1", "r2"]);
        let with_gold = read_with(&FORMAT, &files, &gold()).unwrap();
        assert_eq!(with_gold.items.len(), 2);
        assert_eq!(with_gold.items[0].answers, ["Ana comes."]);
        assert_eq!(with_gold.attempts["7/2"].outcome, Outcome::Answered { answer: "y".into(), choice: None });
    }

    #[test]
    fn an_object_by_id_will_do() {
        let submission = read_with(&FORMAT, &[file("p.json", "{\"7/1\": \"x\", \"7/9\": \"y\"}")], &gold()).unwrap();
        let unknown = "p.json:1 (7/9): the gold has no such item: expected one of its 2 ids [left out]";
        check(&submission, &["7/1", "7/2"], &[unknown]);
        let submission = read_with(&FORMAT, &[file("p.json", "{\"7-0\": \"x\", \"7-1\": null}")], &gold()).unwrap();
        check(&submission, &["7/1", "7/2"], &["p.json:1 (7/2): expected the summary as text [left out]"]);
        assert_eq!(notes(&submission), Vec::<String>::new());
        let submission = read_with(&FORMAT, &[file("p.json", "{\"7-1\": \"x\", \"7-2\": \"y\"}")], &gold()).unwrap();
        assert!(notes(&submission)[0].contains("numbers are taken to count from 1"));
        assert!(read_with(&FORMAT, &[file("p.json", "[]")], &[]).is_err());
    }
}
