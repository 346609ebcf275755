//! Shapes of what an index tells, as JavaScript sees them; their types in TypeScript are generated.

use serde::Serialize;

/// What is known of a book that was read.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub(crate) struct BookFacts<'b> {
    /// Name of the book.
    pub(super) name: &'b str,
    /// Title in an EPUB's metadata; else empty.
    pub(super) title: &'b str,
    /// Language as ISO 639-1 code, given or detected.
    pub(super) language: &'b str,
    /// Encoding of the file; `EPUB` for one.
    pub(super) encoding: &'b str,
    /// Bytes of the whole file as decoded to UTF-8: what offsets count.
    pub(super) n_bytes: usize,
    /// Number of the first passage in the index, from 0.
    pub(super) first_passage: usize,
    /// Number of passages.
    pub(super) n_passages: usize,
    /// Tokens of all passages.
    pub(super) n_tokens: usize,
}

/// Bytes `start` to `end` of a book, by its number.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct Place {
    /// Number of the book, from 0.
    pub(super) book: usize,
    /// First byte.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
}

/// A passage without its text.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct RetrievedPassage {
    /// Number in document order, from 0.
    pub(super) index: usize,
    /// Number of the book, from 0.
    pub(super) book: usize,
    /// First byte.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// Score under the retriever.
    pub(super) score: f64,
    /// Tokens of its text.
    pub(super) tokens: usize,
}

/// Passages without their texts.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Retrieved {
    /// Sum of all passages' tokens.
    pub(super) tokens: usize,
    /// Share of the evidence inside them, 0 to 1; `null` where none is known.
    pub(super) recall: Option<f64>,
    /// Number of passages.
    pub(super) n_passages: usize,
    /// Number of these that the ranking gave more than 0: under BM25, those that share a word with the question.
    pub(super) n_matched: usize,
    /// Places that they cover, in document order; passages that follow each other are one.
    pub(super) spans: Vec<Place>,
    /// The passages in the order asked for, the first `first` of them.
    pub(super) passages: Vec<RetrievedPassage>,
}

/// A chapter from its heading to the next one, in bytes.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct Chapter {
    /// Words of the heading.
    pub(super) title: String,
    /// First byte in the book.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
}

/// The passages that fit a budget, by the evidence.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecallAt {
    /// Most tokens of all passages together.
    pub(super) budget: usize,
    /// Sum of the passages' tokens.
    pub(super) tokens: usize,
    /// Share of the evidence, 0 to 1; `null` where none is known.
    pub(super) recall: Option<f64>,
    /// Number of passages.
    pub(super) n_passages: usize,
    /// Number of places; passages that follow each other are one.
    pub(super) n_places: usize,
}

/// The places of evidence.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct FoundEvidence {
    /// The place of each piece, in the order given; `null` for one that was not found.
    pub(super) places: Vec<Option<Place>>,
    /// Notes for people.
    pub(super) notes: Vec<String>,
}

/// The scores of a ranking by the evidence, each 0 to 1, as `closeread retrieve` has them.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct RankingScores {
    /// One over the rank of the first passage that holds evidence.
    pub(super) mrr: f64,
    /// Share of the bytes within the budget that are evidence.
    pub(super) precision: f64,
    /// Scores of the first passages, for several numbers of them.
    pub(super) at: Vec<ScoresAt>,
}

/// The scores of the first `k` passages of a ranking, each 0 to 1.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct ScoresAt {
    /// Number of passages.
    pub(super) k: usize,
    /// 1 if one of them holds evidence, else 0.
    pub(super) hit: f64,
    /// Normalised discounted cumulative gain.
    pub(super) ndcg: f64,
    /// Share of the passages that hold evidence.
    pub(super) precision: f64,
    /// Share of the evidence that they hold.
    pub(super) recall: f64,
}

/// The next passages to embed.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct ToEmbed {
    /// Numbers of the passages.
    pub(super) passages: Vec<usize>,
    /// Their texts.
    pub(super) texts: Vec<String>,
}
