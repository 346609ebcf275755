//! `judgements.jsonl` and `judging.json` of a run folder: what judges said, and who they were.

use anyhow::{Context, Result};
use closeread_files::{self as files, open_lines, write_atomically};
use closeread_judges::{Judgement, JudgementKey, Judging, Panel, Subject, Verdict};
use closeread_report::folder::{JUDGING_FORMAT, read_judging, read_panels};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Name of the file of judgements, one a line, append-only.
pub use closeread_files::run_files::JUDGEMENTS;
/// Name of the file that holds the panels that judged.
pub const JUDGING: &str = "judging.json";
/// Description of a line, for messages on a line that is something else.
const LINE: &str = "a judgement; remove the line and it is asked again";

/// Most lines that say how one judgement failed: a command that is repeated until a server is back does not fill the file.
const MOST_FAILURES: usize = 10;

/// The content of `judging.json`.
#[derive(Debug, Serialize)]
struct Panels {
    format: u32,
    panels: Vec<Panel>,
}

/// The judgements of a folder, open for more.
pub(super) struct Judgements {
    path: PathBuf,
    file: File,
    done: HashSet<JudgementKey>,
    /// Judgements that failed without a call: how many lines say so, and the last verdict.
    failed: HashMap<JudgementKey, (usize, Verdict)>,
}

impl Judgements {
    /// Opens the file; a last line that a kill cut short is dropped, its judgement was not finished.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(JUDGEMENTS);
        let (file, lines): (File, Vec<Judgement>) = open_lines(&path, LINE)?;
        let mut judgements = Self { path, file, done: HashSet::new(), failed: HashMap::new() };
        lines.into_iter().for_each(|line| judgements.note(line));
        Ok(judgements)
    }

    /// Notes what a line says.
    fn note(&mut self, Judgement { key, verdict, calls, .. }: Judgement) {
        match verdict {
            Verdict::Failed { .. } => {
                self.done.remove(&key);
                if calls.is_empty() {
                    let n = self.failed.get(&key).map_or(0, |(n, _)| *n);
                    self.failed.insert(key, (n + 1, verdict));
                }
            }
            _ => {
                self.done.insert(key);
            }
        }
    }

    /// Returns whether a judgement need not be asked again. One that failed is: the fault may be gone.
    pub(super) fn is_done(&self, key: &JudgementKey) -> bool {
        self.done.contains(key)
    }

    /// Appends a judgement; once this returns, a kill cannot undo it. One that failed as before is there already.
    pub(super) fn append(&mut self, judgement: Judgement) -> Result<()> {
        let is_there = |(n, verdict): &(usize, Verdict)| *verdict == judgement.verdict || *n >= MOST_FAILURES;
        let has_failed = is_failed(&judgement) && judgement.calls.is_empty();
        if has_failed && self.failed.get(&judgement.key).is_some_and(is_there) {
            return Ok(());
        }
        let mut line = serde_json::to_vec(&judgement)?;
        line.push(b'\n');
        let written = files::append_lines(&self.file, &self.path, &line);
        written.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.note(judgement);
        Ok(())
    }

    /// Flushes what was appended to disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.file.sync_data().with_context(|| format!("cannot flush {} to disk", self.path.display()))
    }
}

/// Returns whether the call failed for good, which is no judgement.
pub(super) fn is_failed(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, Verdict::Failed { .. })
}

/// Puts a panel at the end of those of the folder: it is the one that speaks now.
pub(super) fn note_panel(folder: &Path, panel: &Panel) -> Result<()> {
    let mut panels = panels(folder)?;
    if panels.last() == Some(panel) {
        return Ok(());
    }
    panels.retain(|known| known != panel);
    panels.push(panel.clone());
    let mut text = serde_json::to_vec_pretty(&Panels { format: JUDGING_FORMAT, panels })?;
    text.push(b'\n');
    write_atomically(&folder.join(JUDGING), &text)
}

/// Returns what judges said of the run in a folder; nothing where none was asked.
pub fn read(folder: &Path) -> Result<Judging> {
    let judgements = files::read(&folder.join(JUDGEMENTS))?;
    let judging = read_judging(files::read(&folder.join(JUDGING))?.as_deref(), judgements.as_deref());
    judging.with_context(|| format!("{} cannot be read", folder.display()))
}

/// Puts what judges said of the parts of a run into the folder of the whole, each with the trials of which another part's answer
/// counts: what was said of its own stays behind. Of two lines on the same, one that did not fail counts, else the first.
pub fn merge(parts: &[(&Path, &HashSet<Subject>)], whole: &Path) -> Result<()> {
    let mut judgements: BTreeMap<JudgementKey, Judgement> = BTreeMap::new();
    for (part, outvoted) in parts {
        let judging = read(part)?;
        for panel in &judging.panels {
            note_panel(whole, panel)?;
        }
        for judgement in judging.judgements.into_iter().filter(|said| !outvoted.contains(&said.key.subject)) {
            match judgements.get(&judgement.key) {
                Some(known) if !is_failed(known) || is_failed(&judgement) => {}
                _ => drop(judgements.insert(judgement.key.clone(), judgement)),
            }
        }
    }
    if judgements.is_empty() {
        return Ok(());
    }
    let mut together = Judgements::open(whole)?;
    for judgement in judgements.into_values().filter(|judgement| !together.is_done(&judgement.key)).collect::<Vec<_>>()
    {
        together.append(judgement)?;
    }
    together.sync()
}

fn panels(folder: &Path) -> Result<Vec<Panel>> {
    let text = files::read(&folder.join(JUDGING))?;
    read_panels(text.as_deref()).with_context(|| format!("{} cannot be read", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_judges::Judge;

    #[test]
    fn a_judgement_that_fails_again_and_again_does_not_fill_the_file() {
        let run = tempfile::tempdir().unwrap();
        let failed = |error: &str| Judgement {
            key: JudgementKey {
                subject: Subject { item: "q".to_owned(), trial: None },
                judge: Judge::ClassifyQuestion,
                judge_model: "p/j".to_owned(),
                vote: 0,
                setup: String::new(),
            },
            verdict: Verdict::Failed { error: error.to_owned() },
            calls: Vec::new(),
            blocked_tokens: None,
        };
        let append = |error: &str| Judgements::open(run.path()).unwrap().append(failed(error)).unwrap();
        let n_lines = || std::fs::read_to_string(run.path().join(JUDGEMENTS)).unwrap().lines().count();
        for _ in 0..3 {
            append("refused");
        }
        assert_eq!(n_lines(), 1);
        (0..30).for_each(|n| append(&format!("busy for {n} s")));
        assert_eq!(n_lines(), MOST_FAILURES);
        let key = failed("").key;
        assert!(!Judgements::open(run.path()).unwrap().is_done(&key), "it is asked again");
    }
}
