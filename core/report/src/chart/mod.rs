//! A chart as data, drawn as SVG: scores with their intervals over budgets, bins or labels.

mod svg;

use super::books::{book_tokens, evidence_tokens};
use super::cells::{Scored, Trials, estimated, scores};
use super::tables::{MAX_LABEL_VALUES, Naming, label_values, labelled, main_metrics};
use super::{Cell, CellKey, Line, RunView};
use closeread_eval::FailurePolicy;
use closeread_eval::Item;
use closeread_metrics::stats::Estimate;
use closeread_table::number::{metric_label, ordered_metrics, thousands};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub use svg::{Placement, STYLE, svg};

/// Series of a chart that compares groups of items; more cannot be told apart.
const MAX_SERIES: usize = 8;

/// A chart: scores in 0..=1, drawn in percent on an axis from 0 to the round number above the highest interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Stable name, e.g. `accuracy-by-budget`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What must be known to read it.
    pub note: String,
    /// What the places are.
    pub axis: String,
    /// How it is drawn.
    pub shape: Shape,
    /// The places along the axis, in order.
    pub places: Vec<Place>,
    /// What is drawn at them.
    pub series: Vec<Series>,
}

/// How a chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Places from left to right, joined by lines: they have an order.
    Lines,
    /// Places from top to bottom, not joined: they have none.
    Dots,
}

/// A place along the axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// As shown.
    pub label: String,
    /// Where it stands relative to the others, in any unit.
    pub at: f64,
}

/// The scores of one cell, or of one method over its budgets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// One entry a place; `None` leaves a gap.
    pub points: Vec<Option<Estimate>>,
    /// True if its only score holds at every place: drawn as a level.
    pub level: bool,
}

/// A score over the token budget, one chart a metric, if at least two budgets were run.
///
/// A method without a budget stands left of the budgets, its mean drawn on as a level.
pub fn by_budget(lines: &[Line<'_>]) -> Vec<Chart> {
    let naming = Naming::of(lines.iter().map(|line| (line.run, &line.cell.key)));
    let budgets: BTreeSet<usize> = lines.iter().filter_map(|line| line.cell.key.budget).collect();
    if budgets.len() < 2 {
        return Vec::new();
    }
    let log = |budget: usize| libm::log(budget as f64);
    let (first, last) = (budgets.first().map_or(0.0, |b| log(*b)), budgets.last().map_or(0.0, |b| log(*b)));
    let mut places = vec![Place { label: "none".to_owned(), at: first - 0.18 * (last - first) }];
    places.extend(budgets.iter().map(|&budget| Place { label: thousands(budget as u64), at: log(budget) }));
    let mut cells: Vec<(String, Vec<&Cell>)> = Vec::new();
    for line in lines {
        let name = naming.name(line.run, &line.cell.key);
        match cells.iter_mut().find(|(known, _)| *known == name) {
            Some((_, cells)) => cells.push(line.cell),
            None => cells.push((name, vec![line.cell])),
        }
    }
    let metrics = ordered_metrics(lines.iter().flat_map(|line| line.cell.metrics.keys()));
    let chart = |metric: &String| {
        let series = cells.iter().filter_map(|(name, cells)| {
            let at = |budget: Option<usize>| {
                cells.iter().find(|cell| cell.key.budget == budget).and_then(|cell| cell.metrics.get(metric)).cloned()
            };
            let mut points = vec![at(None)];
            points.extend(budgets.iter().map(|&budget| at(Some(budget))));
            let level = points[0].is_some() && points[1..].iter().all(Option::is_none);
            points.iter().any(Option::is_some).then(|| Series { name: name.clone(), points, level })
        });
        Chart {
            id: format!("{metric}-by-budget"),
            title: format!("{} over the token budget", metric_label(metric)),
            note: "Budgets on a logarithmic scale; \"none\": the method takes no budget.".to_owned(),
            axis: "tokens of retrieved context".to_owned(),
            shape: Shape::Lines,
            places: places.clone(),
            series: series.collect(),
        }
    };
    metrics.iter().map(chart).collect()
}

/// A score by the values of each label, one chart a label and metric.
pub fn by_label(runs: &[RunView<'_>]) -> Vec<Chart> {
    let groups = |label: &str, values: &[String]| Grouping {
        id: format!("by-{label}"),
        title: format!("by {label}"),
        axis: label.to_owned(),
        shape: Shape::Dots,
        places: values.to_vec(),
    };
    let values = label_values(runs.iter().flat_map(|run| run.items));
    let mut charts = Vec::new();
    for (label, values) in values.iter().filter(|(_, values)| (2..=MAX_LABEL_VALUES).contains(&values.len())) {
        charts.extend(grouped(runs, &groups(label, values), |_, scores, place| labelled(Some(scores), label, place)));
    }
    charts
}

/// Length classes of books in tokens, K = 1,000 (SagaScale, Table 2), and what is longer still. The third edge is
/// printed as 512K; the paper's own counts follow from an edge between 373K and 404K alone, so what is drawn here is
/// the printed edge and not the paper's table.
const LENGTHS: [(&str, usize, usize); 5] = [
    ("<128K", 0, 128_000),
    ("128-256K", 128_000, 256_000),
    ("256-512K", 256_000, 512_000),
    ("512K-1M", 512_000, 1_000_000),
    (">1M", 1_000_000, usize::MAX),
];

/// A score by the length of the books together that an item is about, if they are of two classes or more.
pub fn by_length(runs: &[RunView<'_>]) -> Vec<Chart> {
    let grouping = Grouping {
        id: "by-length".to_owned(),
        title: "by length of the books".to_owned(),
        axis: "tokens of the books".to_owned(),
        shape: Shape::Lines,
        places: LENGTHS.iter().map(|(name, ..)| (*name).to_owned()).collect(),
    };
    let tokens = by_item(runs, |run, item| book_tokens(item, run.books));
    grouped(runs, &grouping, |run, scores, place| {
        let class = LENGTHS.iter().find(|(name, ..)| *name == place);
        mean_where(scores, |item| {
            let n = tokens[run].get(item.id.as_str());
            n.zip(class).is_some_and(|(n, (_, from, to))| (*from..*to).contains(n))
        })
    })
}

/// A score by where the gold evidence starts, in fifths of the books together.
///
/// An item with several pieces of evidence counts in the fifth of each, once. NovelQA's Table 13 has tenths; a chart of
/// ten places with an interval for every method cannot be read.
pub fn by_evidence_position(runs: &[RunView<'_>]) -> Vec<Chart> {
    const FIFTHS: usize = 5;
    let grouping = Grouping {
        id: "by-evidence-position".to_owned(),
        title: "by position of the evidence".to_owned(),
        axis: "percent of the book before the evidence".to_owned(),
        shape: Shape::Lines,
        places: (0..FIFTHS).map(|fifth| format!("{}-{}", 20 * fifth, 20 * fifth + 20)).collect(),
    };
    let fifths = by_item(runs, |run, item| {
        let n_tokens = book_tokens(item, run.books)?.max(1);
        let positions = evidence_tokens(item, run.books);
        Some(positions.iter().map(|at| (at * FIFTHS / n_tokens).min(FIFTHS - 1)).collect::<BTreeSet<usize>>())
    });
    grouped(runs, &grouping, |run, scores, place| {
        let fifth = grouping.places.iter().position(|name| name == place)?;
        mean_where(scores, |item| fifths[run].get(item.id.as_str()).is_some_and(|fifths| fifths.contains(&fifth)))
    })
}

/// What `of` says of each item of each run, by its id.
fn by_item<'a, T>(runs: &[RunView<'a>], of: impl Fn(&RunView<'a>, &Item) -> Option<T>) -> Vec<BTreeMap<&'a str, T>> {
    let one = |run: &RunView<'a>| {
        run.items.iter().filter_map(|item| Some((item.id.as_str(), of(run, item)?))).collect::<BTreeMap<_, _>>()
    };
    runs.iter().map(one).collect()
}

/// What the items of a chart are grouped by.
struct Grouping {
    id: String,
    title: String,
    axis: String,
    shape: Shape,
    places: Vec<String>,
}

/// A chart a metric over groups of items; `of` gives the mean of one group, named as its place, in the run of that index.
///
/// Of cells that differ in their budget alone only the largest is drawn if there are more than [`MAX_SERIES`] cells.
fn grouped(
    runs: &[RunView<'_>],
    grouping: &Grouping,
    of: impl Fn(usize, &Vec<Scored<'_>>, &str) -> Option<Estimate>,
) -> Vec<Chart> {
    let naming = Naming::of(runs.iter().flat_map(|run| run.plan.iter().map(|key| (run.name, key))));
    let trials: Vec<Trials<'_>> = runs.iter().map(|run| Trials::of(run.records)).collect();
    let (chosen, note) = chosen(runs);
    type CellScores<'a> = (usize, String, BTreeMap<String, Vec<Scored<'a>>>);
    let cells: Vec<CellScores<'_>> = chosen
        .into_iter()
        .map(|(run, key)| {
            let trials = trials[run].cell(key);
            let scores = scores(runs[run].items, trials, FailurePolicy::FailuresWrong);
            (run, naming.full_name(runs[run].name, key), scores)
        })
        .collect();
    let mut charts = Vec::new();
    for metric in main_metrics(cells.iter().flat_map(|(.., scores)| scores.keys())) {
        let mut series = Vec::new();
        for (run, name, scores) in &cells {
            let Some(scores) = scores.get(&metric) else { continue };
            let points: Vec<Option<Estimate>> = grouping.places.iter().map(|place| of(*run, scores, place)).collect();
            if points.iter().any(Option::is_some) {
                series.push(Series { name: name.clone(), points, level: false });
            }
        }
        let drawn = (0..grouping.places.len()).filter(|at| series.iter().any(|s| s.points[*at].is_some())).count();
        if drawn < 2 {
            continue;
        }
        let place = |(at, label): (usize, &String)| Place { label: label.clone(), at: at as f64 };
        charts.push(Chart {
            id: format!("{metric}-{}", grouping.id),
            title: format!("{} {}", metric_label(&metric), grouping.title),
            note: note.clone(),
            axis: grouping.axis.clone(),
            shape: grouping.shape,
            places: grouping.places.iter().enumerate().map(place).collect(),
            series,
        });
    }
    charts
}

/// The cells to draw, by the index of their run, and what was left out.
fn chosen<'a>(runs: &[RunView<'a>]) -> (Vec<(usize, &'a CellKey)>, String) {
    let all: Vec<(usize, &CellKey)> =
        runs.iter().enumerate().flat_map(|(idx, run)| run.plan.iter().map(move |key| (idx, key))).collect();
    if all.len() <= MAX_SERIES {
        return (all, String::new());
    }
    let same =
        |a: &(usize, &CellKey), b: &(usize, &CellKey)| (a.0, &a.1.method, &a.1.model) == (b.0, &b.1.method, &b.1.model);
    let largest = |cell: &&(usize, &CellKey)| {
        all.iter().filter(|other| same(other, cell)).all(|other| other.1.budget <= cell.1.budget)
    };
    let mut kept: Vec<(usize, &CellKey)> = all.iter().filter(largest).copied().collect();
    let mut note = "Of each method the largest budget; the tables have all.".to_owned();
    if kept.len() > MAX_SERIES {
        note =
            format!("The first {MAX_SERIES} of {} methods at their largest budget; the tables have all.", kept.len());
        kept.truncate(MAX_SERIES);
    }
    (kept, note)
}

/// The mean over the items that `belongs` picks.
fn mean_where(scores: &[Scored<'_>], belongs: impl Fn(&Item) -> bool) -> Option<Estimate> {
    estimated(&scores.iter().filter(|(_, item)| belongs(item)).copied().collect::<Vec<_>>())
}

impl Chart {
    /// The chart in words, every number of it: what a screen reader says instead.
    pub fn in_words(&self) -> String {
        let mut words = String::new();
        for series in &self.series {
            let shown: Vec<String> = self
                .places
                .iter()
                .zip(&series.points)
                .filter_map(|(place, point)| {
                    Some(format!("{} {}", place.label, closeread_table::number::score(point.as_ref()?)))
                })
                .collect();
            words.push_str(&format!("{}: {}. ", series.name, shown.join("; ")));
        }
        format!("Percent with 95% intervals by {}. {}{words}", self.axis, sentence(&self.note)).trim_end().to_owned()
    }
}

fn sentence(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!("{note} ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answered, item, key, record};
    use crate::{TokenPlaces, cells};
    use closeread_books::tokens::Tokenizer;
    use closeread_books::{Book, ReadOptions};
    use closeread_eval::Evidence;
    use closeread_methods::record::Record;

    fn marks(points: &[Option<Estimate>]) -> Vec<Option<f64>> {
        points.iter().map(|point| point.as_ref().map(|estimate| estimate.value)).collect()
    }

    #[test]
    fn a_method_without_a_budget_is_a_level() {
        let plan = [key("closed-book", None), key("dos-rag", Some(500)), key("dos-rag", Some(5000))];
        let items = [item("a", "b")];
        let records: Vec<Record> = plan.iter().map(|key| record(key, "a", answered(), &[("accuracy", 1.0)])).collect();
        let cells = cells(&plan, &items, &records);
        let lines: Vec<Line<'_>> = cells.iter().map(|cell| Line { run: "r", cell }).collect();
        let chart = by_budget(&lines).remove(0);
        let labels: Vec<&str> = chart.places.iter().map(|place| place.label.as_str()).collect();
        assert_eq!(labels, ["none", "500", "5,000"]);
        assert!(chart.places.is_sorted_by(|a, b| a.at < b.at));
        assert_eq!(marks(&chart.series[0].points), [Some(1.0), None, None]);
        assert_eq!(marks(&chart.series[1].points), [None, Some(1.0), Some(1.0)]);
        assert_eq!((chart.series[0].level, chart.series[1].level), (true, false));
        assert!(by_budget(&lines[..2]).is_empty(), "one budget is no chart");
    }

    #[test]
    fn items_are_grouped_by_length_and_by_evidence() {
        let place = |at: usize| Evidence { document: None, quote: String::new(), start: Some(at), end: None };
        let mut items = [item("early", "short"), item("both", "short"), item("long", "long")];
        items[0].evidence = vec![place(0), place(2)];
        items[1].evidence = vec![place(0), place(19)];
        let book = |words: usize| {
            let book = Book::new("b", "B", "a ".repeat(words), &ReadOptions::default()).unwrap();
            TokenPlaces::of(&book, &Tokenizer::cl100k())
        };
        let books = BTreeMap::from([("short".to_owned(), book(10)), ("long".to_owned(), book(130_000))]);
        let plan = [key("m", None)];
        let scores = [("early", 1.0), ("both", 0.0), ("long", 1.0)];
        let records = scores.map(|(id, score)| record(&plan[0], id, answered(), &[("accuracy", score)]));
        let run = RunView { name: "r", plan: &plan, items: &items, records: &records, books: &books };
        let length = by_length(&[run]).remove(0);
        assert_eq!(marks(&length.series[0].points), [Some(0.5), Some(1.0), None, None, None]);
        let position = by_evidence_position(&[run]).remove(0);
        assert_eq!(marks(&position.series[0].points), [Some(0.5), None, None, None, Some(0.0)]);
    }

    #[test]
    fn of_many_cells_the_largest_budgets_are_drawn() {
        let plan: Vec<CellKey> =
            (1..=5).flat_map(|n| [key("vanilla-rag", Some(n)), key("dos-rag", Some(10 * n))]).collect();
        let books = BTreeMap::new();
        let run = RunView { name: "r", plan: &plan, items: &[], records: &[], books: &books };
        let (chosen, note) = chosen(&[run]);
        let budgets: Vec<Option<usize>> = chosen.iter().map(|(_, key)| key.budget).collect();
        assert_eq!(budgets, [Some(5), Some(50)]);
        assert_eq!(note, "Of each method the largest budget; the tables have all.");
    }
}
