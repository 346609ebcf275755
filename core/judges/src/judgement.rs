//! Judgements, the lines of `judgements.jsonl`: who judged what, and how it ended.

use super::{Judge, Verdict};
use closeread_methods::record::{CallTrace, TrialKey};
use serde::{Deserialize, Serialize};

/// The key of a judgement: the same key is never asked twice in one folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct JudgementKey {
    /// Subject of the judgement.
    #[serde(flatten)]
    pub subject: Subject,
    /// Judge, which says what is decided.
    pub judge: Judge,
    /// Model that decides: `provider/model` or [`BUILTIN_RULE`](crate::BUILTIN_RULE).
    pub judge_model: String,
    /// Number of the vote, from 0.
    pub vote: u32,
    /// Setup of the question: sixteen hex digits over prompt, temperature and all else that can change a response; see
    /// [`Panel::setup`](crate::Panel::setup).
    pub setup: String,
}

/// The subject of a judgement: a trial or a question.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Subject {
    /// Id of the item.
    pub item: String,
    /// Trial of the item; absent where the question itself is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialPlace>,
}

/// The key of a trial of an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TrialPlace {
    /// Name of the method.
    pub method: String,
    /// The model, `provider/model`.
    pub model: String,
    /// Token budget of the retrieved context, where the method has one.
    pub budget: Option<usize>,
    /// Number of the repetition, from 0.
    pub repeat: u32,
}

impl Subject {
    /// Makes the subject of a question alone.
    pub fn question(item: impl Into<String>) -> Self {
        Self { item: item.into(), trial: None }
    }
}

impl From<&TrialKey> for Subject {
    fn from(key: &TrialKey) -> Self {
        let TrialKey { item, method, model, budget, repeat } = key.clone();
        Self { item, trial: Some(TrialPlace { method, model, budget, repeat }) }
    }
}

/// One line of `judgements.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Judgement {
    /// Key of the judgement: what was judged, by whom.
    #[serde(flatten)]
    pub key: JudgementKey,
    /// How the judgement ended.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The call that was made; none where a rule decided or the call failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallTrace>,
    /// Tokens of a prompt that the provider blocked, by our own count: it is charged, and its call has no response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_tokens: Option<usize>,
}
