//! Ranking the passages of an index.

use super::arriving::ArrivingVectors;
use super::dense::{cosine_ranking, cosine_ranking_of_blocks};
use super::error::IndexError;
use super::fusion::reciprocal_rank_fusion;
use super::passage_index::{PassageIndex, PassageVectors};
use super::ranking::Ranking;
use super::retriever::Retriever;

impl PassageIndex {
    /// Every passage by how well it matches the query, best first.
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
        let dense = || match (&self.vectors, query_vector) {
            (Some(PassageVectors::Memory(vectors)), Some(query)) => {
                let dimensions = IndexError::Dimension { query: query.len(), passages: vectors.dimension() };
                let fits = vectors.is_empty() || vectors.dimension() == query.len();
                if fits { Ok(cosine_ranking(query, vectors.rows())) } else { Err(dimensions) }
            }
            (Some(PassageVectors::Blocks(blocks)), Some(query)) => cosine_ranking_of_blocks(query, blocks.as_ref()),
            _ => Err(IndexError::NoVectors(retriever.name())),
        };
        Ok(match retriever {
            Retriever::Dense => dense()?,
            Retriever::Bm25 => self.bm25.ranking(query),
            Retriever::Hybrid => self.fused(query, &dense()?),
        })
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
