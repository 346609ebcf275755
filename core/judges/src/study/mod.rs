//! Studies with people: what a page asks them about a benchmark or a run, and what they said of it (SagaScale 4.1, NovelQA
//! 3.2, 4.1 and Table 17, CorpusQA 4.5, HAMLET section 4).

mod draw;
mod said;

pub use crate::human::LABEL_COLUMNS;
pub use draw::{Drawing, of_items, of_run, unjudged};
pub use said::{PersonAnswer, PersonAnswers, SaidError, State, label_rows, row};

use crate::TrialPlace;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Version of the files of a study.
pub const STUDY_FORMAT: u32 = 1;

/// The question that a person is asked of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asks {
    /// The person answers a question, by the clock.
    Answer,
    /// The person says whether an answer is correct.
    Correctness,
    /// The person says what is at fault with a wrong answer (NovelQA, Table 17).
    Fault,
    /// The person says whether a summary states a key fact (HAMLET, Table 3, recall).
    KeyFact,
    /// The person says whether the text supports a sentence of a summary (HAMLET, Table 3, faithfulness).
    Sentence,
}

impl Asks {
    /// All questions that can be asked of the trials of a run.
    pub const OF_RUNS: [Self; 4] = [Self::Correctness, Self::Fault, Self::KeyFact, Self::Sentence];

    /// Returns the name in options and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Correctness => "correctness",
            Self::Fault => "fault",
            Self::KeyFact => "key-fact",
            Self::Sentence => "sentence",
        }
    }

    /// The labels that a person chooses from; of [`Asks::Answer`] the options of the unit, if it has any.
    pub const fn labels(self) -> &'static [&'static str] {
        match self {
            Self::Answer => &[],
            Self::Correctness => &["correct", "incorrect"],
            Self::Fault => &["hallucination-setting", "hallucination-narration", "overlooking", "miscounting", "other"],
            Self::KeyFact | Self::Sentence => &["yes", "no"],
        }
    }

    /// Returns what a unit of this kind belongs to in a file of labels: the task of HAMLET's Table 3; elsewhere the
    /// configuration.
    pub const fn task(self) -> Option<&'static str> {
        match self {
            Self::KeyFact => Some("recall"),
            Self::Sentence => Some("faithfulness"),
            Self::Answer | Self::Correctness | Self::Fault => None,
        }
    }
}

impl fmt::Display for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Asks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::OF_RUNS.into_iter().find(|asks| asks.name() == text);
        known.ok_or_else(|| format!("expected one of {}", Self::OF_RUNS.map(Self::name).join(", ")))
    }
}

/// A study, as a page asks it. Nothing in it says what is right, or what a judge said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Study {
    /// Version of the format, [`STUDY_FORMAT`].
    pub format: u32,
    /// Id of the study: it changes with everything that is asked.
    pub id: String,
    /// Title of the study.
    pub title: String,
    /// Maximum minutes for a question; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
    /// Units that are asked, in order.
    pub units: Vec<StudyUnit>,
}

/// One question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyUnit {
    /// Name of the unit in the study.
    pub id: String,
    /// Question to the person.
    pub asks: Asks,
    /// Language of what is shown, as a code; empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// Parts that are shown to the person.
    pub shows: Vec<Shown>,
    /// Options to choose from, where a question is put with some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Files to read, beside the page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<TextFile>,
}

/// A part of what a person is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Kind of the part.
    #[serde(rename = "as")]
    pub part: ShownAs,
    /// Text of the part.
    pub text: String,
}

/// The kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownAs {
    /// Title of the work.
    Title,
    /// The question.
    Question,
    /// A gold answer.
    Gold,
    /// A passage that holds the answer.
    Evidence,
    /// Answer of a model.
    Answer,
    /// The text that a summary is about.
    Excerpt,
    /// The summary.
    Summary,
    /// A key fact.
    KeyFact,
    /// A sentence of the summary.
    Sentence,
}

/// A text beside the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFile {
    /// Title of the text.
    pub title: String,
    /// Path of the text, relative to the page.
    pub path: String,
}

/// The key of a unit, which says what it is about, kept apart from the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitKey {
    /// Name of the unit.
    pub unit: String,
    /// Question to the person.
    pub asks: Asks,
    /// Id of the item.
    pub item: String,
    /// The trial, where the unit is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialPlace>,
    /// Number of the sentence or key fact, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// Aspect of the item's question (NovelQA), where its labels say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub aspect: String,
}

impl UnitKey {
    /// Returns the unit's name in a file of labels: the same for everybody who rates the same, in whatever study.
    pub fn name(&self) -> String {
        let mut name = self.item.clone();
        if let Some(TrialPlace { method, model, budget, repeat }) = &self.trial {
            let budget = budget.map_or_else(String::new, |budget| format!("@{budget}"));
            name += &format!(" {method}{budget} {model} {repeat}");
        }
        self.part.map_or(name.clone(), |part| format!("{name} #{part}"))
    }

    /// Returns the group of the unit in a file of labels.
    pub fn group(&self) -> &str {
        let model = self.trial.as_ref().map_or("", |trial| trial.model.as_str());
        self.asks.task().unwrap_or(model)
    }
}
