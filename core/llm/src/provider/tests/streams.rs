//! Streams: the response that they give, and those that give none.

use super::*;

pub(super) fn streamed(protocol: Protocol, stream: &str) -> Result<Response, Fault> {
    let mut reader = StreamReader::new(protocol);
    for piece in stream.as_bytes().chunks(5) {
        reader.push(piece)?;
    }
    reader.finish()
}

#[test]
fn streams_give_what_whole_responses_give() {
    let openai = r#"data: {"choices":[{"delta":{"role":"assistant"}}]}

data: {"choices":[{"delta":{"content":"李"}}]}

data: {"choices":[{"delta":{"content":"雷"},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}

data: [DONE]

"#;
    let anthropic = r#"event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}

event: content_block_delta
data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"李雷"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

"#;
    let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"李\"}]}}]}\r\n\r\n\
        data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"雷\"}]},\"finishReason\":\"STOP\"}],\
        \"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":2}}\r\n\r\n";
    for (protocol, stream) in ALL.into_iter().zip([openai, anthropic, gemini]) {
        let response = streamed(protocol, stream).expect("a response");
        assert_eq!(response.text, "李雷", "{protocol:?}");
        assert_eq!(
            (response.usage.prompt_tokens, response.usage.completion_tokens),
            (Some(3), Some(2)),
            "{protocol:?}"
        );
    }
}

#[test]
fn finding_13_a_whole_response_in_a_stream_is_read_once() {
    let message = json!({"role": "assistant", "content": "Ana"});
    let whole = json!({"choices": [{"message": message, "finish_reason": "model_length"}]});
    let response = streamed(Protocol::OpenAi, &format!("data: {whole}\n\ndata: [DONE]\n\n")).expect("a response");
    assert_eq!((response.text.as_str(), response.finish), ("Ana", FinishReason::Length));
    let both = json!({"choices": [{"delta": {"content": "Ana"}, "message": message, "finish_reason": "stop"}]});
    assert_eq!(streamed(Protocol::OpenAi, &format!("data: {both}\n\n")).expect("a response").text, "Ana");
}

#[test]
fn finding_07_usage_that_stands_in_a_choice_is_read() {
    let usage = json!({"prompt_tokens": 19, "completion_tokens": 13});
    let piece = json!({"choices": [{"delta": {"content": "Ana"}, "finish_reason": "stop", "usage": usage}]});
    let told = streamed(Protocol::OpenAi, &format!("data: {piece}\n\ndata: [DONE]\n\n")).expect("a response").usage;
    assert_eq!((told.prompt_tokens, told.completion_tokens), (Some(19), Some(13)));
}

#[test]
fn of_several_choices_in_a_stream_one_is_read() {
    let piece =
        |index: u64, text: &str, end: Value| json!({"index": index, "delta": {"content": text}, "finish_reason": end});
    let candidate = |index: u64, text: &str, end: Value| {
        let reason = end.as_str().map(str::to_uppercase);
        json!({"index": index, "content": {"parts": [{"text": text}]}, "finishReason": reason})
    };
    for first in [0, 1] {
        let choices = [(first, "An", Value::Null), (1 - first, "B", Value::Null), (first, "a", Value::Null)];
        let choices = choices.into_iter().chain([(1 - first, "o", json!("stop")), (first, "", json!("stop"))]);
        let (mut openai, mut gemini) = (String::new(), String::new());
        for (index, text, end) in choices {
            openai += &format!("data: {}\n\n", json!({"choices": [piece(index, text, end.clone())]}));
            gemini += &format!("data: {}\n\n", json!({"candidates": [candidate(index, text, end)]}));
        }
        for (protocol, stream) in [(Protocol::OpenAi, openai), (Protocol::Gemini, gemini)] {
            assert_eq!(streamed(protocol, &stream).expect("a response").text, "Ana", "{protocol:?}");
        }
    }
}

#[test]
fn a_refusal_in_a_stream_is_no_answer_that_cannot_be_read() {
    let piece = |words: &str| format!("data: {}\n\n", json!({"choices": [{"delta": {"refusal": words}}]}));
    let end = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let stream = format!("{}{}{end}\n\ndata: [DONE]\n\n", piece("I cannot "), piece("say that."));
    let blocked = Fault::Final(HostError::Blocked { reason: "I cannot say that.".to_owned() });
    assert_eq!(streamed(Protocol::OpenAi, &stream), Err(blocked));
}

#[test]
fn what_a_server_gave_up_in_the_middle_is_no_answer() {
    for reason in ["error", "abort", "insufficient_system_resource"] {
        let whole = json!({"choices": [{"message": {"content": "Ana and"}, "finish_reason": reason}]});
        let piece = json!({"choices": [{"delta": {"content": "Ana and"}, "finish_reason": reason}]});
        for given in [read(Protocol::OpenAi, 200, &whole), streamed(Protocol::OpenAi, &format!("data: {piece}\n\n"))] {
            assert!(matches!(given, Err(Fault::Transient { load: ServerLoad::Server, .. })), "{reason}: {given:?}");
        }
    }
}

#[test]
fn a_call_of_a_tool_that_gemini_wrote_wrong_is_tried_again_and_not_blocked() {
    for reason in ["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"] {
        let body = json!({"candidates": [{"content": {}, "finishReason": reason}]});
        for given in [read(Protocol::Gemini, 200, &body), streamed(Protocol::Gemini, &format!("data: {body}\n\n"))] {
            let Err(Fault::Transient { load: ServerLoad::NoAnswer, message, .. }) = given else { panic!("{given:?}") };
            assert_eq!(message, format!("the server ended the response with `{reason}`"));
        }
    }
}

#[test]
fn gemini_tells_that_nothing_was_written_by_a_total_that_is_the_prompts() {
    let told = |body: &Value| {
        let mut reader = StreamReader::new(Protocol::Gemini);
        reader.push(format!("data: {body}\n\n").as_bytes()).unwrap();
        let whole = Protocol::Gemini.usage(&body.to_string()).unwrap();
        assert_eq!(reader.usage(), Some(whole));
        (whole.prompt_tokens, whole.completion_tokens)
    };
    let usage = json!({"promptTokenCount": 50, "totalTokenCount": 50});
    let malformed = json!([{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]);
    assert_eq!(told(&json!({"candidates": malformed, "usageMetadata": usage})), (Some(50), Some(0)));
    assert_eq!(told(&json!({"usageMetadata": usage})), (Some(50), Some(0)));
    let more = json!({"promptTokenCount": 50, "totalTokenCount": 57});
    assert_eq!(told(&json!({"candidates": malformed, "usageMetadata": more})), (Some(50), Some(7)));
    assert_eq!(told(&json!({"usageMetadata": {"promptTokenCount": 50}})), (Some(50), None), "nobody says");
    let written = json!([{"content": {"parts": [{"text": "Ana"}]}}]);
    assert_eq!(told(&json!({"candidates": written, "usageMetadata": usage})), (Some(50), None), "it cannot be 0");
}

#[test]
fn nothing_behind_the_end_of_a_stream_is_part_of_its_answer() {
    let first = r#"data: {"choices":[{"delta":{"content":"Ana"},"finish_reason":"stop"}]}"#;
    let later = r#"data: {"choices":[{"delta":{"content":" or Ben"}}]}"#;
    let stream = format!("{first}\n\ndata: [DONE]\n\n{later}\n\ndata: oops\n\n");
    assert_eq!(streamed(Protocol::OpenAi, &stream).expect("a response").text, "Ana");
}

#[test]
fn finding_07_tokens_of_a_response_that_is_blocked_at_its_end_are_known() {
    let ended = r#"{"choices":[{"delta":{"content":"An"},"finish_reason":"content_filter"}]}"#;
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let mut reader = StreamReader::new(Protocol::OpenAi);
    for event in [ended, usage] {
        reader.push(format!("data: {event}\n\n").as_bytes()).expect("a piece");
    }
    assert!(!reader.is_done(), "the end was not said");
    let told = reader.usage().expect("the server named tokens");
    assert_eq!((told.prompt_tokens, told.completion_tokens), (Some(3), Some(2)));
    assert!(matches!(reader.finish(), Err(Fault::Final(HostError::Blocked { .. }))));
    for (protocol, end) in [(Protocol::OpenAi, "[DONE]"), (Protocol::Anthropic, r#"{"type":"message_stop"}"#)] {
        let mut reader = StreamReader::new(protocol);
        reader.push(format!("data: {end}\n\n").as_bytes()).expect("a piece");
        assert!(reader.is_done(), "{end}");
    }
}

#[test]
fn an_answer_that_begins_in_the_head_of_its_block_is_whole() {
    let events = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "An"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
    ];
    let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    assert_eq!(streamed(Protocol::Anthropic, &stream).expect("a response").text, "Ana");
}

#[test]
fn tokens_that_only_a_later_piece_counts_are_counted() {
    let usage = |begun: Value, ended: Value| {
        let events = [
            json!({"type": "message_start", "message": {"usage": begun}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": ended}),
        ];
        let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let usage = streamed(Protocol::Anthropic, &stream).expect("a response").usage;
        (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
    };
    let begun = json!({"input_tokens": 40, "cache_read_input_tokens": 60, "output_tokens": 1});
    assert_eq!(usage(begun.clone(), json!({"output_tokens": 7})), (Some(100), Some(60), Some(7)));
    assert_eq!(usage(begun.clone(), json!({"input_tokens": 50, "output_tokens": 7})), (Some(110), Some(60), Some(7)));
    assert_eq!(usage(begun, json!({"input_tokens": 0, "output_tokens": 7})), (Some(100), Some(60), Some(7)));
    let late = json!({"input_tokens": 40, "cache_read_input_tokens": 60, "output_tokens": 7});
    assert_eq!(usage(json!({"input_tokens": 0, "output_tokens": 0}), late.clone()), (Some(100), Some(60), Some(7)));
    assert_eq!(usage(json!({}), late), (Some(100), Some(60), Some(7)));
    let cached = json!({"input_tokens": 0, "cache_read_input_tokens": 60, "output_tokens": 7});
    assert_eq!(usage(json!({"input_tokens": 0, "output_tokens": 0}), cached.clone()), (Some(60), Some(60), Some(7)));
    assert_eq!(usage(json!({"input_tokens": 50, "output_tokens": 1}), cached), (Some(50), None, Some(7)));

    let piece = |text: &str, usage: Value| {
        let candidate = json!({"content": {"parts": [{"text": text}]}, "finishReason": "STOP"});
        format!("data: {}\n\n", json!({"candidates": [candidate], "usageMetadata": usage}))
    };
    let counted = json!({"promptTokenCount": 100, "candidatesTokenCount": 5});
    let stream = piece("An", counted) + &piece("a", json!({"promptTokenCount": 100}));
    assert_eq!(streamed(Protocol::Gemini, &stream).expect("a response").usage.completion_tokens, Some(5));
}

#[test]
fn a_stream_that_breaks_off_is_a_failure() {
    let cut = "data: {\"choices\":[{\"delta\":{\"content\":\"An\"}}]}\n\n";
    let fault = streamed(Protocol::OpenAi, cut).expect_err("no end");
    assert!(matches!(fault, Fault::Transient { load: ServerLoad::Connection, .. }));
    let malformed = "data: {\"choices\":[{\"del\n\n";
    assert!(matches!(streamed(Protocol::OpenAi, malformed), Err(Fault::Transient { .. })));
    let error =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n";
    assert!(matches!(streamed(Protocol::Anthropic, error), Err(Fault::Transient { load: ServerLoad::Server, .. })));
    assert!(streamed(Protocol::Gemini, "").is_err());
}

#[test]
fn a_success_without_an_answer_is_known_as_such_whole_and_streamed() {
    let is_known = |given: Result<Response, Fault>| {
        assert!(matches!(given, Err(Fault::Transient { load: ServerLoad::NoAnswer, .. })), "{given:?}");
    };
    let counted = json!({"usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 5}});
    is_known(read(Protocol::Gemini, 200, &counted));
    is_known(streamed(Protocol::Gemini, &format!("data: {counted}\n\n")));
    is_known(read(Protocol::OpenAi, 200, &json!({"choices": [], "usage": {"prompt_tokens": 5}})));
    is_known(read(Protocol::Anthropic, 200, &json!({"usage": {"input_tokens": 5}})));
}

#[test]
fn a_success_that_says_why_it_holds_no_answer_is_repeated_in_these_words() {
    let said = |body: Value| match read(Protocol::OpenAi, 200, &body) {
        Err(Fault::Transient { load: ServerLoad::NoAnswer, message, .. }) => message,
        other => panic!("{other:?}"),
    };
    let plain = "the server's response holds no `choices`";
    for body in [
        json!({"error_code": 18, "error_msg": "too many requests"}),
        json!({"choices": null, "base_resp": {"status_code": 1002, "status_msg": "too many requests"}}),
        json!({"code": 500, "message": " ", "msg": "too many requests"}),
    ] {
        assert_eq!(said(body), format!("{plain}: too many requests"));
    }
    assert_eq!(said(json!({"message": {"role": "assistant", "content": "Ana"}, "done": true})), plain);
}

#[test]
fn finding_09_a_line_of_a_stream_without_end_is_given_up() {
    let megabyte = vec![b'x'; 1 << 20];
    for prefix in ["data: {\"choices\":[{\"delta\":{\"content\":\"", ": comment ", "event: ", ""] {
        let mut reader = StreamReader::new(Protocol::OpenAi);
        reader.push(prefix.as_bytes()).expect("the beginning of a line");
        let pushed = (0..=MAX_RESPONSE_BYTES >> 20).find_map(|_| reader.push(&megabyte).err());
        assert!(matches!(pushed, Some(Fault::Final(_))), "{prefix} {pushed:?}");
    }
    let mut reader = StreamReader::new(Protocol::OpenAi);
    let lines = [b"data: ".as_slice(), &megabyte, b"\n"].concat();
    assert!((0..=MAX_RESPONSE_BYTES >> 20).any(|_| reader.push(&lines).is_err()), "an event of many lines");
}

#[test]
fn finding_09_a_refusal_of_a_stream_without_end_is_given_up() {
    let piece = json!({"choices": [{"delta": {"refusal": "x".repeat(1 << 20)}}]});
    let mut reader = StreamReader::new(Protocol::OpenAi);
    let event = format!("data: {piece}\n\n");
    let pushed = (0..=MAX_ANSWER_BYTES >> 20).find_map(|_| reader.push(event.as_bytes()).err());
    assert!(matches!(pushed, Some(Fault::Final(_))), "{pushed:?}");
}

#[test]
fn finding_09_an_answer_that_is_too_long_is_none() {
    for (more, is_read) in [(0, true), (1, false)] {
        let text = "x".repeat(MAX_ANSWER_BYTES + more);
        let whole = read(Protocol::OpenAi, 200, &json!({"choices": [{"message": {"content": text}}]}));
        let events = format!(
            "data: {}\n\ndata: [DONE]\n\n",
            json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]})
        );
        for response in [whole, streamed(Protocol::OpenAi, &events)] {
            match response {
                Ok(response) => assert!(is_read && response.text.len() == text.len()),
                Err(Fault::Final(HostError::Failed(said))) => assert!(!is_read && said.contains("more than 4 MiB")),
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn finding_13_a_mark_before_a_stream_loses_no_event() {
    let stream = "\u{feff}data: {\"choices\":[{\"delta\":{\"content\":\"Ana\"}}]}\n\ndata: \
        {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    assert_eq!(streamed(Protocol::OpenAi, stream).expect("a response").text, "Ana");
}
