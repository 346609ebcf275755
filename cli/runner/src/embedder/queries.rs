//! Queries that a server embeds. Each is remembered by itself: which ones are asked together depends on what a run lacks.

use super::Embedder;
use super::served::Served;
use closeread_embed::{Embedded, Role, Vectors};

impl Embedder {
    /// Returns one vector a query; only those that are not remembered are asked for.
    pub(super) fn queries_on(
        &self,
        served: &Served,
        queries: &[&str],
        progress: impl FnMut(usize),
    ) -> anyhow::Result<Embedded> {
        let dimension = served.dimension();
        let key = |query: &str| self.key(Role::Query, &[query]);
        let mut parts: Vec<Option<Embedded>> =
            queries.iter().map(|query| self.cache.get(&key(query), dimension, 1)).collect();
        let new: Vec<&str> =
            queries.iter().zip(&parts).filter(|(_, part)| part.is_none()).map(|(query, _)| *query).collect();
        if !new.is_empty() {
            let made = self.compute_on(served, Role::Query, &new, progress)?.vectors;
            self.cache.forget(&self.key(Role::Query, &new));
            let open = parts.iter_mut().filter(|part| part.is_none());
            for ((part, query), vector) in open.zip(new).zip(made.rows()) {
                let n_cut = usize::from(served.prepared(Role::Query, query).1);
                let one = Embedded { vectors: Vectors::new(dimension, vector.to_vec()), n_cut };
                self.cache.put(&key(query), &one);
                *part = Some(one);
            }
        }
        let n_cut = parts.iter().flatten().map(|part| part.n_cut).sum();
        let values = parts.into_iter().flatten().flat_map(|part| part.vectors.into_values()).collect();
        Ok(Embedded { vectors: Vectors::new(dimension, values), n_cut })
    }
}
