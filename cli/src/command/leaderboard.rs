//! `closeread leaderboard`: a site of everything that was submitted, made from what lies there.

mod submission;
mod workflow;

use super::site::SiteFolder;
use anyhow::{Context, Result, bail, ensure};
use closeread_eval::{Item, is_spaceless};
use closeread_files::refuse_same_output;
use closeread_report::site::{Found, Submission, leaderboard};
use closeread_results::scoring::whole_items;
use closeread_runner::finished;
use closeread_table::number::thousands;
use closeread_table::render::text;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use tracing::{info, warn};

/// Make a leaderboard of runs and predictions, as a site
///
/// A submission is a folder with a run, or with predictions.jsonl; a submission.toml in it can say date, about, url,
/// model and withdrawn. The same submissions give the same site, in any order. Exits with 1 if a submission is left
/// out.
#[derive(Debug, clap::Args)]
pub(crate) struct LeaderboardArgs {
    /// The folder of the site: a new or an empty one, or one that this command wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The folders of the submissions; in quotes, `*` stands for any name
    #[arg(long, value_name = "PATTERN", required = true, num_args = 1..)]
    runs: Vec<String>,
    /// Items with the gold answers, a file or the folder that holds items.jsonl; the site publishes them [default: those of
    /// the run with the most items]
    #[arg(long, value_name = "ITEMS")]
    gold: Option<PathBuf>,
    /// The benchmark, whose paper's tables are made [default: that of the first run by
    /// name]
    #[arg(long, value_name = "NAME")]
    benchmark: Option<String>,
    /// Heading of the site
    #[arg(long, value_name = "TEXT", default_value = "Leaderboard")]
    title: String,
    /// Write a workflow that checks each submission and publishes the site, such as .github/workflows/leaderboard.yml;
    /// an existing file is kept
    #[arg(long, value_name = "FILE", requires = "gold")]
    workflow: Option<PathBuf>,
}

/// Makes the leaderboard's site anew.
pub(crate) fn run(args: &LeaderboardArgs) -> Result<ExitCode> {
    if let Some(path) = &args.workflow {
        refuse_same_output((path, "--workflow"), (&args.folder, "DIR"))?;
        workflow::write(path, args)?;
    }
    let site = SiteFolder::open(&args.folder, "leaderboard-files.json", "DIR")?;
    let folders = folders(&args.runs)?;
    if folders.is_empty() && args.gold.is_none() {
        bail!("{}: no folder is called so; --gold ITEMS makes a leaderboard without a submission", args.runs.join(" "));
    }
    let gold = match &args.gold {
        Some(path) => whole_items(path)?,
        None => of_longest_run(&folders)?,
    };
    let mut submissions: Vec<_> = folders.iter().map(|(name, path)| submission::read(name, path, &gold)).collect();
    let runs = submissions.iter_mut().filter_map(|one| match &mut one.found {
        Found::Run(run) => Some(run),
        _ => None,
    });
    let mut runs: Vec<_> = runs.collect();
    let of_run = || runs.iter().map(|run| run.benchmark.clone()).find(|name| !name.is_empty());
    let benchmark = args.benchmark.clone().or_else(of_run).unwrap_or_else(|| args.title.clone());
    // It is the items that tell whether they are the same, and those were compared.
    runs.iter_mut().for_each(|run| run.benchmark.clone_from(&benchmark));
    let (listed, mut left_out) = (runs.len(), 0);
    for one in &submissions {
        if let Found::Broken(why) = &one.found {
            left_out += 1;
            warn!("{} is left out: {}", one.name, text::plain(why));
        }
    }
    warn_of_languages(&submissions, &gold);
    let files = leaderboard(&args.title, &gold, submissions).context("the submissions cannot stand in one table")?;
    site.write(&files, true)?;
    info!("submissions: {listed} read, {left_out} left out, {} withdrawn", folders.len() - listed - left_out);
    Ok(ExitCode::from(u8::from(left_out > 0)))
}

/// Names a run that knows from its books that items are Chinese or Japanese where the gold answers do not tell: the board scores
/// these by the gold answers, the run's own tables by the books.
fn warn_of_languages(submissions: &[Submission], gold: &[Item]) {
    let by_id: BTreeMap<&String, &Item> = gold.iter().map(|item| (&item.id, item)).collect();
    let unlike = |one: &Submission| {
        let Found::Run(run) = &one.found else { return None };
        let is_unlike = |item: &&Item| by_id.get(&item.id).is_some_and(|gold| is_spaceless(item) != is_spaceless(gold));
        let n = run.items.iter().filter(is_unlike).count();
        (n > 0).then(|| (one.name.clone(), n))
    };
    if let Some((name, n)) = submissions.iter().find_map(unlike) {
        warn!(
            "{} items are Chinese or Japanese in {name}, by their books, and the gold answers do not tell it: the board scores \
             them by other metrics than the tables of {name}; give them the field `language`",
            thousands(n as u64)
        );
    }
}

/// The folders that the patterns name, by the last part of their paths.
fn folders(patterns: &[String]) -> Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeSet::new();
    for pattern in patterns {
        let named = || format!("--runs {pattern}");
        // It would follow links, which lead around in circles.
        if pattern.contains("**") {
            bail!("{}: `**` is not read; `*` stands for any name, as in runs/*/*", named());
        }
        let mut folders: Vec<PathBuf> =
            glob::glob(pattern).with_context(named)?.collect::<Result<_, _>>().with_context(named)?;
        folders.retain(|path| path.is_dir());
        // A submission that is named is one that somebody waits for.
        ensure!(!folders.is_empty() || pattern.contains(['*', '?', '[']), "{}: no folder is called so", named());
        if folders.is_empty() {
            warn!("{}: no folder is called so", named());
        }
        found.extend(folders);
    }
    let mut folders = BTreeMap::new();
    for path in found {
        if let Some(other) = folders.insert(finished::folder_name(&path), path.clone()) {
            bail!(
                "{} and {} have one name, which is that of their systems: rename one",
                other.display(),
                path.display()
            );
        }
    }
    Ok(folders)
}

/// The items of the run that has the most with gold answers, of equal ones the first by name: by those of a part, whole runs
/// would be left out.
fn of_longest_run(folders: &BTreeMap<String, PathBuf>) -> Result<Vec<Item>> {
    let read = |path: &PathBuf| submission::refuse_links(path).and_then(|()| whole_items(path));
    let runs = folders.iter().filter(|(_, path)| finished::is_run_folder(path));
    let runs = runs.map(|(name, path)| (name, read(path))).rev();
    // A run on questions alone has nothing to score by.
    let has_gold = |item: &&Item| item.correct.is_some() || !item.answers.is_empty() || item.key_facts.is_some();
    let size = |items: &Vec<Item>| (items.iter().filter(has_gold).count(), items.len());
    let longest = runs.max_by_key(|(_, items)| items.as_ref().map_or((0, 0), size));
    let (name, items) =
        longest.context("no submission is a run, and only a run has gold answers: name them by --gold ITEMS")?;
    let items = items?;
    info!("gold answers: those of {name}, {} items", thousands(items.len() as u64));
    Ok(items)
}
