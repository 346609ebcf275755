//! Shapes of what an index tells, as JavaScript sees them; `index.d.ts` has the same in TypeScript.

use serde::Serialize;

/// The facts of a book.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BookFacts<'b> {
    pub(super) name: &'b str,
    pub(super) title: &'b str,
    pub(super) language: &'b str,
    pub(super) encoding: &'b str,
    pub(super) n_bytes: usize,
    pub(super) first_passage: usize,
    pub(super) n_passages: usize,
    pub(super) n_tokens: usize,
}

/// A passage without its text.
#[derive(Serialize)]
pub(super) struct Place {
    pub(super) index: usize,
    pub(super) book: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) score: f64,
    pub(super) tokens: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Retrieved {
    pub(super) tokens: usize,
    /// Absent where no evidence is known.
    pub(super) recall: Option<f64>,
    pub(super) n_passages: usize,
    pub(super) n_matched: usize,
    pub(super) spans: Vec<Stretch>,
    pub(super) passages: Vec<Place>,
}

/// Passages that follow each other.
#[derive(Serialize)]
pub(super) struct Stretch {
    pub(super) book: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Serialize)]
pub(super) struct Chapter {
    pub(super) title: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecallAt {
    pub(super) budget: usize,
    pub(super) tokens: usize,
    pub(super) recall: Option<f64>,
    pub(super) n_passages: usize,
    pub(super) n_places: usize,
}

#[derive(Serialize)]
pub(super) struct FoundEvidence {
    pub(super) places: Vec<Option<EvidencePlace>>,
    pub(super) notes: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct EvidencePlace {
    pub(super) book: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The scores of a ranking, each in 0 to 1.
#[derive(Serialize)]
pub(super) struct RankingScores {
    pub(super) mrr: f64,
    /// Share of the bytes within the budget that are evidence.
    pub(super) precision: f64,
    pub(super) at: Vec<ScoresAt>,
}

#[derive(Serialize)]
pub(super) struct ScoresAt {
    pub(super) k: usize,
    pub(super) hit: f64,
    pub(super) ndcg: f64,
    pub(super) precision: f64,
    pub(super) recall: f64,
}
