//! Damaged, unfinished and foreign run folders: a case a finding, by the numbers of issue 19.

use crate::support::{Sandbox, run_tales, tales};
use serde_json::{Value, json};
use std::fs;

const RUN: [&str; 4] = ["--method", "closed-book,dos-rag", "--budget", "30"];

/// A run of the tales in the folder `r`, and the command that made it.
fn run(sandbox: &Sandbox) -> Vec<&'static str> {
    tales(sandbox);
    run_tales(sandbox, "r", &RUN);
    let command = ["run", "--benchmark", "tales", "--retriever", "bm25", "--passage-tokens", "12", "--out", "r"];
    [&command[..], &RUN].concat()
}

#[test]
fn an_address_in_a_store_that_is_not_spoken_to_is_no_folder_of_this_machine() {
    let sandbox = Sandbox::new();
    run(&sandbox);
    let refusal = [
        "gs://evals/runs/first: closeread does not speak to this store, because",
        "gcloud storage rsync --recursive gs://evals/runs/first DIR",
        "s3://BUCKET/PATH",
    ];
    sandbox
        .run(&["run", "--benchmark", "tales", "--method", "closed-book", "--out", "gs://evals/runs/first"])
        .refuses(&refusal);
    sandbox.run(&["report", "gs://evals/runs/first"]).refuses(&refusal);
    sandbox.write("options.toml", "out = \"gs://evals/runs/first\"\n");
    sandbox
        .run(&["run", "--config", "options.toml", "--benchmark", "tales", "--method", "closed-book"])
        .refuses(&refusal);
    sandbox.write("data.toml", "data = [\"gs://evals/runs/first\"]\n");
    sandbox.run(&["run", "--config", "data.toml", "--benchmark", "novelqa", "--out", "x"]).refuses(&refusal);
    assert!(!sandbox.path("gs:").exists());
    for address in ["s3a://evals/r", "S3://evals/r", "azure://evals/r"] {
        sandbox
            .run(&["run", "--benchmark", "tales", "--method", "closed-book", "--out", address])
            .refuses(&["does not speak to this store", "s3://BUCKET/PATH"]);
    }
}

#[test]
fn what_is_written_on_this_machine_alone_is_not_written_into_a_copy_of_a_stores_folder() {
    let sandbox = Sandbox::new();
    run(&sandbox);
    for command in [
        &["report", "r", "--csv", "s3://evals/x"][..],
        &["report", "r", "--html=s3://evals/x"],
        &["gate", "r", "--max-cost", "1", "--junit", "s3://evals/x"],
        &["submit", "slurm", "--parts", "2", "--out", "p", "--logs", "s3://evals/x", "--", "--method", "closed-book"],
        &["leaderboard", "s3://evals/x", "--runs", "r"],
        &["people", "read", "s3://evals/x", "ann.json"],
        &["man", "s3://evals/x"],
    ] {
        sandbox.run(command).refuses(&["s3://evals/x: closeread", "writes on this machine"]);
    }
}

/// Leaves the first lines of a file.
fn shorten(sandbox: &Sandbox, name: &str, n_lines: usize) {
    let text = fs::read_to_string(sandbox.path(name)).unwrap();
    let kept: String = text.split_inclusive('\n').take(n_lines).collect();
    assert!(kept.len() < text.len());
    sandbox.write(name, kept);
}

#[test]
fn finding_04_no_command_appends_to_a_folder_of_another_format() {
    let sandbox = Sandbox::new();
    let again = run(&sandbox);
    let mut manifest: Value = serde_json::from_slice(&fs::read(sandbox.path("r/manifest.json")).unwrap()).unwrap();
    manifest["format"] = json!(9);
    sandbox.write("r/manifest.json", manifest.to_string());
    let records = fs::read(sandbox.path("r/records.jsonl")).unwrap();
    for more in [&[][..], &["--fresh"], &["--extend"], &["--limit", "3", "--extend"]] {
        sandbox
            .run(&[&again[..], more].concat())
            .refuses(&["has format 9, and this closeread reads format 2", "--out"]);
    }
    sandbox.run(&["merge", "r", "--out", "m"]).refuses(&["has format 9"]);
    sandbox.run(&["judge", "r", "--judge-model", "builtin/rule"]).refuses(&["has format 9"]);
    assert_eq!(fs::read(sandbox.path("r/records.jsonl")).unwrap(), records);
}

#[test]
fn finding_05_a_last_line_that_lacks_its_line_feed_is_neither_left_out_nor_made_again() {
    let sandbox = Sandbox::new();
    let again = run(&sandbox);
    sandbox.run(&["judge", "r", "--judge-model", "builtin/rule"]).exits(0);
    let before = sandbox.run(&["report", "r", "--json"]).exits(0).json();
    let files = ["r/records.jsonl", "r/judgements.jsonl"];
    let written = files.map(|name| fs::read_to_string(sandbox.path(name)).unwrap());
    for (name, text) in files.iter().zip(&written) {
        sandbox.write(name, text.trim_end());
    }
    assert_eq!(sandbox.run(&["report", "r", "--json"]).exits(0).json(), before);
    sandbox.run(&["export", "parquet", "r", "--out", "tables"]).exits(0);
    sandbox.run(&again).exits(0);
    sandbox.run(&["judge", "r", "--judge-model", "builtin/rule"]).exits(0);
    for (name, text) in files.iter().zip(&written) {
        assert_eq!(fs::read_to_string(sandbox.path(name)).unwrap(), *text, "{name}");
    }
}

#[test]
fn finding_05_items_that_are_lost_are_in_every_rendering_and_in_the_exit_code() {
    let sandbox = Sandbox::new();
    let again = run(&sandbox);
    let cells = ["--method", "closed-book,dos-rag", "--metric", "accuracy"];
    for whole in [&["verify", "r"][..], &["report", "r"], &[&["compare", "r"][..], &cells].concat()] {
        sandbox.run(whole).exits(0);
    }
    shorten(&sandbox, "r/items.jsonl", 9);
    let damaged = "DAMAGED: items.jsonl, with 9 of 18 items, is not as the run wrote it";
    let left_out = "DAMAGED: 18 records are of items that items.jsonl does not have";
    let compare = [&["compare", "r"][..], &cells].concat();
    let as_json = [&compare[..], &["--json"]].concat();
    for command in [
        &["verify", "r"][..],
        &["verify", "r", "--json"],
        &["report", "r"],
        &["report", "r", "--json"],
        &["report", "r", "--latex"],
        &compare,
        &as_json,
    ] {
        let out = sandbox.run(command).exits(1).out();
        assert!(out.contains(damaged) && out.contains(left_out), "{command:?}: {out}");
    }
    sandbox.run(&["report", "r", "--csv", "r.csv", "--html", "site"]).exits(1);
    let csv = fs::read_to_string(sandbox.path("r.csv")).unwrap();
    assert!(csv.lines().skip(1).all(|line| line.contains("(incomplete)") && line.ends_with(",no")), "{csv}");
    let page = fs::read_to_string(sandbox.path("site/index.html")).unwrap();
    assert!(page.contains(damaged) && page.contains("(incomplete)</title>"), "{page}");

    sandbox.run(&again).exits(0);
    sandbox.run(&["verify", "r"]).exits(0);
}

#[test]
fn finding_05_records_that_are_lost_are_told_by_verify_compare_and_merge() {
    let sandbox = Sandbox::new();
    run(&sandbox);
    shorten(&sandbox, "r/records.jsonl", 26);
    let missing = "INCOMPLETE: 10 of 36 trials have no record";
    let out = sandbox.run(&["verify", "r"]).exits(1).out();
    assert!(out.contains(missing), "{out}");
    let cells = ["--method", "closed-book,dos-rag", "--metric", "accuracy"];
    let out = sandbox.run(&[&["compare", "r"][..], &cells].concat()).exits(1).out();
    assert!(out.contains(missing), "{out}");
    let merged = sandbox.run(&["merge", "r", "--out", "m"]).exits(1);
    assert!(merged.out().contains("trials 26 of 36") && merged.err().contains(missing), "{}", merged.err());
    shorten(&sandbox, "r/items.jsonl", 9);
    sandbox
        .run(&["merge", "r", "--out", "n"])
        .refuses(&["items.jsonl is damaged", "give the command of that part again"]);
}

#[test]
fn finding_06_damaged_texts_and_prices_are_made_anew_or_a_remedy_is_named() {
    let sandbox = Sandbox::new();
    let again = run(&sandbox);
    let text = fs::read_dir(sandbox.path("r/texts")).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&text).unwrap();
    fs::write(&text, &whole[..whole.len() / 2]).unwrap();
    let report = sandbox.run(&["report", "r"]).exits(1);
    assert!(report.out().contains("DAMAGED: the text of document `tale-"), "{}", report.out());
    sandbox.run(&["verify", "r"]).refuses(&["the text of one of its documents", "give the run's command again"]);
    sandbox.write("r/prices.json", "{\"models\": ");
    for command in ["verify", "report"] {
        sandbox.run(&[command, "r"]).refuses(&["prices.json", "the run's command makes the file anew"]);
    }
    let resumed = sandbox.run(&again).exits(0);
    assert!(resumed.err().contains("prices.json is damaged") && resumed.err().contains("is made anew"));
    assert!(resumed.err().contains(".txt.zst is damaged and is written anew"), "{}", resumed.err());
    assert_eq!(fs::read(&text).unwrap(), whole);
    sandbox.run(&["report", "r"]).exits(0);
    sandbox.run(&["verify", "r"]).exits(0);
}

#[cfg(unix)]
#[test]
fn finding_01_what_a_link_in_a_run_folder_leads_to_is_not_written() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let run = ["run", "--benchmark", "tales", "--method", "closed-book", "--retriever", "bm25", "--out", "r"];
    sandbox.run(&run).exits(0);
    let own = sandbox.write("own.txt", "mine\n");
    for name in ["records.jsonl", "report.json", "texts"] {
        let path = sandbox.path("r").join(name);
        let aside = sandbox.path("aside");
        std::fs::rename(&path, &aside).unwrap();
        std::os::unix::fs::symlink(if name == "texts" { sandbox.path("tales") } else { own.clone() }, &path).unwrap();
        for more in [&[][..], &["--fresh"]] {
            sandbox.run(&[&run[..], more].concat()).refuses(&[name, "is a link"]);
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&aside, &path).unwrap();
    }
    assert_eq!(std::fs::read_to_string(own).unwrap(), "mine\n");
    sandbox.run(&run).exits(0);
}

#[test]
fn finding_15_limits_in_a_file_of_the_user_that_cannot_be_read_are_not_left_out() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let run = ["run", "--benchmark", "tales", "--method", "closed-book", "--dry-run"];
    sandbox.write("elsewhere.toml", "max-cost = 1.0");
    for name in ["run.toml", "models.toml"] {
        sandbox.write(&format!("config/{name}/x"), "");
        sandbox.run(&run).refuses(&[&format!("config/{name}")]);
        fs::remove_dir_all(sandbox.path("config")).unwrap();
    }
    #[cfg(unix)]
    {
        fs::create_dir(sandbox.path("config")).unwrap();
        std::os::unix::fs::symlink("../moved.toml", sandbox.path("config/run.toml")).unwrap();
        sandbox.run(&run).refuses(&["config/run.toml", "No such file"]);
        fs::remove_dir_all(sandbox.path("config")).unwrap();
        // The file in the place of its folder.
        let of_file =
            |variable: &str, path| crate::support::Ended(sandbox.command(&run).env(variable, path).output().unwrap());
        of_file("CLOSEREAD_CONFIG", sandbox.path("elsewhere.toml"))
            .refuses(&["elsewhere.toml/run.toml", "a directory"]);
    }
    sandbox.run(&run).exits(0);
}
