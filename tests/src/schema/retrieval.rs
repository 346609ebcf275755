//! Cosine ranking and the filling of a token budget, after RAPTOR's collapsed tree.

use super::{Schema, compare};
use crate::report::{FileReport, label, list};
use closeread_core::index::cosine_ranking;
use closeread_core::retrieve::{Overflow, PassageOrder, Selection, fill};
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "retrieval", version: "1", run };

/// Of a cosine similarity; the order must agree exactly.
const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct Budget {
    query: Vec<f64>,
    passage_embeddings: Vec<Vec<f64>>,
    passage_tokens: Vec<usize>,
    /// Only so many of the best passages are looked at.
    top_k: usize,
    /// In tokens.
    budget: usize,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    /// One a passage, in document order.
    cosine_similarity: Vec<f64>,
    /// All passages, best first.
    rank_order: Vec<usize>,
    vanilla_order_stop_at_first_overflow: Vec<usize>,
    document_order: Vec<usize>,
    tokens_used: usize,
    contrast_skip_on_overflow: Vec<usize>,
}

fn run(file: &Value, report: &mut FileReport) {
    for (position, case) in list(file, "cases").enumerate() {
        match case.get("group").and_then(Value::as_str) {
            Some("budget") => report.case(&label(case, "cases", position), || budget(case)),
            Some(group) => report.not_yet(&format!("retrieval: group {group} has no code yet"), 1),
            None => report.case(&label(case, "cases", position), || Err("case has no `group`".to_owned())),
        }
    }
}

fn budget(case: &Value) -> Result<(), String> {
    let case: Budget = compare::parse(case)?;
    let expected = &case.expected;
    let mut ranking = cosine_ranking(&case.query, case.passage_embeddings.iter().map(Vec::as_slice));
    let order: Vec<_> = ranking.iter().map(|ranked| ranked.idx).collect();
    compare::same("rank", &order, &expected.rank_order)?;
    for ranked in &ranking {
        let similarity = expected.cosine_similarity[ranked.idx];
        compare::close(&format!("cosine of passage {}", ranked.idx), ranked.score, similarity, TOLERANCE)?;
    }

    ranking.truncate(case.top_k);
    let filled = |overflow| fill(&ranking, &case.passage_tokens, case.budget, overflow);
    let stopped = filled(Overflow::Stop);
    compare::same("passage by score", &passages(&stopped), &expected.vanilla_order_stop_at_first_overflow)?;
    compare::same("tokens used", &[stopped.n_tokens], &[expected.tokens_used])?;
    let in_document_order = passages(&stopped.ordered(PassageOrder::Document));
    compare::same("passage by place", &in_document_order, &expected.document_order)?;
    let skipped = passages(&filled(Overflow::Skip));
    compare::same("passage when skipping", &skipped, &expected.contrast_skip_on_overflow)
}

fn passages(selection: &Selection) -> Vec<usize> {
    selection.passages.iter().map(|ranked| ranked.idx).collect()
}
