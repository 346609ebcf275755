//! A chart as data, drawn as SVG: scores with their intervals over budgets, bins or labels.

mod svg;

use super::cells::{Scored, Trials, estimated, scores};
use super::number::{metric_label, ordered_metrics, thousands};
use super::tables::{LabelledRun, MAX_LABEL_VALUES, Naming, label_values, labelled, main_metrics};
use super::{Cell, CellKey, Line};
use crate::benchmark::Item;
use crate::paper::FailurePolicy;
use crate::stats::Estimate;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub use svg::{Placement, svg};

/// Series of a chart that compares groups of items; more cannot be told apart.
const MAX_SERIES: usize = 6;

/// A chart: scores in 0..=1, drawn in percent on an axis from 0 to 100.
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
pub fn by_label(runs: &[LabelledRun<'_>]) -> Vec<Chart> {
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
        charts.extend(grouped(runs, &groups(label, values), |scores, place| labelled(Some(scores), label, place)));
    }
    charts
}

/// What the items of a chart are grouped by.
pub(super) struct Grouping {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) axis: String,
    pub(super) shape: Shape,
    pub(super) places: Vec<String>,
}

/// A chart a metric over groups of items; `of` gives the mean of one group, named as its place.
///
/// Of cells that differ in their budget alone only the largest is drawn if there are more than [`MAX_SERIES`] cells.
pub(super) fn grouped(
    runs: &[LabelledRun<'_>],
    grouping: &Grouping,
    of: impl Fn(&Vec<Scored<'_>>, &str) -> Option<Estimate>,
) -> Vec<Chart> {
    let naming = Naming::of(runs.iter().flat_map(|run| run.plan.iter().map(|key| (run.name, key))));
    let trials: Vec<Trials<'_>> = runs.iter().map(|run| Trials::of(run.records)).collect();
    let (chosen, note) = chosen(runs);
    let cells: Vec<(String, BTreeMap<String, Vec<Scored<'_>>>)> = chosen
        .into_iter()
        .map(|(run, key)| {
            let trials = trials[run].cell(key);
            (naming.full_name(runs[run].name, key), scores(runs[run].items, trials, FailurePolicy::FailuresWrong))
        })
        .collect();
    let mut charts = Vec::new();
    for metric in main_metrics(cells.iter().flat_map(|(_, scores)| scores.keys())) {
        let mut series = Vec::new();
        for (name, scores) in &cells {
            let Some(scores) = scores.get(&metric) else { continue };
            let points: Vec<Option<Estimate>> = grouping.places.iter().map(|place| of(scores, place)).collect();
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
fn chosen<'a>(runs: &[LabelledRun<'a>]) -> (Vec<(usize, &'a CellKey)>, String) {
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
pub(super) fn mean_where(scores: &[Scored<'_>], belongs: impl Fn(&Item) -> bool) -> Option<Estimate> {
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
                .filter_map(|(place, point)| Some(format!("{} {}", place.label, super::number::score(point.as_ref()?))))
                .collect();
            words.push_str(&format!("{}: {}. ", series.name, shown.join("; ")));
        }
        format!("Percent with 95% intervals by {}. {}{words}", self.axis, sentence(&self.note)).trim_end().to_owned()
    }
}

fn sentence(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!("{note} ") }
}
