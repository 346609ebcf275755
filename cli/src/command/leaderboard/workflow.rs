//! The workflow of a repository that keeps a leaderboard.

use super::LeaderboardArgs;
use anyhow::{Context, Result, bail};
use closeread_files::{self as files, write_atomically};
use std::path::Path;
use tracing::info;

/// The workflow; `{…}` stands for what the command was told.
const WORKFLOW: &str = include_str!("workflow.yml");
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Writes the workflow that gives the command as it was given; one that is there stays as it is.
pub(super) fn write(path: &Path, args: &LeaderboardArgs) -> Result<()> {
    let text = of(args)?;
    if let Some(there) = files::read(path)? {
        if there != text.as_bytes() {
            info!("{} stays as it is: remove it, and this command writes it anew", path.display());
        }
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).with_context(|| format!("cannot create the folder {}", parent.display()))?;
    write_atomically(path, text.as_bytes())?;
    info!("{}: checks submissions and publishes the site", path.display());
    Ok(())
}

fn of(args: &LeaderboardArgs) -> Result<String> {
    let gold = args.gold.as_deref().and_then(Path::to_str).context("--gold is no text that a workflow can hold")?;
    let folder = args.folder.to_str().context("DIR is no text that a workflow can hold")?;
    let [pattern] = args.runs.as_slice() else {
        bail!("--workflow takes one pattern: put it in quotes, as in --runs 'runs/*'");
    };
    for (option, path) in [("DIR", folder), ("--gold", gold), ("--runs", pattern.as_str())] {
        let is_inside = Path::new(path).is_relative() && !path.split(['/', '\\']).any(|part| part == "..");
        let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/_-.*?".contains(c));
        if !is_inside || !is_plain {
            bail!("{option} {path}: expected a path inside the repository, of letters, digits and / _ - . *");
        }
    }
    for (option, text) in [("--title", Some(&args.title)), ("--benchmark", args.benchmark.as_ref())] {
        if text.is_some_and(|text| text.contains(char::is_control) || text.contains("${{")) {
            bail!("{option} holds what a workflow reads as its own: expected one line without ${{{{");
        }
    }
    let mut options = format!("--gold {gold} --title {}", shlex::try_quote(&args.title)?);
    if let Some(benchmark) = &args.benchmark {
        options += &format!(" --benchmark {}", shlex::try_quote(benchmark)?);
    }
    Ok(WORKFLOW
        .replace("{repository}", REPOSITORY.trim_start_matches("https://github.com/"))
        .replace("{options}", &options)
        .replace("{gold}", gold)
        .replace("{runs}", pattern)
        .replace("{folder}", folder))
}
