//! The format of run folders: one that lies in the repository is read as it was written, others are refused.

use crate::support::Sandbox;
use expect_test::expect_file;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder that `tests/run-format-2/README.md` says how to make.
fn stored() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/run-format-2/run")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
fn a_folder_of_this_format_gives_its_report_number_by_number() {
    let sandbox = Sandbox::new();
    copy(&stored(), &sandbox.path("run"));
    let report = sandbox.run(&["report", "run"]).exits(0);
    expect_file!["../../../tests/run-format-2/report.txt"].assert_eq(&report.out());
}

#[test]
fn a_folder_of_another_format_is_refused_by_name() {
    let sandbox = Sandbox::new();
    copy(&stored(), &sandbox.path("run"));
    let file = sandbox.path("run/manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    manifest["format"] = json!(1);
    fs::write(&file, manifest.to_string()).unwrap();
    let again = ["run", "--method", "closed-book", "--retriever", "bm25", "--out", "run"];
    sandbox.run(&again).refuses(&["has format 1", "reads format 2", "--out"]);
    for command in [&["report", "run"][..], &["compare", "run", "run"], &["merge", "--out", "m", "run", "run"]] {
        sandbox.run(command).refuses(&["manifest.json has format 1", "reads format 2"]);
    }
}

#[test]
fn a_configuration_has_the_name_that_it_was_given_last() {
    let sandbox = Sandbox::new();
    let run = |more: &[&str]| {
        let fixed = ["run", "--method", "closed-book", "--limit", "1", "--out", "r"];
        let ended = sandbox.run(&[&fixed[..], more].concat());
        let manifest = fs::read(sandbox.path("r/manifest.json")).unwrap_or_default();
        (ended, serde_json::from_slice(&manifest).unwrap_or(Value::Null)["configuration_name"].clone())
    };
    assert_eq!(run(&[]).1, Value::Null);
    assert_eq!(run(&["--name", "thinking"]).1, "thinking");
    assert_eq!(run(&[]).1, "thinking", "kept where none is given");
    assert_eq!(run(&["--name", "int4"]).1, "int4");
    for wrong in ["", "a=b", "a\nb"] {
        run(&["--name", wrong]).0.refuses(&["--name", "without `=`"]);
    }
}
