//! A key goes into the header of a request, and nowhere else, whatever happens.

use crate::fault_server::{Act, FaultServer, Seen, cases, response, run_cases};
use crate::log::objects;
use crate::provider::answer;
use crate::support::{Ended, Sandbox};
use std::path::Path;

const KEY: &str = "sk-planted-5f0e77c1d2a94b6e8c3b";

/// Returns every file below a folder that holds the words, archives of zstd unpacked.
fn files_with(folder: &Path, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, words));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let bytes = zstd::decode_all(bytes.as_slice()).unwrap_or(bytes);
        if bytes.windows(words.len()).any(|window| window == words.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// A server that repeats the key wherever it can.
fn telling(name: &str, n: usize, seen: &Seen) -> Act {
    let key = seen.key.clone().unwrap_or_default();
    let error = |status, words: &str| response(status, "", &format!(r#"{{"error":{{"message":"{words} {key}"}}}}"#));
    match (name, n) {
        ("500", 0) => error("500 Internal Server Error", "failed with"),
        ("429", 0) => response("429 Too Many Requests", "retry-after-ms: 1\r\n", &format!("slow down, {key}")),
        ("page", 0) => response("502 Bad Gateway", "", &format!("<html><h1>{key}</h1></html>")),
        ("refused field", 0) => error("400 Bad Request", "unsupported value: temperature"),
        ("400", _) => error("400 Bad Request", "bad request with"),
        ("filter", _) => error("400 Bad Request", "content_filter"),
        ("overflow", _) => error("400 Bad Request", "prompt is too long: 9 tokens > 8 maximum"),
        ("reset", 0) => Act::Reset,
        ("response", _) => response("200 OK", "", &answer(&format!("[[1]] You are {key}."))),
        ("revoked", _) => error("401 Unauthorized", "Incorrect API key provided:"),
        _ => response("200 OK", "", &answer("[[1]]")),
    }
}

#[test]
fn a_planted_key_is_found_nowhere_on_disk_or_screen() {
    let names =
        ["500", "429", "page", "refused field", "400", "filter", "overflow", "reset", "response", "fine", "revoked"];
    let server = FaultServer::start(telling);
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names.map(str::to_owned));
    let base = server.url.replace("http://", &format!("http://user:{KEY}@")) + "?key=" + KEY;
    for (variable, model, url) in [
        ("OPENAI_COMPATIBLE_API_KEY", "openai-compatible/tiny", &server.url),
        ("OPENAI_API_KEY", "openai/gpt-x", &server.url),
        ("OPENAI_COMPATIBLE_API_KEY", "openai-compatible/with-address", &base),
    ] {
        let as_json = &["--fresh", "-vv", "--log", "json"][..];
        for more in [&["--fresh", "--verbose", "--concurrency", "1"][..], &["--verbose"], as_json] {
            let run = sandbox.command(&run_cases(model, url, more)).env(variable, KEY).output().unwrap();
            let ended = Ended(run);
            if more == as_json {
                assert!(objects(&ended.err()).len() > names.len(), "every call is said: {}", ended.err());
            }
            assert!(!ended.err().contains(KEY) && !ended.out().contains(KEY), "{}", ended.err());
            if url == &server.url {
                assert!(ended.err().contains("***"), "the server's words are there without it: {}", ended.err());
            }
        }
        let report = sandbox.run(&["report", "r"]);
        assert!(!report.out().contains(KEY) && !report.err().contains(KEY));
        assert_eq!(files_with(sandbox.dir.path(), KEY), [""; 0], "{model}");
    }
    assert!(!files_with(sandbox.dir.path(), "***").is_empty(), "errors are recorded without it");
    assert!(!files_with(sandbox.dir.path(), "Ana came to the mill").is_empty(), "texts are looked into");
}
