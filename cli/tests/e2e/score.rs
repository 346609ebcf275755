//! `closeread score`, as a user meets it.

use crate::support::{Sandbox, shared_data};
use serde_json::{Value, json};
use std::path::Path;

const GOLD: &str = r#"{"id":"a","documents":["x"],"question":"Who?","task":"generative","answers":["Ana Lee","Ana"],"labels":{"kind":"who"}}
{"id":"b","documents":["x"],"question":"Which?","task":"choice","options":["one","two"],"correct":1,"labels":{"kind":"which"}}
{"id":"c","documents":["y"],"question":"Where?","task":"generative","answers":["in the house"]}
"#;

const WHOLE: &str = r#"{"item":"a","answer":"Ana"}
{"item":"b","choice":1}
{"item":"c","answer":"house"}
"#;

fn sandbox(predictions: impl AsRef<[u8]>) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("items.jsonl", GOLD);
    sandbox.write("p.jsonl", predictions);
    sandbox
}

const SCORE: [&str; 5] = ["score", "--gold", "items.jsonl", "--predictions", "p.jsonl"];

#[test]
fn a_guess_that_a_format_makes_of_an_unparsed_response_counts() {
    let sandbox = Sandbox::new();
    let row = |gold: &str, response: &str| {
        json!({"query": "Who?\n (A) Ana\n (B) Bo", "gt": gold, "m_pred": response}).to_string()
    };
    sandbox.write("guessed.jsonl", [row("(A) Ana", "she came"), row("(B) Bo", "(B)"), row("(A) Ana", "")].join("\n"));
    sandbox.write("wrong.jsonl", [row("(A) Ana", "(B)"), row("(B) Bo", "(B)"), row("(A) Ana", "")].join("\n"));
    for name in ["guessed", "wrong"] {
        let ended = sandbox.run(&["score", "--format", "leval-quality", &format!("{name}.jsonl"), "--json"]).exits(0);
        sandbox.write(&format!("{name}.json"), ended.out());
    }
    let card = sandbox.run(&["score", "--format", "leval-quality", "guessed.jsonl", "--json"]).json();
    assert_eq!((&card["ledger"]["unparsed"], &card["items"][0]["outcome"]), (&json!(2), &json!("unparsed")));
    let value = |metric: &str| card["metrics"][metric]["value"].as_f64().unwrap();
    assert!((value("accuracy") - 2.0 / 3.0).abs() < 1e-12 && (value("accuracy_strict") - 1.0 / 3.0).abs() < 1e-12);
    let compared = sandbox.run(&["compare", "wrong.json", "guessed.json", "--metric", "accuracy", "--json"]).json();
    let difference = compared["comparisons"][0]["overall"]["difference"].as_f64().unwrap();
    assert!((difference - 1.0 / 3.0).abs() < 1e-12, "{compared}");
}

#[test]
fn a_whole_file_is_scored_and_exits_0() {
    let sandbox = sandbox(WHOLE);
    let ended = sandbox.run(&[&SCORE[..], &["--group-by", "kind"]].concat()).exits(0);
    assert_eq!(ended.err(), "");
    assert_eq!(
        ended.out(),
        "\
Scores in percent, 3 items
metric        score  95%             n  failures left out  95%             n
----------------------------------------------------------------------------
accuracy     100.00  [20.7, 100.0]*  1             100.00  [20.7, 100.0]*  1
F1            83.33  [67.9, 98.8]*   2              83.33  [67.9, 98.8]*   2
exact match   50.00  [9.5, 90.5]*    2              50.00  [9.5, 90.5]*    2
3 items: 3 answered
* 95% interval over items: fewer than five books to cluster by, or scores all alike

Scores by kind, in percent
kind   items  answered              accuracy                    F1           exact match
----------------------------------------------------------------------------------------
which      1         1  100.0 [20.7, 100.0]*                     -                     -
who        1         1                     -  100.0 [20.7, 100.0]*  100.0 [20.7, 100.0]*
* 95% interval over items: fewer than five books to cluster by, or scores all alike

note: 1 of 3 items have no label `kind` and stand in none of its groups
"
    );
    let predictions = std::fs::read_to_string(sandbox.path("p.jsonl")).unwrap();
    sandbox.write("runs/ada/predictions.jsonl", predictions);
    let folder = sandbox.run(&["score", "--gold", ".", "--predictions", "runs/ada", "--json"]).exits(0);
    assert_eq!(folder.json()["metrics"]["accuracy"]["value"], 1.0);
}

#[test]
fn rows_left_out_and_missing_items_are_named_and_exit_1() {
    let rows: [&[u8]; 12] = [
        b"\xef\xbb\xbf{\"item\":\"a\",\"answer\":\"Ana\"}\r",
        b"{\"item\":\"a\",\"answer\":\"Bo\"}",
        b"{\"item\":\"zz\",\"answer\":\"Bo\"}",
        b"{\"item\":\"b\",\"choice\":2}",
        b"{\"item\":\"b\",\"choice\":\"1\"}",
        b"{\"item\":\"b\",\"choice\":NaN}",
        b"{\"item\":\"c\",\"answer\":\"\xff\"}",
        b"{\"item\":\"c\",\"answer\":7}",
        b"{\"item\":\"c\"}",
        b"[\"c\"]",
        b"{\"item\":[\"c\"],\"answer\":\"x\"}",
        b"{\"item\":\"c\",\"answer\":\"hou",
    ];
    let sandbox = sandbox(rows.join(&b'\n'));
    let card = sandbox.run(&[&SCORE[..], &["--json"]].concat()).exits(1).json();
    assert_eq!(card["n"], 3);
    let ledger = &card["ledger"];
    assert_eq!((&ledger["answered"], &ledger["missing"], &card["complete"]), (&json!(1), &json!(2), &json!(false)));
    let lines = |kind: &str| -> Vec<u64> {
        let rows = ledger["problems"][kind].as_array().unwrap().iter();
        rows.map(|row| {
            assert_eq!(row["file"], "p.jsonl");
            row["line"].as_u64().unwrap()
        })
        .collect()
    };
    assert_eq!(lines("duplicate_ids"), [2]);
    assert_eq!(lines("unknown_ids"), [3]);
    assert_eq!(lines("malformed_rows"), [4, 5, 6, 7, 8, 9, 10, 11, 12]);

    let ended = sandbox.run(&SCORE).exits(1);
    assert!(ended.out().contains("INCOMPLETE: 2 of 3 items are missing"), "{}", ended.out());
    let said = ended.err();
    let first = "rows left out: 9 malformed, 1 for no item of the gold file, 1 for an item that has one already\n";
    assert!(said.starts_with(first), "{said}");
    assert!(said.contains("p.jsonl:4 (b): `choice` is 2: expected a whole number from 0 to 1 [left out]"), "{said}");
}

#[test]
fn an_empty_file_is_every_item_missing() {
    let card = sandbox("").run(&[&SCORE[..], &["--json"]].concat()).exits(1).json();
    assert_eq!((&card["ledger"]["missing"], &card["metrics"]["f1"]["value"]), (&json!(3), &json!(0.0)));
    assert_eq!(card["policies"]["failures_left_out"]["n"], 0);
}

#[test]
fn a_file_of_which_no_row_can_be_used_is_no_table_of_zeros() {
    for (rows, said) in [("{\"item\":\"z\"}\n", "p.jsonl:1 (z)"), ("id,answer\na,Ana\n", "p.jsonl:1: not valid JSON")] {
        for more in [&[][..], &["--json"]] {
            let ended = sandbox(rows).run(&[&SCORE[..], more].concat()).exits(2);
            assert!(
                ended.err().contains("no row of the predictions can be used") && ended.err().contains(said),
                "{}",
                ended.err()
            );
            assert_eq!(ended.out(), "");
        }
    }
}

#[test]
fn a_line_of_50_mb_is_a_row_as_any_other() {
    let long = "x ".repeat(25_000_000);
    let rows =
        format!("{{\"item\":\"a\",\"answer\":\"{long}\"}}\n{{\"item\":\"b\",\"choice\":1}}\n{{\"item\":\"c\",\"{long}");
    let card = sandbox(rows).run(&[&SCORE[..], &["--json"]].concat()).exits(1).json();
    assert_eq!((&card["ledger"]["answered"], &card["metrics"]["f1"]["value"]), (&json!(2), &json!(0.0)));
    assert_eq!(card["ledger"]["problems"]["malformed_rows"][0]["line"], 3);
}

#[test]
fn what_cannot_be_read_at_all_exits_2_and_says_what_to_do() {
    let sandbox = sandbox(WHOLE);
    sandbox.write("empty.jsonl", "");
    sandbox.run(&["score", "--gold", "nope", "--predictions", "p.jsonl"]).refuses(&["cannot read nope"]);
    sandbox.run(&["score", "--gold", "items.jsonl", "--predictions", "nope"]).refuses(&["cannot read nope"]);
    sandbox
        .run(&["score", "--gold", "empty.jsonl", "--predictions", "p.jsonl"])
        .refuses(&["empty.jsonl holds no item", "expected items.jsonl"]);
    sandbox.run(&["score", "--predictions", "p.jsonl"]).refuses(&["0 gold files", "--gold"]);
    sandbox.run(&["score", "--gold", "items.jsonl"]).refuses(&["--predictions"]);
    sandbox.write("r/manifest.json", "{}");
    sandbox.run(&["score", "r"]).refuses(&["r is a run", "`closeread report` shows"]);
    sandbox.run(&["score", "p.jsonl", "--gold", "items.jsonl"]).refuses(&["p.jsonl has no option", "--predictions"]);
    sandbox.run(&["score", "--codabench", "in", "out", "p.jsonl"]).refuses(&["cannot be used with"]);
    sandbox.run(&[&SCORE[..], &["--metric", "f2"]].concat()).refuses(&["unknown metric `f2`", "infinitebench_zh_f1"]);
    sandbox.run(&[&SCORE[..], &["--group-by", "color"]].concat()).refuses(&["no item has a label `color`", "`kind`"]);
    sandbox.run(&["score", "--format", "nope", "p.jsonl"]).refuses(&["nope", "infinitebench"]);
    sandbox.run(&["score", "--format", "infinitebench"]).refuses(&["no file to read", "preds_<task>.jsonl"]);
    sandbox.run(&["score", "--format", "infinitebench", "p.jsonl"]).refuses(&["p.jsonl", "--task", "longbook_qa_eng"]);
}

#[test]
fn every_metric_can_be_asked_for() {
    let metrics = "meteor,accuracy,exact_match,f1,f1_v2,infinitebench_en_f1,infinitebench_zh_f1,rouge1,rouge2,rougeL,\
                   rougeLsum,bleu_1,bleu_2,bleu_3,bleu_4,evidence_recall,pair_accuracy";
    let card = sandbox(WHOLE).run(&[&SCORE[..], &["--json", "--metric", metrics]].concat()).exits(0).json();
    assert_eq!(card["main"], "meteor");
    assert_eq!(card["items"][0]["scores"]["meteor"], 0.5);
    let names: Vec<&String> = card["metrics"].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 15, "{names:?}");
    let notes = card["notes"].to_string();
    assert!(notes.contains("evidence_recall is not available") && notes.contains("pair_accuracy is not"), "{notes}");
}

#[test]
fn a_novelqa_submission_is_written_read_back_and_refused_where_it_is_wrong() {
    let sandbox = Sandbox::new();
    let item = |n: usize| {
        json!({"id": format!("Mill/Q{n}"), "documents": ["Mill"], "question": "?", "task": "choice",
               "options": ["w", "x", "y", "z"], "correct": n})
    };
    sandbox.write("items.jsonl", (0..3).map(|n| format!("{}\n", item(n))).collect::<String>());
    let predictions: String = (0..3).map(|n| format!("{{\"item\":\"Mill/Q{n}\",\"choice\":{}}}\n", 3 - n)).collect();
    sandbox.write("p.jsonl", predictions);
    let ended = sandbox.run(&[&SCORE[..], &["--write", "out.zip"]].concat()).exits(0);
    assert!(ended.err().contains("res_mc/res_mc.json written"), "{}", ended.err());
    let zip = std::fs::read(sandbox.path("out.zip")).unwrap();
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(zip)).unwrap();
    let written: Value = serde_json::from_reader(zip.by_name("res_mc/res_mc.json").unwrap()).unwrap();
    assert_eq!(written, json!({"Mill": ["D", "C", "B"]}));

    let gold: Vec<Value> = (0..3)
        .map(|n| {
            json!({"QID": format!("Q{n}"), "Question": "?", "Options": {"A": "w", "B": "x", "C": "y", "D": "z"},
                        "Answer": "w", "Gold": "A", "Aspect": "plot", "Complexity": "sh"})
        })
        .collect();
    sandbox.write("gold/Mill.json", json!(gold).to_string());
    let read = ["score", "--format", "novelqa", "--gold", "gold", "--json"];
    let card = sandbox.run(&[&read[..], &["out.zip"]].concat()).json();
    assert_eq!((&card["n"], &card["ledger"]["answered"]), (&json!(3), &json!(3)));
    sandbox.write("sub/res_mc/res_mc.json", json!({"Moby": ["A"]}).to_string());
    sandbox.run(&[&read[..], &["sub"]].concat()).refuses(&["missing `Mill", "unexpected `Moby"]);
}

/// Score of the main metric in percent, to two digits.
fn main_score(sandbox: &Sandbox, args: &[&str]) -> String {
    let card = sandbox.run(&[&["score"], args, &["--json"]].concat()).exits(0).json();
    let main = card["main"].as_str().unwrap();
    format!("{:.2}", 100.0 * card["metrics"][main]["value"].as_f64().unwrap())
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_published_files_give_the_published_scores() {
    let data = shared_data();
    let sandbox = Sandbox::new();
    let tasks = ["longbook_choice_eng", "longbook_qa_eng", "longbook_qa_chn", "longbook_sum_eng"];
    for (model, scores) in [
        ("gpt4", &["67.25", "22.44", "25.96", "14.73"][..]),
        ("yarn-mistral", &["27.95", "9.55", "15.49"]),
        ("kimi", &["72.49", "16.52", "17.93", "17.96"]),
        ("yi-6b-200k", &["36.68", "9.20", "15.07"]),
    ] {
        for (task, expected) in tasks.iter().zip(scores) {
            let file = data.join(format!("predictions/infinitebench/{model}/preds_{task}.jsonl"));
            let found = main_score(&sandbox, &["--format", "infinitebench", "--task", task, &shown(&file)]);
            assert_eq!(found, *expected, "{model} {task}");
        }
    }
    for (model, expected) in [("gpt4-32k", "82.18"), ("turbo-16k-0613", "61.39")] {
        let file = data.join(format!("predictions/leval/{model}/quality.pred.jsonl"));
        assert_eq!(main_score(&sandbox, &["--format", "leval-quality", &shown(&file)]), expected);
    }
    let claims = shown(&data.join("qa/nocha-claims.json"));
    for (system, expected) in [("claude", "39.39"), ("claude-sonnet", "21.21"), ("gemini", "27.27"), ("gpt4o", "0.00")]
    {
        assert_eq!(main_score(&sandbox, &["--format", "nocha", "--system", system, &claims]), expected, "{system}");
    }
    let marks = shown(&data.join("predictions/squality-human-eval.jsonl"));
    let all = sandbox.run(&["score", "--format", "squality", &marks, "--json"]).exits(0).json();
    for (system, correctness) in [("human", 0.9511), ("bart-dpr", 0.4685), ("bart", 0.3343)] {
        let found = all["systems"][system]["metrics"]["correctness"]["value"].as_f64().unwrap();
        assert!((found - correctness).abs() < 6e-5, "{system}: {found}");
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The same file is held to WebAssembly's bytes by `web/test/page.test.js`.
#[test]
fn the_scorecard_has_the_bytes_that_the_page_gives() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scoring");
    let sandbox = Sandbox::new();
    for name in ["items.jsonl", "predictions.jsonl"] {
        sandbox.write(name, std::fs::read(folder.join(name)).unwrap());
    }
    let ended = sandbox
        .run(&[
            "score",
            "--gold",
            "items.jsonl",
            "--predictions",
            "predictions.jsonl",
            "--group-by",
            "kind",
            "--json",
            "--metric",
            "f1,accuracy,infinitebench_zh_f1,rougeL,bleu_2,meteor",
        ])
        .exits(1);
    expect_test::expect_file![folder.join("scorecard.json")].assert_eq(&ended.out());
}

#[test]
fn hashed_gold_answers_are_scored_by_exact_match_and_tell_nothing() {
    let sandbox = sandbox(WHOLE);
    let hash = sandbox.run(&["data", "hash", "items.jsonl", "--salt", "s1", "--out", "public.jsonl"]).exits(1);
    assert_eq!(hash.err(), "items.jsonl (b): a choice among 2 options is soon guessed [left out]\n");
    let public = std::fs::read_to_string(sandbox.path("public.jsonl")).unwrap();
    assert!(public.contains("sha256:s1:") && !public.contains("Ana") && !public.contains("house"), "{public}");

    let score = ["score", "--gold", "public.jsonl", "--predictions", "p.jsonl", "--json"];
    let card: Value = serde_json::from_str(&sandbox.run(&score).exits(1).out()).unwrap();
    assert_eq!((&card["main"], &card["metrics"]["exact_match"]["value"]), (&json!("exact_match"), &json!(0.5)));
    assert_eq!(card["metrics"].as_object().unwrap().len(), 1, "{card:#}");
}
