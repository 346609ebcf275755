//! Runs: benchmarks read, books embedded, trials asked, judged and kept in a folder that can be resumed.

/// `eprintln!` in the place of the standard library's: what it says does not steer the terminal.
macro_rules! eprintln {
    ($($argument:tt)*) => {
        closeread_terminal::say(format_args!("{}\n", format_args!($($argument)*)))
    };
}

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
pub mod light;
pub mod models;
pub mod pricing;
pub mod progress;
pub mod prompts;
pub mod run_folder;
pub mod shard;
pub mod spending;
pub mod tokenizer;
