//! Replies on disk, by the hash of everything that determines them, and never of a key.
//!
//! A call is asked once, whichever run asks it: a run that was killed, or whose judge is changed, pays nothing twice.
//! Refused and failed calls are no replies, and one that was cut short is no answer: none of them is kept.

use crate::cache_folder;
use anyhow::{Context, Result};
use closeread_core::hash::{sha256, sha256_of_parts};
use closeread_core::host::{Call, Reply, Stop};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// Version of the layout.
const FORMAT: u32 = 1;

/// What determines a reply besides the call itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Source {
    /// The provider's name.
    pub(crate) provider: String,
    /// The model's name with it.
    pub(crate) model: String,
    /// The address, without user, password and query.
    pub(crate) base_url: String,
    /// Sampling seed.
    pub(crate) seed: Option<u64>,
    /// Fields merged into the request.
    pub(crate) extra_body: Map<String, Value>,
}

/// One file of the cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    format: u32,
    /// Where the reply came from.
    pub(crate) source: Source,
    /// Number of the repetition.
    pub(crate) sample: u32,
    /// The reply.
    pub(crate) reply: Reply,
    /// SHA-256 of the entry with this field empty, in hex.
    sha256: String,
}

impl Entry {
    fn new(source: Source, sample: u32, reply: Reply) -> Self {
        let mut entry = Self { format: FORMAT, source, sample, reply, sha256: String::new() };
        entry.sha256 = entry.digest();
        entry
    }

    fn digest(&self) -> String {
        let unsigned = Self { sha256: String::new(), ..self.clone() };
        sha256(&serde_json::to_vec(&unsigned).expect("an entry has string keys only"))
    }

    /// The entry in a file, if it is whole.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let entry: Self = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        (entry.format == FORMAT && entry.sha256 == entry.digest()).then_some(entry)
    }
}

/// The folder of remembered replies, or none.
pub(crate) struct ReplyCache {
    folder: Option<PathBuf>,
    warned: Cell<bool>,
}

impl ReplyCache {
    /// Where replies are kept: `replies` in `CLOSEREAD_CACHE`, or in the user's cache folder.
    pub(crate) fn of_user() -> Self {
        Self::new(cache_folder().map(|folder| folder.join("replies")))
    }

    /// A cache in `folder`; without one nothing is remembered.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, warned: Cell::new(false) }
    }

    /// The reply to a call, if it is known.
    pub(crate) fn get(&self, source: &Source, call: &Call, sample: u32) -> Option<Reply> {
        let path = self.path(source, call, sample)?;
        Entry::read(&path).map(|entry| Reply { remembered: true, ..entry.reply })
    }

    /// Keeps a reply that was not cut short. Failing to write costs money in a later run, not results in this one: it is
    /// said once.
    pub(crate) fn put(&self, source: &Source, call: &Call, sample: u32, reply: &Reply) {
        self.put_under(&request_key(source, call, sample), source, sample, reply);
    }

    /// The same, where the call is no longer at hand but its [`request_key`] is.
    pub(crate) fn put_under(&self, key: &str, source: &Source, sample: u32, reply: &Reply) {
        let Some(path) = self.file(key).filter(|_| reply.stop != Stop::Length) else { return };
        let entry = Entry::new(source.clone(), sample, reply.clone());
        if let Err(error) = write(&path, &entry)
            && !self.warned.replace(true)
        {
            eprintln!("warning: replies are not remembered for the next run: {error:#}");
        }
    }

    fn path(&self, source: &Source, call: &Call, sample: u32) -> Option<PathBuf> {
        self.file(&request_key(source, call, sample))
    }

    fn file(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(&key[..2]).join(format!("{key}.json")))
    }
}

/// SHA-256 of everything that determines a reply, in hex.
pub(crate) fn request_key(source: &Source, call: &Call, sample: u32) -> String {
    let part = |value: Value| value.to_string().into_bytes();
    let source = serde_json::to_vec(source).expect("a source has string keys only");
    let call = part(serde_json::json!(call));
    sha256_of_parts([&b"closeread-reply-1"[..], &source, &call, &sample.to_le_bytes()])
}

fn write(path: &Path, entry: &Entry) -> Result<()> {
    let folder = path.parent().context("a reply lies in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut partial = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&mut partial, entry)?;
    partial.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_core::host::Message;

    fn source(model: &str) -> Source {
        let (provider, base_url) = ("p".to_owned(), "http://h/v1".to_owned());
        Source { provider, model: model.to_owned(), base_url, seed: None, extra_body: Map::new() }
    }

    fn call(text: &str) -> Call {
        Call {
            messages: vec![Message::user(text)],
            temperature: 0.0,
            max_output_tokens: 9,
            prompt: String::new(),
            reading: None,
        }
    }

    #[test]
    fn a_reply_is_found_for_the_same_question_to_the_same_model_only() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ReplyCache::new(Some(dir.path().to_owned()));
        let reply = Reply { text: "Ana".to_owned(), ..Reply::default() };
        cache.put(&source("a"), &call("Who?"), 0, &reply);
        assert_eq!(cache.get(&source("a"), &call("Who?"), 0), Some(Reply { remembered: true, ..reply }));
        assert_eq!(cache.get(&source("b"), &call("Who?"), 0), None);
        assert_eq!(cache.get(&source("a"), &call("When?"), 0), None);
        assert_eq!(cache.get(&source("a"), &call("Who?"), 1), None);
    }

    #[test]
    fn replies_cut_short_and_damaged_files_are_no_answers() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ReplyCache::new(Some(dir.path().to_owned()));
        let short = Reply { text: "An".to_owned(), stop: Stop::Length, ..Reply::default() };
        cache.put(&source("a"), &call("Who?"), 0, &short);
        assert_eq!(cache.get(&source("a"), &call("Who?"), 0), None);

        cache.put(&source("a"), &call("Who?"), 0, &Reply { text: "Ana".to_owned(), ..Reply::default() });
        let path = cache.path(&source("a"), &call("Who?"), 0).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("Ana", "Bob")).unwrap();
        assert_eq!(cache.get(&source("a"), &call("Who?"), 0), None);
    }
}
