//! What a run can be told of its models and items, and what its folder keeps of that.

use crate::fault_server::{cases, run_cases};
use crate::provider::{Server, answer};
use crate::support::Sandbox;
use serde_json::{Value, json};

fn configuration(sandbox: &Sandbox) -> Value {
    let text = std::fs::read(sandbox.path("r/manifest.json")).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["configuration"].take()
}

#[test]
fn each_model_has_its_own_window_and_a_known_one_by_default() {
    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["a".to_owned()]);
    let price = "['openai-compatible/known']\nsource = 's'\ndate = '2026-01-02'\nwindow = 1050\n";
    sandbox.write("models.toml", price);
    let models = "openai-compatible/known,openai-compatible/small,openai-compatible/large";
    let run = |more: &[&'static str]| {
        let fixed = ["--model-info", "models.toml", "--max-output-tokens", "1000", "--fresh"];
        let ended = sandbox.run(&[&run_cases(models, &server.url, &fixed)[..], more].concat()).exits(0).json();
        let overflows = |cell: &Value| cell["ledger"]["overflow"].as_u64().unwrap_or_default();
        ended["cells"].as_array().unwrap().iter().map(overflows).collect::<Vec<_>>()
    };
    assert_eq!(run(&[]), [1, 0, 0], "the known window is the default");
    assert_eq!(configuration(&sandbox)["context_windows"], json!({"openai-compatible/known": 1050}));
    let own = "openai-compatible/small=900,openai-compatible/known=9000";
    assert_eq!(run(&["--context-window", own]), [0, 1, 0]);
    let said = configuration(&sandbox);
    assert_eq!(
        (&said["context_window"], &said["context_windows"]),
        (&Value::Null, &json!({"openai-compatible/known": 9000, "openai-compatible/small": 900}))
    );
    let report = sandbox.run(&["report", "r", "--json"]).exits(0).json();
    let said = &report["runs"][0]["facts"]["context window"];
    assert_eq!(said, "openai-compatible/known: 9000 tokens, openai-compatible/small: 900 tokens");
    assert_eq!(run(&["--context-window", "900"]), [1, 1, 1]);
    assert_eq!(configuration(&sandbox).get("context_windows"), None);
    sandbox.run(&["verify", "r"]).exits(0);
    let refused = [&run_cases(models, &server.url, &[])[..], &["--context-window", "openai/x=5"]].concat();
    sandbox.run(&refused).refuses(&["--context-window names `openai/x`", "expected openai-compatible/known"]);
}
