//! The command line of closeread.

mod command;
#[allow(dead_code, reason = "`run` and `search` call it")]
mod embedder;
mod models;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// How well do language models read whole books?
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Model(command::model::ModelArgs),
}

#[tokio::main]
async fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Model(args) => command::model::run(args).await,
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
