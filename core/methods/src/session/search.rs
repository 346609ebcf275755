//! Searching: queries, vectors, rankings, and how a record names what was found.

use super::Session;
use crate::Host;
use crate::record::Context;
use crate::trial::{MethodError, Stop};
use closeread_embed::{Role, Vectors};
use closeread_eval::PassageRef;
use closeread_llm::HostError;
use closeread_retrieve::context::with_neighbours;
use closeread_retrieve::{PassageIndex, Ranked, Ranking};

impl<H: Host> Session<'_, H> {
    /// Every passage by how well it matches the query, best first, each with its neighbours right behind it.
    ///
    /// # Errors
    /// [`Stop`] if the query cannot be embedded or the index cannot rank.
    pub async fn rank(&self, query: &str, neighbours: usize) -> Result<Ranking, Stop> {
        let index = self.index()?;
        let vector = self.query_vector(query).await?;
        let ranking = index.ranking(self.retriever, query, vector.as_deref())?;
        Ok(with_neighbours(ranking, neighbours, |idx| index.passages()[idx].book))
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

    /// One vector a text.
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
        score: Some(score),
    }
}
