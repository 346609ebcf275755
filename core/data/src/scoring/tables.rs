//! A scorecard as people read it.

use super::Scorecard;
use closeread_eval::observations::{Ending, Ledger};
use closeread_metrics::stats::Estimate;
use closeread_table::number::{is_over_items, metric_label, percent, thousands};
use closeread_table::{OVER_ITEMS, Table, Value};
use std::collections::BTreeMap;

impl Scorecard {
    /// The scores under both policies with their ledger in words, then a table for each label.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.score_table()];
        tables.extend(self.by.keys().map(|label| self.label_table(label)));
        tables
    }

    fn score_table(&self) -> Table {
        let heads = ["metric", "score", "95%", "n", "failures left out", "95%", "n"];
        let title = format!("Scores in percent, {} items", thousands(self.n as u64));
        let mut table = Table::new("scores", title, heads.map(str::to_owned).to_vec());
        let none = BTreeMap::new();
        let left_out = self.policies.values().next().map_or(&none, |policy| &policy.metrics);
        for name in self.metric_names() {
            let mut row = vec![Value::text(metric_label(name))];
            row.extend(estimate(self.metrics.get(name)));
            row.extend(estimate(left_out.get(name)));
            table.rows.push(row);
        }
        table.notes.push(in_words(&self.ledger.counts));
        let ledger = &self.ledger.counts;
        let missing = ledger.of(Ending::Missing);
        if missing > 0 {
            table.notes.push(format!(
                "INCOMPLETE: {} of {} items are missing and count as wrong",
                thousands(missing as u64),
                thousands(self.n as u64)
            ));
        }
        if ledger.parts().any(|(ending, n)| ending.is_failure() && n > 0) {
            table.notes.push(
                "failures left out: what did not fit, was refused, failed or is missing is not in the denominator"
                    .to_owned(),
            );
        }
        let estimates = self.metrics.values().chain(left_out.values());
        mark(&mut table, estimates);
        table
    }

    fn label_table(&self, label: &str) -> Table {
        let groups = &self.by[label];
        let mut metrics = self.metric_names();
        metrics.retain(|name| groups.values().any(|group| group.metrics.contains_key(*name)));
        let mut columns = vec![label.to_owned(), "items".to_owned(), "answered".to_owned()];
        columns.extend(metrics.iter().map(|name| metric_label(name)));
        let mut table = Table::new(format!("by-{label}"), format!("Scores by {label}, in percent"), columns);
        for (value, group) in groups {
            let mut row =
                vec![Value::text(value), Value::count(group.n), Value::count(group.ledger.of(Ending::Answered))];
            let score = |name: &&str| Value::score(group.metrics.get(*name), "no item of this group has this metric");
            row.extend(metrics.iter().map(score));
            table.rows.push(row);
        }
        mark(&mut table, groups.values().flat_map(|group| group.metrics.values()));
        table
    }
}

fn estimate(estimate: Option<&Estimate>) -> [Value; 3] {
    match estimate {
        None => [(); 3].map(|()| Value::missing("every item of this metric failed")),
        Some(Estimate { value, low, high, n, interval }) => {
            let star = if is_over_items(*interval) { "*" } else { "" };
            let range = format!("[{}, {}]{star}", percent(*low), percent(*high));
            [Value::Number { value: 100.0 * value, decimals: 2 }, Value::text(range), Value::count(*n)]
        }
    }
}

fn mark<'a>(table: &mut Table, mut estimates: impl Iterator<Item = &'a Estimate>) {
    if estimates.any(|estimate| is_over_items(estimate.interval)) {
        table.notes.push(OVER_ITEMS.to_owned());
    }
}

/// `7 items: 5 answered, 1 unparsed, 1 missing`: every part that is not zero.
fn in_words(ledger: &Ledger) -> String {
    let some = ledger.parts().filter(|(_, n)| *n > 0);
    let parts = some.map(|(ending, n)| format!("{} {}", thousands(n as u64), ending.name().replace('_', " ")));
    format!("{} items: {}", thousands(ledger.planned() as u64), parts.collect::<Vec<_>>().join(", "))
}
