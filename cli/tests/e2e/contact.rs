//! First contact with the program: no arguments, help, mistyped names, completions, the manual, `config` and `doctor`.

use crate::http::{HttpServer, ok};
use crate::support::{Ended, Sandbox, run_tales, tales};
use serde_json::{Value, json};
use std::process::Command;

#[test]
fn without_arguments_three_things_to_do_are_shown_and_the_first_can_be_done() {
    let sandbox = Sandbox::new();
    let said = sandbox.run(&[]).exits(0).out();
    for command in ["closeread search sample", "closeread run ", "runs/sample-*"] {
        assert!(said.contains(command), "{said}");
    }
    let found = sandbox.run(&["search", "sample", "Who paid for the bell?", "--retriever", "bm25"]).exits(0);
    assert!(found.out().contains("[") && found.err().contains("of 1500 tokens, by bm25"), "{}", found.err());
    assert!(!found.err().contains("no word of the question"));
    let nothing = sandbox.run(&["search", "sample", "Quetzalcoatl?", "--retriever", "bm25"]).exits(0);
    assert!(nothing.err().contains("no word of the question is in the book"), "{}", nothing.err());
    let line = ["search", "sample", "Who paid for the bell?", "--retriever", "bm25", "--json", "--budget"];
    let told = |budget| sandbox.run(&[&line[..], &[budget]].concat()).exits(0).err();
    assert!(told("5").contains("tokens; give a larger --budget"), "{}", told("5"));
    assert!(!told("150").contains("--budget"), "{}", told("150"));
}

#[test]
fn help_explains_commands_and_topics_and_knows_what_was_meant() {
    let sandbox = Sandbox::new();
    let all = sandbox.run(&["help"]).exits(0).out();
    assert!(all.contains("Usage: closeread") && all.contains("Topics of `closeread help TOPIC`: budgets"), "{all}");
    for (about, words) in [
        (&["budgets"][..], "--context-window N"),
        (&["providers"], "OPENAI_API_KEY"),
        (&["formats"], "documents.jsonl"),
        (&["formats"], "docs/ is at https://"),
        (&["exit-codes"], "Nothing was done"),
        (&["config"], "CLOSEREAD_RUN_BUDGET"),
        (&["build", "hamlet"], "closeread build hamlet --books novels/"),
        (&["run"], "Examples:"),
        (&["run"], "docs/ is at https://"),
    ] {
        let said = sandbox.run(&[&["help"][..], about].concat()).exits(0).out();
        assert!(said.contains(words), "{about:?}: {said}");
    }
    sandbox.run(&["help", "budget"]).refuses(&["no help about `budget` (did you mean `budgets`?)", "exit-codes"]);
}

#[test]
fn a_mistyped_name_gets_the_nearest() {
    let sandbox = Sandbox::new();
    sandbox.write("items.jsonl", "");
    for (args, words) in [
        (&["run", "--method", "dos-rga"][..], "unknown method `dos-rga` (did you mean `dos-rag`?)"),
        (&["run", "--param", "dosrag.max_tokens=1"], "(did you mean `dos-rag`?)"),
        (&["run", "--param", "dos-rag.max_token=1"], "unknown parameter `max_token` (did you mean `max_tokens`?)"),
        (&["run", "--benchmark", "novelqu"], "(did you mean `novelqa`?)"),
        (
            &["run", "--benchmark", "items.jsonl"],
            "`items.jsonl` is a file: expected the folder that holds documents.jsonl",
        ),
        (&["run", "--model", "open-ai/x"], "unknown model `open-ai/x` (did you mean `openai`?)"),
        (&["run", "--tokenizer", "o200"], "(did you mean `o200k`?)"),
        (&["run", "--embedder", "all-minilm-l6"], "(did you mean `all-MiniLM-L6-v2`?)"),
        (&["run", "--items", "en-01"], "(did you mean `en-"),
        (&["protocol", "novelq"], "(did you mean `novelqa`?)"),
        (&["methods", "dos-rag"], "dos-rag is a method: `closeread methods` takes a book"),
        (&["score", "--gold", "x", "--predictions", "y", "--metric", "rouge-l"], "did you mean `rouge"),
        (&["runs"], "a similar subcommand exists: 'run'"),
        (&["rnu"], "a similar subcommand exists: 'run'"),
        (&["-q", "data", "hsah"], "a similar subcommand exists: 'hash'"),
    ] {
        sandbox.run(args).refuses(&[words]);
    }
}

#[test]
fn what_stands_without_its_option_gets_the_option() {
    let sandbox = Sandbox::new();
    sandbox.write("tales/items.jsonl", "");
    sandbox.write("tales/mill.txt", "Ana came.");
    sandbox.write("r/manifest.json", "{}");
    for (args, tip) in [
        (&["run", "tales"][..], "use '--benchmark tales'"),
        (&["run", "novelqa"], "use '--benchmark novelqa'"),
        (&["run", "r"], "use '--out r'"),
        (&["gate", "x", "r"], "use '--no-worse-than r'"),
        (&["run", "--constrain", "json"], "use '--constrain=json'"),
        (&["run", "--method", "closed-book", "dos-rag"], "use '--method dos-rag'"),
        (&["build", "sagascale", "tales/mill.txt", "--out", "b"], "use '--books tales/mill.txt'"),
    ] {
        sandbox.run(args).refuses(&[tip]);
    }
    assert!(!sandbox.run(&["run", "nothing"]).exits(2).err().contains("tip:"), "no file, no data set and no method");
}

#[test]
fn a_wrong_value_of_the_environment_is_named_with_its_variable() {
    let sandbox = Sandbox::new();
    let run =
        |args: &[&str]| Ended(sandbox.command(args).env("CLOSEREAD_RUN_LIMIT", "few").output().unwrap()).exits(2).err();
    let told = run(&["run", "--method", "closed-book"]);
    assert!(told.contains("'few'") && told.contains("the environment variable CLOSEREAD_RUN_LIMIT"), "{told}");
    assert!(!run(&["run", "--limit", "many"]).contains("CLOSEREAD_RUN_LIMIT"), "the option wins");
    for (option, value) in [("base-url", "foo"), ("where", "xx"), ("method", "foo"), ("tokenizer", "foo")] {
        let variable = format!("CLOSEREAD_RUN_{}", option.replace('-', "_").to_uppercase());
        let reader = ["--model", "openai-compatible/m"];
        let told = |args: &[&str]| {
            Ended(sandbox.command(&[&["run"], &reader[..], args].concat()).env(&variable, value).output().unwrap())
                .exits(2)
                .err()
        };
        let (of_variable, own) = (told(&[]), told(&[&format!("--{option}"), value]));
        let hint = format!("hint: --{option} comes from the environment variable {variable}");
        assert!(of_variable.contains(&hint) && !own.contains(&variable), "{of_variable}{own}");
    }
}

#[test]
fn a_cache_that_keeps_its_files_says_how_old_they_must_be() {
    let said = Sandbox::with_own_cache().run(&["cache", "prune"]).exits(0).out();
    assert!(said.contains("files removed: 0, 0 KB, of those not written for 90 days (--older-than)"), "{said}");
}

#[test]
fn a_format_that_another_command_writes_is_named_with_that_command() {
    let sandbox = Sandbox::new();
    let junit = "`closeread gate RUN --min METRIC=SCORE --junit FILE` writes JUnit";
    for (args, tip) in [
        (&["export", "junit", "r"][..], junit),
        (&["report", "r", "--junit", "x.xml"], junit),
        (&["export", "csv", "r"], "`closeread report RUN --csv FILE` writes CSV"),
    ] {
        sandbox.run(args).refuses(&[tip]);
    }
}

#[test]
fn config_says_where_every_value_comes_from_and_shows_no_key() {
    const KEY: &str = "sk-planted-5c1e";
    let sandbox = Sandbox::new();
    sandbox.write("mine.toml", "budget = [700]\nconcurrency = 3\nextra-body = '{\"api_key\": \"sk-planted-5c1e\"}'\n");
    sandbox.write("config/run.toml", "budget = [900]\nvotes = 5\n");
    sandbox.write(".env", format!("OPENAI_API_KEY={KEY}\n"));
    let command = |more: &[&str]| {
        let args = [
            &["config", "--config", "mine.toml", "--limit", "4", "--base-url", "http://me:sk-planted-5c1e@h/v1"],
            more,
        ]
        .concat();
        let mut command = sandbox.command(&args);
        command
            .env("CLOSEREAD_RUN_CONCURRENCY", "9")
            .env("CLOSEREAD_RUN_BENCHMARK", "novelqa")
            .env("ANTHROPIC_API_KEY", KEY);
        Ended(command.env_remove("OPENAI_API_KEY").output().unwrap()).exits(0)
    };
    let said = command(&["--json"]);
    assert!(!said.out().contains("planted"), "{}", said.out());
    let said = said.json();
    let of = |option: &str| {
        let mut rows = said["options"].as_array().unwrap().iter();
        let row = rows.rfind(|row| row["option"] == option).unwrap();
        (row["value"].as_str().unwrap().to_owned(), row["from"].as_str().unwrap().to_owned())
    };
    let from = |option: &str| of(option).1;
    assert_eq!(of("limit"), ("4".to_owned(), "option".to_owned()));
    assert_eq!(of("concurrency"), ("9".to_owned(), "CLOSEREAD_RUN_CONCURRENCY".to_owned()));
    assert_eq!(of("budget"), ("700".to_owned(), "mine.toml".to_owned()));
    assert!(of("votes").0 == "5" && from("votes").ends_with("run.toml"), "{said:#}");
    assert!(of("method").0.contains("full-document") && from("method").contains("NovelQA"), "{said:#}");
    assert_eq!(of("timeout"), ("600".to_owned(), "default".to_owned()));
    assert_eq!(of("base-url").0, "http://h/v1");
    let set =
        |key: &str| said["keys"].as_array().unwrap().iter().find(|row| row["name"] == key).unwrap()["set"].clone();
    assert_eq!(
        (set("OPENAI_API_KEY"), set("ANTHROPIC_API_KEY"), set("GOOGLE_API_KEY")),
        (true.into(), true.into(), false.into())
    );
    let text = command(&[]);
    let text = text.out();
    assert!(text.contains("The first that names a value wins") && !text.contains("planted"), "{text}");
}

#[test]
fn what_config_says_is_what_a_run_does() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    sandbox.write("config/run.toml", "limit = 2\nretriever = 'bm25'\n");
    let mut command = sandbox.command(&["run", "--benchmark", "tales", "--out", "r", "--json"]);
    let report = Ended(command.env("CLOSEREAD_RUN_METHOD", "closed-book").output().unwrap()).exits(0).json();
    let cells = report["cells"].as_array().unwrap();
    assert_eq!((cells.len(), &cells[0]["method"], &cells[0]["n"]), (1, &"closed-book".into(), &2.into()));
}

#[test]
fn doctor_says_what_is_there_and_what_is_lacking() {
    const KEY: &str = "sk-planted-88ab";
    let sandbox = Sandbox::with_own_cache();
    let doctor = |args: &[&str]| {
        let mut command = sandbox.command(&[&["doctor", "--json"][..], args].concat());
        for variable in ["OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_COMPATIBLE_API_KEY"] {
            command.env_remove(variable);
        }
        Ended(command.env("ANTHROPIC_API_KEY", KEY).output().unwrap())
    };
    let said = doctor(&["--offline"]).exits(0);
    assert!(!said.out().contains("planted"), "{}", said.out());
    let rows: Vec<Value> = serde_json::from_str(&said.out()).unwrap();
    let state =
        |name: &str| rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}"))["state"].clone();
    assert_eq!(
        (state("anthropic"), state("openai"), state("all-MiniLM-L6-v2")),
        ("ok".into(), "absent".into(), "ok".into())
    );
    sandbox.write("models/broken/model.toml", "name =");
    let said = doctor(&["--offline"]).exits(1);
    assert!(said.out().contains(r#""state":"broken""#), "{}", said.out());
}

#[test]
fn doctor_reaches_a_server_of_ones_own() {
    let sandbox = Sandbox::new();
    let server = HttpServer::start(|_| ok(&json!({})));
    let mut command = sandbox.command(&["doctor", "--base-url", &server.url]);
    // The other providers are asked as well, in vain where there is no network: without a key that is no fault.
    for variable in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"] {
        command.env_remove(variable);
    }
    let said = Ended(command.env("HTTPS_PROXY", "http://127.0.0.1:1").output().unwrap()).exits(0).out();
    assert!(said.lines().any(|line| line.contains("ok      openai-compatible") && line.contains("answers")), "{said}");
}

#[cfg(unix)]
#[test]
fn a_shell_completes_methods_and_runs() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "runs/first", &["--method", "closed-book"]);
    let program = env!("CARGO_BIN_EXE_closeread");
    // The words behind `closeread`, the last of which is being typed.
    let last = |words: &[&str]| {
        let mut command = Command::new(program);
        command.current_dir(sandbox.dir.path()).env("CLOSEREAD_COMPLETE", "bash").env("_CLAP_IFS", "\n");
        command.env("_CLAP_COMPLETE_INDEX", (words.len()).to_string()).args(["--", "closeread"]).args(words);
        let said = command.output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    };
    assert!(last(&["run", "--method", "dos"]).contains("dos-rag"));
    assert!(last(&["run", "--method", "dos-rag,van"]).contains("dos-rag,vanilla-rag"));
    assert!(last(&["report", "runs/"]).contains("runs/first"));
    assert!(last(&["help", "bud"]).contains("budgets"));
    let script = sandbox.run(&["completions", "zsh"]).exits(0).out();
    assert!(script.contains("#compdef closeread") && script.contains("CLOSEREAD_COMPLETE"), "{script}");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let sandbox = Sandbox::new();
    sandbox.run(&["man", "man1"]).exits(0);
    for name in ["closeread.1", "closeread-run.1", "closeread-build-hamlet.1", "closeread-doctor.1"] {
        let page = std::fs::read_to_string(sandbox.path(&format!("man1/{name}"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains(".SH OPTIONS"), "{name}");
    }
}

#[test]
fn colours_are_as_asked_for() {
    let sandbox = Sandbox::new();
    let err = |args: &[&str]| sandbox.run(args).exits(2).err();
    assert!(!err(&["run", "--method", "x"]).contains('\u{1b}'));
    assert!(err(&["run", "--method", "x", "--color", "always"]).starts_with("\u{1b}[1m\u{1b}[31merror: "));
    assert!(err(&["run", "--nothing", "--color=always"]).contains('\u{1b}'), "errors of the command line, too");
    assert!(!err(&["run", "--nothing"]).contains('\u{1b}'));
}

#[test]
fn each_line_of_the_table_is_said_when_it_is_done_the_quickest_first() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let args = [
        "run",
        "--benchmark",
        "tales",
        "--method",
        "vanilla-rag,closed-book,full-document,query-summary",
        "--budget",
        "40",
        "--passage-tokens",
        "12",
    ];
    let said = sandbox.run(&[&args[..], &["--retriever", "bm25", "--out", "r"]].concat()).exits(0).err();
    let at = |words: &str| said.find(words).unwrap_or_else(|| panic!("{words}: {said}"));
    assert!(at("closed-book is done: accuracy") < at("vanilla-rag at 40 is done: "), "{said}");
    assert!(at("closed-book is done") < at("full-document is done"), "{said}");
    at("query-summary is done: nothing was scored");
    let again = sandbox.run(&[&args[..], &["--retriever", "bm25", "--out", "r"]].concat()).exits(0).err();
    assert!(!again.contains("is done"), "nothing was done: {again}");
}

#[test]
fn a_variable_that_names_no_option_of_a_run_is_said_to_be_ignored() {
    let sandbox = Sandbox::new();
    let with = |args: &[&str]| {
        let mut command = sandbox.command(args);
        Ended(command.env("CLOSEREAD_RUN_LIMITS", "3").env("CLOSEREAD_RUN_BUDGET", "500").output().unwrap()).exits(0)
    };
    let said = with(&["config"]).err();
    assert!(
        said.contains("CLOSEREAD_RUN_LIMITS is ignored") && said.contains("did you mean CLOSEREAD_RUN_LIMIT?"),
        "{said}"
    );
    assert!(!said.contains("CLOSEREAD_RUN_BUDGET"), "{said}");
    assert_eq!(with(&["methods"]).err(), "", "it reads no options of runs");
}

#[test]
#[cfg(unix)]
fn finding_04_a_variable_that_is_not_utf_8_is_named_and_an_empty_one_is_shown_empty() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let with = |args: &[&str], name: &str, value: &[u8]| {
        Ended(sandbox.command(args).env(name, std::ffi::OsStr::from_bytes(value)).output().unwrap())
    };
    for command in ["config", "run"] {
        with(&[command], "CLOSEREAD_RUN_LIMIT", b"\xff").refuses(&["CLOSEREAD_RUN_LIMIT: the value is not UTF-8"]);
    }
    let submit = ["submit", "slurm", "--parts", "2", "--out", "s", "--", "--benchmark", "sample"];
    with(&submit, "CLOSEREAD_RUN_LIMIT", b"\xff").refuses(&["CLOSEREAD_RUN_LIMIT: the value is not UTF-8"]);
    with(&["config"], "CLOSEREAD_RUN_OUT", b"\xff").exits(0);
    for variable in ["CLOSEREAD_GPU", "OPENAI_API_KEY", "COHERE_API_KEY", "CO_API_KEY", "JINA_API_KEY"] {
        let said = with(&["methods"], variable, b"\xff").exits(0).err();
        assert!(said.contains(&format!("{variable} is ignored: its value is not UTF-8")), "{said}");
    }
    let value = |name: &str, value: &[u8], list: &str, key: &str, of: &str| {
        let said = with(&["config", "--json"], name, value).exits(0).json();
        said[list].as_array().unwrap().iter().find(|row| row[key] == of).unwrap()["value"].clone()
    };
    assert_eq!(value("CLOSEREAD_CACHE", b"\xff", "variables", "name", "CLOSEREAD_CACHE"), "\u{fffd}");
    assert!(value("CLOSEREAD_GPU", b"", "variables", "name", "CLOSEREAD_GPU").is_null(), "as none");
    assert_eq!(value("CLOSEREAD_RUN_MODEL", b"", "options", "option", "model"), "\"\"");
    with(&["run"], "CLOSEREAD_RUN_MODEL", b"").refuses(&["unknown model ``"]);
}
