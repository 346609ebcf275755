//! A leaderboard that keeps itself: what was submitted in one table, with its history and a place to score one's own.

mod read;
#[cfg(test)]
mod tests;

use super::cells::{SiteFile, named_cells};
use super::leaderboard::{Board, ELEMENTS, GOLD, POLICY, lines, published};
use super::page::Page;
use super::{details, index};
use crate::plan::Trials;
use crate::{Report, Run, report};
use closeread_eval::Item;
use closeread_eval::observations::PoolError;
use closeread_metrics::stats::Estimate;
use closeread_table::number::metric_label;
use closeread_table::render::html::{escaped, table};
use closeread_table::{Table, Value};
pub use read::{SubmissionError, held_to, of_predictions};

/// A submission to a leaderboard: a folder with a run or with predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// Name of the submission, which no other has.
    pub name: String,
    /// The submitter's description.
    pub about: About,
    /// The content of the folder.
    pub found: Found,
}

/// A submitter's description of a submission.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// The day of submission, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// A page on the system.
    pub url: Option<String>,
    /// The system in a sentence.
    pub about: Option<String>,
    /// Name of the model that answered, of predictions.
    pub model: Option<String>,
}

/// The content of a submission's folder.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Trials on the items of the leaderboard.
    Run(Box<Run>),
    /// Nothing that counts any more; the reason is this text.
    Withdrawn(String),
    /// Nothing that can be read; the reason is this text.
    Broken(String),
}

/// The files of a leaderboard: `index.html` with the board, the history, the scorer and the whole report; the pages of
/// systems and items; and as data `results.json`, `items.jsonl` and `predictions/`.
///
/// The files follow from the submissions, in whatever order they are handed over. The page runs the elements of
/// `elements/closeread-site.js`, which whoever writes the site puts there, and reads without them.
///
/// `runs` among the submissions are [held to](held_to) the items of `gold`, and called as the submission is.
///
/// # Errors
/// [`PoolError`] if the runs cannot stand in one table.
pub fn leaderboard(title: &str, gold: &[Item], mut submissions: Vec<Submission>) -> Result<Vec<SiteFile>, PoolError> {
    submissions.sort_by(|a, b| (&a.about.date, &a.name).cmp(&(&b.about.date, &b.name)));
    let mut runs: Vec<Run> = Vec::new();
    let mut history = Vec::new();
    for Submission { name, about, found } in submissions {
        let ended = match found {
            Found::Run(mut run) => {
                run.facts.extend(about.facts());
                runs.push(*run);
                Ended::Listed(runs.len() - 1)
            }
            Found::Withdrawn(why) => Ended::Not(format!("withdrawn: {why}")),
            Found::Broken(why) => Ended::Not(format!("left out: {why}")),
        };
        history.push((about.date, name, ended));
    }
    let is_empty = runs.is_empty();
    if is_empty {
        // The items have their pages before the first system comes.
        runs.push(read::unasked(title, gold));
    }
    let report = Report { title: title.to_owned(), ..report(&runs)? };
    let mut cells = named_cells(&report);
    if let [only] = runs.as_slice() {
        cells.iter_mut().for_each(|cell| cell.name = format!("{}: {}", only.name, cell.name));
    }
    let trials: Vec<Trials<'_>> = runs.iter().map(|run| Trials::of(&run.records)).collect();
    let board = Board::of(&runs, &cells, &trials, Some(gold));
    let mut page = Page::with_policy(&report, title, "index.html", POLICY);
    page.heading("h1", title);
    page.notes(&report);
    match &board {
        Some(board) => page.push(&board.section("Judges and evidence are in the tables below.")),
        None => page.push("<p>No system is on the board yet.</p>\n"),
    }
    page.heading("h2", "Submissions");
    page.push(&table(&history_table(&history, board.as_ref()), |_| None));
    page.push(&scorer());
    if board.is_none() {
        page.push(ELEMENTS);
    }
    let mut files = vec![index(page, &report, &runs, &cells, false)];
    files.extend(details(&report, &runs, &cells, &trials));
    match board {
        Some(board) => files.extend(board.data(title)),
        None => files.push(SiteFile { path: GOLD.to_owned(), content: lines(&published(gold, true)) }),
    }
    Ok(files)
}

/// The result of adding a submission.
enum Ended {
    /// The submission is listed as the run of this number.
    Listed(usize),
    Not(String),
}

fn history_table(history: &[(Option<String>, String, Ended)], board: Option<&Board>) -> Table {
    let metric = board.map_or("score", Board::main);
    let columns = ["date", "submission", "what became of it"].map(str::to_owned).into_iter();
    let columns = columns.chain([metric_label(metric), "best until then".to_owned()]).collect();
    let mut shown = Table::new("history", "Submissions in their order, each with its best system", columns);
    let mut best: Option<&Estimate> = None;
    for (date, name, ended) in history {
        let date = date.as_ref().map_or_else(|| Value::missing("it names no date"), Value::text);
        let (state, own) = match ended {
            Ended::Listed(run) => {
                let own = board.and_then(|board| board.best(*run));
                (if own.is_some() { "on the board" } else { "incomplete, or of no score that the board holds" }, own)
            }
            Ended::Not(why) => (why.as_str(), None),
        };
        let leads = own.filter(|own| best.is_none_or(|best| own.value > best.value));
        best = leads.or(best);
        let led = match (own, leads) {
            (None, _) => Value::missing("it has no place on the board"),
            (_, None) => Value::missing("another was as good before"),
            (_, Some(_)) => Value::text("yes"),
        };
        let own = Value::score(own, "it has no place on the board");
        shown.rows.push(vec![date, Value::text(name), Value::text(state), own, led]);
    }
    shown.explain_marks();
    shown
}

/// The element that scores; without it, what does the same.
fn scorer() -> String {
    let command = escaped("closeread score --gold items.jsonl --predictions FILE");
    format!(
        "<h2>Score your own predictions</h2>\n<closeread-scorer gold=\"{GOLD}\">\n<p>Download the <a \
         href=\"{GOLD}\">items</a> and give <code>{command}</code>. Where this page may run scripts, it scores a \
         file here, without an upload.</p>\n</closeread-scorer>\n"
    )
}

impl About {
    /// Returns the description as facts of a run.
    fn facts(&self) -> impl Iterator<Item = (String, String)> {
        let facts = [("submitted", &self.date), ("about", &self.about), ("page", &self.url)];
        facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)))
    }
}
