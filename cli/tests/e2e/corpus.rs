//! Methods that read many documents at once.

use crate::support::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A corpus of `n` reports of some 1,200 tokens and four questions about them, in `corpus/`.
fn corpus(sandbox: &Sandbox, n: usize, language: &str) {
    let sentence = |report: usize, week: usize| {
        let (let_out, mended) = (1 + (7 * report + week) % 90, 1 + (report * week) % 13);
        match language {
            "zh" => format!("第{week}周，第{report}合作社出租了{let_out}套住房，修好了{mended}处屋顶。"),
            _ => format!("In week {week} cooperative {report} let {let_out} dwellings and mended {mended} roofs.\n\n"),
        }
    };
    let ids: Vec<String> = (1..=n).map(|report| format!("housing-{language}-{report:03}")).collect();
    let (mut documents, mut items) = (String::new(), String::new());
    for (report, id) in (1..).zip(&ids) {
        let text: String = (1..=56).map(|week| sentence(report, week)).collect();
        documents += &format!("{}\n", json!({"id": id, "language": language, "text": text}));
    }
    for (week, question) in
        (1..5).map(|week| (week, format!("How many dwellings did cooperative 3 let in week {week}?")))
    {
        let answers = [(1 + (21 + week) % 90).to_string()];
        let item = json!({"id": format!("q{week}"), "documents": ids, "question": question, "task": "generative", "answers": answers});
        items += &format!("{item}\n");
    }
    sandbox.write("corpus/documents.jsonl", documents);
    sandbox.write("corpus/items.jsonl", items);
}

fn records(sandbox: &Sandbox, run: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(run).join("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_budget_below_every_chunk_is_said() {
    let sandbox = Sandbox::new();
    corpus(&sandbox, 2, "en");
    let args = ["run", "--benchmark", "corpus", "--method", "corpus-rag", "--budget", "100,20000", "--limit", "1"];
    let ended = sandbox.run(&[&args[..], &["--retriever", "bm25", "--out", "r"]].concat()).exits(0);
    let words = "corpus-rag at 100 with builtin/extractive: 1 of 1 prompts held no passage";
    assert!(ended.err().contains(words), "{}", ended.err());
    assert!(!ended.err().contains("corpus-rag at 20000"), "{}", ended.err());
}

#[test]
fn a_text_without_ends_of_sentences_is_cut_as_the_warning_says() {
    let sandbox = Sandbox::new();
    let document = json!({"id": "d", "language": "th", "text": "แอนนามาถึงโรงสีตอนพลบค่ำ ".repeat(200)});
    let item =
        json!({"id": "q", "documents": ["d"], "question": "แอนนามาถึง", "task": "generative", "answers": ["โรงสี"]});
    sandbox.write("thai/documents.jsonl", document.to_string());
    sandbox.write("thai/items.jsonl", item.to_string());
    let args = ["run", "--benchmark", "thai", "--method", "dos-rag", "--budget", "500", "--retriever", "bm25", "--out"];
    let ended = sandbox.run(&[&args[..], &["r"]].concat()).exits(0);
    let hint = "--param dos-rag.split=window";
    assert!(ended.err().contains("1 of 1 prompts held no passage") && ended.err().contains(hint), "{}", ended.err());
    let cut = sandbox.run(&[&args[..], &["windows", "--param", "dos-rag.split=window"]].concat()).exits(0);
    assert!(!cut.err().contains("held no passage"), "{}", cut.err());
}

#[test]
fn a_corpus_is_searched_at_once_and_the_dagger_says_what_cannot_be_seen() {
    for language in ["en", "zh"] {
        let sandbox = Sandbox::new();
        corpus(&sandbox, 12, language);
        let args = ["run", "--benchmark", "corpus", "--method", "corpus-rag", "--budget", "1100,20000", "--limit", "4"];
        let table = sandbox.run(&[&args[..], &["--retriever", "bm25", "--out", "r"]].concat()).exits(0).out();
        assert!(
            table.contains("† corpus-rag at 1,100: fewer chunks than documents in 100.0% of the trials"),
            "{table}"
        );
        assert!(!table.contains("corpus-rag at 20,000: fewer"), "{table}");
        for record in records(&sandbox, "r") {
            let measures = &record["measures"];
            let passages = record["context"]["passages"].as_array().unwrap();
            let documents: BTreeSet<&str> = passages.iter().map(|p| p["document"].as_str().unwrap()).collect();
            assert_eq!(measures["chunks"], passages.len() as f64);
            assert_eq!(measures["documents_read"], documents.len() as f64);
            assert_eq!(measures["documents"], 12.0);
            let place: Vec<_> = passages.iter().map(|p| (p["document"].as_str(), p["start"].as_u64())).collect();
            assert!(place.is_sorted(), "documents and chunks in their order");
        }
    }
}

#[test]
fn a_corpus_beyond_the_window_is_an_overflow_with_the_size_of_the_whole() {
    let sandbox = Sandbox::new();
    corpus(&sandbox, 40, "en");
    let args = ["run", "--benchmark", "corpus", "--method", "full-document", "--limit", "1", "--out"];
    sandbox.run(&[&args[..], &["long", "--context-window", "8000"]].concat()).exits(0);
    let overflow = &records(&sandbox, "long")[0];
    assert_eq!(overflow["outcome"], "overflow");
    let needed = overflow["needed"].as_u64().unwrap();
    assert!((30_000..70_000).contains(&needed), "{needed}");
    sandbox
        .run(&[&args[..], &["cut", "--context-window", "8000", "--on-overflow", "truncate-middle"]].concat())
        .exits(0);
    let documents: Vec<String> = records(&sandbox, "cut")[0]["context"]["passages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["document"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(documents.first().map(String::as_str), Some("housing-en-001"));
    assert_eq!(documents.last().map(String::as_str), Some("housing-en-040"));
    assert!(documents.len() < 20, "{documents:?}");
    // With room for all, nothing is cut and nothing is missing.
    sandbox.run(&[&args[..], &["whole", "--context-window", "100000"]].concat()).exits(0);
    let whole = &records(&sandbox, "whole")[0];
    assert_eq!(whole["context"]["passages"].as_array().unwrap().len(), 40);
    assert!(whole["prompt_tokens"].as_u64().unwrap().abs_diff(needed - 1024) < 100, "{}", whole["prompt_tokens"]);
}

#[test]
fn a_damaged_copy_of_a_corpus_is_made_anew_before_anything_is_read() {
    let sandbox = Sandbox::new();
    corpus(&sandbox, 5, "en");
    let args = ["run", "--benchmark", "corpus", "--method", "corpus-rag", "--retriever", "bm25", "--out", "r"];
    sandbox.run(&[&args[..], &["--limit", "2"]].concat()).exits(0);
    let whole = records(&sandbox, "r");
    for entry in std::fs::read_dir(sandbox.path("r/texts")).unwrap() {
        std::fs::write(entry.unwrap().path(), b"no longer a text").unwrap();
    }
    std::fs::write(sandbox.path("r/records.jsonl"), b"").unwrap();
    let again = sandbox.run(&[&args[..], &["--limit", "2"]].concat()).exits(0);
    assert_eq!(again.err().matches("is damaged and is written anew").count(), 5, "{}", again.err());
    let contexts =
        |records: &[Value]| records.iter().map(|record| record["context"].to_string()).collect::<BTreeSet<_>>();
    assert_eq!(contexts(&records(&sandbox, "r")), contexts(&whole));
}

#[test]
fn a_summary_method_leaves_questions_alone_and_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("bench/story.txt", "Ana hid the key. Ben rowed across. He found the key under the stair.");
    sandbox.write("bench/documents.jsonl", "{\"id\":\"story\",\"path\":\"story.txt\",\"language\":\"en\"}\n");
    sandbox.write(
        "bench/items.jsonl",
        concat!(
            r#"{"id":"q","documents":["story"],"question":"Who hid it?","task":"generative","answers":["Ana"]}"#,
            "\n",
            r#"{"id":"s","documents":["story"],"question":"How does the key travel?","task":"summary","answers":["Ana hid the key and Ben found it."]}"#,
            "\n"
        ),
    );
    let report = sandbox.run(&["run", "--benchmark", "bench", "--method", "query-summary", "--json", "--out", "r"]);
    let report = report.exits(0).json();
    let cell = &report["cells"][0];
    assert_eq!((&cell["ledger"]["answered"], &cell["ledger"]["not_asked"]), (&1.into(), &1.into()));
    assert_eq!(cell["metrics"]["rougeL"]["n"], 1);
    assert!(cell["metrics"].get("f1").is_none(), "a question that was not asked is not wrong: {cell}");
    let outcomes: Vec<Value> = records(&sandbox, "r").iter().map(|record| record["outcome"].clone()).collect();
    assert_eq!(outcomes, ["not_asked", "answered"]);
}

#[test]
fn samples_have_a_deviation() {
    let sandbox = Sandbox::new();
    let args =
        ["run", "--method", "dos-rag", "--budget", "500", "--limit", "4", "--repeats", "3", "--retriever", "bm25"];
    let table = sandbox.run(&args).exits(0).out();
    assert!(table.contains("± 0.0 over 3 repeats"), "{table}");
}

#[test]
fn a_published_set_of_whole_corpora_is_read_in_parts_as_if_it_were_read_at_once() {
    let sandbox = Sandbox::new();
    let report = |n: usize| format!("Report {n}: {}", format!("the {n} boats came late. ").repeat(500_000 / 22));
    let prompt = |documents: &[usize]| -> String {
        let documents = (1..).zip(documents).map(|(k, &n)| format!("# Document {k}:\n{}\n", report(n)));
        documents.collect::<String>() + "# Question:\nHow many boats?"
    };
    let row = |id: &str, documents: &[usize]| {
        let row =
            serde_json::json!({"id": id, "question": "How many boats?", "answer": "9", "prompt": prompt(documents)});
        format!("{row}\n")
    };
    // 36 MB of which every row has its part, and a row that is none at the end.
    let some: Vec<usize> = (0..36).collect();
    let rows = [row("housing_en_1", &some), row("housing_en_2", &some[10..]), row("housing_en_1", &some[..10])];
    sandbox.write("housing_en_set3.jsonl", rows.concat() + "{\"id\": 5\n");
    let args = ["run", "--benchmark", "corpusqa", "--data", "housing_en_set3.jsonl", "--method", "closed-book"];
    let ended = sandbox.run(&[&args[..], &["--out", "r", "--json"]].concat()).exits(1);
    let report = ended.json();
    assert_eq!(report["cells"][0]["n"], 3, "{report}");
    let problems = report["problems"].to_string();
    assert!(problems.contains("called `housing_en_1#2`") && problems.contains("\"line\":4"), "{problems}");
    let items = std::fs::read_to_string(sandbox.path("r/items.jsonl")).unwrap();
    let items: Vec<Value> = items.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(items[0]["documents"].as_array().unwrap()[10..], items[1]["documents"].as_array().unwrap()[..]);
    assert_eq!(items[0]["labels"]["length_set"], "set3");
    let texts = std::fs::read_dir(sandbox.path("r/texts")).unwrap().count();
    assert_eq!(texts, 36, "each text once");
}
