//! `closeread build`: benchmarks made by a model on a server, stage by stage, which `closeread run` takes at once.

use crate::provider::{Server, answer};
use crate::support::{Sandbox, funnel, shared_data, tales};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample");

/// What a request says last.
fn said(request: &Value) -> &str {
    request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

/// A model that builds whatever it is asked for; the second leaf of its trees is not faithful.
fn builder() -> Server {
    Server::replying(|_, request| ("200 OK", answer(&built(said(request)))))
}

fn built(said: &str) -> String {
    let chinese = said.contains("in Chinese");
    if said.contains("as a tree of three levels") {
        let facts = match chinese {
            true => ["船工守着渡口。", "船工记账。", "账本上有名字。", "名字是红的。"],
            false => [
                "The bell matters to Scarrow.",
                "Port Emery calls the bell in.",
                "The bell is on loan.",
                "The bell is red.",
            ],
        };
        return json!({"roots": [{"fact": facts[0], "branches": [{"fact": facts[1], "leaves": [facts[2], facts[3]]}]}]})
            .to_string();
    }
    if said.contains("Check every fact for its ") {
        let unfaithful = u8::from(!said.contains("for its faithfulness"));
        return json!([
            {"id": "1", "label": 1, "reason": "so it says"}, {"id": "1.1", "label": 1},
            {"id": "1.1.1", "label": 1}, {"id": "1.1.2", "label": unfaithful, "reason": "nothing is red"},
        ])
        .to_string();
    }
    if said.contains("Write the one query") {
        let query = if chinese { "船工为什么记账？" } else { "Why does the bell matter to Scarrow?" };
        return json!({"query": query}).to_string();
    }
    if said.contains("by three scores from 1 to 5") {
        return json!({"validity": 3, "coherence": 4, "cross_content": 5, "reason": "so"}).to_string();
    }
    if let Some(reply) = questioned(said) {
        return reply.to_owned();
    }
    if said.contains("wrong option") {
        return json!({"options": ["on the moon", "in the mayor's hat", "under the ferry"]}).to_string();
    }
    assert!(said.contains("Decide whether two answers"), "{said}");
    "[[NO]]".to_owned()
}

/// The same for questions from articles: one pair a context, and then the end.
fn questioned(said: &str) -> Option<&'static str> {
    Some(match said {
        _ if said.contains("an objective summary of fictional elements") => match said.contains("Critics") {
            true => r"\boxed{NO}",
            false => r"\boxed{YES}",
        },
        _ if said.contains("Passages of the novel are to be searched for") => {
            "<summary>The bell of Scarrow is on loan.</summary>"
        }
        _ if said.contains("These pairs were written before") => r"\boxed{END}",
        _ if said.contains("Write a question about") => r"\boxed{Which town lent the bell?} \boxed{Port Emery}",
        _ if said.contains("Check an answer to a question") => match said.contains("Result 1") {
            true => r"\boxed{PASS}",
            false => r"\boxed{FAIL}",
        },
        _ if said.contains("Name the keywords") => r"\boxed{bell}",
        _ if said.contains("You are not given the text") => "<answer>\nScarrow\n</answer>",
        _ if said.contains("You grade answers") => r"\boxed{INCORRECT}",
        _ if said.contains("Sort a question") => r"\boxed{Location}",
        _ => return None,
    })
}

fn hamlet<'a>(url: &'a str, books: &'a [&'a str], more: &'a [&'a str]) -> Vec<&'a str> {
    let model = ["--model", "openai-compatible/builder", "--base-url", url, "--out", "h", "--chunk-tokens", "3000"];
    [&["build", "hamlet", "--books"][..], books, &model, more].concat()
}

fn lines(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn queries_with_key_facts_are_built_from_the_sample_works_and_run_at_once() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let report = sandbox.run(&hamlet(&server.url, &[SAMPLE], &["--json", "--check", "2"])).exits(0).json();
    let stages: Vec<&str> =
        report["funnel"].as_array().unwrap().iter().map(|row| row["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["chunks", "trees", "faithfulness", "objectivity", "significance", "pruning", "queries"]);
    let items = lines(&sandbox, "h/items.jsonl");
    assert_eq!(report["items"], items.len());
    for (language, perspective) in
        [("en", "analytical"), ("en", "narrative"), ("zh", "analytical"), ("zh", "narrative")]
    {
        let is = |item: &&Value| item["labels"] == json!({"language": language, "perspective": perspective});
        assert!(items.iter().filter(is).count() > 3, "{language} {perspective}");
    }
    let leaves = items[0]["key_facts"]["roots"][0]["children"][0]["children"].as_array().unwrap();
    assert_eq!(leaves.len(), 1, "the leaf that is not faithful is pruned");
    for name in
        ["stages/1-chunks.jsonl", "stages/6-pruning.jsonl", "check/check.html", "documents.jsonl", "report.json"]
    {
        assert!(sandbox.path("h").join(name).is_file(), "{name}");
    }
    assert!(!sandbox.path("h/journal").exists());

    let run = ["run", "--benchmark", "hamlet", "--data", "h", "--limit", "4", "--judge", "builtin/rule", "--out", "r"];
    let printed = sandbox.run(&run).exits(0).out();
    for words in ["query-summary", "recall", "faithfulness"] {
        assert!(printed.contains(words), "{words} is not in:\n{printed}");
    }
    let plain = ["run", "--benchmark", "h", "--limit", "1", "--method", "query-summary", "--out", "p"];
    sandbox.run(&plain).exits(0);

    let asked = server.requests.lock().unwrap().len();
    let again = sandbox.run(&hamlet(&server.url, &[SAMPLE], &["--json", "--check", "2"])).exits(0).json();
    assert_eq!((again, server.requests.lock().unwrap().len()), (report, asked), "a finished build asks nothing");
}

#[test]
fn a_killed_build_goes_on_where_it_stopped_and_gives_the_same_data() {
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let slow = Server::replying(|_, request| {
        std::thread::sleep(Duration::from_millis(20));
        ("200 OK", answer(&built(said(request))))
    });
    let whole = Sandbox::with_own_cache();
    let options = ["--no-cache", "--concurrency", "2"];
    whole.run(&hamlet(&slow.url, &[&story], &options)).exits(0);
    let n_whole = slow.requests.lock().unwrap().len();

    let sandbox = Sandbox::with_own_cache();
    let stories = [story.as_str()];
    let arguments = hamlet(&slow.url, &stories, &options);
    let before = slow.requests.lock().unwrap().len();
    for stage in ["stages/2-trees.jsonl.part", "stages/4-objectivity.jsonl.part"] {
        let mut child = sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let path = sandbox.path("h").join(stage);
        let begun = || std::fs::read_to_string(&path).is_ok_and(|text| text.lines().count() > 2);
        while !begun() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    sandbox.run(&arguments).exits(0);
    for name in ["items.jsonl", "documents.jsonl", "report.json", "check/questions.jsonl", "check/check.html"] {
        let read = |of: &Sandbox| std::fs::read_to_string(of.path("h").join(name)).unwrap();
        assert_eq!(read(&sandbox), read(&whole), "{name}");
    }
    let n_asked = slow.requests.lock().unwrap().len() - before;
    assert!(n_asked <= n_whole + 2 * 2, "{n_asked} calls for {n_whole}: at most those in flight are asked again");
}

#[test]
fn a_build_stops_is_edited_and_goes_on_from_any_stage() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let build = |more: &[&str]| sandbox.run(&hamlet(&server.url, &[&story], more));
    let stopped = build(&["--until", "trees"]).exits(0);
    assert!(stopped.err().contains("stopped after stage `trees`"), "{}", stopped.err());
    let trees = lines(&sandbox, "h/stages/2-trees.jsonl");
    assert!(trees.len() > 4 && !sandbox.path("h/items.jsonl").exists());
    let text = std::fs::read_to_string(sandbox.path("h/stages/2-trees.jsonl")).unwrap();
    let two: String = text.lines().take(2).flat_map(|line| [line, "\n"]).collect();
    sandbox.write("h/stages/2-trees.jsonl", two);
    build(&[]).exits(0);
    assert_eq!(lines(&sandbox, "h/items.jsonl").len(), 2, "the lines that were left go on");

    sandbox.write("h/stages/2-trees.jsonl", text);
    build(&[]).refuses(&["stage `faithfulness` was made from other lines", "--from faithfulness"]);
    build(&["--from", "faithfulness"]).exits(0);
    assert_eq!(lines(&sandbox, "h/items.jsonl").len(), trees.len());

    build(&["--max-output-tokens", "99"]).refuses(&["max_output_tokens: 4096 there, 99 now", "--from STAGE"]);
    build(&["--max-output-tokens", "999", "--from", "queries"]).exits(0);
    let manifest: Value = serde_json::from_slice(&std::fs::read(sandbox.path("h/build.json")).unwrap()).unwrap();
    assert_eq!(manifest["earlier"][0]["until"], "queries");
    build(&["--from", "leaves"]).refuses(&["no stage `leaves`", "chunks, trees"]);
    build(&["--until", "leaves"]).refuses(&["no stage `leaves`"]);
}

#[test]
fn a_call_that_fails_stops_the_build_behind_its_stage_and_is_made_again() {
    let refused = r#"{"error":{"message":"no such model"}}"#;
    let server = Server::replying(move |n, request| match n {
        1 => ("404 Not Found", refused.to_owned()),
        _ => ("200 OK", answer(&built(said(request)))),
    });
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/shedu-bu.txt");
    let (stories, options) = ([story.as_str()], ["--concurrency", "1"]);
    let arguments = hamlet(&server.url, &stories, &options);
    let ended = sandbox.run(&arguments).exits(1);
    assert!(ended.err().contains("stage `trees`: 1 of ") && ended.err().contains("no such model"), "{}", ended.err());
    let before = server.requests.lock().unwrap().len();
    sandbox.run(&[&arguments[..], &["--until", "trees"]].concat()).exits(0);
    assert_eq!(server.requests.lock().unwrap().len(), before + 1);
}

#[test]
fn what_a_build_takes_is_told_before_and_needs_no_key() {
    let sandbox = Sandbox::new();
    let dry = ["build", "hamlet", "--books", SAMPLE, "--model", "openai/gpt-4o", "--out", "h", "--dry-run"];
    let told = sandbox.run(&[&dry[..], &["--json"]].concat()).exits(0).json();
    let stages = told["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 5);
    let n = |at: usize| stages[at][0]["cost"]["calls"][0]["n"]["low"].as_u64().unwrap();
    assert_eq!((n(0), n(4)), (n(1), n(0)));
    let printed = sandbox.run(&dry).exits(0).out();
    assert!(printed.contains("significance") && printed.contains("$"), "{printed}");
    assert!(!sandbox.path("h").exists(), "nothing is made");
}

#[test]
fn people_tick_a_page_and_the_filters_are_measured_against_them() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    sandbox.run(&hamlet(&server.url, &[&story], &["--check", "4"])).exits(0);
    let page = std::fs::read_to_string(sandbox.path("h/check/check.html")).unwrap();
    let questions = lines(&sandbox, "h/check/questions.jsonl");
    assert_eq!(page.matches("<fieldset").count(), questions.len());
    let check = page.split("data-check=\"").nth(1).unwrap().split('"').next().unwrap();
    let answers: serde_json::Map<String, Value> =
        questions.iter().map(|question| (question["id"].as_str().unwrap().to_owned(), json!("yes"))).collect();
    let file = json!({"check": check, "who": "me", "answers": answers, "notes": {}}).to_string();
    sandbox.write("ticked.json", file);
    let checked = |file: &str| sandbox.run(&["build", "hamlet", "--out", "h", "--checked", file, "--json"]);
    let found = checked("ticked.json").exits(0).json();
    let rows: Vec<(String, Value)> = found["table"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row[0]["text"].as_str().unwrap().to_owned(), row[3]["value"].clone()))
        .collect();
    let of = |group: &str| rows.iter().find(|(name, _)| name == group).unwrap().1.as_f64().unwrap();
    assert_eq!((of("faithfulness, label 0"), of("faithfulness, label 1"), of("query naturalness")), (0.0, 1.0, 1.0));
    sandbox.write("other.json", json!({"check": "of another build", "answers": {}}).to_string());
    checked("other.json").refuses(&["of another build"]);
}

#[test]
fn chunk_sizes_are_studied() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let study = ["--study", "chunk-size", "--sizes", "1000,4000", "--per-size", "3", "--json"];
    let report = sandbox.run(&hamlet(&server.url, &[&story], &study)).exits(0).json();
    let rows = report["tables"][0]["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[1][1]["count"], &rows[1][5]["value"]), (2, &json!(3), &json!(4.0)));
    assert_eq!(server.requests.lock().unwrap().len(), 6);
}

#[test]
fn open_questions_get_wrong_options_and_are_run_as_choices() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let model = ["--model", "openai-compatible/builder", "--base-url", &server.url, "--out", "o"];
    let build = [&["build", "options", "--benchmark", "tales"][..], &model].concat();
    let report = sandbox.run(&[&build[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(report["funnel"][0]["kept"], 6);
    let items = lines(&sandbox, "o/items.jsonl");
    assert_eq!(items.len(), 18, "the others are there as well");
    let made: Vec<&Value> = items.iter().filter(|item| item["id"].as_str().unwrap().ends_with("-3")).collect();
    for item in &made {
        assert_eq!((&item["task"], item["options"].as_array().unwrap().len()), (&json!("choice"), 4));
        let correct = item["correct"].as_u64().unwrap() as usize;
        assert_eq!(item["options"][correct], item["answers"][0]);
    }
    let places: std::collections::BTreeSet<u64> = made.iter().map(|item| item["correct"].as_u64().unwrap()).collect();
    assert!(places.len() > 1, "the right one does not stand in the same place everywhere");
    let run = [
        "run",
        "--benchmark",
        "o",
        "--method",
        "dos-rag",
        "--retriever",
        "bm25",
        "--budget",
        "50",
        "--out",
        "r",
        "--json",
    ];
    let ran = sandbox.run(&run).exits(0).json();
    assert_eq!(ran["cells"][0]["ledger"]["items"], 18);
    sandbox.run(&build).exits(0);
    sandbox
        .run(&["build", "options", "--benchmark", "o", "--model", "openai/x", "--out", "p"])
        .refuses(&["no open question"]);
}

#[test]
fn questions_are_collected_from_a_book_and_an_article_and_run_at_once() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let plot =
        "Port Emery lends a bell to Scarrow. After ninety-nine years the loan ends and a clerk is sent to fetch it. ";
    let praise = "Critics praised the novella at length and compared it with others of its kind in many newspapers. ";
    let article =
        format!("== Plot ==\n{}\n== Reception ==\n{}\n== See also ==\n* [[Bells]]\n", plot.repeat(4), praise.repeat(4));
    sandbox.write("articles/the-loan-of-the-bell.wiki", article);
    sandbox.write("web/one.txt", "The bell of Scarrow was lent by Port Emery. Everybody there knows of the bell.");
    let model = ["--model", "openai-compatible/builder", "--base-url", &server.url, "--out", "s"];
    let books = ["build", "sagascale", "--books", &story, "--retriever", "bm25"];
    let build = [&books[..], &["--articles", "articles", "--knower", "openai-compatible/k"], &model].concat();
    sandbox.run(&build).refuses(&["--search is missing", "--no-realism"]);
    let report = sandbox.run(&[&build[..], &["--search", "web", "--json"]].concat()).exits(0).json();
    let kept = funnel(&report);
    assert_eq!(
        kept,
        [
            "segments 3 -> 2",
            "segment-filter 2 -> 1",
            "sub-queries 1 -> 1",
            "pairs 1 -> 1",
            "correctness 1 -> 1",
            "keywords 1 -> 1",
            "realism 1 -> 1",
            "contamination 1 -> 1",
            "types 1 -> 1"
        ]
    );
    let item = &lines(&sandbox, "s/items.jsonl")[0];
    assert_eq!((&item["answers"][0], &item["labels"]["question_type"]), (&json!("Port Emery"), &json!("Location")));
    let run = [
        "run",
        "--benchmark",
        "sagascale",
        "--data",
        "s",
        "--method",
        "naive-rag",
        "--retriever",
        "bm25",
        "--out",
        "r",
    ];
    sandbox.run(&run).exits(0);
    let dry = [&build[..], &["--dry-run", "--json"]].concat();
    assert_eq!(sandbox.run(&dry).exits(0).json()["stages"].as_array().unwrap().len(), 7);
    sandbox
        .run(&[&books[..], &model, &["--search", "web"]].concat())
        .refuses(&["no article about `the-loan-of-the-bell`"]);
}

#[test]
fn a_page_is_fetched_from_a_wiki_once_and_a_wiki_is_searched() {
    let model = builder();
    let plot =
        "== Plot ==\nA ''clerk'' is sent to [[Scarrow]] to fetch a bell. ".to_owned() + &"She waits. ".repeat(40);
    let wiki = Wiki::start(json!({
        "parse": {"title": "The Loan", "wikitext": plot},
        "query": {"searchinfo": {"totalhits": 7}, "search": [{"title": "Bell", "snippet": "the <span>bell</span>"}]},
    }));
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let api = format!("{}/api.php", wiki.url);
    let page = ["build", "sagascale", "--books", &story, "--page", "the-loan-of-the-bell=The Loan", "--wiki", &api];
    let model = ["--model", "openai-compatible/builder", "--base-url", &model.url, "--out", "s", "--json"];
    let arguments = [&page[..], &["--search", &api, "--retriever", "bm25"], &model].concat();
    let report = sandbox.run(&arguments).exits(0).json();
    assert_eq!(report["items"], 1, "{report}");
    assert_eq!(lines(&sandbox, "s/items.jsonl")[0]["popularity"], 7);
    let asked = wiki.asked.lock().unwrap().clone();
    assert!(asked[0].contains("action=parse") && asked[0].contains("page=The%20Loan"), "{asked:?}");
    assert!(asked.iter().any(|line| line.contains("list=search") && line.contains("srsearch=bell")), "{asked:?}");
    sandbox.run(&arguments).exits(0);
    assert_eq!(wiki.asked.lock().unwrap().len(), asked.len(), "neither the page nor a search is asked for again");
}

/// Answers every GET request with the same JSON.
struct Wiki {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Wiki {
    fn start(reply: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let reply = reply.to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut first = String::new();
                let _ = stream.read_line(&mut first);
                let mut line = String::new();
                while stream.read_line(&mut line).is_ok_and(|n| n > 2) {
                    line.clear();
                }
                log.lock().unwrap().push(first);
                let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", reply.len());
                let _ = stream.get_mut().write_all((head + &reply).as_bytes());
            }
        });
        Self { url, asked }
    }
}

#[test]
fn what_cannot_be_built_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run(&["build", "hamlet", "--out", "h", "--model", "openai/x"]).refuses(&["--books is missing"]);
    let with = ["build", "hamlet", "--books", SAMPLE, "--out", "h"];
    sandbox.run(&with).refuses(&["--model is missing"]);
    sandbox.run(&[&with[..], &["--model", "builtin/extractive"]].concat()).refuses(&["does not write"]);
    sandbox.run(&["build", "hamlet", "--books", "nowhere", "--out", "h"]).refuses(&["nowhere", "no such file"]);
    sandbox
        .run(&["build", "hamlet", "--out", "h", "--checked", "x.json"])
        .refuses(&["expected the folder of a finished build"]);
}

#[test]
fn whole_novels_are_cut_and_priced() {
    let Some(data) = shared_data("whole_novels_are_cut_and_priced") else { return };
    let sandbox = Sandbox::new();
    let novels = data.join("novels");
    let dry = ["build", "hamlet", "--books", novels.to_str().unwrap(), "--model", "openai/gpt-4o", "--out", "h"];
    let told = sandbox.run(&[&dry[..], &["--dry-run", "--json"]].concat()).exits(0).json();
    assert!(told["stages"][0][0]["cost"]["calls"][0]["n"]["low"].as_u64().unwrap() > 100, "{told}");
}
