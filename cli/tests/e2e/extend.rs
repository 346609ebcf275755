//! A run whose options change: refused with what changed, or taken on with more.

use crate::fault_server::{FaultServer, cases, response, run_cases};
use crate::provider::answer;
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

const MODEL: &str = "openai-compatible/tiny";

fn server() -> FaultServer {
    FaultServer::start(|_, _, _| response("200 OK", "", &answer("[[1]]")))
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("q{n}")).collect()
}

/// The lines of a file of the run, each once.
fn lines(sandbox: &Sandbox, file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(sandbox.path("r").join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A prompt in the place of ours.
fn prompt(sandbox: &Sandbox, name: &str, words: &str) {
    let head = "+++\npaper = 'ours'\nvariables = ['title', 'question', 'options']\nresponse = '[[1]]'\n+++\n";
    sandbox.write(&format!("prompts/{name}.md"), format!("{head}{words} {{{{ question }}}}"));
}

#[test]
fn what_decides_an_answer_may_not_change_and_what_does_not_may() {
    let server = server();
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names(3));
    let base = run_cases(MODEL, &server.url, &[]);
    sandbox.run(&base).exits(0);
    let with = |more: &[&'static str]| [&base[..], more].concat();

    sandbox.write(
        "prices.toml",
        "['openai-compatible/tiny']\nsource = 's'\ndate = '2026-01-02'\nmax_output = 900\nprice = { input = 1, output = 1 }",
    );
    let free = [
        "--concurrency",
        "3",
        "--timeout",
        "60",
        "--model-info",
        "prices.toml",
        "--rpm",
        "600",
        "--max-cost",
        "9",
        "-v",
    ];
    let run = sandbox.command(&with(&free)).env("OPENAI_COMPATIBLE_API_KEY", "another").output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(server.n_requests(), 3);

    prompt(&sandbox, "closed-book-choice", "Say which.");
    sandbox.run(&with(&["--prompts", "prompts"])).refuses(&["prompts.closed-book-choice", "there", "now", "--extend"]);
    let other = base.iter().map(|argument| if *argument == MODEL { "openai-compatible/other" } else { argument });
    sandbox.run(&other.collect::<Vec<_>>()).refuses(&["cells: closed-book openai-compatible/other", "nothing there"]);
    cases(&sandbox, &names(4));
    sandbox.run(&base).refuses(&["items: 3 there, 4 now\n  Use the same options to resume it"]);
    let text = std::fs::read_to_string(sandbox.path("cases/documents.jsonl")).unwrap();
    sandbox.write("cases/documents.jsonl", text.replace("dusk", "noon"));
    sandbox.run(&base).refuses(&["documents: book.sha256"]);
    assert_eq!(server.n_requests(), 3, "nothing was asked");
}

#[test]
fn a_run_is_extended_by_items_methods_budgets_models_and_repetitions() {
    let server = server();
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names(3));
    let run = |options: &[&'static str]| {
        let fixed = ["run", "--benchmark", "cases", "--retriever", "bm25", "--out", "r", "--json", "--no-cache"];
        sandbox.run(&[&fixed[..], &["--base-url", &server.url, "--extend"], options].concat())
    };
    let small = ["--model", MODEL, "--method", "closed-book", "--limit", "2"];
    run(&small).exits(0);
    let mut before = lines(&sandbox, "records.jsonl");
    let mut n_asked = server.n_requests();
    assert_eq!((before.len(), n_asked), (2, 2), "where there is no run yet it begins");
    let steps: [(&[&'static str], usize); 4] = [
        (&["--model", MODEL, "--method", "closed-book"], 1),
        (&["--model", MODEL, "--method", "closed-book,dos-rag", "--budget", "30"], 3),
        (&["--model", MODEL, "--method", "closed-book,dos-rag", "--budget", "30,60", "--repeats", "2"], 3 + 3 + 6),
        (
            &[
                "--model",
                "openai-compatible/tiny,openai-compatible/b",
                "--method",
                "closed-book,dos-rag",
                "--budget",
                "30,60",
                "--repeats",
                "2",
            ],
            18,
        ),
    ];
    for (options, n_new) in steps {
        let ended = run(options).exits(0);
        let words = format!("r is extended: {} finished trials stay as they are\n", before.len());
        assert!(ended.err().contains(&words), "{words}{}", ended.err());
        let after = lines(&sandbox, "records.jsonl");
        assert!(after.is_superset(&before), "what was finished stays as it is");
        assert_eq!((after.len() - before.len(), server.n_requests() - n_asked), (n_new, n_new), "{options:?}");
        assert_eq!(ended.json()["complete"], true);
        (before, n_asked) = (after, server.n_requests());
    }
    let manifest: Value = serde_json::from_slice(&std::fs::read(sandbox.path("r/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["extended"].as_array().unwrap().len(), 4, "the manifest says what was changed");
    sandbox.run(&["verify", "r"]).exits(0);

    for (less, words) in [
        (&small[..], "items: q2"),
        (&["--model", MODEL, "--method", "closed-book"][..], "dos-rag at 30 with"),
        (&["--model", MODEL, "--method", "closed-book", "--seed", "7"], "seed: null there, 7 now"),
        (
            &["--model", MODEL, "--method", "closed-book", "--max-output-tokens", "9"],
            "max_output_tokens: null there, 9 now",
        ),
    ] {
        let ended = run(less).exits(2);
        assert!(ended.err().contains("cannot be extended to this") || ended.err().contains(words), "{}", ended.err());
        assert!(ended.err().contains(words) || words.starts_with("items"), "{words}: {}", ended.err());
    }
    assert_eq!(lines(&sandbox, "records.jsonl"), before);
}

#[test]
fn what_a_changed_prompt_item_or_method_touches_is_asked_again_and_nothing_else() {
    let server = server();
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names(3));
    let run = |options: &[&str]| {
        let methods = ["--method", "closed-book,dos-rag", "--retriever", "bm25", "--budget", "30"];
        let fixed = ["run", "--benchmark", "cases", "--out", "r", "--json", "--model", MODEL, "--extend", "--no-cache"];
        sandbox.run(&[&fixed[..], &methods, &["--base-url", &server.url], options].concat()).exits(0)
    };
    let asked_by = |options: &[&str]| {
        let before = server.n_requests();
        let ended = run(options);
        assert_eq!(ended.json()["complete"], true);
        (server.n_requests() - before, lines(&sandbox, "superseded.jsonl").len(), ended.err())
    };
    assert_eq!(asked_by(&[]).0, 6);
    prompt(&sandbox, "closed-book-choice", "Say which.");
    let (n, n_superseded, said) = asked_by(&["--prompts", "prompts"]);
    assert_eq!((n, n_superseded), (3, 3), "the other method's prompt is the same: {said}");
    assert!(said.contains("3 finished trials stay as they are; 3 change and are asked again"), "{said}");

    let items = std::fs::read_to_string(sandbox.path("cases/items.jsonl")).unwrap();
    sandbox.write("cases/items.jsonl", items.replace("Case q1: who came", "Case q1: who, then, came"));
    assert_eq!((asked_by(&["--prompts", "prompts"]).0, lines(&sandbox, "superseded.jsonl").len()), (2, 5));

    let parameter = ["--prompts", "prompts", "--param", "dos-rag.max_tokens=20"];
    assert_eq!((asked_by(&parameter).0, lines(&sandbox, "superseded.jsonl").len()), (3, 8));
    assert_eq!(asked_by(&parameter).0, 0, "the same again is the same run");
    assert_eq!(lines(&sandbox, "records.jsonl").len(), 6);

    let text = std::fs::read_to_string(sandbox.path("cases/documents.jsonl")).unwrap();
    sandbox.write("cases/documents.jsonl", text.replace("dusk", "noon"));
    let (_, n_superseded, said) = asked_by(&parameter);
    assert_eq!(n_superseded, 14, "another text is another book: {said}");
    sandbox.run(&["verify", "r", "--prompts", "prompts"]).exits(0);
}

#[test]
fn the_sum_that_is_printed_holds_what_replaced_trials_have_cost() {
    let server = server();
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names(3));
    sandbox.write(
        "prices.toml",
        "['openai-compatible/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1000, output = 1000 }",
    );
    let options = ["--model-info", "prices.toml", "--extend"];
    let run = run_cases(MODEL, &server.url, &options);
    let first = sandbox.run(&run).exits(0).err();
    assert!(first.contains("of responses; $0.0540\n"), "{first}");
    let items = std::fs::read_to_string(sandbox.path("cases/items.jsonl")).unwrap();
    sandbox.write("cases/items.jsonl", items.replace("Case q1: who came", "Case q1: who, then, came"));
    let second = sandbox.run(&run).exits(0).err();
    assert!(second.contains("of responses; $0.0540; $0.0720 with embeddings"), "{second}");
}

#[test]
fn questions_of_one_call_are_asked_and_judged_again_when_another_joins_them_or_changes() {
    let n_calls = AtomicUsize::new(0);
    let server = FaultServer::start(move |_, _, _| {
        let option = n_calls.fetch_add(1, Ordering::Relaxed);
        response("200 OK", "", &answer(&(0..3).map(|line| format!("Answer{line}: {option}\n")).collect::<String>()))
    });
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names(3));
    let of_all = ["--param", "closed-book.style=novelqa", "--param", "closed-book.together=true"];
    let options = [&of_all[..], &["--judge-model", "builtin/rule", "--extend"]].concat();
    let right = |more: &[&'static str], words: &str| {
        let ended = sandbox.run(&run_cases(MODEL, &server.url, &[&options[..], more].concat())).exits(0);
        assert!(ended.err().contains(words), "{words}: {}", ended.err());
        let metrics = &ended.json()["cells"][0]["metrics"];
        let both = ["accuracy", "accuracy_strict"].map(|metric| metrics[metric]["value"].as_f64().unwrap());
        assert!((both[0] - both[1]).abs() < 1e-9, "the verdicts are those of the answers: {both:?}");
        sandbox.run(&["verify", "r"]).exits(0);
        (both[0], server.n_requests(), lines(&sandbox, "superseded.jsonl").len())
    };
    assert_eq!(right(&["--limit", "2"], ""), (1.0, 1, 0));
    assert_eq!(right(&[], "0 finished trials stay as they are; 2 change and are asked again"), (0.0, 2, 4));
    let items = std::fs::read_to_string(sandbox.path("cases/items.jsonl")).unwrap();
    sandbox.write("cases/items.jsonl", items.replace("Case q2: who came", "Case q2: who, then, came"));
    assert_eq!(right(&[], "0 finished trials stay as they are; 3 change and are asked again"), (0.0, 3, 10));
    let items = std::fs::read_to_string(sandbox.path("cases/items.jsonl")).unwrap();
    sandbox.write("cases/items.jsonl", items.lines().rev().map(|line| format!("{line}\n")).collect::<String>());
    // The verdicts that go are the same lines as those that went before.
    assert_eq!(right(&[], "0 finished trials stay as they are; 3 change and are asked again"), (0.0, 4, 13));
    assert_eq!(right(&[], ""), (0.0, 4, 13), "nothing more to do");
}

#[test]
fn a_merged_run_says_what_extended_its_parts() {
    let sandbox = Sandbox::new();
    cases(&sandbox, &names(3));
    let extended = |folder: &str| {
        let manifest = std::fs::read(sandbox.path(folder).join("manifest.json")).unwrap();
        serde_json::from_slice::<Value>(&manifest).unwrap()["extended"].clone()
    };
    for part in ["1", "2"] {
        let shard = format!("{part}/2");
        let run = ["run", "--benchmark", "cases", "--method", "closed-book", "--out", part, "--shard", &shard];
        sandbox.run(&run).exits(0);
        sandbox.run(&[&run[..], &["--repeats", "2", "--extend"]].concat()).exits(0);
    }
    sandbox.run(&["merge", "1", "2", "--out", "whole"]).exits(0);
    assert_eq!(extended("whole"), json!([{"changes": ["repeats: 1 there, 2 now"]}]));
    assert_eq!(extended("whole"), extended("1"));
}

#[test]
fn an_extension_names_its_folder() {
    let sandbox = Sandbox::new();
    let ended = sandbox.run(&["run", "--extend"]);
    assert!(ended.err().contains("--out"), "{}", ended.err());
    assert_eq!(json!(ended.0.status.code()), json!(2));
}

#[test]
fn labels_on_trials_that_were_asked_again_are_named() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["run", "--method", "closed-book", "--limit", "4", "--judge-model", "builtin/rule", "--out", "r"])
        .exits(0);
    sandbox.write("labels.csv", "item,label\nen-002,correct\nen-003,incorrect\n");
    let agreement = ["agreement", "r", "labels.csv"];
    let said = sandbox.run(&agreement).exits(0).err();
    assert!(!said.contains("asked again"), "{said}");
    let records = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    let record = records.lines().find(|line| line.contains("\"en-003\"")).unwrap();
    sandbox.write("r/superseded.jsonl", format!("{record}\n"));
    let said = sandbox.run(&agreement).exits(0).err();
    assert!(said.contains("1 of 2 labels of labels.csv are on trials that were asked again"), "{said}");
}
