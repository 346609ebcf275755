//! Two runs on the same items: paired differences, overall and by label, and what can be concluded from them.

use super::unpaired::Unpaired;
use super::words;
use crate::cells::aggregation;
use crate::gate::MissingTrials;
use crate::observed::lacks_verdict;
use crate::tables::MAX_LABEL_VALUES;
use closeread_eval::observations::{
    Aggregation, Common, Ending, FailurePolicy, ItemFacts, MetricName, Observations, Paired, Rows,
};
use closeread_metrics::stats::multiple::holm;
use closeread_metrics::stats::paired;
use closeread_table::number;
use closeread_table::number::metric_label;
use closeread_table::{Table, Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Everything that two runs say about each other under one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunComparison {
    /// Name of the metric.
    pub metric: String,
    /// Name of the first run or cell.
    pub a: String,
    /// Name of the second run; differences are B minus A.
    pub b: String,
    /// The conclusion, in a sentence or two: what the runs show and what they cannot show.
    pub conclusion: String,
    /// Comparison over all items that both scored; failures count as wrong. Absent if there are none.
    pub overall: Option<paired::Comparison>,
    /// The items without the trials in which a reader failed to get to its answer (overflow, blocked, failed call). Absent if
    /// that changes nothing, or leaves none.
    pub failures_left_out: Option<paired::Comparison>,
    /// Comparisons by label and value.
    pub by: BTreeMap<String, BTreeMap<String, LabelComparison>>,
    /// Items on which B scores more, the largest difference first, then by id.
    pub gained: Vec<Flip>,
    /// Items on which B scores less, in the same order.
    pub lost: Vec<Flip>,
    /// Items that are not compared, and why.
    pub unpaired: Unpaired,
    /// What a reader must know to read the numbers.
    pub notes: Vec<String>,
    /// Those of the notes that are on answers without a verdict.
    #[serde(skip)]
    pub(super) unjudged: Vec<String>,
    /// Number of items that neither side has a score of, though one has an answer that waits for a verdict.
    #[serde(skip)]
    pub neither_judged: usize,
    /// The first side's trials of the compared items that have no record.
    #[serde(skip)]
    pub missing: MissingTrials,
}

/// The items of one value of a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelComparison {
    /// The paired difference on these items.
    #[serde(flatten)]
    pub comparison: paired::Comparison,
    /// The p-value by Holm's correction over all values of all labels that were compared.
    pub p_holm: f64,
}

/// An item with two scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Flip {
    /// Id of the item.
    pub id: String,
    /// Score of the item under A, in 0..=1.
    pub a: f64,
    /// Score of the item under B, in 0..=1.
    pub b: f64,
}

/// The labels that a comparison is broken down by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    /// Every label with 2 to [`MAX_LABEL_VALUES`] values among the compared items.
    All,
    /// The labels of these names, however many values they have.
    Named(Vec<String>),
}

/// One side of a comparison: rows of a table under a name.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    /// Name of the side in the comparison.
    pub name: String,
    /// The table that holds the rows.
    pub table: &'a Observations,
    /// The rows of the side.
    pub rows: Rows,
}

/// What a comparison by BLEU is over, which is of a corpus elsewhere.
const BLEU_OF_ITEMS: &str =
    "BLEU is compared by means of the items' own BLEU: that of all answers together is another number";

/// True of equal scores; means over the same repeats can be rounded differently.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// Compares two sides on the items that both scored under `metric`.
///
/// Items are the same if their ids and, where both sides have it, their gold are the same. Labels and books are A's.
pub fn compare(a: &Side<'_>, b: &Side<'_>, metric: &MetricName, labels: &Labels) -> RunComparison {
    let by = aggregation(metric);
    let paired = a.table.paired(&a.rows, b.table, &b.rows, &by);
    let overall = paired.comparison();
    let failed = [a, b].iter().any(|side| side.table.rows(&side.rows).any(|row| row.outcome.is_failure()));
    let failures_left_out = failed.then(|| {
        let by = Aggregation { policy: FailurePolicy::LeftOut, ..by };
        let rest = a.table.paired(&a.rows, b.table, &b.rows, &by);
        // Of several repeats of an item some may have failed: the item stays, with another score.
        let alike = |(x, y): (&Common<'_>, &Common<'_>)| same(x.a, y.a) && same(x.b, y.b);
        let is_all = rest.common.len() == paired.common.len() && rest.common.iter().zip(&paired.common).all(alike);
        if is_all { None } else { rest.comparison() }
    });
    let differ = paired.common.iter().filter(|both| !same(both.a, both.b));
    let mut flips: Vec<Flip> = differ.map(|both| Flip { id: both.item.id.clone(), a: both.a, b: both.b }).collect();
    flips.sort_by(|x, y| (y.b - y.a).abs().total_cmp(&(x.b - x.a).abs()).then_with(|| x.id.cmp(&y.id)));
    let n_differ = flips.len();
    let (gained, lost) = flips.into_iter().partition(|flip| flip.b > flip.a);
    let (of_a, of_b) = (a.items(), b.items());
    let mut notes = Vec::new();
    let knows = |items: &HashMap<&str, &ItemFacts>, id: &str| items.get(id).is_some_and(|item| !item.gold.is_empty());
    if paired.common.iter().any(|both| !knows(&of_a, &both.item.id) || !knows(&of_b, &both.item.id)) {
        notes.push("not every item carries its gold: that both runs asked the same could not be checked".to_owned());
    }
    if metric.known().is_some_and(|metric| metric.bleu_order().is_some()) {
        notes.push(BLEU_OF_ITEMS.to_owned());
    }
    let mut unjudged: Vec<String> =
        [a, b].into_iter().filter_map(|side| side.unjudged(metric, &paired.common)).collect();
    let is_of_both = |id: &&str| of_a.contains_key(id) && of_b.contains_key(id);
    let neither: HashSet<&str> = paired.neither.iter().copied().filter(is_of_both).collect();
    let waiting: HashSet<&str> =
        [a, b].into_iter().flat_map(|side| side.waiting(metric)).filter(|id| neither.contains(id)).collect();
    if !waiting.is_empty() {
        unjudged.push(format!("items without a verdict on either side, which are not compared: {}", waiting.len()));
    }
    notes.extend(unjudged.iter().cloned());
    let unpaired = unpaired(&paired, &of_a, &of_b);
    let by = by_label(&paired.common, labels, &mut notes);
    let conclusion = words::conclusion(&a.name, &b.name, metric.name(), overall.as_ref(), n_differ, &unpaired);
    RunComparison {
        metric: metric.to_string(),
        a: a.name.clone(),
        b: b.name.clone(),
        conclusion,
        overall,
        failures_left_out: failures_left_out.flatten(),
        by,
        gained,
        lost,
        unpaired,
        notes,
        unjudged,
        neither_judged: waiting.len(),
        missing: a.missing(&paired.common),
    }
}

fn ids<'a>(common: &[Common<'a>]) -> HashSet<&'a str> {
    common.iter().map(|both| both.item.id.as_str()).collect()
}

impl Side<'_> {
    fn items(&self) -> HashMap<&str, &ItemFacts> {
        let items = self.table.rows(&self.rows).map(|row| self.table.item(row.item));
        items.map(|item| (item.id.as_str(), item)).collect()
    }

    /// The items with an answer that no judge gave a verdict on, one for each such answer.
    fn waiting(&self, metric: &MetricName) -> impl Iterator<Item = &str> {
        let answers = self.table.rows(&self.rows).filter(move |row| lacks_verdict(row, metric));
        answers.map(move |row| self.table.item(row.item).id.as_str())
    }

    /// The trials of compared items that have no record; others, as of items that the metric is not over, change nothing.
    fn missing(&self, common: &[Common<'_>]) -> MissingTrials {
        let compared = ids(common);
        let rows = self.table.rows(&self.rows);
        let rows = rows.filter(|row| compared.contains(self.table.item(row.item).id.as_str()));
        let endings: Vec<Ending> = rows.map(|row| row.outcome).filter(|ending| !ending.is_never_scored()).collect();
        MissingTrials { n: endings.iter().filter(|ending| **ending == Ending::Missing).count(), of: endings.len() }
    }

    /// Note on answers to compared items that no judge gave a verdict on, which only several repeats of an item can have.
    fn unjudged(&self, metric: &MetricName, common: &[Common<'_>]) -> Option<String> {
        let compared = ids(common);
        let n = self.waiting(metric).filter(|id| compared.contains(id)).count();
        let said = "answers to these items without a verdict, so that an item is the mean of its other repeats";
        (n > 0).then(|| format!("{}: {said}: {n}", self.name))
    }
}

/// The items that are not compared. One that neither side scored says nothing about the two: the metric is not its own.
fn unpaired(paired: &Paired<'_>, of_a: &HashMap<&str, &ItemFacts>, of_b: &HashMap<&str, &ItemFacts>) -> Unpaired {
    let owned = |ids: Vec<&str>| ids.into_iter().map(str::to_owned).collect::<Vec<String>>();
    let (unscored_b, only_a) = paired.only_a.iter().partition(|id| of_b.contains_key(*id));
    let (unscored_a, only_b) = paired.only_b.iter().partition(|id| of_a.contains_key(*id));
    Unpaired {
        only_a: owned(only_a),
        only_b: owned(only_b),
        other_gold: owned(paired.other_gold.clone()),
        unscored_a: owned(unscored_a),
        unscored_b: owned(unscored_b),
    }
}

fn by_label(
    common: &[Common<'_>],
    labels: &Labels,
    notes: &mut Vec<String>,
) -> BTreeMap<String, BTreeMap<String, LabelComparison>> {
    let mut groups: BTreeMap<&str, BTreeMap<&str, Vec<Common<'_>>>> = BTreeMap::new();
    for both in common {
        for (label, value) in &both.item.labels {
            groups.entry(label).or_default().entry(value).or_default().push(*both);
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
                notes.push(format!(
                    "label `{label}` has {} values, too many to be shown unless it is asked for",
                    values.len()
                ));
            }
            (2..=MAX_LABEL_VALUES).contains(&values.len())
        }),
    }
    let mut compared: Vec<(&str, &str, paired::Comparison)> = Vec::new();
    for (label, values) in &groups {
        for (value, pairs) in values {
            compared.extend(Common::compare(pairs).map(|comparison| (*label, *value, comparison)));
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

/// Returns the numbers of a comparison: n, books, both means, difference, p-value.
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

#[cfg(test)]
mod tests;
