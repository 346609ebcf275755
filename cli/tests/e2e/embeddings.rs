//! Embedding models behind servers of the test's own.

use crate::http::{Answered, Asked, HttpServer, ok};
use crate::support::{Ended, Sandbox, tales};
use serde_json::{Value, json};
use std::process::Command;

/// Words counted into a few places: texts that share words are near each other.
fn vector(text: &str) -> Vec<f64> {
    let mut vector = vec![0.01; 16];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2) {
        vector[word.bytes().map(usize::from).sum::<usize>() % 16] += 1.0;
    }
    vector
}

pub(crate) fn texts(asked: &Asked, name: &str) -> Vec<String> {
    asked.json()[name].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// OpenAI's response, seven tokens a text.
pub(crate) fn openai(asked: &Asked) -> Value {
    let texts = texts(asked, "input");
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text)}))
        .collect();
    json!({"object": "list", "data": data, "usage": {"prompt_tokens": 7 * texts.len(), "total_tokens": 7 * texts.len()}})
}

/// Text-Embeddings-Inference: at most four texts a request, seven tokens a text, 512 tokens of the longest one.
fn tei(asked: &Asked) -> Answered {
    if asked.path == "/info" {
        return ok(&json!({"model_id": "BAAI/bge-tiny", "max_input_length": 512, "max_client_batch_size": 4,
            "auto_truncate": true}));
    }
    assert_eq!((asked.path.as_str(), &asked.json()["truncate"]), ("/embed", &json!(false)));
    let texts = texts(asked, "inputs");
    if texts.len() > 4 {
        let error = json!({"error": "batch size 5 > maximum allowed batch size 4", "error_type": "Validation"});
        return ("422 Unprocessable Entity", Vec::new(), error.to_string());
    }
    let vectors: Vec<Vec<f64>> = texts.iter().map(|text| vector(text)).collect();
    ("200 OK", vec![("x-compute-tokens", (7 * texts.len()).to_string())], json!(vectors).to_string())
}

pub(crate) fn run<'a>(model: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed =
        ["run", "--benchmark", "tales", "--method", "dos-rag", "--budget", "60", "--passage-tokens", "12", "--json"];
    let out: &[&str] = if more.contains(&"--out") { &[] } else { &["--out", "r"] };
    [&fixed[..], out, &["--embedder", model, "--embedder-base-url", url], more].concat()
}

pub(crate) fn lines(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_embeds_by_a_server_counts_what_it_took_and_asks_nothing_twice() {
    let server = HttpServer::start(|asked| ok(&openai(asked)));
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let base = format!("{}/v1", server.url);
    let secret = "sk-embedding-secret-1";
    let spec = sandbox.write("m.toml", "query_prefix = 'find: '\npassage_prefix = 'text: '\n").display().to_string();
    let prices = "['openai/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1000, output = 0 }\n";
    let prices = sandbox.write("prices.toml", prices).display().to_string();
    let arguments = run("openai/tiny", &base, &["--embedder-spec", &spec, "--model-info", &prices]);
    let output = sandbox.command(&arguments).env("OPENAI_API_KEY", secret).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();

    let asked = server.asked("POST", "/v1/embeddings");
    assert!(asked.iter().all(|asked| asked.json()["model"] == "tiny"));
    assert!(asked.iter().all(|asked| asked.header("authorization") == Some(&format!("Bearer {secret}"))));
    let all: Vec<String> = asked.iter().flat_map(|asked| texts(asked, "input")).collect();
    let begin = |with: &str| all.iter().filter(|text| text.starts_with(with)).count();
    // Each of the six tales has a question that is asked twice, and one more.
    assert_eq!((begin("find: "), begin("text: ") + begin("find: ") + 1), (12, all.len()), "{all:?}");

    let took = &report["embeddings"][0];
    assert_eq!((took["model"].as_str(), &took["texts"]), (Some("openai/tiny"), &json!(all.len())));
    assert_eq!((&took["tokens"], &took["requests"]), (&json!(7 * all.len()), &json!(asked.len())));
    assert!((took["dollars"].as_f64().unwrap() - 7e-3 * all.len() as f64).abs() < 1e-9, "{took}");
    assert_eq!(lines(&sandbox, "r/embeddings.jsonl").len(), asked.len());
    assert!(said.contains("texts embedded in"), "{said}");

    let manifest = std::fs::read_to_string(sandbox.path("r/manifest.json")).unwrap();
    let embedder = &serde_json::from_str::<Value>(&manifest).unwrap()["configuration"]["embedder"];
    assert_eq!((embedder["name"].as_str(), embedder["backend"].as_str()), (Some("openai/tiny"), Some("server")));
    assert_eq!(embedder["endpoint"].as_str(), Some(format!("{}/v1", server.url).as_str()));
    assert_eq!(embedder["spec"]["dimension"], 16);
    for entry in walk(&sandbox.path("")) {
        let text = String::from_utf8_lossy(&std::fs::read(&entry).unwrap()).into_owned();
        assert!(!text.contains(secret), "{}", entry.display());
    }
    assert!(!said.contains(secret));

    // Everything is remembered: the run is verified and made again without a request.
    let n_asked = asked.len();
    let again: Vec<&str> = arguments.iter().map(|a| if *a == "r" { "again" } else { a }).collect();
    for command in [vec!["verify", "r"], again] {
        let output = sandbox.command(&command).env("OPENAI_API_KEY", secret).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(server.asked("POST", "").len(), n_asked);
}

#[test]
fn retrieve_compares_words_with_a_model_on_a_server_and_says_what_it_took() {
    let server = HttpServer::start(|asked| ok(&openai(asked)));
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let base = format!("{}/v1", server.url);
    let served = ["--embedder", "openai-compatible/tiny", "--embedder-base-url", &base];
    let grid = ["retrieve", "--benchmark", "tales", "--out", "r", "--budget", "60"];
    let ended = sandbox.run(&[&grid[..], &served].concat()).exits(0);
    assert!(ended.out().contains("bm25") && ended.out().contains("dense"), "{}", ended.out());
    assert_eq!(lines(&sandbox, "r/embeddings.jsonl").len(), server.asked("POST", "/v1/embeddings").len());
    assert!(ended.err().contains("texts embedded in"), "{}", ended.err());
    sandbox.run(&[&grid[..], &served[2..]].concat()).refuses(&["--embedder-base-url is for a model on a server"]);
}

#[test]
fn what_the_nodes_of_a_tree_cost_to_embed_is_in_what_the_run_took() {
    let server = HttpServer::start(|asked| match asked.path.ends_with("/embeddings") {
        true => ok(&openai(asked)),
        false => ok(
            &json!({"choices": [{"message": {"content": "They met at the old mill. [[1]]"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 90, "completion_tokens": 9}}),
        ),
    });
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let base = format!("{}/v1", server.url);
    let prices = "['openai-compatible/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 100, output = 0 }\n\
        ['openai-compatible/m']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 10, output = 10 }\n";
    let prices = sandbox.write("prices.toml", prices).display().to_string();
    let embedder = ["--embedder", "openai-compatible/tiny", "--embedder-base-url", &base, "--model-info", &prices];
    let reader = ["--model", "openai-compatible/m", "--base-url", &base, "--max-output-tokens", "64", "--json"];
    let tree =
        ["run", "--benchmark", "tales", "--one-book", "--method", "raptor", "--budget", "60", "--passage-tokens", "12"];
    let ended = sandbox.run(&[&tree[..], &reader, &embedder, &["--out", "r"]].concat()).exits(0);
    let report = ended.json();
    let of = |rows: &Value| rows.as_array().unwrap().iter().map(|row| row["dollars"].as_f64().unwrap()).sum::<f64>();
    let (calls, embedded) = (of(&report["usage"]), of(&report["embeddings"]));
    assert!(report["usage"].as_array().unwrap().len() == 2 && embedded > 0.01, "a tree and the questions: {report}");
    let line = format!("; ${calls:.4}; ${:.4} with embeddings", calls + embedded);
    assert!(ended.err().contains(&line), "{line} is not in {}", ended.err());
}

#[test]
fn finding_03_a_server_that_only_a_run_folder_names_gets_no_text_and_no_key() {
    let server = HttpServer::start(|asked| ok(&openai(asked)));
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let base = format!("{}/v1", server.url);
    let with_key =
        |mut command: Command| Ended(command.env("OPENAI_API_KEY", "sk-embedding-secret-1").output().unwrap());
    with_key(sandbox.command(&run("openai/tiny", &base, &[]))).exits(0);
    let n_asked = server.asked("POST", "").len();
    // As who gets the folder from another has it: nothing is remembered.
    std::fs::remove_dir_all(sandbox.path("cache")).unwrap();
    let words = ["vectors of openai/tiny are not remembered here", "say --embedder-base-url"];
    with_key(sandbox.command(&["verify", "r"])).refuses(&words);
    assert_eq!(server.asked("POST", "").len(), n_asked);
    with_key(sandbox.command(&["verify", "r", "--embedder-base-url", &base])).exits(0);
    assert!(server.asked("POST", "").len() > n_asked, "where that is said, it is asked");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn text_embeddings_inference_says_how_much_it_takes() {
    let server = HttpServer::start(tei);
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let report = sandbox.run(&run("tei/bge-tiny", &server.url, &[])).exits(0).json();
    let took = &report["embeddings"][0];
    assert_eq!(took["tokens"].as_u64().unwrap(), 7 * took["texts"].as_u64().unwrap());
    assert_eq!(took["uncounted"], 0);
    let other: Vec<&str> = run("tei/bge-huge", &server.url, &[]);
    let other: Vec<&str> = other.into_iter().map(|argument| if argument == "r" { "other" } else { argument }).collect();
    sandbox.run(&other).refuses(&["serves BAAI/bge-tiny, not bge-huge", "--embedder-base-url"]);
}

#[test]
fn search_and_tree_take_a_served_model_too() {
    let server = HttpServer::start(tei);
    let sandbox = Sandbox::with_own_cache();
    let text =
        "It rained for a week. Ana had found a copper key at the fair. The road was closed. Then came the winter.";
    sandbox.write("tale.txt", text);
    let model = ["--embedder", "tei/bge-tiny", "--embedder-base-url", &server.url, "--json"];
    let found = ["search", "tale.txt", "Who had found a copper key?", "--budget", "14", "--passage-tokens", "14"];
    let found = sandbox.run(&[&found[..], &model].concat()).exits(0).json();
    assert_eq!(found["passages"][0]["text"], "Ana had found a copper key at the fair.");
    let tree = ["tree", "tale.txt", "--param", "max_tokens=14"];
    sandbox.run(&[&tree[..], &model].concat()).exits(0);
}

#[test]
fn a_busy_server_is_asked_again() {
    let mut n = 0;
    let server = HttpServer::start(move |asked| {
        n += 1;
        if n == 2 {
            ("429 Too Many Requests", vec![("retry-after", "0".to_owned())], String::new())
        } else {
            ok(&openai(asked))
        }
    });
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let report = sandbox.run(&run("openai-compatible/tiny", &format!("{}/v1", server.url), &[])).exits(0).json();
    let n_asked = server.asked("POST", "/v1/embeddings").len();
    assert_eq!(report["embeddings"][0]["requests"], n_asked - 1, "what was refused took nothing");
}

#[test]
fn responses_that_do_not_fit_the_texts_are_refused() {
    type Change = fn(&mut Value);
    let changes: [(Change, &[&str]); 5] = [
        (|response| drop(response["data"].as_array_mut().unwrap().pop()), &["vectors came for", "texts"]),
        (|response| response["data"].as_array_mut().unwrap().reverse(), &["does not keep the order"]),
        (|response| response["data"][0]["embedding"][3] = Value::Null, &["vector 0 holds something that is no number"]),
        (
            |response| drop(response["data"][0]["embedding"].as_array_mut().unwrap().pop()),
            &["has 16 numbers, those before it 15"],
        ),
        (|response| response["data"][0]["embedding"] = json!(vec![0.0; 16]), &["cannot be normalised"]),
    ];
    for (change, words) in changes {
        let server = HttpServer::start(move |asked| {
            let mut response = openai(asked);
            if response["data"].as_array().unwrap().len() > 1 {
                change(&mut response);
            }
            ok(&response)
        });
        let sandbox = Sandbox::with_own_cache();
        tales(&sandbox);
        let url = format!("{}/v1", server.url);
        let ended = sandbox.run(&run("openai-compatible/tiny", &url, &[])).exits(2);
        for word in words {
            assert!(ended.err().contains(word), "`{word}` is not in {}", ended.err());
        }
        assert!(server.asked("POST", "").len() <= 3, "none of it is asked again");
    }
    let server = HttpServer::start(|asked| ok(&openai(asked)));
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let spec = sandbox.write("m.toml", "dimension = 24").display().to_string();
    let url = format!("{}/v1", server.url);
    let ended = sandbox.run(&run("openai-compatible/tiny", &url, &["--embedder-spec", &spec])).exits(2);
    assert!(ended.err().contains("vectors of 16 numbers, and 24 were expected"), "{}", ended.err());
}

#[test]
fn texts_that_are_too_long_are_cut_and_counted_or_refused() {
    let limited = |asked: &Asked| {
        let tokenizer = closeread_books::tokens::Tokenizer::cl100k();
        match texts(asked, "input").iter().map(|text| tokenizer.count(text)).max().filter(|n| *n > 10) {
            None => ok(&openai(asked)),
            Some(n) => {
                let message =
                    format!("This model's maximum context length is 10 tokens, however you requested {n} tokens");
                ("400 Bad Request", Vec::new(), json!({"error": {"message": message}}).to_string())
            }
        }
    };
    let server = HttpServer::start(limited);
    let url = format!("{}/v1", server.url);
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let refused = sandbox.run(&run("openai-compatible/tiny", &url, &[])).exits(2);
    for word in ["refuses a text that is too long", "maximum context length is 10", "--embedder-spec"] {
        assert!(refused.err().contains(word), "`{word}` is not in {}", refused.err());
    }
    let spec = sandbox.write("m.toml", "max_tokens = 10\ntokenizer = 'cl100k'").display().to_string();
    let report =
        sandbox.run(&run("openai-compatible/tiny", &url, &["--embedder-spec", &spec, "--fresh"])).exits(0).json();
    let cut = report["cut_for_embedding"].as_object().unwrap();
    assert_eq!(cut.len(), 5, "in all tales but one a passage has more tokens: {report}");
}

#[test]
fn what_a_part_has_embedded_counts_once_if_its_folder_is_named_twice() {
    let server = HttpServer::start(|asked: &Asked| ok(&openai(asked)));
    let url = format!("{}/v1", server.url);
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    for part in ["1", "2"] {
        sandbox.run(&run("openai-compatible/tiny", &url, &["--shard", &format!("{part}/2"), "--out", part])).exits(0);
    }
    sandbox.run(&["merge", "1", "2", "1", "./2", "--out", "merged"]).exits(0);
    let n = |run: &str| lines(&sandbox, &format!("{run}/embeddings.jsonl")).len();
    assert_eq!(n("merged"), n("1") + n("2"));
}

#[test]
fn what_cannot_be_is_said_before_anything_is_asked() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let fixed = ["run", "--benchmark", "tales", "--method", "dos-rag"];
    let refuses = |more: &[&str], words: &[&str]| sandbox.run(&[&fixed[..], more].concat()).refuses(words);
    refuses(&["--embedder", "tei/x"], &["--embedder-base-url"]);
    refuses(&["--embedder", "gemini/x"], &["gets embeddings from openai/MODEL"]);
    refuses(&["--embedder-base-url", "http://h"], &["all-MiniLM-L6-v2", "tei/MODEL"]);
    let model = ["--embedder", "tei/x", "--embedder-base-url", "http://127.0.0.1:9"];
    refuses(&[&model[..], &["--tokenizer", "embedder"]].concat(), &["tokenizer.json"]);
}

#[test]
fn providers_lists_and_checks_embedders_too() {
    let server = HttpServer::start(tei);
    let sandbox = Sandbox::with_own_cache();
    let listed = sandbox.run(&["providers", "--json"]).exits(0).json();
    let rows = listed.as_array().unwrap();
    let named = |name: &str| rows.iter().find(|row| row["provider"] == name && row["serves"] == "embeddings");
    assert!(named("tei").is_some() && named("openai").is_some() && named("anthropic").is_none());

    let check = ["providers", "check", "tei/bge-tiny", "--embedder-base-url", &server.url];
    let said = sandbox.run(&check).exits(0).out();
    assert!(said.contains("vectors of 16 numbers") && said.contains("more than 512 tokens"), "{said}");
    let seen = sandbox.run(&[&check[..], &["--json"]].concat()).exits(0).json();
    assert!(seen["cosine"][0].as_f64() > seen["cosine"][1].as_f64(), "{seen}");
    assert_eq!(seen["tokens"], 21);
    let broken = HttpServer::start(|_| ("401 Unauthorized", Vec::new(), json!({"error": "no key"}).to_string()));
    let refused = ["providers", "check", "openai-compatible/x", "--embeddings", "--base-url", &broken.url];
    let said = sandbox.run(&refused).exits(1).out();
    assert!(said.contains("did not embed") && said.contains("401"), "{said}");
}

#[test]
fn a_server_that_cuts_in_silence_is_found_out() {
    // As some servers do: what is beyond the longest input is left out, and nothing is said.
    let server = HttpServer::start(|asked| {
        let cut: Vec<String> = texts(asked, "input").iter().map(|text| text.chars().take(500).collect()).collect();
        ok(&openai(&Asked { body: json!({"input": cut}).to_string(), ..asked.clone() }))
    });
    let sandbox = Sandbox::with_own_cache();
    let sentence = |n: usize| {
        format!("On day {n} of the voyage the {n}th sailor saw bird number {n} above mast {n}, and wrote it down")
    };
    sandbox.write("tale.txt", (0..200).map(sentence).collect::<Vec<_>>().join("; "));
    let url = format!("{}/v1", server.url);
    let model = ["--embedder", "openai-compatible/tiny", "--embedder-base-url", &url];
    let search = |max_tokens| ["search", "tale.txt", "Which bird?", "--passage-tokens", max_tokens];
    sandbox.run(&[&search("400")[..], &model].concat()).refuses(&["cuts long texts in silence", "--passage-tokens"]);
    sandbox.run(&[&search("90")[..], &model].concat()).exits(0);
}

#[test]
fn an_estimate_says_what_embedding_takes_and_asks_nobody() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let estimate = ["estimate", "--benchmark", "tales", "--method", "dos-rag", "--json"];
    let model = ["--embedder", "openai/text-embedding-3-small", "--embedder-base-url", "http://127.0.0.1:9"];
    let estimated = sandbox.run(&[&estimate[..], &model].concat()).exits(0).json();
    let embeddings = &estimated["embeddings"][0];
    let tokens = embeddings["tokens"].as_u64().unwrap();
    assert!(tokens > estimated["book_tokens"].as_u64().unwrap(), "{embeddings}");
    assert!((embeddings["dollars"].as_f64().unwrap() - tokens as f64 * 2e-8).abs() < 1e-12, "{embeddings}");
    assert_eq!(sandbox.run(&estimate).exits(0).json()["embeddings"], json!([]));
}

#[test]
fn a_question_is_embedded_once_whichever_others_a_run_asks_with_it() {
    let server = HttpServer::start(|asked| ok(&openai(asked)));
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let base = format!("{}/v1", server.url);
    for more in [&["--limit", "1"][..], &["--extend"]] {
        sandbox.run(&run("openai-compatible/tiny", &base, more)).exits(0);
    }
    let asked = server.asked("POST", "/v1/embeddings");
    let mut questions: Vec<String> = asked.iter().flat_map(|asked| texts(asked, "input")).collect();
    questions.retain(|text| text.ends_with('?'));
    let n_questions = questions.len();
    questions.sort();
    questions.dedup();
    assert_eq!(n_questions, questions.len(), "what was remembered was asked again");
    sandbox.run(&["verify", "r"]).exits(0);
}
