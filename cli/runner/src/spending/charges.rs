//! `.spending.jsonl` of a run folder: what each call may cost, written before it is sent, and what it has cost.
//!
//! A call that has begun and not ended counts with the most that it can cost: a kill, a timeout or a lost connection hides what
//! the provider bills. A call of a batch counts so for as long as the batch is at the provider. The file is written anew before it
//! grows long, because a run in an object store sends it whole.

use anyhow::{Context, Result, bail};
pub use closeread_files::run_files::CHARGES;
use closeread_files::{self as files, append_lines, write_lines};
use closeread_llm::price::Dollars;
use closeread_providers::batch::handed_in;
use closeread_text::counted;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell, RefMut};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use tracing::info;

/// Number of lines, beside those of calls that have not ended, after which the file is written anew.
const MOST_LINES: usize = 4096;

/// The name of a call in a folder's charges.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum CallName {
    /// Number of a call since the folder was opened.
    Number(u64),
    /// Key of a request that goes in a batch, whose response may come to another process.
    Request(String),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Line {
    /// The call; absent where everything before is summed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<CallName>,
    /// The most that the call can cost: it begins. In a sum, the most that lost calls can have cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    most: Option<Dollars>,
    /// What the call has cost: it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<Dollars>,
    /// Of a sum, the part that comes from merged folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    merged: Option<Merged>,
}

/// What was charged to the parts that were merged into a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Merged {
    dollars: Dollars,
    /// The most of it that lost calls can have cost.
    lost: Dollars,
}

impl Line {
    fn sum(ended: Dollars, lost: Dollars, merged: Merged) -> Self {
        let most = Some(lost).filter(|lost| *lost > Dollars::default());
        Self { call: None, most, cost: Some(ended), merged: Some(merged).filter(|it| *it != Merged::default()) }
    }

    fn begun(call: CallName, most: Dollars) -> Self {
        Self { call: Some(call), most: Some(most), ..Self::default() }
    }
}

/// What lines come to.
#[derive(Debug, Default)]
struct Sums {
    ended: Dollars,
    /// The most that calls can have cost which an earlier process lost.
    lost: Dollars,
    /// The most of the tries that have begun and not ended, by call.
    open: BTreeMap<CallName, Vec<Dollars>>,
    merged: Merged,
}

impl Sums {
    fn add(&mut self, Line { call, most, cost, merged }: Line) {
        self.ended += cost.unwrap_or_default();
        self.merged = merged.unwrap_or(self.merged);
        match (call, most) {
            (Some(call), Some(most)) => self.open.entry(call).or_default().push(most),
            (Some(call), None) => {
                let is_last = self.open.get_mut(&call).is_some_and(|most| most.pop().is_some() && most.is_empty());
                if is_last {
                    self.open.remove(&call);
                }
            }
            (None, most) => self.lost += most.unwrap_or_default(),
        }
    }

    /// The fewest lines that come to the same.
    fn lines(&self) -> Vec<Line> {
        let begun = |(call, most): (&CallName, &Vec<Dollars>)| -> Vec<Line> {
            most.iter().map(|most| Line::begun(call.clone(), *most)).collect()
        };
        [Line::sum(self.ended, self.lost, self.merged)].into_iter().chain(self.open.iter().flat_map(begun)).collect()
    }
}

/// The charges of a folder as a process finds them.
#[derive(Debug, Default, PartialEq)]
pub struct Charged {
    /// What ended calls have cost.
    ended: Dollars,
    /// The most that calls can have cost which were lost before the folder was opened last.
    lost_before: Dollars,
    /// The same of each call since then whose end is not known.
    lost: Vec<Dollars>,
    /// The most that requests cost which are in batches, by key.
    in_batches: BTreeMap<String, Dollars>,
    merged: Merged,
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
        let mut sums = Sums::default();
        lines.into_iter().for_each(|line| sums.add(line));
        let Sums { ended, lost: lost_before, open, merged } = sums;
        let (mut lost, mut in_batches, handed_in) = (Vec::new(), BTreeMap::new(), handed_in(folder)?);
        for (call, most) in open {
            match call {
                CallName::Number(_) => lost.extend(most),
                // What was never handed in costs nothing.
                CallName::Request(key) if !handed_in.contains(&key) => {}
                CallName::Request(key) => drop(most.last().and_then(|most| in_batches.insert(key, *most))),
            }
        }
        Ok(Some(Self { ended, lost_before, lost, in_batches, merged }))
    }

    /// Returns what the calls can have cost in all.
    pub fn total(&self) -> Dollars {
        self.ended + self.open()
    }

    /// Returns the part of it that is the most which calls can cost that have not ended, or of whose end nothing is known.
    pub fn open(&self) -> Dollars {
        [&self.lost_before].into_iter().chain(&self.lost).chain(self.in_batches.values()).copied().sum()
    }
}

/// Notes in a merged folder what the calls of its parts cost, beside its own calls; `open` is the part of it that
/// [`Charged::open`] gives. Replaces what was noted of the parts before.
pub fn keep_charged(folder: &Path, dollars: Dollars, open: Dollars) -> Result<()> {
    let Charged { ended, lost_before, lost, in_batches, merged } = Charged::read(folder)?.unwrap_or_default();
    let beyond = |all: Dollars, known: Dollars| if all > known { all - known } else { Dollars::default() };
    let lost = lost_before + lost.into_iter().sum::<Dollars>();
    let own = beyond(ended + lost, merged.dollars);
    let own_lost = beyond(lost, merged.lost);
    let own_lost = if own_lost < own { own_lost } else { own };
    let sum = Line::sum(dollars - open + own - own_lost, open + own_lost, Merged { dollars, lost: open });
    let waiting = in_batches.into_iter().map(|(key, most)| Line::begun(CallName::Request(key), most));
    write_lines(&folder.join(CHARGES), &std::iter::once(sum).chain(waiting).collect::<Vec<_>>())
}

/// The charges of a folder, open for more; who opens them has the folder's lock.
#[derive(Debug)]
pub(super) struct Charges {
    path: PathBuf,
    /// Open from the first line on: a folder without a call that costs has no charges.
    file: RefCell<Option<File>>,
    sums: RefCell<Sums>,
    /// Number of lines of the file, and how many it may have before it is written anew.
    lines: Cell<(usize, usize)>,
    next: Cell<u64>,
    /// Whether a line could not be written: a piece of it may stand there, behind which nothing could be read.
    is_broken: Cell<bool>,
    in_batches: RefCell<BTreeMap<String, Dollars>>,
}

impl Charges {
    /// Opens the charges of a folder whose calls have cost `spent`, those that are in its charges included. Where money is
    /// limited, what was lost is told.
    pub(super) fn open(folder: &Path, spent: Dollars, is_limited: bool) -> Result<Self> {
        let charged = Charged::read(folder)?.unwrap_or_default();
        let total = charged.total();
        let Charged { lost_before, lost, in_batches, merged, .. } = charged;
        let most: Dollars = lost.iter().copied().sum();
        if is_limited && !lost.is_empty() {
            info!(
                "the end of {} is not known: what counts is the most that can have been paid for this, {most}",
                counted(lost.len(), "earlier call")
            );
        }
        let waiting: Dollars = in_batches.values().copied().sum();
        // Where more is in the folder than was charged, nothing of it is in doubt.
        let lost = if spent > total { Dollars::default() } else { lost_before + most };
        let open = in_batches.iter().map(|(key, most)| (CallName::Request(key.clone()), vec![*most])).collect();
        let charges = Self {
            path: folder.join(CHARGES),
            file: RefCell::default(),
            sums: RefCell::new(Sums { ended: spent - waiting - lost, lost, open, merged }),
            lines: Cell::default(),
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
        let (n_lines, most_lines) = self.lines.get();
        if file.is_none() || n_lines >= most_lines {
            let lines = self.sums.borrow().lines();
            *file = None;
            write_lines(&self.path, &lines)?;
            self.lines.set((lines.len(), MOST_LINES + 2 * lines.len()));
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
        self.append(Line::begun(call.clone(), most))
    }

    /// Notes what a call has cost.
    pub(super) fn end(&self, call: &CallName, cost: Dollars) -> Result<()> {
        self.append(Line { call: Some(call.clone()), cost: Some(cost), ..Line::default() })
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
        let (n_lines, most_lines) = self.lines.get();
        self.lines.set((n_lines + 1, most_lines));
        self.sums.borrow_mut().add(line);
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
    fn charges_stay_short_and_come_to_the_same() {
        let run = tempfile::tempdir().unwrap();
        let charges = Charges::open(run.path(), Dollars(1.0), true).unwrap();
        let waits = charges.name();
        charges.begin(&waits, Dollars(0.5)).unwrap();
        for _ in 0..3 * MOST_LINES {
            let call = charges.name();
            charges.begin(&call, Dollars(0.5)).unwrap();
            charges.end(&call, Dollars(0.25)).unwrap();
        }
        let n_lines = std::fs::read_to_string(run.path().join(CHARGES)).unwrap().lines().count();
        assert!(n_lines <= MOST_LINES + 10, "{n_lines}");
        let total = || Charged::read(run.path()).unwrap().unwrap().total();
        assert_eq!(total(), Dollars(1.5 + 0.25 * 3.0 * MOST_LINES as f64));
        charges.end(&waits, Dollars(0.0)).unwrap();
        assert_eq!(total(), Dollars(1.0 + 0.25 * 3.0 * MOST_LINES as f64), "calls keep their names");
    }

    #[test]
    fn what_parts_were_charged_counts_beside_the_folders_own_however_often_they_are_merged() {
        let run = tempfile::tempdir().unwrap();
        let total = || Charged::read(run.path()).unwrap().unwrap().total();
        keep_charged(run.path(), Dollars(1.0), Dollars(0.25)).unwrap();
        assert_eq!(total(), Dollars(1.0));
        let charges = Charges::open(run.path(), total(), true).unwrap();
        let call = charges.name();
        charges.begin(&call, Dollars(1.0)).unwrap();
        charges.end(&call, Dollars(0.5)).unwrap();
        drop(charges);
        assert_eq!(total(), Dollars(1.5));
        for _ in 0..2 {
            keep_charged(run.path(), Dollars(2.0), Dollars(0.0)).unwrap();
            assert_eq!(total(), Dollars(2.5), "a part came that was charged a dollar");
        }
        assert_eq!(Charged::read(run.path()).unwrap().unwrap().open(), Dollars(0.0));
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
