use super::*;
use closeread_methods::reader::EXTRACTIVE;
use serde_json::json;

#[test]
fn the_command_line_wins_over_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.toml");
    std::fs::write(&path, "budget = [2000, 500]\nmethod = ['dos-rag']\ndata = ['x.csv']\nretriever = 'hybrid'")
        .unwrap();
    let args = RunArgs { config: Some(path.clone()), method: vec!["closed-book".into()], ..RunArgs::default() };
    let args = args.with_config_file().unwrap();
    let names: Vec<&str> = args.methods().unwrap().iter().map(|(entry, _)| entry.name).collect();
    assert_eq!(names, ["closed-book"]);
    assert_eq!(args.budgets().unwrap(), [500, 2000]);
    assert_eq!(args.data, [dir.path().join("x.csv")]);
    assert_eq!(args.retriever, Some(Retriever::Hybrid));

    std::fs::write(dir.path().join("tok.json"), "{}").unwrap();
    std::fs::create_dir(dir.path().join("rr")).unwrap();
    std::fs::write(&path, "tokenizer = 'tok.json'\nreranker = './rr'").unwrap();
    let args = RunArgs { config: Some(path.clone()), ..RunArgs::default() }.with_config_file().unwrap();
    let beside = |name: &str| Some(dir.path().join(name).to_string_lossy().into_owned());
    assert_eq!((args.tokenizer, args.reranker), (beside("tok.json"), beside("./rr")));

    std::fs::write(&path, "bugdet = [1]").unwrap();
    let error = RunArgs { config: Some(path), ..RunArgs::default() }.with_config_file().unwrap_err();
    assert!(format!("{error:#}").contains("unknown option `bugdet` (did you mean `budget`?)"), "{error:#}");
}

#[test]
fn files_of_another_benchmark_are_not_taken_from_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.toml");
    let data = |file: &str, benchmark: &str| {
        std::fs::write(&path, file).unwrap();
        let benchmark = Some(benchmark.to_owned());
        RunArgs { config: Some(path.clone()), benchmark, ..RunArgs::default() }.with_config_file().unwrap().data
    };
    let file = "benchmark = 'quality'\ndata = ['x']";
    assert_eq!(
        (data(file, "sample").len(), data(file, "quality").len(), data("data = ['x']", "quality").len()),
        (0, 1, 1)
    );
}

#[test]
fn a_folder_beside_the_file_is_a_benchmark_unless_a_data_set_is_called_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.toml");
    for (name, is_folder) in [("tales", true), ("./quality", true), ("quality", false), ("sample", false)] {
        std::fs::create_dir_all(dir.path().join(name)).unwrap();
        std::fs::write(&path, format!("benchmark = '{name}'")).unwrap();
        let args = RunArgs { config: Some(path.clone()), ..RunArgs::default() }.with_config_file().unwrap();
        let expected = if is_folder { dir.path().join(name).display().to_string() } else { name.to_owned() };
        assert_eq!(args.benchmark, Some(expected));
    }
}

#[test]
fn an_error_of_the_file_names_the_line_and_never_its_value() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.toml");
    for (line, said) in [
        ("model = [\"sk-planted-1\"", "unclosed array"),
        ("base-url = sk-planted-1", "quoted"),
        ("base-url = \"sk-planted-1", "invalid basic string"),
        ("base-url = \"sk-planted-1\\x\"", "unicode"),
        ("sk-planted-1", "key with no value"),
        ("limit = \"sk-planted-1, expected\"", "`limit`: found text, expected a whole number"),
        ("retriever = \"sk-planted-1\"", "unknown variant, expected one of `dense`"),
    ] {
        std::fs::write(&path, format!("json = true\n{line}\n")).unwrap();
        let args = RunArgs { config: Some(path.clone()), ..RunArgs::default() };
        let error = format!("{:#}", args.with_config_file().unwrap_err());
        assert!(error.contains("run.toml:2: ") && error.contains(said), "{line}: {error}");
        assert!(!error.contains("planted"), "{line}: {error}");
    }
}

#[test]
fn the_protocol_holds_where_nothing_is_said() {
    let novelqa = || RunArgs { benchmark: Some("novelqa".into()), ..RunArgs::default() };
    let methods = novelqa().methods().unwrap();
    let names: Vec<&str> = methods.iter().map(|(entry, _)| entry.name).collect();
    assert_eq!(names, ["closed-book", "full-document"]);
    assert_eq!(json!(methods[1].1)["overflow"], "truncate-end");
    let overflow = RunArgs { on_overflow: Some(OnOverflow::Fail), ..novelqa() };
    assert_eq!(json!(overflow.methods().unwrap()[1].1)["overflow"], "fail");

    let quality =
        |model: &str| RunArgs { benchmark: Some("quality".into()), model: vec![model.into()], ..RunArgs::default() };
    assert_eq!(quality("openai/x").repeats(), 5);
    assert_eq!(quality(EXTRACTIVE).repeats(), 1, "the same response five times is one response");
    assert_eq!((quality("openai/x").budgets().unwrap().len(), novelqa().budgets().unwrap().len()), (6, 4));
    assert_eq!(RunArgs { repeats: Some(2), ..quality("openai/x") }.repeats(), 2);
}

#[test]
fn judges_are_named_but_where_everything_is_tried() {
    let with = |benchmark: Option<&str>, method: &str, judge: &[&str]| RunArgs {
        benchmark: benchmark.map(str::to_owned),
        method: vec![method.to_owned()],
        model: vec![EXTRACTIVE.to_owned(), "openai/x".to_owned(), "openai/y".to_owned()],
        base_url: Some("http://here/v1".to_owned()),
        judge_model: judge.iter().map(|name| (*name).to_owned()).collect(),
        ..RunArgs::default()
    };
    for quiet in [with(Some("novelqa"), "all", &[]), with(None, "dos-rag", &[]), with(None, "all", &["none"])] {
        assert!(quiet.judges().unwrap().is_none());
    }
    for everything in [with(None, "all", &[]), with(Some("sample"), "all", &[])] {
        let judges = everything.judges().unwrap().unwrap();
        assert_eq!((judges.models, judges.judges), (vec!["openai/x".to_owned()], vec!["all".to_owned()]));
        assert_eq!(judges.base_url.as_deref(), Some("http://here/v1"), "it reads there, too");
    }
    let named = |judge: &[&str]| with(Some("novelqa"), "all", judge).judges().unwrap().unwrap();
    assert_eq!(named(&["openai/other"]).base_url, None, "another model is asked at its provider's own address");
    assert_eq!(named(&["openai-compatible/z", "builtin/rule"]).base_url.as_deref(), Some("http://here/v1"));
    assert!(named(&["openai/other"]).judges.is_empty());
}

#[test]
fn extra_bodies_of_file_and_command_line_are_merged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.toml");
    let text = "extra-body = 'all.json'\n[extra-bodies.read-choice]\ngrammar = 'x'\ntop_p = 0.5";
    std::fs::write(&path, text).unwrap();
    std::fs::write(dir.path().join("all.json"), r#"{"seed": 1}"#).unwrap();
    let args = RunArgs {
        config: Some(path),
        extra_body: vec![r#"{"seed": 2}"#.into(), r#"read-choice={"top_p": 0.9}"#.into()],
        ..RunArgs::default()
    };
    let bodies = args.with_config_file().unwrap().extra_body().unwrap();
    assert_eq!(json!(bodies.of(None, "read-choice")), json!({"seed": 2, "grammar": "x", "top_p": 0.9}));
    assert_eq!(json!(bodies.of(Some("dos-rag"), "read-question")), json!({"seed": 2}));
}

#[test]
fn names_are_checked() {
    let args = RunArgs { method: vec!["dos".into()], ..RunArgs::default() };
    assert!(args.methods().unwrap_err().to_string().contains("expected closed-book"));
}

#[test]
fn a_parameter_of_one_method_wins_over_the_option_for_all() {
    let args = RunArgs {
        method: vec!["vanilla-rag".into(), "dos-rag".into()],
        passage_tokens: Some(200),
        param: vec!["dos-rag.max_tokens=50".into(), "dos-rag.fill=skip".into()],
        ..RunArgs::default()
    };
    let methods = args.methods().unwrap();
    let printed: Vec<Value> = methods.iter().map(|(_, method)| json!(method)).collect();
    assert_eq!((&printed[0]["max_tokens"], &printed[0]["fill"]), (&json!(200), &json!("stop")));
    assert_eq!((&printed[1]["max_tokens"], &printed[1]["fill"]), (&json!(50), &json!("skip")));
    for (param, message) in [("dos.fill=skip", "no method"), ("dos-rag.k=1", "`k`"), ("fill", "expected METHOD")] {
        let error = RunArgs { param: vec![param.into()], ..RunArgs::default() }.methods().unwrap_err();
        assert!(error.to_string().contains(message), "{error:#}");
    }
}
