//! Ranking the passages of an index.

use super::arriving::ArrivingVectors;
use super::dense::{cosine, cosines_of_blocks};
use super::error::IndexError;
use super::fusion::reciprocal_rank_fusion;
use super::passage_index::{PassageIndex, PassageVectors};
use super::ranking::{Ranking, best, rank};
use super::retriever::Retriever;

impl PassageIndex {
    /// Ranks every passage by how well it matches the query, best first.
    ///
    /// `query_vector` is the query's embedding; only [`Retriever::Bm25`] does without.
    ///
    /// # Errors
    /// [`IndexError`] if embeddings are needed and missing, cannot be read, or are another model's than the query's.
    pub fn ranking(
        &self,
        retriever: Retriever,
        query: &str,
        query_vector: Option<&[f32]>,
    ) -> Result<Ranking, IndexError> {
        self.best(retriever, query, query_vector, usize::MAX)
    }

    /// Returns the first `n` of [`PassageIndex::ranking`], sooner where they are few of many.
    ///
    /// # Errors
    /// As [`PassageIndex::ranking`].
    pub fn best(
        &self,
        retriever: Retriever,
        query: &str,
        query_vector: Option<&[f32]>,
        n: usize,
    ) -> Result<Ranking, IndexError> {
        let cosines = || self.cosines(query_vector.ok_or(IndexError::NoVectors(retriever.name()))?, retriever);
        Ok(match retriever {
            Retriever::Dense => best(cosines()?, n),
            Retriever::Bm25 => best(self.bm25.scores(query), n),
            Retriever::Hybrid => {
                let mut fused = self.fused(query, &rank(cosines()?));
                fused.truncate(n);
                fused
            }
        })
    }

    /// The similarity of every passage, in document order.
    fn cosines(&self, query: &[f32], retriever: Retriever) -> Result<Vec<f64>, IndexError> {
        let check = |is_empty: bool, passages: usize| match is_empty || passages == query.len() {
            true => Ok(()),
            false => Err(IndexError::Dimension { query: query.len(), passages }),
        };
        match &self.vectors {
            None => Err(IndexError::NoVectors(retriever.name())),
            Some(PassageVectors::Memory(vectors)) => {
                check(vectors.is_empty(), vectors.dimension())?;
                Ok(vectors.rows().map(|row| cosine(query, row)).collect())
            }
            Some(PassageVectors::Kept(vectors)) => {
                check(vectors.is_empty(), vectors.dimension())?;
                Ok(vectors.cosines(query))
            }
            Some(PassageVectors::Blocks(blocks)) => cosines_of_blocks(query, blocks.as_ref()),
        }
    }

    /// [`PassageIndex::ranking`] with the vectors that have come so far, and the query's if it has.
    ///
    /// A passage without one is not in the dense ranking, and in the fusion stands by its words alone. With all of them it
    /// is the ranking of an index into which they were put.
    pub fn ranking_so_far(
        &self,
        retriever: Retriever,
        query: &str,
        query_vector: Option<&[f32]>,
        vectors: &ArrivingVectors,
    ) -> Ranking {
        let dense = || query_vector.map(|query| vectors.ranking(query)).unwrap_or_default();
        match retriever {
            Retriever::Dense => dense(),
            Retriever::Bm25 => self.bm25.ranking(query),
            Retriever::Hybrid => self.fused(query, &dense()),
        }
    }

    fn fused(&self, query: &str, dense: &Ranking) -> Ranking {
        let mut words = self.bm25.ranking(query);
        words.retain(|ranked| ranked.score > 0.0);
        reciprocal_rank_fusion(self.passages().len(), &[&words, dense])
    }
}
