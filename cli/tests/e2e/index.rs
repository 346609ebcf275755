//! `closeread index`: made once, used by runs, their parts, `retrieve` and `search`, and never a cause of other numbers.

use crate::embeddings::{openai, texts};
use crate::http::{HttpServer, ok};
use crate::support::{Sandbox, tales};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

const METHODS: [&str; 6] = ["--benchmark", "tales", "--method", "dos-rag,naive-rag", "--retriever", "hybrid"];

const NINE: [&str; 2] = ["--passage-tokens", "9"];

fn index(sandbox: &Sandbox) -> Value {
    sandbox.run(&[&["index", "--json"], &METHODS[..], &NINE].concat()).exits(0).json()
}

/// Runs, and says what was said; records without their times stand in the order of their trials.
fn run(sandbox: &Sandbox, out: &str, more: &[&str]) -> (Vec<String>, String) {
    let fixed = ["run", "--verbose", "--budget", "20,40", "--out", out];
    let more = if more.contains(&"--passage-tokens") { more.to_vec() } else { [&NINE[..], more].concat() };
    let said = sandbox.run(&[&fixed[..], &METHODS, &more].concat()).exits(0).err();
    (records(sandbox, out), said)
}

fn records(sandbox: &Sandbox, out: &str) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.path(out).join("records.jsonl")).unwrap();
    let timeless = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record["seconds"] = Value::Null;
        record.to_string()
    };
    let mut records: Vec<String> = text.lines().map(timeless).collect();
    records.sort();
    records
}

/// The files that are kept; what a kill left unfinished has another ending.
fn kept(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(sandbox.path("cache/indexes")).unwrap().map(|folder| folder.unwrap().path());
    let mut files: Vec<PathBuf> =
        folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path())).collect();
    files.retain(|file| file.extension().is_none_or(|ending| ending != "tmp"));
    files.sort();
    files
}

fn n_used(said: &str) -> usize {
    said.matches("the kept index").count()
}

#[test]
fn runs_and_their_parts_find_the_index_and_rank_as_without_it() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let (without, said) = run(&sandbox, "without", &[]);
    assert_eq!(n_used(&said), 0, "{said}");
    let made = index(&sandbox);
    let files = made["indexes"].as_array().unwrap();
    // Six books, cut into sentences and into windows, words and vectors of each.
    assert_eq!((files.len(), kept(&sandbox).len()), (24, 24));
    assert!(files.iter().all(|file| file["made"] == true && file["passages"].as_u64() > Some(0)), "{made}");
    let again = index(&sandbox);
    assert!(again["indexes"].as_array().unwrap().iter().all(|file| file["made"] == false), "{again}");
    let told = sandbox.run(&[&["index"], &METHODS[..], &NINE].concat()).exits(0).out();
    assert!(told.contains("dos 9, words: 6 sets of books") && told.contains("nothing to do"), "{told}");

    let (with, said) = run(&sandbox, "with", &[]);
    assert_eq!(n_used(&said), 24, "{said}");
    assert_eq!(with, without);
    let mut parts = run(&sandbox, "1", &["--shard", "1/2"]).0;
    parts.extend(run(&sandbox, "2", &["--shard", "2/2"]).0);
    parts.sort();
    assert_eq!(parts, without);
    let (other, said) = run(&sandbox, "other", &["--passage-tokens", "11"]);
    assert_eq!(n_used(&said), 0, "an index of other passages is another: {said}");
    assert_ne!(other, without);
}

#[test]
fn a_damaged_index_is_said_so_and_made_anew() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let (without, _) = run(&sandbox, "without", &[]);
    index(&sandbox);
    let whole: Vec<Vec<u8>> = kept(&sandbox).iter().map(|file| std::fs::read(file).unwrap()).collect();
    for (n, file) in kept(&sandbox).iter().enumerate() {
        let mut bytes = whole[n].clone();
        match n % 3 {
            0 => bytes.truncate(bytes.len() / 2),
            1 => *bytes.last_mut().unwrap() ^= 1,
            _ => bytes = whole[(n + 1) % whole.len()].clone(),
        }
        std::fs::write(file, bytes).unwrap();
    }
    let (with, said) = run(&sandbox, "with", &[]);
    assert_eq!(with, without);
    assert_eq!(said.matches("it is made anew").count(), 24, "{said}");
    for reason in ["its hash does not fit", "of other books or settings"] {
        assert!(said.contains(reason), "{reason}: {said}");
    }
    let after: Vec<Vec<u8>> = kept(&sandbox).iter().map(|file| std::fs::read(file).unwrap()).collect();
    assert!(after == whole, "each is as it was first made");
}

#[test]
fn an_index_that_is_killed_keeps_what_is_whole_and_makes_the_rest() {
    let calm = Sandbox::with_own_cache();
    tales(&calm);
    index(&calm);
    let whole: Vec<Vec<u8>> = kept(&calm).iter().map(|file| std::fs::read(file).unwrap()).collect();

    for n_whole in [1, 9, 17] {
        let sandbox = Sandbox::with_own_cache();
        tales(&sandbox);
        let arguments = [&["index", "--json"], &METHODS[..], &NINE].concat();
        let mut child = sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        while !sandbox.path("cache/indexes").exists() || kept(&sandbox).len() < n_whole {
            assert!(started.elapsed() < Duration::from_secs(120), "{n_whole} files");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let again = index(&sandbox);
        let n_made = again["indexes"].as_array().unwrap().iter().filter(|file| file["made"] == true).count();
        assert!(n_made <= 24 - n_whole, "{n_made} of 24 were made, and {n_whole} were there");
        let files: Vec<Vec<u8>> = kept(&sandbox).iter().map(|file| std::fs::read(file).unwrap()).collect();
        assert!(files == whole, "what is kept is what an undisturbed index keeps");
    }
}

#[test]
fn an_index_counts_all_its_files_and_those_made_now() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let plain = [&["index"], &METHODS[..], &NINE].concat();
    let made = sandbox.run(&plain).exits(0).out();
    assert!(made.contains("\n24 files kept in "), "{made}");
    std::fs::remove_file(&kept(&sandbox)[0]).unwrap();
    let again = sandbox.run(&plain).exits(0).out();
    assert!(again.contains("\n24 files kept in ") && again.contains(", 1 of them made now\n"), "{again}");
}

#[test]
fn retrieve_and_search_use_it_and_the_cache_lists_and_forgets_it() {
    let sandbox = Sandbox::with_own_cache();
    let search = |verbose: &[&str]| {
        let line = ["search", "sample", "Who paid for the bell?", "--retriever", "hybrid", "--budget", "300", "--json"];
        sandbox.run(&[&line[..], verbose].concat()).exits(0)
    };
    let without = search(&[]).out();
    let sample = ["index", "sample", "--method", "dos-rag", "--retriever", "hybrid"];
    let told = sandbox.run(&sample).exits(0).out();
    assert!(told.contains("dos 100, words: ") && told.contains("vectors of all-MiniLM-L6-v2"), "{told}");
    let found = search(&["--verbose"]);
    assert_eq!((n_used(&found.err()), found.out()), (2, without));
    let grid = ["retrieve", "--verbose", "--retriever", "bm25", "--limit", "3", "--budget", "500", "--out", "r"];
    assert!(n_used(&sandbox.run(&grid).exits(0).err()) > 0);
    let list = |sandbox: &Sandbox| sandbox.run(&["cache", "list", "--json"]).exits(0).json()["indexes"].clone();
    assert_eq!(list(&sandbox)["n"], kept(&sandbox).len());
    sandbox.run(&["cache", "prune", "--older-than", "0"]).exits(0);
    assert_eq!(list(&sandbox)["n"], 0);
}

#[test]
fn several_that_index_the_same_books_at_once_pay_for_them_once() {
    let server = HttpServer::start(|asked| {
        std::thread::sleep(Duration::from_millis(20));
        ok(&openai(asked))
    });
    let address = format!("{}/v1", server.url);
    let fixed = ["index", "tales", "--method", "dos-rag", "--retriever", "dense", "--passage-tokens", "12"];
    let index = [&fixed[..], &["--embedder", "openai-compatible/tiny", "--embedder-base-url", &address]].concat();
    let n_texts = || {
        let asked = server.asked("POST", "");
        let texts = asked.iter().flat_map(|asked| texts(asked, "input"));
        texts.filter(|text| text != "How long is a vector?").count()
    };
    let alone = Sandbox::with_own_cache();
    tales(&alone);
    alone.run(&index).exits(0);
    let n_alone = n_texts();
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let start = || sandbox.command(&index).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut four = [start(), start(), start(), start()];
    assert!(four.iter_mut().all(|one| one.wait().unwrap().success()));
    assert_eq!(n_texts() - n_alone, n_alone);
}

#[test]
fn what_cannot_be_indexed_is_refused() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    sandbox.run(&["index", "tales", "--method", "closed-book"]).refuses(&["closed-book search no passages"]);
    sandbox.run(&["index", "tales", "--benchmark", "tales"]).refuses(&["cannot be used with"]);
    sandbox.run(&["index", "nowhere"]).refuses(&["nowhere"]);
}
