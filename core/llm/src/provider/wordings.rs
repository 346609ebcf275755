//! Wordings of each provider for what asking again does not mend: a prompt that is too long, credit that is used up.

use super::message::shortened;
use crate::HostError;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// The meaning of an error's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// The request does not fit the model's window.
    Overflow,
    /// The account gets no responses before somebody pays, or the month or day is over.
    UsedUp,
    /// This request can never be answered, others may be.
    Never,
}

/// Words by which an error is known.
#[derive(Debug)]
pub(super) struct Wording {
    /// Provider that words it so.
    #[cfg_attr(not(test), expect(dead_code, reason = "for who reads the table, and its test"))]
    pub(super) provider: &'static str,
    /// The words, lower-cased.
    pub(super) words: &'static str,
    /// Meaning of the words.
    pub(super) means: Means,
    /// Place where the words were seen.
    #[cfg_attr(not(test), expect(dead_code, reason = "for who reads the table, and its test"))]
    pub(super) source: &'static str,
}

const fn row(means: Means, provider: &'static str, words: &'static str, source: &'static str) -> Wording {
    Wording { provider, words, means, source }
}

use Means::{Never, Overflow, UsedUp};

/// The providers' wordings. Each has an example in the tests.
#[rustfmt::skip]
pub(super) static WORDINGS: &[Wording] = &[
    row(Overflow, "OpenAI", "context_length_exceeded", "platform.openai.com/docs/guides/error-codes"),
    row(Overflow, "OpenAI, vLLM, DeepSeek, Mistral, OpenRouter", "maximum context length", "github.com/vllm-project/vllm/issues/20409"),
    row(Overflow, "OpenAI", "exceeds the context window of this model", "github.com/OpenHands/software-agent-sdk, tests of LLM.is_context_window_exceeded_exception"),
    row(Overflow, "OpenAI", "content': string too long", "github.com/BerriAI/litellm, exception_mapping_utils.py"),
    row(Overflow, "Azure OpenAI", "input tokens exceed the configured limit", "github.com/BerriAI/litellm, exception_mapping_utils.py"),
    row(Overflow, "Anthropic", "prompt is too long", "github.com/daisuke-awaji/moca/issues/254"),
    row(Overflow, "Anthropic", "exceed context limit", "github.com/docker/docker-agent/issues/569"),
    row(Overflow, "Anthropic", "model_context_window_exceeded", "docs.anthropic.com, stop reasons"),
    row(Overflow, "Gemini", "exceeds the maximum number of tokens allowed", "github.com/google-gemini/gemini-cli/issues/6678"),
    row(Overflow, "Bedrock, Claude", "input is too long for requested model", "github.com/aws-samples/assessment-generator/issues/2"),
    row(Overflow, "Bedrock, Nova", "number of input tokens exceeds maximum length", "docs.aws.amazon.com/nova, errors of Converse"),
    row(Overflow, "Cohere", "too many tokens: size limit exceeded", "docs.cohere.com/reference/errors"),
    row(Overflow, "Cohere", "too many tokens: total number of tokens", "github.com/cohere-ai/sandbox-topically/issues/4"),
    row(Overflow, "Cohere", "too many tokens: multi-hop prompt is too long", "docs.cohere.com/reference/errors"),
    row(Overflow, "Cohere", "too many tokens: minimal context could not be added", "docs.cohere.com/reference/errors"),
    row(Overflow, "LiteLLM", "contextwindowexceedederror", "docs.litellm.ai/docs/exception_mapping"),
    row(Overflow, "LiteLLM", "model's maximum context limit", "github.com/BerriAI/litellm, exception_mapping_utils.py"),
    row(Overflow, "vLLM", "longer than the maximum model length", "github.com/vllm-project/vllm, processor of v1"),
    row(Overflow, "vLLM", "is too long to fit into the model", "github.com/vllm-project/vllm/issues/12165"),
    row(Overflow, "SGLang", "model's context length", "recorded from a server"),
    row(Overflow, "llama.cpp", "exceed_context_size_error", "recorded from a server"),
    row(Overflow, "llama.cpp", "exceeds the available context size", "recorded from a server"),
    row(Overflow, "TGI, Together", "inputs` tokens + `max_new_tokens`", "github.com/huggingface/llm-vscode/issues/94"),
    row(Overflow, "TGI", "inputs` must have less than", "github.com/huggingface/text-generation-inference, router/src/validation.rs"),
    row(Overflow, "GitHub Models", "tokens_limit_reached", "github.com/eslint/tsc-meetings/pull/593"),
    row(Overflow, "xAI", "maximum prompt length", "recorded from a server"),
    row(Overflow, "Ollama", "exceeds the context length", "github.com/nano-step/nano-brain/issues/208"),
    row(Overflow, "Cerebras", "current length is", "github.com/BerriAI/litellm, exception_mapping_utils.py"),
    row(Overflow, "Alibaba", "range of input length should be", "alibabacloud.com/help/en/model-studio/error-code"),
    row(Overflow, "Moonshot", "exceeded model token limit", "platform.moonshot.ai/docs/api/errors"),
    row(Overflow, "LM Studio", "trying to keep the first", "github.com/lmstudio-ai/lmstudio-bug-tracker/issues/546"),
    row(Overflow, "LM Studio", "tokens to keep from the initial prompt is greater", "github.com/Gitlawb/openclaude/issues/353"),
    row(Overflow, "LM Studio", "context size has been exceeded", "github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2339"),
    row(Overflow, "Zhipu, Z.ai", "prompt exceeds max length", "github.com/zeroclaw-labs/zeroclaw/issues/4124"),
    row(Overflow, "SiliconFlow", "must be less than max_seq_len", "github.com/chatboxai/chatbox/issues/2060"),
    row(Overflow, "MiniMax", "context window exceeds limit", "github.com/agentscope-ai/QwenPaw/issues/1273"),
    row(UsedUp, "OpenAI", "insufficient_quota", "github.com/openai/openai-cookbook/issues/844"),
    row(UsedUp, "OpenAI", "billing_not_active", "github.com/lifan0127/ai-research-assistant/issues/174"),
    row(UsedUp, "OpenAI", "billing_hard_limit_reached", "platform.openai.com/docs/guides/error-codes"),
    row(UsedUp, "OpenAI", "credit_balance_exhausted", "platform.openai.com/docs/guides/error-codes"),
    row(UsedUp, "OpenAI", "spend_limit_exceeded", "platform.openai.com/docs/guides/error-codes"),
    row(UsedUp, "Anthropic", "credit balance is too low", "github.com/anthropics/claude-code/issues/66314"),
    row(UsedUp, "Anthropic", "reached your specified api usage limits", "github.com/anthropics/claude-code/issues/38035"),
    row(Never, "Anthropic", "extra usage is required for long context", "github.com/anthropics/claude-code/issues/44863"),
    row(UsedUp, "Gemini", "prepayment credits are depleted", "github.com/dyad-sh/dyad/issues/3626"),
    row(UsedUp, "Gemini", "exceeded its monthly spending cap", "ai.google.dev/gemini-api/docs/billing"),
    row(UsedUp, "Bedrock", "too many tokens per day", "docs.aws.amazon.com/bedrock, quotas"),
    row(UsedUp, "Cohere", "api calls / month", "docs.cohere.com/reference/errors"),
    row(UsedUp, "LiteLLM", "budget has been exceeded", "github.com/BerriAI/litellm/issues/36729"),
    row(UsedUp, "LiteLLM", "exceededbudget", "docs.litellm.ai/docs/proxy/users"),
    row(UsedUp, "LiteLLM before OpenAI", "openaiexception - you exceeded your current quota", "recorded from a server"),
    row(UsedUp, "OpenRouter", "free-models-per-day", "github.com/Gitlawb/openclaude/issues/936"),
    row(UsedUp, "OpenRouter", "key limit exceeded", "github.com/MCPJam/inspector/issues/1287"),
    row(UsedUp, "xAI", "used all available credits", "docs.x.ai, errors of billing"),
    row(UsedUp, "Zhipu, Z.ai", "no resource package", "github.com/anthropics/claude-code/issues/9201"),
    row(UsedUp, "Zhipu, Z.ai", "余额不足", "github.com/continuedev/continue/issues/11823"),
    row(UsedUp, "MiniMax", "insufficient_balance_error", "github.com/modelscope/modelscope/issues/1691"),
    row(UsedUp, "one-api, new-api", "insufficient_user_quota", "github.com/popjane/free_chatgpt_api/issues/78"),
];

/// Words of OpenAI alone, for requests above the tokens that a minute allows.
const TOO_LARGE: &str = "request too large";

/// Returns the meaning of an error that asking again does not mend. `words` is its message, `lower` that and its body
/// in lower case; a server's own failure (5xx) is never one, whatever it says.
pub(super) fn means(status: u16, words: &str, value: &Value, lower: &str) -> Option<Means> {
    if !(400..500).contains(&status) {
        return None;
    }
    // The body may repeat a prompt; a whole account is closed by the message and the codes alone.
    let error = &value["error"];
    let fields = [&error["code"], &error["type"], &error["status"], &value["code"], &value["type"]];
    let codes: Vec<&str> = fields.into_iter().filter_map(Value::as_str).collect();
    let said = format!("{words} {}", codes.join(" ")).to_lowercase();
    let found = |wording: &&Wording| match wording.means {
        Means::Overflow => status != 429 && lower.contains(wording.words),
        Means::UsedUp | Means::Never => said.contains(wording.words),
    };
    let known = WORDINGS.iter().find(found).map(|wording| wording.means);
    known.or((status == 429 && lower.contains(TOO_LARGE)).then_some(Means::Never))
}

/// The error of a request that does not fit, with the numbers in it.
pub(super) fn overflow(words: &str, value: &Value) -> HostError {
    let error = &value["error"];
    let (needed, window) = match (error["n_prompt_tokens"].as_u64(), error["n_ctx"].as_u64()) {
        (None, None) => numbers(words),
        counted => counted,
    };
    HostError::Overflow { message: shortened(words), needed, context_window: window }
}

/// Tokens needed and tokens the window holds, as the providers word it.
fn numbers(words: &str) -> (Option<u64>, Option<u64>) {
    fn pattern(pattern: &str) -> Regex {
        Regex::new(pattern).expect("a valid pattern")
    }
    static WINDOW: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)(?:context length (?:is|of|\()? *(?:only )?|n_ctx: |must have less than |max size: |max_seq_len \(|prompt length is |allowed \(|> |must be <= |limit for this model is |cannot exceed |model length of |limit is |should be \[1, *|token limit: |limit of )(\d[\d,]*)",
        )
    });
    static NEEDED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)(?:resulted in|too long:|given:|received|current length is|requested:|token count|input|keep the first|n_keep:|prompt_tokens) \(?(\d[\d,]*)|\((?:total )?length (\d[\d,]*)|(?:at least|requested(?: about)?|contains) (\d[\d,]*) (?:input )?tokens",
        )
    });
    // Anthropic's prompt and response; Cohere's tokens above the limit.
    static SUM: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)limit: (\d+) \+ (\d+) > (\d+)"));
    static ABOVE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)exceeded by (\d+) tokens"));
    let number = |text: &str| text.replace(',', "").parse::<u64>().ok();
    if words.contains("string too long") {
        // It counts characters.
        return (None, None);
    }
    if let Some(found) = SUM.captures(words) {
        let needed = number(&found[1]).zip(number(&found[2])).map(|(prompt, response)| prompt.saturating_add(response));
        return (needed, number(&found[3]));
    }
    let window = WINDOW.captures(words).and_then(|found| number(&found[1]));
    if let Some(found) = ABOVE.captures(words) {
        return (number(&found[1]).zip(window).map(|(above, window)| window.saturating_add(above)), window);
    }
    let needed = NEEDED.captures(words).and_then(|found| found.iter().skip(1).flatten().next().map(|m| m.as_str()));
    (needed.and_then(number), window)
}

/// Words with which servers of embedding models and rerankers say that a text is longer than the model takes:
/// llama.cpp, OpenAI and vLLM, Text-Embeddings-Inference, others.
const TEXT_TOO_LONG: [&str; 5] =
    ["too large to process", "maximum context length", "must have less than", "too long", "exceed"];

/// Returns whether the error of a server that embeds or reranks says that a text is longer than the model takes.
pub fn says_text_is_too_long(message: &str) -> bool {
    let lower = message.to_lowercase();
    TEXT_TOO_LONG.iter().any(|words| lower.contains(words))
}

#[cfg(test)]
mod tests;
