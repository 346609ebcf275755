//! The leaderboard of a report: a table that reads without JavaScript, the results as data, and the predictions and gold
//! answers that a reader's browser scores them again from.

use super::cells::{NamedCell, SiteFile};
use super::page::Page;
use crate::plan::Trials;
use crate::{Report, Run};
use closeread_data::scoring::{Options, Scorecard, prediction, score};
use closeread_eval::Evaluator;
use closeread_eval::Outcome;
use closeread_eval::observations::{Ending, MetricName};
use closeread_eval::{InputFile, Item};
use closeread_methods::record::Record;
use closeread_table::number::metric_label;
use closeread_table::render::html::{escaped, id, table};
use closeread_table::{Table, Value};
use closeread_text::sentence::punkt::Parameters;
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The page.
pub(super) const PAGE: &str = "leaderboard.html";
/// The results as data.
const RESULTS: &str = "results.json";
/// The items with their gold answers.
const GOLD: &str = "items.jsonl";
/// What the page may load: the element beside it, and the files that it scores.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; object-src 'none'; form-action 'none'; base-uri 'none'";
/// The element, which whoever writes the site puts beside it.
const ELEMENT: &str = "elements/closeread-leaderboard.js";
/// The words of a response that the context does not hold the answer, which predictions are read by.
const NOT_FOUND: &str = "Not found in context.";

/// A cell, or one of its repeats, with its predictions and what they score.
struct Row {
    name: String,
    path: String,
    predictions: String,
    scorecard: Scorecard,
}

/// The files of the board; none if there is nothing that can be scored from an answer.
///
/// Runs on other items than the first's are not on it, which the page says. What only judges can score, and evidence, is
/// not on it either: the board holds what anybody can score again.
pub(super) fn files(report: &Report, runs: &[Run], cells: &[NamedCell<'_>], trials: &[Trials<'_>]) -> Vec<SiteFile> {
    let Some(first) = runs.first() else { return Vec::new() };
    let gold = lines(&first.items);
    let mut rows = Vec::new();
    let mut others = BTreeSet::new();
    for cell in cells {
        let run = &runs[cell.run];
        if cell.run > 0 && lines(&run.items) != gold {
            others.insert(run.name.as_str());
            continue;
        }
        let by_item = trials[cell.run].arm(cell.arm());
        let repeats: BTreeSet<u32> = by_item.values().flatten().map(|record| record.key.repeat).collect();
        let several = repeats.len() > 1;
        for repeat in repeats {
            let of_item = |item: &Item| {
                let record = by_item.get(item.id.as_str())?.iter().find(|record| record.key.repeat == repeat)?;
                Some(prediction(item, record)?.to_string() + "\n")
            };
            let predictions: String = run.items.iter().filter_map(of_item).collect();
            let name = if several { format!("{}, repeat {}", cell.name, repeat + 1) } else { cell.name.clone() };
            let path = format!("predictions/{}-{}.jsonl", rows.len() + 1, id(&cell.arm().method).to_lowercase());
            let Some(scorecard) = scored(&gold, &path, &predictions) else { continue };
            rows.push(Row { name, path, predictions, scorecard });
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let mut files = vec![page(report, &rows, &others)];
    files.push(SiteFile { path: RESULTS.to_owned(), content: results(report, &rows) });
    files.push(SiteFile { path: GOLD.to_owned(), content: gold });
    files.extend(rows.into_iter().map(|row| SiteFile { path: row.path, content: row.predictions }));
    files
}

fn lines(items: &[Item]) -> String {
    items.iter().map(|item| format!("{}\n", json!(item))).collect()
}

/// A row of a file of predictions; `None` for an item that was not asked.
fn prediction(item: &Item, record: &Record) -> Option<Json> {
    let mut row = match &record.outcome {
        Outcome::Answered { answer, choice } => match choice {
            Some(choice) => json!({"item": item.id, "answer": answer, "choice": choice}),
            None => json!({"item": item.id, "answer": answer}),
        },
        Outcome::NotFound => json!({"item": item.id, "answer": NOT_FOUND}),
        Outcome::Unparsed { response } | Outcome::CutShort { response, .. } => {
            json!({"item": item.id, "answer": null, "response": response})
        }
        Outcome::Unanswered | Outcome::Overflow { .. } | Outcome::Blocked { .. } | Outcome::Failed { .. } => {
            json!({"item": item.id, "answer": null})
        }
        Outcome::NotAsked { .. } => return None,
    };
    row["outcome"] = json!(record.outcome.name());
    Some(row)
}

/// What the files score, read as whoever checks them reads them.
fn scored(gold: &str, path: &str, predictions: &str) -> Option<Scorecard> {
    let file = |name: &str, text: &str| InputFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() };
    let name = path.rsplit('/').next().unwrap_or(path);
    let submission = prediction::read(&file(GOLD, gold), &file(name, predictions)).ok()?;
    let options = Options::default();
    // Punkt and WordNet are METEOR's, which is no default of any task.
    let evaluator = Evaluator::with_punkt(&[], options.chinese, None, Cow::Owned(Parameters::default())).ok()?;
    score(&submission, &evaluator, &options).ok().filter(|card| !card.metrics.is_empty())
}

fn results(report: &Report, rows: &[Row]) -> String {
    let row = |row: &Row| {
        let mut scorecard = json!(row.scorecard);
        if let Some(fields) = scorecard.as_object_mut() {
            fields.shift_remove("items");
        }
        json!({"name": row.name, "predictions": row.path, "scorecard": scorecard})
    };
    let rows: Vec<Json> = rows.iter().map(row).collect();
    format!("{:#}\n", json!({"title": report.title, "gold": GOLD, "scoring": {}, "rows": rows}))
}

fn page(report: &Report, rows: &[Row], others: &BTreeSet<&str>) -> SiteFile {
    let mut page = Page::with_policy(report, &format!("Leaderboard - {}", report.title), PAGE, POLICY);
    page.heading("h1", "Leaderboard");
    page.notes(report);
    page.push(&format!(
        "<p>Scores of answers, from the published <a href=\"{GOLD}\">items</a> and predictions. Trials without an answer \
         score 0. Judges and evidence are in the <a href=\"index.html\">report</a>. As data: <a href=\"{RESULTS}\">{RESULTS}</a>.</p>\n"
    ));
    for other in others {
        page.push(&format!(
            "<p class=\"warning\" role=\"note\">{} is on other items, and not on this board.</p>\n",
            escaped(other)
        ));
    }
    page.push(&format!("<closeread-leaderboard src=\"{RESULTS}\">\n"));
    let sorted = sorted(rows);
    page.push(&table(&board(&sorted), |row| sorted.get(row).map(|(_, row)| row.path.clone())));
    page.push(&format!("</closeread-leaderboard>\n<script type=\"module\" src=\"{ELEMENT}\"></script>\n"));
    page.finish()
}

/// The rows by the main metric of the first, with their rank; an incomplete one stands last and has none.
fn sorted(rows: &[Row]) -> Vec<(Option<usize>, &Row)> {
    let main = rows.first().and_then(|row| row.scorecard.main.clone()).unwrap_or_default();
    let value = |row: &Row| row.scorecard.metrics.get(&main).filter(|_| row.scorecard.complete).map(|mean| mean.value);
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by(|a, b| {
        let (x, y) = (value(a), value(b));
        y.is_some().cmp(&x.is_some()).then_with(|| y.unwrap_or(0.0).total_cmp(&x.unwrap_or(0.0)))
    });
    let rank = |row: &Row| {
        let own = value(row)?;
        Some(1 + rows.iter().filter(|other| value(other).is_some_and(|other| other > own)).count())
    };
    sorted.into_iter().map(|row| (rank(row), row)).collect()
}

fn board(rows: &[(Option<usize>, &Row)]) -> Table {
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
