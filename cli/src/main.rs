//! The command line of closeread.

#[allow(dead_code, reason = "the commands that read books are wired up beside it")]
mod input;

fn main() {}
