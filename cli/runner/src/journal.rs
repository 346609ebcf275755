//! Responses of trials that are not finished, in the run folder: a run that is killed in the middle of a trial of many
//! calls goes on there, with `--no-cache` too.
//!
//! A file a trial or preparation, a line a response, appended as it comes. It also holds what the cache of responses
//! refuses: a memory that was cut short is still the memory. What was replied here was paid in this run, and is counted
//! as such. The file goes once the trial's record stands in `records.jsonl`; that of a failed trial stays, for the
//! trial is run again. Refused and failed calls are no responses. No line holds a key or what was asked, only its hash.

use anyhow::{Context, Result};
use closeread_eval::answer::after_reasoning;
use closeread_files as files;
use closeread_llm::Response;
use closeread_text::hash::sha256;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use tracing::warn;

/// The folder's name in a run folder.
pub(crate) const FOLDER: &str = "journal";

/// The journals of a run.
pub struct Journals {
    folder: PathBuf,
}

/// The journal of one trial or preparation.
pub struct Journal {
    path: PathBuf,
    /// Responses by hash of the request, with the seconds that they took, in the order of asking: a request may be made more
    /// than once.
    known: RefCell<HashMap<String, VecDeque<(Response, f64)>>>,
    /// Seconds of the responses that were taken.
    replayed: Cell<f64>,
    file: RefCell<Option<File>>,
    warned: Cell<bool>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    request: String,
    /// Model that was asked, for what it cost; empty in journals of a closeread that did not write it.
    #[serde(default)]
    model: String,
    response: Response,
    /// Time that the response took; 0 in journals of a closeread that did not write it.
    #[serde(default)]
    seconds: f64,
}

impl Journals {
    /// The journals of the run in `run`.
    pub fn of_run(run: &Path) -> Self {
        Self { folder: run.join(FOLDER) }
    }

    /// The journal of what `key` names, with what was replied before.
    pub fn of(&self, key: &impl Serialize) -> Result<Journal> {
        Journal::open(self.path(key))
    }

    /// Removes the journal of what is finished, if a kill left it behind.
    pub(crate) fn discard(&self, key: &impl Serialize) -> Result<()> {
        files::remove(&self.path(key))
    }

    /// Returns every response that is in no record yet, with the model that gave it.
    pub fn responses(&self) -> Result<Vec<(String, Response)>> {
        let mut responses = Vec::new();
        for path in files::entries(&self.folder)? {
            let bytes = closeread_files::read_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
            responses.extend(lines(&bytes).map(|Line { model, response, .. }| (model, response)));
        }
        Ok(responses)
    }

    /// Returns the responses of which `known` has a copy, with the model that gave each, and adds the others to it: a response
    /// that took the same time to the nanosecond was paid once.
    pub fn copies(&self, known: &mut HashSet<Vec<u8>>) -> Result<Vec<(String, Response)>> {
        let (mut copies, mut new) = (Vec::new(), Vec::new());
        for path in files::entries(&self.folder)? {
            let bytes = closeread_files::read_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
            for line in bytes.split(|&byte| byte == b'\n') {
                match serde_json::from_slice(line) {
                    Ok(Line { model, response, seconds, .. }) if seconds > 0.0 && known.contains(line) => {
                        copies.push((model, response));
                    }
                    Ok(_) => new.push(line.to_vec()),
                    Err(_) => {}
                }
            }
        }
        known.extend(new);
        Ok(copies)
    }

    /// Removes the folder if nothing is left in it.
    pub fn tidy(&self) {
        // It is there and not empty where trials failed or were stopped, and not there at all where nothing was asked.
        let _ = fs::remove_dir(&self.folder);
    }

    fn path(&self, key: &impl Serialize) -> PathBuf {
        let name = sha256(&serde_json::to_vec(key).expect("a key has string keys only"));
        self.folder.join(format!("{}.jsonl", &name[..16]))
    }
}

impl Journal {
    fn open(path: PathBuf) -> Result<Self> {
        let bytes = files::read(&path)?.unwrap_or_default();
        // A line that a kill cut short is no response.
        let whole = files::whole(&bytes);
        if whole < bytes.len() || !files::ends(&bytes) {
            let end: &[u8] = if files::ends(&bytes[..whole]) { b"" } else { b"\n" };
            files::write_atomically(&path, &[&bytes[..whole], end].concat())?;
        }
        let mut known: HashMap<String, VecDeque<(Response, f64)>> = HashMap::new();
        for Line { request, response, seconds, .. } in lines(&bytes[..whole]) {
            known.entry(request).or_default().push_back((response, seconds));
        }
        let (known, replayed) = (RefCell::new(known), Cell::default());
        Ok(Self { path, known, replayed, file: RefCell::default(), warned: Cell::default() })
    }

    /// Returns what was replied to a request before, each response once.
    pub fn take(&self, request: &str) -> Option<Response> {
        let (response, seconds) = self.known.borrow_mut().get_mut(request)?.pop_front()?;
        self.replayed.set(self.replayed.get() + seconds);
        Some(response)
    }

    /// Returns the seconds that the responses took which were replied before: they are part of the trial's.
    pub(crate) fn replayed_seconds(&self) -> f64 {
        self.replayed.get()
    }

    /// Keeps a response, which took so many seconds. Failing to write costs money if the run is killed, not results: it is said
    /// once.
    pub fn put(&self, request: &str, model: &str, response: &Response, seconds: f64) {
        let (request, model) = (request.to_owned(), model.to_owned());
        let line = Line { request, model, response: response.clone(), seconds };
        if let Err(error) = self.append(&line)
            && !self.warned.replace(true)
        {
            warn!("a run that is stopped now cannot go on in the middle of a trial: {error:#}");
        }
    }

    fn append(&self, line: &Line) -> Result<()> {
        let mut file = self.file.borrow_mut();
        if file.is_none() {
            let folder = self.path.parent().context("a journal lies in a folder")?;
            files::make_inside(folder)?;
            files::make_own(&self.path)?;
            let opened = OpenOptions::new().create(true).append(true).open(&self.path);
            *file = Some(opened.with_context(|| format!("cannot write {}", self.path.display()))?);
        }
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        let file = file.as_mut().expect("opened above");
        file.write_all(&bytes).with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Forgets the responses that say nothing, or nothing beside their reasoning: while they are replayed, what failed because
    /// of one fails again.
    pub(crate) fn forget_empty(&self) -> Result<()> {
        let bytes = files::read(&self.path)?.unwrap_or_default();
        let is_said = |line: Line| !after_reasoning(&line.response.text).trim().is_empty();
        let is_kept = |line: &&[u8]| serde_json::from_slice(line).is_ok_and(is_said);
        let kept: Vec<u8> =
            bytes.split(|&byte| byte == b'\n').filter(is_kept).flat_map(|line| [line, b"\n"].concat()).collect();
        if kept == bytes { Ok(()) } else { files::write_atomically(&self.path, &kept) }
    }

    /// Removes the journal: what it was for is finished and kept elsewhere.
    pub fn remove(&self) -> Result<()> {
        files::remove(&self.path)
    }
}

/// The lines that are whole.
fn lines(bytes: &[u8]) -> impl Iterator<Item = Line> {
    bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_llm::FinishReason;

    fn response(text: &str) -> Response {
        Response { text: text.to_owned(), finish: FinishReason::Length, ..Response::default() }
    }

    #[test]
    fn each_response_comes_back_once_in_the_order_of_asking() {
        let dir = tempfile::tempdir().unwrap();
        let journals = Journals::of_run(dir.path());
        let journal = journals.of(&"trial").unwrap();
        for (request, text) in [("a", "1"), ("b", "2"), ("a", "3")] {
            assert_eq!(journal.take(request), None, "what is asked now is not known from before");
            journal.put(request, "m", &response(text), 2.0);
        }
        drop(journal);
        let kept = journals.responses().unwrap();
        assert!(kept.len() == 3 && kept.iter().all(|(model, _)| model == "m"), "{kept:?}");
        let journal = journals.of(&"trial").unwrap();
        let taken = ["a", "a", "a", "b"].map(|request| journal.take(request).map(|response| response.text));
        assert_eq!(taken, [Some("1".to_owned()), Some("3".to_owned()), None, Some("2".to_owned())]);
        assert_eq!(journal.replayed_seconds(), 6.0);
        assert_eq!(journals.of(&"another").unwrap().take("a"), None);

        journal.remove().unwrap();
        assert_eq!(journals.of(&"trial").unwrap().take("a"), None);
        journals.tidy();
        assert!(!dir.path().join(FOLDER).exists());
    }

    #[test]
    fn a_response_that_was_copied_from_another_folder_is_known() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (folder, seconds) in [(&dir, [2.5, 3.5]), (&other, [2.5, 4.5])] {
            let journal = Journals::of_run(folder.path()).of(&"trial").unwrap();
            seconds.iter().for_each(|seconds| journal.put("a", "m", &response("1"), *seconds));
        }
        let mut known = HashSet::new();
        assert_eq!(Journals::of_run(dir.path()).copies(&mut known).unwrap(), []);
        let copies = Journals::of_run(other.path()).copies(&mut known).unwrap();
        assert_eq!(copies, [("m".to_owned(), response("1"))], "the second one was asked anew");
    }

    #[test]
    fn a_line_cut_short_is_no_response_and_the_next_one_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let journals = Journals::of_run(dir.path());
        let journal = journals.of(&"trial").unwrap();
        journal.put("a", "m", &response("1"), 2.0);
        journal.put("b", "m", &response("2"), 2.0);
        drop(journal);
        let path = journals.path(&"trial");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();

        let journal = journals.of(&"trial").unwrap();
        assert_eq!((journal.take("a"), journal.take("b")), (Some(response("1")), None));
        journal.put("b", "m", &response("again"), 2.0);
        drop(journal);
        assert_eq!(journals.of(&"trial").unwrap().take("b"), Some(response("again")));

        // One that lacks its line feed alone was paid.
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let journal = journals.of(&"trial").unwrap();
        assert_eq!(journal.take("b"), Some(response("again")));
        journal.put("c", "m", &response("3"), 2.0);
        drop(journal);
        let journal = journals.of(&"trial").unwrap();
        assert_eq!((journal.take("b"), journal.take("c")), (Some(response("again")), Some(response("3"))));
    }

    #[test]
    fn what_failed_because_of_an_empty_response_is_asked_again() {
        let dir = tempfile::tempdir().unwrap();
        let journals = Journals::of_run(dir.path());
        let journal = journals.of(&"preparation").unwrap();
        journal.forget_empty().unwrap();
        for (request, text) in [("a", "1"), ("b", "<think>hm\n"), ("c", "3"), ("d", " \n")] {
            journal.put(request, "m", &response(text), 2.0);
        }
        journal.forget_empty().unwrap();
        drop(journal);
        let journal = journals.of(&"preparation").unwrap();
        let taken = ["a", "b", "c", "d"].map(|request| journal.take(request).map(|response| response.text));
        assert_eq!(taken, [Some("1".to_owned()), None, Some("3".to_owned()), None]);
    }

    #[test]
    fn a_journal_left_behind_is_discarded() {
        let dir = tempfile::tempdir().unwrap();
        let journals = Journals::of_run(dir.path());
        journals.discard(&"trial").unwrap();
        journals.of(&"trial").unwrap().put("a", "m", &response("1"), 2.0);
        journals.discard(&"trial").unwrap();
        assert_eq!(journals.of(&"trial").unwrap().take("a"), None);
    }
}
