//! `closeread build`: benchmarks made from books, as the papers make theirs.

mod args;
mod corpusqa;
mod hamlet;
mod inputs;
mod options;
mod sagascale;
mod say;

use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Make a benchmark from your own books, stage by stage
#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    #[command(subcommand)]
    pipeline: Pipeline,
}

#[derive(Debug, Subcommand)]
enum Pipeline {
    #[command(name = "corpusqa")]
    CorpusQa(Box<corpusqa::CorpusQaArgs>),
    Hamlet(Box<hamlet::HamletArgs>),
    Options(Box<options::OptionsArgs>),
    #[command(name = "sagascale")]
    SagaScale(Box<sagascale::SagaScaleArgs>),
}

/// Runs a pipeline.
pub(crate) async fn run(args: BuildArgs) -> Result<ExitCode> {
    match args.pipeline {
        Pipeline::CorpusQa(args) => corpusqa::run(*args).await,
        Pipeline::Hamlet(args) => hamlet::run(*args).await,
        Pipeline::Options(args) => options::run(*args).await,
        Pipeline::SagaScale(args) => sagascale::run(*args).await,
    }
}
