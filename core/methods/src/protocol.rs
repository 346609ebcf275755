//! How each paper runs its benchmark: what `closeread run` does where its user says nothing.

mod judge;
mod offer;

pub use judge::{IfUnreadable, Judge};
pub use offer::{Offer, OfferedCost, StageCost, offers};

use crate::{
    AgenticRag, AnyMethod, ClosedBook, Entry, FullDocument, METHODS, MemoryAgent, OnOverflow, PromptStyle,
    QuerySummary, Rag, Raptor, ReadAgent, Select, Unit,
};
use closeread_books::tokens::Encoding;
use closeread_eval::Paper;
use closeread_eval::observations::FailurePolicy;
use serde::Serialize;

/// Budgets of the paper's curves, in tokens (A.3).
pub const BUDGETS: [usize; 11] = [500, 1_000, 1_500, 2_000, 4_000, 6_000, 8_000, 10_000, 20_000, 30_000, 40_000];

/// The defaults of a benchmark, as its paper has them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Protocol {
    /// Name of the benchmark; empty for [`Self::OWN`].
    pub benchmark: &'static str,
    /// Paper and sections it follows.
    pub source: &'static str,
    /// The methods, in the paper's order; empty: every method that the models can serve.
    pub steps: &'static [Step],
    /// Whose prompts and answer forms the methods have, where they have the parameter `style`.
    pub style: Option<PromptStyle>,
    /// Token budgets of the methods that are run once for each.
    pub budgets: &'static [usize],
    /// Repetitions of every trial.
    pub repeats: u32,
    /// What becomes of trials in which the reader never got to answer, in the paper's tables; a report prints both.
    pub failures: FailurePolicy,
    /// The embedding model, used where it is installed; `None` leaves it to the methods.
    pub embedder: Option<&'static str>,
    /// Most tokens of a response; `None`: as many as the provider lets it have. No paper here names a limit.
    #[serde(skip)]
    pub max_output_tokens: Option<u32>,
    /// What counts budgets, prompts and windows.
    #[serde(skip)]
    pub tokenizer: Encoding,
    /// Its judges.
    pub judges: &'static [Judge],
    /// The model that the paper judges with, in its words.
    pub judge_model: Option<&'static str>,
}

/// A method of a protocol.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Step {
    /// Its name.
    pub method: &'static str,
    /// The method with the paper's parameters.
    #[serde(skip)]
    pub make: fn() -> AnyMethod,
}

impl Step {
    const fn new(method: &'static str, make: fn() -> AnyMethod) -> Self {
        Self { method, make }
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.method == other.method && (self.make)() == (other.make)()
    }
}

/// Stronger Baselines' retrieval, within each budget.
const BASELINES: [Step; 4] = [
    Step::new("vanilla-rag", || Rag::vanilla().into()),
    Step::new("dos-rag", || Rag::dos().into()),
    Step::new("raptor", || Raptor::default().into()),
    Step::new("read-agent", || ReadAgent { unit: Unit::Sentence, max_pages: 6, ..ReadAgent::default() }.into()),
];

/// The whole text in the prompt of a paper; what does not fit the window counts as wrong.
fn whole(style: PromptStyle) -> AnyMethod {
    FullDocument { overflow: OnOverflow::Fail, style, ..FullDocument::default() }.into()
}

/// Every paper's benchmarks.
pub static PROTOCOLS: &[Protocol] = &[SAGASCALE, NOVELQA, INFINITEBENCH, QUALITY, NARRATIVEQA, CORPUSQA, HAMLET];

/// Long context, naive and agentic retrieval; what does not fit the window counts as wrong (Table 3).
const SAGASCALE: Protocol = Protocol {
    benchmark: "sagascale",
    source: "SagaScale, sections 4.1 and A.4.2",
    steps: &[
        Step::new("full-document", || whole(PromptStyle::Sagascale)),
        Step::new("naive-rag", || Rag { select: Select::Top { top_k: 3 }, ..Rag::naive() }.into()),
        Step::new("agentic-rag", || AgenticRag { top_k: 3, max_searches: 8, ..AgenticRag::default() }.into()),
    ],
    style: Some(PromptStyle::Sagascale),
    judges: &[Judge::SagaScale],
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
        Step::new("closed-book", || ClosedBook { style: PromptStyle::Novelqa, together: true }.into()),
        Step::new("full-document", || {
            let (style, overflow) = (PromptStyle::Novelqa, OnOverflow::TruncateEnd);
            FullDocument { overflow, style, together: true, ..FullDocument::default() }.into()
        }),
    ],
    style: Some(PromptStyle::Novelqa),
    judges: &[Judge::NovelQa, Judge::NovelQaEvidence],
    judge_model: Some("GPT-4"),
    ..Protocol::OWN
};

/// The compared pipelines over the whole grid of budgets (A.3).
///
/// The full document is read on QuALITY alone, so it is in that protocol only.
const INFINITEBENCH: Protocol = Protocol {
    benchmark: "infinitebench",
    source: "Stronger Baselines, sections 2.3 and 3, appendices A.3 to A.8",
    steps: &BASELINES,
    style: Some(PromptStyle::DosRag),
    budgets: &BUDGETS,
    repeats: 5,
    embedder: Some("snowflake-arctic-embed-m-v1.5"),
    ..Protocol::OWN
};

const QUALITY: Protocol = Protocol {
    benchmark: "quality",
    steps: &[
        Step::new("full-document", || whole(PromptStyle::DosRag)),
        BASELINES[0],
        BASELINES[1],
        BASELINES[2],
        BASELINES[3],
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
        Step::new("full-document", || whole(PromptStyle::Corpusqa)),
        Step::new("corpus-rag", || Rag::corpus().into()),
        // It answers by MemAgent's own last prompt.
        Step::new("memory-agent", || MemoryAgent { style: None, ..MemoryAgent::default() }.into()),
    ],
    style: Some(PromptStyle::Corpusqa),
    // The paper names none. This holds about 100 chunks: what the 1M set can have of documents of 10,240 tokens or more,
    // and less than the larger sets have, for which Table 4 says that fewer chunks than documents were read.
    budgets: &[50_000],
    failures: FailurePolicy::LeftOut,
    judges: &[Judge::CorpusQa],
    judge_model: Some("DeepSeek-V3"),
    ..Protocol::OWN
};

/// One query-focused summary a query, judged against the key facts and the text of its chunk.
const HAMLET: Protocol = Protocol {
    benchmark: "hamlet",
    source: "HAMLET, section 3 and appendices D and E",
    steps: &[Step::new("query-summary", || QuerySummary::default().into())],
    judges: &[Judge::AlignKeyFacts, Judge::VerifyFacts],
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
        max_output_tokens: None,
        tokenizer: Encoding::Cl100k,
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
    use crate::entry;
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
    fn every_step_is_the_method_of_its_name_with_parameters_that_go_together() {
        let prompts = Prompts::built_in();
        for protocol in PROTOCOLS {
            assert_eq!(protocol.judges.is_empty(), protocol.judge_model.is_none(), "{}", protocol.benchmark);
            assert!(protocol.judges.iter().all(|judge| prompts.hashes().contains_key(judge.name())));
            for step in protocol.steps {
                let entry = entry(step.method).unwrap_or_else(|| panic!("there is no method {}", step.method));
                let (made, preset) = ((step.make)(), entry.preset());
                assert_eq!(std::mem::discriminant(&made), std::mem::discriminant(&preset), "{}", step.method);
                assert_eq!(entry.method(&json!(made)).unwrap(), made, "{}: {}", protocol.benchmark, step.method);
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
        assert_eq!(Protocol::of("corpusqa").failures, FailurePolicy::LeftOut);
        assert_eq!((Protocol::of("quality").repeats, Protocol::of("narrativeqa").repeats), (5, 1));
    }
}
