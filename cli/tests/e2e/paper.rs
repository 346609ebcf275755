//! `closeread report --paper`: one paper's tables, and what the runs lack for the others.

use crate::http::{HttpServer, ok};
use crate::support::{Sandbox, run_tales, tales};
use expect_test::expect;
use serde_json::json;

fn small_run() -> Sandbox {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "closed-book,naive-rag,dos-rag", "--budget", "15"]);
    sandbox
}

#[test]
fn a_paper_has_its_own_tables() {
    let sandbox = small_run();
    let ended = sandbox.run(&["report", "r", "--paper", "sagascale", "--table", "4,fig-4"]).exits(0);
    expect![[r#"
        Accuracy without the book, % (SagaScale, Table 4)
        Model               Max Len  Accuracy
        -------------------------------------
        builtin/extractive        -   **8.3**
        scored by accuracy: there is no judge's verdict
        accuracy applies to 12 of 18 items; the others are in no mean
    "#]]
    .assert_eq(&ended.out());
    expect![[r#"
        Figure 4: needs a run with agentic-rag; needs judgements: closeread judge (0 of 12 answers judged)
    "#]]
    .assert_eq(&ended.err());
    let all = sandbox.run(&["report", "r", "--paper", "stronger-baselines", "--json"]).exits(0);
    expect![[r#"
        9 of 11 tables and figures of Stronger Baselines: --list says what the others lack
    "#]]
    .assert_eq(&all.err());
    let report = all.json();
    let sources = report["tables"].as_array().unwrap().iter().map(|table| table["source"].as_str().unwrap());
    assert!(sources.clone().count() > 3 && sources.clone().all(|source| source.starts_with("Stronger Baselines, ")));
    let charts: Vec<&str> =
        report["charts"].as_array().unwrap().iter().map(|chart| chart["id"].as_str().unwrap()).collect();
    assert!(charts.iter().all(|id| id.starts_with("stronger-baselines-tokens")) && !charts.is_empty(), "{charts:?}");
}

#[test]
fn what_people_say_of_answers_stands_in_the_paper_s_tables() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    crate::support::rewrite_lines(&sandbox, "tales/items.jsonl", |item| item["labels"]["aspect"] = "plot".into());
    run_tales(&sandbox, "r", &["--method", "full-document", "--judge-model", "builtin/rule"]);
    sandbox.write(
        "ann.csv",
        "item,label\nt0-3,C\nt1-3,N\nt2-3,C\nt3-3,C\nt0-3,miscounting\nt1-3,hallucination on narration\nt9-3,C\n",
    );
    sandbox.write("bob.csv", "item,rater,label\nt0-3,bob,N\nt1-3,bob,C\n");
    let of_paper = ["report", "r", "--paper", "novelqa", "--labels", "ann.csv", "--labels", "bob.csv=nobody", "--json"];
    let ended = sandbox.run(&of_paper).exits(1);
    assert!(
        ended.err().contains("ann.csv:8 (t9-3)") && ended.err().contains("no trial of the runs is meant"),
        "{}",
        ended.err()
    );
    let report = ended.json();
    let table = |id: &str| report["tables"].as_array().unwrap().iter().find(|table| table["id"] == id).cloned();
    let seven = table("novelqa-table-7").unwrap_or_else(|| panic!("{report}"));
    assert_eq!(seven["columns"], json!(["Model", "ann", "bob", "avg"]));
    assert_eq!(seven["rows"][0][1]["n"].as_u64().or(seven["rows"][0][1]["reason"].as_str().map(|_| 4)), Some(4));
    let seventeen = table("novelqa-table-17").unwrap_or_else(|| panic!("{report}"));
    assert_eq!(json!([seventeen["columns"][2], seventeen["columns"][3]]), json!(["chara", "mean"]));
    let listed = sandbox.run(&["report", "r", "--paper", "novelqa", "--list", "--table", "7,15,17"]).exits(0);
    for words in ["needs people's verdicts: a file of labels", "needs 2 judges", "needs people's kinds of errors"] {
        assert!(listed.out().contains(words), "{words} is not in {}", listed.out());
    }
}

/// 20 questions: 5 answers whose evidence is marked 80, 5 marked 0, 10 without any.
#[test]
fn an_answer_that_cites_nothing_has_marks_of_zero() {
    let sandbox = Sandbox::new();
    let sentence = |n: usize| format!("In room {n} lay a stone.");
    let text: Vec<String> = (0..20).map(sentence).collect();
    sandbox.write("rooms/documents.jsonl", json!({"id": "b", "language": "en", "text": text.join(" ")}).to_string());
    let item = |n: usize| {
        let evidence = json!([{"quote": sentence(n)}]);
        json!({"id": format!("q{n}"), "documents": ["b"], "task": "generative", "question": format!("What lay in room {n}?"),
            "answers": ["a stone"], "evidence": evidence})
    };
    let items: Vec<String> = (0..20).map(|n| item(n).to_string()).collect();
    sandbox.write("rooms/items.jsonl", items.join("\n"));
    let said = |text: &str| {
        let usage = json!({"prompt_tokens": 5, "completion_tokens": 5});
        ok(&json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": usage}))
    };
    let server = HttpServer::start(move |asked| {
        let request = asked.json();
        let prompt = request["messages"][0]["content"].as_str().unwrap().to_owned();
        if request["model"] == "reader" {
            let line = |n: usize| {
                let cites = if n < 10 { format!("$ In room {n} lay a stone.") } else { String::new() };
                format!("Answer{n}: a stone{cites}")
            };
            return said(&(0..20).map(line).collect::<Vec<_>>().join("\n"));
        }
        let is_good = |n: usize| prompt.contains(&format!("Student's evidence:\n1. In room {n} lay"));
        match prompt.contains("Student's evidence") {
            true if (0..5).any(is_good) => said("C80R80S80"),
            true => said("C0R0S0"),
            false => said("C"),
        }
    });
    let url = format!("{}/v1", server.url);
    let how = ["--method", "full-document", "--param", "full-document.evidence=true", "--out", "r", "--base-url", &url];
    let who =
        ["--model", "openai-compatible/reader", "--judge-model", "openai-compatible/judge", "--judge-base-url", &url];
    sandbox.run(&[&["run", "--benchmark", "novelqa", "--data", "rooms"][..], &how, &who].concat()).exits(0);
    let report = sandbox.run(&["report", "r", "--paper", "novelqa", "--table", "5", "--json"]).exits(0).json();
    let row = &report["tables"][0]["rows"][0];
    for column in 1..5 {
        let (value, n) = (row[column]["value"].as_f64().unwrap(), &row[column]["n"]);
        assert!((value - 20.0).abs() < 1e-9 && *n == 20, "{row}");
    }
}

#[test]
fn the_list_says_what_is_there_and_what_the_runs_lack() {
    let sandbox = small_run();
    let ended = sandbox.run(&["report", "r", "--paper", "sagascale", "--list"]).exits(0);
    expect![[r#"
        SagaScale: 8 of 13 with numbers available from these runs; 15 without
        exhibit      section  shows                                                                    state
        ------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
        Table 1      2        benchmarks compared                                                      no numbers: compares benchmarks by hand
        Table 2      3.3      questions and novels by length                                           available
        Table 3      4.2      accuracy over all items                                                  available; needs judgements: closeread judge (0 of 12 answers judged)
        Table 4      3.2      accuracy without the book                                                available; needs judgements: closeread judge (0 of 12 answers judged)
        Table 5      4.2      accuracy in the window                                                   available; needs judgements: closeread judge (0 of 12 answers judged)
        Table 6      4.2      responses without a readable answer                                      needs a run with full-document
        Table 7      4.2      calibration error                                                        available; needs judgements: closeread judge (0 of 12 answers judged)
        Table 8      4.2      polarization                                                             needs 2 configurations (1 of 2); needs judgements: closeread judge (0 of 12 answers judged)
        Table 9      3.3      the novels                                                               available
        Figure 1     3.1      the pipeline                                                             no numbers: an illustration
        Figure 2     3.2      questions by type                                                        needs the label `question_type` (0 of 18 items have it)
        Figure 3     4.2      accuracy over the length of books                                        available; needs judgements: closeread judge (0 of 12 answers judged)
        Figure 4     4.2      accuracy by the number of searches                                       needs a run with agentic-rag; needs judgements: closeread judge (0 of 12 answers judged)
        Figure 5     3.3      lengths of books by language                                             available
        Figure 6     A.2.1    questions kept and left out                                              no numbers: examples of questions
        Figure 7     A.2.2    questions with their answers                                             no numbers: examples of questions
        Figure 8     A.3      classifying a question                                                   no numbers: a prompt: ours are files of the folder prompts/
        Figure 9     A.4.1    filtering a segment                                                      no numbers: a prompt: ours are files of the folder prompts/
        Figure 10    A.4.1    summaries of a segment                                                   no numbers: a prompt: ours are files of the folder prompts/
        Figure 11    A.4.1    writing a pair                                                           no numbers: a prompt: ours are files of the folder prompts/
        Figure 12    A.4.1    checking a pair                                                          no numbers: a prompt: ours are files of the folder prompts/
        Figure 13    A.4.1    keywords of a question                                                   no numbers: a prompt: ours are files of the folder prompts/
        Figure 14    A.4.1    answering without the book                                               no numbers: a prompt: ours are files of the folder prompts/
        Figure 15    A.4.2    judging an answer                                                        no numbers: a prompt: ours are files of the folder prompts/
        Figure 16    A.4.2    reading the whole book                                                   no numbers: a prompt: ours are files of the folder prompts/
        Figure 17    A.4.2    reading contexts                                                         no numbers: a prompt: ours are files of the folder prompts/
        Figure 18    A.4.2    searching                                                                no numbers: a prompt: ours are files of the folder prompts/
        section 4.2  4.2      gaps in the window, items that only searching solves, rank correlations  needs judgements: closeread judge (0 of 12 answers judged)
    "#]].assert_eq(&ended.out());
    let ended = sandbox.run(&["report", "r", "--paper", "novelqa", "--list", "--table", "2,5,7,fig-3"]).exits(0);
    expect![[r#"
        NovelQA: 2 of 4 with numbers available from these runs; 0 without
        exhibit   section  shows                                   state
        ----------------------------------------------------------------------------------------------------------------------------------------------------------------
        Table 2   4.2      accuracy in both settings               available; needs judgements: closeread judge (0 of 12 answers judged)
        Table 5   4.5      marks of the cited evidence             needs cited evidence (parameter `evidence=true`) and what the judge judge-novelqa-evidence says of it
        Table 7   4.1      agreement of the judge with two people  needs judgements: closeread judge (0 of 12 answers judged); needs people's verdicts: a file of labels
        Figure 3  3.1      tokens of novels with their questions   available
    "#]].assert_eq(&ended.out());
    let ended = sandbox.run(&["report", "r", "--paper", "hamlet", "--list", "--table", "4,13"]).exits(0);
    expect![[r#"
        HAMLET: 0 of 2 with numbers available from these runs; 0 without
        exhibit   section  shows                      state
        ---------------------------------------------------------------------------------------------------------
        Table 4   5.1.1    recall gap                 needs judgements: closeread judge (0 of 0 summaries judged)
        Table 13  G.1      recall by place and level  needs judgements: closeread judge (0 of 0 summaries judged)
    "#]]
    .assert_eq(&ended.out());
}

#[test]
fn a_paper_is_printed_in_every_rendering() {
    let sandbox = small_run();
    let of_paper = ["report", "r", "--paper", "sagascale", "--table", "4"];
    let run = |options: &[&str]| sandbox.run(&[&of_paper[..], options].concat()).exits(0);
    assert_eq!(run(&["--latex"]).out().matches("\\caption{").count(), 1);
    run(&["--html", "site", "--csv", "tables"]);
    assert!(sandbox.path("tables/sagascale-table-4.csv").is_file());
    assert_eq!(std::fs::read_dir(sandbox.path("tables")).unwrap().count(), 1);
    let index = std::fs::read_to_string(sandbox.path("site/index.html")).unwrap();
    assert!(index.contains("SagaScale, Table 4") && !index.contains("Scores under both policies"), "{index}");
}

#[test]
fn what_no_paper_has_is_refused() {
    let sandbox = small_run();
    let refused = |options: &[&str], words: &[&str]| sandbox.run(&[&["report", "r"], options].concat()).refuses(words);
    refused(&["--paper", "novel-qa"], &["sagascale", "novelqa", "stronger-baselines", "corpusqa", "hamlet"]);
    refused(&["--paper", "corpusqa", "--table", "6"], &["CorpusQA has no Table 6", "Table 1", "Figure 4"]);
    refused(&["--paper", "corpusqa", "--table", "three"], &["`three` is no table or figure"]);
    refused(&["--table", "3"], &["--paper"]);
    refused(&["--paper", "hamlet"], &["nothing of HAMLET", "Table 4: needs judgements: closeread judge (0 of 0 summ"]);
    refused(
        &["--paper", "sagascale", "--table", "figure-2,figure-4"],
        &["needs the label `question_type`", "needs a run with agentic-rag"],
    );
}
