//! Properties of scoring foreign files.

use closeread_data::scoring::format::{FORMATS, FormatInput, check_codabench};
use closeread_data::scoring::{Attempt, Options, Scorecard, Submission, prediction, score};
use closeread_data::{ADAPTERS, Dataset, jsonl};
use closeread_eval::answer::{boxed, corpusqa, infinitebench, json, novelqa, tag};
use closeread_eval::{Evaluator, InputFile, Item, Outcome, Task, answer};
use closeread_metrics::meteor::WordNet;
use closeread_metrics::{Metric, Words};
use closeread_table::render::{csv, html, latex, text};
use std::collections::BTreeMap;

/// File names that formats recognise.
const NAMES: [&str; 8] = [
    "preds_longbook_choice_eng.jsonl",
    "preds_longbook_qa_chn.jsonl",
    "res_mc/res_mc.json",
    "res_gen/res_gen.json",
    "Mill.txt",
    "Mill.json",
    "quality.jsonl",
    "x",
];

fn file(name: &str, bytes: &[u8]) -> InputFile {
    InputFile { name: name.to_owned(), bytes: bytes.to_vec() }
}

pub(crate) fn predictions(input: &[Vec<u8>]) -> Result<(), String> {
    match prediction::read(&file("items.jsonl", &input[0]), &file("p.jsonl", &input[1])) {
        Err(error) => said(&error.to_string()),
        Ok(submission) => scored(&submission, input),
    }
}

/// Scores two fuzzed files and a gold file. The first bytes choose names, format, task and system.
pub(crate) fn formats(input: &[Vec<u8>]) -> Result<(), String> {
    let choose = |n: usize, of: usize| usize::from(input[0][n]) % of;
    let format = &FORMATS[choose(0, FORMATS.len())];
    let files = [file(NAMES[choose(1, NAMES.len())], &input[1]), file(NAMES[choose(2, NAMES.len())], &input[2])];
    let files = &files[..1 + choose(3, 2)];
    let gold = [file(NAMES[choose(4, NAMES.len())], &input[3])];
    let gold = &gold[..choose(5, 4).min(1)];
    let task = format.tasks.get(choose(5, format.tasks.len() + 1)).copied();
    let mut asked = FormatInput { files, gold, task, system: None };
    let systems = (format.systems)(&asked);
    asked.system = systems.first().map(String::as_str);
    match (format.read)(&asked) {
        Err(error) => said(&error.to_string()),
        Ok(submission) => {
            // What the layout's own check says of the same files must not panic either.
            let _ = check_codabench(files, &submission.items);
            scored(&submission, input)
        }
    }
}

pub(crate) fn benchmarks(input: &[Vec<u8>]) -> Result<(), String> {
    let files = [file("items.jsonl", &input[0]), file("documents.jsonl", &input[1])];
    let check = |dataset: &Dataset| dataset.problems.iter().try_for_each(|problem| said(&problem.to_string()));
    check(&jsonl::read(&files))?;
    ADAPTERS.iter().try_for_each(|adapter| check(&(adapter.read)(&files)))
}

pub(crate) fn parsers(input: &[Vec<u8>]) -> Result<(), String> {
    let response = &*String::from_utf8_lossy(&input[0]);
    let gold = ["the mill", "A"];
    let options = vec![gold.to_vec(); 2];
    let _ = (answer::choice_marker(response, 4), answer::short_answer(response), answer::leval_letter(response));
    let _ =
        (answer::readagent_choice(response, 4), answer::after_thinking(response), answer::memagent_answer(response));
    let _ = (boxed::all_boxed(response), boxed::last_boxed(response), boxed::memagent_boxed(response));
    let _ = (
        boxed::boxed_label(response, &gold),
        boxed::qa_pair(response),
        tag::answer_block(response),
        tag::agent_turn(response),
    );
    let _ = (
        tag::sub_queries(response),
        tag::nocha_verdict(response),
        json::json_values(response),
        json::json_value(response),
    );
    let _ = (
        novelqa::answer_lines(response, 3),
        novelqa::choice_lines(response, &options),
        novelqa::evidence_lines(response, 3),
    );
    let _ = (novelqa::judge_letter(response), novelqa::evidence_marks(response), corpusqa::verdict(response));
    let _ = (infinitebench::infinitebench_choice(response, &gold), infinitebench::strict_choice(response, &gold));
    let _ = (infinitebench::strict_letter(response), infinitebench::infinitebench_dialogue(response, &gold));
    if !response.contains(corpusqa::answer(response)) {
        return Err("an extracted answer is no part of its response".to_owned());
    }
    Ok(())
}

/// Returns an arbitrary outcome, answer and given score, made of the bytes.
pub(crate) fn submissions(input: &[Vec<u8>]) -> Result<(), String> {
    let texts = input.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect::<Vec<_>>();
    let mut submission = Submission::default();
    for (n, byte) in input[1].iter().chain(&input[0]).take(8).enumerate() {
        let choice = usize::from(byte % 3);
        let mut item = Item::new(format!("q{n}"), format!("book {}", byte % 7), "?", Task::Generative);
        if byte % 5 == 0 {
            (item.task, item.options, item.correct) = (Task::Choice, texts.clone(), Some(choice % 2));
        }
        if byte % 4 > 0 {
            item.answers = texts[..1].to_vec();
        }
        item = item.label("pair", ["1", "2", ""][choice]).label("kind", &texts[1]);
        let response = texts[1].clone();
        let outcome = match byte % 9 {
            0 => Outcome::NotFound,
            1 => Outcome::Unanswered,
            2 => Outcome::Overflow { needed: Some(n), context_window: None },
            3 => Outcome::Blocked { reason: response },
            4 => Outcome::Unparsed { response },
            5 => Outcome::Failed { error: response },
            _ => Outcome::Answered { answer: response, choice: (byte % 2 == 0).then_some(choice) },
        };
        let given = BTreeMap::from([("strict".to_owned(), f64::from(byte % 2))]);
        let given = if byte % 6 == 0 { given } else { BTreeMap::new() };
        if byte % 11 > 0 {
            submission.attempts.insert(item.id.clone(), Attempt { outcome, evidence: texts.clone(), given });
        }
        submission.items.push(item);
    }
    scored(&submission, input)
}

/// Scores by the submission's own metrics, or by all metrics one time in eight, because intervals take time; and
/// checks the invariants of the scorecard.
fn scored(submission: &Submission, input: &[Vec<u8>]) -> Result<(), String> {
    let by = vec!["task".to_owned(), "document".to_owned()];
    let (metrics, chinese) = match input.iter().map(Vec::len).sum::<usize>() % 8 {
        0 => (Metric::ALL.to_vec(), Words::ChineseCharacters),
        _ => (Vec::new(), Words::Reference),
    };
    let options = Options { metrics, by, chinese };
    let evaluator = Evaluator::new(options.metrics_for(submission), chinese, Some(WordNet::built_in()));
    let evaluator = evaluator.map_err(|error| error.to_string())?;
    let card = score(submission, &evaluator, &options).map_err(|error| error.to_string())?;
    holds(&card, submission.items.len())
}

fn holds(card: &Scorecard, n_items: usize) -> Result<(), String> {
    let counts = &card.ledger.counts;
    if (card.n, card.items.len(), counts.planned()) != (n_items, n_items, n_items) {
        return Err(format!("{n_items} items, but the ledger is {counts:?}"));
    }
    for groups in card.by.values() {
        let n: usize = groups.values().map(|group| group.n).sum();
        if n != n_items || groups.values().any(|group| group.ledger.planned() != group.n) {
            return Err("a label's groups do not add up".to_owned());
        }
    }
    let left_out = card.policies.values().flat_map(|policy| &policy.metrics);
    for (name, estimate) in card.metrics.iter().chain(left_out) {
        let in_order = 0.0 <= estimate.low && estimate.low <= estimate.value + 1e-9;
        if !(in_order && estimate.value <= estimate.high + 1e-9 && estimate.high <= 1.0) {
            return Err(format!("{name}: {estimate:?}"));
        }
    }
    let json = card.to_json();
    let back: Scorecard =
        serde_json::from_str(&json).map_err(|error| format!("its JSON does not read back: {error}"))?;
    if back != *card || back.to_json() != json {
        return Err("its JSON reads back as something else".to_owned());
    }
    for table in card.tables() {
        let shown = [text::table(&table), latex::table(&table), html::table(&table, |_| None), csv::wide(&table, true)];
        if shown.iter().any(String::is_empty) {
            return Err(format!("table {} is empty", table.id));
        }
    }
    Ok(())
}

/// Checks that a message is neither empty nor very long.
pub(crate) fn said(message: &str) -> Result<(), String> {
    match message.trim().len() {
        0 => Err("an empty message".to_owned()),
        _ => Ok(()),
    }
}
