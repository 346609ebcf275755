//! What was handed in, and whether the engine still has it.

use super::job::call;
use std::process::{Child, Command};

/// Parts in the hands of an engine.
pub(super) enum Handed {
    /// Slurm's arrays, by their numbers.
    Arrays(Vec<String>),
    /// Kubernetes' job, by its name.
    Job(String),
    /// The script of Ray, whose tasks last no longer.
    Script(Child),
}

impl Handed {
    /// Returns whether parts wait or run there; `None` if the engine does not say. A part that waits to run again looks stopped.
    pub(super) fn goes_on(&mut self) -> Option<bool> {
        match self {
            Self::Arrays(ids) => {
                let queue = call(Command::new("squeue").args(["--noheader", "--jobs"]).arg(ids.join(","))).ok()?;
                Some(!queue.is_empty())
            }
            Self::Job(name) => {
                let types = "jsonpath={.status.conditions[?(@.status==\"True\")].type}";
                let types = call(Command::new("kubectl").args(["get", "job", name, "--output", types])).ok()?;
                Some(!types.split_whitespace().any(|kind| matches!(kind, "Complete" | "Failed")))
            }
            Self::Script(script) => Some(script.try_wait().ok()?.is_none()),
        }
    }
}
