//! A chart as data: scores with their intervals over budgets, bins or labels.

use crate::cells::{aggregation, answer_metrics};
use crate::plan::{Line, lines};
use crate::tables::{Naming, grouping_labels};
use crate::{Cell, LineKey};
use closeread_eval::observations::{ItemFacts, MetricName, Observations, Rows};
use closeread_metrics::stats::Estimate;
use closeread_table::number::{metric_label, thousands};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Series of a chart that compares groups of items; more cannot be told apart.
const MAX_SERIES: usize = 8;

/// A chart: scores in 0..=1, drawn in percent on an axis from 0 to the round number above the highest interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Stable name, e.g. `accuracy-by-budget`.
    pub id: String,
    /// What the chart shows.
    pub title: String,
    /// What a reader must know to read the chart.
    pub note: String,
    /// Name of the axis along which the places lie.
    pub axis: String,
    /// Unit of the numbers.
    pub unit: Unit,
    /// The numbers in words, with what their whiskers are.
    pub numbers: String,
    /// Shape of the chart: the way to draw it.
    pub shape: Shape,
    /// The places along the axis, in order.
    pub places: Vec<Place>,
    /// The series of points, one point a place.
    pub series: Vec<Series>,
}

/// The unit of a chart's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Percent, up to 100.
    Percent,
    /// Shares, up to 1.
    Share,
    /// Tokens.
    Tokens,
}

/// The shape of a chart: the way to draw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Lines over places from left to right: they have an order.
    Lines,
    /// Lines like [`Shape::Lines`], where the points of a series are joined whatever places of others lie between them.
    Curves,
    /// Dots at places from top to bottom, not joined: they have no order.
    Dots,
    /// Points like [`Shape::Dots`], with a bar from 0 to each number.
    Bars,
}

/// A place along the axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Label of the place, as shown.
    pub label: String,
    /// Position of the place relative to the others, in any unit.
    pub at: f64,
}

/// The scores of one cell, or of one method over its budgets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// One entry a place; `None` leaves a gap.
    pub points: Vec<Option<Point>>,
    /// True if the series' only score holds at every place: drawn as a level.
    pub level: bool,
}

/// A number of a chart, in its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The number that the point shows.
    pub value: f64,
    /// Lower end of its whisker; the number itself where it has none.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Number of things that the number is taken over.
    pub n: usize,
    /// The number as tables show it.
    pub shown: String,
}

impl From<&Estimate> for Point {
    /// A score in percent with its interval.
    fn from(estimate: &Estimate) -> Self {
        let [value, low, high] = [estimate.value, estimate.low, estimate.high].map(|share| 100.0 * share);
        Self { value, low, high, n: estimate.n, shown: closeread_table::number::score(estimate) }
    }
}

/// Note on numbers that come with intervals.
const SCORES: &str = "Percent with 95% intervals";

/// A score over the token budget, one chart a metric, if at least two budgets were run.
///
/// A method without a budget stands left of the budgets, its mean drawn on as a level.
pub fn by_budget(cells: &[Cell]) -> Vec<Chart> {
    let naming = Naming::of(cells.iter().map(|cell| &cell.key));
    let budgets: BTreeSet<usize> = cells.iter().filter_map(|cell| cell.key.arm.budget).collect();
    if budgets.len() < 2 {
        return Vec::new();
    }
    let log = |budget: usize| libm::log(budget as f64);
    let (first, last) = (budgets.first().map_or(0.0, |b| log(*b)), budgets.last().map_or(0.0, |b| log(*b)));
    let mut places = vec![Place { label: "none".to_owned(), at: first - 0.18 * (last - first) }];
    places.extend(budgets.iter().map(|&budget| Place { label: thousands(budget as u64), at: log(budget) }));
    let mut methods: Vec<(String, Vec<&Cell>)> = Vec::new();
    for cell in cells {
        let name = naming.name(&cell.key);
        match methods.iter_mut().find(|(known, _)| *known == name) {
            Some((_, cells)) => cells.push(cell),
            None => methods.push((name, vec![cell])),
        }
    }
    let metrics: BTreeSet<&MetricName> = cells.iter().flat_map(|cell| cell.metrics.keys()).collect();
    let chart = |metric: &MetricName| {
        let series = methods.iter().filter_map(|(name, cells)| {
            let at = |budget: Option<usize>| {
                cells
                    .iter()
                    .find(|cell| cell.key.arm.budget == budget)
                    .and_then(|cell| cell.metrics.get(metric))
                    .map(Point::from)
            };
            let mut points = vec![at(None)];
            points.extend(budgets.iter().map(|&budget| at(Some(budget))));
            let level = points[0].is_some() && points[1..].iter().all(Option::is_none);
            points.iter().any(Option::is_some).then(|| Series { name: name.clone(), points, level })
        });
        Chart {
            id: format!("{metric}-by-budget"),
            title: format!("{} over the token budget", metric_label(metric.name())),
            note: "Budgets on a logarithmic scale; \"none\": the method takes no budget.".to_owned(),
            axis: "tokens of retrieved context".to_owned(),
            unit: Unit::Percent,
            numbers: SCORES.to_owned(),
            shape: Shape::Lines,
            places: places.clone(),
            series: series.collect(),
        }
    };
    metrics.into_iter().map(chart).collect()
}

/// A score by the values of each label, one chart a label and metric.
pub fn by_label(table: &Observations) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (label, values) in grouping_labels(table) {
        let grouping = Grouping {
            id: format!("by-{label}"),
            title: format!("by {label}"),
            axis: label.clone(),
            shape: Shape::Dots,
            places: values.iter().map(|value| (value.clone(), Rows::all().label(&*label, &**value))).collect(),
        };
        charts.extend(grouped(table, &grouping));
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
pub fn by_length(table: &Observations) -> Vec<Chart> {
    let place = |(name, from, to): (&str, usize, usize)| (name.to_owned(), Rows::all().length(from..to));
    let grouping = Grouping {
        id: "by-length".to_owned(),
        title: "by length of the books".to_owned(),
        axis: "tokens of the books".to_owned(),
        shape: Shape::Lines,
        places: LENGTHS.map(place).to_vec(),
    };
    grouped(table, &grouping)
}

/// A score by where the gold evidence starts, in fifths of the books together.
///
/// An item with several pieces of evidence counts in the fifth of each, once. NovelQA's Table 13 has tenths; a chart of
/// ten places with an interval for every method cannot be read.
pub(crate) fn by_evidence_position(table: &Observations) -> Vec<Chart> {
    const FIFTHS: usize = 5;
    let fifth_of = |at: usize, book: usize| (at * FIFTHS / book.max(1)).min(FIFTHS - 1);
    let place = |fifth: usize| {
        let has = |item: &ItemFacts| {
            item.book_tokens.is_some_and(|book| item.evidence_tokens.iter().any(|at| fifth_of(*at, book) == fifth))
        };
        let items = table.items().filter(|(_, item)| has(item)).map(|(id, _)| id);
        (format!("{}-{}", 20 * fifth, 20 * fifth + 20), Rows::all().items(items))
    };
    let grouping = Grouping {
        id: "by-evidence-position".to_owned(),
        title: "by position of the evidence".to_owned(),
        axis: "percent of the book before the evidence".to_owned(),
        shape: Shape::Lines,
        places: (0..FIFTHS).map(place).collect(),
    };
    grouped(table, &grouping)
}

/// The grouping of a chart's items.
struct Grouping {
    id: String,
    title: String,
    axis: String,
    shape: Shape,
    /// The groups with their rows.
    places: Vec<(String, Rows)>,
}

/// Makes a chart a metric over groups of items.
///
/// Of cells that differ in their budget alone only the largest is drawn if there are more than [`MAX_SERIES`] cells.
fn grouped(table: &Observations, grouping: &Grouping) -> Vec<Chart> {
    let lines = lines(table);
    let naming = Naming::of(lines.iter().map(|line| &line.key));
    let (chosen, note) = chosen(lines.iter().collect());
    let mut charts = Vec::new();
    for metric in answer_metrics(table, &Rows::all()) {
        let mut series = Vec::new();
        for line in chosen.iter().filter(|line| answer_metrics(table, &line.rows()).contains(&metric)) {
            let mean = |(_, rows): &(String, Rows)| {
                table.aggregate(&line.narrowed(rows), &aggregation(&metric)).estimate.as_ref().map(Point::from)
            };
            let points: Vec<Option<Point>> = grouping.places.iter().map(mean).collect();
            if points.iter().any(Option::is_some) {
                series.push(Series { name: naming.full_name(&line.key), points, level: false });
            }
        }
        let drawn = (0..grouping.places.len()).filter(|at| series.iter().any(|s| s.points[*at].is_some())).count();
        if drawn < 2 {
            continue;
        }
        let place = |(at, (label, _)): (usize, &(String, Rows))| Place { label: label.clone(), at: at as f64 };
        charts.push(Chart {
            id: format!("{metric}-{}", grouping.id),
            title: format!("{} {}", metric_label(metric.name()), grouping.title),
            note: note.clone(),
            axis: grouping.axis.clone(),
            unit: Unit::Percent,
            numbers: SCORES.to_owned(),
            shape: grouping.shape,
            places: grouping.places.iter().enumerate().map(place).collect(),
            series,
        });
    }
    charts
}

/// The lines to draw, and what was left out.
fn chosen(all: Vec<&Line>) -> (Vec<&Line>, String) {
    if all.len() <= MAX_SERIES {
        return (all, String::new());
    }
    let same = |a: &LineKey, b: &LineKey| {
        (&a.configuration, &a.arm.method, &a.arm.model) == (&b.configuration, &b.arm.method, &b.arm.model)
    };
    let largest = |line: &&Line| {
        let others = all.iter().filter(|other| same(&other.key, &line.key));
        others.into_iter().all(|other| other.key.arm.budget <= line.key.arm.budget)
    };
    let mut kept: Vec<&Line> = all.iter().copied().filter(largest).collect();
    let mut note = "Of each method the largest budget; the tables have all.".to_owned();
    if kept.len() > MAX_SERIES {
        note =
            format!("The first {MAX_SERIES} of {} methods at their largest budget; the tables have all.", kept.len());
        kept.truncate(MAX_SERIES);
    }
    (kept, note)
}

impl Chart {
    /// Returns the chart in words, every number of it: what a screen reader says instead.
    pub fn in_words(&self) -> String {
        let mut words = String::new();
        for series in &self.series {
            let shown: Vec<String> = self
                .places
                .iter()
                .zip(&series.points)
                .filter_map(|(place, point)| Some(format!("{} {}", place.label, point.as_ref()?.shown)))
                .collect();
            words.push_str(&format!("{}: {}. ", series.name, shown.join("; ")));
        }
        format!("{} by {}. {}{words}", self.numbers, self.axis, sentence(&self.note)).trim_end().to_owned()
    }
}

fn sentence(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!("{note} ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answered, item, key, record, run};
    use crate::{Arm, RunView, TokenPlaces, cells};
    use closeread_books::tokens::Tokenizer;
    use closeread_books::{Book, ReadOptions};
    use closeread_eval::Evidence;
    use closeread_methods::record::Record;
    use std::collections::BTreeMap;

    fn marks(points: &[Option<Point>]) -> Vec<Option<f64>> {
        points.iter().map(|point| point.as_ref().map(|point| point.value / 100.0)).collect()
    }

    #[test]
    fn a_method_without_a_budget_is_a_level() {
        let plan = [key("closed-book", None), key("dos-rag", Some(500)), key("dos-rag", Some(5000))];
        let items = [item("a", "b")];
        let records: Vec<Record> = plan.iter().map(|key| record(key, "a", answered(), &[("accuracy", 1.0)])).collect();
        let cells = cells(&run(&plan, &items, &records).observations().unwrap());
        let chart = by_budget(&cells).remove(0);
        let labels: Vec<&str> = chart.places.iter().map(|place| place.label.as_str()).collect();
        assert_eq!(labels, ["none", "500", "5,000"]);
        assert!(chart.places.is_sorted_by(|a, b| a.at < b.at));
        assert_eq!(marks(&chart.series[0].points), [Some(1.0), None, None]);
        assert_eq!(marks(&chart.series[1].points), [None, Some(1.0), Some(1.0)]);
        assert_eq!((chart.series[0].level, chart.series[1].level), (true, false));
        assert!(by_budget(&cells[..2]).is_empty(), "one budget is no chart");
    }

    #[test]
    fn items_are_grouped_by_length_and_by_evidence() {
        let place = |at: usize| Evidence { document: None, quote: String::new(), start: Some(at), end: None };
        let mut items = [item("early", "short"), item("both", "short"), item("long", "long")];
        items[0].evidence = vec![place(0), place(2)];
        items[1].evidence = vec![place(0), place(19)];
        let book = |words: usize| {
            let book = Book::new("b", "B", "a ".repeat(words), &ReadOptions::default()).unwrap();
            TokenPlaces::of(&book, &Tokenizer::cl100k()).unwrap()
        };
        let books = BTreeMap::from([("short".to_owned(), book(10)), ("long".to_owned(), book(130_000))]);
        let plan = [key("m", None)];
        let scores = [("early", 1.0), ("both", 0.0), ("long", 1.0)];
        let records = scores.map(|(id, score)| record(&plan[0], id, answered(), &[("accuracy", score)]));
        let table = RunView { books: &books, ..run(&plan, &items, &records) }.observations().unwrap();
        let length = by_length(&table).remove(0);
        assert_eq!(marks(&length.series[0].points), [Some(0.5), Some(1.0), None, None, None]);
        let position = by_evidence_position(&table).remove(0);
        assert_eq!(marks(&position.series[0].points), [Some(0.5), None, None, None, Some(0.0)]);
    }

    #[test]
    fn of_many_cells_the_largest_budgets_are_drawn() {
        let plan: Vec<Arm> =
            (1..=5).flat_map(|n| [key("vanilla-rag", Some(n)), key("dos-rag", Some(10 * n))]).collect();
        let table = run(&plan, &[], &[]).observations().unwrap();
        let lines = lines(&table);
        let (chosen, note) = chosen(lines.iter().collect());
        let budgets: Vec<Option<usize>> = chosen.iter().map(|line| line.key.arm.budget).collect();
        assert_eq!(budgets, [Some(5), Some(50)]);
        assert_eq!(note, "Of each method the largest budget; the tables have all.");
    }
}
