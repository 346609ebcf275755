//! DOS RAG ("Stronger Baselines", sections 3 and 4): scores over the token budget, with their spread over runs.

use super::tabulate::{count, groups, mean_over_items, policy_note, share, table};
use closeread_eval::{Case, FailurePolicy};
use closeread_table::{Table, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Mean and spread of a score over repeated runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OverRuns {
    /// Mean of the runs' means, in 0..=1.
    pub mean: f64,
    /// Sample standard deviation of the runs' means (n - 1); `None` for a single run.
    pub deviation: Option<f64>,
    /// Runs.
    pub n_runs: usize,
}

/// Mean and standard deviation over runs, each run being its mean score; `None` without runs.
///
/// The paper prints a deviation over 5 runs without saying which; here it is the sample deviation.
pub fn over_runs(run_means: &[f64]) -> Option<OverRuns> {
    let n_runs = run_means.len();
    if n_runs == 0 {
        return None;
    }
    let mean = run_means.iter().sum::<f64>() / n_runs as f64;
    let squares: f64 = run_means.iter().map(|run| (run - mean) * (run - mean)).sum();
    let deviation = (n_runs > 1).then(|| libm::sqrt(squares / (n_runs - 1) as f64));
    Some(OverRuns { mean, deviation, n_runs })
}

/// Mean score of each run, by its number.
pub fn run_means(cases: &[&Case], metric: &str, policy: FailurePolicy) -> Vec<f64> {
    let mut runs: BTreeMap<u32, (f64, usize)> = BTreeMap::new();
    for case in cases {
        if let Some(score) = case.score(metric, policy) {
            let (sum, n) = runs.entry(case.sample).or_default();
            *sum += score;
            *n += 1;
        }
    }
    runs.into_values().map(|(sum, n)| sum / n as f64).collect()
}

/// The budget curve: one row a configuration, ordered by method, model and budget; nothing if no method has a budget.
pub fn tables(cases: &[Case]) -> Vec<Table> {
    if cases.iter().all(|case| case.budget.is_none()) {
        return Vec::new();
    }
    let mut groups = groups(cases);
    groups.sort_by(|a, b| (&a.metric, &a.configuration).cmp(&(&b.metric, &b.configuration)));
    let columns = ["score", "deviation over runs", "runs"];
    let title = "Scores over the token budget";
    let mut table = table("dos-rag-budget", title, "DOS RAG, figures 1 to 4 and Table 5", columns);
    for group in &groups {
        let mut row: Vec<Value> = group.head();
        row.push(mean_over_items(&group.cases, &group.metric, FailurePolicy::FailuresWrong));
        let means = run_means(&group.cases, &group.metric, FailurePolicy::FailuresWrong);
        let deviation = over_runs(&means).and_then(|runs| runs.deviation);
        row.push(share(deviation, means.len(), "a single run has no deviation"));
        row.push(count(means.len()));
        table.rows.push(row);
    }
    table.notes.push(policy_note(FailurePolicy::FailuresWrong));
    table.notes.push("deviation: sample standard deviation of the runs' means".to_owned());
    if table.rows.is_empty() { Vec::new() } else { vec![table] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::testing::case;

    #[test]
    fn the_deviation_is_over_runs_not_items() {
        assert_eq!(over_runs(&[0.5]), Some(OverRuns { mean: 0.5, deviation: None, n_runs: 1 }));
        assert_eq!(over_runs(&[0.0, 1.0]).and_then(|runs| runs.deviation), Some(libm::sqrt(0.5)));
        assert_eq!(over_runs(&[]), None);
    }

    #[test]
    fn budgets_stand_in_order() {
        let trial = |budget: usize, sample: u32, score: f64| Case {
            budget: Some(budget),
            sample,
            ..case("a").scored("f1", score)
        };
        let cases = [trial(4_000, 0, 1.0), trial(500, 0, 0.25), trial(500, 1, 0.75)];
        let table = tables(&cases).remove(0);
        assert_eq!(table.rows[0][2], Value::Count { count: 500 });
        assert!(matches!(&table.rows[0][4], Value::Score { estimate } if estimate.value == 0.5 && estimate.n == 1));
        assert_eq!(table.rows[0][6], Value::Count { count: 2 });
        assert!(matches!(table.rows[1][5], Value::Missing { .. }));
        assert!(super::tables(&[case("a").scored("f1", 1.0)]).is_empty());
    }
}
