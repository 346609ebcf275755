//! Judgements again, without asking anyone: the responses are those that were stored, what is read in them is read anew.

use super::{PendingJudgements, Work, works_of};
use anyhow::{Context, Result};
use closeread_books::tokens::Tokenizer;
use closeread_embed::{Role, Vectors};
use closeread_eval::Item;
use closeread_judges::{
    BUILTIN_RULE, Judge, JudgeResponse, Judgement, JudgementKey, Judging, Reference, Subject, SubmittedAnswer, Verdict,
    ask, by_rule, cited,
};
use closeread_llm::{Call, HostError, Response};
use closeread_methods::record::{CallTrace, Record};
use closeread_methods::{Host, ResponseLimit, Settings};
use closeread_prompts::Prompts;
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// A difference between a judgement and what comes out of its response now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Key of the judgement.
    #[serde(flatten)]
    pub key: JudgementKey,
    /// Name of what differs: `prompt` or `verdict`.
    pub what: String,
    /// Value as it is stored.
    pub stored: Value,
    /// Value as it comes out now.
    pub recomputed: Value,
}

/// The result of a replay.
#[derive(Debug, Default)]
pub struct ReplayedJudgements {
    /// Judgements that were read again, or ruled again where a rule judges.
    pub judgements: usize,
    /// Judgements that ended without a response to read.
    pub without_response: usize,
    /// Number of judgements by judge that were not looked at: their prompt is not the one at hand, or what they are
    /// about is gone.
    pub not_replayed: BTreeMap<&'static str, usize>,
    /// Differences, in the order of the keys.
    pub differences: Vec<Difference>,
}

/// Reads every judgement again.
pub async fn replay(
    judging: &Judging,
    pending: &PendingJudgements<'_>,
    prompts: &Prompts,
    tokenizer: &Tokenizer,
) -> Result<ReplayedJudgements> {
    let latest: BTreeMap<&JudgementKey, &Judgement> = judging.judgements.iter().map(|one| (&one.key, one)).collect();
    let keys: Vec<JudgementKey> = latest.keys().map(|key| (*key).clone()).collect();
    let (works, _) = works_of(pending, &keys, Reference::Chunk);
    let items: HashMap<&str, &Item> = pending.items.iter().map(|item| (item.id.as_str(), item)).collect();
    let records: HashMap<Subject, &Record> =
        pending.records.iter().map(|record| (Subject::from(&record.key), record)).collect();
    // Judgements by another prompt than the one at hand have another setup than every panel with that prompt.
    let at_hand = |key: &JudgementKey| {
        let is_same = |judge: Judge| move |hash: &String| prompts.hashes().get(judge.name()) == Some(hash);
        let same = judging.panels.iter().filter(|panel| panel.prompts.get(&key.judge).is_some_and(is_same(key.judge)));
        key.judge_model == BUILTIN_RULE || same.map(|p| p.setup(key.judge, &key.judge_model)).any(|s| s == key.setup)
    };
    let by_book = |key: &JudgementKey| {
        let mut panels = judging.panels.iter().filter(|panel| panel.reference == Reference::Book);
        key.judge == Judge::VerifyFacts && panels.any(|panel| panel.setup(key.judge, &key.judge_model) == key.setup)
    };
    let whole: Vec<JudgementKey> = keys.iter().filter(|key| by_book(key)).cloned().collect();
    let (whole_works, _) = works_of(pending, &whole, Reference::Book);
    let mut replayed = ReplayedJudgements::default();
    for (key, judgement) in latest {
        let told = if by_book(key) { &whole_works } else { &works };
        let (item, work) = (items.get(key.subject.item.as_str()), told.get(key.subject.item.as_str()));
        let record = records.get(&key.subject).copied();
        let is_known = key.subject.trial.is_none() || record.is_some();
        let (Some(item), Some(work), true) = (item, work, is_known && at_hand(key)) else {
            *replayed.not_replayed.entry(key.judge.name()).or_default() += 1;
            continue;
        };
        let is_overflow = matches!(judgement.verdict, Verdict::Overflow);
        let no_response = judgement.calls.is_empty() || judgement.blocked_tokens.is_some() || is_overflow;
        if key.judge_model != BUILTIN_RULE && no_response {
            replayed.without_response += 1;
            continue;
        }
        replayed.judgements += 1;
        let setting = Settings {
            prompts,
            tokenizer,
            response_limit: ResponseLimit::NONE,
            temperature: 0.0,
            context_window: None,
        };
        let again = again(judgement, item, record, work, setting).await;
        let again = again.with_context(|| format!("{} on item `{}`", key.judge.name(), item.id))?;
        compare(judgement, &again, &mut replayed.differences);
    }
    Ok(replayed)
}

/// The judgement with the response that it stored; by the rule where a rule judged.
async fn again(
    judgement: &Judgement,
    item: &Item,
    record: Option<&Record>,
    work: &Work,
    setting: Settings<'_>,
) -> Result<JudgeResponse> {
    let said = record.map_or(SubmittedAnswer::Nothing, |record| SubmittedAnswer::of(&record.outcome, &record.calls));
    let submission = work.submission(item, said, record.map(cited).unwrap_or_default());
    let judge = judgement.key.judge;
    if judgement.key.judge_model == BUILTIN_RULE {
        let verdict = by_rule(judge, &submission).context("no rule can say this")?;
        return Ok(JudgeResponse { verdict, calls: Vec::new(), blocked_tokens: None });
    }
    Ok(ask(judge, &Stored::of(&judgement.calls), setting, &submission).await?)
}

fn compare(stored: &Judgement, again: &JudgeResponse, differences: &mut Vec<Difference>) {
    let prompt = |calls: &[CallTrace]| json!(calls.first().map(|call| &call.sha256));
    let verdict = |verdict: &Verdict| json!(verdict);
    let pairs = [
        ("prompt", prompt(&stored.calls), prompt(&again.calls)),
        ("verdict", verdict(&stored.verdict), verdict(&again.verdict)),
    ];
    for (what, stored_value, recomputed) in pairs {
        if stored_value != recomputed {
            let key = stored.key.clone();
            differences.push(Difference { key, what: what.to_owned(), stored: stored_value, recomputed });
        }
    }
}

/// A host that knows one response.
struct Stored(RefCell<Option<Response>>);

impl Stored {
    fn of(calls: &[CallTrace]) -> Self {
        Self(RefCell::new(calls.first().map(CallTrace::to_response)))
    }
}

impl Host for Stored {
    async fn chat(&self, _call: Call) -> Result<Response, HostError> {
        let response = self.0.borrow_mut().take();
        response.ok_or_else(|| HostError::Failed("the judgement holds no response to this call".to_owned()))
    }

    async fn embed(&self, _role: Role, _texts: &[&str]) -> Result<Vectors, HostError> {
        Err(HostError::Embedding("no judge embeds".to_owned()))
    }
}
