//! Builds against a server that nobody here wrote: llama.cpp's llama-server over tiny random weights, whose responses
//! are held to the forms of the prompts by JSON schemas and grammars. What they say is noise; that every stage is
//! asked, read, recorded and counted is not.

use crate::build_sagascale::loan;
use crate::novel_articles;
use crate::real_server::LlamaServer;
use crate::support::{Sandbox, funnel, shared_data};
use serde_json::{Value, json};

/// A schema that a response is held to, as an extra body for a prompt.
fn held_to(prompt: &str, schema: &Value) -> String {
    let format = json!({"type": "json_schema", "json_schema": {"name": "response", "schema": schema}});
    format!("{prompt}={}", json!({"response_format": format}))
}

fn object(fields: &[(&str, Value)]) -> Value {
    let properties: serde_json::Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn list(of: &Value, n: usize) -> Value {
    json!({"type": "array", "items": of, "minItems": n, "maxItems": n})
}

/// Builds queries with key-fact trees from books into `h`, each response held to its form, and runs two of them.
fn build_and_run_queries(sandbox: &Sandbox, server: &LlamaServer, books: &[&str], more: &[&str]) -> Value {
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    // Words of random weights, long enough to be no pronouns.
    let fact = json!({"type": "string", "pattern": "^[B-D][b-d]{5,8} [b-d]{5,8}$"});
    let branch = object(&[("fact", fact.clone()), ("leaves", list(&fact, 2))]);
    let root = object(&[("fact", fact.clone()), ("branches", list(&branch, 1))]);
    let label = object(&[("label", json!({"type": "integer", "enum": [1]})), ("reason", fact.clone())]);
    let bodies = [
        held_to("hamlet-tree-analytical", &object(&[("roots", list(&root, 1))])),
        held_to("hamlet-tree-narrative", &object(&[("roots", list(&root, 1))])),
        held_to("hamlet-verify-tree", &list(&label, 4)),
        held_to("hamlet-query-analytical", &object(&[("query", fact.clone())])),
        held_to("hamlet-query-narrative", &object(&[("query", fact)])),
    ];
    let model = ["--model", "openai-compatible/tiny", "--base-url", &url];
    let build = ["build", "hamlet", "--out", "h", "--max-output-tokens", "300", "--concurrency", "1", "--json"];
    let books: Vec<&str> = books.iter().flat_map(|book| ["--books", book]).collect();
    let extra: Vec<&str> = bodies.iter().flat_map(|body| ["--extra-body", body.as_str()]).collect();
    let built = sandbox.run(&[&build[..], &books, &model, &extra, more].concat()).exits(0).json();
    let funnel = built["funnel"].as_array().unwrap();
    let (trees, queries) = (&funnel[1], &funnel[6]);
    assert_eq!((&trees["kept"], &queries["kept"]), (&trees["units"], &trees["units"]), "{built}");

    let run =
        ["run", "--benchmark", "hamlet", "--data", "h", "--limit", "2", "--max-output-tokens", "60", "--out", "r"];
    let window = ["--context-window", "6000", "--on-overflow", "truncate-end"];
    // Left alone, random weights may say nothing at all.
    let summary = in_grammar("query-summary", r#"w " " w " " w"#);
    let rest = ["--extra-body", &summary, "--judge-model", "builtin/rule", "--json"];
    let report = sandbox.run(&[&run[..], &window, &model, &rest].concat()).exits(0).json();
    assert_eq!(report["cells"][0]["ledger"]["answered"], 2, "{report}");
    built
}

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llama-server"]
fn needs_llama_queries_with_key_facts_are_built_by_a_server_and_run_on_it() {
    let server = LlamaServer::start();
    let story = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample/shedu-bu.txt");
    let built = build_and_run_queries(&Sandbox::new(), &server, &[story], &[]);
    assert!(built["funnel"][1]["units"].as_u64().unwrap() >= 6, "{built}");
}

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llama-server, CLOSEREAD_DATA"]
fn needs_llama_needs_data_queries_with_key_facts_are_built_from_two_novels() {
    let novels = novels();
    let server = LlamaServer::start();
    let novels: Vec<&str> = novels.iter().map(String::as_str).collect();
    let built = build_and_run_queries(&Sandbox::new(), &server, &novels, &["--perspectives", "narrative"]);
    // 70,000 and more than 100,000 tokens, in chunks of at most 4,000.
    assert!(built["funnel"][1]["units"].as_u64().unwrap() >= 40, "{built}");
}

/// A grammar that a response is held to, as an extra body for a prompt; `w` is a word of random weights.
fn in_grammar(prompt: &str, root: &str) -> String {
    let grammar = format!("root ::= {root}\nw ::= [B-D] [b-d] [b-d] [b-d] [b-d] [b-d]");
    format!("{prompt}={}", json!({"grammar": grammar}))
}

/// Collects questions from books, articles in `articles` and a search in `web` into `s`, each response held to its
/// form, and runs two of them.
fn collect_and_run_questions(sandbox: &Sandbox, server: &LlamaServer, books: &[&str], keyword: &str) -> Value {
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    let keyword = format!(r#""\\boxed{{{keyword}}}""#);
    let bodies = [
        in_grammar("sagascale-segment", r#""\\boxed{YES}""#),
        in_grammar("sagascale-sub-queries", r#""<summary>" w " " w "</summary>""#),
        in_grammar("sagascale-pair", r#""\\boxed{" w " " w "?} \\boxed{" w "}""#),
        in_grammar("sagascale-check-pair", r#""\\boxed{PASS}""#),
        in_grammar("sagascale-keywords", &keyword),
        in_grammar("sagascale-closed-book", r#""<answer>\n" w "\n</answer>""#),
        in_grammar("judge-sagascale", r#""\\boxed{INCORRECT}""#),
        in_grammar("classify-question", r#""\\boxed{Location}" | "\\boxed{Character}""#),
    ];
    let books: Vec<&str> = books.iter().flat_map(|book| ["--books", book]).collect();
    let sources = ["build", "sagascale", "--articles", "articles", "--search", "web", "--out", "s"];
    let limits = ["--retriever", "bm25", "--most-pairs", "2", "--max-output-tokens", "120", "--concurrency", "1"];
    let model = ["--model", "openai-compatible/tiny", "--base-url", &url, "--knower", "openai-compatible/knower"];
    let extra: Vec<&str> = bodies.iter().flat_map(|body| ["--extra-body", body.as_str()]).collect();
    let built = sandbox.run(&[&sources[..], &books, &limits, &model, &extra, &["--json"]].concat()).exits(0).json();
    let items = built["items"].as_u64().unwrap();
    assert_eq!(funnel(&built)[8], format!("types {items} -> {items}"), "{built}");
    assert!(items >= 1, "{built}");
    let run = ["run", "--benchmark", "sagascale", "--data", "s", "--limit", "2", "--method", "naive-rag", "--out", "r"];
    let reader = ["--retriever", "bm25", "--max-output-tokens", "60", "--judge-model", "builtin/rule", "--json"];
    let report = sandbox.run(&[&run[..], &reader, &model[..4]].concat()).exits(0).json();
    assert_eq!(report["cells"][0]["ledger"]["failed"], 0, "{report}");
    built
}

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llama-server"]
fn needs_llama_questions_are_collected_by_a_server_and_run_on_it() {
    let server = LlamaServer::start();
    let sandbox = Sandbox::new();
    loan(&sandbox);
    let story = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample/the-loan-of-the-bell.txt");
    let built = collect_and_run_questions(&sandbox, &server, &[story], "bell");
    assert_eq!(funnel(&built)[..4], ["segments 3 -> 2", "segment-filter 2 -> 2", "sub-queries 2 -> 2", "pairs 2 -> 2"]);
}

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llama-server, CLOSEREAD_DATA"]
fn needs_llama_needs_data_questions_are_collected_from_two_novels() {
    let novels = novels();
    let server = LlamaServer::start();
    let sandbox = Sandbox::new();
    sandbox.write("articles/the-invisible-man.wiki", novel_articles::INVISIBLE_MAN);
    sandbox.write("articles/laocan-youji.html", novel_articles::LAOCAN);
    sandbox.write("web/one.txt", "The landlady of the inn let a room to a stranger in bandages.");
    sandbox.write("web/two.txt", "老残摇着串铃走江湖。");
    let novels: Vec<&str> = novels.iter().map(String::as_str).collect();
    let built = collect_and_run_questions(&sandbox, &server, &novels, "inn");
    // The introductions and the lists at the end are too short.
    assert_eq!(funnel(&built)[..3], ["segments 8 -> 4", "segment-filter 4 -> 4", "sub-queries 4 -> 4"], "{built}");
    let items = std::fs::read_to_string(sandbox.path("s/items.jsonl")).unwrap();
    assert!(["the-invisible-man", "laocan-youji"].iter().all(|book| items.contains(book)), "{items}");
}

/// Two novels of the shared data, English and Chinese.
fn novels() -> [String; 2] {
    let novels = shared_data().join("novels");
    ["en/the-invisible-man.txt", "zh/laocan-youji.txt"].map(|name| novels.join(name).display().to_string())
}

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llama-server"]
fn needs_llama_values_are_extracted_and_questions_answered_by_a_server() {
    let server = LlamaServer::start();
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    let sandbox = Sandbox::new();
    let mut table = "Home,Beds,document\n".to_owned();
    for (at, name) in ["Ana Homes", "Bo House", "Cleo Court", "Dov Inn"].into_iter().enumerate() {
        sandbox.write(&format!("docs/d{at}.md"), format!("# {name}\n\nBeds of {name}: {}.\n", 10 + at));
        table += &format!("{name},{},d{at}\n", 10 + at);
    }
    sandbox.write("homes.csv", table);
    sandbox.write(
        "total.toml",
        "[[template]]\nid = 'total'\ndifficulty = 'easy'\nanswer = 'number'\nen = 'What do all {entities} together reach in {a}?'\n",
    );
    let only = |value: Value| json!({"enum": [value]});
    let text = |pattern: &str| object(&[("value", json!({"type": "string", "pattern": pattern}))]);
    let fields = [json!({"title": "Beds", "type": "count", "unit": "", "meaning": "beds of the home"})];
    let bodies = [
        held_to("corpusqa-fields", &only(json!({"entity": {"one": "home", "many": "homes"}, "fields": fields}))),
        held_to("corpusqa-field-votes", &only(json!({"name": true, "beds": true}))),
        held_to("corpusqa-extract", &object(&[("name", text("^[B-D][b-d]{5,8}$")), ("beds", text("^[1-9][0-9]$"))])),
        held_to("corpusqa-paraphrase", &only(json!({"question": "How many Beds do all of them have?"}))),
        held_to("corpusqa-sql", &only(json!({"sql": "SELECT SUM(\"beds\") FROM corpus"}))),
    ];
    let rules =
        "--least-tokens 5 --least-density 0 --least-table-rows 0 --lengths all --questions 9 --templates total.toml";
    let rules: Vec<&str> = rules.split(' ').collect();
    let documents = ["build", "corpusqa", "--documents", "docs", "--max-output-tokens", "200", "--concurrency", "1"];
    let model = ["--model", "openai-compatible/tiny", "--base-url", &url];
    let extra: Vec<&str> = bodies.iter().flat_map(|body| ["--extra-body", body.as_str()]).collect();
    let build = [&documents[..], &rules, &model, &extra].concat();
    // Asked twice in the same words, the server gives the same value: what it gives is its own affair.
    let twins = ["--extractor", "openai-compatible/tiny,openai-compatible/twin", "--queries", "1"];
    sandbox.run(&[&build[..], &twins, &["--out", "x", "--until", "table"]].concat()).exits(0);
    let lines = |name: &str| std::fs::read_to_string(sandbox.path("x/stages").join(name)).unwrap();
    assert_eq!(lines("5-extraction.jsonl").matches(r#""state":"kept""#).count(), 8, "each response can be read");
    assert_eq!(lines("6-consensus.jsonl").lines().count(), 4);
    assert!(lines("7-table.jsonl").lines().count() >= 1);

    let table = ["--table", "homes.csv", "--entity", "home,homes", "--out", "c", "--json"];
    let report = sandbox.run(&[&build[..], &table].concat()).exits(0).json();
    assert_eq!(funnel(&report)[4..], ["queries 1 -> 1", "paraphrases 1 -> 1", "sql 1 -> 1"], "{report}");
    let item: Value = serde_json::from_slice(&std::fs::read(sandbox.path("c/items.jsonl")).unwrap()).unwrap();
    assert_eq!((&item["answers"][0], &item["question"]), (&json!("46"), &json!("How many Beds do all of them have?")));
    let run = ["run", "--benchmark", "corpusqa", "--data", "c", "--method", "full-document", "--out", "r", "--json"];
    let reader = ["--context-window", "6000", "--max-output-tokens", "60", "--judge-model", "builtin/rule"];
    let report = sandbox.run(&[&run[..], &reader, &model].concat()).exits(0).json();
    assert_eq!(
        (&report["cells"][0]["ledger"]["trials"], &report["cells"][0]["ledger"]["failed"]),
        (&json!(1), &json!(0))
    );
}
