//! The pipelines that Stronger Baselines compares, as its authors' code has them.

use super::*;

/// Sources of vanilla RAG and of DOS RAG, which differ in the order of passages alone.
const OF_RAG: [Sourced<&str>; 7] = [
    Sourced::code("split max_tokens", "alex-laitenberger/dos-rag-eval 6ed1c8a, source/method/utils.py:26-63")
        .but("there the pieces of a part above the cap stand before the passage that was open"),
    Sourced::paper("embedder", "Stronger Baselines, appendix A.1: the run's, see `embedder`"),
    Sourced::code("fill", DOS_EXPERIMENT),
    NO_NEIGHBOURS,
    Sourced::paper("style", "Stronger Baselines, appendix A.8"),
    Sourced::code("query", DOS_RAG),
    Sourced::paper("order", "Stronger Baselines, section 2.3"),
];

/// Passages, query and prompt as the authors' code has them.
fn published(rag: Rag) -> AnyMethod {
    Rag { passages: passages(), query: QueryForm::WithOptions, style: PromptStyle::StrongerBaselines, ..rag }.into()
}

fn passages() -> Passages {
    Passages { split: Chunker::StrongerBaselines, ..Passages::sentences(100) }
}

pub(super) const BASELINES: [Step; 4] = [
    Step::new(
        "vanilla-rag",
        || published(Rag::vanilla()),
        &OF_RAG,
    ),
    Step::new(
        "dos-rag",
        || published(Rag::dos()),
        &OF_RAG,
    ),
    Step::new(
        "raptor",
        || {
            let (query, style) = (QueryForm::WithOptions, PromptStyle::StrongerBaselines);
            Raptor { passages: passages(), query, query_prefix: false, style, ..Raptor::default() }.into()
        },
        &[
            Sourced::paper("split max_tokens", "Stronger Baselines, appendix A.7: DOS RAG's passages")
                .but("alex-laitenberger/raptor-eval f6330c4, raptor/utils.py:46-134 cuts sentences above the cap otherwise"),
            Sourced::paper("embedder", "Stronger Baselines, appendix A.7: the run's, see `embedder`"),
            Sourced::code("query query_prefix", "alex-laitenberger/raptor-eval f6330c4, RetrievalAugmentation.py; tree_retriever.py:146-170"),
            Sourced::paper("style", "Stronger Baselines, appendix A.8; alex-laitenberger/raptor-eval f6330c4, README"),
            Sourced::code("max_layers reduction_dimension membership cluster_tokens mode", RAPTOR_CODE),
            Sourced::code("summary_tokens", "alex-laitenberger/raptor-eval f6330c4, SummarizationModels.py:36-46"),
            Sourced::open("seed", "RAPTOR's code leaves UMAP unseeded; a run is to be repeatable"),
            Sourced::code(
                "top_k depth",
                "alex-laitenberger/raptor-eval f6330c4: its top_k never binds at passages of 50 tokens and more",
            ),
            Sourced::code("fill", DOS_EXPERIMENT),
        ],
    ),
    Step::new(
        "read-agent",
        || {
            let (unit, style) = (Unit::Sentence, Some(PromptStyle::StrongerBaselines));
            ReadAgent { unit, max_pages: 6, read_beyond: true, lettered: false, style, ..ReadAgent::default() }.into()
        },
        &[
            Sourced::paper("unit max_pages", "Stronger Baselines, appendix A.6"),
            Sourced::code("word_limit start_threshold min_words lookup", READ_AGENT_CODE),
            Sourced::code("read_beyond lettered", "alex-laitenberger/read-agent-eval c33870c, ReadAgent.py:138-179"),
            Sourced::code("style", "alex-laitenberger/read-agent-eval c33870c, QAModels.py:36-83"),
            Sourced::open("pagination", "the notebook's form and parser").but(
                "alex-laitenberger/read-agent-eval c33870c, RAModels.py:33-45 asks for responses that its utils.py:11-21 does not read, so \
                 that pages end at their last labels: pagination=last-label, which asks nobody",
            ),
        ],
    ),
];
