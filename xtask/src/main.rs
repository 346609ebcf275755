//! The project's own chores. `cargo xtask test --install` is everything that CI does, set-up included.

mod audit;
mod bench;
mod conformance;
mod corpus;
mod dist;
mod docs;
mod doctor;
mod machine;
mod process;
mod python;
mod size;
mod test;
mod vectors;
mod vocabularies;
mod web;
mod wordnet;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The project's own chores.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    /// Install what a chore needs and this machine lacks: by rustup, apt-get and cargo
    #[arg(long, global = true)]
    install: bool,
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Everything that CI does: format, lints, all tests, conformance on both targets, the pages.
    Test(test::Args),
    /// Lists what the checks need, what of it is here, and how to get the rest.
    Doctor,
    /// Says how large the release binary is and what it is made of; with --build, how long it takes to compile.
    Size(size::Args),
    /// Runs a folder of conformance vectors against the core: one line a file, exit code 1 if any case fails.
    Conformance(conformance::Args),
    /// Invents a corpus of any length, to measure with: reports, and questions with gold answers.
    Corpus(corpus::Args),
    /// Recomputes the papers' figures from the papers' own tables and writes docs/audit.md.
    Audit(audit::Args),
    /// Makes tests/vectors again with the reference implementations from PyPI.
    Vectors(vectors::Args),
    /// Measures speed against a named peer, in the same run, and prints the ratios.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Builds the page into web/dist.
    Web(web::Args),
    /// Builds the documentation as a site, into target/docs/site; with --check, only checks its sources.
    Docs(docs::Args),
    /// Makes what people install, archives, wheels, packages of npm, an image, and tries it.
    Dist(dist::Args),
    /// Makes the vocabularies of cl100k and o200k again from the files that OpenAI publishes.
    Vocabularies(vocabularies::Args),
    /// Makes the compact WordNet of METEOR again from Debian's package wordnet-base.
    Wordnet(wordnet::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.install {
        machine::allow_installing();
    }
    let result = match cli.chore {
        Chore::Test(args) => test::run(&args),
        Chore::Doctor => doctor::run(),
        Chore::Size(args) => size::run(&args),
        Chore::Conformance(args) => conformance::run(&args),
        Chore::Corpus(args) => corpus::run(&args),
        Chore::Audit(args) => audit::run(&args),
        Chore::Vectors(args) => vectors::run(&args),
        Chore::Bench(bench) => bench::run(&bench),
        Chore::Web(args) => web::run(&args),
        Chore::Docs(args) => docs::run(&args),
        Chore::Dist(args) => dist::run(&args),
        Chore::Vocabularies(args) => vocabularies::run(&args),
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
