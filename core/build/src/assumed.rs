//! Cost of a stage, told before it begins.

use super::ask::ATTEMPTS;
use closeread_methods::cost::{Calls, Cost, Range, Shared, Stage};
use closeread_methods::{MethodError, Settings, prompt_tokens};
use serde::Serialize;

/// The calls of a stage, if nothing is dropped before it; at most, if every response has to be asked for again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StageCost {
    /// Name of the stage.
    pub stage: &'static str,
    /// Calls of the stage.
    pub cost: Cost,
}

/// Counts the tokens of a prompt.
pub(super) fn tokens_of(
    settings: Settings<'_>,
    prompt: &(impl closeread_prompts::Prompt + ?Sized),
) -> Result<u64, MethodError> {
    Ok(prompt_tokens(prompt, settings)? as u64)
}

/// Tokens of one call of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Prompt {
    /// Tokens of the prompt that are known.
    pub(super) known: u64,
    /// Most tokens that responses of earlier stages have in the prompt: at least there is nothing of them.
    pub(super) responses: u64,
}

impl StageCost {
    /// A stage that makes one call a prompt, each with a response of at most `response_limit` tokens.
    pub(super) fn of(stage: &'static str, prompts: &[Prompt], response_limit: u32) -> Self {
        let response_limit = u64::from(response_limit);
        let attempts = ATTEMPTS as u64;
        let most = |prompt: &Prompt| prompt.known + prompt.responses;
        // Asked again, a prompt holds itself, the response and what was wrong with it.
        let again = |prompt: &Prompt| most(prompt) * attempts + (response_limit + AGAIN) * (attempts - 1);
        let calls = Calls {
            stage: Stage::Preparation,
            n: Range { low: prompts.len() as u64, high: prompts.len() as u64 * attempts },
            prompt: Range {
                low: prompts.iter().map(|prompt| prompt.known).sum(),
                high: prompts.iter().map(again).sum(),
            },
            longest: prompts.iter().map(|prompt| most(prompt) + response_limit + AGAIN).max().unwrap_or(0),
            response_limit,
            shared: Shared::Nothing,
        };
        Self { stage, cost: Cost { calls: vec![calls], overflows: Vec::new() } }
    }
}

impl StageCost {
    /// Multiplies the cost by `n`: for that many models, or units of that many parts.
    #[must_use]
    pub fn times(mut self, n: u64) -> Self {
        for calls in &mut self.cost.calls {
            for range in [&mut calls.n, &mut calls.prompt] {
                (range.low, range.high) = (range.low * n, range.high * n);
            }
        }
        self
    }

    /// Raises the cost to `times` times at most, if everything may be asked for that often.
    #[must_use]
    pub(super) fn at_most(mut self, times: u64) -> Self {
        for calls in &mut self.cost.calls {
            calls.n.high *= times;
            calls.prompt.high *= times;
        }
        self
    }
}

/// Tokens of the prompt that asks again, problem included, at most.
const AGAIN: u64 = 200;
