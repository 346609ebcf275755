//! What a part is expected to take.

use super::job::SubmitArgs;
use anyhow::{Context as _, Result, bail};
use closeread_table::number::thousands;
use std::process::Command;
use std::time::Duration;
use tracing::{info, warn};

/// Least time of a part that is not given.
const LEAST_MINUTES: u32 = 60;

/// Memory is asked for in steps of this many MiB.
const STEP_MIB: u64 = 32;

/// What a part takes.
pub(super) struct Expected {
    pub(super) minutes: u32,
    /// Memory in MiB; `None` where nothing is known of it.
    pub(super) memory: Option<u32>,
}

impl Expected {
    /// Returns what is given, or else what the run's estimate gives a part. A dry run does not fetch a benchmark from a store.
    pub(super) fn of(args: &SubmitArgs, run: &[String], in_store: bool) -> Result<Self> {
        match (args.minutes, args.memory) {
            (Some(minutes), Some(_)) => Ok(Self { minutes, memory: None }),
            _ if args.dry_run && in_store => {
                info!("the benchmark is not fetched in a dry run: time and memory are not those that it takes");
                Ok(Self { minutes: LEAST_MINUTES, memory: None })
            }
            _ => Self::estimated(run, args.parts),
        }
    }

    /// Returns what the estimate of a run with a part's share of the limits gives a part, with time for slower servers.
    fn estimated(run: &[String], parts: usize) -> Result<Self> {
        let estimate = estimated_by(run, &[])?;
        if estimate["books"].as_u64().is_some_and(|books| books < parts as u64) {
            // Each part would refuse to split a book whose questions are one call.
            estimated_by(run, &["--shard", &format!("1/{parts}")])?;
        }
        warn_of_share(&estimate, run);
        let models = estimate["models"].as_array().map(Vec::as_slice).unwrap_or_default();
        let seconds = models.iter().filter_map(|model| model["seconds"][1].as_f64()).fold(0.0, f64::max);
        let a_part = Duration::from_secs_f64(3.0 * seconds / parts as f64);
        let minutes = u32::try_from(a_part.as_secs() / 60).unwrap_or(u32::MAX).max(LEAST_MINUTES);
        let of_memory = |name: &str| estimate["memory"][name].as_u64();
        let memory = of_memory("fixed").zip(of_memory("records")).map(|(fixed, records)| {
            let mebibytes = (fixed + records.div_ceil(parts as u64)).next_multiple_of(STEP_MIB);
            u32::try_from(mebibytes).unwrap_or(u32::MAX)
        });
        Ok(Self { minutes, memory })
    }
}

/// Returns what `closeread estimate` says of a run with further options.
fn estimated_by(run: &[String], more: &[&str]) -> Result<serde_json::Value> {
    let said = Command::new(std::env::current_exe()?).args(["estimate", "--json"]).args(more).args(run).output()?;
    if !matches!(said.status.code(), Some(0 | 1)) {
        bail!("cannot estimate the run: {}", String::from_utf8_lossy(&said.stderr).trim());
    }
    serde_json::from_slice(&said.stdout).context("estimate prints JSON")
}

/// Warns of prompts that a part's share of the tokens a minute can never take: their trials would fail in every part.
fn warn_of_share(estimate: &serde_json::Value, run: &[String]) {
    if !run.iter().any(|option| option == "--tpm") {
        return;
    }
    let lines = ["cells", "judges"].into_iter().filter_map(|name| estimate[name].as_array()).flatten();
    let never_fit: u64 = lines.filter_map(|line| line["never_fit"].as_u64()).sum();
    if never_fit > 0 {
        warn!(
            "{} requests can never fit the --tpm of a part, or the model's window, and would fail: use fewer parts, or a \
             higher --tpm",
            thousands(never_fit)
        );
    }
}
