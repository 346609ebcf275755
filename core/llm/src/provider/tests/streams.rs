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
fn a_stream_that_breaks_off_is_a_failure() {
    let cut = "data: {\"choices\":[{\"delta\":{\"content\":\"An\"}}]}\n\n";
    let fault = streamed(Protocol::OpenAi, cut).expect_err("no end");
    assert!(matches!(fault, Fault::Transient { strain: ServerLoad::Connection, .. }));
    let malformed = "data: {\"choices\":[{\"del\n\n";
    assert!(matches!(streamed(Protocol::OpenAi, malformed), Err(Fault::Transient { .. })));
    let error =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n";
    assert!(matches!(streamed(Protocol::Anthropic, error), Err(Fault::Transient { strain: ServerLoad::Server, .. })));
    assert!(streamed(Protocol::Gemini, "").is_err());
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
