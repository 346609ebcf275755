//! The run: books become indexes, items become trials, trials become records.

mod book_indexes;
pub(crate) mod grouping;
mod indexing;
mod plan;
mod prepare;
pub mod replay;
mod trials;

pub use grouping::groups;
pub use indexing::{KeptFile, keep_indexes};
pub use plan::{Plan, PlannedCell, retriever_for};

use crate::benchmark::Benchmark;
use crate::interrupt;
use crate::journal::{Journal, Journals};
use crate::progress::Progress;
use crate::run_folder::RunFolder;
use crate::spending::Spending;
use anyhow::Result;
use book_indexes::BookIndexes;
use closeread_books::TextError;
use closeread_eval::{Item, Outcome};
use closeread_methods::Trial;
use closeread_methods::reader::EXTRACTIVE;
use closeread_methods::record::{Record, TrialKey};
use closeread_providers::Batcher;
use closeread_providers::ending::is_ending;
use closeread_report::Arm;
use closeread_text::Span;
use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use plan::{Unit, units_of};
use prepare::Preparations;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tracing::{Instrument, info, info_span};
use trials::{attempt, failed, record};

/// Sets of books that are open at once where calls go in batches: their questions wait together.
const GROUPS_IN_BATCHES: usize = 256;
/// Time between two looks at whether money is short.
const BETWEEN_HURRIES: Duration = Duration::from_secs(1);

/// The summary of a run, besides its records.
#[derive(Default)]
pub struct Summary {
    /// Whether Ctrl-C ended the run before all trials were made.
    pub interrupted: bool,
    /// Whether the limit on what the run may cost ended it.
    pub out_of_money: bool,
}

/// Makes every trial of the plan that the folder does not hold yet; `finished` hears of each line of the table when its last
/// trial is in the folder.
pub async fn run(
    plan: &Plan<'_>,
    benchmark: &Benchmark,
    evidence: &HashMap<String, Vec<(usize, Span)>>,
    folder: &mut RunFolder,
    finished: &dyn Fn(&Arm, &RunFolder) -> Result<()>,
) -> Result<Summary> {
    let span = info_span!("run", benchmark = benchmark.name, folder = %folder.path().display());
    make_all(plan, benchmark, evidence, folder, finished).instrument(span).await
}

async fn make_all(
    plan: &Plan<'_>,
    benchmark: &Benchmark,
    evidence: &HashMap<String, Vec<(usize, Span)>>,
    folder: &mut RunFolder,
    finished: &dyn Fn(&Arm, &RunFolder) -> Result<()>,
) -> Result<Summary> {
    let journals = Journals::of_run(folder.path());
    let groups = groups(&benchmark.items);
    let groups: Vec<(&[String], Vec<Unit<'_>>)> = groups
        .into_iter()
        .map(|(documents, items)| Ok((documents, units(plan, &items, folder, &journals)?)))
        .filter(|group| group.as_ref().map_or(true, |(_, units)| !units.is_empty()))
        .collect::<Result<_>>()?;
    let groups = quickest_first(groups);
    let mut left: HashMap<Arm, usize> = HashMap::new();
    for unit in groups.iter().flat_map(|(_, units)| units) {
        *left.entry(unit.cell.key.clone()).or_default() += unit.items.len();
    }
    let n_trials = left.values().sum();
    let progress = Progress::new("trials", n_trials).with_spending(Arc::clone(&plan.spending));
    let mut summary = Summary::default();
    let stop = Cell::new(false);
    let batchers = plan.batchers();
    let in_batches = !batchers.is_empty();
    let (folder, opening, left) = (RefCell::new(folder), Mutex::new(()), RefCell::new(left));
    let runner = TrialRunner { plan, benchmark, evidence, folder, journals, progress, stop, opening, left, finished };
    let TrialRunner { journals, progress, stop, .. } = &runner;
    let work = stream::iter(groups)
        .map(anyhow::Ok)
        .try_for_each_concurrent(if in_batches { GROUPS_IN_BATCHES } else { 1 }, |(documents, units)| {
            runner.group(documents, units)
        });
    let patience = async {
        match in_batches {
            true => interrupt::leave(stop).await,
            false => interrupt::watch(stop).await,
        }
    };
    // The work first: what comes back when the money is out is still recorded.
    tokio::select! {
        biased;
        result = work => result?,
        () = patience => {}
        () = plan.spending.is_out() => summary.out_of_money = true,
        Err(error) = drive(&batchers, &plan.spending) => return Err(error),
    }
    progress.finish();
    journals.tidy();
    summary.interrupted = stop.get();
    Ok(summary)
}

/// The runner of trials.
struct TrialRunner<'s, 'p> {
    plan: &'s Plan<'p>,
    benchmark: &'s Benchmark,
    evidence: &'s HashMap<String, Vec<(usize, Span)>>,
    folder: RefCell<&'s mut RunFolder>,
    journals: Journals,
    progress: Progress,
    stop: Cell<bool>,
    /// Lock by which books are cut and embedded one set after the other: one takes all cores.
    opening: Mutex<()>,
    /// Trials that are still to be made, by the line of the table.
    left: RefCell<HashMap<Arm, usize>>,
    finished: &'s dyn Fn(&Arm, &RunFolder) -> Result<()>,
}

impl TrialRunner<'_, '_> {
    /// Makes the trials on some books.
    async fn group(&self, documents: &[String], units: Vec<Unit<'_>>) -> Result<()> {
        let Self { plan, journals, progress, stop, .. } = self;
        if stop.get() {
            return Ok(());
        }
        let batchers = plan.batchers();
        for batcher in &batchers {
            batcher.room().await;
        }
        let busy: Vec<_> = batchers.iter().map(|batcher| batcher.busy()).collect();
        let turn = self.opening.lock().await;
        let books = (self.benchmark.books_of(documents), &self.benchmark.texts);
        let (indexes, n_cut) = match BookIndexes::open(plan, books, &units, progress).await {
            Err(_) if is_ending() => return Ok(()),
            // The caller also waits for the limit on money, and drops this future then.
            Err(_) if plan.spending.taken().out => return std::future::pending().await,
            Err(error) if error.is::<TextError>() => return self.without_text(documents, &units, &error),
            opened => opened?,
        };
        drop((turn, busy));
        if n_cut > 0 {
            self.folder.borrow().note_cut([(documents.join(", "), n_cut)])?;
        }
        let preparations = Preparations::make(plan, &indexes, &units, &self.folder, journals, stop).await?;
        let at_once = if batchers.is_empty() { plan.concurrency } else { units.len().max(1) };
        for wave in waves(units, !batchers.is_empty()) {
            let mut trials = stream::iter(wave.into_iter().take_while(|_| !stop.get()))
                .map(|unit| {
                    let span = unit.span();
                    attempt(plan, &indexes, &preparations, journals, self.evidence, unit, stop).instrument(span)
                })
                .buffer_unordered(at_once);
            let mut ended = None;
            while let Some(attempted) = trials.next().await {
                let kept = match attempted {
                    Ok(Some((records, journal))) if ended.is_none() => self.keep(records, &journal),
                    attempted => attempted.map(drop),
                };
                if let Err(error) = kept {
                    // No trial begins; what is under way is paid, and its responses stay in journals.
                    stop.set(true);
                    ended.get_or_insert(error);
                }
            }
            if let Some(error) = ended {
                return Err(error);
            }
        }
        Ok(())
    }
}

impl TrialRunner<'_, '_> {
    /// Puts the records of a unit into the folder; the journal of one that failed is kept.
    fn keep(&self, records: Vec<Record>, journal: &Journal) -> Result<()> {
        let keys: Vec<TrialKey> = records.iter().map(|record| record.key.clone()).collect();
        let failed: Vec<bool> = records.iter().map(|record| matches!(record.outcome, Outcome::Failed { .. })).collect();
        self.folder.borrow_mut().append(records)?;
        if !failed.contains(&true) {
            journal.remove()?;
        }
        for failed in failed {
            if failed { self.progress.tick_failed() } else { self.progress.tick() }
        }
        self.made(&keys)
    }

    /// Notes that trials of a line of the table are in the folder.
    fn made(&self, keys: &[TrialKey]) -> Result<()> {
        let Some(TrialKey { method, model, budget, .. }) = keys.first() else { return Ok(()) };
        let arm = Arm { method: method.clone(), model: model.clone(), budget: *budget };
        let is_last = self.left.borrow_mut().get_mut(&arm).is_some_and(|left| {
            *left = left.saturating_sub(keys.len());
            *left == 0
        });
        if is_last { (self.finished)(&arm, &self.folder.borrow()) } else { Ok(()) }
    }
}

/// Trials that end because they cannot begin.
impl TrialRunner<'_, '_> {
    /// Fails the trials on books of which a text cannot be had; those on other books go on.
    fn without_text(&self, documents: &[String], units: &[Unit<'_>], error: &anyhow::Error) -> Result<()> {
        let (books, error) = (self.benchmark.books_of(documents), format!("{error:#}"));
        for unit in units {
            let records = unit.items.iter().map(|item| {
                let (trial, scores) = failed(item, Trial::ended(Outcome::Unanswered), &error, &books, &self.plan.words);
                record(unit.key(item), trial, scores, 0.0)
            });
            self.folder.borrow_mut().append(records.collect())?;
            unit.items.iter().for_each(|_| self.progress.tick_failed());
            self.made(&unit.name())?;
        }
        Ok(())
    }
}

/// Puts units first for which no book is cut, embedded or sent, book by book: their lines of the table are there at
/// once.
fn quickest_first<'a, 'p>(groups: Vec<(&'a [String], Vec<Unit<'p>>)>) -> Vec<(&'a [String], Vec<Unit<'p>>)> {
    let is_quick = |unit: &Unit<'_>| {
        let method = &unit.cell.method;
        method.passages().is_none() && method.preparation().is_none() && !method.shares_its_prompts()
    };
    let (mut quick, mut rest) = (Vec::new(), Vec::new());
    for (documents, units) in groups {
        let (first, then): (Vec<_>, Vec<_>) = units.into_iter().partition(is_quick);
        quick.push((documents, first));
        rest.push((documents, then));
    }
    quick.into_iter().chain(rest).filter(|(_, units)| !units.is_empty()).collect()
}

/// Looks after the batches of all models; returns only with an error.
async fn drive(batchers: &[&Batcher], spending: &Spending) -> Result<Infallible> {
    if batchers.is_empty() {
        return std::future::pending().await;
    }
    tokio::select! {
        driven = try_join_all(batchers.iter().map(|batcher| batcher.drive())) => Ok(driven?.remove(0)),
        never = hurry(batchers, spending) => match never {},
    }
}

/// Hands in batches that hold money which something else waits for, such as the embeddings of the next book.
async fn hurry(batchers: &[&Batcher], spending: &Spending) -> Infallible {
    let mut is_told = false;
    loop {
        spending.is_short().await;
        if !std::mem::replace(&mut is_told, true) {
            info!(
                "--max-cost has money for {} requests at once, if each is as long as it may be: batches are no larger, and each can \
                 take a day; a higher limit or a lower --max-output-tokens makes them larger",
                spending.taken().in_flight
            );
        }
        batchers.iter().for_each(|batcher| batcher.hurry());
        tokio::time::sleep(BETWEEN_HURRIES).await;
    }
}

/// Returns the units of `items`, which are on the same books, that the folder does not hold yet.
fn units<'a>(plan: &'a Plan<'_>, items: &[&'a Item], folder: &RunFolder, journals: &Journals) -> Result<Vec<Unit<'a>>> {
    let (open, done): (Vec<_>, Vec<_>) = units_of(plan, items)
        .into_iter()
        .partition(|unit| unit.items.iter().any(|item| !folder.is_done(&unit.key(item))));
    for unit in done {
        journals.discard(&unit.name())?;
    }
    Ok(open)
}

/// Divides units into two waves: the first question of a method whose prompts begin alike goes alone, the rest
/// together, for by then the provider has the beginning in its prompt cache. In batches all go together: one that waits
/// for another would wait for a day.
fn waves(units: Vec<Unit<'_>>, in_batches: bool) -> [Vec<Unit<'_>>; 2] {
    if in_batches {
        return [units, Vec::new()];
    }
    let mut seen: HashSet<(String, String)> = HashSet::new();
    let leads = |unit: &Unit<'_>| {
        let Arm { method, model, .. } = &unit.cell.key;
        unit.cell.method.shares_its_prompts() && model != EXTRACTIVE && seen.insert((method.clone(), model.clone()))
    };
    let (first, rest) = units.into_iter().partition(leads);
    [first, rest]
}
