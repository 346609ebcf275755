//! HAMLET in sixteen configurations; then what people say of labels, facts and sentences, and judges of sizes of chunks.

use super::{Request, benchmark, check, compared, dice, ended, numbered, said};
use crate::http::Asked;
use crate::support::Sandbox;
use serde_json::{Value, json};

/// Tables 2, 3 and 9: what people say of the filter's labels, and of facts and sentences of a run; what two judges say of
/// chunks.
fn experts(sandbox: &Sandbox, url: &str) {
    let (mut experts, mut filter) = ("unit,criterion,rater,label\n".to_owned(), "unit,criterion,label\n".to_owned());
    for (criterion, unit) in
        ["faithfulness", "objectivity", "significance"].iter().flat_map(|c| (0..6).map(move |n| (c, n)))
    {
        let own = |rater: &str, wrong: u32| {
            let is_wrong = dice(&[criterion, rater, &unit.to_string()]) < wrong;
            if (unit < 4) == is_wrong { "FAIL" } else { "PASS" }
        };
        filter += &format!("u{unit},{criterion},{}\n", own("filter", 0));
        for rater in ["ann", "bo"] {
            experts += &format!("u{unit},{criterion},{rater},{}\n", own(rater, 20));
        }
    }
    sandbox.write("experts.csv", experts);
    sandbox.write("filter.csv", filter);
    let whole =
        ["judge", "c14", "--judge-model", "openai-compatible/judge", "--judge", "verify-facts", "--reference", "book"];
    sandbox.run(&[&whole[..], &["--base-url", url]].concat());
    let asked =
        ["people", "rate", "c14", "--ask", "key-fact,sentence", "--draw", "12", "--by", "asks", "--out", "facts"];
    sandbox.run(&asked).exits(0);
    let study: Value = serde_json::from_slice(&std::fs::read(sandbox.path("facts/study.json")).unwrap()).unwrap();
    for rater in ["ann", "bo", "cy"] {
        let answer = |unit: &Value| {
            let id = unit["id"].as_str().unwrap();
            let label = if dice(&[id, rater]) < 20 || dice(&[id]) < 60 { "yes" } else { "no" };
            (id.to_owned(), json!({"state": "answered", "label": label}))
        };
        let answers: serde_json::Map<String, Value> = study["units"].as_array().unwrap().iter().map(answer).collect();
        let saved = json!({"study": study["id"], "rater": rater, "answers": answers});
        sandbox.write(&format!("facts-{rater}.json"), saved.to_string());
    }
    let held = |command: &[&str], table: &str, files: &[&str]| {
        let tables = sandbox.run(&[command, &["--json"]].concat()).json();
        compared(sandbox, &tables, "hamlet_people.py", &[table], files);
    };
    held(&["agreement", "--raters", "experts.csv", "--against", "filter.csv"], "2", &["experts.csv", "filter.csv"]);
    let answers = ["facts-ann.json", "facts-bo.json", "facts-cy.json"];
    held(&[&["people", "read", "facts"][..], &answers].concat(), "3", &[&["facts", "c14"][..], &answers].concat());
    let study =
        ["build", "hamlet", "--study", "chunk-size", "--books", "houses", "--sizes", "100,400", "--per-size", "10"];
    let judges = ["--judge", "openai-compatible/judge,openai-compatible/strict", "--base-url", url, "--out", "sizes"];
    held(&[&study[..], &judges].concat(), "9", &["sizes"]);
}

#[test]
#[ignore = "needs python3"]
fn needs_python_hamlet_in_sixteen_configurations_comes_out_as_computed_apart() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox, &super::BOOKS, |book, number, id| {
        let fact =
            |name: &str, children: Vec<Value>| json!({"fact": format!("Case {id}: {name}"), "children": children});
        let leaves = |branch: usize| {
            (0..=number + branch % 2).map(|leaf| fact(&format!("leaf {branch} {leaf}"), vec![])).collect()
        };
        let branches = (0..=book % 3).map(|branch| fact(&format!("branch {branch}"), leaves(branch))).collect();
        let sentence = |line: usize| format!("In room {line} of house {book} lay a stone.");
        let facts = json!({"document": format!("house-{book}"), "first": sentence(0), "last": sentence(2),
            "roots": [fact("root", branches)]});
        let perspective = if (book + number) % 2 == 0 { "analytical" } else { "narrative" };
        json!({"task": "summary", "key_facts": facts, "labels": {"perspective": perspective},
            "chunk": (3 * book + number) % 7, "n_chunks": 7})
    });
    let play = |asked: &Asked| {
        let Request { model, first, item, is_judge, .. } = Request::of(asked);
        if is_judge && first.contains("HKF_validity") {
            let score = |name: &str| 1 + dice(&[&model, &first, name]) % 5;
            let scores = json!({"HKF_validity": score("HKF"), "Content_coherence": score("coherence"),
                "Cross_content_reasoning": score("cross"), "explanation": "so"});
            return said(&if dice(&[&model, &first]) < 20 { "No.".to_owned() } else { scores.to_string() }, "stop");
        }
        let list = |entries: Vec<Value>| said(&Value::Array(entries).to_string(), "stop");
        if is_judge && first.contains("key-fact") {
            let (sentences, facts) =
                (numbered(&first, "The summary:", "[", "]"), numbered(&first, "key fact", "", "."));
            // What cannot be read.
            if dice(&[sentences[0], "align"]) < 8 {
                return said("I would rather not.", "stop");
            }
            let entry = |fact: &&str| {
                let stating = |n: &usize| dice(&[sentences[*n - 1], fact]) < 40;
                let lines: Vec<usize> = (1..=sentences.len()).filter(stating).collect();
                json!({"key-fact": fact, "response": if lines.is_empty() { "No" } else { "Yes" }, "line number": lines})
            };
            return list(facts.iter().map(entry).collect());
        }
        if is_judge {
            const KINDS: [&str; 5] = ["Out-of-article", "Entity", "Relation", "Sentence", "No"];
            let entry = |sentence: &&str| {
                let kind = KINDS[(dice(&[sentence]) as usize / 6).min(4)];
                json!({"sentence": sentence, "reason": "so", "category": format!("{kind} error")})
            };
            let sentences = numbered(&first, "of the summary:", "", ".");
            return list(sentences.iter().map(entry).collect());
        }
        let written = |n: usize| {
            let sentence = |line: usize| format!("Case {item}: by {model} room {line} holds stone {n}.");
            (0..n).map(sentence).collect::<Vec<_>>().join(" ")
        };
        let thrown = dice(&[&model, &item]);
        ended(thrown.min(87), &written(2 + thrown as usize % 4), &written(1))
    };
    check("hamlet", "hamlet", &["--judge-model", "openai-compatible/judge"], &sandbox, play, experts);
}
