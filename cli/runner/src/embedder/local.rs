//! An installed embedding model, computed here on all cores.

use super::backend::{AnyBackend, Choice};
use crate::models::{Installed, ONNX, SPEC, TOKENIZER};
use crate::spread::{cores, spread};
use anyhow::Context;
use closeread_embed::{Embedded, EmbeddingModel, Role, TokenIds, Unit, Vectors, gather};
use std::sync::OnceLock;

/// Texts a thread tokenises at a time.
const TOKENIZE_CHUNK: usize = 64;

/// An installed model; it is prepared by the first text that is to be computed.
#[derive(Debug)]
pub(super) struct Local {
    model: Installed,
    encoder: OnceLock<EmbeddingModel<AnyBackend>>,
    backend: Choice,
    n_threads: usize,
}

impl Local {
    pub(super) fn new(model: &Installed, backend: Choice) -> Self {
        Self { model: model.clone(), encoder: OnceLock::new(), backend, n_threads: cores() }
    }

    pub(super) fn model(&self) -> &Installed {
        &self.model
    }

    pub(super) fn backend(&self) -> &Choice {
        &self.backend
    }

    /// Returns everything but role and texts that a vector depends on.
    pub(super) fn determines(&self) -> anyhow::Result<Vec<Vec<u8>>> {
        let mut parts = vec![self.backend.name().as_bytes().to_vec()];
        for name in [ONNX, TOKENIZER, SPEC] {
            parts.push(self.model.sha256(name)?.into_bytes());
        }
        parts.extend(self.backend.calibration(&self.model)?);
        Ok(parts)
    }

    pub(super) fn compute(
        &self,
        role: Role,
        texts: &[&str],
        mut progress: impl FnMut(usize),
    ) -> anyhow::Result<Embedded> {
        let encoder = self.encoder()?;
        let chunks: Vec<&[&str]> = texts.chunks(TOKENIZE_CHUNK).collect();
        let tokenize = async |chunk: usize| {
            let tokens = chunks[chunk].iter().enumerate();
            tokens
                .map(|(at, text)| encoder.tokenize(role, chunk * TOKENIZE_CHUNK + at, text))
                .collect::<Result<Vec<_>, _>>()
        };
        let tokens: Vec<TokenIds> =
            spread(self.n_threads, chunks.len(), tokenize, |_| {}).into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        let units: Vec<Unit> = encoder.plan(&tokens);
        let mut n_done = 0;
        let parts = spread(
            self.n_threads,
            units.len(),
            async |unit| encoder.encode_unit(&units[unit], &tokens).await,
            |unit| {
                n_done += units[unit].texts.len();
                progress(n_done);
            },
        );
        let parts: Vec<Vectors> = parts.into_iter().collect::<Result<_, _>>()?;
        Ok(gather(self.model.spec.dimension, &tokens, &units, &parts))
    }

    fn encoder(&self) -> anyhow::Result<&EmbeddingModel<AnyBackend>> {
        if let Some(encoder) = self.encoder.get() {
            return Ok(encoder);
        }
        let spec = &self.model.spec;
        let load = || {
            let backend = self.backend.load(&self.model)?;
            anyhow::Ok(EmbeddingModel::new(spec.clone(), &self.model.file(TOKENIZER)?, backend)?)
        };
        let encoder = load().with_context(|| format!("embedding model `{}` ({})", spec.name, self.model.place()))?;
        // Two threads may both have loaded it; the first one's stays.
        Ok(self.encoder.get_or_init(|| encoder))
    }

    /// Returns whether a text had to be computed.
    #[cfg(test)]
    pub(super) fn is_loaded(&self) -> bool {
        self.encoder.get().is_some()
    }
}
