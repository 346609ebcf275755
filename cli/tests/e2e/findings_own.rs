//! Protection of a person's own files: files in the cache folder, inputs named as outputs, links and names that lead
//! elsewhere. A case a finding, by the numbers of issue 19.

use crate::fault_server::{FaultServer, cases, response, run_cases};
use crate::support::{Ended, Sandbox, tales};
use serde_json::json;
use std::fs;

/// Options that builds and runs need besides, and that ask nobody.
const MODEL: [&str; 5] = ["--model", "openai-compatible/tiny", "--base-url", "http://127.0.0.1:1/v1", "--dry-run"];

#[test]
fn finding_01_the_cache_is_tidied_of_its_own_files_alone() {
    let sandbox = Sandbox::with_own_cache();
    let kept = format!("responses/ab/{}.json.bak", "ab12".repeat(16));
    let mine = ["responses/study.jsonl", "responses/2024/notes.json", "responses/ab/read me.txt", "vectors/ab/map.vec"];
    let mine = mine.into_iter().chain([kept.as_str()]).collect::<Vec<_>>();
    for name in &mine {
        sandbox.write(&format!("cache/{name}"), "mine");
    }
    let damaged = sandbox.write(&format!("cache/responses/ab/{}.json", "ab12".repeat(16)), "{");
    sandbox.run(&["cache", "verify"]).exits(1);
    assert!(!damaged.exists());
    // Tests may run as root, who may read every file: one that is too large stands for one that may not be read.
    let unread = sandbox.write(&format!("cache/responses/ef/{}.json", "ef56".repeat(16)), "");
    fs::File::options().write(true).open(&unread).unwrap().set_len(closeread_files::MAX_FILE_BYTES + 1).unwrap();
    let said = sandbox.run(&["cache", "verify"]).exits(1).out();
    assert!(said.contains("left as it is") && said.contains("1 that cannot be read"), "{said}");
    fs::remove_file(unread).unwrap();
    let old = sandbox.write(&format!("cache/vectors/cd/{}.vec", "cd34".repeat(16)), "{");
    sandbox.run(&["cache", "prune", "--older-than", "0"]).exits(0);
    assert!(!old.exists());
    for name in mine {
        assert_eq!(fs::read_to_string(sandbox.path("cache").join(name)).unwrap(), "mine", "{name}");
    }
}

#[test]
fn copies_of_folders_in_object_stores_are_listed_and_pruned_but_for_what_is_sent() {
    let sandbox = Sandbox::with_own_cache();
    let hash = "ab12".repeat(4);
    for name in ["first/records.jsonl", "first/texts/a.txt.zst", "index.json", "lock"] {
        sandbox.write(&format!("cache/remote/read/{hash}/{name}"), "copy");
        sandbox.write(&format!("cache/remote/written/{hash}/{name}"), "unsent");
    }
    sandbox.write("cache/remote/read/mine/first/records.jsonl", "mine");
    let n_copied = || sandbox.run(&["cache", "list", "--json"]).exits(0).json()["copies"]["n"].clone();
    assert_eq!(n_copied(), 9);
    sandbox.run(&["cache", "prune", "--older-than", "1"]).exits(0);
    sandbox.run(&["cache", "prune", "--older-than", "0", "--model", "openai/gpt-4.1"]).exits(0);
    assert_eq!(n_copied(), 9);
    let readers = sandbox.write(&format!("cache/remote/read/{hash}/readers.lock"), "");
    let reader = fs::File::open(&readers).unwrap();
    reader.lock_shared().unwrap();
    sandbox.run(&["cache", "prune", "--older-than", "0"]).exits(0);
    assert_eq!(n_copied(), 10, "a run reads from the copy");
    drop(reader);
    sandbox.run(&["cache", "prune", "--older-than", "0"]).exits(0);
    assert_eq!(n_copied(), 7, "what is sent, the locks of the copy, and a person's file stay");
    assert!(!sandbox.path(&format!("cache/remote/read/{hash}/first")).exists());
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
fn finding_02_tables_in_a_folder_replace_no_file_but_closereads_own() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let stats = ["data", "stats", "tales", "--csv", "mine"];
    sandbox.write("mine/lengths.csv", "book,pages\nmill,12\n");
    sandbox.run(&stats).refuses(&["mine/lengths.csv is there and is no table that closeread wrote"]);
    assert_eq!(fs::read_dir(sandbox.path("mine")).unwrap().count(), 1, "nothing is written beside it");
    fs::remove_file(sandbox.path("mine/lengths.csv")).unwrap();
    for _ in 0..2 {
        sandbox.run(&stats).exits(0);
    }
}

#[test]
fn finding_02_no_build_or_bundle_discards_what_it_is_made_of() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    sandbox.write("scorer", "a program");
    let bundle = ["export", "codabench", "tales", "--title", "T", "--start", "2026-12-01", "--scorer", "scorer"];
    sandbox.run(&[&bundle[..], &["--out", "scorer"]].concat()).refuses(&["--out scorer is the input scorer"]);
    assert_eq!(fs::read_to_string(sandbox.path("scorer")).unwrap(), "a program");
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample/corpus");
    let (table, schema) = (format!("{corpus}/table.csv"), format!("{corpus}/manifest.json"));
    let build = ["build", "corpusqa", "--entity", "a,b", "--least-tokens", "900", "--lengths", "8K", "--out", "c"];
    sandbox.run(&[&build[..], &["--documents", corpus, "--table", &table, "--schema", &schema]].concat()).exits(0);
    let documents = fs::read(sandbox.path("c/documents.jsonl")).unwrap();
    for (documents, table) in [("c", table.as_str()), (corpus, "c/table.csv"), ("c/texts", &table)] {
        let of_itself = ["--documents", documents, "--table", table, "--schema", &schema, "--fresh"];
        sandbox.run(&[&build[..], &of_itself].concat()).refuses(&["--out c holds c", "which is read"]);
    }
    assert_eq!(fs::read(sandbox.path("c/documents.jsonl")).unwrap(), documents);
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
    sandbox.write("books/story.txt", "Ana came to the mill at dusk.");
    let about =
        ["build", "sagascale", "--out", "built", "--no-realism", "--books", "books/story.txt", "--articles", "set"];
    for (target, link, options) in [
        ("home/secret.txt", "set/story.txt", &["build", "hamlet", "--out", "built", "--books", "set"][..]),
        ("home/secret.txt", "set/story.txt", &["build", "corpusqa", "--out", "built", "--documents", "set"]),
        ("home/secret.txt", "set/story.html", &["build", "corpusqa", "--out", "built", "--documents", "set"]),
        ("home", "set/stories", &["build", "hamlet", "--out", "built", "--books", "set"]),
        ("home/secret.txt", "set/story.txt", &["run", "--benchmark", "nocha", "--data", "set"]),
        ("home", "set/stories", &["run", "--benchmark", "nocha", "--data", "set"]),
        ("home/secret.txt", "set/story.wiki", &about),
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

/// A finished run of one question.
fn run_of_one(sandbox: &Sandbox) {
    cases(sandbox, &["a".to_owned()]);
    sandbox.run(&["run", "--benchmark", "cases", "--method", "closed-book", "--out", "r"]).exits(0);
}

#[test]
fn finding_01_a_study_is_written_into_no_folder_of_something_else() {
    let sandbox = Sandbox::new();
    run_of_one(&sandbox);
    sandbox.write("mine/page.html", "mine");
    sandbox.write("mine/study.json", "mine");
    for (out, there) in [("mine", "page.html"), ("cases", "documents.jsonl"), ("r", "items.jsonl")] {
        let before = fs::read(sandbox.path(out).join(there)).unwrap();
        let answer = ["people", "answer", "--benchmark", "cases", "--out", out];
        sandbox
            .run(&answer)
            .refuses(&[&format!("{out} holds `"), "and no study: name an empty or a new folder by --out"]);
        sandbox.run(&["people", "rate", "r", "--ask", "correctness", "--out", out]).refuses(&["and no study"]);
        assert_eq!(fs::read(sandbox.path(out).join(there)).unwrap(), before, "{out}");
    }
    let again = ["people", "answer", "--benchmark", "cases", "--out", "study"];
    sandbox.run(&again).exits(0);
    sandbox.run(&again).refuses(&["study holds a study already"]);
}

#[test]
fn finding_02_no_report_is_written_over_a_part_of_a_run() {
    let sandbox = Sandbox::new();
    run_of_one(&sandbox);
    for file in ["records.jsonl", "items.jsonl", "manifest.json", "report.json"] {
        let target = format!("r/{file}");
        let before = fs::read(sandbox.path(&target)).unwrap();
        let gate = ["gate", "r", "--min", "accuracy=0.1"];
        for args in [
            vec!["export", "markdown", "r", "--out", &target],
            vec!["export", "novelqa", "r", "--out", &target],
            [&gate[..], &["--junit", &target]].concat(),
            [&gate[..], &["--summary", &target]].concat(),
        ] {
            sandbox.run(&args).refuses(&["it is part of the run in that folder; name another file"]);
        }
        assert_eq!(fs::read(sandbox.path(&target)).unwrap(), before, "{file}");
    }
    for part in ["batches/0001.json", "preparations/notes.md"] {
        let target = sandbox.write(&format!("r/{part}"), "ours").display().to_string();
        sandbox.run(&["export", "markdown", "r", "--out", &target]).refuses(&["it is part of the run in that folder"]);
        fs::remove_file(target).unwrap();
    }
    sandbox.run(&["export", "markdown", "r", "--out", "r/notes.md"]).exits(0);
}

#[test]
fn finding_06_judges_without_a_model_that_judges_are_refused() {
    let sandbox = Sandbox::new();
    run_of_one(&sandbox);
    let run = ["run", "--benchmark", "cases", "--method", "closed-book", "--out", "x"];
    sandbox
        .run(&[&run[..], &["--judge", "judge-novelqa"]].concat())
        .refuses(&["name the model that does by --judge-model"]);
    sandbox.run(&[&run[..], &["--judge", "a/b"]].concat()).refuses(&["models are named by --judge-model"]);
}

#[test]
fn finding_15_a_key_in_the_place_of_a_value_is_not_repeated() {
    let sandbox = Sandbox::new();
    let key = "sk-proj-0123456789abcdef";
    let given = format!("--budget={key}");
    for args in [&["run", "--budget", key][..], &["run", &given], &["run", "--model", key], &["report", key]] {
        let ended = sandbox.run(args);
        assert!(!ended.0.status.success() && !ended.err().contains(key), "{args:?}: {}", ended.err());
        assert!(ended.err().contains("***"), "{args:?}: {}", ended.err());
    }
}

#[test]
fn finding_15_a_key_in_the_place_of_a_fields_name_is_not_repeated() {
    let sandbox = Sandbox::new();
    for text in ["sk-PLANTED-0123456789 = 1", "[sk-PLANTED-0123456789]\nx = 1", "limit = 'sk-PLANTED-0123456789'"] {
        sandbox.write("c.toml", text);
        let said = sandbox.run(&["run", "--config", "c.toml", "--dry-run"]).exits(2).err();
        assert!(said.contains("c.toml:1: ") && !said.contains("PLANTED"), "{said}");
    }
    sandbox.write("c.toml", "methods = 'x'");
    sandbox
        .run(&["run", "--config", "c.toml", "--dry-run"])
        .refuses(&["unknown option `methods` (did you mean `method`?)"]);
}

#[test]
fn finding_02_nothing_is_written_over_a_file_of_a_folder_that_is_read() {
    let sandbox = Sandbox::new();
    cases(&sandbox, &["a".to_owned()]);
    sandbox.write("p.jsonl", "{\"item\": \"a\", \"answer\": \"[[1]]\"}\n");
    let before = fs::read(sandbox.path("cases/items.jsonl")).unwrap();
    let score = ["score", "--gold", "cases", "--predictions", "p.jsonl", "--write", "cases/items.jsonl"];
    sandbox.run(&score).refuses(&["--write cases/items.jsonl lies in cases, which is read"]);
    assert_eq!(fs::read(sandbox.path("cases/items.jsonl")).unwrap(), before);
}

#[test]
fn finding_01_a_page_or_an_export_is_written_over_nothing_of_a_persons() {
    let sandbox = Sandbox::new();
    let page = sandbox.write("man1/closeread-run.1", ".TH mine 1\n");
    sandbox.run(&["man", "man1"]).refuses(&["closeread-run.1 is no page of closeread's manual: move it away"]);
    assert_eq!(fs::read_to_string(&page).unwrap(), ".TH mine 1\n");
    assert_eq!(fs::read_dir(sandbox.path("man1")).unwrap().count(), 1, "none of the others is written");
    fs::remove_file(page).unwrap();
    (0..2).for_each(|_| drop(sandbox.run(&["man", "man1"]).exits(0)));

    run_of_one(&sandbox);
    let export = ["export", "parquet", "r", "--out", "tables"];
    sandbox.run(&export).exits(0);
    fs::write(sandbox.path("tables/export-files.json"), "[]").unwrap();
    sandbox.run(&export).refuses(&["is no part of an export: move it away"]);
}

#[test]
#[cfg(unix)]
fn finding_15_an_env_file_that_is_none_is_named() {
    let sandbox = Sandbox::new();
    cases(&sandbox, &["a".to_owned()]);
    let run = ["providers", "check", "openai/tiny"];
    let made = |command: &str| std::process::Command::new(command).arg(sandbox.path(".env")).status().unwrap();
    for what in ["mkfifo", "link"] {
        match what {
            "link" => std::os::unix::fs::symlink("/nowhere/at/all", sandbox.path(".env")).unwrap(),
            command => assert!(made(command).success()),
        }
        let mut command = sandbox.command(&run);
        let ended = crate::support::Ended(command.env_remove("OPENAI_API_KEY").output().unwrap());
        assert!(ended.err().contains(".env: skipped: it is a pipe, a device or a link to nothing"), "{}", ended.err());
        fs::remove_file(sandbox.path(".env")).unwrap();
    }
    fs::create_dir(sandbox.path(".env")).unwrap();
    let mut command = sandbox.command(&run);
    let ended = crate::support::Ended(command.env_remove("OPENAI_API_KEY").output().unwrap());
    assert!(!ended.err().contains("skipped"), "an environment of Python's: {}", ended.err());
}

#[test]
fn finding_15_no_key_of_a_receiver_is_printed() {
    let sandbox = Sandbox::new();
    run_of_one(&sandbox);
    for address in ["http://u:sk-PLANTED@127.0.0.1:1/v1", "http://127.0.0.1:1/x?api_key=sk-PLANTED", "sk-PLANTED"] {
        let ended = sandbox.run(&["export", "otlp", "r", "--endpoint", address]).exits(2);
        assert!(!ended.err().contains("sk-PLANTED"), "{}", ended.err());
    }
}

#[test]
#[cfg(unix)]
fn finding_10_an_argument_of_any_bytes_is_an_argument() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let odd = std::ffi::OsStr::from_bytes(b"x\xff\xfey");
    let ended = sandbox.command(&["report"]).arg(odd).output().unwrap();
    Ended(ended).refuses(&["not UTF-8: `x\u{fffd}\u{fffd}y`"]);
    let sampled =
        sandbox.command(&["run", "--method", "closed-book", "--limit", "1", "--out"]).arg(odd).output().unwrap();
    assert_eq!(sampled.status.code(), Some(0), "{}", String::from_utf8_lossy(&sampled.stderr));
}

#[test]
#[cfg(unix)]
fn finding_03_config_names_the_file_that_is_a_pipe() {
    let sandbox = Sandbox::new();
    assert!(std::process::Command::new("mkfifo").arg(sandbox.path("my.toml")).status().unwrap().success());
    sandbox.run(&["config", "--config", "my.toml"]).refuses(&["cannot read the config my.toml", "a pipe or a device"]);
}

#[test]
fn finding_07_a_response_that_was_packed_wrapped_or_streamed_on_the_way_is_charged() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["a".to_owned()]);
    let cent = "['openai-compatible/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0, output = 1_000 }\n";
    sandbox.write("prices.toml", cent);
    let limited = ["--max-output-tokens", "10", "--model-info", "prices.toml", "--max-cost", "0.02", "--no-cache"];
    for (headers, body, n_requests, told) in [
        ("content-encoding: br\r\n", "\u{1}\u{2}\u{3}", 1, "is packed (content-encoding: br)"),
        ("", "\u{1}\u{2}\u{3}", 2, "--max-cost leaves no money to ask again"),
        ("", "data: {\"choices\": []}\n\n", 2, "--max-cost leaves no money to ask again"),
        ("", "{\"result\": {\"response\": \"Ana\"}}", 2, "--max-cost leaves no money to ask again"),
    ] {
        let server = FaultServer::start(move |_, _, _| response("200 OK", headers, body));
        let run = run_cases("openai-compatible/tiny", &server.url, &limited);
        let ended = sandbox.run(&[&run[..], &["--fresh"]].concat()).exits(1);
        assert!(ended.err().contains(told), "{}", ended.err());
        assert_eq!(server.n_requests(), n_requests, "{body}");
    }
}

#[test]
fn finding_01_an_export_that_is_refused_leaves_no_folder() {
    let sandbox = Sandbox::new();
    cases(&sandbox, &["a".to_owned()]);
    sandbox.run(&["run", "--benchmark", "cases", "--method", "closed-book", "--out", "r"]).exits(0);
    sandbox.run(&["export", "trec", "r", "--out", "t"]).refuses(&["no item has gold evidence"]);
    assert!(!sandbox.path("t").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn finding_03_a_file_that_cannot_be_read_is_named() {
    Sandbox::new().run(&["report", "/proc/self/mem"]).refuses(&["cannot read /proc/self/mem"]);
}

#[test]
#[cfg(feature = "object-stores")]
fn finding_04_an_empty_variable_of_a_store_is_as_none() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["report", "az://books/run"]);
    let ended = Ended(command.env("AZURE_STORAGE_USE_EMULATOR", "").output().unwrap()).exits(2);
    assert!(ended.err().contains("az://books/run") && !ended.err().contains("boolean"), "{}", ended.err());
}
