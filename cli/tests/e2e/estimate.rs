//! `closeread estimate` and `closeread methods`: what a run will take, told before it asks anyone.

use crate::support::Sandbox;
use serde_json::{Value, json};

/// A model with a small window whose prices are easy to reckon with: a dollar a token of prompts.
const PRICES: &str = r#"
["openai-compatible/tiny"]
source = "this test"
date = "2026-01-02"
window = 700
price = { input = 1_000_000.0, cached_input = 100_000.0, output = 0.0 }
"#;

/// Two books, of which only one fits a window of 700 tokens; the evidence of the long one stands at its start, in its
/// middle and at its end.
fn two_books(sandbox: &Sandbox) {
    let filler = "Rain fell on the harbour and nobody came. ".repeat(60);
    let long = format!("Ana hid the key. {filler}Ben sold the boat. {filler}Cleo sang at last.");
    let document =
        |id: &str, text: &str| format!("{}\n", json!({"id": id, "title": id, "language": "en", "text": text}));
    sandbox.write("bench/documents.jsonl", document("long", &long) + &document("short", "Dov lost a map. He cried."));
    let item = |id: &str, book: &str, quote: Option<&str>| {
        let evidence: Vec<Value> = quote.iter().map(|quote| json!({"quote": quote})).collect();
        let item = json!({"id": id, "documents": [book], "question": "What happened?", "task": "generative",
            "answers": ["that"], "evidence": evidence});
        format!("{item}\n")
    };
    let items = [
        item("start", "long", Some("Ana hid the key.")),
        item("middle", "long", Some("Ben sold the boat.")),
        item("end", "long", Some("Cleo sang at last.")),
        item("none", "long", None),
        item("other", "short", Some("Dov lost a map.")),
    ];
    sandbox.write("bench/items.jsonl", items.concat());
    sandbox.write("prices.toml", PRICES);
}

#[test]
fn an_estimate_needs_no_key_and_tells_what_the_run_then_asks() {
    let sandbox = Sandbox::new();
    let options = ["--method", "closed-book,full-document,dos-rag", "--retriever", "bm25", "--budget", "500,1500"];
    let with = |command: &'static str, more: &[&'static str]| [&[command][..], &options, more].concat();
    let told = sandbox.run(&with("estimate", &["--model", "openai/gpt-4o", "--json"])).exits(0).json();
    let cells = told["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        for tariff in ["list", "cached", "batch"] {
            let (low, high) = (&cell["dollars"][tariff][0], &cell["dollars"][tariff][1]);
            assert!(0.0 < low.as_f64().unwrap() && low.as_f64() <= high.as_f64(), "{cell}");
        }
    }
    let dollars = |cell: &Value, tariff: &str| cell["dollars"][tariff][0].as_f64().unwrap();
    assert!(dollars(&cells[1], "cached") < 0.7 * dollars(&cells[1], "list"), "the book is read from the cache");
    assert!(!sandbox.path("runs").exists(), "nothing is made");

    let asked = sandbox.run(&with("run", &["--out", "r", "--json"])).exits(0).json();
    for (told, asked) in cells.iter().zip(asked["cells"].as_array().unwrap()) {
        let n = asked["n"].as_f64().unwrap();
        let tokens = asked["prompt_tokens_mean"].as_f64().unwrap() * n;
        let (low, high) = (&told["prompt_tokens"]["low"], &told["prompt_tokens"]["high"]);
        let seams = 4.0 * n;
        assert!(low.as_f64().unwrap() - seams <= tokens && tokens <= high.as_f64().unwrap() + seams, "{told} {tokens}");
        assert_eq!(told["calls"], json!({"low": n as u64, "high": n as u64}));
    }

    let dry = sandbox.run(&with("run", &["--dry-run", "--model", "openai/gpt-4o"])).exits(0).out();
    assert_eq!(dry, sandbox.run(&with("estimate", &["--model", "openai/gpt-4o"])).exits(0).out());
    assert!(dry.contains("counts by o200k_base") && dry.contains("10 s a call"), "{dry}");
}

#[test]
fn what_is_made_of_a_book_is_counted_once_for_all_budgets() {
    let sandbox = Sandbox::new();
    two_books(&sandbox);
    let options = ["--benchmark", "bench", "--method", "raptor", "--retriever", "bm25", "--model", "openai/gpt-4o"];
    let told = sandbox.run(&[&["estimate", "--budget", "500,1000", "--json"], &options[..]].concat()).exits(0).json();
    let calls: Vec<(u64, u64)> = told["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| (cell["calls"]["low"].as_u64().unwrap(), cell["calls"]["high"].as_u64().unwrap()))
        .collect();
    assert!(calls[0].1 > 5, "the tree of the long book has summaries: {calls:?}");
    assert_eq!(calls[1], (5, 5), "the tree is there already: {calls:?}");

    let five = sandbox.run(&[&["estimate", "--budget", "500", "--repeats", "5", "--json"], &options[..]].concat());
    let five = five.exits(0).json()["cells"][0]["calls"]["high"].as_u64().unwrap();
    assert_eq!(five - calls[0].1, 4 * 5, "each repeat asks the five questions again, and no summary");
}

#[test]
fn what_overflows_and_what_truncation_would_leave_is_told() {
    let sandbox = Sandbox::new();
    two_books(&sandbox);
    let base = ["estimate", "--benchmark", "bench", "--model", "openai-compatible/tiny", "--model-info", "prices.toml"];
    let options = ["--method", "full-document", "--max-output-tokens", "64"];
    let base = [&base[..], &options].concat();
    let told = sandbox.run(&[&base[..], &["--json"]].concat()).exits(0).json();
    let overflow = &told["models"][0]["overflow"];
    assert_eq!((&overflow["books"], &overflow["items"]), (&json!(["long"]), &json!(4)), "{overflow}");
    assert_eq!(overflow["truncate_end"], json!({"whole": 1, "partly": 1, "lost": 1, "unknown": 1}));
    assert_eq!(overflow["truncate_middle"], json!({"whole": 2, "partly": 0, "lost": 1, "unknown": 1}));
    assert_eq!(told["cells"][0]["overflows"], 4, "the known window is the default");
    assert_eq!(told["models"][0]["dollars"]["batch"], Value::Null, "no batch price is known");

    let text = sandbox.run(&base).exits(0).out();
    for words in [
        "4 trials end as an overflow",
        "1 book with 4 items do not fit",
        "truncate-end: 1 keep all of it, 1 some, 1 none",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let fails = sandbox.run(&[&base[..], &["--context-window", "700", "--json"]].concat()).exits(0).json();
    assert_eq!((&fails["cells"][0]["overflows"], &fails["cells"][0]["calls"]["high"]), (&json!(4), &json!(1)));
    let truncated = [&base[..], &["--context-window", "700", "--on-overflow", "truncate-end", "--json"]].concat();
    let truncated = sandbox.run(&truncated).exits(0).json();
    assert_eq!((&truncated["cells"][0]["calls"]["high"], &truncated["cells"][0]["never_fit"]), (&json!(5), &json!(0)));
}

#[test]
fn limits_make_it_long_and_what_is_not_known_is_said() {
    let sandbox = Sandbox::new();
    two_books(&sandbox);
    let base = ["estimate", "--benchmark", "bench", "--method", "closed-book", "--model", "openai/gpt-9", "--json"];
    let seconds = |more: &[&'static str]| {
        sandbox.run(&[&base[..], more].concat()).exits(0).json()["models"][0]["seconds"][0].as_f64().unwrap()
    };
    assert_eq!(
        seconds(&["--concurrency", "2", "--assume-seconds", "7"]),
        21.0,
        "two rounds on one book, one on the other"
    );
    assert_eq!(seconds(&["--rpm", "1"]), 300.0);
    let told = sandbox.run(&base).exits(0).json();
    assert_eq!(told["cells"][0]["dollars"], json!({"list": null, "cached": null, "batch": null}));
    assert_eq!(told["models"][0]["tokenizer"], json!({"counts": "unknown"}));
    let text = sandbox.run(&base[..base.len() - 1]).exits(0).out();
    assert!(text.contains("its price is not known") && text.contains("its window is not known"), "{text}");

    sandbox.write("bad.toml", "['p/x']\nsource = 's'\ndate = 'then'\n");
    sandbox.run(&["estimate", "--model-info", "bad.toml"]).refuses(&["bad.toml", "`p/x`", "expected YYYY-MM-DD"]);
    sandbox.run(&["estimate", "--model", "gpt-4"]).refuses(&["unknown model `gpt-4`", "openai/MODEL"]);
}

#[test]
fn texts_in_extra_fields_count_with_the_most_that_prompts_may_have() {
    let sandbox = Sandbox::new();
    two_books(&sandbox);
    let args = ["estimate", "--benchmark", "bench", "--method", "closed-book", "--model-info", "prices.toml", "--json"];
    let model = ["--model", "openai-compatible/tiny", "--judge-model", "openai-compatible/tiny"];
    let tokens = |options: &[&str]| {
        let told = sandbox.run(&[&args[..], &model, options].concat()).exits(0).json();
        let of = |cell: &Value| ["low", "high"].map(|end| cell["prompt_tokens"][end].as_u64().unwrap());
        let dollars = told["cells"][0]["dollars"]["list"].clone();
        let [low, high] = of(&told["cells"][0]);
        assert_eq!(dollars, json!([low as f64, high as f64]), "a dollar a token");
        ([low, high], of(&told["judges"][0]))
    };
    let tools = r#"{"top_p": 0.9, "tools": [{"type": "function", "function": {"name": "look_up"}}]}"#;
    let (plain, judged) = tokens(&[]);
    let (with, still) = tokens(&["--extra-body", tools]);
    assert_eq!((plain[0], judged), (with[0], still), "not every server counts them");
    let beside = (with[1] - plain[1]) / 5;
    assert!(beside > 10 && with[1] == plain[1] + 5 * beside, "{plain:?} {with:?}");
    assert_eq!(tokens(&["--extra-body", &format!("closed-book={tools}")]), (with, judged));
    assert_eq!(tokens(&["--extra-body", &format!("dos-rag={tools}")]), (plain, judged));
    let (readers, judges) = tokens(&["--judge-extra-body", tools]);
    assert_eq!((readers, judges[0]), (plain, judged[0]));
    assert!(judges[1] > judged[1] && (judges[1] - judged[1]).is_multiple_of(beside), "{judged:?} {judges:?}");
}

#[test]
fn every_method_is_listed_with_what_it_asks_of_a_book() {
    let sandbox = Sandbox::new();
    sandbox.write("story.txt", "Ana hid the key under the third stair. Nobody saw her do it. ".repeat(50));
    let listed = sandbox.run(&["methods", "story.txt", "--json"]).exits(0).json();
    let of = |name: &str| listed.as_array().unwrap().iter().find(|method| method["name"] == name).unwrap().clone();
    assert_eq!(of("dos-rag")["parameters"]["max_tokens"], 100);
    assert_eq!(of("dos-rag")["costs"].as_array().unwrap().len(), 4);
    let prompt = |name: &str| of(name)["costs"][0]["question"]["prompt_tokens"]["low"].as_u64().unwrap();
    assert!(prompt("full-document") > prompt("closed-book") + 600);
    let text = sandbox.run(&["methods"]).exits(0).out();
    for words in ["dos-rag: ", "Stronger Baselines 2.3", "max_tokens=100", "a question at 1,500: 1 call"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn the_difference_that_items_tell_is_of_those_that_have_an_accuracy() {
    let sandbox = Sandbox::new();
    let told = |benchmark: &str| {
        let estimate = ["estimate", "--benchmark", benchmark, "--method", "closed-book", "--detect", "10"];
        sandbox.run(&estimate).exits(0).out()
    };
    assert!(told("sample").contains("points that 85 items tell"), "the choices: {}", told("sample"));
    two_books(&sandbox);
    let items = std::fs::read_to_string(sandbox.path("bench/items.jsonl")).unwrap();
    let without_gold = r#"{"id": "open", "documents": ["short"], "question": "Who?", "task": "generative"}"#;
    sandbox.write("bench/items.jsonl", format!("{items}{without_gold}\n"));
    assert!(told("bench").contains("points that 5 items tell"), "{}", told("bench"));
}
