//! Limits over all parts together: each part gets its share.

use crate::config::RunArgs;
use anyhow::{Result, ensure};

/// The options of a part: those of the run with each limit divided by the number of parts; and the shares in words.
pub(super) fn shared(given: &[String], options: &RunArgs, parts: usize) -> Result<(Vec<String>, Vec<String>)> {
    let n = parts as u64;
    let mut shares: Vec<(&str, String, String)> = Vec::new();
    if let Some(dollars) = options.max_cost {
        // Rounded down: the shares together are no more than the whole.
        let share = (dollars / parts as f64 * 1e6).floor() / 1e6;
        shares.push(("--max-cost", format!("{share:.6}"), dollars.to_string()));
    }
    for (option, limit) in [("--rpm", options.rpm.map(u64::from)), ("--tpm", options.tpm)] {
        if let Some(limit) = limit {
            ensure!(
                limit >= n,
                "{option} {limit} cannot be shared by {parts} parts: less than 1 for each; use fewer parts"
            );
            shares.push((option, (limit / n).to_string(), limit.to_string()));
        }
    }
    let mut run = without(given, &shares.iter().map(|(option, ..)| *option).collect::<Vec<_>>());
    let mut words = Vec::new();
    for (option, share, whole) in shares {
        words.push(format!("{option} {whole} over {parts} parts is {share} for each"));
        run.extend([option.to_owned(), share]);
    }
    Ok((run, words))
}

/// Arguments without these options and their values.
fn without(given: &[String], options: &[&str]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = given.iter();
    while let Some(argument) = rest.next() {
        if options.contains(&argument.as_str()) {
            rest.next();
        } else if !options.iter().any(|option| argument.strip_prefix(option).is_some_and(|end| end.starts_with('='))) {
            kept.push(argument.clone());
        }
    }
    kept
}
