//! The project's own chores. `cargo xtask test` is everything that CI does, set-up included.

mod bench;
mod conformance;
mod fuzz;
mod machine;
mod process;
mod test;
mod vectors;
mod web;
mod wordnet;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The project's own chores.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Everything that CI does: format, lints, both targets, all tests, conformance, the pages. Sets the machine up
    /// where something is missing and says so.
    Test(test::Args),
    /// Runs a folder of conformance vectors against the core: one line a file, exit code 1 if any case fails.
    Conformance(conformance::Args),
    /// Throws random files at everything that reads predictions, replies and benchmarks.
    Fuzz(fuzz::Args),
    /// Makes tests/vectors again with the reference implementations from PyPI.
    Vectors(vectors::Args),
    /// Measures speed against a named peer, in the same run, and prints the ratios.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Builds the page into web/dist.
    Web(web::Args),
    /// Makes the compact WordNet of METEOR again from Debian's package wordnet-base.
    Wordnet(wordnet::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().chore {
        Chore::Test(args) => test::run(&args),
        Chore::Conformance(args) => conformance::run(&args),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::Vectors(args) => vectors::run(&args),
        Chore::Bench(bench) => bench::run(&bench),
        Chore::Web(args) => web::run(&args),
        Chore::Wordnet(args) => wordnet::run(&args),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
