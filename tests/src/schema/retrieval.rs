//! Cosine ranking, the filling of a token budget, tree traversal and the mixture model, after RAPTOR's code.

use super::compare;
use super::kind::Schema;
use crate::report::{FileReport, label, list};
use closeread_methods::cluster::{GaussianMixture, Points};
use closeread_methods::{node_text, traversal};
use closeread_retrieve::context::{Fill, PassageOrder, Selection, fill};
use closeread_retrieve::cosine_ranking;
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "retrieval", version: "1", run };

/// Tolerance of similarities, log-likelihoods and posteriors. The order must agree exactly.
const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct Budget {
    query: Vec<f64>,
    passage_embeddings: Vec<Vec<f64>>,
    passage_tokens: Vec<usize>,
    /// Number of best passages to consider.
    top_k: usize,
    /// Budget in tokens.
    budget: usize,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    /// Similarity of each passage, in document order.
    cosine_similarity: Vec<f64>,
    /// Indices of all passages, best first.
    rank_order: Vec<usize>,
    vanilla_order_stop_at_first_overflow: Vec<usize>,
    document_order: Vec<usize>,
    tokens_used: usize,
    contrast_skip_on_overflow: Vec<usize>,
}

#[derive(Deserialize)]
struct Traversal {
    query: Vec<f64>,
    nodes: Vec<Node>,
    /// Nodes at which the traversal begins.
    start_nodes: Vec<usize>,
    layers: usize,
    top_k: usize,
    expected: Visit,
}

#[derive(Deserialize)]
struct Node {
    /// Index in the list of nodes.
    index: usize,
    children: Vec<usize>,
    embedding: Vec<f64>,
}

#[derive(Deserialize)]
struct Visit {
    selected_per_visit_order: Vec<usize>,
}

#[derive(Deserialize)]
struct Join {
    input: Vec<String>,
    expected: String,
}

#[derive(Deserialize)]
struct Mixture {
    points: Vec<Vec<f64>>,
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    /// Covariance matrices, row by row.
    covariances: Vec<Vec<Vec<f64>>>,
    /// Posterior above which a point belongs to a component.
    threshold: f64,
    expected: Fitted,
}

#[derive(Deserialize)]
struct Fitted {
    mean_log_likelihood: f64,
    bic: f64,
    free_parameters: usize,
    /// Posteriors of the first few points.
    first_responsibilities: Vec<Vec<f64>>,
    assignments_above_threshold: Vec<Vec<usize>>,
}

fn run(file: &Value, report: &mut FileReport) {
    for (position, case) in list(file, "cases").enumerate() {
        match case.get("group").and_then(Value::as_str) {
            Some("budget") => report.case(&label(case, "cases", position), || budget(case)),
            Some("tree_traversal") => report.case(&label(case, "cases", position), || tree_traversal(case)),
            Some("node_text_join") => report.case(&label(case, "cases", position), || node_text_join(case)),
            Some("gaussian_mixture") => report.case(&label(case, "cases", position), || gaussian_mixture(case)),
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
    let stopped = filled(Fill::Stop);
    compare::same("passage by score", &passages(&stopped), &expected.vanilla_order_stop_at_first_overflow)?;
    compare::same("tokens used", &[stopped.n_tokens], &[expected.tokens_used])?;
    let in_document_order = passages(&stopped.ordered(PassageOrder::Document));
    compare::same("passage by place", &in_document_order, &expected.document_order)?;
    let skipped = passages(&filled(Fill::Skip));
    compare::same("passage when skipping", &skipped, &expected.contrast_skip_on_overflow)
}

fn tree_traversal(case: &Value) -> Result<(), String> {
    let case: Traversal = compare::parse(case)?;
    if let Some(node) = case.nodes.iter().enumerate().find(|(place, node)| node.index != *place) {
        return Err(format!("node {} stands at place {} of `nodes`", node.1.index, node.0));
    }
    let ranking = cosine_ranking(&case.query, case.nodes.iter().map(|node| node.embedding.as_slice()));
    let children = |node: usize| case.nodes[node].children.as_slice();
    let visited = traversal(&ranking, case.start_nodes, children, case.layers, case.top_k);
    let visited: Vec<usize> = visited.iter().map(|ranked| ranked.idx).collect();
    compare::same("node visited", &visited, &case.expected.selected_per_visit_order)
}

fn node_text_join(case: &Value) -> Result<(), String> {
    let case: Join = compare::parse(case)?;
    compare::same("text", &[node_text(case.input.iter().map(String::as_str))], &[case.expected])
}

fn gaussian_mixture(case: &Value) -> Result<(), String> {
    let case: Mixture = compare::parse(case)?;
    let expected = &case.expected;
    let dimension = case.means.first().map_or(1, Vec::len);
    let points = |rows: &[Vec<f64>]| Points::new(dimension, rows.concat());
    let covariances: Vec<Vec<f64>> = case.covariances.iter().map(|rows| rows.concat()).collect();
    let mixture = GaussianMixture::new(&case.weights, &points(&case.means), &covariances)
        .ok_or("a covariance is not positive definite")?;
    let points = points(&case.points);
    compare::same("free parameters", &[mixture.n_parameters()], &[expected.free_parameters])?;
    let likelihood = mixture.mean_log_likelihood(&points);
    compare::close("mean log-likelihood", likelihood, expected.mean_log_likelihood, TOLERANCE)?;
    // A sum over the points, so the tolerance is relative.
    compare::close("BIC", mixture.bic(&points), expected.bic, TOLERANCE * expected.bic.abs().max(1.0))?;
    let posteriors = mixture.responsibilities(&points);
    for (point, (got, expected)) in posteriors.iter().zip(&expected.first_responsibilities).enumerate() {
        for (component, (got, expected)) in got.iter().zip(expected).enumerate() {
            compare::close(
                &format!("posterior of component {component} for point {point}"),
                *got,
                *expected,
                TOLERANCE,
            )?;
        }
    }
    let memberships = mixture.memberships(&points, case.threshold);
    compare::same("memberships of point", &memberships, &expected.assignments_above_threshold)
}

fn passages(selection: &Selection) -> Vec<usize> {
    selection.passages.iter().map(|ranked| ranked.idx).collect()
}
