//! The batches of a run, on disk: what was handed in, and what came back. Written before anything is sent, so that a kill
//! at any point neither loses a batch nor hands one in twice.

use anyhow::{Context, Result, bail};
use closeread_files::{self as files, write_atomically};
use closeread_llm::Response;
use closeread_llm::provider::BatchApi;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The folder's name in a run folder.
pub const FOLDER: &str = "batches";
/// Most bytes of a batch's entries: more than any provider takes, [`BatchApi::limits`].
const MAX_ENTRIES_BYTES: u64 = 512 << 20;
/// Entries begin alike where they hold one book: a fast level finds that, too.
const COMPRESSION: i32 = 3;

/// The stage that a batch has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// The batch is about to be handed in; whether it was is the provider's to say.
    Prepared,
    /// The provider has the batch.
    Submitted,
    /// The responses of the batch are here.
    Ended,
}

/// One batch: `NNNN.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ticket {
    /// Number of the batch among those of the run.
    pub(super) number: u32,
    /// Model that is asked, `provider/model`.
    pub(super) model: String,
    /// Our name for the batch.
    pub(super) name: String,
    pub(super) stage: Stage,
    /// The newest batch of the account before this one was handed in.
    pub(super) before: Option<String>,
    /// The uploaded file, where the provider takes files.
    pub(super) file: Option<String>,
    /// The provider's name for it.
    pub(super) batch: Option<String>,
    /// Whether the batch was found again by its size alone: the ids of its results must confirm it.
    #[serde(default)]
    pub(super) unconfirmed: bool,
    /// Batches of the account that turned out to be others'.
    #[serde(default)]
    pub(super) not_ours: Vec<String>,
    /// The ids of its requests.
    pub(super) requests: Vec<String>,
    /// Those of them that were billed and have no response, once it has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) billed: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    request: String,
    response: Response,
}

/// The batches of one model in a run folder.
#[derive(Debug)]
pub(super) struct BatchStore {
    folder: PathBuf,
}

impl BatchStore {
    pub(super) fn of_run(run: &Path) -> Self {
        Self { folder: run.join(FOLDER) }
    }

    /// The tickets of a model, in their order.
    pub(super) fn read(&self, model: &str) -> Result<Vec<Ticket>> {
        let mut tickets = all(&self.folder)?;
        tickets.retain(|ticket| ticket.model == model);
        Ok(tickets)
    }

    /// The number that the next batch may have, whichever model's.
    pub(super) fn next_number(&self) -> Result<u32> {
        let numbers = files::entries(&self.folder)?.into_iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?;
            name.split('.').next()?.parse::<u32>().ok()
        });
        Ok(numbers.max().unwrap_or(0) + 1)
    }

    /// Keeps the entries of a batch that is about to be handed in.
    pub(super) fn keep_entries(&self, number: u32, entries: &[String]) -> Result<()> {
        fs::create_dir_all(&self.folder).with_context(|| format!("cannot create {}", self.folder.display()))?;
        let mut text = entries.join("\n");
        text.push('\n');
        let packed = zstd::encode_all(text.as_bytes(), COMPRESSION).context("cannot compress the requests")?;
        write_atomically(&self.path(number, "requests.jsonl.zst"), &packed)
    }

    /// The entries of a batch, those with the ids of `wanted`.
    pub(super) fn entries(&self, number: u32, wanted: &HashSet<&str>) -> Result<Vec<String>> {
        let path = self.path(number, "requests.jsonl.zst");
        let packed = closeread_files::read_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let text = unpacked(&packed, MAX_ENTRIES_BYTES).with_context(|| format!("{} is damaged", path.display()))?;
        let is_wanted = |line: &&str| BatchApi::id_of(line).is_some_and(|id| wanted.contains(id.as_str()));
        Ok(text.lines().filter(is_wanted).map(str::to_owned).collect())
    }

    /// Writes how far a batch has come; once this returns, a kill cannot undo it.
    pub(super) fn keep(&self, ticket: &Ticket) -> Result<()> {
        write_atomically(&self.path(ticket.number, "json"), &serde_json::to_vec_pretty(ticket)?)
    }

    /// Keeps the responses of a batch; its entries are of no more use.
    pub(super) fn keep_responses(&self, number: u32, responses: &[(String, Response)]) -> Result<()> {
        let mut lines = Vec::new();
        for (request, response) in responses {
            serde_json::to_writer(&mut lines, &Line { request: request.clone(), response: response.clone() })?;
            lines.push(b'\n');
        }
        write_atomically(&self.path(number, "responses.jsonl"), &lines)
    }

    /// Removes the entries of a batch that has ended.
    pub(super) fn forget_entries(&self, number: u32) {
        // What stays takes up room and does no harm.
        let _ = fs::remove_file(self.path(number, "requests.jsonl.zst"));
    }

    /// The responses of a batch that has ended.
    pub(super) fn responses(&self, number: u32) -> Result<Vec<(String, Response)>> {
        let path = self.path(number, "responses.jsonl");
        let lines: Vec<Line> = files::read_lines(&path, "a response of a batch")?;
        Ok(lines.into_iter().map(|Line { request, response }| (request, response)).collect())
    }

    fn path(&self, number: u32, ending: &str) -> PathBuf {
        self.folder.join(format!("{number:04}.{ending}"))
    }
}

/// A text of at most `most` bytes; one that grows beyond is given up before it fills the memory.
fn unpacked(packed: &[u8], most: u64) -> Result<String> {
    let mut text = String::new();
    zstd::stream::read::Decoder::new(packed)?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        bail!("it unpacks to more than {} MiB", most >> 20);
    }
    Ok(text)
}

/// Returns how many batches of the run in a folder have not ended.
pub fn open_batches(run: &Path) -> Result<usize> {
    Ok(all(&run.join(FOLDER))?.iter().filter(|ticket| ticket.stage != Stage::Ended).count())
}

/// Returns the requests of the run in a folder that are in batches, and those that have responses from there or were billed
/// without one.
pub fn handed_in(run: &Path) -> Result<HashSet<String>> {
    let store = BatchStore::of_run(run);
    let mut requests = HashSet::new();
    for ticket in all(&store.folder)? {
        match ticket.stage {
            Stage::Ended => {
                requests.extend(store.responses(ticket.number)?.into_iter().map(|(request, _)| request));
                requests.extend(ticket.billed);
            }
            Stage::Prepared | Stage::Submitted => requests.extend(ticket.requests),
        }
    }
    Ok(requests)
}

fn all(folder: &Path) -> Result<Vec<Ticket>> {
    let mut tickets: Vec<Ticket> = Vec::new();
    for path in files::entries(folder)? {
        if path.extension().is_some_and(|ending| ending == "json") {
            let bytes = closeread_files::read_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
            tickets.push(serde_json::from_slice(&bytes).with_context(|| {
                format!(
                    "{} is damaged; if its batch is no longer wanted, remove it, and its requests are asked again",
                    path.display()
                )
            })?);
        }
    }
    tickets.sort_by_key(|ticket| ticket.number);
    Ok(tickets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_09_entries_that_unpack_without_end_are_given_up() {
        let packed = zstd::encode_all(vec![b'x'; 9 << 20].as_slice(), COMPRESSION).unwrap();
        assert_eq!(unpacked(&packed, 9 << 20).unwrap().len(), 9 << 20);
        assert_eq!(unpacked(&packed, 8 << 20).unwrap_err().to_string(), "it unpacks to more than 8 MiB");
    }

    #[test]
    fn what_was_handed_in_is_known_after_a_restart() {
        let run = tempfile::tempdir().unwrap();
        let store = BatchStore::of_run(run.path());
        assert_eq!(store.next_number().unwrap(), 1);
        let entries = [r#"{"custom_id":"a","body":1}"#.to_owned(), r#"{"custom_id":"b","body":2}"#.to_owned()];
        store.keep_entries(1, &entries).unwrap();
        let ticket = Ticket {
            number: 1,
            model: "p/m".to_owned(),
            name: "n".to_owned(),
            stage: Stage::Prepared,
            before: None,
            file: None,
            batch: None,
            unconfirmed: false,
            not_ours: Vec::new(),
            requests: vec!["a".to_owned(), "b".to_owned()],
            billed: Vec::new(),
        };
        store.keep(&ticket).unwrap();
        assert_eq!(open_batches(run.path()).unwrap(), 1);
        assert_eq!((store.read("p/m").unwrap()[0].requests.len(), store.read("p/x").unwrap().len()), (2, 0));
        assert_eq!(store.next_number().unwrap(), 2);
        assert_eq!(store.entries(1, &HashSet::from(["b"])).unwrap(), entries[1..]);

        let response = Response { text: "Ana".to_owned(), ..Response::default() };
        store.keep_responses(1, &[("a".to_owned(), response.clone())]).unwrap();
        let ended = Ticket { stage: Stage::Ended, ..ticket };
        store.keep(&ended).unwrap();
        assert_eq!(store.responses(1).unwrap(), [("a".to_owned(), response)]);
        assert_eq!(handed_in(run.path()).unwrap(), HashSet::from(["a".to_owned()]));
        store.keep(&Ticket { billed: vec!["b".to_owned()], ..ended }).unwrap();
        assert_eq!(handed_in(run.path()).unwrap().len(), 2, "what was billed counts");
        assert_eq!(open_batches(run.path()).unwrap(), 0);
    }
}
