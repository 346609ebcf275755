//! What is a person's stays: files in the cache folder, inputs named as outputs, links and names that lead elsewhere. A case a
//! finding, by the numbers of issue 19.

use crate::support::Sandbox;
use serde_json::json;
use std::fs;

/// What builds and runs need besides, and do not ask.
const MODEL: [&str; 5] = ["--model", "openai-compatible/tiny", "--base-url", "http://127.0.0.1:1/v1", "--dry-run"];

#[test]
fn finding_01_the_cache_is_tidied_of_its_own_files_alone() {
    let sandbox = Sandbox::with_own_cache();
    let mine = ["responses/study.jsonl", "responses/2024/notes.json", "responses/ab/read me.txt", "vectors/ab/map.vec"];
    for name in mine {
        sandbox.write(&format!("cache/{name}"), "mine");
    }
    let damaged = sandbox.write(&format!("cache/responses/ab/{}.json", "ab12".repeat(16)), "{");
    sandbox.run(&["cache", "verify"]).exits(1);
    assert!(!damaged.exists());
    let old = sandbox.write(&format!("cache/vectors/cd/{}.vec", "cd34".repeat(16)), "{");
    sandbox.run(&["cache", "prune", "--older-than", "0"]).exits(0);
    assert!(!old.exists());
    for name in mine {
        assert_eq!(fs::read_to_string(sandbox.path("cache").join(name)).unwrap(), "mine", "{name}");
    }
}

#[test]
fn finding_01_a_model_stays_in_the_folder_of_models() {
    let sandbox = Sandbox::new();
    let spec = "name = \"tiny\"\ndimension = 4\nmax_tokens = 64\npooling = \"mean\"\n";
    sandbox.write("spec.toml", spec);
    sandbox.write("models/kept/model.toml", spec);
    sandbox.write("mine/model.onnx", "mine");
    let mine = sandbox.path("mine").display().to_string();
    for name in ["..", ".", "", "../mine", mine.as_str()] {
        sandbox.run(&["model", "pull", name, "--spec", "spec.toml"]).refuses(&["`name` must"]);
        sandbox.run(&["model", "convert", "mine", "--spec", "spec.toml", "--name", name]).refuses(&["`name` must"]);
    }
    let there = ["model", "convert", "mine", "--spec", "spec.toml", "--out", "mine"];
    sandbox.run(&there).refuses(&["mine is not empty and holds no model that closeread converted"]);
    assert_eq!(fs::read_to_string(sandbox.path("mine/model.onnx")).unwrap(), "mine");
    assert!(sandbox.path("models/kept/model.toml").is_file());
}

#[test]
fn finding_02_no_table_or_tree_is_written_over_what_it_is_made_of() {
    let sandbox = Sandbox::new();
    let book = "The mill stood by the river. Ana came at dusk. ".repeat(30);
    sandbox.write("book.txt", &book);
    sandbox.run(&["tree", "book.txt", "--out", "./book.txt"]).refuses(&["--out ./book.txt is the input book.txt"]);
    assert_eq!(fs::read_to_string(sandbox.path("book.txt")).unwrap(), book);
    sandbox.write("set.csv", "mine");
    let stats = ["data", "stats", "frames", "--data", "set.csv", "--csv", "set.csv"];
    sandbox.run(&stats).refuses(&["--csv set.csv is the input set.csv"]);
    assert_eq!(fs::read_to_string(sandbox.path("set.csv")).unwrap(), "mine");
}

#[test]
#[cfg(unix)]
fn finding_03_links_in_folders_lead_nowhere_else() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let secret = "The key lies under the third stair. ".repeat(20);
    sandbox.write("home/secret.txt", &secret);
    sandbox.write("home/more/diary.txt", &secret);
    sandbox.write("set/read me.md", "Nothing.");
    for (target, link, options) in [
        ("home/secret.txt", "set/story.txt", &["build", "hamlet", "--out", "built", "--books", "set"][..]),
        ("home/secret.txt", "set/story.txt", &["build", "corpusqa", "--out", "built", "--documents", "set"]),
        ("home/secret.txt", "set/story.html", &["build", "corpusqa", "--out", "built", "--documents", "set"]),
        ("home", "set/stories", &["build", "hamlet", "--out", "built", "--books", "set"]),
        ("home/secret.txt", "set/story.txt", &["run", "--benchmark", "nocha", "--data", "set"]),
        ("home", "set/stories", &["run", "--benchmark", "nocha", "--data", "set"]),
    ] {
        symlink(sandbox.path(target), sandbox.path(link)).unwrap();
        let ended = sandbox.run(&[options, &MODEL[..]].concat()).exits(2);
        let said = ended.err();
        assert!(said.contains("leads out of set") && said.contains("--allow-outside"), "{options:?}: {said}");
        assert!(!said.contains("third stair"), "{said}");
        fs::remove_file(sandbox.path(link)).unwrap();
    }
    symlink(sandbox.path("home/secret.txt"), sandbox.path("set/story.txt")).unwrap();
    let allowed = [&["build", "hamlet", "--out", "built", "--books", "set", "--allow-outside"][..], &MODEL].concat();
    assert!(sandbox.run(&allowed).err().contains("story.txt: UTF-8"), "it is read when that is said");
}

#[test]
#[cfg(unix)]
fn finding_10_links_around_in_circles_end() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "set/one/preds_longbook_choice_eng.jsonl",
        format!("{}\n", json!({"id": 7, "prediction": "B. At the mill", "ground_truth": ["At the mill", "B"]})),
    );
    for name in ["set/up", "set/one/up", "set/one/again"] {
        std::os::unix::fs::symlink(sandbox.path("set"), sandbox.path(name)).unwrap();
    }
    let score = sandbox.run(&["score", "--format", "infinitebench", "set", "--json"]);
    assert_eq!(score.json()["n"], 1, "each file once");
    let run = ["run", "--benchmark", "infinitebench", "--data", "set", "--dry-run"];
    sandbox.run(&run).exits(2);
}
