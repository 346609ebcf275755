//! The protocols of the papers' benchmarks.
//!
//! SagaScale's and HAMLET's repositories hold no code that could be read: for these two the paper is the only source.

mod baselines;

use super::defaults::{Conduct, Protocol, Step, whole};
use super::judge::Judge;
use super::source::Sourced;
use super::tokenizer::PaperTokenizer;
use crate::{
    AgenticRag, AnyMethod, ClosedBook, FullDocument, MemoryAgent, OnOverflow, Passages, PromptStyle, QueryForm,
    QuerySummary, Rag, Raptor, ReadAgent, SAGASCALE_EMBEDDER, Select, Unit,
};
use baselines::BASELINES;
use closeread_books::chunk::Chunker;
use closeread_eval::observations::FailurePolicy;
use closeread_metrics::Metric;

const DOS_RAG: &str = "alex-laitenberger/dos-rag-eval 6ed1c8a, RAG.py:114-117";
const DOS_EXPERIMENT: &str = "alex-laitenberger/dos-rag-eval 6ed1c8a, run_experiment.py:175-196";
const DOS_READER: &str = "alex-laitenberger/dos-rag-eval 6ed1c8a, QAModels.py:65-75";
const RAPTOR_CODE: &str = "parthsarthi03/raptor, raptor/cluster_utils.py and cluster_tree_builder.py, as alex-laitenberger/raptor-eval f6330c4 runs them";
const READ_AGENT_CODE: &str =
    "read-agent/read-agent.github.io, assets/read_agent_demo.ipynb; alex-laitenberger/read-agent-eval c33870c";
const MEM_AGENT: &str = "BytedTsinghua-SIA/MemAgent, recurrent/impls/memory.py and taskutils/memory_eval";
const CORPUSQA_CODE: &str = "Tongyi-Zhiwen/CorpusQA f5b5764, src/infer.py";
const CORPUSQA_EVAL: &str = "Tongyi-Zhiwen/CorpusQA f5b5764, src/eval.py";

const NO_NEIGHBOURS: Sourced<&str> = Sourced::open("neighbours", "no paper has any");
const ORDER: Sourced<&str> = Sourced::open("order", "the paper names none; best first is what a retriever returns");

impl Conduct {
    /// Rules that every run follows where its options say nothing.
    pub(super) const OWN: Self = Self {
        preparer: Sourced::open("the reader", "another model can be named"),
        window: Sourced::open("each model's own, where it is known", "it is the model's, not the benchmark's"),
        system: Sourced::open("none", "the whole prompt is the user's message"),
        answer: Sourced::open("the last in the form asked for", "what a response ends with is its answer"),
        clusters: Sourced::open("the set of an item's documents", "no paper has intervals; questions on a book depend"),
    };
}

/// Long context, naive and agentic retrieval; what does not fit the window counts as wrong (Table 3).
pub(super) const SAGASCALE: Protocol = Protocol {
    benchmark: "sagascale",
    source: "SagaScale, sections 4.1 and A.4.2",
    steps: Sourced::<&[Step]>::paper(
        &[
            Step::new(
                "full-document",
                || whole(PromptStyle::Sagascale),
                &[
                    Sourced::paper("overflow", "SagaScale, section 4.1"),
                    Sourced::paper("style", "SagaScale, Figure 16"),
                    Sourced::paper("together evidence prompt", "SagaScale, section 4.1"),
                ],
            ),
            Step::new(
                "closed-book",
                || ClosedBook { style: PromptStyle::Sagascale, together: false }.into(),
                &[
                    Sourced::paper("style", "SagaScale, Table 4 and Figure 14"),
                    Sourced::paper("together", "SagaScale, section 4.1"),
                ],
            ),
            Step::new(
                "naive-rag",
                || Rag { select: Select::Top { top_k: 3 }, ..Rag::naive() }.into(),
                &[
                    Sourced::paper("split max_tokens", "SagaScale, section 4.1").but(
                        "tokens of a chunk are by the run's tokenizer; the paper's is by DeepSeek-R1's or mE5's own",
                    ),
                    Sourced::paper("embedder", "SagaScale, section 4.1"),
                    Sourced::paper("top_k", "SagaScale, section 4.1"),
                    Sourced::paper("query", "SagaScale, section 4.1"),
                    Sourced::paper("style", "SagaScale, Figure 17"),
                    ORDER,
                    NO_NEIGHBOURS,
                ],
            ),
            Step::new(
                "agentic-rag",
                || AgenticRag { top_k: 3, max_searches: 8, ..AgenticRag::default() }.into(),
                &[
                    Sourced::paper("split max_tokens embedder", "SagaScale, section 4.1: as for NR"),
                    Sourced::paper("top_k", "SagaScale, section 4.1"),
                    Sourced::paper("max_searches", "SagaScale, section 4.1"),
                    Sourced::paper("tell_budget", "SagaScale, Figure 18"),
                    ORDER,
                    Sourced::open("on_both", "a text behind a query was written without its passages"),
                    Sourced::open("on_neither max_reprompts", "the paper does not say; such a turn is asked for again"),
                    NO_NEIGHBOURS,
                ],
            ),
        ],
        "SagaScale, section 4.1; closed-book for Table 4",
    ),
    style: Some(PromptStyle::Sagascale),
    failures: Sourced::paper(FailurePolicy::Wrong, "SagaScale, section 4.1"),
    tokenizer: Sourced::paper(PaperTokenizer::DeepSeekR1, "SagaScale, footnote 3: unless stated otherwise"),
    embedder: Sourced::paper(None, "SagaScale, section 4.1: mE5-large, a parameter of its methods"),
    repeats: Sourced::paper(1, "SagaScale, section 4.1"),
    judges: Sourced::paper(&[Judge::SagaScale], "SagaScale, section 4.1 and Figure 15"),
    judge_model: Sourced::paper(Some("GPT-4o"), "SagaScale, section 4.1"),
    temperature: Sourced::paper(0.0, "SagaScale, section 4.1"),
    metrics: Sourced::paper(&[], "SagaScale, section 4.1: the judge's verdict"),
    conduct: Conduct {
        window: Sourced::paper("each model's own, where it is known", "SagaScale, section 4.1: without extension"),
        ..Conduct::OWN
    },
    ..Protocol::OWN
};

/// NovelQA's protocol: with and without the book, all questions of a book in one call, the end of a book cut where it
/// does not fit.
///
/// The paper runs both the generative and the multiple-choice setting: `--task both`.
pub(super) const NOVELQA: Protocol = Protocol {
    benchmark: "novelqa",
    source: "NovelQA, sections 4.1 and 4.2",
    steps: Sourced::<&[Step]>::paper(
        &[
            Step::new(
                "closed-book",
                || ClosedBook { style: PromptStyle::Novelqa, together: true }.into(),
                &[Sourced::paper("style", "NovelQA, Table 11"), Sourced::paper("together", "NovelQA, appendix C.4.1")],
            ),
            Step::new(
                "full-document",
                || {
                    let (style, overflow) = (PromptStyle::Novelqa, OnOverflow::TruncateEnd);
                    FullDocument { overflow, style, together: true, ..FullDocument::default() }.into()
                },
                &[
                    Sourced::paper("overflow", "NovelQA, section 4.1"),
                    Sourced::paper("style", "NovelQA, Table 11"),
                    Sourced::paper("together", "NovelQA, appendix C.4.1"),
                    Sourced::paper("prompt", "NovelQA, Table 11, in words of our own"),
                    Sourced::paper("evidence", "NovelQA, section 4.5")
                        .but("Table 5 asks for evidence in a run of its own, with the parameter evidence=true"),
                ],
            ),
        ],
        "NovelQA, sections 4.1 and 4.6",
    )
    .but("the paper asks every model in both settings: the task `both`"),
    style: Some(PromptStyle::Novelqa),
    repeats: Sourced::paper(1, "NovelQA, appendix C.4.1"),
    failures: Sourced::open(FailurePolicy::Wrong, "the paper names no treatment"),
    tokenizer: Sourced::paper(PaperTokenizer::Cl100k, "NovelQA, Figure 3: that of gpt-3.5-turbo-16k"),
    judges: Sourced::paper(&[Judge::NovelQa, Judge::NovelQaEvidence], "NovelQA, sections 4.1 and 4.5"),
    judge_model: Sourced::paper(Some("GPT-4"), "NovelQA, section 4.1"),
    max_output_tokens: Sourced::paper(None, "NovelQA, appendix C.4.1: all but the temperature is left at its default"),
    temperature: Sourced::paper(0.0, "NovelQA, appendix C.4.1"),
    metrics: Sourced::paper(&[], "NovelQA, section 4.1: accuracy of choices, the judge's verdict of words"),
    conduct: Conduct {
        window: Sourced::paper("each model's own, where it is known", "NovelQA, section 4.1 and Table 2"),
        ..Conduct::OWN
    },
    ..Protocol::OWN
};

/// The compared pipelines over the budgets of Tables 1 and 2.
///
/// The full document is read on QuALITY alone, so it is in that protocol only.
pub(super) const INFINITEBENCH: Protocol = Protocol {
    benchmark: "infinitebench",
    source: "Stronger Baselines, sections 2.3 and 3, appendices A.3 to A.8",
    steps: Sourced::paper(&BASELINES, "Stronger Baselines, sections 2.2 and 2.3"),
    style: Some(PromptStyle::StrongerBaselines),
    budgets: Sourced::paper(&[1_500, 5_000, 10_000, 20_000, 30_000, 40_000], "Stronger Baselines, Tables 1 and 2"),
    repeats: Sourced::paper(5, "Stronger Baselines, Tables 1 to 4"),
    failures: Sourced::code(
        FailurePolicy::LeftOut,
        "alex-laitenberger/dos-rag-eval 6ed1c8a, eval.py: correct over the lines of the answers",
    )
    .but("a call that fails for good takes the later questions of its document with it"),
    embedder: Sourced::paper(Some("snowflake-arctic-embed-m-v1.5"), "Stronger Baselines, appendix A.1"),
    tokenizer: Sourced::code(PaperTokenizer::Cl100k, "alex-laitenberger/dos-rag-eval 6ed1c8a, RAG.py:37"),
    max_output_tokens: Sourced::code(None, DOS_READER)
        .but("alex-laitenberger/read-agent-eval c33870c, RAModels.py ends breaks, gists and look-ups at 512"),
    judges: Sourced::paper(&[], "Stronger Baselines, section 2.1: options and words score by themselves"),
    judge_model: Sourced::paper(None, "Stronger Baselines, section 2.1"),
    temperature: Sourced::paper(0.0, "Stronger Baselines, appendix A.1")
        .but("alex-laitenberger/raptor-eval f6330c4, SummarizationModels.py:36-46 leaves a tree's summaries at the model's default"),
    seed: Sourced::code(Some(42), DOS_READER),
    metrics: Sourced::paper(&[], "Stronger Baselines, section 3: accuracy"),
    only: Sourced::paper(Some("task=En.MC"), "Stronger Baselines, section 2.1"),
    conduct: Conduct {
        preparer: Sourced::paper("the reader", "Stronger Baselines, appendix A.7")
            .but("trees and pages are GPT-4o-mini's whoever reads: openai/gpt-4o-mini as preparing model"),
        system: Sourced::code("a short line that names a portal of questions and answers", DOS_READER)
            .but("alex-laitenberger/raptor-eval f6330c4, SummarizationModels.py:36-46 has another for a tree's summaries"),
        answer: Sourced::code(
            "of choices the first `[[n]]` of a response",
            "alex-laitenberger/dos-rag-eval 6ed1c8a, experiments/utils.py:43-52",
        ),
        ..Conduct::OWN
    },
    ..Protocol::OWN
};

pub(super) const QUALITY: Protocol = Protocol {
    benchmark: "quality",
    steps: Sourced::paper(
        &[
            Step::new(
                "full-document",
                || whole(PromptStyle::StrongerBaselines),
                &[
                    Sourced::paper("overflow", "Stronger Baselines, section 2.3: every document fits"),
                    Sourced::paper("style", "Stronger Baselines, appendix A.8"),
                    Sourced::paper("together evidence prompt", "Stronger Baselines, section 2.3"),
                ],
            ),
            BASELINES[0],
            BASELINES[1],
            BASELINES[2],
            BASELINES[3],
        ],
        "Stronger Baselines, sections 2.2 and 2.3",
    ),
    budgets: Sourced::<&[usize]>::paper(
        &[500, 1_000, 1_500, 2_000, 4_000, 8_000],
        "Stronger Baselines, Tables 3 and 4",
    )
    .but("appendix A.3 has 6,000 as well, and no table"),
    only: Sourced::paper(None, "Stronger Baselines, section 2.1")
        .but("the paper asks the development set alone: hand in the file of that set"),
    ..INFINITEBENCH
};

/// NarrativeQA's protocol, as InfiniteBench's; the paper repeats only the tasks with options.
pub(super) const NARRATIVEQA: Protocol = Protocol {
    benchmark: "narrativeqa",
    budgets: Sourced::paper(&[1_500, 5_000, 10_000, 20_000, 30_000, 40_000], "Stronger Baselines, Table 5"),
    repeats: Sourced::paper(1, "Stronger Baselines, Table 5: no deviation"),
    metrics: Sourced::code(
        &[Metric::F1V2, Metric::Bleu1, Metric::Bleu4, Metric::RougeL, Metric::Meteor],
        "alex-laitenberger/dos-rag-eval 6ed1c8a, narrative_qa/eval.py:33-86; Stronger Baselines, Table 5",
    ),
    only: Sourced::code(Some("set=test"), "alex-laitenberger/dos-rag-eval 6ed1c8a, precreate_nodes.py"),
    keep_frame: Sourced::code(true, "alex-laitenberger/dos-rag-eval 6ed1c8a, preprocess_narrative.py:28")
        .but("there equal questions on a story merge, and texts are decoded as latin-1 first"),
    ..INFINITEBENCH
};

/// The whole corpus, retrieval over it and the memory agent; responses that are missing are in no denominator.
pub(super) const CORPUSQA: Protocol = Protocol {
    benchmark: "corpusqa",
    source: "CorpusQA, section 4.1 and appendix C",
    steps: Sourced::paper(
        &[
            Step::new(
                "full-document",
                || whole(PromptStyle::Corpusqa),
                &[
                    Sourced::open("overflow", "the paper tests no model on a set above its window"),
                    Sourced::paper("style", "CorpusQA, appendix C"),
                    Sourced::paper("together evidence", "CorpusQA, section 4.1"),
                    Sourced::open("prompt", "runs differ in their texts too: ours, by the requirements of appendix C")
                        .but("src/infer.py sends the row's own messages, as full-document with prompt=published does"),
                ],
            ),
            Step::new(
                "corpus-rag",
                || Rag::corpus().into(),
                &[
                    Sourced::open("split max_tokens", "the paper names no chunk; SagaScale's"),
                    Sourced::open("embedder", "the run's, see `embedder`"),
                    Sourced::open("fill order query", "the paper does not say; as DOS RAG"),
                    NO_NEIGHBOURS,
                    Sourced::paper("style", "CorpusQA, appendix C"),
                ],
            ),
            // It answers by MemAgent's own last prompt.
            Step::new(
                "memory-agent",
                || MemoryAgent { style: None, requirements: true, ..MemoryAgent::default() }.into(),
                &[
                    Sourced::code("section_tokens memory_tokens", MEM_AGENT),
                    Sourced::paper("max_context", "CorpusQA, section 4.1: the whole corpus is read")
                        .but("MemAgent's evaluation reads 120,000 tokens at most"),
                    Sourced::paper("temperature", "CorpusQA, section 4.1").but("MemAgent's evaluation has 0.7"),
                    Sourced::code("style", MEM_AGENT),
                    Sourced::open(
                        "requirements",
                        "appendix C says that all models had its prompt, not whether the agent's problem held it",
                    ),
                ],
            ),
        ],
        "CorpusQA, section 4.1",
    ),
    style: Some(PromptStyle::Corpusqa),
    budgets: Sourced::open(
        &[50_000],
        "the paper names none; about 100 chunks: what the 1M set can have of documents of 10,240 tokens or more, and less \
         than the larger sets have, for which Table 4 says that fewer chunks than documents were read, but for \
         Financial-en at 4M",
    ),
    repeats: Sourced::paper(1, "CorpusQA, section 4.1"),
    failures: Sourced::code(FailurePolicy::LeftOut, CORPUSQA_CODE),
    embedder: Sourced::open(
        Some(SAGASCALE_EMBEDDER),
        "the paper names none; SagaScale's knows the languages of all four domains",
    ),
    judges: Sourced::paper(&[Judge::CorpusQa], "CorpusQA, section 4.1 and appendix D"),
    judge_model: Sourced::paper(Some("DeepSeek-V3"), "CorpusQA, section 4.1"),
    max_output_tokens: Sourced::code(None, "Tongyi-Zhiwen/CorpusQA f5b5764, src/infer.py"),
    temperature: Sourced::paper(0.0, "CorpusQA, section 4.1"),
    metrics: Sourced::paper(&[], "CorpusQA, section 4.1: the judge's verdict"),
    conduct: Conduct {
        system: Sourced::code("none", CORPUSQA_CODE).but("there the row's own messages are sent unchanged"),
        answer: Sourced::code("the line behind `The answer is:`", CORPUSQA_EVAL),
        ..Conduct::OWN
    },
    ..Protocol::OWN
};

/// HAMLET's protocol: one query-focused summary a query, judged against the key facts and the text of its chunk.
pub(super) const HAMLET: Protocol = Protocol {
    benchmark: "hamlet",
    source: "HAMLET, section 3 and appendices D and E",
    steps: Sourced::paper(
        &[Step::new(
            "query-summary",
            || QuerySummary::default().into(),
            &[Sourced::open("overflow", "every book of the paper fits")],
        )],
        "HAMLET, section 3.2",
    ),
    repeats: Sourced::paper(1, "HAMLET, section 3.2"),
    failures: Sourced::open(FailurePolicy::Wrong, "the paper names no treatment"),
    tokenizer: Sourced::paper(PaperTokenizer::Cl100k, "HAMLET, appendix A: tiktoken")
        .but("the paper does not say which of tiktoken's encodings"),
    judges: Sourced::paper(&[Judge::AlignKeyFacts, Judge::VerifyFacts], "HAMLET, appendix E"),
    judge_model: Sourced::paper(Some("GPT-4o"), "HAMLET, section 3.3.2"),
    temperature: Sourced::paper(0.0, "HAMLET, appendix D"),
    metrics: Sourced::paper(&[], "HAMLET, section 3.3.1: recall and faithfulness by the judges"),
    conduct: Conduct {
        window: Sourced::paper("each model's own, where it is known", "HAMLET, Table 11"),
        answer: Sourced::paper("the whole response is the summary", "HAMLET, section 3.2"),
        ..Conduct::OWN
    },
    ..Protocol::OWN
};
