//! `closeread build sagascale`: questions from books, articles about them and a search.

use crate::build::ticked;
use crate::build_model::{SAMPLE, builder, lines};
use crate::corpus_truth::json_file;
use crate::support::{Sandbox, funnel};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// An article about the loan of the bell in `articles`, and what a search finds in `web`.
pub(crate) fn loan(sandbox: &Sandbox) {
    let plot =
        "Port Emery lends a bell to Scarrow. After ninety-nine years the loan ends and a clerk is sent to fetch it. ";
    let praise = "Critics praised the novella at length and compared it with others of its kind in many newspapers. ";
    let article =
        format!("== Plot ==\n{}\n== Reception ==\n{}\n== See also ==\n* [[Bells]]\n", plot.repeat(4), praise.repeat(4));
    sandbox.write("articles/the-loan-of-the-bell.wiki", article);
    sandbox.write("web/one.txt", "The bell of Scarrow was lent by Port Emery. Everybody there knows of the bell.");
}

#[test]
fn an_article_belongs_to_one_book_alone() {
    let sandbox = Sandbox::new();
    for folder in ["en", "fr"] {
        sandbox.write(&format!("books/{folder}/story.txt"), format!("In {folder} Ana came to the mill at dusk."));
    }
    let plot = format!("== Plot ==\n{}", "Ana comes to the mill at dusk and hides the copper key there. ".repeat(9));
    sandbox.write("articles/story.wiki", &plot);
    let model = ["--model", "openai-compatible/tiny", "--base-url", "http://127.0.0.1:1/v1", "--dry-run"];
    let build = ["build", "sagascale", "--out", "s", "--no-realism", "--books", "books", "--articles", "articles"];
    let build = [&build[..], &["--retriever", "bm25"], &model].concat();
    sandbox.run(&build).refuses(&["is named like the books `en/story` and `fr/story`", "--article"]);
    sandbox.write("articles/fr/story.wiki", &plot);
    sandbox.run(&build).exits(0);
    let two = ["--article", "fr/story=articles/story.wiki", "--article", "fr/story=articles/fr/story.wiki"];
    sandbox.run(&[&build[..], &two].concat()).refuses(&["two articles about `fr/story`, articles/story.wiki and"]);
}

#[test]
fn questions_are_collected_from_a_book_and_an_article_and_run_at_once() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    loan(&sandbox);
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
    for who in ["ann", "bo"] {
        ticked(&sandbox, "s", who, &|_| true);
    }
    let checked = ["build", "sagascale", "--out", "s", "--checked", "ann.json", "bo.json", "--json"];
    let tables = sandbox.run(&checked).exits(0).json()["tables"].clone();
    let criteria = tables.as_array().unwrap().iter().find(|table| table["id"] == "criteria").unwrap();
    assert_eq!(criteria["rows"][3][2]["count"], 1, "section 3.2: by all criteria, {criteria}");
    // Named twice, it is asked once.
    let dry = [&build[..], &["--knower", "openai-compatible/k", "--dry-run", "--json"]].concat();
    let told = sandbox.run(&dry).exits(0).json();
    let named = |stage: &Value| (stage[0]["stage"].clone(), stage[1].clone());
    let stages: Vec<(Value, Value)> = told["stages"].as_array().unwrap().iter().map(named).collect();
    assert_eq!(stages.len(), 8);
    assert_eq!(stages[5], (json!("contamination"), json!("openai-compatible/k")));
    assert_eq!(stages[6], (json!("contamination: judge"), json!("openai-compatible/builder")));
    let notes = told["table"]["notes"].to_string();
    assert!(notes.contains("5 are reckoned with") && notes.contains("--most-pairs at most"), "{notes}");
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
        "query": {"searchinfo": {"totalhits": 7}, "search": [{"title": "Bell", "snippet": "the <span>bell</span> &amp; more"}]},
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

#[test]
fn an_engine_counts_all_keywords_at_once_while_the_checker_searches_by_itself() {
    let (model, engine) = (builder(), Wiki::start(json!({"searchInformation": {"totalResults": "1,230,000"}})));
    let sandbox = Sandbox::with_own_cache();
    loan(&sandbox);
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let address = format!("{}/search?q=\"{{query}}\"", engine.url);
    let books =
        ["build", "sagascale", "--books", &story, "--retriever", "bm25", "--articles", "articles", "--out", "s"];
    let model = ["--model", "openai-compatible/builder", "--base-url", &model.url];
    let search = ["--search", &address, "--checker-searches", "--keyword-join", "\" \""];
    let build = [&books[..], &model, &search].concat();
    let said = sandbox.run(&build).err().to_owned();
    assert!(
        said.contains("the response has nothing at /number_of_results") && said.contains("--search-hits"),
        "{said}"
    );
    let hits = ["--search-hits", "/searchInformation/totalResults", "--fresh"];
    let said = sandbox.run(&[&build[..], &hits].concat()).exits(0).err().to_owned();
    assert!(said.contains("tokens; the paper's novels have typically more than 100000"), "{said}");
    assert_eq!(lines(&sandbox, "s/items.jsonl")[0]["popularity"], 1_230_000);
    assert_eq!(json_file(&sandbox.path("s/build.json"))["configuration"]["tokenizer"], "cl100k_base");
    let asked = engine.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 2, "once in each build, and never by the checker: {asked:?}");
    assert!(asked[0].contains("q=%22bell%22"), "{asked:?}");
    sandbox.run(&[&books[..], &model, &["--checker-searches"]].concat()).exits(2);
}

#[test]
fn an_engine_that_is_busy_is_asked_again() {
    let (model, engine) = (builder(), Wiki::busy_at_first(2, json!({"number_of_results": 7})));
    let sandbox = Sandbox::with_own_cache();
    loan(&sandbox);
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let address = format!("{}/search?q={{query}}", engine.url);
    let books =
        ["build", "sagascale", "--books", &story, "--retriever", "bm25", "--articles", "articles", "--out", "s"];
    let model = ["--model", "openai-compatible/builder", "--base-url", &model.url, "--checker-searches"];
    sandbox.run(&[&books[..], &model, &["--search", &address]].concat()).exits(0);
    assert_eq!(lines(&sandbox, "s/items.jsonl")[0]["popularity"], 7);
    assert_eq!(engine.asked.lock().unwrap().len(), 3);
}

#[test]
fn a_page_that_is_not_there_is_named_with_what_the_wiki_says() {
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let build = |api: &str| {
        let page = ["build", "sagascale", "--books", &story, "--page", "the-loan-of-the-bell=No Loan", "--wiki", api];
        let model = ["--model", "openai-compatible/builder", "--base-url", "http://127.0.0.1:9", "--no-realism"];
        sandbox.run(&[&page[..], &["--retriever", "bm25", "--out", "s"], &model].concat())
    };
    let missing = json!({"error": {"code": "missingtitle", "info": "The page you specified doesn't exist."}});
    let wiki = Wiki::start(missing);
    let api = format!("{}/api.php", wiki.url.replace("//", "//ana:secret@"));
    let said = build(&api).exits(2).err().to_owned();
    assert!(["`No Loan`", "doesn't exist", "--article"].iter().all(|part| said.contains(part)), "{said}");
    assert!(!said.contains("secret"), "{said}");
    build(&format!("{}/api.php", Wiki::start(json!({"parse": {"wikitext": " "}})).url)).refuses(&["no wikitext"]);
    build("http://127.0.0.1:9/api.php").refuses(&["cannot fetch the page `No Loan` from http://127.0.0.1:9/api.php"]);
}

#[test]
fn an_article_that_takes_too_long_to_read_is_named_before_any_call() {
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    sandbox.write("bell.wiki", "{{ ".repeat(30) + &"A [[bell]]. ".repeat(5_000));
    let article = ["build", "sagascale", "--books", &story, "--article", "the-loan-of-the-bell=bell.wiki"];
    let model = ["--model", "openai-compatible/builder", "--base-url", "http://127.0.0.1:9", "--out", "s"];
    let told = ["the article bell.wiki", "longer than 2 seconds", "never closed", "as HTML by --article"];
    sandbox.run(&[&article[..], &model].concat()).refuses(&told);
}

/// Answers every GET request with the same JSON.
struct Wiki {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Wiki {
    fn start(response: Value) -> Self {
        Self::busy_at_first(0, response)
    }

    /// Answers so many requests that it is busy, then all that come.
    fn busy_at_first(times: usize, response: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let response = response.to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut first = String::new();
                let _ = stream.read_line(&mut first);
                let mut line = String::new();
                while stream.read_line(&mut line).is_ok_and(|n| n > 2) {
                    line.clear();
                }
                let mut log = log.lock().unwrap();
                log.push(first);
                let status = if log.len() > times { "200 OK" } else { "429 Too Many Requests\r\nretry-after: 0" };
                let head =
                    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", response.len());
                let _ = stream.get_mut().write_all((head + &response).as_bytes());
            }
        });
        Self { url, asked }
    }
}
