//! `cargo xtask doctor`: lists what the checks need, what is installed, and how to get the rest.

use crate::machine::{OPTIONAL, REQUIRED, Tool, room};
use crate::test::lacking;
use anyhow::Result;

/// Prints the list; false if something is missing that the checks of a pull request require.
pub(crate) fn run() -> Result<bool> {
    println!("Needed by `cargo xtask test`:");
    let missing = REQUIRED.iter().filter(|tool| !print(tool)).count();
    println!("  {}", room()?);
    println!("\nNeeded by single tests, which are left out without it, and by `--nightly`:");
    for tool in OPTIONAL {
        print(tool);
    }
    println!("\nTests that are left out here need:");
    let lacking = lacking();
    if lacking.is_empty() {
        println!("  nothing that is missing: all are run");
    }
    for what in lacking {
        println!("  {what}");
    }
    println!("\nWhat CLOSEREAD_DATA, CLOSEREAD_VECTORS and CLOSEREAD_SERVERS name: docs/testing.md");
    Ok(missing == 0)
}

/// Prints a tool, or how to get it; returns whether it is there.
fn print(tool: &Tool) -> bool {
    let found = (tool.find)();
    let state = found.as_deref().unwrap_or("MISSING");
    println!("  {:<42} {state}  ({})", tool.name, tool.used_by);
    if found.is_none() {
        for command in tool.get.commands() {
            println!("      {command}");
        }
    }
    found.is_some()
}
