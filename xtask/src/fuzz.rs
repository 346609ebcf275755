//! `cargo xtask fuzz`: random files against everything that reads what others wrote, for a while.

use crate::process::{cargo, target_dir};
use anyhow::{Context as _, Result};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long.
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    minutes: f64,
    /// Start of the random numbers: the same seed makes the same inputs. Without it the clock decides.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

/// Runs the fuzzer of package closeread-tests; false if an input failed. What failed lies in target/fuzz.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let seconds = (args.minutes * 60.0).max(1.0).round() as u64;
    let mut command = cargo();
    command.args(["run", "--package", "closeread-tests", "--bin", "fuzz", "--", "--seconds", &seconds.to_string()]);
    command.arg("--save").arg(target_dir()?.join("fuzz"));
    if let Some(seed) = args.seed {
        command.args(["--seed", &seed.to_string()]);
    }
    Ok(command.status().context("cannot start cargo")?.success())
}
