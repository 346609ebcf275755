//! How far the parts of a run are, by the folder of each.

use crate::stores;
use anyhow::{Context as _, Result, ensure};
use closeread_eval::Outcome;
use closeread_files::{self as files, run_files::RECORDS};
use closeread_report::folder::RunManifest;
use closeread_runner::run_folder::{self, MANIFEST, Spent};
use closeread_runner::{finished, judging};
use closeread_table::number::{counted, thousands};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The state of a part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// The folder is empty.
    Waiting,
    /// A process writes into it.
    Running,
    /// Nobody writes into the folder, and trials or judgements lack, or have failed.
    Stopped,
    /// The run's command has nothing left to do in the folder.
    Finished,
    /// The folder's files cannot be read.
    Damaged,
}

/// The progress of a part.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    pub(super) part: String,
    pub(super) state: State,
    /// Number of parts of its run; `None` of a run that is whole, or has not begun.
    pub(super) of: Option<usize>,
    /// Number of trials that have ended and did not fail.
    pub(super) trials: usize,
    trials_planned: usize,
    /// Cost of calls with known prices, in US dollars.
    dollars: f64,
    /// The part of it that is the most which calls can cost whose end is not known.
    dollars_open: f64,
    /// Seconds that are left by the rate so far; `None` where nothing runs.
    seconds_left: Option<u64>,
}

impl Part {
    /// A part of which nothing else is known.
    fn empty(part: String, state: State) -> Self {
        Self {
            part,
            state,
            of: None,
            trials: 0,
            trials_planned: 0,
            dollars: 0.0,
            dollars_open: 0.0,
            seconds_left: None,
        }
    }
}

/// The parts in a folder of `submit`, in their order; or the one run that a folder holds.
pub(super) fn parts(folder: &Path) -> Result<Vec<Part>> {
    if let Some(address) = folder.to_str().filter(|text| stores::is_address(text)) {
        return stored(address);
    }
    if folder.join(MANIFEST).exists() {
        return Ok(vec![part(folder)?]);
    }
    let numbered = numbered(folder)?;
    ensure!(
        !numbered.is_empty(),
        "{} holds no parts: expected the --out folder of `closeread submit`, or a run folder",
        folder.display()
    );
    let seen = numbered.iter().map(|(number, path)| Ok((*number, part(path)?)));
    Ok(with_waiting(seen.collect::<Result<_>>()?))
}

/// The folders of parts below that of `submit`, by number.
pub(super) fn numbered(folder: &Path) -> Result<BTreeMap<usize, PathBuf>> {
    let entries = files::entries(&folder.join("parts"))?.into_iter();
    Ok(entries.filter_map(|path| Some((path.file_name()?.to_str()?.parse().ok()?, path))).collect())
}

/// The parts with those that have no folder yet: the others know how many there are.
fn with_waiting(mut parts: BTreeMap<usize, Part>) -> Vec<Part> {
    let of = parts.values().filter_map(|part| part.of).max().unwrap_or(0);
    for number in 0..of {
        parts.entry(number).or_insert_with(|| Part::empty(number.to_string(), State::Waiting));
    }
    parts.into_values().collect()
}

/// The parts in a store, or the one run that is there.
fn stored(address: &str) -> Result<Vec<Part>> {
    let mut parts = stored_parts(address)?;
    if parts.is_empty() {
        let run = stores::run(address)?;
        // The first part may have begun meanwhile.
        parts = stored_parts(address)?;
        if parts.is_empty() {
            return Ok(vec![seen(&run.folder, run.written_for)?]);
        }
    }
    Ok(with_waiting(parts))
}

/// The parts that have begun in a store, by number.
pub(super) fn stored_parts(address: &str) -> Result<BTreeMap<usize, Part>> {
    let mut parts = BTreeMap::new();
    for part in stores::parts(address)? {
        let part = seen(&part.folder, part.written_for)?;
        if let Ok(number) = part.part.parse() {
            parts.insert(number, part);
        }
    }
    Ok(parts)
}

/// Reads one part of this machine.
pub(super) fn part(path: &Path) -> Result<Part> {
    // Asked first: a part that ends meanwhile is then shown as running once more, and not as stopped.
    let written_for = run_folder::is_in_use(path).then(|| age(path)).map(Option::unwrap_or_default);
    seen(path, written_for)
}

/// The time since the manifest was written.
fn age(path: &Path) -> Option<Duration> {
    let began = std::fs::metadata(path.join(MANIFEST)).ok()?.modified().ok()?;
    SystemTime::now().duration_since(began).ok()
}

/// Reads one part that a process has been writing for some time, or nobody writes. A folder that cannot be read is a state, not an error.
fn seen(path: &Path, written_for: Option<Duration>) -> Result<Part> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let runs = written_for.is_some();
    if !path.join(MANIFEST).exists() {
        return Ok(Part::empty(name, if runs { State::Running } else { State::Waiting }));
    }
    let Ok(Counted { of, planned, trials, spent, is_left }) = counts_of(path) else {
        return Ok(Part::empty(name, if runs { State::Running } else { State::Damaged }));
    };
    let state = match (runs, trials >= planned && !is_left) {
        (true, _) => State::Running,
        (false, true) => State::Finished,
        (false, false) => State::Stopped,
    };
    let rate = |took: &Duration| took.as_secs_f64() / trials as f64;
    let left = |took: &Duration| (rate(took) * planned.saturating_sub(trials) as f64) as u64;
    let seconds_left = written_for.as_ref().filter(|_| trials > 0).map(left);
    let (dollars, dollars_open) = (spent.total().0, spent.open.0);
    Ok(Part { part: name, state, of, trials, trials_planned: planned, dollars, dollars_open, seconds_left })
}

/// Counts of a folder.
struct Counted {
    of: Option<usize>,
    planned: usize,
    trials: usize,
    spent: Spent,
    /// Whether something besides trials is left to do.
    is_left: bool,
}

fn counts_of(path: &Path) -> Result<Counted> {
    let manifest = run_folder::read_manifest(&path.join(MANIFEST))?.context("a manifest")?;
    RunManifest::read(manifest.to_string().as_bytes())?;
    let items = files::read(&path.join("items.jsonl"))?;
    // A run that ended before it had stored its items has not begun.
    let has_begun = items.is_some();
    let n_items = items.unwrap_or_default().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    let n_cells = manifest["configuration"]["cells"].as_array().map_or(0, Vec::len);
    let repeats = manifest["configuration"]["repeats"].as_u64().unwrap_or(1) as usize;
    // A part that was killed before its first trial ended may have none.
    let has_records = path.join(RECORDS).exists();
    let records = if has_records { finished::records(path)? } else { Vec::new() };
    let judging = judging::read(path)?;
    let spent = run_folder::spent(path, records.iter(), &judging, &run_folder::prices(path)?)?;
    let of = manifest["shard"]["of"].as_u64().map(|of| of as usize);
    // A trial that failed and was asked again has a record for each.
    let done = records.iter().filter(|record| !matches!(record.outcome, Outcome::Failed { .. }));
    let trials = done.map(|record| &record.key).collect::<HashSet<_>>().len();
    let is_left = match files::read(&path.join("report.json"))? {
        _ if !has_begun => true,
        Some(report) => serde_json::from_slice::<Value>(&report)?["finished"] == false,
        // A part that was killed while it was judged; a joined run has no report of its own.
        None => of.is_some() && !judging.panels.is_empty(),
    };
    Ok(Counted { of, planned: n_items * n_cells * repeats, trials, spent, is_left })
}

/// The parts as a table, and all of them in a line below it.
pub(super) fn text(parts: &[Part]) -> String {
    let mut text = String::from("part  state     trials            dollars  left\n");
    for part in parts {
        let state = match part.state {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Stopped => "STOPPED",
            State::Finished => "finished",
            State::Damaged => "DAMAGED",
        };
        let trials = match part.trials_planned {
            0 => "-".to_owned(),
            planned => format!("{} of {}", thousands(part.trials as u64), thousands(planned as u64)),
        };
        let left = part.seconds_left.map_or_else(|| "-".to_owned(), |s| format!("{} min", s.div_ceil(60)));
        let dollars = format!("{}{:.2}", if part.dollars_open > 0.0 { "≤" } else { "" }, part.dollars);
        text += &format!("{:<5} {state:<9} {trials:<17} {dollars:>7}  {left}\n", part.part);
    }
    text + &summary(parts) + "\n"
}

/// All parts in one line.
pub(super) fn summary(parts: &[Part]) -> String {
    let count = |state| parts.iter().filter(|part| part.state == state).count();
    let sum = |of: fn(&Part) -> f64| parts.iter().map(of).sum::<f64>();
    let mut text = format!(
        "{} of {} parts finished, {} running, {} waiting, {} stopped; ${:.2} spent",
        count(State::Finished),
        parts.len(),
        count(State::Running),
        count(State::Waiting),
        count(State::Stopped) + count(State::Damaged),
        sum(|part| part.dollars),
    );
    let open = sum(|part| part.dollars_open);
    if open > 0.0 {
        text += &format!(" at most: ${open:.2} of it is what calls can cost whose end is not known");
    }
    if let Some(left) = seconds_left(parts) {
        text += &format!("; about {} left", counted(left.div_ceil(60) as usize, "minute"));
    }
    text
}

/// The seconds until all parts have ended, if those that wait come in the place of those that run and take as long.
fn seconds_left(parts: &[Part]) -> Option<u64> {
    let running = || parts.iter().filter_map(|part| Some((part, part.seconds_left?)));
    let longest = running().map(|(_, left)| left).max()?;
    let whole = |(part, left): (&Part, u64)| {
        let lacking = part.trials_planned.saturating_sub(part.trials).max(1);
        left as f64 * part.trials_planned as f64 / lacking as f64
    };
    let n_running = running().count() as f64;
    let a_part = running().map(whole).sum::<f64>() / n_running;
    let n_waiting = parts.iter().filter(|part| part.state == State::Waiting).count() as f64;
    let in_turn = (running().map(|(_, left)| left as f64).sum::<f64>() + n_waiting * a_part) / n_running;
    Some(longest.max(in_turn as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_wait_take_their_time_too() {
        let waiting = || Part::empty("0".to_owned(), State::Waiting);
        let running = |trials, left| Part {
            trials,
            trials_planned: 100,
            seconds_left: Some(left),
            ..Part::empty("0".to_owned(), State::Running)
        };
        assert_eq!(seconds_left(&[waiting()]), None);
        assert_eq!(seconds_left(&[running(50, 300), running(75, 150)]), Some(300), "the longest");
        let parts = [running(50, 300), running(75, 150), waiting(), waiting(), waiting(), waiting()];
        assert_eq!(seconds_left(&parts), Some((300 + 150 + 4 * 600) / 2), "four of ten minutes, two at once");
        assert!(summary(&parts).ends_with("2 running, 4 waiting, 0 stopped; $0.00 spent; about 24 minutes left"));
    }
}
