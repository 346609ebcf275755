//! Responses on disk, by the hash of everything that determines them, and never of a key.
//!
//! A call is asked once, whichever run asks it: a run that was killed, or whose judge is changed, pays nothing twice.
//! Refused and failed calls are no responses, and one that was cut short or is empty is no answer: none of them is kept.

use crate::outgoing::{Outgoing, Source};
use anyhow::{Context, Result};
use closeread_files::partial_of;
use closeread_llm::{FinishReason, Response};
use closeread_text::hash::{PartsHash, sha256};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use tracing::warn;

/// Version of the layout.
const FORMAT: u32 = 2;

/// One file of the cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    format: u32,
    /// Source of the response.
    pub source: Source,
    /// Number of the repeat.
    pub repeat: u32,
    /// The response.
    pub response: Response,
    /// SHA-256 of the entry with this field empty, in hex.
    sha256: String,
}

impl Entry {
    fn new(source: Source, repeat: u32, response: Response) -> Self {
        let mut entry = Self { format: FORMAT, source, repeat, response, sha256: String::new() };
        entry.sha256 = entry.digest();
        entry
    }

    fn digest(&self) -> String {
        let unsigned = Self { sha256: String::new(), ..self.clone() };
        sha256(&serde_json::to_vec(&unsigned).expect("an entry has string keys only"))
    }

    /// The entry in a file; `None` if it is damaged.
    ///
    /// # Errors
    /// If the file cannot be read: it may be another person's, and whole.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        let entry: Option<Self> = serde_json::from_slice(&closeread_files::read_file(path)?).ok();
        Ok(entry.filter(|entry| entry.format == FORMAT && entry.sha256 == entry.digest()))
    }
}

/// The folder of remembered responses, or none.
pub struct ResponseCache {
    folder: Option<PathBuf>,
    warned: Cell<bool>,
}

impl ResponseCache {
    /// A cache in `folder`; without one nothing is remembered.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, warned: Cell::new(false) }
    }

    /// The response to a call of that [`request_key`], if it is known.
    pub fn get(&self, request: &str) -> Option<Response> {
        let path = self.path(request)?;
        Entry::read(&path).ok().flatten().map(|entry| Response { cached: true, ..entry.response })
    }

    /// Keeps a response that is neither cut short nor empty. Failing to write costs money, not results: it is said once.
    pub fn put(&self, request: &str, source: Source, repeat: u32, response: &Response) {
        let is_answer = response.finish != FinishReason::Length && !response.text.trim().is_empty();
        let Some(path) = self.path(request).filter(|_| is_answer) else { return };
        let entry = Entry::new(source, repeat, response.clone());
        if let Err(error) = write(&path, &entry)
            && !self.warned.replace(true)
        {
            warn!("responses are not remembered: equal prompts are asked again, in this run and the next: {error:#}");
        }
    }

    fn path(&self, request: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(&request[..2]).join(format!("{request}.json")))
    }
}

/// SHA-256 of everything that determines a response, in hex.
pub fn request_key(source: &Source, call: &Outgoing, repeat: u32) -> String {
    let mut hash = PartsHash::default();
    hash.part(&[b"closeread-response-2"]);
    hash.part(&[serde_json::to_vec(source).expect("a source has string keys only")]);
    for part in call.hashed_parts(serde_json::to_string(call.marked()).expect("a call has string keys only")) {
        hash.part(&[part]);
    }
    hash.part(&[repeat.to_le_bytes()]);
    hash.finish()
}

fn write(path: &Path, entry: &Entry) -> Result<()> {
    let folder = path.parent().context("a response lies in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut partial = partial_of(path, folder)?;
    serde_json::to_writer(&mut partial, entry)?;
    partial.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_llm::{Call, Message};
    use serde_json::Map;

    fn source(model: &str) -> Source {
        let (provider, base_url) = ("p".to_owned(), "http://h/v1".to_owned());
        Source { provider, model: model.to_owned(), base_url, query: None, seed: None, extra_body: Map::new() }
    }

    fn call(text: &str) -> Outgoing {
        let messages = vec![Message::user(text)];
        Call { messages, temperature: 0.0, max_output_tokens: Some(9), prompt: String::new() }.into()
    }

    #[test]
    #[cfg(unix)]
    fn who_may_read_a_response_is_as_for_every_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let cache = ResponseCache::new(Some(dir.path().to_owned()));
        let response = Response { text: "Ana".to_owned(), ..Response::default() };
        let key = request_key(&source("m"), &call("Who?"), 0);
        cache.put(&key, source("m"), 0, &response);
        let other = dir.path().join("other");
        std::fs::write(&other, "x").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&cache.path(&key).unwrap()), mode(&other));
    }

    #[test]
    fn a_response_is_found_for_the_same_question_to_the_same_model_only() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ResponseCache::new(Some(dir.path().to_owned()));
        let response = Response { text: "Ana".to_owned(), ..Response::default() };
        let get = |model: &str, text: &str, repeat| cache.get(&request_key(&source(model), &call(text), repeat));
        cache.put(&request_key(&source("a"), &call("Who?"), 0), source("a"), 0, &response);
        assert_eq!(get("a", "Who?", 0), Some(Response { cached: true, ..response }));
        assert_eq!([get("b", "Who?", 0), get("a", "When?", 0), get("a", "Who?", 1)], [None, None, None]);
    }

    #[test]
    fn responses_cut_short_and_damaged_files_are_no_answers() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ResponseCache::new(Some(dir.path().to_owned()));
        let request = request_key(&source("a"), &call("Who?"), 0);
        let put = |response: &Response| cache.put(&request, source("a"), 0, response);
        put(&Response { text: "An".to_owned(), finish: FinishReason::Length, ..Response::default() });
        put(&Response { text: "\n".to_owned(), ..Response::default() });
        assert_eq!(cache.get(&request), None);

        put(&Response { text: "Ana".to_owned(), ..Response::default() });
        let path = cache.path(&request).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("Ana", "Bob")).unwrap();
        assert_eq!(cache.get(&request), None);
    }
}
