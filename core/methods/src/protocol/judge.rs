//! Judges: what they decide, and when they are asked.

use closeread_eval::{Item, Outcome, Paper, Task};
use closeread_prompts::judges as prompts;
use serde::{Deserialize, Serialize};

/// A judge: what is decided, and by whose definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Judge {
    /// Decides whether an answer agrees with the gold answer by its form alone, strictly and tolerantly; no model is
    /// asked.
    #[serde(rename = "rule")]
    Rule,
    /// Decides whether an answer is correct (SagaScale, figure 15).
    #[serde(rename = "judge-sagascale")]
    SagaScale,
    /// Decides whether an answer is correct, knowing the evidence (NovelQA 4.1).
    #[serde(rename = "judge-novelqa")]
    NovelQa,
    /// Decides how good the evidence is that the model cited (NovelQA 4.5, Table 5).
    #[serde(rename = "judge-novelqa-evidence")]
    NovelQaEvidence,
    /// Decides whether two answers are equivalent (CorpusQA 4.1).
    #[serde(rename = "judge-corpusqa")]
    CorpusQa,
    /// Decides what is wrong with each sentence of a summary, against the chunk (HAMLET, stage 3).
    #[serde(rename = "verify-facts")]
    VerifyFacts,
    /// Decides which key facts a summary states (HAMLET, stage 3).
    #[serde(rename = "align-key-facts")]
    AlignKeyFacts,
    /// Decides what kind of thing a question asks for (SagaScale, figure 8); the only judge of questions.
    #[serde(rename = "classify-question")]
    ClassifyQuestion,
}

/// What a response that cannot be read, a refusal and a failed call count as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfUnreadable {
    /// They count as "incorrect".
    Incorrect,
    /// They count as no vote. Where nobody votes the answer stays unjudged: it is in no mean, and the report counts it.
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

    /// Returns the judge's name, which is also that of its prompt.
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

    /// Returns whether the judge says if an answer is correct.
    pub const fn decides_correctness(self) -> bool {
        matches!(self, Self::SagaScale | Self::NovelQa | Self::CorpusQa)
    }

    /// Returns what silence counts as. CorpusQA's script counts all that is not `[[YES]]` alone, and every failed call,
    /// as incorrect. The other papers say nothing; there an answer is not wrong because its judge was silent.
    pub const fn if_unreadable(self) -> IfUnreadable {
        match self {
            Self::CorpusQa => IfUnreadable::Incorrect,
            _ => IfUnreadable::Abstention,
        }
    }

    /// The judges that a trial is put to: [`Judge::Rule`] and the paper's judge for open questions with gold answers
    /// in words, NovelQA's judge of evidence where the reader cited some, HAMLET's two for summaries with key facts.
    ///
    /// A trial that ended without an answer is wrong without being judged; only the rules look at responses that do not
    /// follow the form, for the tolerant reading.
    pub fn of_trial(paper: Paper, item: &Item, outcome: &Outcome, cited: &[String]) -> Vec<Self> {
        let answered = matches!(outcome, Outcome::Answered { .. });
        if !answered && !matches!(outcome, Outcome::Unparsed { .. }) {
            return Vec::new();
        }
        let mut judges = Vec::new();
        match item.task {
            Task::Choice if item.correct.is_some() => judges.push(Self::Rule),
            Task::Generative if item.has_told_answers() => {
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
}
