//! Batches as the providers document them.

use super::*;

fn response(body: &str) -> HttpResponse<'_> {
    HttpResponse { status: 200, retry_after: None, body }
}

fn request() -> Request {
    let body = json!({"model": "m", "max_tokens": 9, "temperature": 0.0, "messages": []});
    Request { path: "/chat/completions".to_owned(), headers: Vec::new(), body }
}

#[test]
fn an_entry_is_the_request_under_our_id() {
    let entry = BatchApi::OpenAi.entry("a1", &request());
    let value: Value = serde_json::from_str(&entry).unwrap();
    assert_eq!((&value["url"], &value["method"]), (&json!("/v1/chat/completions"), &json!("POST")));
    assert_eq!((&value["body"], BatchApi::id_of(&entry)), (&request().body, Some("a1".to_owned())));
    let limit = Adjustment::TokenLimit(TokenLimit::MaxCompletionTokens);
    let adjusted: Value = serde_json::from_str(&BatchApi::OpenAi.adjusted(&entry, limit).unwrap()).unwrap();
    assert_eq!(adjusted["body"], json!({"model": "m", "temperature": 0.0, "messages": [], "max_completion_tokens": 9}));
    assert_eq!(BatchApi::OpenAi.adjusted(&adjusted.to_string(), limit), None, "it says so already");
}

#[test]
fn openai_takes_a_file_and_a_batch_that_names_it() {
    let entries = [r#"{"custom_id":"a"}"#.to_owned(), r#"{"custom_id":"b"}"#.to_owned()];
    let upload = BatchApi::OpenAi.upload("n-1", &entries).unwrap();
    let (kind, body) = upload.body.unwrap();
    let body = String::from_utf8(body).unwrap();
    let boundary = kind.split_once("boundary=").unwrap().1;
    let parts: Vec<&str> = body.split(&format!("--{boundary}")).collect();
    assert_eq!(parts.len(), 4, "{body}");
    assert!(parts[1].ends_with("name=\"purpose\"\r\n\r\nbatch\r\n"), "{body}");
    assert!(parts[2].contains("filename=\"n-1.jsonl\"") && parts[2].contains("{\"custom_id\":\"a\"}\n{\"custom_id"));
    let create = BatchApi::OpenAi.create("n-1", Some("file-7"), &entries);
    let body: Value = serde_json::from_slice(&create.body.unwrap().1).unwrap();
    assert_eq!((&body["input_file_id"], &body["metadata"]["closeread"]), (&json!("file-7"), &json!("n-1")));
    assert!(BatchApi::Anthropic.upload("n-1", &entries).is_none());
    let create = BatchApi::Anthropic.create("n-1", None, &entries);
    assert_eq!(create.body.unwrap().1, br#"{"requests":[{"custom_id":"a"},{"custom_id":"b"}]}"#);
}

#[test]
fn a_batch_runs_ends_or_is_rejected() {
    let read = |value: Value| BatchApi::OpenAi.read_state(response(&value.to_string())).unwrap();
    let counts = json!({"total": 5, "completed": 2, "failed": 1});
    let state = read(json!({"id": "b", "status": "in_progress", "request_counts": counts,
        "metadata": {"closeread": "n"}}));
    assert_eq!((state.phase, state.done, state.total, state.name.as_deref()), (BatchPhase::Running, 3, 5, Some("n")));
    assert_eq!(state.answered, 2);
    let state = read(json!({"id": "b", "status": "expired", "output_file_id": "o", "error_file_id": "e"}));
    assert_eq!(state.phase, BatchPhase::Ended);
    let paths: Vec<String> = BatchApi::OpenAi.results(&state).into_iter().map(|message| message.path).collect();
    assert_eq!(paths, ["/files/o/content", "/files/e/content"]);
    let errors = json!({"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]});
    let state = read(json!({"id": "b", "status": "failed", "errors": errors}));
    let message = "Enqueued token limit reached".to_owned();
    assert_eq!(state.phase, BatchPhase::Rejected { message, too_much: true });

    let counts = json!({"processing": 2, "succeeded": 1, "errored": 0, "canceled": 0, "expired": 1});
    let list = json!({"data": [{"id": "m", "processing_status": "in_progress", "request_counts": counts}],
        "has_more": true});
    let (states, more) = BatchApi::Anthropic.read_list(response(&list.to_string())).unwrap();
    assert_eq!((states[0].done, states[0].total, states[0].answered, more), (2, 4, 1, true));
}

#[test]
fn results_are_responses_or_faults_under_their_ids() {
    let openai = concat!(
        r#"{"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"message":{"content":"Ana"}}]}},"error":null}"#,
        "\n",
        r#"{"custom_id":"b","response":{"status_code":400,"body":{"error":{"message":"no such field"}}},"error":null}"#,
        "\n",
        r#"{"custom_id":"c","response":null,"error":{"code":"batch_expired","message":"x"}}"#,
        "\nhalf a li"
    );
    let results = BatchApi::OpenAi.read_results(response(openai)).unwrap();
    let ids: Vec<&str> = results.iter().map(|result| result.id.as_str()).collect();
    assert_eq!((ids.as_slice(), results[0].result.as_ref().unwrap().text.as_str()), (&["a", "b", "c"][..], "Ana"));
    assert!(matches!(results[1].result, Err(Fault::Final(_))));
    assert!(matches!(results[2].result, Err(Fault::Transient { .. })), "it is handed in again");
    assert_eq!(results.iter().map(|result| result.answered).collect::<Vec<_>>(), [true, false, false]);

    let anthropic = concat!(
        r#"{"custom_id":"a","result":{"type":"succeeded","message":{"content":[{"type":"text","text":"Ana"}]}}}"#,
        "\n",
        r#"{"custom_id":"b","result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","message":"m"}}}}"#,
        "\n",
        r#"{"custom_id":"c","result":{"type":"errored","error":{"type":"error","error":{"type":"overloaded_error","message":"m"}}}}"#,
        "\n",
        r#"{"custom_id":"d","result":{"type":"expired"}}"#,
        "\n",
        r#"{"custom_id":"e","result":{"type":"canceled"}}"#
    );
    let results = BatchApi::Anthropic.read_results(response(anthropic)).unwrap();
    let again: Vec<bool> = results.iter().map(|r| matches!(r.result, Err(Fault::Transient { .. }))).collect();
    assert_eq!((again, results[0].result.is_ok()), (vec![false, false, true, true, false], true));
    assert_eq!(results.iter().filter(|result| result.answered).count(), 1);
}

#[test]
fn finding_07_a_result_that_is_no_answer_names_what_was_billed() {
    let blocked = r#"{"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"message":{"content":"An"},
        "finish_reason":"content_filter"}],"usage":{"prompt_tokens":7,"completion_tokens":5}}}}"#;
    let refused = r#"{"custom_id":"b","response":{"status_code":400,"body":{"usage":{"prompt_tokens":7}}}}"#;
    let refusal = r#"{"custom_id":"a","result":{"type":"succeeded","message":{"content":[],"stop_reason":"refusal",
        "usage":{"input_tokens":7,"output_tokens":5}}}}"#;
    let lines = format!("{}\n{refused}", blocked.replace('\n', ""));
    let told = |api: BatchApi, lines: &str| -> Vec<Option<Usage>> {
        api.read_results(response(lines)).unwrap().into_iter().map(|result| result.told).collect()
    };
    let billed = Usage { prompt_tokens: Some(7), completion_tokens: Some(5), batch: true, ..Usage::default() };
    assert_eq!(told(BatchApi::OpenAi, &lines), [Some(billed), None]);
    assert_eq!(told(BatchApi::Anthropic, &refusal.replace('\n', "")), [Some(billed)]);
}
