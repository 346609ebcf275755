//! `closeread people rate`: a page on which people judge answers, label faults and check facts of a run.

use super::Selection;
use super::folder::StudyFolder;
use crate::hint::typed_path;
use anyhow::{Context, Result, bail};
use clap::Args;
use closeread_eval::Item;
use closeread_eval::draw::keep_where;
use closeread_judges::Reference;
use closeread_judges::study::{Asks, Drawing, of_run, unjudged};
use closeread_runner::finished::{self, Texts};
use closeread_runner::judging::works;
use closeread_table::number::counted;
use closeread_text::Language;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use tracing::info;

/// Make a page on which people judge a run's answers, label faults, or check facts
///
/// The page is one file that works from a disk; it shows neither the judges' verdicts nor the model. `people read`
/// takes what it saves.
#[derive(Debug, Args)]
pub(super) struct RateArgs {
    /// Run folder
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Questions to ask: correctness (of answers), fault (of wrong ones), key-fact and sentence (of summaries)
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "correctness")]
    ask: Vec<Asks>,
    #[command(flatten)]
    selection: Selection,
    /// Folder of the study
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Draws and writes the page. With --by, `method`, `model`, `budget` and `asks` are labels too.
pub(super) fn run(args: &RateArgs) -> Result<ExitCode> {
    if !finished::is_run_folder(&args.run) {
        bail!("{} is no run folder: expected what `closeread run --out DIR` makes", args.run.display());
    }
    StudyFolder::claim(&args.out)?;
    let draw = args.selection.draw()?;
    let mut run = finished::load(&args.run, finished::folder_name(&args.run), Texts::Skip)?;
    finished::refuse_rankings(&run.plan, &args.run)?;
    keep_where(&mut run.items, &args.selection.only).context("--where")?;
    let books = finished::books_of(&args.run)?;
    let by_id: HashMap<&str, _> = books.iter().map(|(id, book)| (id.as_str(), book)).collect();
    let texts = finished::texts(&args.run);
    let needs_excerpt = args.ask.contains(&Asks::Sentence);
    let (works, _) = works(run.items.iter().map(|item| (item, needs_excerpt)), &by_id, &texts, Reference::Chunk);
    let work = |item: &Item| {
        works
            .get(item.id.as_str())
            .map_or_else(|| (String::new(), Language::ENGLISH), |work| (work.title().to_owned(), work.language()))
    };
    let excerpt = |item: &Item| works.get(item.id.as_str()).map(|work| work.chunk().to_owned());
    let drawing = Drawing { work: &work, excerpt: &excerpt, draw: draw.as_ref() };
    let units = of_run(&args.ask, &run.items, &run.records, &run.judging.index(), &drawing)?;
    if args.ask.contains(&Asks::Fault) {
        let n_unjudged = unjudged(&run.items, &run.records, &run.judging.index());
        if n_unjudged > 0 {
            info!(
                "{} without a verdict: left out, for nobody knows whether they are wrong",
                counted(n_unjudged, "answer")
            );
        }
    }
    if units.is_empty() {
        bail!(
            "there is nothing to rate in {}: --ask correctness takes answers to open questions, fault wrong answers, key-fact \
             and sentence summaries of items with key facts",
            args.run.display()
        );
    }
    let n = units.len();
    let title = format!("{}: {n} to rate", run.benchmark);
    let page = StudyFolder::write(&args.out, title, None, units, Some(&args.run))?;
    info!("{}; {} is for people", counted(n, "unit"), page.display());
    info!("closeread people read {} FILE... reads what they save", typed_path(&args.out));
    Ok(ExitCode::SUCCESS)
}
