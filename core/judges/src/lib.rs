//! Judges: what a model, a rule or a panel of them says of an answer.
//!
//! A judge is one question about one thing, and one call: [`Judge::ask`] is an async function over a [`Host`], one file a
//! paper, which reads like the paper's. What comes of it is a [`Verdict`], one line of `judgements.jsonl`; a [`Panel`]
//! makes one verdict of several, and [`Judging`] makes scores of what the panels of a run said.

#![forbid(unsafe_code)]

mod agreement;
mod ask;
mod corpusqa;
mod cost;
mod hamlet;
mod human;
mod judgement;
mod judging;
mod novelqa;
mod panel;
pub mod rule;
mod sagascale;
mod score;
mod verdict;

pub use agreement::{Agreement, Confusion, among, labels};
pub use hamlet::{FactRuling, SentenceRuling, linearised};
pub use human::{AgainstPeople, HumanLabel, Part, against_people, human_labels};
pub use judgement::{Judgement, JudgementKey, Subject, TrialPlace};
pub use judging::correctness_judge;
pub use judging::{JudgementIndex, Judging};
pub use novelqa::EVIDENCE_MARKS;
pub use panel::{Panel, PanelRule, PanelVerdict};
pub use rule::{AnswerForm, ByRule};
pub use sagascale::QuestionType;
pub use score::{
    ACCURACY_STRICT, ACCURACY_TOLERANT, JUDGED_ACCURACY, applies_judged, evaluations, judged_scores, label_questions,
    score,
};
pub use verdict::{Ruling, Verdict};

use closeread_eval::Outcome;
use closeread_eval::Paper;
use closeread_eval::{Item, Task};
use closeread_methods::Host;
use closeread_methods::record::{CallTrace, Record};
use closeread_methods::{MethodError, Settings};
use closeread_prompts::judges as prompts;
use closeread_text::Language;
use serde::{Deserialize, Serialize};

/// Name of the judge without a model, as `--judge` takes it.
pub const BUILTIN_RULE: &str = "builtin/rule";

/// What is decided, and by whose definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Judge {
    /// Whether an answer agrees with the gold answer by its form alone, strictly and tolerantly; no model is asked.
    #[serde(rename = "rule")]
    Rule,
    /// Whether an answer is correct (SagaScale, figure 15).
    #[serde(rename = "judge-sagascale")]
    SagaScale,
    /// Whether an answer is correct, knowing the evidence (NovelQA 4.1).
    #[serde(rename = "judge-novelqa")]
    NovelQa,
    /// How good the evidence is that the reader cited (NovelQA 4.1, Table 5).
    #[serde(rename = "judge-novelqa-evidence")]
    NovelQaEvidence,
    /// Whether two answers are equivalent (CorpusQA 4.1).
    #[serde(rename = "judge-corpusqa")]
    CorpusQa,
    /// What is wrong with each sentence of a summary, against the chunk (HAMLET, stage 3).
    #[serde(rename = "verify-facts")]
    VerifyFacts,
    /// Which key facts a summary states (HAMLET, stage 3).
    #[serde(rename = "align-key-facts")]
    AlignKeyFacts,
    /// What kind of thing a question asks for (SagaScale, figure 8); the only judge of questions.
    #[serde(rename = "classify-question")]
    ClassifyQuestion,
}

/// What a reply that cannot be read, a refusal and a failed call count as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfUnreadable {
    /// As "incorrect".
    Incorrect,
    /// As no vote. Where nobody votes the answer stays unjudged: it is in no mean, and the report counts it.
    Abstention,
}

impl Judge {
    /// Every judge.
    pub const ALL: [Self; 8] = [
        Self::Rule,
        Self::SagaScale,
        Self::NovelQa,
        Self::NovelQaEvidence,
        Self::CorpusQa,
        Self::VerifyFacts,
        Self::AlignKeyFacts,
        Self::ClassifyQuestion,
    ];

    /// Its name, which is also that of its prompt.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::SagaScale => prompts::JudgeSagaScale::NAME,
            Self::NovelQa => prompts::JudgeNovelQa::NAME,
            Self::NovelQaEvidence => prompts::JudgeNovelQaEvidence::NAME,
            Self::CorpusQa => prompts::JudgeCorpusQa::NAME,
            Self::VerifyFacts => prompts::VerifyFacts::NAME,
            Self::AlignKeyFacts => prompts::AlignKeyFacts::NAME,
            Self::ClassifyQuestion => prompts::ClassifyQuestion::NAME,
        }
    }

    /// The judge of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|judge| judge.name() == name)
    }

    /// The judge of correct answers that a paper has; the papers without one of their own use SagaScale's, which needs
    /// nothing but question and gold answer.
    pub const fn of_paper(paper: Paper) -> Self {
        match paper {
            Paper::NovelQa => Self::NovelQa,
            Paper::CorpusQa => Self::CorpusQa,
            Paper::SagaScale | Paper::DosRag | Paper::Hamlet => Self::SagaScale,
        }
    }

    /// Whether it says if an answer is correct.
    pub const fn decides_correctness(self) -> bool {
        matches!(self, Self::SagaScale | Self::NovelQa | Self::CorpusQa)
    }

    /// What silence counts as. CorpusQA's script counts all that is not `[[YES]]` alone, and every failed call, as
    /// incorrect. The other papers say nothing; there an answer is not wrong because its judge was silent.
    pub const fn silence(self) -> IfUnreadable {
        match self {
            Self::CorpusQa => IfUnreadable::Incorrect,
            _ => IfUnreadable::Abstention,
        }
    }

    /// The judges that a trial is put to: [`Judge::Rule`] and the paper's judge for open questions with gold answers,
    /// NovelQA's judge of evidence where the reader cited some, HAMLET's two for summaries with key facts.
    ///
    /// A trial that ended without an answer is wrong without being judged; only the rules look at replies that do not
    /// follow the form, for the tolerant reading.
    pub fn of_trial(paper: Paper, item: &Item, outcome: &Outcome, cited: &[String]) -> Vec<Self> {
        let answered = matches!(outcome, Outcome::Answered { .. });
        if !answered && !matches!(outcome, Outcome::Unparsed { .. }) {
            return Vec::new();
        }
        let mut judges = Vec::new();
        match item.task {
            Task::Choice if item.correct.is_some() => judges.push(Self::Rule),
            Task::Generative if !item.answers.is_empty() => {
                judges.push(Self::Rule);
                if answered {
                    judges.push(Self::of_paper(paper));
                }
            }
            Task::Summary if item.key_facts.is_some() && answered => {
                judges.extend([Self::VerifyFacts, Self::AlignKeyFacts]);
            }
            Task::Choice | Task::Generative | Task::Summary => {}
        }
        if answered && !cited.is_empty() && !item.evidence.is_empty() {
            judges.push(Self::NovelQaEvidence);
        }
        judges
    }

    /// Asks a model.
    ///
    /// # Errors
    /// [`MethodError`] if the prompt is unusable. A failed call and a reply that cannot be read are verdicts.
    ///
    /// # Panics
    /// For [`Judge::Rule`], which asks nobody.
    pub async fn ask<H: Host>(
        self,
        host: &H,
        settings: Settings<'_>,
        submission: &Submission<'_>,
    ) -> Result<JudgeResponse, MethodError> {
        match self {
            Self::Rule => panic!("the rule asks nobody"),
            Self::SagaScale => sagascale::correctness(host, settings, submission).await,
            Self::NovelQa => novelqa::correctness(host, settings, submission).await,
            Self::NovelQaEvidence => novelqa::evidence(host, settings, submission).await,
            Self::CorpusQa => corpusqa::equivalence(host, settings, submission).await,
            Self::VerifyFacts => hamlet::verify_facts(host, settings, submission).await,
            Self::AlignKeyFacts => hamlet::align_key_facts(host, settings, submission).await,
            Self::ClassifyQuestion => sagascale::classify_question(host, settings, submission).await,
        }
    }

    /// What [`BUILTIN_RULE`] says in the place of a model; `None` where no rule can say anything.
    pub fn by_rule(self, submission: &Submission<'_>) -> Option<Verdict> {
        let ruling = match self {
            Self::Rule => Ruling::Rule(rule::answer(submission)),
            Self::SagaScale | Self::NovelQa | Self::CorpusQa => {
                Ruling::Correctness { correct: rule::answer(submission).tolerant }
            }
            Self::NovelQaEvidence => return None,
            Self::VerifyFacts => Ruling::Sentences { sentences: rule::verify_facts(submission) },
            Self::AlignKeyFacts => Ruling::KeyFacts { facts: rule::align_key_facts(submission) },
            Self::ClassifyQuestion => {
                Ruling::QuestionType { question_type: rule::question_type(&submission.item.question) }
            }
        };
        Some(Verdict::Ruled { ruling })
    }
}

/// What is put to a judge.
#[derive(Debug, Clone, Copy)]
pub struct Submission<'a> {
    /// The item, with its gold.
    pub item: &'a Item,
    /// Title of the work; empty if unknown.
    pub title: &'a str,
    /// The language of the work.
    pub language: Language,
    /// What the reader said; nothing for a judge of questions.
    pub said: SubmittedAnswer<'a>,
    /// Sentences that the reader cited as evidence.
    pub cited: &'a [String],
    /// The text of the chunk that the item's key facts are about; empty without key facts.
    pub chunk: &'a str,
}

/// What a reader said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubmittedAnswer<'a> {
    /// Nothing: the question alone is judged.
    Nothing,
    /// An answer in the agreed form.
    Answer {
        /// Its text.
        text: &'a str,
        /// The option chosen, from 0.
        choice: Option<usize>,
    },
    /// A reply that holds no answer in the agreed form.
    Unparsed {
        /// The reply.
        response: &'a str,
    },
}

impl<'a> SubmittedAnswer<'a> {
    /// What a trial ended with.
    pub fn of(outcome: &'a Outcome) -> Self {
        match outcome {
            Outcome::Answered { answer, choice, .. } => Self::Answer { text: answer, choice: *choice },
            Outcome::Unparsed { response: reply } => Self::Unparsed { response: reply },
            _ => Self::Nothing,
        }
    }

    /// The words to be judged.
    pub const fn text(self) -> &'a str {
        match self {
            Self::Nothing => "",
            Self::Answer { text, .. } => text,
            Self::Unparsed { response: reply } => reply,
        }
    }
}

/// The sentences that the reader of a trial cited as evidence.
pub fn cited(record: &Record) -> &[String] {
    record.evidence.as_deref().unwrap_or_default()
}

/// What came of asking a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeResponse {
    /// What the judge said.
    pub verdict: Verdict,
    /// The call, if it came back.
    pub calls: Vec<CallTrace>,
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
