//! `.spending.jsonl` of a run folder: what each call may cost, written before it is sent, and what it has cost.
//!
//! A call that has begun and not ended counts with the most that it can cost: a kill, a timeout or a lost connection hides what
//! the provider bills. A call of a batch counts so for as long as the batch is at the provider. The file is hidden, so it is
//! not sent to object stores.

use anyhow::{Context, Result, bail};
use closeread_files::{self as files, append_lines, write_lines};
use closeread_llm::price::Dollars;
use closeread_providers::batch::handed_in;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell, RefMut};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use tracing::info;

/// File name of the charges.
pub const CHARGES: &str = ".spending.jsonl";

/// The name of a call in a folder's charges.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum CallName {
    /// Number of a call since the folder was opened.
    Number(u64),
    /// Key of a request that goes in a batch, whose response may come to another process.
    Request(String),
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    /// The call; absent where everything before is summed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<CallName>,
    /// The most that the call can cost: it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    most: Option<Dollars>,
    /// What the call has cost: it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<Dollars>,
}

/// The charges of a folder as a process finds them.
#[derive(Debug, Default, PartialEq)]
pub struct Charged {
    /// What ended calls have cost.
    ended: Dollars,
    /// What calls can have cost whose end is not known.
    lost: Vec<Dollars>,
    /// The most that requests cost which are in batches, by key.
    in_batches: BTreeMap<String, Dollars>,
}

impl Charged {
    /// Reads the charges of a folder; `None` where none were kept.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(CHARGES);
        if !path.exists() {
            return Ok(None);
        }
        let lines: Vec<Line> =
            files::read_lines(&path, "what a call costs; remove the line if money need not be counted")?;
        let (mut ended, mut open): (_, BTreeMap<CallName, Vec<Dollars>>) = (Dollars::default(), BTreeMap::new());
        for Line { call, most, cost } in lines {
            ended += cost.unwrap_or_default();
            match (call, most) {
                (Some(call), Some(most)) => open.entry(call).or_default().push(most),
                (Some(call), None) => drop(open.get_mut(&call).and_then(Vec::pop)),
                (None, _) => {}
            }
        }
        let (mut lost, mut in_batches, handed_in) = (Vec::new(), BTreeMap::new(), handed_in(folder)?);
        for (call, most) in open {
            match call {
                CallName::Number(_) => lost.extend(most),
                // What was never handed in costs nothing.
                CallName::Request(key) if !handed_in.contains(&key) => {}
                CallName::Request(key) => drop(most.last().and_then(|most| in_batches.insert(key, *most))),
            }
        }
        Ok(Some(Self { ended, lost, in_batches }))
    }

    /// Returns what the calls can have cost in all.
    pub fn total(&self) -> Dollars {
        self.ended + self.lost.iter().copied().sum() + self.in_batches.values().copied().sum()
    }
}

/// Keeps in a folder that is made of others what their calls have cost, if no more is known to be charged there.
pub fn keep_charged(folder: &Path, dollars: Dollars) -> Result<()> {
    let there = Charged::read(folder)?.map(|charged| charged.total());
    if there.is_some_and(|there| there >= dollars) {
        return Ok(());
    }
    write_lines(&folder.join(CHARGES), &[Line { call: None, most: None, cost: Some(dollars) }])
}

/// The charges of a folder, open for more; who opens them has the folder's lock.
#[derive(Debug)]
pub(super) struct Charges {
    path: PathBuf,
    /// Open from the first line on: a folder without a call that costs has no charges.
    file: RefCell<Option<File>>,
    /// What was charged before, which the first line stands behind.
    before: Vec<Line>,
    next: Cell<u64>,
    /// Whether a line could not be written: a piece of it may stand there, behind which nothing could be read.
    is_broken: Cell<bool>,
    in_batches: RefCell<BTreeMap<String, Dollars>>,
}

impl Charges {
    /// Opens the charges of a folder whose calls have cost `spent`, those that are in its charges included. Where money is
    /// limited, what was lost is told.
    pub(super) fn open(folder: &Path, spent: Dollars, is_limited: bool) -> Result<Self> {
        let Charged { lost, in_batches, .. } = Charged::read(folder)?.unwrap_or_default();
        if is_limited && !lost.is_empty() {
            let most: Dollars = lost.iter().copied().sum();
            info!(
                "the end of {} earlier calls is not known: they count with the most that they can have cost, {most}",
                lost.len()
            );
        }
        let waiting: Dollars = in_batches.values().copied().sum();
        let before = Line { call: None, most: None, cost: Some(spent - waiting) };
        let requests = in_batches.iter().map(|(key, most)| (CallName::Request(key.clone()), *most));
        let requests = requests.map(|(call, most)| Line { call: Some(call), most: Some(most), cost: None });
        let charges = Self {
            path: folder.join(CHARGES),
            file: RefCell::default(),
            before: [before].into_iter().chain(requests).collect(),
            next: Cell::default(),
            is_broken: Cell::default(),
            in_batches: RefCell::new(in_batches),
        };
        if is_limited {
            charges.begun()?;
        }
        Ok(charges)
    }

    /// The file, behind what was charged before.
    fn begun(&self) -> Result<RefMut<'_, File>> {
        let mut file = self.file.borrow_mut();
        if file.is_none() {
            write_lines(&self.path, &self.before)?;
            let opened = OpenOptions::new().append(true).open(&self.path);
            *file = Some(opened.with_context(|| format!("cannot open {}", self.path.display()))?);
        }
        Ok(RefMut::map(file, |file| file.as_mut().expect("it was opened")))
    }

    /// A name for the next call.
    pub(super) fn name(&self) -> CallName {
        CallName::Number(self.next.replace(self.next.get() + 1))
    }

    /// Takes what was set aside for a request that an earlier process handed in.
    pub(super) fn take(&self, key: &str) -> Option<Dollars> {
        self.in_batches.borrow_mut().remove(key)
    }

    /// Notes that a call is about to be sent; once this returns, a kill cannot undo it.
    pub(super) fn begin(&self, call: &CallName, most: Dollars) -> Result<()> {
        self.append(Line { call: Some(call.clone()), most: Some(most), cost: None })
    }

    /// Notes what a call has cost.
    pub(super) fn end(&self, call: &CallName, cost: Dollars) -> Result<()> {
        self.append(Line { call: Some(call.clone()), most: None, cost: Some(cost) })
    }

    fn append(&self, line: Line) -> Result<()> {
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        if self.is_broken.get() {
            bail!("{} could not be written before: give the same command again", self.path.display());
        }
        let file = self.begun()?;
        let written = append_lines(&file, &self.path, &bytes);
        self.is_broken.set(written.is_err());
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_07_a_call_that_a_kill_cut_off_counts_in_full_and_the_others_as_they_ended() {
        let run = tempfile::tempdir().unwrap();
        assert_eq!(Charged::read(run.path()).unwrap(), None);
        let charges = Charges::open(run.path(), Dollars(1.0), true).unwrap();
        let calls = [charges.name(), charges.name(), charges.name()];
        for call in &calls {
            charges.begin(call, Dollars(0.5)).unwrap();
        }
        charges.end(&calls[1], Dollars(0.25)).unwrap();
        let total = || Charged::read(run.path()).unwrap().unwrap().total();
        assert_eq!(total(), Dollars(2.25));
        drop(charges);
        let again = Charges::open(run.path(), total(), true).unwrap();
        again.begin(&again.name(), Dollars(0.125)).unwrap();
        assert_eq!(total(), Dollars(2.375), "what was lost stays charged, and names begin anew");
    }

    #[test]
    fn finding_07_a_request_counts_while_its_batch_is_at_the_provider_and_not_before() {
        let run = tempfile::tempdir().unwrap();
        let charges = Charges::open(run.path(), Dollars(0.0), true).unwrap();
        for key in ["handed in", "only waiting"] {
            charges.begin(&CallName::Request(key.to_owned()), Dollars(0.5)).unwrap();
        }
        drop(charges);
        std::fs::create_dir(run.path().join("batches")).unwrap();
        let ticket = serde_json::json!({"number": 1, "model": "p/m", "name": "n", "stage": "submitted", "before": null,
            "file": null, "batch": "b", "requests": ["handed in"]});
        std::fs::write(run.path().join("batches/0001.json"), ticket.to_string()).unwrap();
        let charged = Charged::read(run.path()).unwrap().unwrap();
        assert_eq!(charged.total(), Dollars(0.5));
        let again = Charges::open(run.path(), charged.total(), true).unwrap();
        assert_eq!((again.take("handed in"), again.take("only waiting")), (Some(Dollars(0.5)), None));
        again.end(&CallName::Request("handed in".to_owned()), Dollars(0.25)).unwrap();
        assert_eq!(Charged::read(run.path()).unwrap().unwrap().total(), Dollars(0.25));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn finding_07_where_a_charge_cannot_be_written_no_later_call_is_sent() {
        let run = tempfile::tempdir().unwrap();
        let charges = Charges::open(run.path(), Dollars(1.0), true).unwrap();
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let charges = Charges { file: RefCell::new(Some(full)), ..charges };
        let refused = || format!("{:#}", charges.begin(&charges.name(), Dollars(0.5)).unwrap_err());
        assert!(refused().contains("No space left"));
        assert!(refused().contains("could not be written before"));
    }
}
