//! Costs of embedding models and rerankers whose servers name no tokens, lose responses or are none.

use crate::build_model::{SAMPLE, builder};
use crate::build_sagascale::loan;
use crate::embeddings::{lines, openai, run, texts};
use crate::http::{Answered, Asked, HttpServer, ok};
use crate::rerank;
use crate::support::{Ended, Sandbox, tales};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

/// An embedder whose first two tries of a passage take this, and which names so many tokens.
fn embeds_at_a_price(lose: fn() -> Answered, usage: Value) -> (Sandbox, HttpServer, Ended) {
    let mut n = 0;
    let server = HttpServer::start(move |asked| {
        n += 1;
        if matches!(n, 2 | 3) {
            return lose();
        }
        let mut response = openai(asked);
        response["usage"] = usage.clone();
        ok(&response)
    });
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let prices = "['openai-compatible/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 100, output = 0 }\n";
    sandbox.write("prices.toml", prices);
    let limits = ["--model-info", "prices.toml", "--max-cost", "9"];
    let ended = sandbox.run(&run("openai-compatible/tiny", &format!("{}/v1", server.url), &limits));
    (sandbox, server, ended)
}

#[test]
fn finding_07_an_embedder_that_names_no_tokens_costs_what_is_counted_here() {
    let absurd = json!({"prompt_tokens": u64::MAX, "total_tokens": u64::MAX});
    for usage in [Value::Null, json!({"prompt_tokens": 0, "total_tokens": 0}), absurd] {
        let busy = || ("429 Too Many Requests", vec![("retry-after", "0".to_owned())], String::new());
        let (sandbox, server, ended) = embeds_at_a_price(busy, usage);
        let n_asked = server.asked("POST", "").len() - 2;
        let ended = ended.exits(0);
        assert!(ended.err().contains("requests were counted here: the provider named none"), "{}", ended.err());
        let took = ended.json()["embeddings"][0].clone();
        assert_eq!((&took["own_count"], &took["uncounted"]), (&json!(n_asked), &json!(0)), "{took}");
        let tokens = took["tokens"].as_f64().unwrap();
        assert!(tokens > 100.0 && (took["dollars"].as_f64().unwrap() - tokens / 1e4).abs() < 1e-9, "{took}");
        let spent = sandbox.run(&["status", "r", "--json"]).json()[0]["dollars"].as_f64().unwrap();
        assert!((spent - tokens / 1e4).abs() < 1e-9, "{spent} and {took}");
        let report = sandbox.run(&["report", "r"]).exits(0);
        assert!(report.out().contains("besides, openai-compatible/tiny embedded or ranked"), "{}", report.out());
        let told = sandbox.run(&["report", "r", "--json"]).json()["runs"][0]["served"][0]["dollars"].as_f64().unwrap();
        assert!((told - spent).abs() < 1e-9, "{told} and {spent}");
        let gate = |most: f64| sandbox.run(&["gate", "r", "--max-cost", &most.to_string()]);
        gate(spent * 0.99).exits(10);
        gate(spent * 1.01).exits(0);
    }
}

#[test]
fn finding_07_a_response_of_an_embedder_that_is_lost_or_refused_is_charged() {
    let late = || ("504 Gateway Timeout", vec![("retry-after", "0".to_owned())], String::new());
    let (sandbox, _, ended) = embeds_at_a_price(late, json!({"prompt_tokens": 99, "total_tokens": 99}));
    ended.exits(0);
    let lost: Vec<Value> = lines(&sandbox, "r/embeddings.jsonl").into_iter().filter(|l| l["texts"] == 0).collect();
    assert!(lost.len() == 2 && lost.iter().all(|line| line["own_count"] == true && line["tokens"] != 99), "{lost:?}");
    let one = || ok(&json!({"data": [], "usage": {"prompt_tokens": 77}}));
    let (sandbox, server, ended) = embeds_at_a_price(one, Value::Null);
    assert!(ended.exits(2).err().contains("0 vectors came for"));
    let lost: Vec<Value> = lines(&sandbox, "r/embeddings.jsonl").into_iter().filter(|l| l["texts"] == 0).collect();
    assert!(lost.iter().all(|line| line["tokens"] == 77 && line["own_count"].is_null()), "{lost:?}");
    assert_eq!((lost.len(), server.asked("POST", "").len()), (1, 2), "what is billed and refused is not asked again");
}

#[test]
fn finding_11_an_embedder_that_is_none_is_said_at_once_with_its_own_option() {
    let page = || ("200 OK", Vec::new(), "<html><title>Our wiki</title></html>".to_owned());
    let moved = || ("308 Permanent Redirect", vec![("location", "http://there/v1".to_owned())], String::new());
    let other = || ok(&json!({"detail": "Not Found"}));
    let answers: [fn() -> Answered; 3] = [page, moved, other];
    let told = ["a web page, so its address is not", "by --embedder-base-url", "holds no `data`"];
    for (answer, words) in answers.into_iter().zip(told) {
        let (_, server, ended) = embeds_at_a_price(answer, Value::Null);
        let said = ended.exits(2).err();
        assert!(said.contains(words), "{words}: {said}");
        assert_eq!(server.asked("POST", "").len(), 2, "{words}");
    }
}

#[test]
fn finding_07_a_reranker_that_names_no_tokens_or_loses_a_response_costs_what_is_counted_here() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let mut n = 0;
    let server = HttpServer::start(move |asked| {
        n += 1;
        if n == 2 {
            return ("504 Gateway Timeout", vec![("retry-after", "0".to_owned())], String::new());
        }
        let mut body = rerank::scored(asked, rerank::oracle);
        body["usage"] = Value::Null;
        ok(&body)
    });
    let prices = "['openai-compatible/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 100, output = 0 }\n";
    sandbox.write("prices.toml", prices);
    let limits = ["--model-info", "prices.toml", "--max-cost", "9", "--concurrency", "1"];
    let ended = sandbox.run(&rerank::run("openai-compatible/tiny", &server.url, &limits)).exits(0);
    assert!(ended.err().contains("requests were counted here: the provider named none"), "{}", ended.err());
    let took = ended.json()["reranking"][0].clone();
    let n_asked = server.asked("POST", "/rerank").len();
    assert_eq!((&took["requests"], &took["own_count"]), (&json!(n_asked), &json!(n_asked)));
    let tokens = took["tokens"].as_f64().unwrap();
    assert!(tokens > 100.0 && (took["dollars"].as_f64().unwrap() - tokens / 1e4).abs() < 1e-9, "{took}");
    let log = std::fs::read_to_string(sandbox.path("r/reranking.jsonl")).unwrap();
    assert_eq!(log.matches("\"texts\":0").count(), 1, "{log}");
}

#[test]
fn a_reranker_is_paid_by_what_its_price_says_whatever_its_server_names() {
    let named = json!({"billed_units": {"search_units": 1}});
    for (price, meta) in [("searches = 2.0", Value::Null), ("price = { input = 100, output = 0 }", named)] {
        let sandbox = Sandbox::with_own_cache();
        tales(&sandbox);
        let server = HttpServer::start(move |asked| {
            let mut body = rerank::scored(asked, rerank::oracle);
            body["usage"] = Value::Null;
            body["meta"] = meta.clone();
            ok(&body)
        });
        let entry = format!("['openai-compatible/tiny']\nsource = 's'\ndate = '2026-01-02'\n{price}\n");
        sandbox.write("prices.toml", entry);
        let limits = ["--model-info", "prices.toml", "--max-cost", "9"];
        let ended = sandbox.run(&rerank::run("openai-compatible/tiny", &server.url, &limits)).exits(0);
        let took = ended.json()["reranking"][0].clone();
        let n_asked = server.asked("POST", "/rerank").len();
        assert_eq!((&took["requests"], &took["searches"]), (&json!(n_asked), &json!(n_asked)), "{price}: {took}");
        let paid = if price.starts_with('s') { n_asked as f64 * 0.002 } else { took["tokens"].as_f64().unwrap() / 1e4 };
        assert!(paid > 0.0 && (took["dollars"].as_f64().unwrap() - paid).abs() < 1e-9, "{price}: {took}");
    }
}

#[test]
fn finding_07_what_is_asked_of_a_reranker_when_the_money_ends_is_charged_and_remembered() {
    let sandbox = Sandbox::with_own_cache();
    let text = "It rained in Port Emery. Nobody came. The bell rang at noon and all looked up. ".repeat(9);
    sandbox.write("tales/documents.jsonl", json!({"id": "b", "text": text}).to_string());
    let item = |n: usize| json!({"id": format!("q{n}"), "documents": ["b"], "question": format!("Did bell {n} ring?"), "task": "generative", "answers": ["Yes"]});
    sandbox.write("tales/items.jsonl", (0..4).map(|n| item(n).to_string() + "\n").collect::<String>());
    let server = HttpServer::start(|asked| {
        std::thread::sleep(Duration::from_millis(100));
        let mut body = rerank::scored(asked, rerank::oracle);
        body["usage"] = Value::Null;
        ok(&body)
    });
    let rates = |model: &str| {
        let price = "price = { input = 1000, output = 1000 }\nwindow = 9000\n";
        format!("['openai-compatible/{model}']\nsource = 's'\ndate = '2026-01-02'\n{price}")
    };
    sandbox.write("prices.toml", rates("tiny") + &rates("reader"));
    let reader =
        ["--model", "openai-compatible/reader", "--base-url", "http://127.0.0.1:9/v1", "--max-output-tokens", "9"];
    let limits = ["--model-info", "prices.toml", "--max-cost", "0.07", "--concurrency", "4"];
    let arguments = rerank::run("openai-compatible/tiny", &server.url, &[&reader[..], &limits].concat());
    sandbox.run(&arguments).exits(1);
    let log = lines(&sandbox, "r/reranking.jsonl");
    // Two methods have the scores of two questions, which cost 33 tokens each.
    assert_eq!((log.len(), server.asked("POST", "/rerank").len()), (2, 2), "{log:?}");
    std::fs::remove_dir_all(sandbox.path("r")).unwrap();
    sandbox.run(&arguments).exits(1);
    assert_eq!(server.asked("POST", "/rerank").len(), 2, "what was paid is remembered, and no call of the reader fits");
}

#[test]
fn finding_07_what_a_build_embeds_at_any_time_counts() {
    let (model, server) = (builder(), HttpServer::start(|asked| ok(&openai(asked))));
    let sandbox = Sandbox::with_own_cache();
    loan(&sandbox);
    let rates = |of: &str, input: u32| {
        format!(
            "['openai-compatible/{of}']\nsource = 's'\ndate = '2026-01-02'\nprice = {{ input = {input}, output = 0 }}\n"
        )
    };
    sandbox.write("prices.toml", rates("builder", 0) + &rates("tiny", 1000));
    let (story, address) = (format!("{SAMPLE}/the-loan-of-the-bell.txt"), format!("{}/v1", server.url));
    let build = ["build", "sagascale", "--books", &story, "--retriever", "dense", "--articles", "articles"];
    let build =
        [&build[..], &["--model", "openai-compatible/builder", "--base-url", &model.url, "--search", "web"]].concat();
    let embedder = ["--embedder", "openai-compatible/tiny", "--embedder-base-url", &address, "--out", "s"];
    // The server names fewer tokens than are counted before.
    let arguments = [&build[..], &embedder, &["--model-info", "prices.toml", "--max-cost", "99"]].concat();
    let said = sandbox.run(&arguments).exits(0).err();
    let asked = server.asked("POST", "/v1/embeddings");
    let n_texts: usize = asked.iter().map(|asked| texts(asked, "input").len()).sum();
    let embedded: u64 = lines(&sandbox, "s/embeddings.jsonl").iter().map(|line| line["tokens"].as_u64().unwrap()).sum();
    assert_eq!(embedded, 7 * n_texts as u64, "the queries are among them");
    let dollars = format!("${:.4}", 7e-3 * n_texts as f64);
    assert!(said.contains(&dollars), "{dollars}: {said}");
    sandbox.run(&[&arguments[..], &["--fresh"]].concat()).exits(0);
    assert!(!sandbox.path("s/embeddings.jsonl").exists(), "all is remembered, and the build before is forgotten");
}

#[test]
fn finding_07_an_index_a_search_and_a_retrieval_spend_no_more_than_their_limit() {
    let server = HttpServer::start(|asked| ok(&openai(asked)));
    let billed = || {
        let asked = server.asked("POST", "");
        asked.iter().map(|asked| 7e-3 * texts(asked, "input").len() as f64).sum::<f64>()
    };
    let address = format!("{}/v1", server.url);
    let embedder = ["--embedder", "openai-compatible/tiny", "--embedder-base-url", &address];
    let retrieve = ["retrieve", "--benchmark", "tales", "--retriever", "bm25,dense", "--out", "r"];
    let search = ["search", "sample", "Who paid for the bell?", "--retriever", "dense"];
    for command in [&["index", "tales", "--retriever", "dense"][..], &retrieve, &search] {
        let command = [command, &["--passage-tokens", "8"]].concat();
        let sandbox = Sandbox::with_own_cache();
        tales(&sandbox);
        sandbox.write("prices.toml", price(1000));
        let limited = |dollars| {
            let limits = ["--model-info", "prices.toml", "--max-cost", dollars];
            sandbox.run(&[&command[..], &embedder, &limits].concat())
        };
        let before = billed();
        let said = limited("0.1").exits(1).err();
        assert!(said.contains("--max-cost") && !said.contains("no metric in common"), "{said}");
        let spent = billed() - before;
        assert!(spent > 0.0 && spent <= 0.1, "{command:?}: {spent}");
        limited("90").exits(0);
        assert!(billed() - before > 0.1);

        let sandbox = Sandbox::with_own_cache();
        tales(&sandbox);
        sandbox.write("prices.toml", price(1000));
        sandbox.write("config/run.toml", "max-cost = 0.1\nmodel-info = '../prices.toml'\n");
        let before = billed();
        sandbox.run(&[&command[..], &embedder].concat()).exits(1);
        assert!(billed() - before <= 0.1, "a limit of one's own holds too");
    }
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let unknown = [&retrieve[..], &embedder, &["--max-cost", "9"]].concat();
    sandbox.run(&unknown).refuses(&["the price of openai-compatible/tiny is not known", "--allow-unknown-price"]);
}

/// Prices of so many dollars for a million tokens.
fn price(dollars: u32) -> String {
    format!(
        "['openai-compatible/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = {{ input = {dollars}, output = 0 }}\n"
    )
}

/// Kills a run while its server holds back the answer to the `held`th request; returns what the folder was charged then, and what
/// once the same command has ended.
fn charged_over_a_kill(
    sandbox: &Sandbox,
    held: usize,
    answer: fn(&Asked) -> Value,
    arguments: impl Fn(&str) -> Vec<String>,
) -> [Value; 2] {
    let (release, wait) = mpsc::channel();
    let mut n = 0;
    let server = HttpServer::start(move |asked| {
        n += 1;
        if n == held {
            let _ = wait.recv();
        }
        ok(&answer(asked))
    });
    let arguments = arguments(&server.url);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut run = sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while server.asked("POST", "").len() < held {
        std::thread::sleep(Duration::from_millis(10));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let status = || sandbox.run(&["status", "r", "--json"]).json()[0].clone();
    let killed = status();
    release.send(()).unwrap();
    let said = sandbox.run(&arguments).exits(0).err();
    assert!(said.contains("the end of 1 earlier call is not known"), "{said}");
    [killed, status()]
}

fn cost_of_lines(sandbox: &Sandbox, name: &str) -> f64 {
    lines(sandbox, name).iter().map(|line| line["tokens"].as_f64().unwrap() / 1e4).sum()
}

#[test]
fn finding_07_a_request_in_flight_to_an_embedder_or_a_reranker_counts_after_a_kill() {
    let embeds = |url: &str| -> Vec<String> {
        let (base, limits) = (format!("{url}/v1"), ["--model-info", "prices.toml", "--max-cost", "9"]);
        run("openai-compatible/tiny", &base, &limits).into_iter().map(str::to_owned).collect()
    };
    let reranks = |url: &str| -> Vec<String> {
        let limits = ["--model-info", "prices.toml", "--max-cost", "9", "--concurrency", "1"];
        rerank::run("openai-compatible/tiny", url, &limits).into_iter().map(str::to_owned).collect()
    };
    let scores = |asked: &Asked| rerank::scored(asked, rerank::oracle);
    for (file, is_embedder) in [("r/embeddings.jsonl", true), ("r/reranking.jsonl", false)] {
        let sandbox = Sandbox::with_own_cache();
        tales(&sandbox);
        sandbox.write("prices.toml", price(100));
        let [killed, ended] = match is_embedder {
            true => charged_over_a_kill(&sandbox, 3, openai, embeds),
            false => charged_over_a_kill(&sandbox, 2, scores, reranks),
        };
        let open = killed["dollars_open"].as_f64().unwrap();
        assert!(open > 0.001, "{file}: {killed}");
        let all = open + cost_of_lines(&sandbox, file);
        assert!((ended["dollars"].as_f64().unwrap() - all).abs() < 1e-9, "{file}: {ended} and {all}");
    }
}

#[test]
fn finding_07_an_embedder_is_asked_only_for_what_the_limit_leaves() {
    let server = HttpServer::start(|asked| ok(&openai(asked)));
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    sandbox.write("prices.toml", price(1000));
    let base = format!("{}/v1", server.url);
    let limited =
        |dollars| run("openai-compatible/tiny", &base, &["--model-info", "prices.toml", "--max-cost", dollars]);
    let billed = || {
        let asked = server.asked("POST", "");
        asked.iter().map(|asked| 7e-3 * texts(asked, "input").len() as f64).sum::<f64>()
    };
    let said = sandbox.run(&limited("0.2")).exits(1).err();
    assert!(said.contains("stopped by --max-cost"), "{said}");
    let (spent, at_first) = (billed(), server.asked("POST", "").len());
    assert!(spent > 0.05 && spent <= 0.2, "{spent}");
    sandbox.run(&limited("0.2")).exits(1);
    assert_eq!(server.asked("POST", "").len(), at_first, "nothing more can be paid");
    sandbox.run(&limited("9")).exits(0);
}

#[test]
fn texts_that_parts_cut_are_counted_in_the_whole() {
    let server = HttpServer::start(|asked| ok(&openai(asked)));
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let spec = sandbox.write("m.toml", "max_tokens = 10\ntokenizer = 'cl100k'").display().to_string();
    let base = format!("{}/v1", server.url);
    let cut = |out: &str, more: &[&str]| {
        let arguments = [&["--embedder-spec", &spec, "--out", out][..], more].concat();
        let report = sandbox.run(&run("openai-compatible/tiny", &base, &arguments)).exits(0).json();
        report["cut_for_embedding"].clone()
    };
    let whole = cut("whole", &[]);
    assert!(whole.as_object().unwrap().len() > 1, "{whole}");
    for part in ["1", "2"] {
        cut(part, &["--shard", &format!("{part}/2")]);
    }
    sandbox.run(&["merge", "1", "2", "--out", "merged"]).exits(0);
    assert_eq!(cut("merged", &[]), whole);

    sandbox.run(&["merge", "whole", "--out", "copy"]).exits(0);
    sandbox.run(&["merge", "whole", "copy", "--out", "again"]).exits(0);
    let requests = |out: &str| lines(&sandbox, &format!("{out}/embeddings.jsonl")).len();
    assert_eq!(requests("again"), requests("whole"), "a request that is in two folders was made once");
}
