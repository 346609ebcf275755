//! Catalogs of benchmark folders: parts of a run read their own books alone, and a changed book is noticed.

use crate::corpus_truth::json_file;
use crate::support::{Ended, Sandbox};
use serde_json::{Value, json};
use std::fs::File;
use std::path::PathBuf;

/// Four documents, of which two have files, and two questions on each with evidence.
fn keys(sandbox: &Sandbox) {
    let (mut documents, mut items) = ("\u{FEFF}".to_owned(), String::new());
    for n in 1..=4 {
        let text = format!("Ana has {n} keys. One of them opens the {n}th door.");
        let mut document = json!({"id": format!("b{n}"), "title": format!("Book {n}"), "language": "en"});
        if n < 3 {
            document["text"] = json!(text);
        } else {
            document["path"] = json!(format!("texts/{n}.txt"));
            sandbox.write(&format!("keys/texts/{n}.txt"), text);
        }
        documents += &format!("{document}\n");
        for question in ["How many keys?", "How many keys has Ana?"] {
            let item = json!({"id": format!("{n} {question}"), "documents": [format!("b{n}")], "question": question,
                "task": "generative", "answers": [n.to_string()], "evidence": [{"quote": format!("Ana has {n} keys.")}]});
            items += &format!("{item}\n");
        }
    }
    sandbox.write("keys/documents.jsonl", documents);
    sandbox.write("keys/items.jsonl", items);
}

fn run(sandbox: &Sandbox, more: &[&str]) -> Ended {
    let fixed =
        ["run", "--benchmark", "keys", "--method", "closed-book,dos-rag", "--retriever", "bm25", "--budget", "20"];
    sandbox.run(&[&fixed[..], more].concat()).exits(0)
}

fn part(sandbox: &Sandbox, part: &str, out: &str) -> Ended {
    run(sandbox, &["--shard", part, "--out", out])
}

fn configuration(sandbox: &Sandbox, run: &str) -> Value {
    json_file(&sandbox.path(run).join("manifest.json"))["configuration"].clone()
}

/// Replaces text in a file so that its size and its time stay.
fn change_secretly(path: PathBuf, from: &str, to: &str) {
    let modified = path.metadata().unwrap().modified().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from) && from.len() == to.len());
    std::fs::write(&path, text.replace(from, to)).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

#[test]
fn parts_that_read_their_own_books_alone_join_into_the_run_of_one_machine() {
    let sandbox = Sandbox::with_own_cache();
    keys(&sandbox);
    run(&sandbox, &["--out", "whole"]);
    assert!(!sandbox.path("cache/catalogs").exists(), "a whole run needs none");
    for n in 1..=4 {
        part(&sandbox, &format!("{n}/4"), &n.to_string());
    }
    let list = sandbox.run(&["cache", "list", "--json"]).exits(0).json();
    assert_eq!(list["catalogs"]["n"], 1, "{list}");
    sandbox.run(&["merge", "1", "2", "3", "4", "--out", "merged"]).exits(0);
    let manifest = |run: &str| json_file(&sandbox.path(run).join("manifest.json"));
    assert_eq!(manifest("merged"), manifest("whole"));
    let items = |run: &str| std::fs::read_to_string(sandbox.path(run).join("items.jsonl")).unwrap();
    assert_eq!(items("merged"), items("whole"));
    assert!(items("merged").matches("\"start\"").count() == 8, "each part found its evidence");
    let texts = |run: &str| std::fs::read_dir(sandbox.path(run).join("texts")).unwrap().count();
    assert_eq!((texts("1"), texts("merged")), (1, 4));
}

#[test]
fn a_book_that_changes_is_noticed_by_the_part_that_asks_about_it() {
    for (file, of, from, to) in
        [("documents.jsonl", 2, "has 2 keys", "has 9 keys"), ("texts/3.txt", 3, "has 3", "has 8")]
    {
        let sandbox = Sandbox::with_own_cache();
        keys(&sandbox);
        part(&sandbox, "1/4", "1");
        change_secretly(sandbox.path("keys").join(file), from, to);
        part(&sandbox, "4/4", "4");
        assert_eq!(
            configuration(&sandbox, "4")["data"],
            configuration(&sandbox, "1")["data"],
            "it does not read that book"
        );
        let said = part(&sandbox, &format!("{of}/4"), "changed").err();
        assert!(said.contains("keys: books have changed, so all are read anew"), "{said}");
        assert_ne!(configuration(&sandbox, "changed")["data"], configuration(&sandbox, "1")["data"]);
        sandbox
            .run(&["merge", "1", "4", "changed", "--out", "x"])
            .refuses(&["are not parts of one run", "`closeread report` puts"]);
        part(&sandbox, "1/4", "again");
        let data = |run: &str| configuration(&sandbox, run)["data"].clone();
        assert_eq!(data("again"), data("changed"), "the catalog was made anew");
    }
}

#[test]
fn a_catalog_of_other_files_is_not_used_and_an_estimate_makes_one() {
    let sandbox = Sandbox::with_own_cache();
    keys(&sandbox);
    sandbox.run(&["estimate", "--benchmark", "keys"]).exits(0);
    let folder = std::fs::read_dir(sandbox.path("cache/catalogs")).unwrap().next().unwrap().unwrap().path();
    let catalog = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let before = std::fs::read(&catalog).unwrap();
    part(&sandbox, "1/4", "1");
    assert_eq!(std::fs::read(&catalog).unwrap(), before);
    sandbox.write("keys/texts/4.txt", "Ana has no more than 4 keys.");
    let said = part(&sandbox, "1/4", "other").err();
    assert!(!said.contains("have changed"), "a file of another size tells it beforehand: {said}");
    assert_ne!(configuration(&sandbox, "other")["data"], configuration(&sandbox, "1")["data"]);
    std::fs::write(&catalog, &before[..before.len() - 1]).unwrap();
    part(&sandbox, "2/4", "2");
    sandbox.run(&["merge", "other", "2", "--out", "x"]).exits(1);

    let documents = std::fs::read_to_string(sandbox.path("keys/documents.jsonl")).unwrap();
    sandbox.write("keys/documents.jsonl", documents + "{\"id\": \"b5\"}\n");
    for folder in ["wrong", "wrong-again"] {
        let args = ["run", "--benchmark", "keys", "--method", "closed-book", "--shard", "1/4", "--out", folder];
        assert!(sandbox.run(&args).exits(1).err().contains("documents.jsonl"), "each part tells of a wrong line");
    }
}
