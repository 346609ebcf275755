//! Embedding on all cores, with a memory on disk.

mod backend;
mod cache;
mod collection;

pub(crate) use backend::BackendName;
pub(crate) use collection::{Collected, Collection};

use crate::models::{self, Installed, ONNX, SPEC, TOKENIZER};
use anyhow::Context;
use backend::{AnyBackend, Choice};
use cache::Cache;
use closeread_core::embed::{Embedded, Encoder, Role, TokenIds, Unit, Vectors, gather};
use closeread_core::hash::hex;
use sha2::{Digest, Sha256};
use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Raised whenever the same model and text would give other numbers than before.
const RESULT_VERSION: u32 = 2;
/// Texts a thread tokenises at a time.
const TOKENIZE_CHUNK: usize = 64;

/// A model that embeds texts on all cores and remembers on disk what it embedded.
#[derive(Debug)]
pub(crate) struct Embedder {
    model: Installed,
    /// Everything but role and texts that a vector depends on.
    fingerprint: [u8; 32],
    /// Loaded by the first text that is not remembered.
    encoder: OnceLock<Encoder<AnyBackend>>,
    backend: Choice,
    cache: Cache,
    n_threads: usize,
}

impl Embedder {
    /// Reads a model's files; the model itself is prepared by the first text that is not remembered.
    ///
    /// Remembered vectors live in `CLOSEREAD_CACHE`, or the user's cache folder.
    pub(crate) fn load(model: &Installed, backend: Option<BackendName>) -> anyhow::Result<Self> {
        Self::with_cache(model, backend, Cache::of_user())
    }

    /// The installed model of a name; the shipped one if none is given.
    pub(crate) fn named(name: Option<&str>, backend: Option<BackendName>) -> anyhow::Result<Self> {
        Self::load(&models::find(name.unwrap_or(models::SHIPPED))?, backend)
    }

    /// What computes the model, and in which precision.
    pub(crate) fn backend(&self) -> &'static str {
        self.backend.name()
    }

    /// SHA-256, in hex, of everything but role and texts that a vector depends on.
    pub(crate) fn fingerprint(&self) -> String {
        hex(&self.fingerprint)
    }

    fn with_cache(model: &Installed, backend: Option<BackendName>, cache: Cache) -> anyhow::Result<Self> {
        let backend = Choice::new(backend, &model.file(ONNX)?)?;
        let mut hash = Sha256::new();
        hash.update(RESULT_VERSION.to_le_bytes());
        hash.update((backend.name().len() as u64).to_le_bytes());
        hash.update(backend.name());
        for name in [ONNX, TOKENIZER, SPEC] {
            let bytes = model.file(name)?;
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(&bytes);
        }
        let n_threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let fingerprint = hash.finalize().into();
        Ok(Self { model: model.clone(), fingerprint, encoder: OnceLock::new(), backend, cache, n_threads })
    }

    /// The model.
    pub(crate) fn model(&self) -> &Installed {
        &self.model
    }

    /// One vector a text, in order, and how many texts had to be cut.
    ///
    /// `progress` hears how many texts are done, on the calling thread; never if all are remembered.
    pub(crate) fn embed(&self, role: Role, texts: &[&str], progress: impl FnMut(usize)) -> anyhow::Result<Embedded> {
        let key = self.key(role, texts);
        if let Some(known) = self.cache.get(&key, self.model.spec.dimension, texts.len()) {
            return Ok(known);
        }
        let embedded = self.compute(role, texts, progress)?;
        self.cache.put(&key, &embedded);
        Ok(embedded)
    }

    /// Collects the vectors of passages, text by text, in memory or where they are remembered on disk.
    pub(crate) fn collection(&self, in_memory: bool) -> Collection<'_> {
        Collection::new(self, in_memory)
    }

    fn compute(&self, role: Role, texts: &[&str], mut progress: impl FnMut(usize)) -> anyhow::Result<Embedded> {
        let encoder = self.encoder()?;
        let chunks: Vec<&[&str]> = texts.chunks(TOKENIZE_CHUNK).collect();
        let tokenize = |chunk: usize| {
            let tokens = chunks[chunk].iter().enumerate();
            tokens
                .map(|(at, text)| encoder.tokenize(role, chunk * TOKENIZE_CHUNK + at, text))
                .collect::<Result<Vec<_>, _>>()
        };
        let tokens: Vec<TokenIds> =
            self.spread(chunks.len(), tokenize, |_| {}).into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        let units: Vec<Unit> = encoder.plan(&tokens);
        let mut n_done = 0;
        let parts = self.spread(
            units.len(),
            |unit| encoder.encode_unit(&units[unit], &tokens),
            |unit| {
                n_done += units[unit].texts.len();
                progress(n_done);
            },
        );
        let parts: Vec<Vectors> = parts.into_iter().collect::<Result<_, _>>()?;
        Ok(gather(self.model.spec.dimension, &tokens, &units, &parts))
    }

    /// `work(0)` to `work(n - 1)` on all cores, taken in order; `done` hears on this thread which is finished.
    fn spread<T: Send>(&self, n: usize, work: impl Fn(usize) -> T + Sync, mut done: impl FnMut(usize)) -> Vec<T> {
        let mut results: Vec<Option<T>> = (0..n).map(|_| None).collect();
        if n <= 1 || self.n_threads == 1 {
            return (0..n).map(|idx| (work(idx), done(idx)).0).collect();
        }
        let (next, (sender, receiver)) = (AtomicUsize::new(0), mpsc::channel());
        std::thread::scope(|scope| {
            for _ in 0..self.n_threads.min(n) {
                let (sender, next, work) = (sender.clone(), &next, &work);
                scope.spawn(move || {
                    loop {
                        let idx = next.fetch_add(1, Ordering::Relaxed);
                        if idx >= n || sender.send((idx, work(idx))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for (idx, result) in receiver {
                results[idx] = Some(result);
                done(idx);
            }
        });
        results.into_iter().map(|result| result.expect("a scope ends when all its threads have sent")).collect()
    }

    fn encoder(&self) -> anyhow::Result<&Encoder<AnyBackend>> {
        if let Some(encoder) = self.encoder.get() {
            return Ok(encoder);
        }
        let spec = &self.model.spec;
        let load = || {
            let backend = self.backend.load(spec, &self.model.file(ONNX)?)?;
            anyhow::Ok(Encoder::new(spec.clone(), &self.model.file(TOKENIZER)?, backend)?)
        };
        let encoder = load().with_context(|| format!("embedding model `{}` ({})", spec.name, self.model.place()))?;
        // Two threads may both have loaded it; the first one's stays.
        Ok(self.encoder.get_or_init(|| encoder))
    }

    fn key(&self, role: Role, texts: &[&str]) -> String {
        let mut hash = Sha256::new();
        hash.update(self.fingerprint);
        hash.update(match role {
            Role::Query => b"q",
            Role::Passage => b"p",
        });
        for text in texts {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hex(&hash.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 5] = [
        "The lighthouse keeper counted the ships.",
        "",
        "She had never learned to swim, and the whole island knew it.",
        "Tea.",
        "Nobody had asked him, so he said nothing, and went on mending the net until the lamp gave out.",
    ];

    fn embedder(cache: &std::path::Path) -> Embedder {
        with_backend(cache, None)
    }

    fn with_backend(cache: &std::path::Path, backend: Option<BackendName>) -> Embedder {
        Embedder::with_cache(&Installed::shipped().expect("shipped"), backend, Cache::in_folder(cache)).expect("loads")
    }

    #[test]
    fn backends_agree_and_do_not_remember_for_each_other() {
        let dir = tempfile::tempdir().expect("a folder");
        let tract = with_backend(dir.path(), Some(BackendName::Tract));
        let expected = tract.embed(Role::Passage, &TEXTS, |_| {}).expect("embeds");
        for (backend, closeness) in [(None, 1e-5), (Some(BackendName::EncoderF32), 1e-9)] {
            let embedder = with_backend(dir.path(), backend);
            assert_ne!(embedder.fingerprint(), tract.fingerprint());
            let mut computed = false;
            let found = embedder.embed(Role::Passage, &TEXTS, |_| computed = true).expect("embeds");
            assert!(computed, "{} took tract's vectors", embedder.backend());
            for (a, b) in found.vectors.rows().zip(expected.vectors.rows()) {
                let cosine: f64 = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
                let [a, b] = [a, b].map(|row| row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt());
                assert!(1.0 - cosine / (a * b) < closeness, "{}: {}", embedder.backend(), cosine / (a * b));
            }
        }
    }

    #[test]
    fn a_text_has_the_same_vector_alone_and_among_others() {
        let dir = tempfile::tempdir().expect("a folder");
        let embedder = embedder(dir.path());
        let many: Vec<&str> = TEXTS.iter().copied().cycle().take(203).collect();
        let mut heard = 0;
        let together = embedder.embed(Role::Passage, &many, |n_done| heard = n_done).expect("embeds");
        assert_eq!((heard, together.n_cut, together.vectors.len()), (203, 0, 203));
        for (idx, text) in TEXTS.iter().enumerate() {
            let alone = embedder.embed(Role::Passage, &[text], |_| {}).expect("embeds");
            let cosine: f32 = alone.vectors.row(0).iter().zip(together.vectors.row(idx)).map(|(a, b)| a * b).sum();
            assert!((1.0 - cosine).abs() < 1e-6, "{text}: {cosine}");
        }
    }

    #[test]
    fn what_is_remembered_is_not_computed_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let first = embedder(dir.path()).embed(Role::Passage, &TEXTS, |_| {}).expect("embeds");
        let again = embedder(dir.path());
        let mut heard = false;
        assert_eq!(again.embed(Role::Passage, &TEXTS, |_| heard = true).expect("remembers"), first);
        assert!(!heard && again.encoder.get().is_none());
        again.embed(Role::Query, &TEXTS, |_| heard = true).expect("embeds");
        assert!(heard, "another role is another question");
    }

    #[test]
    fn a_text_beyond_the_longest_input_is_counted() {
        let dir = tempfile::tempdir().expect("a folder");
        let long = "one more word ".repeat(100);
        assert_eq!(embedder(dir.path()).embed(Role::Passage, &["short", &long], |_| {}).expect("embeds").n_cut, 1);
    }
}
