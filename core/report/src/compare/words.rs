//! Conclusions of a comparison, in plain sentences: what it shows and what it cannot show.

use super::unpaired::{Unpaired, is_clustered};
use closeread_metrics::stats::paired::{Comparison, TestName};
use closeread_table::number::{metric_label, number, points, thousands};

pub(super) use closeread_metrics::stats::paired::ALPHA;

/// Note that says which test the p-values of a table come from.
pub(super) const TEST_RULE: &str = "p: t test clustered by book; with fewer than five books McNemar's exact test, or a \
     permutation test where scores are not all 0 or 1";

/// A sentence or two that say what the comparison shows, and how much would be needed where it shows nothing.
///
/// `n_differ` counts the items on which the two score differently.
pub(super) fn conclusion(
    a: &str,
    b: &str,
    metric: &str,
    overall: Option<&Comparison>,
    n_differ: usize,
    unpaired: &Unpaired,
) -> String {
    let metric = metric_label(metric);
    let Some(c) = overall else {
        let why = if unpaired.other_gold.is_empty() {
            "the two have no scored item in common"
        } else {
            "every item they have in common asks another question or has another gold answer"
        };
        return format!("Nothing can be concluded about {metric}: {why}.");
    };
    let n = thousands(c.n as u64);
    let items = if c.n == 1 { "item" } else { "items" };
    if c.difference == 0.0 {
        let found = match n_differ {
            0 => format!("{b} and {a} score the same on each of the {n} {items} by {metric}"),
            _ => format!("{b} and {a} have the same mean by {metric} on the same {n} {items}, and differ both ways"),
        };
        return format!(
            "{found}: this run cannot tell them apart, and leaves room for a difference from {} to {} points.",
            points(c.low),
            points(c.high)
        );
    }
    let found = format!(
        "{b} scores {} points {} than {a} by {metric} [{}, {}] on the same {n} {items}",
        points(c.difference.abs()).trim_start_matches('+'),
        if c.difference < 0.0 { "less" } else { "more" },
        points(c.low),
        points(c.high),
    );
    let significant = c.p_value < ALPHA;
    let apart = c.low > 0.0 || c.high < 0.0;
    let p = p_value(c.p_value);
    let verdict = match (significant, apart) {
        (true, true) => format!("{p}: more than chance would explain"),
        (false, false) => format!("{p}: this run cannot tell them apart{}", needed(c)),
        _ => format!("{p}: interval and test do not agree, so take them as not told apart{}", needed(c)),
    };
    let scope = if is_clustered(c) {
        String::new()
    } else {
        format!(
            " The interval is over items: with {} it says nothing about other books.",
            match c.clusters {
                0 | 1 => "one book".to_owned(),
                n => format!("{n} books"),
            }
        )
    };
    format!("{found}, {verdict}.{scope}")
}

/// Says how many of several pairs can be told apart, in a sentence.
pub(super) fn told_apart(n: usize, of: usize, metric: &str) -> String {
    let metric = metric_label(metric);
    match (n, of) {
        (0, 0) => format!("By {metric} nothing can be concluded: no pair has a scored item in common."),
        (0, 1) => format!("By {metric} the pair cannot be told apart."),
        (1, 1) => format!("By {metric} the pair differs by more than chance would explain."),
        (0, _) => format!("By {metric} none of the {of} pairs can be told apart once p is corrected for {of} tests."),
        _ => {
            format!("By {metric} {n} of the {of} pairs differ by more than chance would explain (p (Holm) below 0.05).")
        }
    }
}

/// Writes a p-value, as in `p = 0.031`, `p = 0.0004`, `p < 0.0001`.
fn p_value(p: f64) -> String {
    let shown = number(p, if p < 0.01 { 4 } else { 3 });
    match shown.strip_prefix('<') {
        Some(bound) => format!("p < {bound}"),
        None => format!("p = {shown}"),
    }
}

fn needed(c: &Comparison) -> String {
    match &c.needed {
        Some(size) => format!(
            "; about {} items would be needed to show a difference of this size",
            thousands(rounded(size.items))
        ),
        None => String::new(),
    }
}

/// Rounds to two leading digits: an extrapolation has no more.
fn rounded(n: u64) -> u64 {
    let mut unit = 1;
    while n / unit >= 100 {
        unit *= 10;
    }
    n.div_ceil(unit) * unit
}

/// Says which test gave the p-value, and what the others say.
pub(super) fn tests(c: &Comparison) -> String {
    let name = match c.test {
        TestName::ClusteredT => "t test on the difference, clustered by book",
        TestName::McnemarExact => "McNemar's exact test over items",
        TestName::Permutation => "permutation test over items",
    };
    let mcnemar = c.mcnemar.as_ref().map_or(String::new(), |m| {
        format!("; only A right {}, only B right {}, McNemar {}", m.only_a, m.only_b, p_value(m.p))
    });
    format!(
        "p: {name}{mcnemar}; permutation {}; bootstrap [{}, {}]",
        p_value(c.permutation_p),
        points(c.bootstrap.low),
        points(c.bootstrap.high)
    )
}
