//! `closeread protocol`, as a user meets it.

use crate::build_model::SAMPLE;
use crate::build_sagascale::loan;
use crate::support::{Sandbox, run_tales, tales};
use expect_test::expect;
use serde_json::json;

#[test]
fn every_line_of_a_protocol_has_its_source() {
    let sandbox = Sandbox::new();
    let ended = sandbox.run(&["protocol", "hamlet"]).exits(0);
    expect![[r#"
        hamlet (HAMLET, section 3 and appendices D and E)

        methods: query-summary
            HAMLET, section 3.2
        query-summary: overflow: fail
            open: we chose; every book of the paper fits
        tokenizer: cl100k_base
            HAMLET, appendix A: tiktoken
            otherwise there: the paper does not say which of tiktoken's encodings
        embedder: each method's own, else the model that ships
            open: we chose; each method's own, else the model that ships
        repeats: 1
            HAMLET, section 3.2
        preparing model: the reader
            open: we chose; another model can be named
        context window: each model's own, where it is known
            HAMLET, Table 11
        response limit, tokens: none
            open: we chose; no paper names a limit
        items with: all
            open: we chose; every item
        publishers' frames: set aside
            open: we chose; a licence is no part of a book
        temperature: 0
            HAMLET, appendix D
        seed: none
            open: we chose; at temperature 0; one that is named is sent
        system line: none
            open: we chose; the whole prompt is the user's message
        answer in the response: the whole response is the summary
            HAMLET, section 3.2
        failures: count as wrong; reports have both readings
            open: we chose; the paper names no treatment
        metrics beside the main one: none
            HAMLET, section 3.3.1: recall and faithfulness by the judges
        clusters of intervals: the set of an item's documents
            open: we chose; no paper has intervals; questions on a book depend
        judges: align-key-facts, verify-facts
            HAMLET, appendix E
        judging model: GPT-4o
            HAMLET, section 3.3.2
    "#]]
    .assert_eq(&ended.out());
    let novelqa = sandbox.run(&["protocol", "novelqa"]).exits(0).out();
    assert!(novelqa.contains("response limit, tokens: none\n    NovelQA, appendix C.4.1"), "{novelqa}");
    let papers = sandbox.run(&["protocol", "stronger-baselines", "--json"]).exits(0).json();
    let papers = papers.as_array().unwrap();
    assert_eq!(papers.len(), 3, "InfiniteBench, QuALITY, NarrativeQA");
    for lines in papers.iter().map(|paper| paper["lines"].as_array().unwrap()) {
        assert!(lines.len() > 20 && lines.iter().all(|line| line["source"]["where"].is_string()));
        let of = |name: &str| lines.iter().find(|line| line["name"] == name).unwrap();
        assert_eq!(of("dos-rag: query")["value"], "with-options");
        assert_eq!(of("embedder")["source"], json!({"kind": "paper", "where": "Stronger Baselines, appendix A.1"}));
        assert_eq!(of("seed")["value"], "42");
    }
    sandbox.run(&["protocol", "novel-qa"]).refuses(&["`novel-qa`", "novelqa", "infinitebench", "stronger-baselines"]);
}

#[test]
fn a_run_says_what_it_changed() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "15", "--seed", "7", "--param", "dos-rag.fill=skip"]);
    let said = sandbox.run(&["protocol", "r"]).exits(0).out();
    let (changed, lines) = said.split_once("\nThe protocol, as its manifest keeps it:\n\n").unwrap();
    assert!(lines.starts_with("methods: closed-book, full-document,"), "{lines}");
    assert!(lines.contains("repeats: 1\n    open: we chose; decoding is greedy\n"), "{lines}");
    expect![[r#"
        r is a run of tales (protocol: no paper's; closeread's own)
        methods: dos-rag
            in the protocol: closed-book, full-document, vanilla-rag, dos-rag, naive-rag, corpus-rag, agentic-rag, raptor, read-agent, memory-agent, query-summary
        budgets, tokens: 15
            in the protocol: 500, 1000, 1500, 5000
        seed: 7
            in the protocol: none
        dos-rag: max_tokens: 12
            in the protocol: 100
        dos-rag: fill: skip
            in the protocol: stop
        retriever: bm25
            in the protocol: dense
    "#]].assert_eq(changed);
    let data = ["run", "--benchmark", "corpusqa", "--data", "tales", "--method", "corpus-rag", "--budget", "20"];
    let by_words = ["--retriever", "bm25", "--param", "corpus-rag.max_tokens=12", "--out", "c"];
    let ended = sandbox.run(&[&data[..], &by_words].concat()).exits(1);
    assert!(!ended.err().contains("embeds with"), "{}", ended.err());
    let changes = sandbox.run(&["protocol", "c", "--json"]).exits(0).json();
    assert_eq!(changes["benchmark"], "corpusqa");
    expect![[r#"
        [
          {
            "name": "methods",
            "protocol": "full-document, corpus-rag, memory-agent",
            "run": "corpus-rag"
          },
          {
            "name": "corpus-rag: split, max_tokens",
            "protocol": "window, 512",
            "run": "window, 12"
          },
          {
            "name": "budgets, tokens",
            "protocol": "50000",
            "run": "20"
          },
          {
            "name": "retriever",
            "protocol": "dense",
            "run": "bm25"
          }
        ]
    "#]]
    .assert_eq(&format!("{:#}\n", changes["changes"]));
    let of_name = sandbox.run(&["protocol", "corpusqa", "--json"]).exits(0).json();
    assert_eq!(changes["lines"], of_name[0]["lines"]);
}

#[test]
fn a_model_of_the_protocol_that_is_not_installed_is_named_where_it_would_embed() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let said = |options: &[&str]| {
        let estimate = ["estimate", "--benchmark", "corpusqa", "--data", "tales", "--model", "openai/gpt-4o"];
        sandbox.run(&[&estimate, options].concat()).exits(1).err()
    };
    let searched = said(&["--method", "corpus-rag"]);
    assert!(searched.contains("the protocol embeds with multilingual-e5-large, which is not installed"), "{searched}");
    for options in [&["--method", "full-document"][..], &["--method", "corpus-rag", "--retriever", "bm25"]] {
        assert!(!said(options).contains("embeds with"), "{}", said(options));
    }
}

#[test]
fn a_runs_protocol_is_what_its_manifest_keeps() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "closed-book", "--seed", "7"]);
    let file = sandbox.path("r/manifest.json");
    let manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let write = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut manifest = manifest.clone();
        change(&mut manifest);
        std::fs::write(&file, manifest.to_string()).unwrap();
        sandbox.run(&["protocol", "r"])
    };
    let of_another_version = |manifest: &mut serde_json::Value| {
        manifest["protocol"]["lines"][0] = json!({"name": "methods", "value": "by hand", "differs": null,
            "source": {"kind": "paper", "where": "a paper of then"}});
        manifest["protocol"]["changes"] = json!([]);
    };
    let said = write(&of_another_version).exits(0).out();
    assert!(said.contains("It changed nothing.") && said.contains("methods: by hand\n    a paper of then\n"), "{said}");
    let absent = write(&|manifest| drop(manifest.as_object_mut().unwrap().remove("protocol"))).exits(0);
    assert!(absent.out().contains("seed: 7\n    in the protocol: none"), "{}", absent.out());
    assert!(absent.err().contains("keeps no protocol"), "{}", absent.err());
    write(&|manifest| manifest["protocol"]["lines"] = json!("none")).refuses(&["manifest.json", "field `protocol`"]);
}

/// A tokenizer whose tokens are words, as a hub has one.
const WORDS: &str = r#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
    "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
    "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}}"#;

#[test]
fn sagascale_counts_by_the_papers_tokenizer_where_it_is_installed_and_says_so_where_not() {
    let sandbox = Sandbox::new();
    sandbox.write("tales/documents.jsonl", json!({"id": "d", "text": "Ana hid the key.\n"}).to_string());
    let item =
        json!({"id": "i", "documents": ["d"], "question": "Who hid it?", "task": "generative", "answers": ["Ana"]});
    sandbox.write("tales/items.jsonl", item.to_string());
    let run = |out: &str| {
        let asked = ["run", "--benchmark", "sagascale", "--data", "tales", "--method", "closed-book", "--out", out];
        let ended = sandbox.run(&asked).exits(0);
        let manifest = std::fs::read(sandbox.path(out).join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        (ended.err(), manifest["configuration"]["tokenizer"].clone())
    };
    let (said, counted_by) = run("without");
    assert!(
        said.contains("deepseek-r1, which is not installed") && said.contains("closeread model pull deepseek-r1"),
        "{said}"
    );
    assert_eq!(counted_by, "cl100k_base");
    let report = sandbox.run(&["report", "without", "--paper", "sagascale"]).out();
    assert!(report.contains("tokens are counted by cl100k_base; the paper counts by deepseek-r1"), "{report}");
    sandbox
        .run(&["chunk", "tales/documents.jsonl", "--tokenizer", "deepseek-r1"])
        .refuses(&["closeread model pull deepseek-r1"]);
    let build = |more: &[&str]| {
        let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
        loan(&sandbox);
        let asked = ["build", "sagascale", "--books", &story, "--articles", "articles", "--retriever", "bm25"];
        let dry = ["--model", "openai/gpt-4o", "--no-realism", "--dry-run", "--out", "b"];
        sandbox.run(&[&asked[..], &dry, more].concat()).exits(0).err()
    };
    assert!(build(&[]).contains("closeread model pull deepseek-r1"), "{}", build(&[]));
    assert!(!build(&["--tokenizer", "o200k"]).contains("deepseek-r1"));
    sandbox.write("models/deepseek-r1/tokenizer.json", WORDS);
    assert!(!build(&[]).contains("deepseek-r1"));
    let (said, counted_by) = run("with");
    assert!(!said.contains("deepseek-r1, which is not"), "{said}");
    assert_eq!(counted_by, "deepseek-r1");
    let report = sandbox.run(&["report", "with", "--paper", "sagascale"]).out();
    assert!(!report.contains("tokens are counted by"), "{report}");
}

#[test]
fn other_prompts_and_other_judges_are_changes() {
    let sandbox = Sandbox::new();
    crate::fault_server::cases(&sandbox, &["a".to_owned()]);
    let own = include_str!("../../../prompts/closed-book-choice.md");
    sandbox.write("words/closed-book-choice.md", format!("{own}\nThink twice.\n"));
    let run = ["run", "--benchmark", "cases", "--method", "closed-book", "--out", "r"];
    sandbox.run(&[&run[..], &["--prompts", "words", "--judge-model", "builtin/rule"]].concat()).exits(0);
    let changes = sandbox.run(&["protocol", "r", "--json"]).exits(0).json()["changes"].to_string();
    assert!(changes.contains("other words in closed-book-choice"), "{changes}");
    assert!(changes.contains("\"name\":\"judging model\",\"protocol\":\"none\",\"run\":\"builtin/rule\""), "{changes}");
}
