//! Judges: what a model, a rule or a panel of them says of an answer.
//!
//! A judge is one question about one thing, and one call: [`ask`] is an async function over a [`Host`], one file a
//! paper, which reads like the paper's. What comes of it is a [`Verdict`], one line of `judgements.jsonl`; a [`Panel`]
//! makes one verdict of several, and [`Judging`] makes scores of what the panels of a run said.

#![forbid(unsafe_code)]

mod agreement;
mod ask;
mod corpusqa;
mod corrected;
mod cost;
mod fault;
mod hamlet;
mod human;
mod judgement;
mod judging;
mod novelqa;
mod panel;
mod raters;
pub mod rule;
mod ruling;
mod sagascale;
mod score;
mod simplified;
pub mod study;
mod submission;
mod verdict;

pub use agreement::{Agreement, Confusion, among, labels};
pub use closeread_eval::hamlet::linearised;
pub use closeread_methods::protocol::{IfUnreadable, Judge};
pub use corrected::{CorrectedScore, corrected_scores, judge_errors};
pub use cost::cost;
pub use fault::Fault;
pub use human::{AgainstPeople, HumanLabel, Part, against_people, human_labels, is_yes};
pub use judgement::{Judgement, JudgementKey, Subject, TrialPlace};
pub use judging::correctness_judge;
pub use judging::{JudgementIndex, Judging};
pub use novelqa::EVIDENCE_MARKS;
pub use panel::{Panel, PanelRule, PanelVerdict, Reference};
pub use raters::{
    AgainstRaters, BorneOut, CONSENSUS, KappaByGroup, KappaRow, PairOfRaters, Rated, RaterError, RaterLabels, Share,
};
pub use rule::{AnswerForm, BUILTIN_RULE, ByRule};
pub use ruling::{FactRuling, QuestionType, Ruling, SentenceRuling};
pub use score::{
    ACCURACY_STRICT, ACCURACY_TOLERANT, JUDGED_ACCURACY, applies_judged, applies_to_summaries, judged_metrics,
    judged_scores, label_questions, score, summary_scores,
};
pub use submission::{JudgeResponse, Submission, SubmittedAnswer};
pub use verdict::Verdict;

use closeread_eval::Item;
use closeread_eval::Paper;
use closeread_methods::Host;
use closeread_methods::record::Record;
use closeread_methods::{MethodError, Settings};

/// Asks a model.
///
/// # Errors
/// [`MethodError`] if the prompt is unusable. A failed call and a response that cannot be read are verdicts.
pub async fn ask<H: Host>(
    judge: Judge,
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    match judge {
        Judge::Rule => {
            let ruling = Ruling::Rule(rule::answer(submission));
            Ok(JudgeResponse { verdict: Verdict::Ruled { ruling }, calls: Vec::new(), blocked_tokens: None })
        }
        Judge::SagaScale => sagascale::correctness(host, settings, submission).await,
        Judge::NovelQa => novelqa::correctness(host, settings, submission).await,
        Judge::NovelQaEvidence => novelqa::evidence(host, settings, submission).await,
        Judge::CorpusQa => corpusqa::equivalence(host, settings, submission).await,
        Judge::VerifyFacts => hamlet::verify_facts(host, settings, submission).await,
        Judge::AlignKeyFacts => hamlet::align_key_facts(host, settings, submission).await,
        Judge::ClassifyQuestion => sagascale::classify_question(host, settings, submission).await,
    }
}

/// Returns what [`BUILTIN_RULE`] says in the place of a model; `None` where no rule can say anything.
pub fn by_rule(judge: Judge, submission: &Submission<'_>) -> Option<Verdict> {
    let ruling = match judge {
        Judge::Rule => Ruling::Rule(rule::answer(submission)),
        Judge::SagaScale | Judge::NovelQa | Judge::CorpusQa => {
            Ruling::Correctness { correct: rule::answer(submission).tolerant }
        }
        Judge::NovelQaEvidence => return None,
        Judge::VerifyFacts => Ruling::Sentences { sentences: rule::verify_facts(submission) },
        Judge::AlignKeyFacts => Ruling::KeyFacts { facts: rule::align_key_facts(submission) },
        Judge::ClassifyQuestion => {
            Ruling::QuestionType { question_type: rule::question_type(&submission.item.question) }
        }
    };
    Some(Verdict::Ruled { ruling })
}

/// The sentences that the reader of a trial cited as evidence.
pub fn cited(record: &Record) -> &[String] {
    record.evidence.as_deref().unwrap_or_default()
}

/// The paper whose judge decides on correct answers: the one that reports on the benchmark, else the one whose labels the
/// items carry, else SagaScale.
pub fn paper_of(benchmark: &str, items: &[Item]) -> Paper {
    let has = |label: &str| items.iter().any(|item| item.labels.contains_key(label));
    let by_labels = || {
        if has("complexity") && has("aspect") {
            Paper::NovelQa
        } else if has("domain") && (has("difficulty") || has("length_set")) {
            Paper::CorpusQa
        } else {
            Paper::SagaScale
        }
    };
    Paper::of_benchmark(benchmark).unwrap_or_else(by_labels)
}
