//! The leaderboard of a report: a table that reads without JavaScript, the results as data, and the predictions and gold
//! answers that a reader's browser scores them again from.

use super::cells::{NamedCell, SiteFile, cell_path};
use super::items::cut;
use super::page::Page;
use crate::plan::Trials;
use crate::{Report, Run};
use closeread_data::scoring::{Options, ScoreError, Scorecard, Submission, prediction, score};
use closeread_eval::Evaluator;
use closeread_eval::Outcome;
use closeread_eval::observations::{Ending, MetricName};
use closeread_eval::{InputFile, Item, PUBLISHED};
use closeread_methods::record::Record;
use closeread_metrics::stats::Estimate;
use closeread_table::number::metric_label;
use closeread_table::render::html::{escaped, id, table};
use closeread_table::{Table, Value};
use closeread_text::sentence::punkt::Parameters;
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// File name of the page.
pub(super) const PAGE: &str = "leaderboard.html";
/// File name of the results as data.
const RESULTS: &str = "results.json";
/// The items with their gold answers.
pub(super) const GOLD: &str = "items.jsonl";
/// Content security policy of the page: it may load the element beside it, and the files that it scores.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; object-src 'none'; form-action 'none'; base-uri 'none'";
/// Script of the elements, a file that lies beside the page; no module, which a page from a disk cannot run.
pub(super) const ELEMENTS: &str = "<script defer src=\"elements/closeread-site.js\"></script>\n";
/// The words of a response that the context does not hold the answer, which predictions are read by.
const NOT_FOUND: &str = "Not found in context.";

/// The leaderboard: systems by score.
pub(super) struct Board {
    rows: Vec<Row>,
    /// The runs on other items.
    others: BTreeSet<String>,
    /// The items with their gold answers, as JSON Lines.
    gold: String,
}

/// A cell, or one of its repeats, with its predictions and what they score.
struct Row {
    run: usize,
    name: String,
    /// The page of the cell.
    page: String,
    /// Path of the file of predictions.
    path: String,
    predictions: String,
    scorecard: Scorecard,
}

impl Board {
    /// The board of these runs; `None` if there is nothing that can be scored from an answer.
    ///
    /// Without `gold` the items of the first run are it. Runs on other items are not on it, which the page says. What only
    /// judges can score, and evidence, is not on it either: the board holds what anybody can score again.
    pub(super) fn of(
        runs: &[Run],
        cells: &[NamedCell<'_>],
        trials: &[Trials<'_>],
        gold: Option<&[Item]>,
    ) -> Option<Self> {
        let items = gold.or_else(|| runs.first().map(|run| run.items.as_slice()))?;
        let gold = lines(&published(items, gold.is_some()));
        // Another tool's log has its samples in the order in which they ended.
        let asked: BTreeSet<(&str, String)> = items.iter().map(identity).collect();
        let same = |run: &Run| run.items.iter().map(identity).collect::<BTreeSet<_>>() == asked;
        let is_on: Vec<bool> = runs.iter().map(same).collect();
        let (mut rows, mut others) = (Vec::new(), BTreeSet::new());
        for (number, cell) in cells.iter().enumerate() {
            let run = &runs[cell.run];
            if !is_on[cell.run] {
                others.insert(run.name.clone());
                continue;
            }
            let by_item = trials[cell.run].arm(cell.arm());
            let repeats: BTreeSet<u32> = by_item.values().flatten().map(|record| record.key.repeat).collect();
            let several = repeats.len() > 1;
            for repeat in repeats {
                let of_item = |item: &Item| {
                    let record = by_item.get(item.id.as_str())?.iter().find(|record| record.key.repeat == repeat)?;
                    Some(prediction_row(item, record)?.to_string() + "\n")
                };
                let predictions: String = run.items.iter().filter_map(of_item).collect();
                let name = if several { format!("{}, repeat {}", cell.name, repeat + 1) } else { cell.name.clone() };
                let path = format!("predictions/{}-{}.jsonl", rows.len() + 1, id(&cell.arm().method).to_lowercase());
                let Some(scorecard) = scored(&gold, &path, &predictions) else { continue };
                rows.push(Row { run: cell.run, name, page: cell_path(number), path, predictions, scorecard });
            }
        }
        (!rows.is_empty()).then_some(Self { rows, others, gold })
    }

    /// The board on a page of its own.
    pub(super) fn page(&self, report: &Report) -> SiteFile {
        let mut page = Page::with_policy(report, &format!("Leaderboard - {}", report.title), PAGE, POLICY);
        page.heading("h1", "Leaderboard");
        page.notes(report);
        page.push(&self.section("Judges and evidence are in the <a href=\"index.html\">report</a>."));
        page.finish()
    }

    /// The table with what it rests on; `beside` says where the rest is.
    pub(super) fn section(&self, beside: &str) -> String {
        let mut html = format!(
            "<p>Scores of answers, from the published <a href=\"{GOLD}\">items</a> and predictions. Trials without an \
             answer score 0. {beside} As data: <a href=\"{RESULTS}\">{RESULTS}</a>.</p>\n"
        );
        for other in &self.others {
            let other = escaped(other);
            html +=
                &format!("<p class=\"warning\" role=\"note\">{other} is on other items, and not on this board.</p>\n");
        }
        let sorted = self.sorted();
        let link = |row: usize| sorted.get(row).map(|(_, row)| row.page.clone());
        html += &format!(
            "<closeread-leaderboard src=\"{RESULTS}\">\n{}</closeread-leaderboard>\n{ELEMENTS}",
            table(&shown(&sorted), link)
        );
        html
    }

    /// Returns the files that a reader's browser sorts the table by and scores it again from.
    pub(super) fn data(self, title: &str) -> Vec<SiteFile> {
        let mut files = vec![SiteFile { path: RESULTS.to_owned(), content: self.results(title) }];
        files.push(SiteFile { path: GOLD.to_owned(), content: self.gold });
        files.extend(self.rows.into_iter().map(|row| SiteFile { path: row.path, content: row.predictions }));
        files
    }

    fn results(&self, title: &str) -> String {
        let row = |row: &Row| {
            let mut scorecard = json!(row.scorecard);
            if let Some(fields) = scorecard.as_object_mut() {
                fields.shift_remove("items");
            }
            json!({"name": row.name, "url": row.page, "predictions": row.path, "scorecard": scorecard})
        };
        let rows: Vec<Json> = self.rows.iter().map(row).collect();
        format!("{:#}\n", json!({"title": title, "gold": GOLD, "scoring": {}, "rows": rows}))
    }

    /// The rows by the main metric, with their rank; an incomplete one stands last and has none.
    fn sorted(&self) -> Vec<(Option<usize>, &Row)> {
        let main = self.main();
        let mut sorted: Vec<&Row> = self.rows.iter().collect();
        sorted.sort_by(|a, b| {
            let (x, y) = (a.score(main), b.score(main));
            y.is_some().cmp(&x.is_some()).then_with(|| y.unwrap_or(0.0).total_cmp(&x.unwrap_or(0.0)))
        });
        let rank = |row: &Row| {
            let own = row.score(main)?;
            Some(1 + self.rows.iter().filter(|other| other.score(main).is_some_and(|other| other > own)).count())
        };
        sorted.into_iter().map(|row| (rank(row), row)).collect()
    }

    /// The metric that ranks: the main one of the first row.
    pub(super) fn main(&self) -> &str {
        self.rows.first().and_then(|row| row.scorecard.main.as_deref()).unwrap_or_default()
    }

    /// The best score of a run by the main metric; `None` where no row of it is complete.
    pub(super) fn best(&self, run: usize) -> Option<&Estimate> {
        let own = self.rows.iter().filter(|row| row.run == run);
        own.filter_map(|row| row.estimate(self.main())).max_by(|a, b| a.value.total_cmp(&b.value))
    }
}

impl Row {
    /// Returns the score of the row, if it is complete.
    fn estimate(&self, metric: &str) -> Option<&Estimate> {
        self.scorecard.metrics.get(metric).filter(|_| self.scorecard.complete)
    }

    fn score(&self, metric: &str) -> Option<f64> {
        self.estimate(metric).map(|mean| mean.value)
    }
}

/// Returns what identifies an item: its id and the fingerprint of its gold answer.
fn identity(item: &Item) -> (&str, String) {
    (&item.id, item.gold_fingerprint())
}

/// Makes a row of a file of predictions; `None` for an item that was not asked.
pub fn prediction_row(item: &Item, record: &Record) -> Option<Json> {
    let mut row = match &record.outcome {
        Outcome::Answered { answer, choice } => match choice {
            Some(choice) => json!({"item": item.id, "answer": answer, "choice": choice}),
            None => json!({"item": item.id, "answer": answer}),
        },
        Outcome::NotFound => json!({"item": item.id, "answer": NOT_FOUND}),
        Outcome::Unparsed { response } | Outcome::CutShort { response, .. } => {
            json!({"item": item.id, "answer": null, "response": cut(response)})
        }
        Outcome::Unanswered | Outcome::Overflow { .. } | Outcome::Blocked { .. } | Outcome::Failed { .. } => {
            json!({"item": item.id, "answer": null})
        }
        Outcome::NotAsked { .. } => return None,
    };
    row["outcome"] = json!(record.outcome.name());
    Some(row)
}

/// Scores the files, read as a person who checks them reads them.
fn scored(gold: &str, path: &str, predictions: &str) -> Option<Scorecard> {
    let file = |name: &str, text: &str| InputFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() };
    let name = path.rsplit('/').next().unwrap_or(path);
    let submission = prediction::read(&file(GOLD, gold), &file(name, predictions)).ok()?;
    card_of(&submission).ok().filter(|card| !card.metrics.is_empty())
}

/// The scores of predictions by the metrics of their tasks.
pub(super) fn card_of(submission: &Submission) -> Result<Scorecard, ScoreError> {
    let options = Options::default();
    // Punkt and WordNet are METEOR's, which is no default of any task.
    let evaluator = Evaluator::with_punkt(&[], options.chinese, None, Cow::Owned(Parameters::default()))
        .expect("no metric is asked for that needs WordNet");
    score(submission, &evaluator, &options)
}

/// Returns items without fields of their own, which may hold the text of books; `with_evidence` if predictions that cite passages
/// are scored by them.
pub(super) fn published(items: &[Item], with_evidence: bool) -> Vec<Item> {
    let mut items = items.to_vec();
    for item in &mut items {
        item.other.retain(|name, _| PUBLISHED.contains(&name.as_str()));
        if !with_evidence {
            item.evidence.clear();
        }
    }
    items
}

/// Writes items as JSON Lines.
pub(super) fn lines(items: &[Item]) -> String {
    items.iter().map(|item| format!("{}\n", json!(item))).collect()
}

fn shown(rows: &[(Option<usize>, &Row)]) -> Table {
    let cards = || rows.iter().map(|(_, row)| &row.scorecard);
    let metrics: BTreeSet<MetricName> =
        cards().flat_map(|card| card.metrics.keys()).map(|name| name.as_str().into()).collect();
    let occurs = |ending: &Ending| cards().any(|card| card.ledger.counts.of(*ending) > 0);
    let endings: Vec<Ending> = Ending::ALL.into_iter().filter(occurs).collect();
    let mut columns = vec!["system".to_owned(), "rank".to_owned()];
    columns.extend(metrics.iter().map(|metric| metric_label(metric.name())));
    columns.extend(endings.iter().map(|ending| ending.name().replace('_', " ")));
    let mut table = Table::new("leaderboard", "Systems by score, percent, with 95% intervals", columns);
    for (rank, row) in rows {
        let rank = rank.map_or_else(|| Value::missing("the run is incomplete"), Value::count);
        let mut values = vec![Value::text(&row.name), rank];
        let score = |metric: &MetricName| row.scorecard.metrics.get(metric.name());
        values.extend(metrics.iter().map(|metric| Value::score(score(metric), "no item has this metric")));
        values.extend(endings.iter().map(|ending| Value::count(row.scorecard.ledger.counts.of(*ending))));
        table.rows.push(values);
    }
    table.explain_marks();
    table
}
