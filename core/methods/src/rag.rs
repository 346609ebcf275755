//! Retrieve once, ask once: vanilla and DOS RAG (Stronger Baselines 2.3), naive RAG (SagaScale 4.1), RAG over a corpus
//! (CorpusQA 4.1).

use super::cost::{Cost, Range, Sizes};
use super::style::{View, options_of};
use super::{Answer, Method, MethodError, Passages, Preset, PromptStyle, Questions, SAGASCALE_EMBEDDER, Session, Stop};
use crate::Host;
use closeread_eval::Item;
use closeread_retrieve::context::{Fill, PassageOrder, fill};
use closeread_retrieve::{PassageIndex, Ranked, Ranking};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Name of the measure of chunks in the context.
pub const CHUNKS: &str = "chunks";
/// Name of the measure of documents that some chunk in the context is from.
pub const DOCUMENTS_READ: &str = "documents_read";
/// Name of the measure of documents that the item is about.
pub const DOCUMENTS: &str = "documents";
/// Measure: 1 where the context holds fewer chunks than there are documents, so that no answer over all documents can
/// be right (Table 4, dagger), else 0.
pub const FEWER_CHUNKS_THAN_DOCUMENTS: &str = "fewer_chunks_than_documents";

/// Ranks the passages by the question, takes the best, shows them to the reader.
///
/// Vanilla and DOS RAG take the same passages and differ in their order alone. Where the prompt has the documents under
/// headings, the measures [`CHUNKS`], [`DOCUMENTS_READ`], [`DOCUMENTS`] and [`FEWER_CHUNKS_THAN_DOCUMENTS`] say how many
/// of them are in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rag {
    /// The passages that are searched.
    #[serde(flatten)]
    pub passages: Passages,
    /// How much of the ranking to take.
    #[serde(flatten)]
    pub select: Select,
    /// Number of neighbouring passages to take on each side of a ranked one; the papers have none.
    pub neighbours: usize,
    /// The order in which the passages stand. SagaScale names none; best first is what a retriever returns.
    pub order: PassageOrder,
    /// The query that is searched for.
    pub query: QueryForm,
    /// Paper whose prompt and answer form the method uses.
    pub style: PromptStyle,
}

/// How much of a ranking to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Select {
    /// The best within the budget.
    Budget {
        /// What to do at a passage that does not fit the rest of the budget.
        fill: Fill,
    },
    /// The best `top_k` passages.
    Top {
        /// Number of passages.
        top_k: usize,
    },
}

/// The query that is searched for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryForm {
    /// The bare question.
    #[default]
    Question,
    /// The question, a line `Options:` and a line `[[1]]: ...` an option (Stronger Baselines: dos-rag-eval, `RAG.py`).
    WithOptions,
}

impl QueryForm {
    /// The query for an item.
    pub fn of(self, item: &Item) -> Cow<'_, str> {
        match (self, options_of(item)) {
            (Self::WithOptions, options @ [_, ..]) => {
                let lines = options.iter().enumerate().map(|(n, option)| format!("\n[[{}]]: {option}", n + 1));
                Cow::Owned(format!("{}\nOptions:{}", item.question, lines.collect::<String>()))
            }
            _ => Cow::Borrowed(&item.question),
        }
    }
}

impl Select {
    /// The best of a ranking, best first, by the tokens of each passage.
    fn take(self, mut ranking: Ranking, n_tokens: &[usize], budget: usize) -> Vec<Ranked> {
        match self {
            Self::Budget { fill: overflow } => fill(&ranking, n_tokens, budget, overflow).passages,
            Self::Top { top_k } => {
                ranking.truncate(top_k);
                ranking
            }
        }
    }

    /// Returns how many of a ranking are looked at.
    fn most(self, n_tokens: &[usize], budget: usize) -> usize {
        match self {
            Self::Budget { fill: Fill::Skip } => usize::MAX,
            // Each takes a token or more of the budget, but for those that have none; one more does not fit.
            Self::Budget { fill: Fill::Stop } => {
                let without = n_tokens.iter().filter(|&&n| n == 0).count();
                budget.saturating_add(without).saturating_add(1)
            }
            Self::Top { top_k } => top_k,
        }
    }

    /// Tokens of what is taken of a text, with what stands between the passages.
    fn tokens(self, passages: &Passages, style: PromptStyle, sizes: &Sizes<'_>) -> Range {
        let passage = passages.max_tokens as u64;
        match self {
            Self::Budget { .. } => sizes.within_budget(passage, style),
            Self::Top { top_k } => sizes.top(top_k as u64, passage, style),
        }
    }
}

impl Rag {
    /// Makes Stronger Baselines' vanilla RAG.
    pub fn vanilla() -> Self {
        Self {
            passages: Passages::sentences(100),
            select: Select::Budget { fill: Fill::Stop },
            neighbours: 0,
            order: PassageOrder::Score,
            query: QueryForm::Question,
            style: PromptStyle::DosRag,
        }
    }

    /// Makes Stronger Baselines' DOS RAG.
    pub fn dos() -> Self {
        Self { order: PassageOrder::Document, ..Self::vanilla() }
    }

    /// Makes SagaScale's naive RAG.
    pub fn naive() -> Self {
        Self {
            passages: Passages::windows(512).embedded_by(SAGASCALE_EMBEDDER),
            select: Select::Top { top_k: 3 },
            style: PromptStyle::Sagascale,
            ..Self::vanilla()
        }
    }

    /// CorpusQA's RAG. The paper names no length of a chunk; this is SagaScale's.
    pub fn corpus() -> Self {
        Self { passages: Passages::windows(512), style: PromptStyle::Corpusqa, ..Self::dos() }
    }
}

impl Method for Rag {
    const PRESETS: &'static [Preset<Self>] = &[
        Preset::new(
            "vanilla-rag",
            "Stronger Baselines 2.3",
            "the best passages within a token budget, best first",
            Self::vanilla,
        ),
        Preset::new("dos-rag", "Stronger Baselines 2.3", "the same passages in document order", Self::dos),
        Preset::new("naive-rag", "SagaScale 4.1", "the best three passages of 512 tokens", Self::naive),
        Preset::new(
            "corpus-rag",
            "CorpusQA 4.1",
            "the best chunks of all documents within a token budget, under their documents' headings",
            Self::corpus,
        ),
    ];
    type Prepared = ();

    fn passages(&self) -> Option<&Passages> {
        Some(&self.passages)
    }

    fn ranks_passages(&self) -> bool {
        true
    }

    fn takes_budget(&self) -> bool {
        matches!(self.select, Select::Budget { .. })
    }

    async fn answer<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        _prepared: Option<&()>,
    ) -> Result<Vec<Answer>, Stop> {
        let index = session.index()?;
        let most = self.select.most(index.n_tokens(), session.budget());
        let ranking = session.rank(&self.query.of(questions.first()), self.neighbours, most).await?;
        let chosen = self.order.of(self.select.take(ranking, index.n_tokens(), session.budget()));
        if self.style.heads_documents() {
            count_documents(session, index, &chosen);
        }
        session.read_passages(questions, &chosen, self.style).await
    }

    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
        let text = self.select.tokens(&self.passages, self.style, sizes);
        Ok(sizes.reading(questions, self.style, View::Passages, text)?.into())
    }
}

fn count_documents<H: Host>(session: &mut Session<'_, H>, index: &PassageIndex, chosen: &[Ranked]) {
    let documents = |ranked: &Ranked| index.passages()[ranked.idx].book;
    let read: BTreeSet<usize> = chosen.iter().map(documents).collect();
    let (chunks, all) = (chosen.len(), session.books().len());
    session.measure(CHUNKS, chunks);
    session.measure(DOCUMENTS_READ, read.len());
    session.measure(DOCUMENTS, all);
    session.measure(FEWER_CHUNKS_THAN_DOCUMENTS, usize::from(chunks < all));
}
