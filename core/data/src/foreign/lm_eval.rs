//! Samples of lm-evaluation-harness: `MODEL/samples_TASK_DATE.jsonl`, an object a sample and filter.

use super::{ForeignError, ForeignLog, ForeignSample, documents, item, labels};
use crate::source::literal;
use closeread_eval::rows::{Row, rows, scalar, scalars};
use closeread_eval::{InputFile, Outcome};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Field of an item that holds the harness's hash of the document, which is the same however a model was asked.
pub const DOC_HASH: &str = "doc_hash";
const EXPECTED: &str = "expected samples of lm-evaluation-harness (samples_TASK_DATE.jsonl)";
const IDS: [&str; 4] = ["id", "item", "question_id", "qid"];
const QUESTIONS: [&str; 4] = ["question", "query", "input", "claim"];

/// True for the names that the harness gives to samples.
pub fn is_samples(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.starts_with("samples_") && name.ends_with(".jsonl")
}

/// The log that a file of samples is: the task is in its name, the model in its folder's.
///
/// A sample that several filters looked at has the scores of each, under `metric,filter` as the harness prints it.
///
/// # Errors
/// [`ForeignError`] names the first line that is no sample.
pub fn read(file: &InputFile) -> Result<ForeignLog, ForeignError> {
    let mut parts = file.name.rsplit(['/', '\\']);
    let name = parts.next().unwrap_or_default();
    let model =
        parts.next().filter(|folder| !matches!(*folder, "" | "." | "..")).unwrap_or("unknown").replace("__", "/");
    let task = name.trim_start_matches("samples_").trim_end_matches(".jsonl");
    // The date is `2026-11-24T23-43-29.082581`.
    let task = match task.rsplit_once('_') {
        Some((task, date)) if date.len() >= 19 && date.as_bytes()[10] == b'T' => task,
        _ => task,
    };
    let mut log = ForeignLog {
        file: file.name.clone(),
        task: task.to_owned(),
        model,
        cell: None,
        is_complete: true,
        epochs: None,
        samples: Vec::new(),
        notes: Vec::new(),
    };
    let mut places: HashMap<String, usize> = HashMap::new();
    for row in rows(file) {
        let row = match row {
            Ok(row) => row,
            // A row that is used with a repair comes beside the note on it.
            Err(problem) if !problem.dropped => continue,
            Err(problem) => return Err(ForeignError::new(&file.name, format!("{EXPECTED}; {}", problem.message))),
        };
        let line = row.line;
        let wrong = |why: &str| ForeignError::new(&file.name, format!("line {line}: {EXPECTED}; {why}"));
        let number = row.text("doc_id").ok_or_else(|| wrong("it has no doc_id"))?;
        let metrics = row.fields.get("metrics").and_then(Value::as_array).ok_or_else(|| {
            wrong("it lists no metrics, which harnesses before 0.4.3 do not: run the task again with a newer one")
        })?;
        let scores = scores(&row, metrics, &mut log);
        let place = match places.get(&number) {
            Some(place) => *place,
            None => {
                places.insert(number.clone(), log.samples.len());
                log.samples.push(sample(&row, &number));
                log.samples.len() - 1
            }
        };
        let kept = &mut log.samples[place].scores;
        if let Some(name) = scores.keys().find(|name| kept.contains_key(*name)) {
            return Err(wrong(&format!("doc_id {number} has `{name}` a second time: expected the samples of one run")));
        }
        kept.extend(scores);
    }
    let n_ids = log.samples.iter().map(|sample| &sample.item.id).collect::<HashSet<_>>().len();
    if n_ids < log.samples.len() {
        // These are ids within an exam, as HEAD-QA's, or within a document, as QA4MRE's.
        places.into_iter().for_each(|(number, place)| log.samples[place].item.id = number);
    }
    for sample in &mut log.samples {
        if sample.outcome == Outcome::Unanswered && sample.scores.values().any(|score| *score > 0.0) {
            sample.outcome = Outcome::Answered { answer: String::new(), choice: None };
        }
    }
    Ok(log)
}

fn scores(row: &Row, metrics: &[Value], log: &mut ForeignLog) -> BTreeMap<String, f64> {
    let filter = row.text("filter").filter(|filter| filter != "none");
    let mut scores = BTreeMap::new();
    for metric in metrics.iter().filter_map(Value::as_str) {
        let name = filter.as_ref().map_or_else(|| metric.to_owned(), |filter| format!("{metric},{filter}"));
        let value = match row.fields.get(metric) {
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::Bool(truth)) => Some(f64::from(u8::from(*truth))),
            _ => None,
        };
        log.keep(&mut scores, name, value);
    }
    scores
}

fn sample(row: &Row, number: &str) -> ForeignSample {
    let empty = Map::new();
    let doc = row.fields.get("doc").and_then(Value::as_object).unwrap_or(&empty);
    let of = |names: &[&str]| names.iter().find_map(|name| doc.get(*name).and_then(scalar));
    let mut asked: Vec<&Value> =
        row.fields.get("arguments").and_then(Value::as_object).into_iter().flat_map(Map::values).collect();
    let argument = |asked: &Value, name: &str| asked.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut responses = row.fields.get("filtered_resps").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if row.fields.contains_key("acc_mutual_info") {
        // Behind the options stand the same without their question.
        asked.truncate(asked.len() / 2);
        responses = &responses[..responses.len() / 2];
    }
    let likelihoods: Vec<f64> = responses.iter().filter_map(likelihood).collect();
    let mut options: Vec<String> =
        asked.iter().filter_map(|asked| Some(argument(asked, "arg_1")?.trim().to_owned())).collect();
    let is_choice = likelihoods.len() == asked.len() && options.len() == asked.len() && asked.len() > 1;
    let is_number = |response: &Value| {
        likelihood(response).is_some() || scalar(response).is_some_and(|text| text.parse::<f64>().is_ok())
    };
    let is_likelihood = asked.len() == 1
        && asked[0].get("arg_1").is_none_or(Value::is_string)
        && responses.first().is_some_and(is_number);
    // WinoGrande's options are beginnings of one text, which is all that the target says: the right one is not known.
    let is_of_beginnings = is_choice && options.iter().all(|option| *option == options[0]);
    let question = match is_of_beginnings {
        true => options.first().cloned(),
        false => of(&QUESTIONS).or_else(|| argument(asked.first()?, "arg_0")),
    };
    let question = question.unwrap_or_default();
    if is_of_beginnings {
        let last_line = |asked: &Value| argument(asked, "arg_0")?.rsplit('\n').next().map(str::to_owned);
        options = asked.iter().map(|asked| last_line(asked).unwrap_or_default()).collect();
    } else if !is_choice {
        options.clear();
    }
    // Of options that are equally likely the harness takes the first, `max_by` the last.
    let likeliest = likelihoods.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1));
    let likeliest = likeliest.map(|(place, _)| place).filter(|_| is_choice);
    let target = row.text("target");
    let correct = target.as_ref().filter(|_| is_choice && !is_of_beginnings).and_then(|target| {
        // A number or a truth value is the option's place, but a number in quotes its text: of the two the harness's score knows.
        let place = match target.as_str() {
            "False" => Some(0),
            "True" => Some(1),
            digits => digits.parse().ok(),
        };
        let place = place.filter(|place: &usize| *place < options.len());
        let text = options.iter().position(|option| option == target);
        let is_right = row.fields.get("acc").and_then(Value::as_f64).map(|acc| acc >= 1.0);
        let agrees = |place: &usize| is_right.is_none_or(|is_right| is_right == (likeliest == Some(*place)));
        [place, text].into_iter().flatten().find(agrees).or(place).or(text)
    });
    let outcome = match likeliest {
        Some(choice) => Outcome::Answered { answer: options[choice].clone(), choice: Some(choice) },
        // The likelihood of one text is no text of the model's, and what it is of no gold answer.
        None if is_likelihood => Outcome::Answered { answer: String::new(), choice: None },
        // A filter may leave several responses, as the code of HumanEval.
        None => match responses.first().and_then(|several| scalars(several).into_iter().next()) {
            Some(answer) => Outcome::Answered { answer, choice: None },
            None => Outcome::Unanswered,
        },
    };
    let target = target.filter(|_| !is_choice && !is_likelihood);
    let answers = target.map(|target| golds(target, doc)).unwrap_or_default();
    let mut item = item(of(&IDS).unwrap_or_else(|| number.to_owned()), question, options, correct, answers);
    item.documents = documents(doc);
    item.labels = labels(doc, &[&IDS[..], &QUESTIONS[..], &["target", "answer", "choices"]].concat());
    item.other.extend(row.text(DOC_HASH).map(|hash| (DOC_HASH.to_owned(), hash.into())));
    ForeignSample { item, repeat: 0, outcome, scores: BTreeMap::new(), prompt_tokens: 0, seconds: 0.0 }
}

/// The gold answers: the harness writes several as Python writes a list, and SCROLLS' tasks join those of `outputs`.
fn golds(target: String, doc: &Map<String, Value>) -> Vec<String> {
    let outputs = doc.get("outputs").and_then(Value::as_array).into_iter().flatten();
    let outputs: Vec<&str> = outputs.filter_map(Value::as_str).collect();
    if outputs.len() > 1 && outputs.join(", ").trim() == target {
        return outputs.into_iter().map(str::to_owned).collect();
    }
    let is_list = target.starts_with('[') && target.ends_with(']');
    let several = literal::parse(&target).ok().filter(|_| is_list).map(|list| scalars(&list)).unwrap_or_default();
    if several.is_empty() { vec![target] } else { several }
}

/// The log-likelihood of an option: `[-1.5, false]`, of which newer harnesses write both as text.
fn likelihood(response: &Value) -> Option<f64> {
    match response.as_array()?.first()? {
        Value::String(text) => text.parse().ok(),
        number => number.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_no_sample_is_named_with_its_line() {
        let read = |line: &str| {
            let bytes = line.as_bytes().to_vec();
            read(&InputFile { name: "m__x/samples_t_2026-11-24T23-43-29.082581.jsonl".into(), bytes })
        };
        let error = read("{\"doc_id\": 0, \"metrics\": []}\n{\"doc\": {}}").unwrap_err().to_string();
        assert!(
            error.contains("line 2: expected samples of lm-evaluation-harness") && error.contains("doc_id"),
            "{error}"
        );
        assert!(read("{\"doc_id\": 0}").unwrap_err().to_string().contains("lists no metrics"));
        let log =
            read("{\"doc_id\": 0, \"target\": \"x\", \"metrics\": [\"ppl\"], \"ppl\": 7, \"filtered_resps\": [\"y\"]}")
                .unwrap();
        assert_eq!((log.task.as_str(), log.model.as_str(), log.samples[0].scores.len()), ("t", "m/x", 0));
        assert_eq!(log.notes.len(), 1);
        assert!(is_samples("a/samples_t_2026.jsonl") && !is_samples("samples.jsonl"));
    }

    fn samples(rows: &[Value]) -> ForeignLog {
        let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
        let name = "m/samples_t_2026-11-24T23-43-29.082581.jsonl".into();
        read(&InputFile { name, bytes: lines.join("\n").into_bytes() }).unwrap()
    }

    #[test]
    fn a_metric_in_percent_is_left_out_of_the_samples_in_which_it_is_0_too() {
        let row = |id: usize, bleu: f64| json!({"doc_id": id, "metrics": ["bleu", "acc"], "bleu": bleu, "acc": 1.0});
        let log = samples(&[row(0, 0.0), row(1, 34.5), row(2, 0.5)]);
        assert!(log.samples.iter().all(|sample| sample.scores.keys().eq(["acc"])), "{:?}", log.samples);
        assert_eq!(log.notes, ["scores of `bleu` are not all from 0 to 1, and are left out"]);
    }

    #[test]
    fn ids_that_name_several_samples_give_way_to_the_harness_s_numbers() {
        let ids = |qids: [&str; 3]| {
            let row = |(id, qid): (usize, &&str)| json!({"doc_id": id, "doc": {"qid": qid}, "metrics": []});
            let log = samples(&qids.iter().enumerate().map(row).collect::<Vec<_>>());
            log.samples.into_iter().map(|sample| sample.item.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(["a", "b", "c"]), ["a", "b", "c"]);
        assert_eq!(ids(["1", "2", "1"]), ["0", "1", "2"]);
    }

    #[test]
    fn samples_of_two_runs_in_one_file_are_refused() {
        let row = |id: usize, filter: &str| json!({"doc_id": id, "filter": filter, "metrics": ["acc"], "acc": 1.0});
        let of = |rows: &[Value]| {
            let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
            read(&InputFile { name: "m/samples_t.jsonl".into(), bytes: lines.join("\n").into_bytes() })
        };
        assert_eq!(of(&[row(0, "a"), row(0, "b"), row(1, "a")]).unwrap().samples.len(), 2);
        let error = of(&[row(0, "a"), row(1, "a"), row(0, "a")]).unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("doc_id 0 has `acc,a` a second time"), "{error}");
    }

    fn first(row: &str) -> ForeignSample {
        let line = format!(r#"{{"doc_id": 0, "metrics": ["acc"], "acc": 1.0, {row}}}"#);
        let name = "m/samples_t_2026-11-24T23-43-29.082581.jsonl".into();
        read(&InputFile { name, bytes: line.into_bytes() }).unwrap().samples.remove(0)
    }

    #[test]
    fn several_gold_answers_are_read_from_the_list_that_python_writes() {
        let answers = |target: &str| {
            let target = serde_json::to_string(target).unwrap();
            first(&format!(r#""target": {target}, "filtered_resps": ["Ana"]"#)).item.answers
        };
        assert_eq!(answers(r#"['Ana', "Ana's mill", 1878]"#), ["Ana", "Ana's mill", "1878"]);
        for text in ["Ana", "[1] and [2]", "[sic]", "[]", "['Ana'"] {
            assert_eq!(answers(text), [text]);
        }
    }

    #[test]
    fn the_gold_answers_of_scrolls_are_its_outputs() {
        let answers = |target: &str| {
            let doc = r#""doc": {"outputs": ["Ana, the miller", "the miller"]}, "filtered_resps": ["Ana"]"#;
            first(&format!(r#""target": "{target}", {doc}"#)).item.answers
        };
        assert_eq!(answers(" Ana, the miller, the miller"), ["Ana, the miller", "the miller"]);
        assert_eq!(answers("the miller"), ["the miller"]);
    }

    #[test]
    fn of_equally_likely_options_the_first_is_the_answer() {
        let arguments = r#"{"a": {"arg_1": " A"}, "b": {"arg_1": " B"}, "c": {"arg_1": " C"}}"#;
        let responses = r#"[["-2.5", "False"], ["-1.25", "True"], ["-1.25", "True"]]"#;
        let sample = first(&format!(r#""target": "1", "arguments": {arguments}, "filtered_resps": {responses}"#));
        assert_eq!(sample.outcome, Outcome::Answered { answer: "B".into(), choice: Some(1) });
    }

    #[test]
    fn options_without_their_question_are_no_further_options() {
        let arguments = r#"{"a": {"arg_0": "Q", "arg_1": " x"}, "b": {"arg_0": "Q", "arg_1": " y"},
            "c": {"arg_0": "", "arg_1": " x"}, "d": {"arg_0": "", "arg_1": " y"}}"#;
        let responses = r#"[["-3", "False"], ["-2", "False"], ["-1", "False"], ["-5", "False"]]"#;
        let asked = format!(r#""arguments": {arguments}, "filtered_resps": {responses}"#).replace('\n', "");
        let sample = first(&format!(r#""acc_mutual_info": 1.0, "target": "1", {asked}"#));
        assert_eq!((sample.item.options, sample.item.correct), (vec!["x".into(), "y".into()], Some(1)));
        assert_eq!(sample.outcome, Outcome::Answered { answer: "y".into(), choice: Some(1) });
    }

    #[test]
    fn of_beginnings_that_one_text_ends_the_right_one_is_not_known() {
        let ask = |who: &str| format!(r#"{{"arg_0": "Bo met Ana. Cleo saw it.\n{who}", "arg_1": " was good."}}"#);
        let arguments = format!(r#"{{"a": {}, "b": {}}}"#, ask("Ana"), ask("Bo"));
        let asked = format!(r#""arguments": {arguments}, "filtered_resps": [["-2", "False"], ["-1", "False"]]"#);
        let sample = first(&format!(r#""target": "was good.", "doc": {{"sentence": "_ was good."}}, {asked}"#));
        assert_eq!((sample.item.options, sample.item.correct), (vec!["Ana".into(), "Bo".into()], None));
        assert_eq!(sample.item.question, "was good.");
        assert_eq!(sample.outcome, Outcome::Answered { answer: "Bo".into(), choice: Some(1) });
    }

    #[test]
    fn likelihoods_of_texts_without_a_question_are_no_choice() {
        let arguments = r#"{"a": {"arg_0": "Ana came."}, "b": {"arg_0": "Came Ana."}}"#;
        let sample = first(&format!(r#""arguments": {arguments}, "filtered_resps": [["-2", "x"], ["-1", "x"]]"#));
        assert_eq!((sample.item.options.len(), sample.item.correct), (0, None));
    }

    #[test]
    fn what_the_harness_gave_something_for_was_answered() {
        let answered = |answer: &str| Outcome::Answered { answer: answer.into(), choice: None };
        let of = |arguments: &str, responses: &str| {
            let asked = format!(r#""arguments": {{"a": {arguments}}}, "filtered_resps": {responses}"#);
            let sample = first(&format!(r#""target": "c", {asked}"#));
            (sample.outcome, sample.item.answers.len())
        };
        let asked = r#"{"arg_0": "a b", "arg_1": {"until": []}}"#;
        assert_eq!(of(asked, r#"[["c", "d"]]"#), (answered("c"), 1), "a filter that leaves two");
        assert_eq!(of(asked, r#"[""]"#), (answered(""), 1));
        assert_eq!(of(r#"{"arg_0": "a b", "arg_1": " c"}"#, r#"[["-1.0", "True"]]"#), (answered(""), 0), "LAMBADA");
        assert_eq!(of(r#"{"arg_0": "a b c"}"#, r#"["-7.0"]"#), (answered(""), 0), "the likelihood of a document");
    }

    #[test]
    fn a_target_of_digits_is_a_place_or_an_option_as_the_harness_scored_it() {
        let correct = |options: [&str; 3], target: &str, acc: f64| {
            let asked = options.map(|option| json!({"arg_0": "Q", "arg_1": option}));
            let arguments = json!({"a": asked[0], "b": asked[1], "c": asked[2]});
            let responses = json!([["-1", "x"], ["-2", "x"], ["-3", "x"]]);
            let row = json!({"doc_id": 0, "metrics": ["acc"], "acc": acc, "target": target, "arguments": arguments,
                "filtered_resps": responses});
            samples(&[row]).samples[0].item.correct
        };
        let of_digits = |target: &str, acc: f64| correct(["1", "0", "8"], target, acc);
        assert_eq!([of_digits("0", 1.0), of_digits("0", 0.0)], [Some(0), Some(1)]);
        assert_eq!([of_digits("1", 1.0), of_digits("1", 0.0)], [Some(0), Some(1)]);
        assert_eq!([of_digits("8", 1.0), of_digits("9", 0.0)], [Some(2), None]);
        let of_truth = |target: &str, acc: f64| correct(["True", "False", "Neither"], target, acc);
        assert_eq!(
            [of_truth("False", 1.0), of_truth("False", 0.0), of_truth("True", 0.0)],
            [Some(0), Some(1), Some(1)]
        );
        assert_eq!(correct(["no", "yes", "maybe"], "True", 0.0), Some(1));
    }
}
