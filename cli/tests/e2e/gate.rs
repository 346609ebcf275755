//! `closeread gate`, as CI meets it.

use crate::provider::{Server, answer};
use crate::support::{Ended, Sandbox, rewrite_lines, run_tales, run_without_a_part, tales};
use serde_json::{Value, json};

fn a_run() -> Sandbox {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "closed-book,dos-rag", "--budget", "30"]);
    sandbox
}

#[test]
fn a_gate_is_passed_not_passed_or_undecided() {
    let sandbox = a_run();
    let gate = |args: &[&str]| sandbox.run(&[&["gate", "r"], args].concat());
    let passed = gate(&["--min", "accuracy=0.55", "--at", "dos-rag@30"]).exits(0);
    assert!(passed.out().starts_with("passed: dos-rag@30 >= 0.55: accuracy 100.0 ["), "{}", passed.out());
    let failed = gate(&["--min", "accuracy=0.9", "--at", "closed-book"]).exits(10);
    assert!(failed.out().starts_with("not passed: closed-book >= 0.9"), "{}", failed.out());
    let undecided = gate(&["--min", "accuracy=0.1", "--at", "closed-book"]).exits(11);
    assert!(undecided.out().contains("items would decide it, if this were the true value"), "{}", undecided.out());
    gate(&["--min", "accuracy=0.1", "--at", "closed-book", "--undecided", "pass"]).exits(0);
    gate(&["--min", "accuracy=0.1", "--at", "closed-book", "--undecided", "fail"]).exits(10);
    let all = gate(&["--min", "accuracy=0.55"]).exits(10);
    assert_eq!(all.out().lines().count(), 2, "a gate a cell");
    gate(&["--max-cost", "0", "--max-failed", "0"]).exits(0);
    gate(&["--max-failed", "2%", "--json"]).exits(0);
}

#[test]
fn finding_07_a_gate_on_cost_knows_of_calls_that_no_trial_kept() {
    let sandbox = a_run();
    sandbox.write("r/.spending.jsonl", "{\"cost\":1.5}\n{\"call\":0,\"most\":2.0}\n");
    for (most, code) in [("1", 10), ("2", 11), ("4", 0)] {
        let told = sandbox.run(&["gate", "r", "--max-cost", most]).exits(code);
        assert!(told.out().contains(": 1.5000 dollars, and up to 2.0000 for calls"), "{}", told.out());
    }
}

#[test]
fn a_run_is_held_against_another_pair_by_pair() {
    let sandbox = a_run();
    run_tales(&sandbox, "other", &["--method", "dos-rag", "--budget", "30"]);
    let same = sandbox.run(&["gate", "other", "--no-worse-than", "r", "--margin", "15"]).exits(0);
    assert!(same.out().contains("against r on the same 12 items of 6 documents"), "{}", same.out());
    let too_close = sandbox.run(&["gate", "other", "--no-worse-than", "r", "--margin", "2"]).exits(11);
    assert!(too_close.out().starts_with("undecided: dos-rag@30 >= r - 2.0 points"), "{}", too_close.out());
    let hardly = sandbox.run(&["gate", "other", "--no-worse-than", "r", "--margin", "0.02"]).exits(11);
    assert!(hardly.out().starts_with("undecided: dos-rag@30 >= r - 0.02 points"), "{}", hardly.out());
    assert!(hardly.err().contains("it counts points, not shares"), "{}", hardly.err());
    let share = sandbox.run(&["gate", "r", "--max-failed", "0.05%"]).exits(0).out();
    assert!(share.contains("failed <= 0.05%: 0 of"), "{share}");
    let worse = sandbox.run(&["gate", "r", "--at", "closed-book", "--no-worse-than", "other", "--margin", "2"]);
    worse.refuses(&["closed-book"]);
}

#[test]
fn every_cell_is_held_against_a_base_or_refused() {
    let sandbox = a_run();
    sandbox.write("none.jsonl", "");
    let scores = sandbox.run(&["score", "--gold", "tales", "--predictions", "none.jsonl", "--json"]).exits(1).out();
    sandbox.write("base.json", scores);
    let held = sandbox.run(&["gate", "r", "--no-worse-than", "base.json", "--margin", "90"]).exits(11);
    assert_eq!(held.out().lines().count(), 2, "a score file against each cell: {}", held.out());

    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let models = ["--model", "builtin/extractive,openai-compatible/m", "--base-url", &server.url];
    run_tales(&sandbox, "two", &[&["--method", "closed-book"], &models[..]].concat());
    sandbox.run(&["gate", "two", "--no-worse-than", "r", "--margin", "90"]).refuses(&["openai-compatible/m"]);
    let one = ["gate", "two", "--min", "accuracy=0", "--at", "closed-book builtin/extractive"];
    assert_eq!(sandbox.run(&one).exits(0).out().lines().count(), 1, "a cell of one of the models");
    let submit = ["export", "novelqa", "two", "--fill", "A", "--out", "s.zip"];
    sandbox.run(&submit).refuses(&["name one of them by --at: 'closed-book builtin/extractive', "]);
    sandbox.run(&[&submit[..], &["--at", "closed-book builtin/extractive"]].concat()).exits(0);

    rewrite_lines(&sandbox, "tales/items.jsonl", |item| {
        if item["id"] == "t0-1" {
            item["question"] = json!("What had Ana bought?");
        }
    });
    run_tales(&sandbox, "later", &["--method", "closed-book"]);
    let told = sandbox.run(&["gate", "later", "--no-worse-than", "r", "--margin", "90"]).exits(0).err();
    assert!(told.contains("closed-book: not the same items as in r, and left out: t0-1"), "{told}");

    let records = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    sandbox.run(&["merge", "r", "--out", "half"]).exits(0);
    sandbox.write("half/records.jsonl", records.lines().take(30).map(|line| format!("{line}\n")).collect::<String>());
    let held = sandbox.run(&["gate", "r", "--no-worse-than", "half", "--margin", "90"]).exits(0);
    assert!(held.err().contains("half: INCOMPLETE"), "{}", held.err());
    let held = sandbox.run(&["gate", "r", "--no-worse-than", "half", "--margin", "30"]).exits(11).out();
    assert!(held.contains("passed: closed-book") && held.contains("; 4 trials of half have no record"), "{held}");
    let is_choice = |line: &&str| {
        let record: Value = serde_json::from_str(line).unwrap();
        !record["item"].as_str().unwrap().ends_with("-3")
    };
    let choices = records.lines().filter(is_choice).map(|line| format!("{line}\n"));
    sandbox.write("half/records.jsonl", choices.collect::<String>());
    let held = sandbox.run(&["gate", "r", "--no-worse-than", "half", "--margin", "30"]).exits(0).out();
    assert!(!held.contains("no record"), "open questions have no accuracy: {held}");
    let told = sandbox.run(&["gate", "half", "--min", "f1=0.01"]).exits(10).out();
    assert_eq!(told.matches(">= 0.01: F1 -: 6 of 18 trials have no record").count(), 2, "{told}");
}

#[test]
fn a_cell_without_a_record_does_not_reach_a_score() {
    let sandbox = a_run();
    let records = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    let kept = records.lines().filter(|line| line.contains("\"method\":\"dos-rag\"")).map(|line| format!("{line}\n"));
    sandbox.write("r/records.jsonl", kept.collect::<String>());
    let told = sandbox.run(&["gate", "r", "--min", "f1=0.01"]).exits(10).out();
    assert!(told.contains("not passed: closed-book >= 0.01: F1 -: 18 of 18 trials have no record"), "{told}");
    sandbox.run(&["gate", "r", "--min", "f1=0.01", "--at", "dos-rag"]).exits(0);
}

#[test]
fn finding_05_a_folder_that_lacks_a_part_of_its_run_is_not_passed() {
    let sandbox = run_without_a_part();
    let gate = ["gate", "m", "--min", "f1=0"];
    let told = sandbox.run(&gate).exits(11).out();
    assert!(told.contains("undecided: the folder is whole: INCOMPLETE: the folder holds 12 of 18 items"), "{told}");
    sandbox.run(&[&gate[..], &["--undecided", "pass"]].concat()).exits(0);
    run_tales(&sandbox, "m", &["--method", "closed-book"]);
    sandbox.run(&gate).exits(0);
}

#[test]
fn answers_without_a_verdict_decide_nothing() {
    let sandbox = a_run();
    sandbox.run(&["judge", "r", "--judge-model", "builtin/rule"]);
    sandbox.run(&["merge", "r", "--out", "part"]).exits(0);
    let judged = std::fs::read_to_string(sandbox.path("part/judgements.jsonl")).unwrap();
    let lines =
        |word: &'static str| judged.lines().filter(move |line| line.contains(word)).map(|line| format!("{line}\n"));
    sandbox.write("part/judgements.jsonl", lines("\"closed-book\"").collect::<String>());
    let told = sandbox.run(&["gate", "part", "--min", "judged_accuracy=0.01"]).out();
    assert!(told.contains("undecided: dos-rag@30 >= 0.01: judged accuracy -: 6 without a verdict"), "{told}");
    sandbox.run(&["gate", "part", "--min", "judged_accuracy=0.01", "--at", "dos-rag"]).exits(11);

    let one = lines("\"dos-rag\"").find(|line| line.contains("\"judge-sagascale\"")).unwrap();
    sandbox.write("part/judgements.jsonl", one);
    let held = ["gate", "part", "--at", "dos-rag", "--no-worse-than", "r", "--metric", "judged_accuracy"];
    let told = sandbox.run(&held);
    assert!(told.out().contains("; 5 without a verdict on one side"), "{}", told.out());
    assert!(!told.err().contains("different judges"), "{}", told.err());
    sandbox.run(&["merge", "part", "--out", "alike"]).exits(0);
    let both = ["gate", "part", "--at", "dos-rag", "--no-worse-than", "alike", "--margin", "90"];
    let told = sandbox.run(&[&both[..], &["--metric", "judged_accuracy"]].concat()).exits(11).out();
    assert!(told.contains("; 5 without a verdict on either side"), "{told}");
    sandbox.run(&["judge", "part", "--judge", "judge-novelqa", "--judge-model", "builtin/rule"]);
    let told = sandbox.run(&held).err();
    assert_eq!(told.matches("different judges").count(), 1, "{told}");
}

#[test]
fn reports_for_ci_have_a_case_a_gate() {
    let sandbox = a_run();
    let args = ["gate", "r", "--min", "accuracy=0.55", "--junit", "gates.xml", "--summary", "summary.md"];
    sandbox.run(&args).exits(10);
    let xml = std::fs::read_to_string(sandbox.path("gates.xml")).unwrap();
    assert!(xml.contains(r#"<testcase name="dos-rag@30 &gt;= 0.55" classname="accuracy""#), "{xml}");
    assert!(xml.contains(r#"tests="2""#) && xml.contains(r#"failures="1""#), "{xml}");
    let first = std::fs::read_to_string(sandbox.path("summary.md")).unwrap();
    assert!(first.starts_with("### Gates\n\n") && first.contains("| not passed | closed-book &gt;= 0.55 |"), "{first}");
    assert!(first.contains("### Scores in percent"), "{first}");
    // What other steps wrote stays, and beyond its limit GitHub shows nothing.
    sandbox.write("summary.md", "x".repeat((1 << 20) - 400));
    sandbox.run(&args).exits(10);
    let full = std::fs::read_to_string(sandbox.path("summary.md")).unwrap();
    assert!(full.len() <= 1 << 20 && full.ends_with("(cut: a step's summary holds 1 MiB)\n"), "{}", full.len());
    let json = sandbox.run(&["gate", "r", "--min", "accuracy=0.55", "--json"]).exits(10).json();
    assert_eq!((&json["verdict"], &json["gates"][1]["verdict"]), (&json!("not_passed"), &json!("passed")));
}

#[test]
fn finding_02_two_outputs_are_two_places() {
    let sandbox = a_run();
    std::fs::create_dir(sandbox.path("d")).unwrap();
    let one = ["gate", "r", "--max-cost", "0", "--junit", "out.md", "--summary", "d/../out.md"];
    sandbox.run(&one).refuses(&["--junit out.md is the place of --summary as well"]);
    let mut of_step = sandbox.command(&one[..6]);
    Ended(of_step.env("GITHUB_STEP_SUMMARY", "out.md").output().unwrap()).refuses(&["--junit out.md"]);
    sandbox.run(&["report", "r", "--html", "d", "--csv", "./d"]).refuses(&["--html d is the place of --csv as well"]);
    sandbox.run(&["leaderboard", "site", "--runs", "r", "--gold", "r", "--workflow", "site"]).refuses(&["--workflow"]);
    sandbox.run(&["report", "r", "--html", "new", "--csv", "New"]).refuses(&["--html new is the place of --csv"]);
    sandbox.write("one.md", "mine");
    std::fs::hard_link(sandbox.path("one.md"), sandbox.path("two.md")).unwrap();
    let linked = ["gate", "r", "--max-cost", "0", "--junit", "one.md", "--summary", "two.md"];
    sandbox.run(&linked).refuses(&["--junit one.md is the place of --summary as well"]);
    let written = ["out.md", "site"].map(|name| sandbox.path(name).exists());
    assert_eq!((written, std::fs::read_dir(sandbox.path("d")).unwrap().count()), ([false, false], 0));
}

#[test]
fn what_decides_nothing_is_refused() {
    let sandbox = a_run();
    sandbox.run(&["gate", "r"]).refuses(&["no gate"]);
    sandbox.run(&["gate", "r", "--min", "meteor=0.5"]).refuses(&["--min meteor", "accuracy"]);
    sandbox.run(&["gate", "r", "--min", "accuracy=55"]).refuses(&["from 0 to 1"]);
    sandbox.run(&["gate", "r", "--min", "accuracy=0.5", "--at", "rag"]).refuses(&["no cell `rag`", "dos-rag@30"]);
    let two = ["gate", "r", "--min", "accuracy=0", "--at", "dos-rag", "--at", "close-book"];
    sandbox.run(&two).refuses(&["no cell `close-book`"]);
    sandbox.run(&["gate", "r", "--max-failed", "x"]).refuses(&["expected a number of trials"]);
}
