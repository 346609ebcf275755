//! Embedding on all cores or on a server, with a memory on disk.

mod backend;
mod cache;
pub mod collection;
mod cutter;
#[cfg(feature = "gpu")]
mod gpu;
mod local;
mod options;
mod queries;
mod served;
mod server_thread;

pub use backend::BackendName;
pub use options::EmbedderOptions;

use crate::models::{self, Installed, ONNX};
use crate::progress::Progress;
use crate::spending::Spending;
use anyhow::bail;
use backend::Choice;
use cache::Cache;
use closeread_embed::{Embedded, Role, ServedSpec, Vectors, normalized};
use closeread_methods::record::ServedCall;
use closeread_providers::served_by;
use closeread_text::hash::hex;
use local::Local;
use served::Served;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;

/// Version of the results, raised whenever the same model and text would give other numbers than before.
const RESULT_VERSION: u32 = 2;

/// A model that embeds texts and remembers on disk what it embedded.
#[derive(Debug)]
pub struct Embedder {
    model: Model,
    /// Fingerprint of everything but role and texts that a vector depends on.
    fingerprint: [u8; 32],
    cache: Cache,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one for a model")]
enum Model {
    Local(Local),
    Served(Served),
}

impl Embedder {
    /// Reads a model's files; the model itself is prepared by the first text that is not remembered.
    ///
    /// Remembered vectors live in `CLOSEREAD_CACHE`, or the user's cache folder.
    pub fn load(model: &Installed, backend: Option<BackendName>) -> anyhow::Result<Self> {
        Self::with_cache(model, backend, Cache::of_user())
    }

    /// The model of a name, installed or on a server; the shipped one if none is given.
    pub fn named(name: Option<&str>, options: &EmbedderOptions) -> anyhow::Result<Self> {
        let name = name.unwrap_or(models::SHIPPED);
        match served_by(name, options.base_url.as_deref())? {
            None => Self::load(&models::find(name)?, options.backend),
            Some(account) => {
                let served = Served::new(account.within(options.limits), options)?;
                let fingerprint = fingerprint(&served.determines());
                Ok(Self { model: Model::Served(served), fingerprint, cache: Cache::of_user() })
            }
        }
    }

    /// Returns the name of what computes the model, and in which precision.
    pub fn backend(&self) -> &'static str {
        match &self.model {
            Model::Local(local) => local.backend().name(),
            Model::Served(_) => SERVER,
        }
    }

    /// The graphics processor that computes the model, where one does.
    pub fn adapter(&self) -> Option<&str> {
        match &self.model {
            Model::Local(local) => local.backend().adapter(),
            Model::Served(_) => None,
        }
    }

    /// SHA-256, in hex, of everything but role and texts that a vector depends on.
    pub fn fingerprint(&self) -> String {
        hex(&self.fingerprint)
    }

    fn with_cache(model: &Installed, backend: Option<BackendName>, cache: Cache) -> anyhow::Result<Self> {
        let local = Local::new(model, Choice::new(backend, &model.file(ONNX)?)?);
        let fingerprint = fingerprint(&local.determines()?);
        Ok(Self { model: Model::Local(local), fingerprint, cache })
    }

    /// Returns the model's name, as `--embedder` gives it.
    pub fn name(&self) -> String {
        match &self.model {
            Model::Local(local) => local.model().spec.name.clone(),
            Model::Served(served) => served.name(),
        }
    }

    /// Returns the number of values in a vector.
    pub fn dimension(&self) -> usize {
        match &self.model {
            Model::Local(local) => local.model().spec.dimension,
            Model::Served(served) => served.dimension(),
        }
    }

    /// Returns whether the model is meant for a language (ISO 639-1).
    pub fn speaks(&self, language: &str) -> bool {
        match &self.model {
            Model::Local(local) => local.model().spec.speaks(language),
            Model::Served(served) => served.spec().speaks(language),
        }
    }

    /// Address of a model on a server as [`closeread_providers::told_apart`] has it, and its description.
    pub fn server(&self) -> Option<(String, &ServedSpec)> {
        match &self.model {
            Model::Local(_) => None,
            Model::Served(served) => Some((served.told_apart(), served.spec())),
        }
    }

    /// Writes each request to the model's server into a file of JSON lines from now on.
    pub fn log_to(&self, path: &Path) {
        if let Model::Served(served) = &self.model {
            served.log_to(path);
        }
    }

    /// Returns what this process asked of the model's server.
    pub fn calls(&self) -> Vec<ServedCall> {
        match &self.model {
            Model::Local(_) => Vec::new(),
            Model::Served(served) => served.calls(),
        }
    }

    /// Charges the requests to the model's server from now on, and counts those before as well.
    pub fn charge_to(&self, spending: &Arc<Spending>) {
        if let Model::Served(served) = &self.model {
            served.charge_to(spending);
        }
    }

    /// Returns one vector a text, in order, and how many texts had to be cut.
    ///
    /// `progress` hears how many texts are done, on the calling thread; never if all are remembered.
    pub fn embed(&self, role: Role, texts: &[&str], progress: impl FnMut(usize)) -> anyhow::Result<Embedded> {
        let key = self.key(role, texts);
        if let Some(known) = self.cache.get(&key, self.dimension(), texts.len()) {
            return Ok(known);
        }
        let embedded = match &self.model {
            Model::Local(local) => local.compute(role, texts, progress)?,
            Model::Served(served) if role == Role::Query && texts.len() > 1 => {
                return self.queries_on(served, texts, progress);
            }
            Model::Served(served) => return self.compute_on(served, role, texts, progress),
        };
        self.cache.put(&key, &embedded);
        Ok(embedded)
    }

    /// Returns one vector a passage, as [`Self::embed`] does, and shows how many are done.
    pub fn embed_passages(&self, texts: &[&str]) -> anyhow::Result<Embedded> {
        let (progress, mut n_done) = (Progress::new("passages embedded", texts.len()), 0);
        let embedded = self.embed(Role::Passage, texts, |done| {
            progress.advance(done - n_done);
            n_done = done;
        });
        progress.finish();
        embedded
    }

    /// Returns one vector a text, whether it is remembered or not, and nothing of it is remembered.
    pub fn embed_anew(&self, role: Role, texts: &[&str]) -> anyhow::Result<Vectors> {
        match &self.model {
            Model::Local(local) => Ok(local.compute(role, texts, |_| {})?.vectors),
            Model::Served(served) => {
                let list: Vec<String> = texts.iter().map(|text| served.prepared(role, text).0.into_owned()).collect();
                let (_, answer) = served.ask(vec![(0, list.clone())])?.recv()?;
                Ok(normalized(served.received(answer, &list)?)?)
            }
        }
    }

    /// Asks the server for the vectors, request by request; each is remembered as it comes, so that nothing is asked twice
    /// after a kill in the middle.
    fn compute_on(
        &self,
        served: &Served,
        role: Role,
        texts: &[&str],
        mut progress: impl FnMut(usize),
    ) -> anyhow::Result<Embedded> {
        let dimension = served.dimension();
        let lists: Vec<&[&str]> = texts.chunks(served.max_texts()).collect();
        let keys: Vec<String> = lists.iter().map(|list| self.key(role, list)).collect();
        let mut parts: Vec<Option<Embedded>> =
            lists.iter().zip(&keys).map(|(list, key)| self.cache.get(key, dimension, list.len())).collect();
        let mut n_done: usize = parts.iter().flatten().map(|part| part.vectors.len()).sum();
        let mut n_cut = vec![0; lists.len()];
        let open: Vec<(usize, Vec<String>)> = (0..lists.len())
            .filter(|&number| parts[number].is_none())
            .map(|number| {
                let prepared = lists[number].iter().map(|text| {
                    let (text, is_cut) = served.prepared(role, text);
                    n_cut[number] += usize::from(is_cut);
                    text.into_owned()
                });
                (number, prepared.collect())
            })
            .collect();
        if !open.is_empty() {
            ask_for(served, &open, |number, vectors| {
                let part = Embedded { vectors, n_cut: n_cut[number] };
                self.cache.put(&keys[number], &part);
                n_done += lists[number].len();
                progress(n_done);
                parts[number] = Some(part);
            })?;
        }
        let mut values = Vec::with_capacity(texts.len() * dimension);
        let mut n_cut = 0;
        for part in parts {
            let Some(part) = part else { bail!("the embedding server {} was not heard to the end", served.endpoint()) };
            n_cut += part.n_cut;
            values.extend(part.vectors.into_values());
        }
        let embedded = Embedded { vectors: Vectors::new(dimension, values), n_cut };
        if keys.len() != 1 {
            self.cache.put(&self.key(role, texts), &embedded);
            keys.iter().for_each(|key| self.cache.forget(key));
        }
        Ok(embedded)
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

/// The graphics processor that computes, or why none does; `None` in a build without the feature `gpu`.
pub fn graphics_processor() -> Option<Result<String, String>> {
    #[cfg(feature = "gpu")]
    return Some(gpu::find().map(|adapter| adapter.name().to_owned()).map_err(|error| error.to_string()));
    #[cfg(not(feature = "gpu"))]
    None
}

/// Asks the server for the vectors of lists of texts; `came` gets the number and the vectors of each list as they come.
fn ask_for(
    served: &Served,
    lists: &[(usize, Vec<String>)],
    mut came: impl FnMut(usize, Vectors),
) -> anyhow::Result<()> {
    let dimension = served.dimension();
    let longest = lists.iter().flat_map(|(_, texts)| texts).max_by_key(|text| text.len());
    served.check_whole(longest.map_or("", String::as_str))?;
    let mut refused = None;
    for (number, answer) in served.ask(lists.to_vec())? {
        let sent = lists.iter().find(|(n, _)| *n == number).map_or(&[][..], |(_, texts)| texts);
        let vectors = match served.received(answer, sent) {
            Ok(vectors) => vectors,
            // Others were under way: they are paid, and remembered.
            Err(error) => {
                refused.get_or_insert(error);
                continue;
            }
        };
        if vectors.dimension() != dimension {
            bail!(
                "embedding model {} at {} gives vectors of {} numbers, and {dimension} were expected: correct \
                 `dimension` in its description, or see whether the server now serves another model",
                served.name(),
                served.endpoint(),
                vectors.dimension()
            );
        }
        came(number, normalized(vectors)?);
    }
    refused.map_or(Ok(()), Err)
}

/// Name of the backend of a model on a server in manifests.
pub(crate) const SERVER: &str = "server";

fn fingerprint(parts: &[Vec<u8>]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(RESULT_VERSION.to_le_bytes());
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
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
        let Model::Local(local) = &again.model else { panic!("it is installed") };
        assert!(!heard && !local.is_loaded());
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
