//! The table at the end of a run.

use closeread_core::report::Cell;
use closeread_core::stats::{Estimate, IntervalMethod};
use std::collections::BTreeSet;

/// The cells as text, one line each, scores in percent with their 95% interval.
pub(crate) fn render(cells: &[Cell]) -> String {
    let metrics = metric_names(cells);
    let models: BTreeSet<&str> = cells.iter().map(|c| c.key.model.as_str()).collect();
    let mut header = vec!["method".to_owned(), "budget".to_owned(), "n".to_owned()];
    if models.len() > 1 {
        header.insert(1, "model".to_owned());
    }
    header.extend(metrics.iter().map(|metric| label(metric)));
    header.extend(["prompt tokens".to_owned(), "seconds".to_owned()]);
    let mut rows = vec![header];
    for cell in cells {
        let mut row =
            vec![cell.key.method.clone(), cell.key.budget.map_or("-".to_owned(), thousands), thousands(cell.n)];
        if models.len() > 1 {
            row.insert(1, cell.key.model.clone());
        }
        row.extend(metrics.iter().map(|metric| cell.metrics.get(metric).map_or("-".to_owned(), score)));
        row.push(cell.prompt_tokens_mean.map_or("-".to_owned(), |mean| thousands(mean.round() as usize)));
        row.push(format!("{:.1}", cell.seconds));
        rows.push(row);
    }
    let mut text = aligned(&rows);
    for line in footnotes(cells) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Scores first, then what retrieval did.
fn metric_names(cells: &[Cell]) -> Vec<String> {
    let mut names: Vec<String> = cells.iter().flat_map(|c| c.metrics.keys().cloned()).collect();
    let rank = |name: &String| (name == closeread_core::report::EVIDENCE_RECALL, name.clone());
    names.sort_by_key(rank);
    names.dedup();
    names
}

fn label(metric: &str) -> String {
    match metric {
        "f1" => "F1".to_owned(),
        "rougeL" => "ROUGE-L".to_owned(),
        name => name.replace('_', " "),
    }
}

fn score(estimate: &Estimate) -> String {
    let mark = match estimate.interval {
        IntervalMethod::ClusteredByBook => "",
        IntervalMethod::Wilson | IntervalMethod::BootstrapOverItems | IntervalMethod::AgrestiMin => "*",
    };
    let percent = |x: f64| 100.0 * x;
    format!("{:.1} [{:.1}, {:.1}]{mark}", percent(estimate.value), percent(estimate.low), percent(estimate.high))
}

fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn aligned(rows: &[Vec<String>]) -> String {
    let n = rows.first().map_or(0, Vec::len);
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n).map(width).collect();
    let mut text = String::new();
    for (idx, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (i, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[i] - cell.chars().count());
            let left_aligned = rows[0][i] == "method" || rows[0][i] == "model";
            line.push_str(&if left_aligned { format!("{cell}{gap}  ") } else { format!("{gap}{cell}  ") });
        }
        text.push_str(line.trim_end());
        text.push('\n');
        if idx == 0 {
            text.push_str(&"-".repeat(widths.iter().sum::<usize>() + 2 * (n - 1)));
            text.push('\n');
        }
    }
    text
}

/// What the numbers leave out: how many items each metric covers, what did not end in an answer, which intervals
/// ignore that questions cluster.
fn footnotes(cells: &[Cell]) -> Vec<String> {
    let mut lines = Vec::new();
    for metric in metric_names(cells) {
        let ns: BTreeSet<usize> = cells.iter().filter_map(|c| c.metrics.get(&metric)).map(|e| e.n).collect();
        if ns.iter().any(|n| cells.iter().any(|c| c.n != *n)) {
            let ns: Vec<String> = ns.into_iter().map(thousands).collect();
            lines.push(format!("{}: over {} items", label(&metric), ns.join(" to ")));
        }
    }
    lines.extend(outcomes(cells));
    let marked = cells.iter().flat_map(|c| c.metrics.values()).any(|e| e.interval != IntervalMethod::ClusteredByBook);
    if marked {
        lines.push("* 95% interval over items: fewer than five books to cluster by, or scores all alike".to_owned());
    }
    lines
}

/// A line for each method and ledger in which something did not end in an answer, with the budgets that share it.
fn outcomes(cells: &[Cell]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>, String)> = Vec::new();
    for cell in cells {
        let l = &cell.ledger;
        let counts = [
            ("not found", l.not_found),
            ("unanswered", l.unanswered),
            ("overflow", l.overflow),
            ("blocked", l.blocked),
            ("unparsed", l.unparsed),
            ("failed", l.failed),
            ("missing", l.missing),
            ("unscored", l.unscored),
        ];
        let other: Vec<String> = counts.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{n} {name}")).collect();
        if other.is_empty() {
            continue;
        }
        let counts = format!("{} answered, {}", l.answered, other.join(", "));
        let budget = cell.key.budget.map(thousands);
        match lines.iter_mut().find(|(method, _, known)| *method == cell.key.method && *known == counts) {
            Some((_, budgets, _)) => budgets.extend(budget),
            None => lines.push((cell.key.method.clone(), budget.into_iter().collect(), counts)),
        }
    }
    let line = |(method, budgets, counts): (String, Vec<String>, String)| {
        let at = if budgets.is_empty() { String::new() } else { format!(" at {}", budgets.join("; ")) };
        format!("{method}{at}: {counts}")
    };
    lines.into_iter().map(line).collect()
}
