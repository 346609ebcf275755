//! Errors as providers send them: each row of the table has one.

use super::*;
use crate::provider::http::HttpResponse;
use crate::provider::{Fault, Protocol};
use serde_json::json;

/// The calls that an error ends.
#[derive(Debug, PartialEq)]
enum Ends {
    /// The call, which does not fit: tokens needed, tokens the window holds.
    Overflow(Option<u64>, Option<u64>),
    /// The call itself.
    This,
    /// All calls of the account.
    All,
    /// No call: the call is made again.
    Nothing,
}

fn ends(status: u16, body: &str) -> Ends {
    match Protocol::OpenAi.read(HttpResponse { status, retry_after: None, body }) {
        Err(Fault::Final(HostError::Overflow { needed, context_window: window, .. })) => Ends::Overflow(needed, window),
        Err(Fault::Final(_)) => Ends::This,
        Err(Fault::Closed(_)) => Ends::All,
        Err(Fault::Transient { .. }) => Ends::Nothing,
        other => panic!("{status} {body} gave {other:?}"),
    }
}

fn fits(needed: u64, window: u64) -> Ends {
    Ends::Overflow(Some(needed), Some(window))
}

fn message(words: &str) -> Value {
    json!({"error": {"message": words, "type": "invalid_request_error"}})
}

fn overflows() -> Vec<(Value, Ends)> {
    let anthropic =
        |words: &str| json!({"type": "error", "error": {"type": "invalid_request_error", "message": words}});
    let top = |words: &str| json!({"message": words});
    let unknown = || Ends::Overflow(None, None);
    vec![
        (
            json!({"error": {"code": "context_length_exceeded", "message": "This model's maximum context length is 8192 \
                tokens. However, your messages resulted in 9001 tokens."}}),
            fits(9001, 8192),
        ),
        (json!({"error": {"code": "context_length_exceeded", "message": "Please reduce the length."}}), unknown()),
        (message("Your input exceeds the context window of this model. Please adjust your input."), unknown()),
        (
            message(
                "Invalid 'messages[0].content': string too long. Expected a string with maximum length 10485760, but \
                got a string with length 12000000 instead.",
            ),
            unknown(),
        ),
        (
            message(
                "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300001 tokens.",
            ),
            fits(300_001, 272_000),
        ),
        (
            message(
                "This model's maximum context length is 4096 tokens. However, you requested 100 output tokens and your \
                prompt contains at least 4001 input tokens",
            ),
            fits(4001, 4096),
        ),
        (
            json!({"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you \
                requested 5000 tokens (4000 in the messages, 1000 in the completion)."}),
            fits(5000, 4096),
        ),
        (
            message(
                "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens \
                (42832 of text input).",
            ),
            fits(42_832, 32_768),
        ),
        (
            top(
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            ),
            Ends::Overflow(Some(40_000), None),
        ),
        (anthropic("prompt is too long: 210000 tokens > 200000 maximum"), fits(210_000, 200_000)),
        (
            anthropic(
                "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or \
                `max_tokens` and try again",
            ),
            fits(242_959, 200_000),
        ),
        (anthropic("model_context_window_exceeded"), unknown()),
        (
            message("The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."),
            fits(1_200_293, 1_048_576),
        ),
        (top("Input is too long for requested model."), unknown()),
        (
            top(
                "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum \
                length. Please update the input to try again.",
            ),
            unknown(),
        ),
        (
            top(
                "too many tokens: size limit exceeded by 19296 tokens. Try using shorter or fewer inputs. The limit for \
                this model is 132000 tokens.",
            ),
            fits(151_296, 132_000),
        ),
        (
            top(
                "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try \
                using a shorter prompt",
            ),
            fits(6354, 2048),
        ),
        (top("too many tokens: multi-hop prompt is too long even after truncation"), unknown()),
        (
            top("too many tokens: minimal context could not be added to prompt (size limit exceeded by 280 tokens)"),
            unknown(),
        ),
        (
            json!({"error": {"message": "litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicError - \
                prompt is larger than it may be", "type": null, "param": null, "code": "400"}}),
            unknown(),
        ),
        (
            message("The input exceeds the model's maximum context limit of 8192 tokens."),
            Ends::Overflow(None, Some(8192)),
        ),
        (
            message(
                "The decoder prompt (length 12324) is longer than the maximum model length of 8192. Make sure that \
                `max_model_len` is no smaller than the number of text tokens.",
            ),
            fits(12_324, 8192),
        ),
        (
            message("The prompt (total length 25938) is too long to fit into the model (context length 4096)."),
            fits(25_938, 4096),
        ),
        (
            message("The input (61709 tokens) is longer than the model's context length (40960 tokens)."),
            fits(61_709, 40_960),
        ),
        (
            json!({"error": {"type": "exceed_context_size_error", "message": "x", "n_prompt_tokens": 5000, "n_ctx": 4096}}),
            fits(5000, 4096),
        ),
        (message("the request exceeds the available context size, try increasing it"), unknown()),
        (
            json!({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 \
                `inputs` tokens", "error_type": "validation"}),
            fits(5000, 4096),
        ),
        (
            json!({"error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
                "error_type": "validation"}),
            fits(5000, 4096),
        ),
        (
            json!({"error": {"code": "tokens_limit_reached",
                "message": "Request body too large for gpt-4o model. Max size: 8000 tokens."}}),
            Ends::Overflow(None, Some(8000)),
        ),
        (
            json!({"error": "This model's maximum prompt length is 131072 but the request contains 150000 tokens."}),
            fits(150_000, 131_072),
        ),
        (json!({"error": "the input length exceeds the context length"}), unknown()),
        (
            message(
                "Please reduce the length of the messages or completion. Current length is 10295 while limit is 8192",
            ),
            fits(10_295, 8192),
        ),
        (
            json!({"error": {"code": "invalid_parameter_error", "message": "Range of input length should be [1, 129024]"}}),
            Ends::Overflow(None, Some(129_024)),
        ),
        (
            message("Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)"),
            fits(291_351, 262_144),
        ),
        (
            json!({"error": "Trying to keep the first 111490 tokens when context the overflows. However, the model is \
                loaded with context length of only 32768 tokens, which is not enough."}),
            fits(111_490, 32_768),
        ),
        (
            json!({"error": "The number of tokens to keep from the initial prompt is greater than the context length \
                (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length."}),
            fits(13_055, 4096),
        ),
        (message("Context size has been exceeded."), unknown()),
        (json!({"error": {"code": "1261", "message": "Prompt exceeds max length"}}), unknown()),
        (
            json!({"code": 20015, "message": "length of prompt_tokens (68957) must be less than max_seq_len (65536)."}),
            fits(68_957, 65_536),
        ),
        (anthropic("invalid params, context window exceeds limit (2013)"), unknown()),
    ]
}

fn others() -> Vec<(u16, Value, Ends)> {
    let openai = |code: &str| json!({"error": {"message": "x", "type": code, "param": null, "code": code}});
    let anthropic = |kind: &str, words: &str| json!({"type": "error", "error": {"type": kind, "message": words}});
    let gemini = |words: &str| json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": words}});
    let top = |words: &str| json!({"message": words});
    let zhipu = |words: &str| json!({"error": {"code": "1113", "message": words}});
    vec![
        (429, openai("insufficient_quota"), Ends::All),
        (429, openai("billing_not_active"), Ends::All),
        (400, openai("billing_hard_limit_reached"), Ends::All),
        (429, openai("credit_balance_exhausted"), Ends::All),
        (429, openai("project_spend_limit_exceeded"), Ends::All),
        (
            400,
            anthropic(
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to \
                Plans & Billing to upgrade or purchase credits.",
            ),
            Ends::All,
        ),
        (
            400,
            anthropic(
                "invalid_request_error",
                "You have reached your specified API usage limits. You will regain access on \
                2026-04-01 at 00:00 UTC.",
            ),
            Ends::All,
        ),
        (429, anthropic("rate_limit_error", "Extra usage is required for long context requests."), Ends::This),
        (429, anthropic("rate_limit_error", "This request would exceed your organization's rate limit"), Ends::Nothing),
        (429, gemini("Your prepayment credits are depleted. Please go to AI Studio"), Ends::All),
        (429, gemini("Your project has exceeded its monthly spending cap."), Ends::All),
        (429, gemini("You exceeded your current quota, please check your plan and billing details."), Ends::Nothing),
        (
            429,
            json!({"error": {"message": "litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current \
                quota, please check your plan and billing details.", "type": "throttling_error", "code": "429"}}),
            Ends::All,
        ),
        (429, top("Too many tokens per day, please wait before trying again."), Ends::All),
        (429, top("Too many tokens, please wait before trying again."), Ends::Nothing),
        (
            499,
            json!({"error": {"code": 499, "message": "The operation was cancelled.", "status": "CANCELLED"}}),
            Ends::Nothing,
        ),
        (429, top("You are using a Trial key, which is limited to 1000 API calls / month."), Ends::All),
        (429, top("You are using a Trial key, which is limited to 40 API calls / minute."), Ends::Nothing),
        (
            400,
            json!({"error": {"message": "Budget has been exceeded! Current cost: 10.51, Max budget: 10.00",
                "type": "budget_exceeded", "code": "400"}}),
            Ends::All,
        ),
        (429, json!({"error": {"message": "ExceededBudget: End User=a over budget. Spend=1, Budget=0.5"}}), Ends::All),
        (
            429,
            json!({"error": {"message": "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model \
                requests per day", "code": 429}}),
            Ends::All,
        ),
        (429, json!({"error": {"message": "Rate limit exceeded: free-models-per-min.", "code": 429}}), Ends::Nothing),
        (403, json!({"error": {"message": "Key limit exceeded (total limit).", "code": 403}}), Ends::All),
        (
            403,
            json!({"code": "The caller does not have permission", "error": "Your team a-b has either used all available \
                credits or reached its monthly spending limit."}),
            Ends::All,
        ),
        (429, zhipu("Insufficient balance or no resource package. Please recharge."), Ends::All),
        (429, zhipu("余额不足或无可用资源包,请充值。"), Ends::All),
        (
            403,
            json!({"error": {"message": "user quota is not enough", "type": "v_api_error", "param": "",
                "code": "insufficient_user_quota"}}),
            Ends::All,
        ),
        (
            429,
            json!({"error": {"message": "insufficient balance (1008)", "type": "insufficient_balance_error"}}),
            Ends::All,
        ),
        (403, json!({"error": {"message": "flagged by moderation", "code": 403}}), Ends::This),
        (429, message("Request too large for gpt-4o on tokens per min (TPM)"), Ends::This),
        // A limit on the response is not the window.
        (
            400,
            top("too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model"),
            Ends::This,
        ),
        (400, top("The maximum tokens you requested exceeds the model limit of 4096."), Ends::This),
        // What a prompt says closes no account.
        (
            422,
            json!({"detail": [{"msg": "Field required", "input": "He read aloud: your credit balance is too low."}]}),
            Ends::This,
        ),
    ]
}

#[test]
fn finding_12_every_wording_of_an_overflow_is_known_with_its_numbers() {
    for (body, expected) in overflows() {
        assert_eq!(ends(400, &body.to_string()), expected, "{body}");
        assert_eq!(ends(500, &body.to_string()), Ends::Nothing, "a server's own failure: {body}");
    }
}

#[test]
fn finding_12_every_wording_of_used_up_credit_ends_the_asking_and_no_limit_a_minute_does() {
    for (status, body, expected) in others() {
        assert_eq!(ends(status, &body.to_string()), expected, "{status} {body}");
    }
}

#[test]
fn every_row_has_a_source_and_an_example_that_means_what_it_says() {
    let overflows = overflows().into_iter().map(|(body, _)| body.to_string().to_lowercase());
    let overflows: Vec<String> = overflows.collect();
    let others: Vec<(String, Ends)> =
        others().into_iter().map(|(_, body, ends)| (body.to_string().to_lowercase(), ends)).collect();
    for Wording { provider, words, means, source } in WORDINGS {
        assert!(!provider.is_empty() && !source.is_empty() && *words == words.to_lowercase(), "{words}");
        let shown = match means {
            Means::Overflow => overflows.iter().any(|body| body.contains(words)),
            Means::UsedUp => others.iter().any(|(body, ends)| *ends == Ends::All && body.contains(words)),
            Means::Never => others.iter().any(|(body, ends)| *ends == Ends::This && body.contains(words)),
        };
        assert!(shown, "no example says `{words}`");
    }
}
