//! Searching: queries, vectors, rankings, and how a record names what was found.

use super::Session;
use crate::Host;
use crate::record::Context;
use crate::trial::{MethodError, Stop};
use closeread_embed::{PairScores, Role, Vectors};
use closeread_eval::PassageRef;
use closeread_llm::HostError;
use closeread_retrieve::context::with_neighbours;
use closeread_retrieve::{PassageIndex, Ranked, Ranking, reranked};

/// Measure: passages that lost their end because the reranker takes no more.
pub const CUT_FOR_RERANKING: &str = "cut_for_reranking";

impl<H: Host> Session<'_, H> {
    /// Passages by how well they match the query, best first, each with its neighbours right behind it; the best of them in
    /// a reranker's order, where the session has one. There are `most` of them or more, or all: that is as far as a caller looks.
    ///
    /// # Errors
    /// [`Stop`] if the query cannot be embedded, the index cannot rank, or the reranker fails.
    pub async fn rank(&mut self, query: &str, neighbours: usize, most: usize) -> Result<Ranking, Stop> {
        let index = self.index()?;
        let vector = self.query_vector(query).await?;
        // A neighbour comes from wherever it stands.
        let most = if neighbours == 0 { most.max(self.rerank_from.unwrap_or(0)) } else { usize::MAX };
        let ranking = index.best(self.retriever, query, vector.as_deref(), most)?;
        let ranking = match self.rerank_from {
            Some(from) => self.rerank(query, ranking, from).await?,
            None => ranking,
        };
        Ok(with_neighbours(ranking, neighbours, |idx| index.passages()[idx].book))
    }

    /// The ranking with the best `from` passages in the reranker's order.
    async fn rerank(&mut self, query: &str, ranking: Ranking, from: usize) -> Result<Ranking, Stop> {
        let texts = self.texts(ranking.iter().take(from).map(|ranked| ranked.idx)).await?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        if texts.is_empty() {
            return Ok(ranking);
        }
        let PairScores { scores, n_cut } = self.host().rerank(query, &texts).await?;
        if scores.len() != texts.len() || scores.iter().any(|score| !score.is_finite()) {
            let (found, expected) = (scores.len(), texts.len());
            let problem = format!("{found} scores for {expected} passages, all of which must be finite numbers");
            return Err(HostError::Reranking(problem).into());
        }
        for _ in 0..n_cut {
            self.count(CUT_FOR_RERANKING);
        }
        Ok(reranked(ranking, &scores))
    }

    /// The vector of a query, where the retriever needs one.
    ///
    /// # Errors
    /// [`Stop`] if it cannot be embedded.
    pub async fn query_vector(&self, query: &str) -> Result<Option<Vec<f32>>, Stop> {
        match self.retriever.needs_vectors() {
            true => Ok(Some(self.embed_query(query).await?)),
            false => Ok(None),
        }
    }

    /// The vector of one query.
    ///
    /// # Errors
    /// [`Stop`] if it cannot be embedded.
    pub async fn embed_query(&self, query: &str) -> Result<Vec<f32>, Stop> {
        Ok(self.embed(Role::Query, &[query]).await?.row(0).to_vec())
    }

    /// Returns one vector a text.
    ///
    /// # Errors
    /// [`Stop`] if they cannot be embedded.
    pub async fn embed_passages(&self, texts: &[&str]) -> Result<Vectors, Stop> {
        self.embed(Role::Passage, texts).await
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vectors, Stop> {
        let vectors = self.host.embed(role, texts).await?;
        match vectors.len() == texts.len() {
            true => Ok(vectors),
            false => Err(HostError::Embedding(format!("{} vectors for {} texts", vectors.len(), texts.len())).into()),
        }
    }

    /// Passages of the index as a record names what a reader was given.
    ///
    /// # Errors
    /// [`MethodError::NoIndex`].
    pub fn context_of(&self, passages: &[Ranked]) -> Result<Context, MethodError> {
        let index = self.index()?;
        Ok(Context {
            retriever: Some(self.retriever),
            reranked: self.rerank_from,
            n_tokens: passages.iter().map(|ranked| index.n_tokens()[ranked.idx]).sum(),
            passages: passages.iter().map(|ranked| reference(index, *ranked)).collect(),
        })
    }
}

/// A passage of the index as records name it.
pub(crate) fn reference(index: &PassageIndex, Ranked { idx, score }: Ranked) -> PassageRef {
    let passage = &index.passages()[idx];
    PassageRef {
        document: index.books()[passage.book].id.clone(),
        start: passage.span.start,
        end: passage.span.end,
        score: Some(score).filter(|score| score.is_finite()),
    }
}
