//! Each pipeline as a transcript: what its stages ask, word for word, what they keep and why they drop; and the laws of
//! all builds: a build that dies anywhere and comes back makes the same data.

mod corpusqa;
mod corpusqa_data;
mod corpusqa_words;
mod hamlet;
mod hamlet_words;
mod options;
mod sagascale;
mod sagascale_words;

use crate::support::{ScriptedHost, with_setting};
use closeread_build::{BuildError, Built, StageStore, Stored};
use closeread_eval::Item;
use closeread_llm::{Call, HostError};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// The lines of stages in memory; from the append `dies_at` on it takes no more, as a process that was killed.
#[derive(Default)]
struct Memory {
    stages: RefCell<BTreeMap<&'static str, (String, Stored)>>,
    appends: Cell<usize>,
    dies_at: Cell<Option<usize>>,
}

impl Memory {
    /// The lines of a stage.
    fn lines(&self, stage: &str) -> Vec<Value> {
        let stages = self.stages.borrow();
        let lines = stages.get(stage).map(|(_, stored)| stored.lines.as_slice()).unwrap_or_default();
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Edits the lines of a stage, as a person with an editor does.
    fn edit(&self, stage: &str, edit: impl FnOnce(&mut Vec<String>)) {
        edit(&mut self.stages.borrow_mut().get_mut(stage).unwrap().1.lines);
    }

    fn forget(&self, stage: &str) {
        self.stages.borrow_mut().remove(stage);
    }
}

impl StageStore for Memory {
    fn read(&self, stage: &'static str, made_from: &str) -> Result<Stored, BuildError> {
        match self.stages.borrow().get(stage) {
            Some((from, stored)) if from == made_from => Ok(stored.clone()),
            Some((_, stored)) if stored.finished => Err(BuildError::Stale { stage }),
            _ => Ok(Stored::default()),
        }
    }

    fn begin(&self, _stage: &'static str, _units: usize, _done: usize) {}

    fn append(&self, stage: &'static str, made_from: &str, line: &str) -> Result<(), BuildError> {
        if self.dies_at.get().is_some_and(|at| self.appends.get() >= at) {
            return Err(BuildError::Store("killed".to_owned()));
        }
        self.appends.set(self.appends.get() + 1);
        let mut stages = self.stages.borrow_mut();
        let entry = stages.entry(stage).or_default();
        if entry.0 != made_from {
            *entry = (made_from.to_owned(), Stored::default());
        }
        entry.1.lines.push(line.to_owned());
        Ok(())
    }

    fn finish(&self, stage: &'static str, made_from: &str, lines: &[String]) -> Result<(), BuildError> {
        let stored = Stored { lines: lines.to_vec(), finished: true };
        self.stages.borrow_mut().insert(stage, (made_from.to_owned(), stored));
        Ok(())
    }
}

type Script = dyn Fn(&Call) -> Result<String, HostError>;

/// The law of every pipeline: one whose calls fail from any call on, or that is killed behind any line, makes the same
/// data when it is run again into the same store; and calls that overtake each other change nothing.
fn survives_any_death(script: &Script, build: &dyn Fn(&ScriptedHost<'_>, &Memory) -> Result<Built, BuildError>) {
    let undisturbed = Memory::default();
    let host = ScriptedHost::scripted(|call, _| script(call));
    let expected = build(&host, &undisturbed).unwrap();
    for k in 0..host.asked() {
        let store = Memory::default();
        let dying = ScriptedHost::scripted(|call, n| match n < k {
            true => script(call),
            false => Err(HostError::Failed("the host died".to_owned())),
        });
        assert!(matches!(build(&dying, &store), Err(BuildError::Failed { .. })), "died at call {k}");
        let back = build(&ScriptedHost::scripted(|call, _| script(call)), &store).unwrap();
        assert_eq!(back, expected, "died at call {k}");
    }
    for k in 0..undisturbed.appends.get() {
        let store = Memory::default();
        store.dies_at.set(Some(k));
        assert!(matches!(build(&ScriptedHost::scripted(|call, _| script(call)), &store), Err(BuildError::Store(_))));
        store.dies_at.set(None);
        let back = build(&ScriptedHost::scripted(|call, _| script(call)), &store).unwrap();
        assert_eq!(back, expected, "killed behind line {k}");
    }
    for seed in 0..4 {
        let host = ScriptedHost::scripted(|call, _| script(call)).delayed(seed);
        assert_eq!(build(&host, &Memory::default()).unwrap(), expected, "delays of seed {seed}");
    }
}

/// The rows of a funnel: stage, units, kept, reasons.
fn funnel(built: &Built) -> Vec<String> {
    let row = |row: &closeread_build::FunnelRow| {
        let dropped: Vec<String> = row.dropped.iter().map(|(reason, n)| format!(", {reason} {n}")).collect();
        format!("{} {} -> {}{}", row.stage, row.units, row.kept, dropped.concat())
    };
    built.funnel.rows.iter().map(row).collect()
}

fn ids(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}
