//! Messages on standard error: how much, and in which form.

use crate::fault_server::{FaultServer, cases, response, run_cases};
use crate::provider::answer;
use crate::support::Sandbox;
use serde_json::{Value, json};

const MODEL: &str = "openai-compatible/tiny";

/// The lines of a log, each an object with level and message.
#[track_caller]
pub(crate) fn objects(log: &str) -> Vec<Value> {
    let object = |line: &str| {
        let object: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let levels = ["error", "warn", "info", "debug", "trace"];
        assert!(levels.contains(&object["level"].as_str().unwrap()) && object["message"].is_string(), "{line}");
        assert!(object["time"].as_f64().unwrap() > 1.7e9 && object["target"].is_string(), "{line}");
        object
    };
    log.lines().map(object).collect()
}

/// Refuses the first request for each case, in words that steer terminals.
fn refusing() -> FaultServer {
    FaultServer::start(|_, n, _| match n {
        0 => response("500 Internal Server Error", "", r#"{"error":{"message":"\u001b[2Jgone \u202ereversed"}}"#),
        _ => response("200 OK", "", &answer("[[1]]")),
    })
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["a".to_owned(), "b".to_owned()]);
    sandbox
}

#[test]
fn finding_14_a_line_break_in_a_path_breaks_no_message() {
    let refused = sandbox().run(&["report", "no\nerror: where"]).exits(2);
    assert!(refused.err().starts_with("error: cannot read no\\u000aerror: where/manifest.json"), "{}", refused.err());
}

#[test]
fn quiet_says_errors_and_loud_says_tries() {
    let sandbox = sandbox();
    let run = |more: &[&str]| {
        let anew = [&["--fresh", "--no-cache"], more].concat();
        sandbox.run(&run_cases(MODEL, &refusing().url, &anew)).exits(0)
    };
    let (quiet, plain, loud) = (run(&["-q"]), run(&[]), run(&["-v"]));
    assert_eq!(quiet.err(), "");
    assert!(quiet.out().contains("\"cells\""), "results stay: {}", quiet.out());
    assert!(plain.err().contains("2 items on 1 book, run folder") && !plain.err().contains("try 1"), "{}", plain.err());
    let tries: Vec<String> = loud.err().lines().filter(|line| line.contains("try 1 of")).map(str::to_owned).collect();
    assert_eq!(tries.len(), 2, "{}", loud.err());
    for name in ["a", "b"] {
        let about = format!("trial {name} 0, call ");
        assert!(tries.iter().any(|line| line.contains(&about)), "{name}: {tries:?}");
    }
    assert!(
        tries[0].contains("\\u001b[2Jgone \\u202ereversed") && !loud.err().contains(['\u{1b}', '\u{202e}']),
        "{tries:?}"
    );
    let refused = sandbox.run(&["report", "nowhere", "-q"]).exits(2);
    assert!(refused.err().starts_with("error: cannot read nowhere"), "{}", refused.err());
}

#[test]
fn json_is_an_object_a_line_with_its_spans() {
    let (server, sandbox) = (refusing(), sandbox());
    let ended = sandbox.run(&run_cases(MODEL, &server.url, &["--log", "json", "-vv"])).exits(0);
    assert!(!ended.err().contains(['\u{1b}', '\u{202e}']), "{}", ended.err());
    let said = objects(&ended.err());
    let tried = said.iter().find(|one| one["message"].as_str().unwrap().contains("\u{1b}[2Jgone")).unwrap();
    assert_eq!(tried["level"], "debug");
    let spans: Vec<&Value> = tried["spans"].as_array().unwrap().iter().map(|span| &span["span"]).collect();
    assert_eq!(spans, [&json!("run"), &json!("cell"), &json!("trial"), &json!("call")]);
    assert_eq!(tried["spans"][1]["model"], MODEL);
    let answered = said.iter().find(|one| one["message"] == "answered by the server").unwrap();
    assert!(answered["prompt_tokens"].is_u64() && answered["seconds"].is_f64(), "{answered}");
    for (arguments, message) in [
        (&["report", "nowhere", "--log=json"][..], "cannot read nowhere"),
        (&["report", "--no", "--log", "json"], "--no"),
    ] {
        let said = objects(&sandbox.run(arguments).exits(2).err());
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0]["level"] == "error" && said[0]["message"].as_str().unwrap().contains(message), "{said:?}");
    }
}
