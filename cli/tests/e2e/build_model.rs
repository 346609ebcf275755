//! A model on a server that builds whatever it is asked for, and the files of a build.

use crate::provider::{Server, answer};
use crate::support::Sandbox;
use serde_json::{Value, json};

pub(crate) const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample");

/// Returns what a request says last.
pub(crate) fn said(request: &Value) -> &str {
    request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

/// A model that builds whatever it is asked for; the second leaf of its trees is not faithful.
pub(crate) fn builder() -> Server {
    Server::replying(|_, request| ("200 OK", answer(&built(said(request)))))
}

pub(crate) fn built(said: &str) -> String {
    let chinese = said.contains("in Chinese");
    if said.contains("as a tree of three levels") {
        let facts = match chinese {
            true => ["船工守着渡口。", "船工记账。", "账本上有名字。", "名字是红的。"],
            false => [
                "The bell matters to Scarrow.",
                "Port Emery calls the bell in.",
                "The bell is on loan.",
                "The bell is red.",
            ],
        };
        return json!({"roots": [{"fact": facts[0], "branches": [{"fact": facts[1], "leaves": [facts[2], facts[3]]}]}]})
            .to_string();
    }
    if said.contains("leaves by its ") {
        let unfaithful = u8::from(!said.contains("by its faithfulness"));
        return json!([
            {"id": "1", "label": 1, "reason": "so it says"}, {"id": "1.1", "label": 1},
            {"id": "1.1.1", "label": 1}, {"id": "1.1.2", "label": unfaithful, "reason": "nothing is red"},
        ])
        .to_string();
    }
    if said.contains("Write one query") {
        let query = if chinese { "船工为什么记账？" } else { "Why does the bell matter to Scarrow?" };
        return json!({"query": query}).to_string();
    }
    if said.contains("an expert in rating parts of novels") {
        let scores =
            json!({"HKF_validity": 3, "Content_coherence": 4, "Cross_content_reasoning": 5, "explanation": "so"});
        return scores.to_string();
    }
    if let Some(response) = questioned(said) {
        return response.to_owned();
    }
    if said.contains("wrong option") {
        return json!({"options": ["on the moon", "in the mayor's hat", "under the ferry"]}).to_string();
    }
    assert!(said.starts_with("Problem: "), "{said}");
    "[[NO]]".to_owned()
}

/// Answers questions from articles: one pair a context, and then the end.
fn questioned(said: &str) -> Option<&'static str> {
    Some(match said {
        _ if said.contains("Is it a summary of the novel") => match said.contains("Critics") {
            true => r"\boxed{NO}",
            false => r"\boxed{YES}",
        },
        _ if said.contains("Divide it into parts") => "<summary>The bell of Scarrow is on loan.</summary>",
        _ if said.contains("=== EARLIER PAIRS ===") => r"\boxed{END}",
        _ if said.contains("Write one question with its answer") => {
            r"\boxed{Which town lent the bell?} \boxed{Port Emery}"
        }
        _ if said.contains("by what you find on the web") => r"\boxed{PASS}",
        _ if said.contains("Check a question about") => match said.contains("=== FOUND ON THE WEB ===\n1. ") {
            true => r"\boxed{PASS}",
            false => r"\boxed{FAIL}",
        },
        _ if said.contains("Name all the keywords") => r"\boxed{bell}",
        _ if said.contains("Answer it from what you know of the book") => "<answer>\nScarrow\n</answer>",
        _ if said.contains("Decide whether a model has answered") => r"\boxed{INCORRECT}",
        _ if said.contains("Sort a question") => r"\boxed{Location}",
        _ => return None,
    })
}

pub(crate) fn lines(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
