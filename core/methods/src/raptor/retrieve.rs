//! Retrieval from a tree: from a question to a context.

use super::parameters::{Raptor, TreeSearch};
use super::tree::Tree;
use crate::Host;
use crate::record::Context;
use crate::session::search::reference;
use crate::{Excerpt, MethodError, Session, Stop};
use closeread_retrieve::context::fill;
use closeread_retrieve::{Bm25, IndexError, Ranked, Ranking, Retriever, cosine, rank, reciprocal_rank_fusion};
use closeread_text::python;

/// Nodes that a traversal takes of each layer where no parameter says so.
const TRAVERSAL_TOP_K: usize = 5;

/// The nodes that a search of the tree found for a question.
pub(super) struct Found {
    /// The nodes' texts, each in one line, in the order in which they were taken.
    pub(super) passages: Vec<Excerpt>,
    /// The leaves among them by reference; the tokens are those of all.
    pub(super) context: Context,
    summaries: usize,
    summary_tokens: usize,
}

impl Found {
    /// Returns measures of what the context is made of.
    pub(super) fn measures(&self) -> [(&'static str, usize); 3] {
        [
            ("leaves", self.context.passages.len()),
            ("summaries", self.summaries),
            ("summary_tokens", self.summary_tokens),
        ]
    }
}

/// Searches the tree.
pub(super) async fn retrieve<H: Host>(
    session: &Session<'_, H>,
    tree: &Tree,
    question: &str,
    parameters: &Raptor,
) -> Result<Found, Stop> {
    let index = session.index()?;
    let vector = match (session.retriever().needs_vectors(), parameters.query_prefix) {
        (true, false) => Some(session.embed_passages(&[question]).await?.row(0).to_vec()),
        _ => session.query_vector(question).await?,
    };
    let mut ranking = ranking(session, tree, question, vector.as_deref()).await?;
    match parameters.mode {
        TreeSearch::Collapsed => ranking.truncate(parameters.top_k.unwrap_or(usize::MAX)),
        TreeSearch::Traversal => {
            let top_k = parameters.top_k.unwrap_or(TRAVERSAL_TOP_K);
            let depth = parameters.depth.unwrap_or(usize::MAX).min(tree.height());
            ranking = traversal(&ranking, tree.roots(), |node| tree.children(node), depth, top_k);
        }
    }
    let selection = fill(&ranking, &tree.n_tokens(), session.budget(), parameters.fill);
    let is_leaf = |ranked: &&Ranked| ranked.idx < tree.leaves.len();
    let summaries = || selection.passages.iter().filter_map(|ranked| tree.summary(ranked.idx));
    let mut leaves =
        session.texts(selection.passages.iter().filter(is_leaf).map(|ranked| ranked.idx)).await?.into_iter();
    let text = |ranked: &Ranked| match tree.summary(ranked.idx) {
        Some(summary) => in_one_line(&summary.text).into(),
        None => in_one_line(&leaves.next().unwrap_or_default()).into(),
    };
    Ok(Found {
        passages: selection.passages.iter().map(text).collect(),
        summaries: summaries().count(),
        summary_tokens: summaries().map(|summary| summary.n_tokens).sum(),
        context: Context {
            retriever: Some(session.retriever()),
            reranked: None,
            n_tokens: selection.n_tokens,
            passages: selection.passages.iter().filter(is_leaf).map(|r| reference(index, *r)).collect(),
        },
    })
}

/// Ranks every node, leaf or summary, by how well it matches the query, best first.
async fn ranking<H: Host>(
    session: &Session<'_, H>,
    tree: &Tree,
    query: &str,
    query_vector: Option<&[f32]>,
) -> Result<Ranking, Stop> {
    let index = session.index()?;
    let dense = || {
        let query_vector = query_vector.ok_or(IndexError::NoVectors(session.retriever().name()))?;
        if tree.summaries().any(|summary| summary.vector.len() != query_vector.len()) {
            let why = "the tree was embedded by another model than the question".to_owned();
            return Err(Stop::Error(MethodError::Unprepared(why)));
        }
        let mut scores = vec![0.0; tree.leaves.len()];
        for leaf in index.ranking(Retriever::Dense, query, Some(query_vector))? {
            scores[leaf.idx] = leaf.score;
        }
        scores.extend(tree.summaries().map(|summary| cosine(query_vector, &summary.vector)));
        Ok(rank(scores))
    };
    let words = async || {
        let leaves = session.texts(0..tree.leaves.len()).await?;
        let nodes = leaves.iter().chain(tree.summaries().map(|summary| &summary.text));
        Ok::<_, Stop>(Bm25::new(index.word_rule(), nodes).ranking(query))
    };
    Ok(match session.retriever() {
        Retriever::Dense => dense()?,
        Retriever::Bm25 => words().await?,
        Retriever::Hybrid => {
            let mut words = words().await?;
            words.retain(|ranked| ranked.score > 0.0);
            reciprocal_rank_fusion(tree.len(), &[&words, &dense()?])
        }
    })
}

/// Tree traversal: of the `start` nodes the `top_k` that rank best, then of all their children, for `depth` layers; all nodes
/// taken, in the order of the visit.
///
/// `ranking` holds every node. RAPTOR's code can also keep all nodes of a layer by a threshold, but keeps those farther away
/// than it; that is left out.
pub fn traversal<'t>(
    ranking: &Ranking,
    start: impl IntoIterator<Item = usize>,
    children: impl Fn(usize) -> &'t [usize],
    depth: usize,
    top_k: usize,
) -> Ranking {
    let mut place = vec![usize::MAX; ranking.len()];
    ranking.iter().enumerate().for_each(|(at, ranked)| place[ranked.idx] = at);
    let mut layer: Vec<usize> = start.into_iter().collect();
    let mut visited = Ranking::new();
    for _ in 0..depth {
        layer.sort_unstable_by_key(|&node| place[node]);
        layer.dedup();
        layer.truncate(top_k);
        visited.extend(layer.iter().map(|&node| ranking[place[node]]));
        layer = layer.into_iter().flat_map(|node| children(node).iter().copied()).collect();
    }
    visited
}

/// The texts of nodes as RAPTOR's code hands them to a model: each on one line, each followed by a blank line.
pub fn node_text<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(|text| in_one_line(text) + "\n\n").collect()
}

fn in_one_line(text: &str) -> String {
    python::splitlines(text).collect::<Vec<_>>().join(" ")
}
