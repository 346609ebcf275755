//! Requests as providers want them, responses and errors as servers were seen to send them.

use super::*;
use crate::{Call, FinishReason, HostError, Message, Response, ServedBy, Speaker, Usage};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

mod streams;

const ALL: [Protocol; 3] = [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini];

fn call() -> Call {
    let system = Message { role: Speaker::System, content: "Be brief.".to_owned(), shared_bytes: None };
    let user = Message::user("BOOK\nWho?").sharing("BOOK");
    Call { messages: vec![system, user], temperature: 0.0, max_output_tokens: Some(16), prompt: String::new() }
}

fn check_request(protocol: Protocol, parameters: &Parameters, expected: Expect) {
    let request = protocol.request(&call(), parameters);
    expected.assert_eq(&format!("{}\n{}", protocol.url(protocol.default_base_url(), &request), request.body));
}

fn named(model: &str) -> Parameters {
    Parameters { model: model.to_owned(), seed: Some(7), ..Parameters::default() }
}

#[test]
fn each_provider_is_asked_in_its_own_shape() {
    check_request(
        Protocol::OpenAi,
        &named("m"),
        expect![[r#"
            https://api.openai.com/v1/chat/completions
            {"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"BOOK\nWho?"}],"max_tokens":16,"temperature":0.0,"seed":7}"#]],
    );
    check_request(
        Protocol::Anthropic,
        &named("m"),
        expect![[r#"
            https://api.anthropic.com/v1/messages
            {"model":"m","max_tokens":16,"messages":[{"role":"user","content":[{"type":"text","text":"BOOK","cache_control":{"type":"ephemeral"}},{"type":"text","text":"\nWho?"}]}],"system":[{"type":"text","text":"Be brief."}],"temperature":0.0}"#]],
    );
    check_request(
        Protocol::Gemini,
        &named("m"),
        expect![[r#"
            https://generativelanguage.googleapis.com/v1beta/models/m:generateContent
            {"contents":[{"role":"user","parts":[{"text":"BOOK\nWho?"}]}],"generationConfig":{"maxOutputTokens":16,"temperature":0.0,"seed":7},"systemInstruction":{"parts":[{"text":"Be brief."}]}}"#]],
    );
}

#[test]
fn a_call_without_a_limit_names_none_but_where_the_protocol_must_have_one() {
    let open = Call { max_output_tokens: None, ..call() };
    let body = |protocol: Protocol| protocol.request(&open, &named("m")).body;
    assert!(body(Protocol::OpenAi).get("max_tokens").is_none() && streams(&open));
    assert_eq!(body(Protocol::Gemini)["generationConfig"], json!({"temperature": 0.0, "seed": 7}));
    assert_eq!(body(Protocol::Anthropic)["max_tokens"], 32_000);
    assert_eq!(ALL.map(|protocol| protocol.required_limit(Some(64_000))), [None, Some(64_000), None]);
}

#[test]
fn thinking_takes_no_temperature_and_leaves_room_for_the_answer() {
    let body = |thinking: Value, limit| {
        let extra_body = json!({ "thinking": thinking }).as_object().unwrap().clone();
        let call = Call { max_output_tokens: Some(limit), ..call() };
        Protocol::Anthropic.request(&call, &Parameters { extra_body, ..named("m") }).body
    };
    let enabled = || json!({"type": "enabled", "budget_tokens": 2000});
    assert_eq!((&body(enabled(), 16)["max_tokens"], body(enabled(), 16).get("temperature")), (&json!(2016), None));
    assert_eq!(body(enabled(), 5000)["max_tokens"], 5000);
    assert_eq!(body(json!({"type": "adaptive"}), 16).get("temperature"), None);
    assert_eq!(body(json!({"type": "disabled"}), 16)["temperature"], json!(0.0));
}

#[test]
fn a_base_url_may_hold_the_version_or_not() {
    let url = |protocol: Protocol, base: &str| protocol.url(base, &protocol.request(&call(), &named("m")));
    assert_eq!(url(Protocol::OpenAi, "http://h:1/v1/"), "http://h:1/v1/chat/completions");
    assert_eq!(url(Protocol::Anthropic, "http://h:1"), "http://h:1/v1/messages");
    assert_eq!(url(Protocol::Anthropic, "http://h:1/v1"), "http://h:1/v1/messages");
    assert_eq!(url(Protocol::Gemini, "http://h:1/v1beta"), "http://h:1/v1beta/models/m:generateContent");
}

#[test]
fn extra_fields_are_merged_into_the_body() {
    let extra = json!({"response_format": {"type": "json_object"}, "generationConfig": {"topK": 1}});
    let parameters = Parameters { extra_body: extra.as_object().unwrap().clone(), ..named("m") };
    let body = Protocol::Gemini.request(&call(), &parameters).body;
    assert_eq!(body["generationConfig"], json!({"maxOutputTokens": 16, "temperature": 0.0, "seed": 7, "topK": 1}));
    assert_eq!(body["response_format"]["type"], "json_object");
}

fn read(protocol: Protocol, status: u16, body: &Value) -> Result<Response, Fault> {
    protocol.read(HttpResponse { status, retry_after: None, body: &body.to_string() })
}

#[test]
fn an_empty_error_beside_an_answer_is_none_and_reasoning_is_no_answer() {
    let thought = json!({"type": "reasoning", "text": "Who was it?"});
    let content = json!([thought, {"type": "text", "text": "Ana"}]);
    for error in [json!(null), json!(""), json!({}), json!(false)] {
        let choice = json!({"message": {"content": content}, "finish_reason": "stop", "error": error});
        let told = read(Protocol::OpenAi, 200, &json!({"choices": [choice], "error": error}));
        assert_eq!(told.unwrap().text, "Ana", "{error}");
    }
}

#[test]
fn finding_07_thoughts_that_only_the_total_of_gemini_counts_are_part_of_the_response() {
    let usage = |usage: Value| {
        let candidate = json!({"content": {"parts": [{"text": "Ana"}]}, "finishReason": "STOP"});
        let body = json!({"candidates": [candidate], "usageMetadata": usage});
        read(Protocol::Gemini, 200, &body).unwrap().usage.completion_tokens
    };
    for (told, counted) in [
        (json!({"promptTokenCount": 20, "candidatesTokenCount": 8, "totalTokenCount": 623}), Some(603)),
        (json!({"promptTokenCount": 20, "totalTokenCount": 81}), Some(61)),
        (
            json!({"promptTokenCount": 20, "candidatesTokenCount": 8, "toolUsePromptTokenCount": 9, "totalTokenCount": 37}),
            Some(8),
        ),
        (json!({"promptTokenCount": 20, "candidatesTokenCount": 8, "totalTokenCount": 9}), Some(8)),
        (json!({"promptTokenCount": 20, "totalTokenCount": 20}), None),
    ] {
        assert_eq!(usage(told.clone()), counted, "{told}");
    }
}

#[test]
fn finding_07_reasoning_that_only_the_total_counts_is_part_of_the_response() {
    let usage = |usage: Value| {
        let body = json!({"choices": [{"message": {"content": "Ana"}, "finish_reason": "stop"}], "usage": usage});
        let Usage { prompt_tokens, completion_tokens, reasoning_tokens, .. } =
            read(Protocol::OpenAi, 200, &body).unwrap().usage;
        (prompt_tokens, completion_tokens, reasoning_tokens)
    };
    let xai = json!({"prompt_tokens": 12, "completion_tokens": 1, "total_tokens": 399, "completion_tokens_details": {"reasoning_tokens": 386}});
    assert_eq!(usage(xai), (Some(12), Some(387), Some(386)));
    assert_eq!(
        usage(json!({"prompt_tokens": 8, "completion_tokens": 9, "total_tokens": 317})),
        (Some(8), Some(309), None)
    );
    assert_eq!(usage(json!({"prompt_tokens": 8, "completion_tokens": 9, "total_tokens": 0})), (Some(8), Some(9), None));
    assert_eq!(usage(json!({"prompt_tokens": 8, "total_tokens": 8})), (Some(8), None, None));
}

#[test]
fn usage_is_counted_by_the_same_rules_for_all() {
    let openai = json!({"choices": [{"message": {"content": "Ana"}, "finish_reason": "stop"}], "usage": {
        "prompt_tokens": 100, "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 60}, "completion_tokens_details": {"reasoning_tokens": 20}}});
    let anthropic = json!({"content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "Ana"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 30, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10, "output_tokens": 30}});
    let gemini = json!({"candidates": [{"content": {"parts": [{"text": "x", "thought": true}, {"text": "Ana"}]},
        "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10,
        "thoughtsTokenCount": 20, "cachedContentTokenCount": 60}});
    let counted =
        Usage { prompt_tokens: Some(100), completion_tokens: Some(30), cached_tokens: Some(60), ..Usage::default() };
    let expected = [
        Usage { reasoning_tokens: Some(20), ..counted },
        Usage { cache_write_tokens: Some(10), ..counted },
        Usage { reasoning_tokens: Some(20), ..counted },
    ];
    for ((protocol, body), usage) in ALL.into_iter().zip([openai, anthropic, gemini]).zip(expected) {
        assert_eq!(read(protocol, 200, &body), Ok(Response { text: "Ana".to_owned(), usage, ..Response::default() }));
    }
}

#[test]
fn thinking_that_takes_all_tokens_leaves_a_response_cut_short() {
    let openai =
        json!({"choices": [{"message": {"content": null, "reasoning_content": "hm"}, "finish_reason": "length"}]});
    let anthropic = json!({"content": [], "stop_reason": "max_tokens", "usage": {"output_tokens": 16}});
    let gemini = json!({"candidates": [{"finishReason": "MAX_TOKENS"}]});
    for (protocol, body) in ALL.into_iter().zip([openai, anthropic, gemini]) {
        let response = read(protocol, 200, &body).expect("a response");
        assert_eq!((response.text.as_str(), response.finish), ("", FinishReason::Length), "{protocol:?}");
    }
}

#[test]
fn what_answered_is_kept_as_the_provider_names_it() {
    let openai = json!({"model": "gpt-4o-2024-08-06", "system_fingerprint": "fp_6b68",
        "choices": [{"message": {"content": "Ana"}, "delta": {"content": "Ana"}, "finish_reason": "stop"}]});
    let anthropic = json!({"model": "claude-x-20250101", "content": []});
    let gemini = json!({"modelVersion": "gemini-x-001", "candidates": [{"finishReason": "STOP"}]});
    let started = json!({"type": "message_start", "message": anthropic});
    let ended = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
    let streams = [vec![openai.clone()], vec![started, ended], vec![gemini.clone()]];
    let names = ["gpt-4o-2024-08-06 (fp_6b68)", "claude-x-20250101", "gemini-x-001"];
    for (((protocol, body), events), name) in ALL.into_iter().zip([openai, anthropic, gemini]).zip(streams).zip(names) {
        assert_eq!(read(protocol, 200, &body).expect("a response").served_by.to_string(), name);
        let mut stream = StreamReader::new(protocol);
        for event in events {
            stream.push(format!("data: {event}\n\n").as_bytes()).expect("a piece");
        }
        assert_eq!(stream.finish().expect("a response").served_by.to_string(), name);
    }
    let silent = json!({"model": "", "choices": [{"message": {"content": "Ana"}}]});
    assert_eq!(read(ALL[0], 200, &silent).expect("a response").served_by, ServedBy::default());
    let endless = json!({"model": "x".repeat(5000), "choices": [{"message": {"content": "Ana"}}]});
    let named = read(ALL[0], 200, &endless).expect("a response").served_by.model.expect("a name");
    assert_eq!(named.len(), 200);
}

#[test]
fn what_is_refused_is_blocked() {
    let openai = json!({"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]});
    let refusal = json!({"choices": [{"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"}]});
    let anthropic = json!({"content": [], "stop_reason": "refusal"});
    let prompt = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}});
    let answer = json!({"candidates": [{"finishReason": "SAFETY"}]});
    let [o, a, g] = ALL;
    for (protocol, body) in [(o, openai), (o, refusal), (a, anthropic), (g, prompt), (g, answer)] {
        let fault = read(protocol, 200, &body).expect_err("blocked");
        assert!(matches!(fault, Fault::Final(HostError::Blocked { .. })), "{protocol:?} {fault:?}");
    }
}

#[test]
fn a_response_that_the_window_ended_is_an_overflow() {
    let anthropic =
        json!({"content": [{"type": "text", "text": "so"}], "stop_reason": "model_context_window_exceeded"});
    let fault = read(Protocol::Anthropic, 200, &anthropic).expect_err("an overflow");
    assert!(matches!(fault, Fault::Final(HostError::Overflow { .. })));
}

#[derive(Debug, PartialEq)]
enum Then {
    Again(ServerLoad),
    Never,
    NothingMore,
}

#[test]
fn what_is_tried_again_and_what_is_not() {
    use ServerLoad::{Connection, NoAnswer, Page, RateLimit, Server};
    let quota = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x", "details": [
        {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}]}});
    let cases = [
        (429, r#"{"error":{"message":"slow down","type":"internal_server_error"}}"#.to_owned(), Then::Again(RateLimit)),
        (429, r#"{"error":{"message":"x","code":"insufficient_quota"}}"#.to_owned(), Then::NothingMore),
        (
            429,
            r#"{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM)"}}"#.to_owned(),
            Then::Never,
        ),
        (429, quota.to_string(), Then::NothingMore),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#.to_owned(),
            Then::Again(Server),
        ),
        (502, "<html><body><h1>502 Bad Gateway</h1></body></html>".to_owned(), Then::Again(Server)),
        (500, r#"{"error":{"message":"[json.exception.parse_error.101] parse error"}}"#.to_owned(), Then::Never),
        (
            500,
            r#"{"error":{"message":"input is too large to process. increase the physical batch size"}}"#.to_owned(),
            Then::Never,
        ),
        (408, r#"{"error":{"message":"timeout","type":"invalid_request_error"}}"#.to_owned(), Then::Again(Server)),
        (401, r#"{"error":"Unauthorized"}"#.to_owned(), Then::NothingMore),
        (
            400,
            r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#.to_owned(),
            Then::NothingMore,
        ),
        (403, r#"{"error":{"message":"flagged by moderation","code":403}}"#.to_owned(), Then::Never),
        (402, r#"{"error":{"message":"Insufficient credits","code":402}}"#.to_owned(), Then::NothingMore),
        (404, r#"{"detail":"Not Found"}"#.to_owned(), Then::Never),
        (413, String::new(), Then::Never),
        (200, r#"{"error":{"message":"upstream","code":502}}"#.to_owned(), Then::Again(Server)),
        (200, r#"{"error":{"message":"no credit","code":402}}"#.to_owned(), Then::NothingMore),
        (200, r#"{"error":{"message":"no key","code":"401"}}"#.to_owned(), Then::NothingMore),
        (200, r#"{"choices":[{"message":{"content":"An"#.to_owned(), Then::Again(Connection)),
        (200, "<html>maintenance</html>".to_owned(), Then::Again(Page)),
        (200, r#"{"choices":[]}"#.to_owned(), Then::Again(NoAnswer)),
        (200, r#"{"result":{"response":"Ana"}}"#.to_owned(), Then::Again(NoAnswer)),
        (200, "{'choices': []}".to_owned(), Then::Never),
        (200, r#"{"choices":[{"text":"of another protocol"}]}"#.to_owned(), Then::Never),
        (200, r#"{"choices":[{"message":{"content":5}}]}"#.to_owned(), Then::Never),
    ];
    for (status, body, expected) in cases {
        let then = match Protocol::OpenAi.read(HttpResponse { status, retry_after: None, body: &body }) {
            Err(Fault::Transient { load, .. }) => Then::Again(load),
            Err(Fault::Final(_)) => Then::Never,
            Err(Fault::Closed(_)) => Then::NothingMore,
            other => panic!("{status} {body} gave {other:?}"),
        };
        assert_eq!(then, expected, "{status} {body}");
    }
}

#[test]
fn a_status_without_words_stands_alone() {
    let response = HttpResponse { status: 503, retry_after: None, body: " " };
    let Err(Fault::Transient { message, .. }) = Protocol::OpenAi.read(response) else { panic!("it may pass") };
    assert_eq!(message, "the server answered 503 and nothing else");
}

#[test]
fn a_refused_field_is_left_out_or_renamed_once() {
    let refusal = |code: &str, param: &str, message: &str| json!({"error": {"code": code, "param": param, "message": message, "type": "invalid_request_error"}});
    let limit = refusal(
        "unsupported_parameter",
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
    let temperature =
        refusal("unsupported_value", "temperature", "Unsupported value: 'temperature' does not support 0");
    let adjustment = |body| match read(Protocol::OpenAi, 400, body) {
        Err(Fault::Refused { adjustment, .. }) => adjustment,
        other => panic!("{other:?}"),
    };
    let dialect = Dialect::default().adjusted(adjustment(&limit)).expect("a change");
    let dialect = dialect.adjusted(adjustment(&temperature)).expect("a change");
    assert_eq!(dialect.adjusted(adjustment(&temperature)), None, "asking again would change nothing");
    let body = Protocol::OpenAi.request(&call(), &Parameters { dialect, ..named("o4") }).body;
    assert_eq!((body.get("temperature"), &body["max_completion_tokens"]), (None, &json!(16)));
}

#[test]
fn a_server_that_knows_no_seed_or_options_of_a_stream_is_asked_without_them() {
    let forbidden = |fields: &[&str]| {
        let detail = |field: &&str| json!({"type": "extra_forbidden", "loc": ["body", field], "msg": "Extra inputs are not permitted"});
        json!({"object": "error", "message": {"detail": fields.iter().map(detail).collect::<Vec<_>>()}})
    };
    let unknown = json!({"error": {"message": "Unknown parameter: 'stream_options'.", "param": "stream_options", "code": "unknown_parameter"}});
    let mut dialect = Dialect::default();
    for (status, body) in
        [(422, forbidden(&["stream_options", "seed"])), (422, forbidden(&["stream_options"])), (400, unknown)]
    {
        let Err(Fault::Refused { adjustment, .. }) = read(Protocol::OpenAi, status, &body) else { panic!("{body}") };
        dialect = dialect.adjusted(adjustment).unwrap_or(dialect);
    }
    let body = Protocol::OpenAi.request(&call(), &Parameters { dialect, stream: true, ..named("mistral") }).body;
    assert_eq!((body.get("seed"), body.get("stream_options"), &body["stream"]), (None, None, &json!(true)));
    let kimi = json!({"error": {"message": "invalid temperature: only 1 is allowed for this model"}});
    let google = "Invalid JSON payload received. Unknown name \"seed\": Cannot find field.";
    let google = json!([{"error": {"code": 400, "message": google, "status": "INVALID_ARGUMENT"}}]);
    for (body, adjustment) in [(kimi, Adjustment::OwnTemperature), (google, Adjustment::NoSeed)] {
        let refused = read(Protocol::OpenAi, 400, &body);
        assert!(matches!(refused, Err(Fault::Refused { adjustment: to, .. }) if to == adjustment), "{refused:?}");
    }
    let unverified = json!({"error": {"message": "Your organization must be verified to stream this model. Please go to: x",
        "type": "invalid_request_error", "param": "stream", "code": "unsupported_value"}});
    let refused = read(Protocol::OpenAi, 400, &unverified);
    assert!(matches!(refused, Err(Fault::Refused { adjustment: Adjustment::NoStream, .. })), "{refused:?}");
    let other = read(Protocol::OpenAi, 422, &forbidden(&["top_k"]));
    assert!(matches!(other, Err(Fault::Final(_))), "a field of one's own is not left out: {other:?}");
}

#[test]
fn the_time_to_wait_is_read_in_every_form() {
    let seconds = |seconds: f64| Some(Duration::from_secs_f64(seconds));
    assert_eq!(retry_after(Some("7"), None, 0.0), seconds(7.0));
    assert_eq!(retry_after(Some("7"), Some("250"), 0.0), seconds(0.25));
    let date = Some("Wed, 21 Oct 2015 07:28:00 GMT");
    assert_eq!(retry_after(date, None, 1_445_412_470.0), seconds(10.0));
    assert_eq!(retry_after(date, None, 2e9), seconds(0.0));
    for none in ["-1", "soon", "nan", ""] {
        assert_eq!(retry_after(Some(none), None, 0.0), None, "{none}");
    }
    let body = json!({"error": {"code": 429, "message": "x", "details": [{"retryDelay": "37s"}]}});
    for body in [body.clone(), json!([body])] {
        let fault = read(Protocol::Gemini, 429, &body).expect_err("a limit");
        let Fault::Transient { retry_after, message, .. } = fault else { panic!("{fault:?}") };
        assert_eq!((retry_after, message.as_str()), (seconds(37.0), "the server answered 429: x"), "{body}");
    }
    let day = json!([{"error": {"code": 429, "details": [{"violations": [{"quotaId": "RequestsPerDayPerModel"}]}]}}]);
    assert!(matches!(read(Protocol::OpenAi, 429, &day), Err(Fault::Closed(_))), "a list holds the error, too");
}

#[test]
fn finding_13_a_retry_after_of_forty_digits_or_inf_asks_for_more_than_an_hour() {
    for endless in ["9".repeat(40).as_str(), "99999999999999999999", "inf", "Infinity", "1e400"] {
        assert_eq!(retry_after(Some(endless), None, 0.0), Some(Duration::MAX), "{endless}");
        assert_eq!(retry_after(None, Some(endless), 0.0).map(|wait| wait > Limits::default().longest_wait), Some(true));
    }
    let body = json!({"error": {"code": 429, "message": "x", "details": [{"retryDelay": "infs"}]}});
    let fault = read(Protocol::Gemini, 429, &body).expect_err("a limit");
    assert!(matches!(fault, Fault::Transient { retry_after: Some(Duration::MAX), .. }), "{fault:?}");
}

proptest! {
    #[test]
    fn no_body_makes_it_panic(status in 100u16..600, body in ".{0,200}") {
        for protocol in ALL {
            let _ = protocol.read(HttpResponse { status, retry_after: None, body: &body });
            let _ = streams::streamed(protocol, &format!("data: {body}\n\n"));
        }
    }
}
