//! Speed against a named peer, in the same run.

mod embed;
mod metrics;

use anyhow::Result;
use clap::Subcommand;

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Embedding, against onnxruntime from PyPI.
    Embed(embed::EmbedArgs),
    /// Text metrics, against their Python references from PyPI.
    Metrics(metrics::MetricsArgs),
}

/// Measures and prints.
pub(crate) fn run(bench: &Bench) -> Result<bool> {
    match bench {
        Bench::Embed(args) => embed::run_with(args).map(|()| true),
        Bench::Metrics(args) => metrics::run_with(args),
    }
}
