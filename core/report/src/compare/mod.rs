//! Two runs on the same items: paired differences, overall and by label, and what can be concluded from them.

mod cells;
mod side;
mod source;
mod words;

pub use cells::{cell_comparisons, comparison_tables};
pub use side::{Side, SideItem};
pub use source::{Choice, ChoiceError, Compared, Content, Entry, ScoreFileItem, Source, Two, listed};

use super::MAX_LABEL_VALUES;
use closeread_metrics::stats::IntervalMethod;
use closeread_metrics::stats::multiple::holm;
use closeread_metrics::stats::paired;
use closeread_metrics::stats::paired::Pair;
use closeread_table::number;
use closeread_table::number::metric_label;
use closeread_table::{Table, Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that two runs say about each other under one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunComparison {
    /// Name of the metric.
    pub metric: String,
    /// Name of the first run or cell.
    pub a: String,
    /// Name of the second one; differences are B minus A.
    pub b: String,
    /// What can and cannot be concluded, in a sentence or two.
    pub conclusion: String,
    /// All items that both scored; failures count as wrong. Absent if there are none.
    pub overall: Option<paired::Comparison>,
    /// The items in which neither reader failed to get to its answer (overflow, blocked, failed call). Absent if these
    /// are all items of `overall`, or none.
    pub failures_left_out: Option<paired::Comparison>,
    /// By label and value.
    pub by: BTreeMap<String, BTreeMap<String, LabelComparison>>,
    /// Items on which B scores more, the largest difference first, then by id.
    pub gained: Vec<Flip>,
    /// Items on which B scores less, in the same order.
    pub lost: Vec<Flip>,
    /// Items that are not compared, and why.
    pub unpaired: Unpaired,
    /// What must be known to read the numbers.
    pub notes: Vec<String>,
}

/// The items of one value of a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelComparison {
    /// The paired difference on these items.
    #[serde(flatten)]
    pub comparison: paired::Comparison,
    /// Its p-value by Holm's correction over all values of all labels that were compared.
    pub p_holm: f64,
}

/// An item with two scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flip {
    /// Its id.
    pub id: String,
    /// Score under A, in 0..=1.
    pub a: f64,
    /// Score under B.
    pub b: f64,
}

/// Ids of the items that are not compared, in alphabetical order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unpaired {
    /// Only A has the item.
    pub only_a: Vec<String>,
    /// Only B has the item.
    pub only_b: Vec<String>,
    /// Both have an item of this id, but with another question or gold answer: not the same item.
    pub other_gold: Vec<String>,
    /// A has no score of it: it is missing, or this metric does not apply.
    pub unscored_a: Vec<String>,
    /// B has no score of it.
    pub unscored_b: Vec<String>,
}

impl Unpaired {
    /// True if every item of both runs is compared.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Which labels a comparison is broken down by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    /// Every label with 2 to [`MAX_LABEL_VALUES`] values among the compared items.
    All,
    /// These, however many values they have.
    Named(Vec<String>),
}

/// Compares two sides on the items that both scored under `metric`.
///
/// Items are the same if their ids and, where both sides have it, their gold are the same. Labels and books are A's,
/// and B's where A has none.
pub fn compare(a: &Side, b: &Side, metric: &str, labels: &Labels) -> RunComparison {
    let (joined, unpaired) = join(a, b);
    let pairs: Vec<Pair<'_>> = joined.iter().map(Joined::pair).collect();
    let overall = paired::compare(&pairs);
    let unfailed: Vec<Pair<'_>> = joined.iter().filter(|j| !j.failed).map(Joined::pair).collect();
    let failures_left_out = if unfailed.len() < pairs.len() { paired::compare(&unfailed) } else { None };
    let mut flips: Vec<Flip> =
        joined.iter().filter(|j| j.a != j.b).map(|j| Flip { id: j.id.to_owned(), a: j.a, b: j.b }).collect();
    flips.sort_by(|x, y| (y.b - y.a).abs().total_cmp(&(x.b - x.a).abs()).then_with(|| x.id.cmp(&y.id)));
    let n_differ = flips.len();
    let (gained, lost) = flips.into_iter().partition(|flip| flip.b > flip.a);
    let mut notes = Vec::new();
    if !joined.is_empty() && joined.iter().any(|j| !j.gold_checked) {
        notes.push("not every item carries its gold: that both runs asked the same could not be checked".to_owned());
    }
    let by = by_label(&joined, labels, &mut notes);
    let conclusion = words::conclusion(&a.name, &b.name, metric, overall.as_ref(), n_differ, &unpaired);
    RunComparison {
        metric: metric.to_owned(),
        a: a.name.clone(),
        b: b.name.clone(),
        conclusion,
        overall,
        failures_left_out,
        by,
        gained,
        lost,
        unpaired,
        notes,
    }
}

/// An item that both sides scored.
struct Joined<'a> {
    id: &'a str,
    a: f64,
    b: f64,
    cluster: &'a str,
    labels: &'a BTreeMap<String, String>,
    failed: bool,
    gold_checked: bool,
}

impl Joined<'_> {
    fn pair(&self) -> Pair<'_> {
        Pair { a: self.a, b: self.b, cluster: self.cluster }
    }
}

fn join<'a>(a: &'a Side, b: &'a Side) -> (Vec<Joined<'a>>, Unpaired) {
    let of_b: BTreeMap<&str, &SideItem> = b.items.iter().map(|item| (item.id.as_str(), item)).collect();
    let of_a: BTreeSet<&str> = a.items.iter().map(|item| item.id.as_str()).collect();
    let mut unpaired = Unpaired::default();
    let mut joined = Vec::new();
    for item in &a.items {
        let Some(other) = of_b.get(item.id.as_str()) else {
            unpaired.only_a.push(item.id.clone());
            continue;
        };
        if !item.may_be(other) {
            unpaired.other_gold.push(item.id.clone());
            continue;
        }
        match (item.score, other.score) {
            (Some(a), Some(b)) => joined.push(Joined {
                id: &item.id,
                a,
                b,
                cluster: if item.cluster.is_empty() { &other.cluster } else { &item.cluster },
                labels: if item.labels.is_empty() { &other.labels } else { &item.labels },
                failed: item.failed || other.failed,
                gold_checked: item.gold.is_some() && other.gold.is_some(),
            }),
            // An item that neither scored says nothing about the two: the metric is not its own.
            (None, None) => {}
            (None, Some(_)) => unpaired.unscored_a.push(item.id.clone()),
            (Some(_), None) => unpaired.unscored_b.push(item.id.clone()),
        }
    }
    unpaired.only_b = b.items.iter().map(|i| &i.id).filter(|id| !of_a.contains(id.as_str())).cloned().collect();
    for ids in [
        &mut unpaired.only_a,
        &mut unpaired.only_b,
        &mut unpaired.other_gold,
        &mut unpaired.unscored_a,
        &mut unpaired.unscored_b,
    ] {
        ids.sort();
    }
    (joined, unpaired)
}

fn by_label(
    joined: &[Joined<'_>],
    labels: &Labels,
    notes: &mut Vec<String>,
) -> BTreeMap<String, BTreeMap<String, LabelComparison>> {
    let mut groups: BTreeMap<&str, BTreeMap<&str, Vec<Pair<'_>>>> = BTreeMap::new();
    for item in joined {
        for (label, value) in item.labels {
            groups.entry(label).or_default().entry(value).or_default().push(item.pair());
        }
    }
    match labels {
        Labels::Named(names) => {
            for name in names.iter().filter(|name| !groups.contains_key(name.as_str())) {
                let known: Vec<&str> = groups.keys().copied().collect();
                notes.push(format!("no compared item has the label `{name}`; there are: {}", known.join(", ")));
            }
            groups.retain(|label, _| names.iter().any(|name| name == label));
        }
        Labels::All => groups.retain(|label, values| {
            if values.len() > MAX_LABEL_VALUES {
                notes.push(format!("label `{label}` has {} values: ask for it by --by {label}", values.len()));
            }
            (2..=MAX_LABEL_VALUES).contains(&values.len())
        }),
    }
    let mut compared: Vec<(&str, &str, paired::Comparison)> = Vec::new();
    for (label, values) in &groups {
        for (value, pairs) in values {
            compared.extend(paired::compare(pairs).map(|comparison| (*label, *value, comparison)));
        }
    }
    let corrected = holm(&compared.iter().map(|(.., comparison)| comparison.p_value).collect::<Vec<_>>());
    let mut by: BTreeMap<String, BTreeMap<String, LabelComparison>> = BTreeMap::new();
    for ((label, value, comparison), p_holm) in compared.into_iter().zip(corrected) {
        let values = by.entry(label.to_owned()).or_default();
        values.insert(value.to_owned(), LabelComparison { comparison, p_holm });
    }
    by
}

impl RunComparison {
    /// The differences as a table: overall, then each value of each label.
    pub fn table(&self) -> Table {
        let columns = ["items", "n", "books", "A", "B", "difference", "p", "p (Holm)"].map(str::to_owned).to_vec();
        let title = format!("{}: A = {}, B = {}", metric_label(&self.metric), self.a, self.b);
        let mut table = Table::new(format!("compare-{}", self.metric), title, columns);
        let wholes = [("all", &self.overall), ("failures left out", &self.failures_left_out)];
        for (name, comparison) in wholes.into_iter().filter_map(|(name, c)| Some((name, c.as_ref()?))) {
            table.rows.push(row(name, comparison, None));
        }
        for (label, values) in &self.by {
            for (value, one) in values {
                table.rows.push(row(&format!("{label}: {value}"), &one.comparison, Some(one.p_holm)));
            }
        }
        if let Some(overall) = &self.overall {
            table.notes.push(words::tests(overall));
        }
        if !self.by.is_empty() {
            table.notes.push("p (Holm): corrected over all values of all labels".to_owned());
        }
        table.explain_marks();
        table
    }
}

/// Name, n, books, both means, difference, p-value, corrected p-value.
pub(super) fn row(name: &str, comparison: &paired::Comparison, p_holm: Option<f64>) -> Vec<Value> {
    let mut row = vec![Value::text(name)];
    row.extend(numbers(comparison));
    row.push(match p_holm {
        Some(value) => Value::Number { value, decimals: 4 },
        None => Value::missing("one test, nothing to correct"),
    });
    row
}

/// n, books, both means, difference, p-value.
pub(super) fn numbers(comparison: &paired::Comparison) -> [Value; 6] {
    let paired::Comparison { n, mean_a, mean_b, difference, low, high, .. } = *comparison;
    [
        Value::count(n),
        Value::count(comparison.clusters),
        Value::Share { value: mean_a, n },
        Value::Share { value: mean_b, n },
        Value::Difference { value: difference, low, high, n, over_items: number::is_over_items(comparison.interval) },
        Value::Number { value: comparison.p_value, decimals: 4 },
    ]
}

/// True if the interval respects that the questions about a book belong together.
fn is_clustered(comparison: &paired::Comparison) -> bool {
    comparison.interval == IntervalMethod::ClusteredByBook
}

#[cfg(test)]
mod tests;
