//! closeread's own `predictions.jsonl`.

use super::{Attempt, Problems, Submission};
use crate::jsonl::{self, whole_number};
use closeread_eval::Outcome;
use closeread_eval::answer::{ShortAnswer, short_answer};
use closeread_eval::rows::{Row, WrongRow, excerpt, kind, rows, scalar};
use closeread_eval::{InputFile, Item, Problem, ProblemList, Task};
use closeread_text::composed;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The reason why nothing can be scored at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The gold file has not one item that can be used.
    #[error(
        "{file} holds no item: expected items.jsonl, one JSON object with id, documents, question and task a line{}",
        also(.first)
    )]
    NoGold {
        /// Name of the gold file.
        file: String,
        /// The first problem of the gold file.
        first: Option<Box<Problem>>,
    },
}

fn also(first: &Option<Box<Problem>>) -> String {
    first.as_ref().map_or_else(String::new, |problem| format!("; the first problem: {problem}"))
}

/// Reads `predictions` against the items of `gold`.
///
/// `gold` is an `items.jsonl`; the documents it names need not be there. A row of `predictions` is
/// `{"item": id, "answer": text | null, "choice": index, "evidence": [text]}`; other fields are skipped.
///
/// - `choice` counts from 0 and decides where both it and `answer` are given. For an item that is no choice but has
///   options, the text of the option is the answer.
/// - An `answer` to a choice must be the text of an option, white space at its ends aside; else it is `unparsed`.
/// - The words "Not found in context." are `not_found`, as in a run, unless they are the gold answer.
/// - Neither: `null` for both, or for the one that is given, says that the system made no attempt, which the ledger
///   counts as `unanswered`. It is not `missing`, for the file does speak of the item; why the system fell silent (its
///   searches spent, its context empty) a file of predictions does not say.
/// - An empty text is an answer: it is what SQuAD v2 wants where there is none.
///
/// A row that is none of that is malformed and left out, wherever it stands; so is one whose `choice` no option has. A
/// row for an item that the gold does not have is left out, and of several usable rows for an item the first counts.
/// Items without a usable row have no attempt, and are `missing`. Gold rows that cannot be used stand among the
/// malformed rows. Both files may be JSON Lines or one JSON array.
///
/// # Errors
/// [`ReadError::NoGold`] if the gold file has no usable item.
pub fn read(gold: &InputFile, predictions: &InputFile) -> Result<Submission, ReadError> {
    let (items, wrong) = jsonl::items(gold);
    let (dropped, mut notes): (ProblemList, ProblemList) = wrong.into_iter().partition(|problem| problem.dropped);
    if items.is_empty() {
        return Err(ReadError::NoGold { file: gold.name.clone(), first: dropped.into_iter().next().map(Box::new) });
    }
    let mut problems = Problems { malformed_rows: dropped, ..Problems::default() };
    let by_id: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let composed_ids: HashSet<_> = items.iter().map(|item| composed(&item.id)).collect();
    let mut attempts: BTreeMap<String, (usize, Attempt)> = BTreeMap::new();
    for row in rows(predictions) {
        let Row { line, mut fields } = match row {
            Ok(row) => row,
            Err(problem) if problem.dropped => {
                problems.malformed_rows.push(problem);
                continue;
            }
            Err(note) => {
                notes.push(note);
                continue;
            }
        };
        let wrong =
            |item: Option<&str>, message: WrongRow| Problem::dropped(&predictions.name, Some(line), item, message);
        let id = match id(&fields) {
            Ok(id) => id,
            Err(message) => {
                problems.malformed_rows.push(wrong(None, message));
                continue;
            }
        };
        let Some(item) = by_id.get(id.as_str()) else {
            let message = match composed_ids.contains(&composed(&id)) {
                true => {
                    format!("{} has this id in other characters that look the same (NFC or NFD): copy it", gold.name)
                }
                false => format!("{} has no item of this id: expected one of its {}", gold.name, of_ids(&items)),
            };
            problems.unknown_ids.push(wrong(Some(&id), message.into()));
            continue;
        };
        match attempt(item, &mut fields) {
            Err(message) => problems.malformed_rows.push(wrong(Some(&id), message)),
            Ok(attempt) => match attempts.get(&id) {
                Some((first, _)) => {
                    let message = format!("a further row for this item: the one in line {first} counts");
                    problems.duplicate_ids.push(wrong(Some(&id), message.into()));
                }
                None => {
                    attempts.insert(id, (line, attempt));
                }
            },
        }
    }
    notes.extend(no_option(predictions, &attempts));
    let attempts = attempts.into_iter().map(|(id, (_, attempt))| (id, attempt)).collect();
    Ok(Submission { items, attempts, problems, notes, ..Submission::default() })
}

/// A note on answers that are the text of no option, such as letters: without it, nothing says why they all count as wrong.
fn no_option(predictions: &InputFile, attempts: &BTreeMap<String, (usize, Attempt)>) -> Option<Problem> {
    let unparsed = attempts.iter().filter_map(|(id, (line, attempt))| match &attempt.outcome {
        Outcome::Unparsed { response } => Some((*line, id, response)),
        _ => None,
    });
    let n = unparsed.clone().count();
    let (line, id, response) = unparsed.min()?;
    let answers = if n == 1 { "1 such answer counts".to_owned() } else { format!("{n} such answers count") };
    let message = format!(
        "`answer` is the text of no option: `{}`; {answers} as wrong: give an option's text, or its number from 0 as `choice`",
        excerpt(response)
    );
    Some(Problem::note(&predictions.name, Some(line), Some(id), message))
}

fn of_ids(items: &[Item]) -> String {
    match items {
        [only] => format!("1 id, `{}`", only.id),
        _ => format!("{} ids, such as `{}`", items.len(), items.first().map_or("", |item| item.id.as_str())),
    }
}

fn id(fields: &Map<String, Value>) -> Result<String, WrongRow> {
    match fields.get("item") {
        Some(Value::String(id)) if !id.is_empty() => Ok(id.clone()),
        Some(Value::String(_)) => Err("`item` is empty: expected the id of an item".into()),
        Some(other) => Err(format!("`item` is {}: expected the id of an item, text in quotes", kind(other)).into()),
        None => {
            let instead = fields.get("id").and_then(scalar).map_or_else(String::new, |id| format!(", found `id` {id}"));
            Err(format!("no `item`: expected the id of an item{instead}").into())
        }
    }
}

fn attempt(item: &Item, fields: &mut Map<String, Value>) -> Result<Attempt, WrongRow> {
    if !fields.contains_key("answer") && !fields.contains_key("choice") {
        return Err("neither `answer` nor `choice`: expected one of them, or null where there was no attempt".into());
    }
    let evidence = evidence(fields)?;
    let answer = match fields.shift_remove("answer") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text),
        Some(other) => return Err(format!("`answer` is {}: expected text in quotes, or null", kind(&other)).into()),
    };
    let outcome = match (choice(item, fields)?, answer) {
        (Some(choice), _) => Outcome::Answered { answer: item.options[choice].clone(), choice: Some(choice) },
        (None, Some(answer)) => read_answer(item, answer),
        (None, None) => Outcome::Unanswered,
    };
    Ok(Attempt { outcome, evidence, given: BTreeMap::new() })
}

fn choice(item: &Item, fields: &Map<String, Value>) -> Result<Option<usize>, WrongRow> {
    let value = match fields.get("choice") {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => value,
    };
    let n = item.options.len();
    if n == 0 {
        return Err("`choice` for an item without options: expected `answer`".into());
    }
    let index = whole_number(value).filter(|index| *index < n);
    let found = || match value {
        Value::Number(number) => number.to_string(),
        other => kind(other).to_owned(),
    };
    index
        .map(Some)
        .ok_or_else(|| format!("`choice` is {}: expected a whole number from 0 to {}", found(), n - 1).into())
}

fn read_answer(item: &Item, answer: String) -> Outcome {
    let text = answer.trim();
    if item.task == Task::Choice {
        let text = composed(text);
        let is_meant = |option: &String| composed(option.trim()) == text;
        // Of options with one text the right one is meant: no answer in words could name it else.
        let right = item.correct.filter(|correct| item.options.get(*correct).is_some_and(is_meant));
        return match right.or_else(|| item.options.iter().position(is_meant)) {
            Some(choice) => Outcome::Answered { answer: item.options[choice].clone(), choice: Some(choice) },
            None if short_answer(&text) == ShortAnswer::NotFound => Outcome::NotFound,
            None => Outcome::Unparsed { response: answer },
        };
    }
    let is_gold = |gold: &String| gold.trim() == text;
    match short_answer(text) {
        ShortAnswer::NotFound if !item.answers.iter().any(is_gold) => Outcome::NotFound,
        _ => Outcome::Answered { answer, choice: None },
    }
}

fn evidence(fields: &mut Map<String, Value>) -> Result<Vec<String>, WrongRow> {
    let values = match fields.shift_remove("evidence") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(values)) => values,
        Some(other) => return Err(format!("`evidence` is {}: expected a list of texts", kind(&other)).into()),
    };
    let text = |(n, value)| match value {
        Value::String(text) => Ok(text),
        other => Err(format!("`evidence[{n}]` is {}: expected text in quotes", kind(&other)).into()),
    };
    values.into_iter().enumerate().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLD: &str = r#"{"id":"a","documents":["b"],"question":"Who?","task":"generative","answers":["Ana"]}
{"id":"c","documents":["b"],"question":"Which?","task":"choice","options":["one","two"],"correct":1}
"#;

    fn file(name: &str, content: &[u8]) -> InputFile {
        InputFile { name: name.into(), bytes: content.to_vec() }
    }

    fn submission(predictions: &[u8]) -> Submission {
        read(&file("items.jsonl", GOLD.as_bytes()), &file("p.jsonl", predictions)).unwrap()
    }

    fn outcome(row: &str) -> Outcome {
        let submission = submission(row.as_bytes());
        assert_eq!(submission.problems, Problems::default());
        submission.attempts.into_values().next().unwrap().outcome
    }

    fn answered(answer: &str, choice: Option<usize>) -> Outcome {
        Outcome::Answered { answer: answer.into(), choice }
    }

    #[test]
    fn a_row_says_how_an_attempt_ended() {
        assert_eq!(outcome(r#"{"item":"a","answer":"Bo","choice":null,"x":1}"#), answered("Bo", None));
        assert_eq!(outcome(r#"{"item":"a","answer":""}"#), answered("", None));
        assert_eq!(outcome(r#"{"item":"a","answer":null}"#), Outcome::Unanswered);
        assert_eq!(outcome(r#"{"item":"a","answer":"Not found in context."}"#), Outcome::NotFound);
        assert_eq!(outcome(r#"{"item":"c","choice":1}"#), answered("two", Some(1)));
        assert_eq!(outcome(r#"{"item":"c","choice":1.0}"#), answered("two", Some(1)));
        assert_eq!(outcome(r#"{"item":"c","choice":-0.0}"#), answered("one", Some(0)));
        assert_eq!(outcome(r#"{"item":"c","choice":0,"answer":"two"}"#), answered("one", Some(0)));
        assert_eq!(outcome(r#"{"item":"c","choice":null}"#), Outcome::Unanswered);
        assert_eq!(outcome(r#"{"item":"c","answer":" two\n"}"#), answered("two", Some(1)));
        assert_eq!(outcome(r#"{"item":"c","answer":"Two"}"#), Outcome::Unparsed { response: "Two".into() });
        assert_eq!(outcome(r#"{"item":"c","answer":""}"#), Outcome::Unparsed { response: String::new() });
    }

    #[test]
    fn an_option_whose_letters_are_written_apart_is_the_option() {
        let gold = r#"{"id":"c","documents":["d"],"question":"?","options":["th\u00e9","caf\u00e9"],"correct":1}"#;
        let read =
            read(&file("g", gold.as_bytes()), &file("p", "{\"item\":\"c\",\"answer\":\"cafe\u{301}\"}".as_bytes()));
        assert_eq!(read.unwrap().attempts["c"].outcome, answered("café", Some(1)));
    }

    #[test]
    fn of_options_with_one_text_the_right_one_is_meant() {
        let gold = br#"{"id":"c","documents":["d"],"question":"?","options":["one","two","one"],"correct":2}"#;
        let read = read(&file("g", gold), &file("p", br#"{"item":"c","answer":"one"}"#));
        assert_eq!(read.unwrap().attempts["c"].outcome, answered("one", Some(2)));
    }

    #[test]
    fn wrong_rows_are_named_by_line_and_left_out() {
        let rows = [
            r#"{"item":"c","choice":2}"#,
            r#"{"item":"c","choice":-1}"#,
            r#"{"item":"c","choice":0.5}"#,
            r#"{"item":"c","choice":"1"}"#,
            r#"{"item":"a","choice":0}"#,
            r#"{"item":"a","answer":7}"#,
            r#"{"item":"a","answer":"x","evidence":"y"}"#,
            r#"{"item":"a","answer":"x","evidence":["y",2]}"#,
            r#"{"item":7,"answer":"x"}"#,
            r#"{"item":"","answer":"x"}"#,
            r#"{"id":"a","answer":"x"}"#,
            r#"{"item":"a"}"#,
            r#"{"item":"a","answer":NaN}"#,
            r#"["a","x"]"#,
        ];
        let text = format!("{{\"item\":\"zz\",\"answer\":\"x\"}}\n{}", rows.join("\n"));
        let submission = submission(text.as_bytes());
        assert!(submission.attempts.is_empty());
        let lines: Vec<_> = submission.problems.malformed_rows.iter().map(|problem| problem.line.unwrap()).collect();
        assert_eq!(lines, (2..=rows.len() + 1).collect::<Vec<_>>());
        let said: Vec<String> = submission.problems.iter().map(ToString::to_string).collect();
        assert_eq!(said[0], "p.jsonl:2 (c): `choice` is 2: expected a whole number from 0 to 1 [left out]");
        assert_eq!(said[10], "p.jsonl:12: no `item`: expected the id of an item, found `id` a [left out]");
        let unknown =
            "p.jsonl:1 (zz): items.jsonl has no item of this id: expected one of its 2 ids, such as `a` [left out]";
        assert_eq!(said.last().map(String::as_str), Some(unknown));
    }

    #[test]
    fn an_id_of_other_characters_that_look_the_same_is_said() {
        let gold = GOLD.replace("\"a\"", "\"caf\u{e9}\"");
        let read =
            read(&file("g", gold.as_bytes()), &file("p", "{\"item\":\"cafe\u{301}\",\"answer\":\"x\"}".as_bytes()));
        let said = &read.unwrap().problems.unknown_ids[0].message;
        assert_eq!(said, "g has this id in other characters that look the same (NFC or NFD): copy it");
    }

    #[test]
    fn letters_for_options_are_noted() {
        let rows = "{\"item\":\"a\",\"answer\":\"B\"}\n{\"item\":\"c\",\"answer\":\"B\"}";
        let notes: Vec<String> = submission(rows.as_bytes()).notes.iter().map(ToString::to_string).collect();
        let expected = "p.jsonl:2 (c): `answer` is the text of no option: `B`; 1 such answer counts as wrong: give an \
                        option's text, or its number from 0 as `choice`";
        assert_eq!(notes, [expected]);
        assert!(submission(br#"{"item":"c","answer":"two"}"#).notes.is_empty());
    }

    #[test]
    fn the_first_usable_row_of_an_item_counts() {
        let submission = submission(
            b"{\"item\":\"a\",\"answer\":1}\n{\"item\":\"a\",\"answer\":\"x\"}\n{\"item\":\"a\",\"answer\":\"y\"}",
        );
        assert_eq!(submission.attempts["a"].outcome, answered("x", None));
        let Problems { duplicate_ids, malformed_rows, .. } = &submission.problems;
        assert_eq!((duplicate_ids[0].line, malformed_rows[0].line), (Some(3), Some(1)));
        assert!(duplicate_ids[0].message.contains("line 2"), "{}", duplicate_ids[0]);
    }

    #[test]
    fn bytes_that_are_no_text_cost_their_row() {
        let mut bytes =
            b"\xef\xbb\xbf{\"item\":\"a\",\"answer\":\"\xff\"}\r\n{\"item\":\"c\",\"choice\":0}\r\n{\"item\":".to_vec();
        let read = submission(&bytes);
        assert_eq!(read.attempts.len(), 1);
        let lines: Vec<_> = read.problems.malformed_rows.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [Some(1), Some(3)]);
        bytes.clear();
        assert_eq!(submission(&bytes).attempts.len(), 0);
    }

    #[test]
    fn a_json_array_will_do() {
        let read = submission(b"[{\"item\":\"a\",\"answer\":\"x\"},\n{\"item\":\"c\",\"choice\":1}]");
        assert_eq!((read.attempts.len(), read.problems.is_empty()), (2, true));
    }

    #[test]
    fn gold_without_items_is_an_error_and_a_wrong_gold_row_a_problem() {
        let error = read(&file("g", b"{\"id\":\"a\"}"), &file("p", b"")).unwrap_err().to_string();
        assert!(error.starts_with("g holds no item") && error.contains("g:1 (a)"), "{error}");
        let gold = format!("{GOLD}{{\"id\":\"d\"}}\n{}", GOLD.lines().next().unwrap());
        let read = read(&file("g", gold.as_bytes()), &file("p", b"")).unwrap();
        let lines: Vec<_> = read.problems.malformed_rows.iter().map(|problem| problem.line).collect();
        assert_eq!((read.items.len(), lines), (2, vec![Some(3), Some(4)]));
    }
}
