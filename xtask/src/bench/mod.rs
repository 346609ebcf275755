//! Measures speed, in one run with a named peer if there is one.

mod corpus;
mod embed;
mod engine;
mod gpu;
mod metrics;
mod novelqa;
mod peers;
mod web;

use anyhow::Result;
use clap::Subcommand;

/// The measurements.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// One large corpus: indexes by words and by vectors, against bm25s, tantivy and FAISS from PyPI.
    Corpus(corpus::CorpusArgs),
    /// Embedding, against onnxruntime from PyPI.
    Embed(embed::EmbedArgs),
    /// Whole runs, against inspect_ai from PyPI on the same server.
    Engine(engine::EngineArgs),
    /// Embedding on a graphics processor, against sentence-transformers from PyPI on the same one.
    Gpu(gpu::GpuArgs),
    /// Text metrics, against their Python references from PyPI.
    Metrics(metrics::MetricsArgs),
    /// A benchmark of NovelQA's size: the time of a dry run, the size of a run folder.
    Novelqa(novelqa::NovelQaArgs),
    /// The page's encoder, against onnxruntime-web, and the page, against the same on transformers.js, in Chromium.
    Web(web::WebArgs),
}

/// Measures, and prints the results.
pub(crate) fn run(bench: &Bench) -> Result<bool> {
    match bench {
        Bench::Corpus(args) => corpus::run_with(args),
        Bench::Embed(args) => embed::run_with(args).map(|()| true),
        Bench::Engine(args) => engine::run_with(args),
        Bench::Gpu(args) => gpu::run_with(args).map(|()| true),
        Bench::Metrics(args) => metrics::run_with(args),
        Bench::Novelqa(args) => novelqa::run_with(args),
        Bench::Web(args) => web::run_with(args),
    }
}
