//! How each paper runs its benchmark: what `closeread run` does where its user says nothing.

mod offer;

pub use offer::{MAX_OUTPUT_TOKENS, Offer, OfferedCost, StageCost, offers};

use crate::{Entry, METHODS};
use closeread_eval::Paper;
use closeread_eval::observations::FailurePolicy;
use serde::Serialize;
use serde_json::{Map, Value};

/// Budgets of the paper's curves, in tokens (A.3).
pub const BUDGETS: [usize; 11] = [500, 1_000, 1_500, 2_000, 4_000, 6_000, 8_000, 10_000, 20_000, 30_000, 40_000];

/// The defaults of a benchmark, as its paper has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Protocol {
    /// Name of the benchmark; empty for [`Self::OWN`].
    pub benchmark: &'static str,
    /// Paper and sections it follows.
    pub source: &'static str,
    /// The methods, in the paper's order; empty: every method that the models can serve.
    pub steps: &'static [Step],
    /// Whose prompts and answer forms the methods have, where they have the parameter `style`.
    pub style: Option<&'static str>,
    /// Token budgets of the methods that are run once for each.
    pub budgets: &'static [usize],
    /// Repetitions of every trial.
    pub repeats: u32,
    /// What becomes of trials in which the reader never got to answer, in the paper's tables; a report prints both.
    pub failures: FailurePolicy,
    /// The embedding model, used where it is installed; `None` leaves it to the methods.
    pub embedder: Option<&'static str>,
    /// The prompts of its judges.
    pub judges: &'static [&'static str],
    /// The model that the paper judges with, in its words.
    pub judge_model: Option<&'static str>,
}

/// A method of a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its name.
    pub method: &'static str,
    /// The parameters in which the paper differs from the method's own defaults, a JSON object.
    #[serde(skip)]
    parameters: &'static str,
}

impl Step {
    const fn new(method: &'static str) -> Self {
        Self { method, parameters: "{}" }
    }

    const fn with(method: &'static str, parameters: &'static str) -> Self {
        Self { method, parameters }
    }
}

/// Every paper's benchmarks.
pub static PROTOCOLS: &[Protocol] = &[SAGASCALE, NOVELQA, INFINITEBENCH, QUALITY, NARRATIVEQA, CORPUSQA, HAMLET];

/// Long context, naive and agentic retrieval; what does not fit the window counts as wrong (Table 3).
const SAGASCALE: Protocol = Protocol {
    benchmark: "sagascale",
    source: "SagaScale, sections 4.1 and A.4.2",
    steps: &[
        Step::with("full-document", r#"{"overflow": "fail"}"#),
        Step::with("naive-rag", r#"{"top_k": 3}"#),
        Step::with("agentic-rag", r#"{"top_k": 3, "max_searches": 8}"#),
    ],
    style: Some("sagascale"),
    judges: &["judge-sagascale"],
    judge_model: Some("GPT-4o"),
    ..Protocol::OWN
};

/// With and without the book, all questions of a book in one call, the end of a book cut where it does not fit.
///
/// The paper runs both the generative and the multiple-choice setting: `--task generative` and `--task choice`.
const NOVELQA: Protocol = Protocol {
    benchmark: "novelqa",
    source: "NovelQA, sections 4.1 and 4.2",
    steps: &[
        Step::with("closed-book", r#"{"together": true}"#),
        Step::with("full-document", r#"{"together": true, "overflow": "truncate-end"}"#),
    ],
    style: Some("novelqa"),
    judges: &["judge-novelqa", "judge-novelqa-evidence"],
    judge_model: Some("GPT-4"),
    ..Protocol::OWN
};

/// The compared pipelines over the whole grid of budgets (A.3).
///
/// The full document is read on QuALITY alone, so it is in that protocol only.
const INFINITEBENCH: Protocol = Protocol {
    benchmark: "infinitebench",
    source: "Stronger Baselines, sections 2.3 and 3, appendices A.3 to A.8",
    steps: &[
        Step::new("vanilla-rag"),
        Step::new("dos-rag"),
        Step::new("raptor"),
        Step::with("read-agent", r#"{"unit": "sentence", "max_pages": 6}"#),
    ],
    style: Some("dos-rag"),
    budgets: &BUDGETS,
    repeats: 5,
    embedder: Some("snowflake-arctic-embed-m-v1.5"),
    ..Protocol::OWN
};

const QUALITY: Protocol = Protocol {
    benchmark: "quality",
    steps: &[
        Step::with("full-document", r#"{"overflow": "fail"}"#),
        Step::new("vanilla-rag"),
        Step::new("dos-rag"),
        Step::new("raptor"),
        Step::with("read-agent", r#"{"unit": "sentence", "max_pages": 6}"#),
    ],
    ..INFINITEBENCH
};

/// As InfiniteBench; the paper repeats only the tasks with options.
const NARRATIVEQA: Protocol = Protocol { benchmark: "narrativeqa", repeats: 1, ..INFINITEBENCH };

/// The whole corpus, retrieval over it and the memory agent; responses that are missing are in no denominator.
const CORPUSQA: Protocol = Protocol {
    benchmark: "corpusqa",
    source: "CorpusQA, section 4.1 and appendix C",
    steps: &[
        Step::with("full-document", r#"{"overflow": "fail"}"#),
        Step::new("corpus-rag"),
        // It answers by MemAgent's own last prompt.
        Step::with("memory-agent", r#"{"style": null}"#),
    ],
    style: Some("corpusqa"),
    // The paper names none. This holds about 100 chunks: what the 1M set can have of documents of 10,240 tokens or more,
    // and less than the larger sets have, for which Table 4 says that fewer chunks than documents were read.
    budgets: &[50_000],
    failures: FailurePolicy::LeftOut,
    judges: &["judge-corpusqa"],
    judge_model: Some("DeepSeek-V3"),
    ..Protocol::OWN
};

/// One query-focused summary a query, judged against the key facts and the text of its chunk.
const HAMLET: Protocol = Protocol {
    benchmark: "hamlet",
    source: "HAMLET, section 3 and appendices D and E",
    steps: &[Step::new("query-summary")],
    judges: &["align-key-facts", "verify-facts"],
    judge_model: Some("GPT-4o"),
    ..Protocol::OWN
};

impl Protocol {
    /// For data without a paper here, the sample among them: every method, and the small end of Stronger Baselines' grid
    /// (A.3) with the 5,000 of its tables.
    pub const OWN: Self = Self {
        benchmark: "",
        source: "closeread",
        steps: &[],
        style: None,
        budgets: &[500, 1_000, 1_500, 5_000],
        repeats: 1,
        failures: FailurePolicy::Wrong,
        embedder: None,
        judges: &[],
        judge_model: None,
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

    /// The parameters of a method, whether the protocol has it or not: the style, and what the paper says of it.
    pub fn parameters(&self, method: &str) -> Map<String, Value> {
        let mut parameters: Map<String, Value> =
            self.style.into_iter().map(|style| ("style".to_owned(), Value::from(style))).collect();
        if let Some(step) = self.steps.iter().find(|step| step.method == method) {
            let own: Map<String, Value> =
                serde_json::from_str(step.parameters).expect("the parameters of every protocol are tested");
            parameters.extend(own);
        }
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyMethod, entry};
    use closeread_data::adapter;
    use closeread_prompts::Prompts;
    use serde_json::json;

    #[test]
    fn every_protocol_is_of_a_benchmark_and_a_paper() {
        for protocol in PROTOCOLS {
            assert!(adapter(protocol.benchmark).is_some(), "{}", protocol.benchmark);
            assert!(protocol.paper().is_some(), "{}", protocol.benchmark);
            assert!(protocol.budgets.is_sorted() && protocol.repeats > 0, "{}", protocol.benchmark);
            assert_eq!(Protocol::of(protocol.benchmark), protocol);
        }
        assert_eq!(Protocol::of("sample"), &Protocol::OWN);
    }

    #[test]
    fn every_method_takes_the_parameters_that_a_protocol_gives_it() {
        for protocol in PROTOCOLS {
            for step in protocol.steps {
                let mut parameters = protocol.parameters(step.method);
                assert!(entry(step.method).is_some(), "{} has no method {}", protocol.benchmark, step.method);
                if json!(AnyMethod::named(step.method, &json!({})).unwrap()).get("style").is_none() {
                    parameters.remove("style");
                }
                let method = AnyMethod::named(step.method, &Value::Object(parameters));
                assert!(method.is_ok(), "{}: {}", protocol.benchmark, method.unwrap_err());
            }
        }
    }

    #[test]
    fn every_judge_has_its_prompt() {
        let prompts = Prompts::built_in();
        for protocol in PROTOCOLS {
            assert_eq!(protocol.judges.is_empty(), protocol.judge_model.is_none(), "{}", protocol.benchmark);
            for judge in protocol.judges {
                let is_there = prompts.hashes().contains_key(*judge);
                assert!(is_there, "{} is judged by {judge}", protocol.benchmark);
            }
        }
    }

    #[test]
    fn novelqa_cuts_the_end_and_corpusqa_leaves_missing_responses_out() {
        let novelqa = Protocol::of("novelqa");
        assert_eq!(novelqa.parameters("full-document")["overflow"], json!("truncate-end"));
        assert_eq!(novelqa.parameters("dos-rag"), json!({"style": "novelqa"}).as_object().unwrap().clone());
        assert_eq!(Protocol::of("corpusqa").failures, FailurePolicy::LeftOut);
        assert_eq!((Protocol::of("quality").repeats, Protocol::of("narrativeqa").repeats), (5, 1));
    }
}
