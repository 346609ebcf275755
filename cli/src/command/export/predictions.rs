//! `closeread export predictions`: what a cell answered, for whoever keeps the gold answers.

use super::{at_name, each_row, exit_code, one_arm, open, trials};
use anyhow::{Result, bail};
use closeread_files::run_files::refuse_run_file;
use closeread_files::write_output;
use closeread_report::site::prediction_row;
use closeread_runner::finished::{NamedFolder, refuse_rankings};
use closeread_table::number::counted;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use tracing::info;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run folder
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The file to write; a leaderboard reads predictions.jsonl in the folder of a submission
    #[arg(long, value_name = "FILE.jsonl")]
    out: PathBuf,
    /// The cell to write, METHOD@BUDGET, where the run has several
    #[arg(long, value_name = "CELL")]
    at: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    refuse_run_file(&args.out)?;
    let mut streamed = open(&NamedFolder { path: args.run.clone(), name: None })?;
    refuse_rankings(&streamed.run.plan, &args.run)?;
    let arm = one_arm(&streamed.run.plan, args.at.as_deref(), &args.run)?;
    let cell = trials(&mut streamed, &arm)?;
    let (mut lines, mut n) = (String::new(), 0);
    each_row(&mut streamed, &cell, |_, row| {
        // A reader counts one row an item.
        if row.trial.repeat > 0 {
            return Ok(());
        }
        if let Some(mut line) = prediction_row(row.item, row.record) {
            if let Some(evidence) = &row.record.evidence {
                line["evidence"] = json!(evidence);
            }
            lines += &format!("{line}\n");
            n += 1;
        }
        Ok(())
    })?;
    if n == 0 {
        bail!("{}: {} has answered nothing yet: there is nothing to hand in", args.run.display(), at_name(&arm));
    }
    write_output(&args.out, lines.as_bytes())?;
    let repeats = match streamed.run.repeats {
        1 => String::new(),
        n => format!(", the first of {n} repeats"),
    };
    info!("{}: {} of {}{repeats}", args.out.display(), counted(n, "prediction"), at_name(&arm));
    Ok(exit_code(streamed.lacks.is_empty()))
}
