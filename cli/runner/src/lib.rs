//! Runs: benchmarks read, books embedded, trials asked, judged and kept in a folder that can be resumed.

#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod benchmark;
pub mod cache;
pub mod embedder;
pub mod encoders;
pub mod engine;
pub mod finished;
pub mod host;
pub mod input;
pub mod interrupt;
pub mod journal;
pub mod judging;
pub mod kept_index;
pub mod light;
pub mod models;
pub mod pages;
pub mod pricing;
pub mod progress;
pub mod prompts;
pub mod reranker;
pub mod run_folder;
pub mod shard;
pub mod spending;
mod spread;
pub mod texts;
pub mod tokenizer;
