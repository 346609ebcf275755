//! DOS RAG ("Stronger Baselines", sections 3 and 4): scores over the token budget, with their spread over repeats.

use super::tabulate::{count, filled, groups, policy_note, share, table};
use closeread_eval::observations::{Aggregation, FailurePolicy, Observations};
use closeread_table::Table;

/// The budget curve: one row a cell, ordered by metric, method, model and budget; nothing if no method has a budget.
pub fn tables(trials: &Observations) -> Vec<Table> {
    if trials.cells().all(|(_, cell)| cell.key.budget.is_none()) {
        return Vec::new();
    }
    let mut groups = groups(trials);
    groups.sort_by(|a, b| (&a.metric, a.key).cmp(&(&b.metric, b.key)));
    let columns = ["score", "deviation over repeats", "repeats"];
    let title = "Scores over the token budget";
    let mut table = table(&groups, "dos-rag-budget", title, "DOS RAG, figures 1 to 4 and Table 5", columns);
    for group in &groups {
        let over = trials.aggregate(&group.rows(), &Aggregation::new(group.metric.clone())).repeats;
        let n = over.map_or(1, |over| over.n);
        table.rows.push(group.row([
            group.mean(&group.rows(), FailurePolicy::Wrong),
            share(over.and_then(|over| over.sd), n, "a single repeat has no deviation"),
            count(n),
        ]));
    }
    table.notes.push(policy_note(FailurePolicy::Wrong));
    table.notes.push("deviation: sample standard deviation of the repeats' means".to_owned());
    filled(table).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Case, case, table};
    use closeread_table::Value;

    #[test]
    fn budgets_stand_in_order_with_the_deviation_over_repeats() {
        let trial = |budget, repeat, score: f64| Case { budget: Some(budget), repeat, ..case("a").scored("f1", score) };
        let trials = [trial(4_000, 0, 1.0), trial(500, 0, 0.25), trial(500, 1, 0.75)];
        let made = tables(&table(&trials)).remove(0);
        assert_eq!(made.rows[0][2], Value::Count { count: 500 });
        assert!(matches!(&made.rows[0][4], Value::Score { estimate } if estimate.value == 0.5 && estimate.n == 1));
        assert!(matches!(made.rows[0][5], Value::Share { value, n: 2 } if (value - libm::sqrt(0.125)).abs() < 1e-12));
        assert!(matches!(made.rows[1][5], Value::Missing { .. }));
        assert!(tables(&table(&[case("a").scored("f1", 1.0)])).is_empty());
    }
}
