//! Options of a run on its models and items, and what its folder keeps of that.

use crate::fault_server::{cases, run_cases};
use crate::http::HttpServer;
use crate::provider::{Server, answer};
use crate::support::{Ended, Sandbox};
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

#[test]
fn reasoning_is_asked_for_in_the_provider_s_field_and_tells_configurations_apart() {
    let server = Server::start(vec![("200 OK", answer("<answer>Ana</answer>"))]);
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["a".to_owned()]);
    crate::support::rewrite_lines(&sandbox, "cases/items.jsonl", |item| {
        (item["task"], item["answers"]) = (json!("generative"), json!(["Ana"]));
    });
    let (model, url) = ("openai-compatible/tiny", server.url.as_str());
    let run = |out: &str, more: &[&str]| {
        let bench = ["run", "--benchmark", "sagascale", "--data", "cases", "--method", "full-document"];
        let fixed = ["--model", model, "--base-url", url, "--out", out, "--name", out];
        sandbox.run(&[&bench[..], &fixed, more].concat()).exits(0);
        server.requests.lock().unwrap().last().unwrap().clone()
    };
    let plain = run("plain", &[]);
    assert!(plain.get("chat_template_kwargs").is_none() && plain.get("reasoning_effort").is_none(), "{plain}");
    let own = r#"{"chat_template_kwargs": {"style": "dry"}, "reasoning_effort": "medium"}"#;
    let thinks = run("r", &["--reasoning", "low", "--extra-body", own]);
    let kwargs = json!({"enable_thinking": true, "thinking": true, "style": "dry"});
    assert_eq!((&thinks["chat_template_kwargs"], &thinks["reasoning_effort"]), (&kwargs, &json!("medium")));
    let said = configuration(&sandbox);
    assert_eq!(
        (&said["reasoning"], &said["reasoning_fields"][model]["reasoning_effort"]),
        (&json!("low"), &json!("low"))
    );
    let off = run("off", &["--reasoning", "off"]);
    assert_eq!(off["chat_template_kwargs"]["enable_thinking"], false);

    let report = sandbox.run(&["report", "plain", "r", "off", "--json"]).exits(0).json();
    let tables = report["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["id"] == "sagascale-table-3").unwrap_or_else(|| panic!("{report}"));
    let heads: Vec<&str> = table["rows"].as_array().unwrap().iter().filter_map(|row| row[0]["text"].as_str()).collect();
    for head in ["plain", "r‡", "off†"] {
        assert!(heads.contains(&head), "{head}: {heads:?}");
    }

    let asked = |model: &'static str, level: &'static str| {
        let args = ["run", "--benchmark", "cases", "--model", model, "--base-url", url, "--reasoning", level];
        sandbox.run(&[&args[..], &["--method", "closed-book", "--out", "x"]].concat())
    };
    asked(model, "500").refuses(&["may pass over a number of tokens", "thinking_token_budget"]);
    asked("openai/gpt-4o", "high").refuses(&["reasoning high: gpt-4o does not reason"]);
    asked("builtin/extractive", "high").refuses(&["builtin/extractive does not reason"]);
    asked(model, "loud").refuses(&["expected off, low, medium, high"]);
}

#[test]
fn responses_are_held_to_their_form_where_that_is_asked_for_and_every_table_says_so() {
    let held = json!({"explanation": "It says so.", "option": "1"}).to_string();
    let server = Server::start(vec![("200 OK", answer(&held))]);
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["a".to_owned()]);
    let run = |more: &[&str]| {
        let fixed = run_cases("openai-compatible/tiny", &server.url, &["--fresh"]);
        let ended = sandbox.run(&[&fixed[..], more].concat()).exits(0).json();
        (server.requests.lock().unwrap().last().unwrap().clone(), ended)
    };
    let (plain, ended) = run(&[]);
    assert!(plain.get("response_format").is_none(), "{plain}");
    assert_eq!(ended["cells"][0]["ledger"]["unparsed"], 1, "without it such a response has no form: {ended}");
    let (asked, ended) = run(&["--constrain"]);
    let schema = &asked["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["required"], json!(["explanation", "option"]), "{asked}");
    assert!(schema["properties"]["option"]["enum"].as_array().is_some_and(|numbers| numbers[0] == "1"), "{asked}");
    assert_eq!(ended["cells"][0]["ledger"]["answered"], 1, "the same parser reads it: {ended}");
    assert_eq!(configuration(&sandbox)["constrain"], "json");
    let record = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    assert!(record.contains("It says so. [[1]]"), "{record}");
    sandbox.run(&["verify", "r"]).exits(0);
    let report = sandbox.run(&["report", "r", "--json"]).exits(0).json();
    let says = |table: &Value| table["notes"].to_string().contains("(by json)");
    assert!(report["tables"].as_array().unwrap().iter().all(says), "{report}");
    let (asked, _) = run(&["--constrain=grammar"]);
    assert!(asked["grammar"].as_str().unwrap().starts_with("root ::= said \" [[\" (\"1\""), "{asked}");
    let (asked, _) = run(&["--constrain=regex"]);
    assert!(asked["structured_outputs"]["regex"].as_str().unwrap().starts_with("[^\\n]+ \\[\\[(1"), "{asked}");
    let refused =
        ["run", "--benchmark", "cases", "--model", "gemini/gemini-2.5-pro", "--constrain=regex", "--out", "x"];
    sandbox.run(&refused).refuses(&["--constrain regex: gemini takes json alone"]);
    sandbox.run(&["run", "--constrain=tightly"]).refuses(&["expected json, grammar or regex"]);
}

/// Items with an aspect: six of `times`, three of `plot`, one without; every other one of the set `test`.
fn labelled(sandbox: &Sandbox) {
    let names: Vec<String> = (0..10).map(|n| format!("q{n}")).collect();
    cases(sandbox, &names);
    crate::support::rewrite_lines(sandbox, "cases/items.jsonl", |item| {
        let n: usize = item["id"].as_str().unwrap()[1..].parse().unwrap();
        let set = if n.is_multiple_of(2) { "test" } else { "train" };
        item["labels"] = match n {
            0..6 => json!({"aspect": "times", "set": set}),
            6..9 => json!({"aspect": "plot", "set": set}),
            _ => json!({"set": set}),
        };
    });
}

fn asked(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.path(&format!("{folder}/items.jsonl"))).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn items_are_selected_by_labels_and_drawn_in_proportion() {
    let sandbox = Sandbox::with_own_cache();
    labelled(&sandbox);
    let with = |command: &'static str, more: &[&'static str]| {
        let fixed = [command, "--benchmark", "cases", "--method", "closed-book", "--json"];
        [&fixed[..], more].concat()
    };
    let run = |more: &[&'static str]| sandbox.run(&[&with("run", more)[..], &["--out", "r"]].concat());
    run(&["--where", "set=test", "--where", "aspect=times"]).exits(0);
    assert_eq!(asked(&sandbox, "r"), ["q0", "q2", "q4"]);
    assert_eq!(configuration(&sandbox)["where"], json!(["aspect=times", "set=test"]));
    run(&["--where", "set=test"]).refuses(&["where: aspect=times", "nothing now"]);
    run(&["--where", "set=dev"]).refuses(&["--where", "no item has set=dev", "test, train"]);
    run(&["--by", "aspect"]).refuses(&["--by is for a sample"]);
    run(&["--draw", "11"]).refuses(&["--draw", "11 items are to be drawn, and there are 10"]);

    let draw = ["--draw", "5", "--by", "aspect", "--seed", "7"];
    run(&[&draw[..], &["--fresh"]].concat()).exits(0);
    let (drawn, said) = (asked(&sandbox, "r"), configuration(&sandbox));
    assert_eq!(said["draw"], json!({"n": 5, "by": "aspect", "seed": 7}));
    let n_times = drawn.iter().filter(|id| ("q0".."q6").contains(&id.as_str())).count();
    assert_eq!((drawn.len(), n_times), (5, 3), "{drawn:?}");
    assert_eq!(sandbox.run(&with("estimate", &draw)).exits(0).json()["items"], 5);
    run(&["--draw", "5", "--by", "aspect", "--seed", "8"]).refuses(&["draw.seed: 7 there, 8 now"]);
    run(&draw).exits(0);
    let report = sandbox.run(&["report", "r", "--json"]).exits(0).json();
    assert_eq!(report["runs"][0]["facts"]["items drawn"], "5 by aspect, seed 7");

    sandbox.write("run.toml", "benchmark = 'cases'\nmethod = ['closed-book']\nwhere = ['set=train']\ndraw = 2\n");
    sandbox.run(&["run", "--config", "run.toml", "--out", "c"]).exits(0);
    assert_eq!(asked(&sandbox, "c").len(), 2);
}

#[test]
fn both_tasks_are_asked_of_the_same_items_and_are_told_apart() {
    let server = Server::replying(|_, body| {
        let open = !body["messages"].to_string().contains("[[n]]");
        ("200 OK", answer(if open { "Ana" } else { "[[2]]" }))
    });
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["a", "b", "c"].map(str::to_owned));
    crate::support::rewrite_lines(&sandbox, "cases/items.jsonl", |item| {
        if item["id"] != "c" {
            item["answers"] = json!(["Ana"]);
        }
    });
    let run = |more: &[&'static str]| {
        sandbox.run(&[&run_cases("openai-compatible/tiny", &server.url, &[])[..], more].concat())
    };
    let report = run(&["--task", "both"]).exits(0).json();
    assert_eq!(asked(&sandbox, "r"), ["a", "a#generative", "b", "b#generative", "c"]);
    let metrics = &report["cells"][0]["metrics"];
    let told = |metric: &str| (metrics[metric]["n"].clone(), metrics[metric]["value"].clone());
    assert_eq!((told("accuracy"), told("f1")), ((json!(3), json!(0.0)), (json!(2), json!(1.0))), "{report}");
    let tables = sandbox.run(&["report", "r"]).exits(0).out();
    assert!(tables.contains("asked_as") && tables.contains("generative"), "{tables}");
    sandbox.run(&["verify", "r"]).exits(0);
    run(&["--task", "generative"]).refuses(&["items"]);
    run(&["--task", "both", "--items", "c", "--fresh"]).refuses(&["--task both: no item has options"]);
}

#[test]
fn a_run_whose_gold_answers_are_hashes_says_at_its_start_that_it_scores_none() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["q0".to_owned(), "q1".to_owned()]);
    let run = ["run", "--benchmark", "cases", "--method", "closed-book", "--out"];
    let said = sandbox.run(&[&run[..], &["open"]].concat()).exits(0).err();
    assert!(!said.contains("hashes"), "{said}");
    crate::support::rewrite_lines(&sandbox, "cases/items.jsonl", |item| {
        if item["id"] == "q1" {
            let answers = [format!("sha256:s:{}", "0".repeat(64))];
            *item = json!({"id": "q1", "documents": ["book"], "question": "Case q1: who?", "task": "generative",
                "answers": answers});
        }
    });
    let said = sandbox.run(&[&run[..], &["hashed"]].concat()).exits(0).err();
    assert!(said.contains("1 of 2 items have their gold answers as hashes: a run scores no answer to them"), "{said}");
}

#[test]
fn a_budget_with_a_sign_between_its_thousands_is_said_to_be_two() {
    let sandbox = Sandbox::new();
    let said =
        |budget: &str| sandbox.run(&["estimate", "--method", "dos-rag", "--limit", "1", "--budget", budget]).err();
    assert!(said("1,500").contains("--budget 1,500 is two numbers, 1 and 500: write 1500 if you mean one"));
    assert!(said("1,500,2,500").contains("--budget 2,500 is two numbers"));
    assert!(said("1,500,2000").contains("--budget 1,500 is two numbers"));
    for budget in ["500,1000", "1500", "30,60", "10,100,1000", "5,10,100"] {
        assert!(!said(budget).contains("two numbers"), "{budget}");
    }
}

#[test]
fn who_is_asked_at_the_providers_own_address_beside_a_gateway_is_said() {
    let sandbox = Sandbox::with_own_cache();
    let no = r#"{"error": {"message": "no"}}"#;
    let gateway = HttpServer::start(move |_| ("400 Bad Request", Vec::new(), no.to_owned()));
    let url = gateway.url.as_str();
    let run = ["run", "--method", "closed-book", "--limit", "1", "--model", "openai/gpt-4.1", "--base-url", url];
    let run = [&run[..], &["--judge-model", "openai/gpt-4o", "--out", "r"]].concat();
    let said = |more: &[&str]| {
        let mut command = sandbox.command(&[&run[..], more].concat());
        Ended(command.env("OPENAI_API_KEY", "key").output().unwrap()).exits(1).err()
    };
    let of_judge =
        "openai/gpt-4o is asked at https://api.openai.com/v1, not at --base-url; --judge-base-url names another";
    assert!(said(&[]).contains(of_judge), "{}", said(&[]));
    assert!(!said(&["--judge-base-url", url, "--fresh"]).contains("is asked at"));
}
