//! Defaults of a benchmark, as its paper has them: the values, each with its source.

use super::judge::Judge;
use super::source::Sourced;
use super::tokenizer::PaperTokenizer;
use crate::{AnyMethod, Entry, FullDocument, METHODS, OnOverflow, PromptStyle};
use closeread_eval::Paper;
use closeread_eval::observations::FailurePolicy;
use closeread_metrics::Metric;
use serde::Serialize;

/// The defaults of a benchmark, as its paper has them, each with its source.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Protocol {
    /// Name of the benchmark; empty for [`Self::OWN`].
    pub benchmark: &'static str,
    /// Paper and sections it follows.
    pub source: &'static str,
    /// The methods, in the paper's order; empty: every method that the models can serve.
    pub steps: Sourced<&'static [Step]>,
    /// Paper whose prompts and answer forms the methods use, where they have the parameter `style`.
    pub style: Option<PromptStyle>,
    /// Token budgets of the methods that are run once for each.
    pub budgets: Sourced<&'static [usize]>,
    /// Number of repeats of every trial.
    pub repeats: Sourced<u32>,
    /// Failure policy of the paper's tables, for trials in which the model never got to answer; a report prints both.
    pub failures: Sourced<FailurePolicy>,
    /// The embedding model, used where it is installed; `None` leaves it to the methods.
    pub embedder: Sourced<Option<&'static str>>,
    /// Most tokens that a response may have; `None`: as many as the provider lets it have. No paper here names a limit.
    #[serde(skip)]
    pub max_output_tokens: Sourced<Option<u32>>,
    /// Tokenizer that counts budgets, prompts and windows.
    #[serde(skip)]
    pub tokenizer: Sourced<PaperTokenizer>,
    /// Judges of the protocol.
    pub judges: Sourced<&'static [Judge]>,
    /// The model that the paper judges with, in its words.
    pub judge_model: Sourced<Option<&'static str>>,
    /// Sampling temperature of the models.
    #[serde(skip)]
    pub temperature: Sourced<f64>,
    /// Sampling seed that is sent; `None`: no seed is.
    #[serde(skip)]
    pub seed: Sourced<Option<u64>>,
    /// Scores of answers in words beside the main one of the task, see [`WordScores`](crate::WordScores).
    #[serde(skip)]
    pub metrics: Sourced<&'static [Metric]>,
    /// Label that items must have to be asked, `label=value`, where any item has the label.
    #[serde(skip)]
    pub only: Sourced<Option<&'static str>>,
    /// Whether the frames that publishers put around texts are kept.
    #[serde(skip)]
    pub keep_frame: Sourced<bool>,
    /// Rules that every run follows alike, and what the paper says of them.
    #[serde(skip)]
    pub conduct: Conduct,
}

/// Rules that follow from the methods and the items, in words, with the paper's word on each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conduct {
    /// Model that makes trees and pages.
    pub preparer: Sourced<&'static str>,
    /// Tokens that a model can take.
    pub window: Sourced<&'static str>,
    /// The system message of a reader.
    pub system: Sourced<&'static str>,
    /// The answer of a response that counts.
    pub answer: Sourced<&'static str>,
    /// What intervals cluster by.
    pub clusters: Sourced<&'static str>,
}

/// A method of a protocol.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Step {
    /// Name of the method.
    pub method: &'static str,
    /// The method with the paper's parameters.
    #[serde(skip)]
    pub make: fn() -> AnyMethod,
    /// Sources of the method's parameters: names of those of one source, with a blank between.
    #[serde(skip)]
    pub parameters: &'static [Sourced<&'static str>],
}

impl Step {
    pub(super) const fn new(
        method: &'static str,
        make: fn() -> AnyMethod,
        parameters: &'static [Sourced<&'static str>],
    ) -> Self {
        Self { method, make, parameters }
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.method == other.method && (self.make)() == (other.make)()
    }
}

/// The whole text in the prompt of a paper; what does not fit the window counts as wrong.
pub(super) fn whole(style: PromptStyle) -> AnyMethod {
    FullDocument { overflow: OnOverflow::Fail, style, ..FullDocument::default() }.into()
}

impl Protocol {
    /// Protocol for data without a paper here, the sample among them: every method, and the small end of Stronger
    /// Baselines' grid (A.3) with the 5,000 of its tables.
    pub const OWN: Self = Self {
        benchmark: "",
        source: "closeread",
        steps: Sourced::open(&[], "every method that the models can serve"),
        style: None,
        budgets: Sourced::open(&[500, 1_000, 1_500, 5_000], "the small end of Stronger Baselines' grid"),
        repeats: Sourced::open(1, "decoding is greedy"),
        failures: Sourced::open(FailurePolicy::Wrong, "a model that cannot answer is not right"),
        embedder: Sourced::open(None, "each method's own, else the model that ships"),
        max_output_tokens: Sourced::open(None, "no paper names a limit"),
        tokenizer: Sourced::open(PaperTokenizer::Cl100k, "it ships, and the code of RAPTOR and DOS RAG counts by it"),
        judges: Sourced::open(&[], "gold answers score by themselves"),
        judge_model: Sourced::open(None, "nothing is judged unless a judge is named"),
        temperature: Sourced::open(0.0, "greedy decoding, as in the papers"),
        seed: Sourced::open(None, "at temperature 0; one that is named is sent"),
        metrics: Sourced::open(&[], "accuracy of choices, F1 of words"),
        only: Sourced::open(None, "every item"),
        keep_frame: Sourced::open(false, "a licence is no part of a book"),
        conduct: Conduct::OWN,
    };

    /// The paper whose tables a report prints; `None` where the labels of the items decide.
    pub fn paper(&self) -> Option<Paper> {
        Paper::of_benchmark(self.benchmark)
    }

    /// The methods of the protocol, in the order of a report.
    pub fn methods(&self) -> Vec<&'static Entry> {
        let runs = |entry: &&Entry| self.steps.is_empty() || self.steps.iter().any(|step| step.method == entry.name);
        METHODS.iter().filter(runs).collect()
    }

    /// Returns a method as the paper has it; one that the protocol does not have, with the paper's prompts.
    pub fn method(&self, entry: &Entry) -> AnyMethod {
        match (self.steps.iter().find(|step| step.method == entry.name), self.style) {
            (Some(step), _) => (step.make)(),
            (None, Some(style)) => entry.preset().in_style(style),
            (None, None) => entry.preset(),
        }
    }
}
