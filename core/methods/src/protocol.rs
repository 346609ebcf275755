//! How each paper runs its benchmark: what `closeread run` does where its user says nothing.

mod changes;
mod judge;
mod lines;
mod offer;
mod papers;
mod source;
mod tokenizer;

pub use changes::Change;
pub use judge::{IfUnreadable, Judge};
pub use lines::Line;
pub use offer::{Offer, OfferedCost, StageCost, offers};
pub use source::{Source, Sourced};
pub use tokenizer::PaperTokenizer;

use crate::{AnyMethod, Entry, FullDocument, METHODS, OnOverflow, PromptStyle};
use closeread_eval::Paper;
use closeread_eval::observations::FailurePolicy;
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
    /// Whose prompts and answer forms the methods have, where they have the parameter `style`.
    pub style: Option<PromptStyle>,
    /// Token budgets of the methods that are run once for each.
    pub budgets: Sourced<&'static [usize]>,
    /// Repetitions of every trial.
    pub repeats: Sourced<u32>,
    /// What becomes of trials in which the reader never got to answer, in the paper's tables; a report prints both.
    pub failures: Sourced<FailurePolicy>,
    /// The embedding model, used where it is installed; `None` leaves it to the methods.
    pub embedder: Sourced<Option<&'static str>>,
    /// Most tokens of a response; `None`: as many as the provider lets it have. No paper here names a limit.
    #[serde(skip)]
    pub max_output_tokens: Sourced<Option<u32>>,
    /// What counts budgets, prompts and windows.
    #[serde(skip)]
    pub tokenizer: Sourced<PaperTokenizer>,
    /// Its judges.
    pub judges: Sourced<&'static [Judge]>,
    /// The model that the paper judges with, in its words.
    pub judge_model: Sourced<Option<&'static str>>,
    /// What every run does alike, and what the paper has of it.
    #[serde(skip)]
    pub conduct: Conduct,
}

/// What no protocol changes, in words, with the paper's word on each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conduct {
    /// Who makes trees and pages.
    pub preparer: Sourced<&'static str>,
    /// Tokens that a model can take.
    pub window: Sourced<&'static str>,
    /// Sampling temperature.
    pub temperature: Sourced<&'static str>,
    /// Sampling seed.
    pub seed: Sourced<&'static str>,
    /// The system message of a reader.
    pub system: Sourced<&'static str>,
    /// Which answer of a response counts.
    pub answer: Sourced<&'static str>,
    /// The metrics.
    pub metrics: Sourced<&'static str>,
    /// What intervals cluster by.
    pub clusters: Sourced<&'static str>,
}

/// A method of a protocol.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Step {
    /// Its name.
    pub method: &'static str,
    /// The method with the paper's parameters.
    #[serde(skip)]
    pub make: fn() -> AnyMethod,
    /// Where its parameters come from: names of those of one source, with a blank between.
    #[serde(skip)]
    pub parameters: &'static [Sourced<&'static str>],
}

impl Step {
    const fn new(method: &'static str, make: fn() -> AnyMethod, parameters: &'static [Sourced<&'static str>]) -> Self {
        Self { method, make, parameters }
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.method == other.method && (self.make)() == (other.make)()
    }
}

/// The whole text in the prompt of a paper; what does not fit the window counts as wrong.
fn whole(style: PromptStyle) -> AnyMethod {
    FullDocument { overflow: OnOverflow::Fail, style, ..FullDocument::default() }.into()
}

/// Every paper's benchmarks.
pub static PROTOCOLS: &[Protocol] = &[
    papers::SAGASCALE,
    papers::NOVELQA,
    papers::INFINITEBENCH,
    papers::QUALITY,
    papers::NARRATIVEQA,
    papers::CORPUSQA,
    papers::HAMLET,
];

impl Protocol {
    /// For data without a paper here, the sample among them: every method, and the small end of Stronger Baselines' grid
    /// (A.3) with the 5,000 of its tables.
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
        tokenizer: Sourced::open(PaperTokenizer::Cl100k, "it ships, and is that of the papers' GPT models"),
        judges: Sourced::open(&[], "gold answers score by themselves"),
        judge_model: Sourced::open(None, "nothing is judged unless a judge is named"),
        conduct: Conduct::OWN,
    };

    /// The protocol of a benchmark; [`Self::OWN`] for one that no paper here reports on.
    pub fn of(benchmark: &str) -> &'static Self {
        PROTOCOLS.iter().find(|protocol| protocol.benchmark == benchmark).unwrap_or(&Self::OWN)
    }

    /// The paper whose tables a report prints; `None` where the labels of the items decide.
    pub fn paper(&self) -> Option<Paper> {
        Paper::of_benchmark(self.benchmark)
    }

    /// The methods of the protocol, in the order of a report.
    pub fn methods(&self) -> Vec<&'static Entry> {
        let runs = |entry: &&Entry| self.steps.is_empty() || self.steps.iter().any(|step| step.method == entry.name);
        METHODS.iter().filter(runs).collect()
    }

    /// A method as the paper has it; one that the protocol does not have, with the paper's prompts.
    pub fn method(&self, entry: &Entry) -> AnyMethod {
        match (self.steps.iter().find(|step| step.method == entry.name), self.style) {
            (Some(step), _) => (step.make)(),
            (None, Some(style)) => entry.preset().in_style(style),
            (None, None) => entry.preset(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rag, entry};
    use closeread_data::adapter;
    use closeread_prompts::Prompts;
    use serde_json::json;

    #[test]
    fn every_protocol_is_of_a_benchmark_and_a_paper() {
        for protocol in PROTOCOLS {
            assert!(adapter(protocol.benchmark).is_some(), "{}", protocol.benchmark);
            assert!(protocol.paper().is_some(), "{}", protocol.benchmark);
            assert!(protocol.budgets.is_sorted() && *protocol.repeats > 0, "{}", protocol.benchmark);
            assert_eq!(Protocol::of(protocol.benchmark), protocol);
        }
        assert_eq!(Protocol::of("sample"), &Protocol::OWN);
    }

    #[test]
    fn every_step_is_the_method_of_its_name_with_parameters_that_go_together() {
        let prompts = Prompts::built_in();
        for protocol in PROTOCOLS {
            assert_eq!(protocol.judges.is_empty(), protocol.judge_model.is_none(), "{}", protocol.benchmark);
            assert!(protocol.judges.iter().all(|judge| prompts.hashes().contains_key(judge.name())));
            for step in *protocol.steps {
                let entry = entry(step.method).unwrap_or_else(|| panic!("there is no method {}", step.method));
                let (made, preset) = ((step.make)(), entry.preset());
                assert_eq!(std::mem::discriminant(&made), std::mem::discriminant(&preset), "{}", step.method);
                assert_eq!(entry.method(&json!(made)).unwrap(), made, "{}: {}", protocol.benchmark, step.method);
                let mut sourced: Vec<&str> = step.parameters.iter().flat_map(|names| names.split(' ')).collect();
                sourced.sort_unstable();
                let mut parameters: Vec<String> =
                    json!(made).as_object().unwrap().keys().map(ToString::to_string).collect();
                parameters.sort_unstable();
                assert_eq!(sourced, parameters, "{}: {}", protocol.benchmark, step.method);
            }
        }
    }

    #[test]
    fn novelqa_cuts_the_end_and_corpusqa_leaves_missing_responses_out() {
        let of = |benchmark, method| json!(Protocol::of(benchmark).method(entry(method).unwrap()));
        assert_eq!(of("novelqa", "full-document")["overflow"], json!("truncate-end"));
        assert_eq!(json!(Rag { style: PromptStyle::Novelqa, ..Rag::dos() }), of("novelqa", "dos-rag"));
        assert_eq!(of("corpusqa", "memory-agent")["style"], json!(null));
        assert_eq!(of("novelqa", "memory-agent")["style"], json!("novelqa"));
        assert_eq!(*Protocol::of("corpusqa").failures, FailurePolicy::LeftOut);
        assert_eq!((*Protocol::of("quality").repeats, *Protocol::of("narrativeqa").repeats), (5, 1));
    }
}
