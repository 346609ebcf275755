//! `closeread data hash`: gold answers that a public page can score against without telling them.

use anyhow::bail;
use clap::Args;
use closeread_data::jsonl;
use closeread_eval::{Item, PUBLISHED, Problem, ProblemList};
use closeread_files::{refuse_input_as_output, write_output};
use closeread_metrics::{HashedAnswer, hashed};
use closeread_results::files::items_file;
use closeread_results::scoring::gold;
use closeread_table::number::counted;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use tracing::info;

/// Arguments of `closeread data hash`.
#[derive(Debug, Args)]
pub(super) struct HashArgs {
    /// items.jsonl with the gold answers, or its folder
    #[arg(value_name = "ITEMS")]
    items: PathBuf,
    /// Hashed with every answer; any word of your own, without a colon
    #[arg(long, value_name = "TEXT")]
    salt: String,
    /// File to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Writes the open items with their answers hashed, without evidence, key facts and fields that closeread does not know,
/// which could tell them. Exits with 1 if an item cannot be hidden.
pub(super) fn run(args: &HashArgs) -> anyhow::Result<ExitCode> {
    if args.salt.contains(':') || args.salt.trim().is_empty() {
        bail!("--salt `{}`: expected a word without a colon", args.salt);
    }
    refuse_input_as_output(&args.out, "--out", [items_file(&args.items).as_path()])?;
    let file = gold(&args.items)?;
    let (items, problems) = jsonl::items(&file);
    if items.is_empty() {
        bail!("{} holds no item that can be used: expected items.jsonl", file.name);
    }
    let mut left_out: ProblemList = problems.into_iter().filter(|problem| problem.dropped).collect();
    let (mut lines, mut n_written, mut removed) = (String::new(), 0, BTreeSet::new());
    for mut item in items {
        let id = item.id.clone();
        item.other.retain(|name, _| {
            let is_kept = PUBLISHED.contains(&name.as_str());
            if !is_kept {
                removed.insert(name.clone());
            }
            is_kept
        });
        match hidden(item, &args.salt) {
            Ok(item) => {
                lines += &(serde_json::to_string(&item)? + "\n");
                n_written += 1;
            }
            Err(why) => left_out.push(Problem::dropped(&file.name, None, Some(&id), why)),
        }
    }
    write_output(&args.out, lines.as_bytes())?;
    for why in left_out.iter() {
        info!("{why}");
    }
    if !removed.is_empty() {
        let removed: Vec<String> = removed.into_iter().collect();
        info!("fields that could tell an answer are not written: {}", removed.join(", "));
    }
    outln!("{}: {}, {} left out", args.out.display(), counted(n_written, "item"), left_out.len());
    Ok(if left_out.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn hidden(mut item: Item, salt: &str) -> Result<Item, String> {
    if item.correct.is_some() || !item.options.is_empty() {
        return Err(format!("a choice among {} options is soon guessed", item.options.len()));
    }
    if item.answers.is_empty() {
        return Err("no `answers` to hash".to_owned());
    }
    let hash = |gold: String| if HashedAnswer::parse(&gold).is_some() { gold } else { hashed(&gold, salt) };
    item.answers = item.answers.into_iter().map(hash).collect();
    item.evidence.clear();
    item.key_facts = None;
    Ok(item)
}
