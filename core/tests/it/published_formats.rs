//! The formats over the real prediction files of `CLOSEREAD_DATA`, held to the scores that were recomputed there by the
//! sources' own scripts.
#![allow(clippy::disallowed_methods, reason = "a test finds the shared data by an environment variable")]

use closeread_data::scoring::format::{FormatInput, format};
use closeread_data::scoring::{Options, Scorecard, Submission, score};
use closeread_eval::observations::Ending;
use closeread_eval::{Evaluator, InputFile, Outcome};
use closeread_metrics::Words;
use std::path::PathBuf;

/// The root of the shared data.
fn data() -> PathBuf {
    std::env::var_os("CLOSEREAD_DATA").expect("CLOSEREAD_DATA is set").into()
}

fn file(root: &std::path::Path, name: &str) -> InputFile {
    let path = root.join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    InputFile { name: name.to_owned(), bytes }
}

/// Reads one file that must have no problem.
#[track_caller]
fn clean(name: &str, input: FormatInput<'_>) -> Submission {
    let submission = (format(name).expect("a format of that name").read)(&input).unwrap_or_else(|e| panic!("{e}"));
    let problems: Vec<String> = submission.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, Vec::<String>::new(), "{name}");
    submission
}

fn scored(submission: &Submission) -> Scorecard {
    let options = Options::default();
    let evaluator = Evaluator::new(&submission.metrics, Words::default(), None).expect("no METEOR is asked for");
    score(submission, &evaluator, &options).expect("no label is asked for")
}

/// A score in percent with two digits, as published.
fn percent(card: &Scorecard, metric: &str) -> String {
    format!("{:.2}", card.metrics[metric].value * 100.0)
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_infinitebench_scores_to_the_printed_digit() {
    let root = data();
    let tasks = [
        ("longbook_choice_eng", "accuracy"),
        ("longbook_qa_eng", "infinitebench_en_f1"),
        ("longbook_qa_chn", "infinitebench_zh_f1"),
        ("longbook_sum_eng", "rougeLsum"),
    ];
    let models: [(&str, [usize; 4], &[&str]); 4] = [
        ("gpt4", [229, 351, 189, 103], &["67.25", "22.44", "25.96", "14.73"]),
        ("kimi", [229, 351, 175, 103], &["72.49", "16.52", "17.93", "17.96"]),
        ("yi-6b-200k", [229, 351, 189, 0], &["36.68", "9.20", "15.07"]),
        ("yarn-mistral", [229, 351, 189, 0], &["27.95", "9.55", "15.49"]),
    ];
    for (model, n_items, expected) in models {
        for (((task, metric), n_items), expected) in tasks.into_iter().zip(n_items).zip(expected) {
            let files = [file(&root, &format!("predictions/infinitebench/{model}/preds_{task}.jsonl"))];
            let submission = clean("infinitebench", FormatInput { files: &files, ..FormatInput::default() });
            assert_eq!((submission.items.len(), submission.attempts.len()), (n_items, n_items), "{model} {task}");
            let card = scored(&submission);
            assert_eq!(
                (percent(&card, metric).as_str(), card.main.as_deref()),
                (*expected, Some(metric)),
                "{model} {task}"
            );
            assert!(card.is_clean(), "{model} {task}");
            assert_eq!(card.ledger.counts.planned(), n_items, "{model} {task}");
            let has_note = model == "yarn-mistral" && task == "longbook_qa_chn";
            let notes: Vec<String> = submission.notes.iter().map(ToString::to_string).collect();
            assert_eq!(notes.len(), usize::from(has_note), "{notes:?}");
            assert!(notes.iter().all(|note| note.ends_with(":189: text after the JSON object is ignored: `gi`")));
        }
    }
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_renumbered_files_join_to_others_by_line() {
    let root = data();
    let read = |model: &str, gold: &str, task: &str| {
        let name = |model: &str| format!("predictions/infinitebench/{model}/preds_{task}.jsonl");
        let (files, gold) = ([file(&root, &name(model))], [file(&root, &name(gold))]);
        clean("infinitebench", FormatInput { files: &files, gold: &gold, ..FormatInput::default() })
    };
    // The gold of En.MC is equal on all lines, so the score against the other file's is the model's own.
    let submission = read("yi-6b-200k", "gpt4", "longbook_choice_eng");
    assert_eq!(percent(&scored(&submission), "accuracy"), "36.68");
    assert_eq!(submission.notes.len(), 1);
    assert!(submission.notes[0].message.starts_with("joined to the gold by the order of the lines"));
    // En.QA: 29 lines hold another gold.
    let submission = read("yi-6b-200k", "gpt4", "longbook_qa_eng");
    assert_eq!(submission.attempts.len(), 351);
    assert!(submission.notes[1].message.starts_with("29 lines"), "{}", submission.notes[1]);
    // Zh.QA: kimi lacks 14 ids, and joins by id.
    let submission = read("kimi", "gpt4", "longbook_qa_chn");
    assert_eq!((submission.items.len(), submission.attempts.len()), (189, 175));
    assert_eq!(scored(&submission).ledger.counts.of(Ending::Missing), 14);
    assert!(!submission.notes.iter().any(|note| note.message.contains("order of the lines")));
    let submission = read("yarn-mistral", "gpt4", "longbook_qa_chn");
    assert!(submission.notes.iter().any(|note| note.message.starts_with("39 lines")), "{:?}", submission.notes);
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_leval_scores_with_and_without_the_data_set() {
    let root = data();
    let gold = [file(&root, "qa/leval-quality.jsonl")];
    for (model, n_right) in [("gpt4-32k", 166.0), ("turbo-16k-0613", 124.0)] {
        let files = [file(&root, &format!("predictions/leval/{model}/quality.pred.jsonl"))];
        for gold in [&[][..], &gold] {
            let submission = clean("leval-quality", FormatInput { files: &files, gold, ..FormatInput::default() });
            assert_eq!((submission.items.len(), submission.attempts.len()), (202, 202));
            let n: f64 = submission.attempts.values().map(|attempt| attempt.given["accuracy"]).sum();
            assert_eq!(n, n_right, "{model}");
            let card = scored(&submission);
            assert!((card.metrics["accuracy"].value - n_right / 202.0).abs() < 1e-12 && card.is_clean());
        }
    }
    let files = [file(&root, "predictions/leval/turbo-16k-0613/narrative_qa.pred.jsonl")];
    let submission = clean("leval-narrativeqa", FormatInput { files: &files, ..FormatInput::default() });
    let card = scored(&submission);
    assert_eq!((card.n, card.main.as_deref()), (182, Some("f1")));
    // By SQuAD v1's rules, which are those of L-Eval's F1, run over the same file.
    assert_eq!(percent(&card, "f1"), "18.20");
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_nocha_pairs_by_system() {
    let root = data();
    let files = [file(&root, "qa/nocha-claims.json")];
    let nocha = format("nocha").expect("a format of that name");
    let input = FormatInput { files: &files, ..FormatInput::default() };
    assert_eq!((nocha.systems)(&input).len(), 18);
    assert!((nocha.read)(&input).is_err());
    let pairs = [
        ("claude", 13, 0),
        ("claude-sonnet", 7, 0),
        ("bm25-gpt4o-top5", 10, 0),
        ("bm25-gpt4o-top25", 13, 0),
        ("bm25-gpt4o-top50", 15, 0),
        ("gemini", 9, 30),
        ("gemini-flash", 6, 30),
    ];
    for (system, n_right, n_unparsed) in pairs {
        let submission = clean("nocha", FormatInput { system: Some(system), ..input });
        let card = scored(&submission);
        let pair = &card.metrics["pair_accuracy"];
        assert_eq!(
            (pair.n, format!("{:.9}", pair.value)),
            (33, format!("{:.9}", f64::from(n_right) / 33.0)),
            "{system}"
        );
        if n_unparsed > 0 {
            assert_eq!(card.ledger.counts.of(Ending::Unparsed), n_unparsed, "{system}");
        }
        assert_eq!(card.main.as_deref(), Some("pair_accuracy"));
    }
    let submission = clean("nocha", FormatInput { system: Some("gpt4o"), ..input });
    assert!(submission.attempts.values().all(|attempt| matches!(attempt.outcome, Outcome::Overflow { .. })));
    assert_eq!(scored(&submission).ledger.counts.of(Ending::Overflow), 66);
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_squality_marks_by_system() {
    let root = data();
    let files = [file(&root, "predictions/squality-human-eval.jsonl")];
    let gold = [file(&root, "qa/squality-v1-3.jsonl")];
    let marks = [
        ("human", ["95.11", "90.15", "92.28"]),
        ("bart-dpr", ["46.85", "26.01", "29.62"]),
        ("bart", ["33.43", "15.55", "17.40"]),
    ];
    for (system, expected) in marks {
        for gold in [&[][..], &gold] {
            let input = FormatInput { files: &files, gold, system: Some(system), ..FormatInput::default() };
            let submission = clean("squality", input);
            assert_eq!((submission.items.len(), submission.attempts.len()), (50, 50));
            let card = scored(&submission);
            let found = ["correctness", "coverage", "overall"].map(|name| percent(&card, name));
            assert_eq!(found, expected, "{system}");
            assert_eq!(card.metrics.contains_key("rouge1"), !gold.is_empty(), "{:?}", card.metrics.keys());
        }
    }
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_tatqa_scores_as_the_official_script() {
    let root = data();
    let files = [file(&root, "predictions/tatqa-dev-sample-prediction.json")];
    let gold = [file(&root, "qa/tatqa-dev.json")];
    let submission = clean("tatqa", FormatInput { files: &files, gold: &gold, ..FormatInput::default() });
    assert_eq!((submission.items.len(), submission.attempts.len()), (1668, 1668));
    assert!(submission.notes.is_empty(), "{:?}", submission.notes);
    let card = scored(&submission);
    // By the rules of tatqa_metric.py, run over the same files.
    assert_eq!(
        [percent(&card, "exact_match"), percent(&card, "f1"), percent(&card, "scale_accuracy")],
        ["45.92", "58.88", "90.95"]
    );
    let sum: f64 = submission.attempts.values().map(|attempt| attempt.given["exact_match"]).sum();
    assert_eq!(sum, 766.0);
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_quality_reads_against_the_published_example() {
    let root = data();
    let gold = [file(&root, "qa/quality-example.jsonl")];
    let empty = [InputFile { name: "predictions.csv".into(), bytes: Vec::new() }];
    let items = clean("quality", FormatInput { files: &empty, gold: &gold, ..FormatInput::default() }).items;
    assert_eq!(items.len(), 10);
    let lines: String =
        items.iter().map(|item| format!("{},{}\n", item.id.replace('/', "_"), item.correct.unwrap_or(0) + 1)).collect();
    let right = [InputFile { name: "predictions.csv".into(), bytes: lines.into_bytes() }];
    let submission = clean("quality", FormatInput { files: &right, gold: &gold, ..FormatInput::default() });
    assert_eq!(percent(&scored(&submission), "accuracy"), "100.00");
}

#[test]
fn a_line_of_50_mb_is_a_row_like_any_other() {
    let response = "Ana came. ".repeat(5_000_000);
    let good = format!("{{\"id\": 1, \"prediction\": \"{response}\", \"ground_truth\": [\"Ana\"]}}\n");
    let cut_off = good.trim_end().trim_end_matches("\"]}");
    let rows = [good.as_str(), "{\"id\": 2, \"prediction\": \"x\", \"ground_truth\": [\"y\"]}\n", cut_off].concat();
    let files = [InputFile { name: "preds_longbook_qa_eng.jsonl".into(), bytes: rows.into_bytes() }];
    let read = format("infinitebench").expect("a format of that name").read;
    let submission = read(&FormatInput { files: &files, ..FormatInput::default() }).expect("two rows are good");
    assert_eq!(submission.attempts.len(), 2);
    let problems = &submission.problems.malformed_rows;
    assert_eq!((problems.len(), problems[0].line), (1, Some(3)));
    assert!(problems[0].to_string().len() < 300, "{} bytes", problems[0].to_string().len());
}

/// The lines of the JSON examples under a heading of `docs/scoring-formats.md`.
fn examples(heading: &str) -> Vec<&'static str> {
    let docs = include_str!("../../../docs/scoring-formats.md");
    let section = docs.split("\n## ").find(|section| section.lines().next().is_some_and(|line| line.contains(heading)));
    let blocks = section.expect("a section of that name").split("```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix("json\n")).flat_map(str::lines).collect()
}

#[test]
fn the_examples_of_the_docs_are_read() {
    for (name, n_examples) in
        [("infinitebench", 1), ("leval-quality", 1), ("nocha", 1), ("squality", 2), ("corpusqa", 2), ("hamlet", 2)]
    {
        let lines = examples(name);
        assert_eq!(lines.len(), n_examples, "{name}");
        for line in lines {
            let files = [InputFile { name: "longbook_choice_eng.jsonl".into(), bytes: line.as_bytes().to_vec() }];
            let input = FormatInput { files: &files, ..FormatInput::default() };
            let systems = (format(name).expect("a format of that name").systems)(&input);
            let submission = clean(name, FormatInput { system: systems.first().map(String::as_str), ..input });
            assert_eq!((submission.items.len(), submission.attempts.len()), (1, 1), "{line}");
        }
    }
}
