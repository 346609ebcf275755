//! `closeread build options`: wrong options for open questions, and the forms that people fill in.

use crate::build::asked_on;
use crate::build_model::{builder, lines};
use crate::support::{Sandbox, rewrite_lines, tales};
use serde_json::{Value, json};

#[test]
fn open_questions_get_wrong_options_and_are_run_as_choices() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    rewrite_lines(&sandbox, "tales/documents.jsonl", |document| document["author"] = json!("Anon"));
    let model = ["--model", "openai-compatible/builder", "--base-url", &server.url, "--out", "o"];
    let build = [&["build", "options", "--benchmark", "tales"][..], &model].concat();
    let report = sandbox.run(&[&build[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(report["funnel"][0]["kept"], 6);
    let items = lines(&sandbox, "o/items.jsonl");
    assert_eq!(items.len(), 18, "the others are there as well");
    assert!(lines(&sandbox, "o/documents.jsonl").iter().all(|document| document["author"] == "Anon"));
    let canary = &crate::corpus_truth::json_file(&sandbox.path("o/build.json"))["canary"];
    assert!(canary.as_str().unwrap().contains("GUID ") && items.iter().all(|item| item["canary"] == *canary));
    assert!(std::fs::read_to_string(sandbox.path("o/README.md")).unwrap().contains(canary.as_str().unwrap()));
    let made: Vec<&Value> = items.iter().filter(|item| item["id"].as_str().unwrap().ends_with("-3")).collect();
    for item in &made {
        assert_eq!((&item["task"], item["options"].as_array().unwrap().len()), (&json!("choice"), 4));
        let correct = item["correct"].as_u64().unwrap() as usize;
        assert_eq!(item["options"][correct], item["answers"][0]);
    }
    let places: std::collections::BTreeSet<u64> = made.iter().map(|item| item["correct"].as_u64().unwrap()).collect();
    assert!(places.len() > 1, "the right one does not stand in the same place everywhere");
    let run = [
        "run",
        "--benchmark",
        "o",
        "--method",
        "dos-rag",
        "--retriever",
        "bm25",
        "--budget",
        "50",
        "--out",
        "r",
        "--json",
    ];
    let ran = sandbox.run(&run).exits(0).json();
    assert_eq!(ran["cells"][0]["ledger"]["trials"], 18);
    sandbox.run(&build).exits(0);
    sandbox
        .run(&["build", "options", "--benchmark", "o", "--model", "openai/x", "--out", "p"])
        .refuses(&["no open question"]);
}

#[test]
fn what_most_checkers_keep_is_a_benchmark_of_its_own() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let model = ["--model", "openai-compatible/builder", "--base-url", &server.url, "--out", "o"];
    sandbox.run(&[&["build", "options", "--benchmark", "tales", "--check", "99"][..], &model].concat()).exits(0);
    let questions = lines(&sandbox, "o/check/questions.jsonl");
    let items: std::collections::BTreeSet<&str> = questions.iter().map(|q| q["about"].as_str().unwrap()).collect();
    assert_eq!(items.len(), 18, "every question is checked, with options or without");
    let first = *items.first().unwrap();
    for (who, refuses) in [("Ana", true), ("Bo", true), ("Cy", false)] {
        let answer = |q: &Value| match refuses && q["about"] == first {
            true => "no",
            false => "yes",
        };
        let answers: serde_json::Map<String, Value> =
            questions.iter().map(|q| (q["id"].as_str().unwrap().to_owned(), json!(answer(q)))).collect();
        let file = json!({"check": check_of(&sandbox, "o"), "who": who, "answers": answers});
        sandbox.write(&format!("{who}.json"), file.to_string());
    }
    let review = ["build", "options", "--out", "o", "--reviewed", "Ana.json", "Bo.json", "Cy.json"];
    let told = sandbox.run(&review).exits(0).out().to_owned();
    assert!(["Ana", "94.4", "most of them"].iter().all(|part| told.contains(part)), "{told}");
    let left = lines(&sandbox, "o/reviewed/items.jsonl");
    assert_eq!((left.len(), left.iter().any(|item| item["id"] == first)), (17, false));
    let run = ["run", "--benchmark", "o/reviewed", "--method", "dos-rag", "--retriever", "bm25", "--budget", "50"];
    sandbox.run(&[&run[..], &["--out", "r"]].concat()).exits(0);
    for read in ["--reviewed", "--checked"] {
        let twice = ["build", "options", "--out", "o", read, "Ana.json", "Cy.json", "Ana.json"];
        sandbox.run(&twice).refuses(&["two files are by `Ana`"]);
    }
    sandbox.write("x.json", r#"{"check": "other", "answers": {}}"#);
    sandbox.run(&["build", "options", "--out", "o", "--reviewed", "x.json"]).refuses(&["of the check `other`"]);
}

/// A form filled in, as the page saves it.
fn written(book: &str, who: &str, answer: &str, quote: &str) -> Value {
    json!({
        "form": "setting-place", "book": book, "slots": {"an event": format!("{who}'s theft")}, "aspect": "plot",
        "complexity": "detail", "answers": [answer], "evidence": [quote],
    })
}

fn check_of(sandbox: &Sandbox, out: &str) -> Value {
    asked_on(sandbox, &format!("{out}/check/check.html"))["id"].clone()
}

#[test]
fn people_fill_in_forms_and_what_they_wrote_gets_options_and_runs() {
    let server = builder();
    let sandbox = Sandbox::with_own_cache();
    sandbox.write("books/mill.txt", "Ana kept the mill. At night Ben stole the flour behind the mill. It rained.");
    let told = sandbox.run(&["build", "options", "--books", "books", "--out", "f"]).exits(0).out();
    assert!(told.contains("35 forms about 1 books"), "{told}");
    let sheet = &asked_on(&sandbox, "f/check/check.html")["sheet"];
    assert_eq!((&sheet["books"][0][0], sheet["forms"].as_array().unwrap().len()), (&json!("mill"), 35));

    let save = |name: &str, questions: &[Value]| {
        let file =
            json!({"check": check_of(&sandbox, "f"), "who": "me", "answers": {}, "notes": {}, "written": questions});
        sandbox.write(name, file.to_string());
    };
    let checked = |file: &str| sandbox.run(&["build", "options", "--out", "f", "--checked", file, "--json"]);
    let good = written("mill", "Ben", "behind the mill", "At night Ben stole the flour behind the mill.");
    save("one.json", std::slice::from_ref(&good));
    let found = checked("one.json").exits(0).json();
    assert_eq!((&found["written"]["items"], &found["written"]["problems"]), (&json!(1), &json!([])));
    let elsewhere = written("mill", "Ana", "at home", "Ana stole nothing.");
    save("two.json", &[good, elsewhere, written("mill", "Cleo", " ", ""), written("hill", "Dov", "there", "")]);
    let told = checked("two.json").exits(1);
    assert_eq!((&told.json()["written"]["items"], &told.json()["written"]["all"]), (&json!(2), &json!(2)));
    for words in
        ["question 3: it has no answer", "question 4: there is no book `hill`", "“Ana stole nothing.” is not in"]
    {
        assert!(told.err().contains(words), "{words} is not in: {}", told.err());
    }
    let items = lines(&sandbox, "f/written/items.jsonl");
    assert_eq!(items[0]["question"], "Where does Ben's theft take place?");
    assert_eq!(items[0]["labels"], json!({"aspect": "plot", "complexity": "detail"}));

    let model = ["--model", "openai-compatible/builder", "--base-url", &server.url];
    let build = ["build", "options", "--benchmark", "f/written", "--out", "o", "--json"];
    let report = sandbox.run(&[&build[..], &model].concat()).exits(0).json();
    assert_eq!((&report["items"], &report["funnel"][1]["kept"]), (&json!(2), &json!(2)), "{report}");
    let run =
        ["run", "--benchmark", "novelqa", "--data", "o", "--method", "dos-rag", "--retriever", "bm25", "--out", "r"];
    sandbox.run(&[&run[..], &["--budget", "50"]].concat()).exits(0);
    let page = asked_on(&sandbox, "o/check/check.html");
    let n = |list: &Value| list.as_array().unwrap().len();
    assert_eq!((n(&page["sheet"]["forms"]), n(&page["questions"])), (35, 8));

    sandbox.write("forms.toml", "[[form]]\nid = 'a'\naspect = 'plot'\ncomplexity = 'detail'\nquestion = 'Why?'\n");
    let own = ["build", "options", "--books", "books", "--out", "g", "--forms", "forms.toml"];
    sandbox.run(&own).refuses(&["--forms forms.toml", "form `a`: its question has no slot"]);
    sandbox.run(&["build", "options", "--books", "books", "--out", "o"]).refuses(&["o holds a build"]);
    sandbox.run(&["build", "options", "--out", "g"]).refuses(&["--benchmark is missing", "--books"]);
}
