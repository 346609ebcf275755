//! What the papers' tables share: the cells with their main metrics, means with intervals, the columns of a table.

use closeread_eval::observations::{
    Aggregation, CellId, CellKey, FailurePolicy, ItemFacts, MetricName, Observations, Rows, Scored,
};
use closeread_metrics::stats::{self, estimate};
use closeread_table::{Table, Value};
use closeread_text::Language;

/// A cell of the table under a metric that speaks for its items.
pub(super) struct Group<'a> {
    pub(super) table: &'a Observations,
    pub(super) cell: CellId,
    pub(super) key: &'a CellKey,
    pub(super) metric: MetricName,
}

impl<'a> Group<'a> {
    /// All rows of the cell.
    pub(super) fn rows(&self) -> Rows {
        Rows::of(self.cell)
    }

    /// The rows of the cell that are about these items.
    pub(super) fn about(&self, keep: impl Fn(&ItemFacts) -> bool) -> Rows {
        let items = self.table.items().filter(|(_, item)| keep(item)).map(|(id, _)| id);
        self.rows().items(items.collect::<Vec<_>>())
    }

    fn by(&self, policy: FailurePolicy) -> Aggregation {
        Aggregation { policy, ..Aggregation::new(self.metric.clone()) }
    }

    /// The mean score over the items of these rows; missing, with the reason, where none counts.
    pub(super) fn mean(&self, rows: &Rows, policy: FailurePolicy) -> Value {
        Value::score(self.table.aggregate(rows, &self.by(policy)).estimate.as_ref(), "no scored items")
    }

    /// Each item's score, failures as wrong.
    pub(super) fn scores(&self, rows: &Rows) -> Vec<Scored<'a>> {
        self.table.scores(rows, &self.by(FailurePolicy::Wrong))
    }

    /// The cells that say which trials a row is about, and then what is said of them.
    pub(super) fn row(&self, cells: impl IntoIterator<Item = Value>) -> Vec<Value> {
        let CellKey { configuration, method, model, budget, .. } = self.key;
        let budget = budget.map_or_else(|| text("-"), count);
        let run = has_configurations(self.table).then(|| text(configuration));
        let head = [text(method), text(model), budget, text(self.metric.name())];
        run.into_iter().chain(head).chain(cells).collect()
    }
}

fn has_configurations(table: &Observations) -> bool {
    table.cells().any(|(_, cell)| !cell.key.configuration.is_empty())
}

/// The cells of a table, each under the main metric of its items; of items in several languages, under that of each.
pub(super) fn groups(table: &Observations) -> Vec<Group<'_>> {
    let mut languages: Vec<Language> = table.items().map(|(_, item)| item.language).collect();
    languages.sort_unstable();
    languages.dedup();
    let of_language = |language| {
        let items = table.items().filter(move |(_, item)| item.language == language);
        items.map(|(id, _)| id).collect::<Vec<_>>()
    };
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (cell, facts) in table.cells() {
        for language in &languages {
            let Some(metric) = table.main_metric(&Rows::of(cell).items(of_language(*language))) else { continue };
            if !groups.iter().any(|group| group.cell == cell && group.metric == metric) {
                groups.push(Group { table, cell, key: &facts.key, metric });
            }
        }
    }
    groups
}

/// The mean of numbers, each of an item, with its interval, or what is missing.
pub(super) fn score<'a>(observed: impl Iterator<Item = (f64, &'a ItemFacts)>, otherwise: &str) -> Value {
    clustered(observed.map(|(value, item)| (value, item.cluster())), otherwise)
}

/// The mean of numbers, each with its cluster.
pub(super) fn clustered(observed: impl Iterator<Item = (f64, String)>, otherwise: &str) -> Value {
    let numbers: Vec<(f64, String)> = observed.collect();
    let observations: Vec<stats::Observation<'_>> =
        numbers.iter().map(|(value, cluster)| stats::Observation { value: *value, cluster }).collect();
    Value::score(estimate(&observations).as_ref(), otherwise)
}

/// The values of a label in the table: as `order` has them, then the others by name.
pub(super) fn values(table: &Observations, label: &str, order: &[&str]) -> Vec<String> {
    let mut values: Vec<&str> = table.items().filter_map(|(_, item)| item.label(label)).collect();
    let rank = |value: &str| order.iter().position(|known| *known == value).unwrap_or(order.len());
    values.sort_by_key(|value| (rank(value), *value));
    values.dedup();
    values.into_iter().map(str::to_owned).collect()
}

/// A table whose columns are the head of a [`Group`]'s row and `columns`.
pub(super) fn table(
    groups: &[Group<'_>],
    id: &str,
    title: &str,
    source: &str,
    columns: impl IntoIterator<Item = impl Into<String>>,
) -> Table {
    let run = groups.first().is_some_and(|group| has_configurations(group.table)).then_some("run");
    let head = run.into_iter().chain(["method", "model", "budget", "metric"]).map(str::to_owned);
    plain_table(id, title, source, head.chain(columns.into_iter().map(Into::into)))
}

/// A table with these columns and no rows yet.
pub(super) fn plain_table(id: &str, title: &str, source: &str, columns: impl IntoIterator<Item = String>) -> Table {
    Table {
        id: id.to_owned(),
        title: title.to_owned(),
        source: source.to_owned(),
        columns: columns.into_iter().collect(),
        rows: Vec::new(),
        summary_rows: 0,
        notes: Vec::new(),
    }
}

/// The table if it has rows.
pub(super) fn filled(table: Table) -> Option<Table> {
    (!table.rows.is_empty()).then_some(table)
}

/// What must be known where both policies stand side by side or one was chosen.
pub(super) fn policy_note(policy: FailurePolicy) -> String {
    let what = match policy {
        FailurePolicy::Wrong => "count as wrong",
        FailurePolicy::LeftOut => "are not in the denominator",
    };
    format!("policy {}: overflow, responses cut short, refusals, failed calls and missing trials {what}", policy.name())
}

pub(super) fn text(text: &str) -> Value {
    Value::Text { text: text.to_owned() }
}

pub(super) fn count(count: impl TryInto<u64>) -> Value {
    Value::Count { count: count.try_into().unwrap_or(u64::MAX) }
}

pub(super) fn missing(reason: &str) -> Value {
    Value::Missing { reason: reason.to_owned() }
}

/// A number that may be absent.
pub(super) fn number(value: Option<f64>, decimals: u8, otherwise: &str) -> Value {
    match value.filter(|value| value.is_finite()) {
        Some(value) => Value::Number { value, decimals },
        None => missing(otherwise),
    }
}

/// A difference or share with its number of items, which may be absent.
pub(super) fn share(value: Option<f64>, n: usize, otherwise: &str) -> Value {
    match value.filter(|value| value.is_finite()) {
        Some(value) => Value::Share { value, n },
        None => missing(otherwise),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Case, case, table};
    use closeread_eval::Task;
    use closeread_eval::observations::Ending;

    #[test]
    fn repeats_of_an_item_are_one_observation() {
        let repeat = |id: &str, repeat: u32, score: f64| Case { repeat, ..case(id).scored("f1", score) };
        let table = table(&[repeat("a", 0, 1.0), repeat("a", 1, 0.0), repeat("b", 0, 1.0), repeat("b", 1, 1.0)]);
        let group = &groups(&table)[0];
        let scores: Vec<(&str, f64)> =
            group.scores(&group.rows()).into_iter().map(|one| (one.item.id.as_str(), one.value)).collect();
        assert_eq!(scores, [("a", 0.5), ("b", 1.0)]);
    }

    #[test]
    fn each_task_is_spoken_for_by_its_own_metric() {
        let choice = Case { task: Task::Choice, ..case("a").scored("accuracy", 1.0) };
        let open = case("b").scored("exact_match", 0.0).scored("f1", 0.5).scored("evidence_recall", 1.0);
        let failed = Case { ending: Ending::Failed, ..case("c") };
        let table = table(&[choice, open, failed]);
        let found: Vec<(String, usize)> =
            groups(&table).iter().map(|g| (g.metric.to_string(), g.scores(&g.rows()).len())).collect();
        assert_eq!(found, [("accuracy".to_owned(), 1), ("f1".to_owned(), 2)]);
    }
}
