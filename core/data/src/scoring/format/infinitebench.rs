//! InfiniteBench's prediction files: one line a question, gold answer included.

mod files;

use super::choice;
use super::draft::{Draft, answered, ended, share};
use super::layout::{Format, FormatError, FormatInput};
use super::read::{field, field_text, records, texts};
use crate::scoring::{Attempt, Submission};
use closeread_eval::Outcome;
use closeread_eval::answer::Parsed;
use closeread_eval::answer::infinitebench::{infinitebench_choice, strict_choice};
use closeread_eval::rows::{Row, WrongRow, scalar, scalars};
use closeread_eval::{InputFile, Item, Task};
use closeread_metrics::Metric;
use closeread_text::hash::name_hash;
use std::collections::{HashMap, HashSet};

const CHOICE: &str = "longbook_choice_eng";
const QA_ENGLISH: &str = "longbook_qa_eng";
const QA_CHINESE: &str = "longbook_qa_chn";
const SUMMARY: &str = "longbook_sum_eng";

/// Reads `results/<model>/preds_<task>.jsonl`.
pub(super) const FORMAT: Format = Format {
    name: "infinitebench",
    source: "Zhang et al. 2024, InfiniteBench; results/ and src/compute_scores.py of github.com/OpenBMB/InfiniteBench@88b3daa6989d",
    wants: "preds_<task>.jsonl with id, prediction (or pred) and ground_truth (or label) a line",
    tasks: &[CHOICE, QA_ENGLISH, QA_CHINESE, SUMMARY],
    systems: files::systems,
    read,
};

/// Reads one item a line, in file order; the ids are those of the file, which differ from model to model. Folders that hold
/// files of the same name are a model each.
///
/// En.MC: the gold is `[option text, letter]`, both of which are `answers`; of the options only the letters are known.
/// `accuracy` is given as the source's script reads the response, `accuracy_strict` as [`strict_choice`] does. A response
/// from which the script reads no letter and no option text is `unparsed`, and wrong. The other tasks are scored by
/// the metric of their name. Items carry the label `task`: `En.MC`, `En.QA`, `Zh.QA`, `En.Sum`.
///
/// With gold files (another model's file, or the data set's own) theirs are the items and the gold. Lines are joined by
/// id unless more of the two files' gold answers agree line by line: then the ids number different questions, lines
/// are joined by their order, and a note says so. Gold answers that differ between the files are noted.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    let task = files::task(input)?;
    let mut draft = Draft::new(&[match task {
        CHOICE => Metric::Accuracy,
        QA_ENGLISH => Metric::InfinitebenchEnF1,
        QA_CHINESE => Metric::InfinitebenchZhF1,
        _ => Metric::RougeLsum,
    }]);
    let read = files::of_task(&mut draft, &files::of_system(input)?, task);
    let mut lines = Vec::new();
    for file in &read {
        let within = if read.len() > 1 { format!("{}/", file.name) } else { String::new() };
        lines.extend(draft.keep(records(file)).iter().map(|row| Line::new(row, file, &within)));
    }
    if input.gold.is_empty() {
        read_with_own_gold(&mut draft, task, lines);
    } else {
        let mut gold = Vec::new();
        let gold_files: Vec<&InputFile> = input.gold.iter().collect();
        for gold_file in files::of_task(&mut draft, &gold_files, task) {
            for row in draft.keep_gold(records(gold_file)) {
                let mut line = Line::new(&row, gold_file, "");
                let item = item(task, &line, &row);
                line.gold.clone_from(&item.answers);
                draft.gold_item(&gold_file.name, Some(row.line), item);
                gold.push(line);
            }
        }
        read_with_gold(&mut draft, task, lines, &gold);
    }
    draft.finish(&FORMAT, input)
}

/// The fields of a line that matter.
struct Line<'f> {
    file: &'f InputFile,
    line: usize,
    id: String,
    prediction: Result<String, WrongRow>,
    gold: Vec<String>,
}

impl<'f> Line<'f> {
    /// A line without an id is called by its number, behind `within`.
    fn new(row: &Row, file: &'f InputFile, within: &str) -> Self {
        let gold = field(row, &["ground_truth", "label", "answer", "answers"]).map_or_else(Vec::new, |(_, v)| texts(v));
        Self {
            file,
            line: row.line,
            id: row.text("id").unwrap_or_else(|| format!("{within}line-{}", row.line)),
            prediction: field_text(row, &["prediction", "pred"]),
            gold,
        }
    }
}

fn read_with_own_gold(draft: &mut Draft, task: &str, lines: Vec<Line<'_>>) {
    for line in lines {
        if !draft.item(bare_item(task, &line.id, line.gold.clone())) {
            draft.duplicate(line.file, Some(line.line), &line.id);
            continue;
        }
        if line.gold.is_empty() {
            let why = "no `ground_truth` or `label`: expected the gold answers, without which the item is not scored";
            draft.malformed(line.file, Some(line.line), Some(&line.id), why);
        }
        match line.prediction {
            Ok(response) => draft.attempt(line.file, Some(line.line), &line.id, attempt(task, response, &line.gold)),
            Err(why) => draft.malformed(line.file, Some(line.line), Some(&line.id), why),
        }
    }
}

fn read_with_gold(draft: &mut Draft, task: &str, lines: Vec<Line<'_>>, gold: &[Line<'_>]) {
    let (joined, is_by_line) = join(&lines, gold);
    if is_by_line {
        let message = "joined to the gold by the order of the lines: more gold answers agree so than by id, so the ids of the two files number different questions";
        if let Some(line) = lines.first() {
            draft.note(line.file, None, None, message);
        }
    }
    let (mut n_differing, mut first) = (0, None);
    for (line, place) in lines.into_iter().zip(joined) {
        let Some(gold) = place.map(|at| &gold[at]) else {
            draft.unknown(line.file, Some(line.line), &line.id);
            continue;
        };
        if !line.gold.is_empty() && line.gold != gold.gold {
            n_differing += 1;
            first.get_or_insert((line.file, line.line, gold.id.clone()));
        }
        match line.prediction {
            Ok(response) => draft.attempt(line.file, Some(line.line), &gold.id, attempt(task, response, &gold.gold)),
            Err(why) => draft.malformed(line.file, Some(line.line), Some(&gold.id), why),
        }
    }
    if let Some((file, line, id)) = first {
        let message =
            format!("{n_differing} lines, this one first, hold another gold answer than the gold file, whose counts");
        draft.note(file, Some(line), Some(&id), message);
    }
}

/// The place in `gold` of each line, and whether lines were joined by their order.
fn join(lines: &[Line<'_>], gold: &[Line<'_>]) -> (Vec<Option<usize>>, bool) {
    let mut ids: HashMap<&str, usize> = HashMap::new();
    for (at, line) in gold.iter().enumerate() {
        ids.entry(&line.id).or_insert(at);
    }
    let by_id: Vec<Option<usize>> = lines.iter().map(|line| ids.get(line.id.as_str()).copied()).collect();
    let Some(by_line) = by_line(lines, gold) else { return (by_id, false) };
    let n_agreeing = |places: &[Option<usize>]| {
        let agrees = |(line, place): &(&Line<'_>, &Option<usize>)| {
            !line.gold.is_empty() && place.is_some_and(|at| gold[at].gold == line.gold)
        };
        lines.iter().zip(places).filter(agrees).count()
    };
    let has_no_id = by_id.iter().all(Option::is_none);
    let is_by_line = n_agreeing(&by_line) > n_agreeing(&by_id) || has_no_id && lines.iter().all(|l| l.gold.is_empty());
    if is_by_line { (by_line, true) } else { (by_id, false) }
}

/// Places by order: by position if both files have the same number of lines, else by the number of the line, so that a
/// line that could not be read shifts no other.
fn by_line(lines: &[Line<'_>], gold: &[Line<'_>]) -> Option<Vec<Option<usize>>> {
    if lines.len() == gold.len() {
        return Some((0..lines.len()).map(Some).collect());
    }
    let numbers: HashMap<usize, usize> = gold.iter().enumerate().map(|(at, line)| (line.line, at)).collect();
    let distinct: HashSet<usize> = lines.iter().map(|line| line.line).collect();
    if numbers.len() < gold.len() || distinct.len() < lines.len() {
        return None;
    }
    lines.iter().map(|line| numbers.get(&line.line).map(|at| Some(*at))).collect()
}

/// An item of the data set or of a prediction file: with the book and the options where the row has them.
fn item(task: &str, line: &Line<'_>, row: &Row) -> Item {
    let mut item = bare_item(task, &line.id, line.gold.clone());
    if let Some(question) = row.text("input") {
        item.question = question;
    }
    if let Some(book) = row.fields.get("context").and_then(scalar) {
        item.documents = vec![format!("book-{}", name_hash(&book))];
    }
    let options = row.fields.get("options").map(scalars).unwrap_or_default();
    if let Some(correct) = options.iter().position(|option| item.answers.iter().any(|answer| answer.trim() == option)) {
        // The data set gives the option's text alone; the script adds its letter.
        let letter = char::from(b'A' + u8::try_from(correct).unwrap_or(25).min(25)).to_string();
        if !item.answers.contains(&letter) {
            item.answers.push(letter);
        }
        (item.options, item.correct) = (options, Some(correct));
    }
    item
}

fn bare_item(task: &str, id: &str, answers: Vec<String>) -> Item {
    let (kind, name) = match task {
        CHOICE => (Task::Choice, "En.MC"),
        QA_ENGLISH => (Task::Generative, "En.QA"),
        QA_CHINESE => (Task::Generative, "Zh.QA"),
        _ => (Task::Summary, "En.Sum"),
    };
    let mut item = Item::new(id, "", "", kind).label("task", name);
    item.documents.clear();
    if kind == Task::Choice {
        item.correct = answers.iter().find_map(|gold| choice::letter(gold));
        item.options = choice::LETTERS.map(String::from).to_vec();
    }
    item.answers = answers;
    item
}

fn attempt(task: &str, response: String, gold: &[String]) -> Attempt {
    if task != CHOICE {
        return answered(response);
    }
    let is_right = infinitebench_choice(&response, gold);
    let strict = strict_choice(&response, gold) == Parsed::Answer(true);
    // A letter that the script would have credited is the one that it read.
    let chosen = match is_right {
        true => gold.iter().find_map(|gold| choice::letter(gold)),
        false => choice::LETTERS.iter().position(|letter| infinitebench_choice(&response, &[letter.to_string()])),
    };
    // What the script does not read is wrong under both.
    let is_strictly_right = strict && (is_right || chosen.is_some());
    let mut attempt = ended(match (is_right, chosen) {
        (false, None) => Outcome::Unparsed { response },
        (_, choice) => Outcome::Answered { answer: response, choice },
    });
    attempt.given.insert("accuracy".into(), share(is_right));
    attempt.given.insert("accuracy_strict".into(), share(is_strictly_right));
    attempt
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, notes, read, read_with};
    use super::*;

    #[test]
    fn both_spellings_are_read_and_nothing_is_trimmed() {
        let rows = "\u{feff}{\"id\": 3, \"prediction\": \" Ana \", \"ground_truth\": [\"ana\", \"Bo\"]}\r\n{\"id\": \"x\", \"pred\": 42, \"label\": \"42\"}";
        let submission = read(&FORMAT, Some(QA_ENGLISH), &[file("p.jsonl", rows)]).unwrap();
        check(&submission, &["3", "x"], &[]);
        assert_eq!(submission.metrics, [Metric::InfinitebenchEnF1]);
        assert_eq!(submission.attempts["3"].outcome, Outcome::Answered { answer: " Ana ".into(), choice: None });
        assert_eq!(submission.items[0].answers, ["ana", "Bo"]);
        assert_eq!(submission.attempts["x"].outcome, Outcome::Answered { answer: "42".into(), choice: None });
    }

    #[test]
    fn a_bad_row_costs_that_row_and_its_item_stays() {
        let rows = [
            r#"{"id": 0, "prediction": "a", "ground_truth": ["a"]}"#,
            r#"{"id": 0, "prediction": "b", "ground_truth": ["a"]}"#,
            r#"{"id": 1, "prediction": null, "ground_truth": ["a"]}"#,
            r#"{"id": 2, "prediction": ["a"], "ground_truth": ["a"]}"#,
            r#"{"id": 3, "ground_truth": ["a"], "score": NaN}"#,
            r#"{"id": 4, "prediction": "a"}"#,
            r#"[1]"#,
            r#"{"prediction": " \n", "ground_truth": ["a"]}gi"#,
            r#"{"id": 9, "prediction": "a", "ground"#,
        ];
        let submission = read(&FORMAT, None, &[file("preds_longbook_qa_chn.jsonl", &rows.join("\n"))]).unwrap();
        check(
            &submission,
            &["0", "1", "2", "3", "4", "line-8"],
            &[
                "preds_longbook_qa_chn.jsonl:7: expected a JSON object in braces, found a list [left out]",
                "preds_longbook_qa_chn.jsonl:9: not valid JSON, column 36: EOF while parsing a string: expected one object a line [left out]",
                "preds_longbook_qa_chn.jsonl:3 (1): `prediction`: expected text, found null [left out]",
                "preds_longbook_qa_chn.jsonl:4 (2): `prediction`: expected text, found a list [left out]",
                "preds_longbook_qa_chn.jsonl:5 (3): no `prediction` or `pred`: expected text [left out]",
                "preds_longbook_qa_chn.jsonl:6 (4): no `ground_truth` or `label`: expected the gold answers, without which the item is not scored [left out]",
                "preds_longbook_qa_chn.jsonl:2 (0): a second prediction for this item: the first counts [left out]",
            ],
        );
        assert_eq!(submission.attempts.keys().collect::<Vec<_>>(), ["0", "4", "line-8"]);
        assert_eq!(submission.attempts["line-8"].outcome, Outcome::Unparsed { response: " \n".into() });
        assert_eq!(
            notes(&submission),
            [
                "preds_longbook_qa_chn.jsonl:5: NaN or Infinity, which JSON does not have, is read as null",
                "preds_longbook_qa_chn.jsonl:8: text after the JSON object is ignored: `gi`",
            ]
        );
    }

    #[test]
    fn choices_are_read_as_the_script_reads_them_and_strictly() {
        let row = |id: u32, response: &str| {
            serde_json::json!({"id": id, "prediction": response, "ground_truth": ["The mill", "B"]}).to_string()
        };
        let unread = ":\n\nDear Student,\n\nThe correct answer for the given question is option (B)";
        let responses = ["Based on it, C.", "The answer is: The mill", unread, "C", "(B)", "B"];
        let rows: Vec<String> = (0..).zip(responses).map(|(id, response)| row(id, response)).collect();
        let submission = read(&FORMAT, Some(CHOICE), &[file("p.jsonl", &rows.join("\n"))]).unwrap();
        check(&submission, &["0", "1", "2", "3", "4", "5"], &[]);
        let given = |name: &str| submission.attempts.values().map(|a| a.given[name]).collect::<Vec<_>>();
        assert_eq!(given("accuracy"), [1.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(given("accuracy_strict"), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(submission.items[0].correct, Some(1));
        assert!(matches!(&submission.attempts["2"].outcome, Outcome::Unparsed { .. }));
        assert!(matches!(&submission.attempts["3"].outcome, Outcome::Answered { choice: Some(2), .. }));
    }

    fn rows(ids: &[u32], golds: &[&str]) -> String {
        let row = |(id, gold): (&u32, &&str)| {
            format!("{{\"id\": {id}, \"prediction\": \"p{gold}\", \"ground_truth\": [\"{gold}\"]}}\n")
        };
        ids.iter().zip(golds).map(row).collect()
    }

    #[test]
    fn renumbered_lines_are_joined_by_order_and_gapped_ones_by_id() {
        let gold = [file("gold.jsonl", &rows(&[0, 2, 3, 9], &["a", "b", "c", "d"]))];
        let renumbered = [file("longbook_qa_eng.jsonl", &rows(&[0, 1, 2, 3], &["a", "b", "x", "d"]))];
        let submission = read_with(&FORMAT, &renumbered, &gold).unwrap();
        check(&submission, &["0", "2", "3", "9"], &[]);
        assert_eq!(submission.attempts["9"].outcome, Outcome::Answered { answer: "pd".into(), choice: None });
        assert_eq!(submission.items[2].answers, ["c"]);
        let found = notes(&submission);
        assert!(found[0].contains("joined to the gold by the order of the lines"), "{found:?}");
        assert!(found[1].starts_with("longbook_qa_eng.jsonl:3 (3): 1 lines"), "{found:?}");

        let gapped = [file("longbook_qa_eng.jsonl", &rows(&[9, 3, 7], &["d", "c", "z"]))];
        let submission = read_with(&FORMAT, &gapped, &gold).unwrap();
        let problem = "longbook_qa_eng.jsonl:3 (7): the gold has no such item: expected one of its 4 ids [left out]";
        check(&submission, &["0", "2", "3", "9"], &[problem]);
        assert_eq!(submission.attempts.keys().collect::<Vec<_>>(), ["3", "9"]);
    }

    #[test]
    fn the_data_set_itself_is_gold() {
        let gold = r#"{"id": 5, "context": "Ana came.", "input": "Who?", "answer": ["Bo"], "options": ["Ana", "Bo"]}"#;
        let predictions = r#"{"id": 5, "prediction": "B"}"#;
        let submission =
            read_with(&FORMAT, &[file("longbook_choice_eng.jsonl", predictions)], &[file("g.jsonl", gold)]).unwrap();
        check(&submission, &["5"], &[]);
        let item = &submission.items[0];
        assert_eq!((item.correct, item.answers.join("|")), (Some(1), "Bo|B".to_owned()));
        assert_eq!((item.options.len(), item.question.as_str(), item.documents.len()), (2, "Who?", 1));
        assert_eq!(submission.attempts["5"].given["accuracy"], 1.0);
    }

    #[test]
    fn empty_files_are_missing_items_or_nothing() {
        let empty = [file("longbook_qa_eng.jsonl", " \n")];
        let submission = read_with(&FORMAT, &empty, &[file("g.jsonl", &rows(&[1, 2], &["a", "b"]))]).unwrap();
        check(&submission, &["1", "2"], &[]);
        assert!(submission.attempts.is_empty());
        let error = read_with(&FORMAT, &empty, &[]).unwrap_err().to_string();
        assert!(error.starts_with("longbook_qa_eng.jsonl: nothing in it could be read as infinitebench (it is empty)"));
        let noise = [InputFile { name: "longbook_qa_eng.jsonl".into(), bytes: vec![0x89, b'P', 0xff, b'\n', 0xfe] }];
        let error = read_with(&FORMAT, &noise, &[file("g.jsonl", &rows(&[1], &["a"]))]).unwrap_err().to_string();
        assert!(error.contains("line 1: invalid UTF-8"), "{error}");
    }

    #[test]
    fn a_task_must_be_known() {
        let some = [file("p.jsonl", "{}")];
        let error = read(&FORMAT, None, &some).unwrap_err().to_string();
        assert_eq!(
            error,
            "p.jsonl: the name does not show its task: name one of longbook_choice_eng, longbook_qa_eng, longbook_qa_chn, longbook_sum_eng"
        );
        let error = read(&FORMAT, Some("passkey"), &some).unwrap_err().to_string();
        assert!(error.starts_with("unknown task `passkey`: infinitebench has longbook_choice_eng"), "{error}");
    }
}
