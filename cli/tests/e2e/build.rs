//! `closeread build hamlet`, and what all builds share: queries made by a model on a server, stage by stage, which
//! `closeread run` takes at once.

use crate::build_model::{SAMPLE, builder, built, lines, said};
use crate::provider::{Server, answer};
use crate::support::{Sandbox, shared_data};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;

fn hamlet<'a>(url: &'a str, books: &'a [&'a str], more: &'a [&'a str]) -> Vec<&'a str> {
    let model = ["--model", "openai-compatible/builder", "--base-url", url, "--out", "h", "--chunk-tokens", "3000"];
    [&["build", "hamlet", "--books"][..], books, &model, more].concat()
}

#[test]
fn queries_with_key_facts_are_built_from_the_sample_works_and_run_at_once() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let report = sandbox.run(&hamlet(&server.url, &[SAMPLE], &["--json", "--check", "2"])).exits(0).json();
    let stages: Vec<&str> =
        report["funnel"].as_array().unwrap().iter().map(|row| row["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["chunks", "trees", "faithfulness", "objectivity", "significance", "pruning", "queries"]);
    let items = lines(&sandbox, "h/items.jsonl");
    assert_eq!(report["items"], items.len());
    for (language, perspective) in
        [("en", "analytical"), ("en", "narrative"), ("zh", "analytical"), ("zh", "narrative")]
    {
        let is = |item: &&Value| item["labels"] == json!({"language": language, "perspective": perspective});
        assert!(items.iter().filter(is).count() > 3, "{language} {perspective}");
    }
    let leaves = items[0]["key_facts"]["roots"][0]["children"][0]["children"].as_array().unwrap();
    assert_eq!(leaves.len(), 1, "the leaf that is not faithful is pruned");
    for name in
        ["stages/1-chunks.jsonl", "stages/6-pruning.jsonl", "check/check.html", "documents.jsonl", "report.json"]
    {
        assert!(sandbox.path("h").join(name).is_file(), "{name}");
    }
    assert!(!sandbox.path("h/journal").exists());

    let run =
        ["run", "--benchmark", "hamlet", "--data", "h", "--limit", "4", "--judge-model", "builtin/rule", "--out", "r"];
    let printed = sandbox.run(&run).exits(0).out();
    for words in ["query-summary", "recall", "faithfulness"] {
        assert!(printed.contains(words), "{words} is not in:\n{printed}");
    }
    let plain = ["run", "--benchmark", "h", "--limit", "1", "--method", "query-summary", "--out", "p"];
    sandbox.run(&plain).exits(0);

    let asked = server.requests.lock().unwrap().len();
    let again = sandbox.run(&hamlet(&server.url, &[SAMPLE], &["--json", "--check", "2"])).exits(0).json();
    assert_eq!((again, server.requests.lock().unwrap().len()), (report, asked), "a finished build asks nothing");
}

#[test]
fn a_killed_build_goes_on_where_it_stopped_and_gives_the_same_data() {
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let slow = Server::replying(|_, request| {
        std::thread::sleep(Duration::from_millis(20));
        ("200 OK", answer(&built(said(request))))
    });
    let whole = Sandbox::with_own_cache();
    let options = ["--no-cache", "--concurrency", "2"];
    whole.run(&hamlet(&slow.url, &[&story], &options)).exits(0);
    let n_whole = slow.requests.lock().unwrap().len();

    let sandbox = Sandbox::with_own_cache();
    let stories = [story.as_str()];
    let arguments = hamlet(&slow.url, &stories, &options);
    let before = slow.requests.lock().unwrap().len();
    for stage in ["stages/2-trees.jsonl.part", "stages/4-objectivity.jsonl.part"] {
        let mut child = sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let path = sandbox.path("h").join(stage);
        let begun = || std::fs::read_to_string(&path).is_ok_and(|text| text.lines().count() > 2);
        while !begun() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    sandbox.run(&arguments).exits(0);
    for name in ["items.jsonl", "documents.jsonl", "report.json", "check/questions.jsonl", "check/check.html"] {
        let read = |of: &Sandbox| std::fs::read_to_string(of.path("h").join(name)).unwrap();
        assert_eq!(read(&sandbox), read(&whole), "{name}");
    }
    let n_asked = slow.requests.lock().unwrap().len() - before;
    assert!(n_asked <= n_whole + 2 * 2, "{n_asked} calls for {n_whole}: at most those in flight are asked again");
}

#[test]
fn a_build_stops_is_edited_and_goes_on_from_any_stage() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let build = |more: &[&str]| sandbox.run(&hamlet(&server.url, &[&story], more));
    let stopped = build(&["--until", "trees"]).exits(0);
    assert!(stopped.err().contains("stopped after stage `trees`"), "{}", stopped.err());
    let trees = lines(&sandbox, "h/stages/2-trees.jsonl");
    assert!(trees.len() > 4 && !sandbox.path("h/items.jsonl").exists());
    let text = std::fs::read_to_string(sandbox.path("h/stages/2-trees.jsonl")).unwrap();
    let two: String = text.lines().take(2).flat_map(|line| [line, "\n"]).collect();
    sandbox.write("h/stages/2-trees.jsonl", two);
    build(&[]).exits(0);
    assert_eq!(lines(&sandbox, "h/items.jsonl").len(), 2, "the lines that were left go on");

    sandbox.write("h/stages/2-trees.jsonl", text);
    build(&[]).refuses(&["stage `faithfulness` was made from other lines", "--from faithfulness"]);
    build(&["--from", "faithfulness"]).exits(0);
    assert_eq!(lines(&sandbox, "h/items.jsonl").len(), trees.len());

    build(&["--max-output-tokens", "99"]).refuses(&["max_output_tokens: 4096 there, 99 now", "--from STAGE"]);
    build(&["--max-output-tokens", "999", "--from", "queries"]).exits(0);
    let manifest: Value = serde_json::from_slice(&std::fs::read(sandbox.path("h/build.json")).unwrap()).unwrap();
    assert_eq!(manifest["earlier"][0]["until"], "queries");
    build(&["--from", "leaves"]).refuses(&["no stage `leaves`", "chunks, trees"]);
    build(&["--until", "leaves"]).refuses(&["no stage `leaves`"]);
}

#[test]
fn a_call_that_fails_stops_the_build_behind_its_stage_and_is_made_again() {
    let refused = r#"{"error":{"message":"no such model"}}"#;
    let server = Server::replying(move |n, request| match n {
        1 => ("404 Not Found", refused.to_owned()),
        _ => ("200 OK", answer(&built(said(request)))),
    });
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/shedu-bu.txt");
    let (stories, options) = ([story.as_str()], ["--concurrency", "1"]);
    let arguments = hamlet(&server.url, &stories, &options);
    let ended = sandbox.run(&arguments).exits(1);
    assert!(ended.err().contains("stage `trees`: 1 of ") && ended.err().contains("no such model"), "{}", ended.err());
    let before = server.requests.lock().unwrap().len();
    sandbox.run(&[&arguments[..], &["--until", "trees"]].concat()).exits(0);
    assert_eq!(server.requests.lock().unwrap().len(), before + 1);
}

#[test]
fn what_a_build_takes_is_told_before_and_needs_no_key() {
    let sandbox = Sandbox::new();
    let dry = ["build", "hamlet", "--books", SAMPLE, "--model", "openai/gpt-4o", "--out", "h", "--dry-run"];
    let told = sandbox.run(&[&dry[..], &["--json"]].concat()).exits(0).json();
    let stages = told["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 5);
    let n = |at: usize| stages[at][0]["cost"]["calls"][0]["n"]["low"].as_u64().unwrap();
    assert_eq!((n(0), n(4)), (n(1), n(0)));
    let printed = sandbox.run(&dry).exits(0).out();
    assert!(printed.contains("significance") && printed.contains("$"), "{printed}");
    assert!(!sandbox.path("h").exists(), "nothing is made");
}

/// Returns what the page of a check asks.
pub(crate) fn asked_on(sandbox: &Sandbox, page: &str) -> Value {
    let html = std::fs::read_to_string(sandbox.path(page)).unwrap();
    let (_, asked) = html.split_once("id=\"asked\">").unwrap();
    serde_json::from_str(asked.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn people_tick_a_page_and_the_filters_are_measured_against_them() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    sandbox.run(&hamlet(&server.url, &[&story], &["--check", "99"])).exits(0);
    let page = asked_on(&sandbox, "h/check/check.html");
    let questions = lines(&sandbox, "h/check/questions.jsonl");
    let ids = |questions: &[Value]| questions.iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(page["questions"].as_array().unwrap()), ids(&questions));
    assert!(
        page["questions"].as_array().unwrap().iter().all(|one| one["expected"].is_null() && one["group"].is_null())
    );
    let check = &page["id"];
    let answers: serde_json::Map<String, Value> =
        questions.iter().map(|question| (question["id"].as_str().unwrap().to_owned(), json!("yes"))).collect();
    let file = json!({"check": check, "who": "me", "answers": answers, "notes": {}}).to_string();
    sandbox.write("ticked.json", file);
    let checked = |file: &str| sandbox.run(&["build", "hamlet", "--out", "h", "--checked", file, "--json"]);
    let found = checked("ticked.json").exits(0).json();
    let rows: Vec<(String, Value)> = found["table"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row[0]["text"].as_str().unwrap().to_owned(), row[3]["value"].clone()))
        .collect();
    let of = |group: &str| rows.iter().find(|(name, _)| name == group).unwrap().1.as_f64().unwrap();
    assert_eq!((of("faithfulness, label 0"), of("faithfulness, label 1"), of("query naturalness")), (0.0, 1.0, 1.0));
    sandbox.write("other.json", json!({"check": "of another build", "answers": {}}).to_string());
    checked("other.json").refuses(&["of another build"]);
}

/// What a person saves who says of each question what `says` does.
pub(crate) fn ticked(sandbox: &Sandbox, out: &str, who: &str, says: &dyn Fn(&Value) -> bool) {
    let questions = lines(sandbox, &format!("{out}/check/questions.jsonl"));
    let answer = |question: &Value| json!(if says(question) { "yes" } else { "no" });
    let answers: serde_json::Map<String, Value> =
        questions.iter().map(|question| (question["id"].as_str().unwrap().to_owned(), answer(question))).collect();
    let check = &asked_on(sandbox, &format!("{out}/check/check.html"))["id"];
    sandbox.write(&format!("{who}.json"), json!({"check": check, "who": who, "answers": answers}).to_string());
}

/// HAMLET's Table 2 by several people: the filter's labels of facts alone, PASS first.
#[test]
fn several_people_tick_a_page_and_the_filters_labels_of_the_facts_drawn_are_held_against_most_of_them() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    sandbox.run(&hamlet(&server.url, &[&story], &["--check", "12"])).exits(0);
    ticked(&sandbox, "h", "ann", &|_| true);
    for who in ["bo", "cy"] {
        ticked(&sandbox, "h", who, &|question| question["expected"] == true);
    }
    let checked = ["build", "hamlet", "--out", "h", "--checked", "ann.json", "bo.json", "cy.json", "--json"];
    let tables = sandbox.run(&checked).exits(0).json()["tables"].clone();
    let table = tables.as_array().unwrap().iter().find(|table| table["id"] == "borne-out").unwrap();
    let columns = ["labels of", "label", "faithfulness", "objectivity", "significance", "mean", "undecided"];
    assert_eq!(table["columns"], json!(columns));
    let value = |row: usize, column: usize| table["rows"][row][column]["value"].clone();
    assert_eq!([&table["rows"][0][1]["text"], &table["rows"][1][1]["text"]], ["PASS", "FAIL"]);
    assert_eq!([value(0, 2), value(0, 5), value(1, 2), value(1, 3)], [json!(1.0), json!(1.0), json!(1.0), json!(null)]);
    let labels = std::fs::read_to_string(sandbox.path("h/check/people.csv")).unwrap();
    let units = |criterion: &str| -> Vec<&str> {
        let part = format!(",{criterion},ann,");
        labels.lines().filter_map(|line| Some(line.split_once(&part)?.0)).collect()
    };
    assert_eq!((units("faithfulness").len(), units("faithfulness")), (12, units("significance")), "{labels}");
    assert!(units("query relevance").len() > 4, "{labels}");
}

#[test]
fn chunk_sizes_are_studied() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let study = ["--study", "chunk-size", "--sizes", "1000,4000", "--per-size", "3", "--json"];
    let report = sandbox.run(&hamlet(&server.url, &[&story], &study)).exits(0).json();
    let rows = report["tables"][0]["rows"].as_array().unwrap();
    let scores: Vec<&Value> = (1..4).map(|column| &rows[1][column]["value"]).collect();
    assert_eq!((rows.len(), &rows[1][4]["count"], scores), (2, &json!(3), vec![&json!(3.0), &json!(4.0), &json!(5.0)]));
    assert_eq!(server.requests.lock().unwrap().len(), 6);
}

#[test]
fn what_cannot_be_built_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run(&["build", "hamlet", "--out", "h", "--model", "openai/x"]).refuses(&["--books is missing"]);
    let with = ["build", "hamlet", "--books", SAMPLE, "--out", "h"];
    sandbox.run(&with).refuses(&["--model is missing"]);
    sandbox.run(&[&with[..], &["--model", "builtin/extractive"]].concat()).refuses(&["does not write"]);
    sandbox.run(&["build", "hamlet", "--books", "nowhere", "--out", "h"]).refuses(&["nowhere", "no such file"]);
    sandbox
        .run(&["build", "hamlet", "--out", "h", "--checked", "x.json"])
        .refuses(&["expected the folder of a finished build"]);
}

#[test]
#[ignore = "needs minutes, and CLOSEREAD_DATA"]
fn needs_time_needs_data_whole_novels_are_cut_and_priced() {
    let data = shared_data();
    let sandbox = Sandbox::new();
    let novels = data.join("novels");
    let dry = ["build", "hamlet", "--books", novels.to_str().unwrap(), "--model", "openai/gpt-4o", "--out", "h"];
    let told = sandbox.run(&[&dry[..], &["--dry-run", "--json"]].concat()).exits(0).json();
    assert!(told["stages"][0][0]["cost"]["calls"][0]["n"]["low"].as_u64().unwrap() > 100, "{told}");
}

#[test]
fn two_books_of_one_text_are_told_before_they_are_paid_for() {
    let sandbox = Sandbox::new();
    for name in ["a", "copy of a"] {
        sandbox.write(&format!("b/{name}.txt"), "Ana came to the mill at dusk. ".repeat(400));
    }
    let told = sandbox.run(&hamlet("http://127.0.0.1:1/v1", &["b"], &["--dry-run"])).exits(0).err();
    assert!(told.contains("`copy of a` has the same text as `a`"), "{told}");
}

#[test]
fn finding_18_a_build_at_another_query_of_an_address_is_another() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    let build = |query: &str| {
        let url = format!("{}?{query}", server.url);
        sandbox.run(&hamlet(&url, &[SAMPLE], &["--until", "trees"]))
    };
    build("backend=a&key=k1").exits(0);
    build("backend=a&key=k2").exits(0);
    build("backend=b&key=k2").refuses(&["another configuration", "base_url"]);
}
