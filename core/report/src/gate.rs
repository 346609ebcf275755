//! Gates: what a run has to reach, decided by the ends of intervals and not by the mean alone.
//!
//! A gate is passed if the whole 95% interval lies on the right side of what was asked, not passed if the whole of it lies on the
//! wrong side, and undecided in between: too few items. Each end is a one-sided bound at 97.5%.

use super::compare::{RunComparison, Unpaired};
use super::{Cell, ServedUsage, Usage};
use closeread_eval::observations::{Ending, MetricName};
use closeread_judges::judged_metrics;
use closeread_llm::price::Dollars;
use closeread_metrics::stats::IntervalMethod;
use closeread_metrics::stats::paired::Comparison;
use closeread_table::number::{metric_label, percent, points, thousands};
use closeread_table::{Table, Value};
use serde::Serialize;

/// The decision on a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The threshold is reached.
    Passed,
    /// The threshold is not reached.
    NotPassed,
    /// The items are too few to tell, or the folder is not whole.
    Undecided,
}

impl Verdict {
    /// Returns the verdict's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NotPassed => "not passed",
            Self::Undecided => "undecided",
        }
    }

    /// Decides on an interval that is to lie at or above a bound.
    fn above(low: f64, high: f64, bound: f64) -> Self {
        match () {
            () if low >= bound => Self::Passed,
            () if high < bound => Self::NotPassed,
            () => Self::Undecided,
        }
    }
}

/// A gate and how it was decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// Subject of the gate: a metric, `cost`, `failed`, `folder`.
    pub about: String,
    /// The condition, in short: `dos-rag@1500 >= 0.55`.
    pub name: String,
    /// The decision.
    pub verdict: Verdict,
    /// What was found, and what a decision would take where there is none.
    pub found: String,
}

/// `cell`, called `name`, is to score at least `least` (0 to 1) by a metric; `None` if it has no such score. Answers that judges
/// left without a verdict may be right or wrong: they decide nothing.
pub fn at_least(name: &str, cell: &Cell, metric: &MetricName, least: f64) -> Option<Gate> {
    let estimate = cell.metrics.get(metric).filter(|_| !is_missing(cell, metric))?;
    let (unjudged, share) = (cell.unjudged(metric), unjudged_share(cell, metric));
    let (low, high) = (estimate.low * (1.0 - share), estimate.high * (1.0 - share) + share);
    let verdict = Verdict::above(low, high, least);
    let half = if estimate.value >= least { estimate.value - estimate.low } else { estimate.high - estimate.value };
    let mut found = format!(
        "{} {} [{}, {}] over {} items{}",
        metric_label(metric.name()),
        percent(estimate.value),
        percent(estimate.low),
        percent(estimate.high),
        thousands(estimate.n as u64),
        scope(estimate.interval)
    );
    if unjudged > 0 {
        found += &format!("; {} without a verdict", thousands(unjudged as u64));
    }
    if Verdict::above(estimate.low, estimate.high, least) == Verdict::Undecided {
        found += &decided_by(estimate.n, half, estimate.value - least);
    }
    Some(Gate { about: metric.to_string(), name: format!("{name} >= {least}"), verdict, found })
}

/// Share of the answers without a verdict among the trials that the metric applies to.
fn unjudged_share(cell: &Cell, metric: &MetricName) -> f64 {
    let in_no_mean: usize = cell.out.get(metric).map_or(0, |out| out.values().sum());
    let (unjudged, scored) = (cell.unjudged(metric), cell.ledger.planned().saturating_sub(in_no_mean));
    unjudged as f64 / (unjudged + scored).max(1) as f64
}

/// True if every trial that a metric applies to has no record: its mean of zeros is no score.
fn is_missing(cell: &Cell, metric: &MetricName) -> bool {
    let failed = |ending: Ending| ending.is_failure() && ending != Ending::Missing;
    let has_failed = cell.ledger.parts().any(|(ending, n)| n > 0 && failed(ending));
    !cell.failures_left_out.contains_key(metric) && !has_failed && cell.ledger.of(Ending::Missing) > 0
}

/// Decides on a cell that has no score by a metric of other cells: trials without a record count as 0, and answers without a
/// verdict may be right or wrong. `None` if there is neither.
pub fn missing_score(name: &str, cell: &Cell, metric: &MetricName, least: f64) -> Option<Gate> {
    let is_scored = cell.metrics.contains_key(metric) && !is_missing(cell, metric);
    if is_scored || metric.is_of_context() {
        return None;
    }
    let missing = cell.ledger.of(Ending::Missing);
    let unjudged = cell.unjudged(metric);
    let of_all =
        format!("{} of {} trials have no record", thousands(missing as u64), thousands(cell.ledger.planned() as u64));
    let without = format!("{} without a verdict", thousands(unjudged as u64));
    let why = match (missing, unjudged) {
        (0, 0) => return None,
        (0, _) => without,
        (_, 0) => of_all,
        _ => format!("{of_all}; {without}"),
    };
    Some(Gate {
        about: metric.to_string(),
        name: format!("{name} >= {least}"),
        verdict: Verdict::above(0.0, unjudged as f64 / (unjudged + missing) as f64, least),
        found: format!("{} -: {why}", metric_label(metric.name())),
    })
}

/// The trials of a side that have no record, `n` of `of`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MissingTrials {
    /// Those without one.
    pub n: usize,
    /// All that were planned.
    pub of: usize,
}

impl MissingTrials {
    fn share(self) -> f64 {
        self.n as f64 / self.of.max(1) as f64
    }
}

/// The second side of a comparison is to be at most `margin` (0 to 1) worse than the first; `None` without a common item. Answers
/// that judges left without a verdict may be right or wrong, and so may the first side's trials without a record: they decide nothing.
pub fn no_worse_than(name: &str, base: &str, comparison: &RunComparison, margin: f64) -> Option<Gate> {
    let Comparison { n, clusters, difference, low, high, interval, .. } = *comparison.overall.as_ref()?;
    let (on_one_side, on_either) = (unjudged_on_one_side(comparison), comparison.neither_judged);
    let (unjudged, missing) = (on_one_side + on_either, comparison.missing);
    let share = unjudged as f64 / (n + unjudged) as f64;
    let (worst, best) = (low * (1.0 - share) - share - missing.share(), high * (1.0 - share) + share);
    let verdict = Verdict::above(worst, best, -margin);
    let mut found = format!(
        "{} {} points [{}, {}] against {base} on the same {} items of {} documents, at most {} worse at 97.5%{}",
        metric_label(&comparison.metric),
        points(difference),
        points(low),
        points(high),
        thousands(n as u64),
        thousands(clusters as u64),
        percent((-worst).max(0.0)),
        scope(interval)
    );
    for (n, side) in [(on_one_side, "one"), (on_either, "either")].into_iter().filter(|(n, _)| *n > 0) {
        found += &format!("; {} without a verdict on {side} side", thousands(n as u64));
    }
    if missing.n > 0 {
        found += &format!("; {} trials of {base} have no record", thousands(missing.n as u64));
    }
    if Verdict::above(low, high, -margin) == Verdict::Undecided {
        let half = if difference >= -margin { difference - low } else { high - difference };
        found += &decided_by(n, half, difference + margin);
    }
    let margin = asked(margin);
    Some(Gate { about: comparison.metric.clone(), name: format!("{name} >= {base} - {margin} points"), verdict, found })
}

/// Number of items that only one side has a verdict on.
fn unjudged_on_one_side(comparison: &RunComparison) -> usize {
    let Unpaired { unscored_a, unscored_b, .. } = &comparison.unpaired;
    let is_judged = judged_metrics().any(|name| name == comparison.metric);
    if is_judged { unscored_a.len() + unscored_b.len() } else { 0 }
}

/// Gate on cost: everything that a run asked for may cost at most this much. `charged` is what was counted while it ran, with
/// calls that no trial kept, and the most that calls can cost whose end is not known.
pub fn at_most_cost(usage: &[Usage], served: &[ServedUsage], charged: (Dollars, Dollars), most: Dollars) -> Gate {
    let (Dollars(known), Dollars(open)) = charged;
    let dollars = usage.iter().map(|usage| usage.dollars.0).chain(served.iter().map(|served| served.dollars.0));
    let kept: f64 = dollars.fold(0.0, |sum, dollars| sum + dollars);
    // Rounding apart.
    let spent = if known - kept > 1e-9 { known } else { kept };
    let unpriced = usage.iter().map(|usage| usage.unpriced).chain(served.iter().map(|served| served.unpriced));
    let unpriced: usize = unpriced.sum();
    let uncounted = usage.iter().any(|usage| usage.uncounted > 0) || served.iter().any(|served| served.uncounted > 0);
    let untold = usage.iter().any(|usage| usage.untold);
    let verdict = match () {
        () if spent > most.0 => Verdict::NotPassed,
        () if unpriced > 0 || untold || spent + open > most.0 => Verdict::Undecided,
        () => Verdict::Passed,
    };
    let unknown = match unpriced {
        _ if untold => "; the calls of another tool's log are not read".to_owned(),
        0 => String::new(),
        n if uncounted => format!("; the cost of {} calls is not known: a price, or their tokens", thousands(n as u64)),
        n => format!("; the price of {} calls is not known", thousands(n as u64)),
    };
    let lost = match open > 0.0 {
        true => format!(", and up to {open:.4} for calls whose end is not known"),
        false => String::new(),
    };
    Gate {
        about: "cost".to_owned(),
        name: format!("cost <= {}", most.0),
        verdict,
        found: format!("{spent:.4} dollars{lost}{unknown}"),
    }
}

/// The most trials that may end without the model having got to answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MostFailed {
    /// This number of trials.
    Trials(usize),
    /// A share of what was planned, 0 to 1.
    Share(f64),
}

/// Gate on failures: of the trials of a cell at most this many may fail, missing ones included.
pub fn at_most_failed(name: &str, cell: &Cell, most: MostFailed) -> Gate {
    let failed: usize = cell.ledger.parts().filter(|(ending, _)| ending.is_failure()).map(|(_, n)| n).sum();
    let planned = cell.ledger.planned();
    let (is_passed, asked) = match most {
        MostFailed::Trials(n) => (failed <= n, n.to_string()),
        MostFailed::Share(share) => (failed as f64 <= share * planned as f64, format!("{}%", asked(share))),
    };
    let verdict = if is_passed { Verdict::Passed } else { Verdict::NotPassed };
    let found = format!("{} of {} trials failed", thousands(failed as u64), thousands(planned as u64));
    Gate { about: "failed".to_owned(), name: format!("{name} failed <= {asked}"), verdict, found }
}

/// Gate on the folder itself: what it lacks or what is damaged in it may have been wrong, so that no other gate passes it.
pub fn not_whole(gap: &str) -> Gate {
    Gate {
        about: "folder".to_owned(),
        name: "the folder is whole".to_owned(),
        verdict: Verdict::Undecided,
        found: gap.to_owned(),
    }
}

/// The gates as a table.
pub fn gate_table(gates: &[Gate]) -> Table {
    let mut table = Table::new("gates", "Gates", ["", "asked", "found"].map(str::to_owned).to_vec());
    table.rows =
        gates.iter().map(|gate| [gate.verdict.name(), &gate.name, &gate.found].map(Value::text).to_vec()).collect();
    table
}

/// A share that was asked for, in percent with all its digits.
fn asked(share: f64) -> String {
    let percents = (1e8 * share).round() / 1e6;
    if percents.fract() == 0.0 { percent(share) } else { percents.to_string() }
}

fn scope(interval: IntervalMethod) -> &'static str {
    if interval == IntervalMethod::ClusteredByBook { "" } else { ", an interval over items" }
}

/// An interval's half shrinks with the root of the items.
fn decided_by(n: usize, half: f64, distance: f64) -> String {
    let times = half / distance;
    let needed = n as f64 * times * times;
    if needed.is_finite() && needed < 1e7 {
        let unit = if needed >= 100.0 { 10.0 } else { 1.0 };
        let about = (needed / unit).ceil() * unit;
        format!("; about {} items would decide it, if this were the true value", thousands(about as u64))
    } else {
        "; no number of items would decide it, if this were the true value".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_interval_decide() {
        assert_eq!(Verdict::above(0.55, 0.7, 0.55), Verdict::Passed);
        assert_eq!(Verdict::above(0.4, 0.549, 0.55), Verdict::NotPassed);
        assert_eq!(Verdict::above(0.5, 0.6, 0.55), Verdict::Undecided);
        assert_eq!(Verdict::above(-0.02, 0.1, -0.02), Verdict::Passed);
    }

    #[test]
    fn what_is_asked_for_is_not_rounded() {
        assert_eq!([0.02, 0.0002, 0.0005, 0.0255, 1.0].map(asked), ["2.0", "0.02", "0.05", "2.55", "100.0"]);
    }

    #[test]
    fn twice_the_distance_takes_a_quarter_of_the_items() {
        assert_eq!(decided_by(100, 0.1, 0.05), "; about 400 items would decide it, if this were the true value");
        assert_eq!(decided_by(100, 0.1, -0.1), "; about 100 items would decide it, if this were the true value");
        assert!(decided_by(100, 0.1, 0.0).contains("no number"));
    }

    #[test]
    fn an_unknown_price_decides_only_what_is_dear_already() {
        let gate = |most| at_most_cost(&[], &[], (Dollars(0.0), Dollars(0.0)), Dollars(most));
        assert_eq!((gate(0.0).verdict, gate(1.0).found.as_str()), (Verdict::Passed, "0.0000 dollars"));
        let mut served = [ServedUsage { dollars: Dollars(2.0), unpriced: 1, ..ServedUsage::default() }];
        let gate =
            |served: &[ServedUsage], most| at_most_cost(&[], served, (Dollars(0.0), Dollars(0.0)), Dollars(most));
        let verdict = |most| gate(&served, most).verdict;
        assert_eq!((verdict(1.0), verdict(3.0)), (Verdict::NotPassed, Verdict::Undecided));
        assert!(gate(&served, 3.0).found.contains("; the price of 1 calls is not known"));
        served[0].uncounted = 1;
        let found = gate(&served, 3.0).found;
        assert!(found.contains("; the cost of 1 calls is not known: a price, or their tokens"), "{found}");
    }
}
