use super::*;
use serde_json::json;

fn log(sample: &Value) -> ForeignLog {
    let log = json!({"version": 2, "status": "success", "eval": {"task": "t", "model": "p/m"}, "samples": [sample]});
    whole("l.json", log.to_string().as_bytes()).unwrap()
}

#[test]
fn a_log_says_how_many_epochs_it_was_to_have() {
    let epochs = |config: &str| {
        let eval = format!(r#"{{"task": "t", "model": "p/m"{config}}}"#);
        start("l.eval", format!(r#"{{"version": 2, "status": "cancelled", "eval": {eval}}}"#).as_bytes())
            .unwrap()
            .epochs
    };
    assert_eq!(epochs(r#", "config": {"epochs": 2}"#), Some(2));
    assert_eq!(["", r#", "config": null"#, r#", "config": {}"#].map(epochs), [None, None, None]);
}

#[test]
fn epochs_of_which_inspect_takes_no_mean_are_named() {
    let notes = |reducers: Value| {
        let config = json!({"epochs": 3, "epochs_reducer": reducers});
        let eval = json!({"task": "t", "model": "p/m", "config": config});
        let log = json!({"version": 2, "status": "success", "eval": eval});
        start("l.eval", log.to_string().as_bytes()).unwrap().notes
    };
    assert_eq!(notes(json!(["max"])), ["inspect_ai takes of the epochs of a sample the `max`, here it is their mean"]);
    assert_eq!(
        [json!(null), json!(["mean"]), json!(["max", "mean"])].map(notes),
        [vec![], vec![], Vec::<String>::new()]
    );
}

#[test]
fn an_unknown_version_gets_one_message() {
    let of = |version: &str| {
        let log = format!(r#"{{"version": {version}, "status": "success", "eval": {{"task": "t", "model": "p/m"}}}}"#);
        start("l.eval", log.as_bytes()).map(|_| ()).unwrap_err().to_string()
    };
    assert!(of("3").starts_with("l.eval: a log of inspect_ai of version 3, and this closeread reads versions 1 to 2"));
    assert!(of("null").ends_with("it names no version"));
    let newer = start("l.eval", br#"{"version": 7, "evals": []}"#).unwrap_err().to_string();
    assert!(newer.contains("of version 7"), "whatever else it holds: {newer}");
    assert!(start("x.json", b"[1]").unwrap_err().to_string().starts_with("x.json: expected a log of inspect_ai"));
}

#[test]
fn scores_of_every_kind_are_numbers() {
    let read = log(&json!({"id": 7, "epoch": 2, "input": "q", "target": ["x", "y"],
        "scores": {"a": {"value": "C"}, "b": {"value": {"x": true, "y": 0.25}}, "c": {"value": 7}, "d": {"value": [1]}},
        "output": {"completion": "z", "choices": [{"stop_reason": "stop"}]}, "metadata": {"book": 3, "kind": "who"}}));
    let sample = &read.samples[0];
    let expected = [("a", 1.0), ("b_x", 1.0), ("b_y", 0.25)].map(|(name, value)| (name.to_owned(), value));
    assert_eq!(sample.scores, BTreeMap::from(expected));
    assert_eq!(
        read.notes,
        ["c", "d"].map(|name| format!("scores of `{name}` are not all from 0 to 1, and are left out"))
    );
    assert_eq!((sample.item.id.as_str(), sample.repeat), ("7", 1));
    assert_eq!((sample.item.documents.as_slice(), sample.item.labels["kind"].as_str()), (&["3".to_owned()][..], "who"));
    assert_eq!(sample.outcome, Outcome::Answered { answer: "z".into(), choice: None });
}

#[test]
fn a_score_that_is_not_from_0_to_1_in_one_sample_is_left_out_of_all() {
    let kept = |values: &[Value]| {
        let sample = |(id, value): (usize, &Value)| json!({"id": id, "input": "q", "scores": {"s": {"value": value}}});
        let samples: Vec<Value> = values.iter().enumerate().map(sample).collect();
        let log = json!({"version": 2, "status": "success", "eval": {"task": "t", "model": "p/m"}, "samples": samples});
        let read = whole("l.json", log.to_string().as_bytes()).unwrap();
        (read.samples.iter().filter(|sample| !sample.scores.is_empty()).count(), read.notes.len())
    };
    assert_eq!(kept(&[json!(1), json!(5), json!(0)]), (0, 1), "marks from 0 to 5");
    assert_eq!(kept(&[json!("C"), json!("unsure"), json!("I")]), (0, 1));
    assert_eq!(kept(&[json!("C"), Value::Null, json!({"x": null})]), (1, 0), "these were not scored");
}

#[test]
fn the_answer_is_what_all_scorers_found_or_the_response() {
    let of = |said: &str, found: [&str; 2]| {
        let scores = json!({"a": {"value": 1, "answer": found[0]}, "b": {"value": 1, "answer": found[1]}});
        let read =
            log(&json!({"id": 7, "input": "q", "target": "x", "scores": scores, "output": {"completion": said}}));
        match &read.samples[0].outcome {
            Outcome::Answered { answer, .. } => answer.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of("It is 42.", ["42", " 42"]), "42");
    assert_eq!(of("It is 42.", ["", "42"]), "42");
    assert_eq!(of("It is 42.", ["no prose", "42"]), "It is 42.");
    assert_eq!(of("", ["file.txt", "42"]), "file.txt", "an agent that says nothing");
}

#[test]
fn of_options_that_scorers_name_the_response_decides() {
    let of = |said: &str, found: [&str; 2]| {
        let scores = json!({"a": {"value": 1, "answer": found[0]}, "b": {"value": 0, "answer": found[1]}});
        let output = json!({"completion": said});
        let sample = json!({"id": 7, "input": "q", "choices": ["x", "y", "z"], "scores": scores, "output": output});
        match &log(&sample).samples[0].outcome {
            Outcome::Answered { choice, .. } => *choice,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of("So.\nANSWER: C", ["A", "C"]), Some(2));
    assert_eq!(of("So.\nANSWER: C", ["B", "B"]), Some(1), "shuffled options have other letters in the response");
    assert_eq!((of("It is y.", ["B", "A"]), of("It is y.", ["some words", "A"])), (Some(1), Some(0)));
}

#[test]
fn a_small_letter_names_an_option_too() {
    let of = |options: [&str; 3], found: &str| {
        let scores = json!({"a": {"value": "I", "answer": found}});
        let read = log(&json!({"id": 7, "input": "q", "target": "b", "choices": options, "scores": scores}));
        let choice = match &read.samples[0].outcome {
            Outcome::Answered { choice, .. } => *choice,
            _ => None,
        };
        (read.samples[0].item.correct, choice)
    };
    assert_eq!(of(["x", "y", "z"], "b"), (Some(1), Some(1)));
    assert_eq!(of(["b", "c", "a"], "a"), (Some(0), Some(2)), "a text");
    assert_eq!(of(["x", "y", "z"], "d"), (Some(1), None));
    assert_eq!(of(["x", "y", "z"], "C"), (Some(1), Some(2)));
}

#[test]
fn the_one_score_of_an_older_log_is_read() {
    let read = log(&json!({"id": 7, "input": "q", "target": "B", "choices": ["x", "y"],
        "output": {"completion": "I take y."}, "score": {"value": "C", "answer": "B"}}));
    assert_eq!(read.samples[0].scores, BTreeMap::from([("score".to_owned(), 1.0)]));
    assert_eq!(read.samples[0].outcome, Outcome::Answered { answer: "y".into(), choice: Some(1) });
}

#[test]
fn a_field_without_a_name_leaves_the_document_to_the_next() {
    let of =
        |metadata: Value| log(&json!({"id": 7, "input": "q", "metadata": metadata})).samples[0].item.documents.clone();
    assert_eq!(of(json!({"document": null, "book": "mill"})), ["mill"]);
    assert_eq!(of(json!({"documents": ["a", "b"], "title": "T"})), ["a", "b"]);
    let text = "Ana came to the mill. ".repeat(10);
    assert_eq!(of(json!({"document": text})), of(json!({"document": text.trim()})), "the hash of a document's text");
    assert!(
        of(json!({"document": text}))[0].len() == 64
            && of(json!({"document": text})) != of(json!({"book": text + "x"}))
    );
}

#[test]
fn prompts_of_a_model_that_grades_are_not_the_readers() {
    let tokens = |usage: Value| log(&json!({"id": 7, "input": "q", "model_usage": usage})).samples[0].prompt_tokens;
    let grader = json!({"input_tokens": 7000});
    assert_eq!(tokens(json!({"p/m": {"input_tokens": 90, "input_tokens_cache_read": 10}, "p/grader": grader})), 100);
    assert_eq!(tokens(json!({"other-name": {"input_tokens": 90}})), 90);
    let most = json!({"input_tokens": usize::MAX, "input_tokens_cache_read": 5});
    assert_eq!(tokens(json!({"p/m": most.clone()})), usize::MAX);
    assert_eq!(tokens(json!({"other-name": most, "p/grader": {"input_tokens": 1}})), usize::MAX);
}

#[test]
fn what_a_scorer_gave_something_for_was_answered() {
    let of = |score: f64| {
        let read = log(&json!({"id": 7, "input": "q", "target": "x", "scores": {"a": {"value": score}},
            "output": {"completion": "no", "choices": [{"stop_reason": "content_filter"}]}}));
        read.samples[0].outcome.clone()
    };
    assert_eq!(of(0.0), Outcome::Blocked { reason: "no".into() });
    assert_eq!(of(0.5), Outcome::Answered { answer: "no".into(), choice: None });
    let failed = |score: f64| {
        let read = log(&json!({"id": 7, "input": "q", "target": "x", "scores": {"a": {"value": score}},
            "output": {"completion": "no"}, "error": {"message": "the sandbox is gone"}}));
        matches!(read.samples[0].outcome, Outcome::Failed { .. })
    };
    assert!(failed(0.0) && !failed(1.0), "errors that inspect scores too");
    for choices in [json!([]), json!(["x", "y"])] {
        let read =
            log(&json!({"id": 7, "input": "q", "target": "B", "choices": choices, "scores": {"a": {"value": 1}}}));
        let outcome = &read.samples[0].outcome;
        assert_eq!(*outcome, Outcome::Answered { answer: String::new(), choice: None }, "an agent that says nothing");
    }
}

#[test]
fn of_a_book_that_every_sample_repeats_the_end_is_kept() {
    let read = log(&json!({"id": 7, "input": format!("{}\nWho came?", "文".repeat(100_000)), "target": "x"}));
    let question = &read.samples[0].item.question;
    assert!(question.len() <= 1500 && question.ends_with("文\nWho came?"));
}

#[test]
fn finding_09_a_sample_of_a_log_of_millions_of_values_is_refused_unless_they_are_events() {
    let read = |field: &str| {
        let many = "[],".repeat(700_000);
        let sample = format!(r#"{{"id": "a\"events", "input": "q", "{field}" : [{many} 0], "target": "x, [y]"}}"#);
        let mut log = start("l.eval", br#"{"version": 2, "eval": {"task": "t", "model": "m"}}"#).unwrap();
        add(&mut log, "samples/a.json", sample.as_bytes()).map(|()| log.samples.len())
    };
    assert_eq!((read("events"), read("messages")), (Ok(1), Ok(1)));
    for field in ["metadata", "else", "ev\\u0065nts"] {
        assert!(read(field).unwrap_err().to_string().contains("million values"), "{field}");
    }
}

#[test]
fn constants_that_are_no_json_are_no_scores() {
    let text = br#"{"version": 2, "status": "error", "eval": {"task": "NaN", "model": "p/m"}, "samples": [
        {"id": "a\"NaN", "input": [{"role": "user", "content": [{"type": "text", "text": "q"}]}], "target": "B",
         "choices": ["x", "y"], "scores": {"s": {"value": NaN, "answer": "B"}}}]}"#;
    let read = whole("l.json", text).unwrap();
    let sample = &read.samples[0];
    assert_eq!((read.task.as_str(), sample.item.id.as_str(), sample.item.question.as_str()), ("NaN", "a\"NaN", "q"));
    assert_eq!((sample.item.correct, sample.scores.len(), read.is_complete), (Some(1), 0, false));
    assert_eq!(sample.outcome, Outcome::Answered { answer: "y".into(), choice: Some(1) });
}
