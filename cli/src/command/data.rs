//! `closeread data`: data sets, looked after.

mod hash;
mod stats;

use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Print the papers' tables on data; hash gold answers
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    /// Hash gold answers, so that a public page can score exact match without telling them
    Hash(hash::HashArgs),
    Stats(stats::StatsArgs),
}

/// Runs `closeread data`.
///
/// # Errors
/// If a file cannot be read or written, or the benchmark cannot be read.
pub(crate) fn run(args: DataArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        DataCommand::Hash(args) => hash::run(&args),
        DataCommand::Stats(args) => stats::run(&args),
    }
}
