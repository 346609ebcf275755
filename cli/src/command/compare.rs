//! `closeread compare`: two runs, or two cells of a run, on the same items.

mod source;

use anyhow::{Result, bail};
use closeread_core::report::compare::{Flip, Labels, RunComparison, compare};
use closeread_core::table::number::{metric_label, ordered_metrics, percent, thousands};
use closeread_core::table::render::text;
use serde_json::json;
use source::{Entry, Source};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

/// Ids that a line lists; --json lists all.
const MAX_IDS: usize = 12;

/// Compare two runs, or two cells of a run, item by item.
///
/// A run is a run folder, or what `closeread score --json` printed. Of runs with several cells those are compared that
/// have the same method, model and budget; two values, as in `--method vanilla-rag,dos-rag`, name A's and B's. Exits
/// with 1 if nothing could be compared, or items of the same id are not the same item.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// The first run (A)
    #[arg(value_name = "RUN_A")]
    a: PathBuf,
    /// The second run (B); differences are B minus A [default: RUN_A]
    #[arg(value_name = "RUN_B")]
    b: Option<PathBuf>,
    /// Only these metrics [default: all that both have]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    metric: Vec<String>,
    /// The method, or A's and B's
    #[arg(long, value_name = "METHOD[,METHOD]", value_delimiter = ',')]
    method: Vec<String>,
    /// The model, or A's and B's
    #[arg(long, value_name = "MODEL[,MODEL]", value_delimiter = ',')]
    model: Vec<String>,
    /// The token budget, or A's and B's
    #[arg(long, value_name = "N[,N]", value_delimiter = ',')]
    budget: Vec<usize>,
    /// Break down by these labels alone [default: every label with 2 to 20 values]
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    by: Vec<String>,
    /// items.jsonl with the gold, for score files, which carry no labels and books
    #[arg(long, value_name = "ITEMS")]
    gold: Option<PathBuf>,
    /// Print everything as JSON, scores from 0 to 1
    #[arg(long)]
    json: bool,
}

/// Compares and prints.
pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    for (name, n) in [("--method", args.method.len()), ("--model", args.model.len()), ("--budget", args.budget.len())] {
        if n > 2 {
            bail!("{name} takes one value, or A's and B's: expected one or two, and there are {n}");
        }
    }
    let sources = Source::load(&args.a, args.b.as_deref(), args.gold.as_deref())?;
    let pairs = pairs(args, &sources)?;
    let labels = if args.by.is_empty() { Labels::All } else { Labels::Named(args.by.clone()) };
    let mut compared = Vec::new();
    for pair in &pairs {
        let names = names(pair, &sources);
        for metric in metrics(args, pair)? {
            let (a, b) = (pair.0.side(&names.0, &metric), pair.1.side(&names.1, &metric));
            compared.push((pair, compare(&a, &b, &metric, &labels)));
        }
    }
    let comparisons: Vec<&RunComparison> = compared.iter().map(|(_, comparison)| comparison).collect();
    if args.json {
        let rows: Vec<_> = compared
            .iter()
            .map(|(pair, comparison)| {
                let mut row = json!({"cell_a": pair.0.key(), "cell_b": pair.1.key()});
                if let (Some(row), Ok(serde_json::Value::Object(rest))) =
                    (row.as_object_mut(), serde_json::to_value(comparison))
                {
                    row.extend(rest);
                }
                row
            })
            .collect();
        let named = |source: &Source| json!({"name": source.name(), "path": source.path().display().to_string()});
        outln!("{}", json!({"a": named(sources.a()), "b": named(sources.b()), "comparisons": rows}));
    } else if pairs.len() == 1 {
        for (idx, comparison) in comparisons.iter().enumerate() {
            out!("{}{}", if idx > 0 { "\n" } else { "" }, in_full(comparison));
        }
    } else {
        out!("{}", overview(&comparisons));
    }
    let clean = comparisons.iter().all(|c| c.unpaired.other_gold.is_empty());
    let some = comparisons.iter().any(|c| c.overall.is_some());
    Ok(if clean && some { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The entries to compare: those that agree in whatever was not told apart by two values.
fn pairs<'a>(args: &CompareArgs, sources: &'a source::Two) -> Result<Vec<(Entry<'a>, Entry<'a>)>> {
    let chosen = |side: usize| {
        let source = if side == 0 { sources.a() } else { sources.b() };
        let entries: Vec<Entry<'a>> =
            source.entries().into_iter().filter(|entry| selected(args, entry, side)).collect();
        if entries.is_empty() {
            bail!(
                "{} has no cell that --method, --model and --budget ask for: expected one of\n  {}",
                source.path().display(),
                source.entries().iter().map(|e| e.name()).collect::<Vec<_>>().join("\n  ")
            );
        }
        Ok(entries)
    };
    let (a, b) = (chosen(0)?, chosen(1)?);
    let same_source = sources.same();
    if a.len() == 1 && b.len() == 1 {
        if same_source && a[0].key() == b[0].key() {
            bail!("{} is one cell: name a second run, or two methods, models or budgets", a[0].name());
        }
        return Ok(vec![(a[0], b[0])]);
    }
    let two = [args.method.len() == 2, args.model.len() == 2, args.budget.len() == 2];
    if same_source && two == [false; 3] {
        bail!(
            "one run was named, and it has several cells: name a second run, or two of its cells as in \
             --method vanilla-rag,dos-rag --budget 500; there are\n  {}",
            a.iter().map(|e| e.name()).collect::<Vec<_>>().join("\n  ")
        );
    }
    let agree = |x: &Entry<'_>, y: &Entry<'_>| match (x.key(), y.key()) {
        (Some(x), Some(y)) => {
            (two[0] || x.method == y.method) && (two[1] || x.model == y.model) && (two[2] || x.budget == y.budget)
        }
        _ => false,
    };
    let pairs: Vec<(Entry<'a>, Entry<'a>)> =
        a.iter().flat_map(|x| b.iter().filter(|y| agree(x, y)).map(|y| (*x, *y))).collect();
    if pairs.is_empty() {
        let list = |entries: &[Entry<'_>]| entries.iter().map(|e| e.name()).collect::<Vec<_>>().join("\n  ");
        bail!(
            "the two have no cell in common: choose by --method, --model and --budget, A's value before B's\nA has\n  {}\nB has\n  {}",
            list(&a),
            list(&b)
        );
    }
    Ok(pairs)
}

fn selected(args: &CompareArgs, entry: &Entry<'_>, side: usize) -> bool {
    fn of<T>(values: &[T], side: usize) -> Option<&T> {
        values.get(side.min(values.len().saturating_sub(1)))
    }
    let Some(key) = entry.key() else { return true };
    of(&args.method, side).is_none_or(|method| *method == key.method)
        && of(&args.model, side).is_none_or(|model| *model == key.model)
        && of(&args.budget, side).is_none_or(|budget| Some(*budget) == key.budget)
}

/// What tells the two apart: the cell in one run, the run where it has one cell, else both.
fn names(pair: &(Entry<'_>, Entry<'_>), sources: &source::Two) -> (String, String) {
    let name = |entry: &Entry<'_>, source: &Source| match (sources.same(), source.entries().len()) {
        (true, _) => entry.name(),
        (false, 0 | 1) => source.name().to_owned(),
        (false, _) => format!("{}: {}", source.name(), entry.name()),
    };
    (name(&pair.0, sources.a()), name(&pair.1, sources.b()))
}

/// The metrics that were asked for, or all that both have.
fn metrics(args: &CompareArgs, (a, b): &(Entry<'_>, Entry<'_>)) -> Result<Vec<String>> {
    let (of_a, of_b) = (a.metrics(), b.metrics());
    let common: BTreeSet<String> = of_a.intersection(&of_b).cloned().collect();
    if let Some(unknown) = args.metric.iter().find(|metric| !common.contains(*metric)) {
        let known = ordered_metrics(common.iter());
        bail!("not both have the metric `{unknown}`: expected one of {}", known.join(", "));
    }
    if common.is_empty() {
        bail!(
            "the two have no metric in common: A has {}, B has {}",
            listed(&of_a.into_iter().collect::<Vec<_>>()),
            listed(&of_b.into_iter().collect::<Vec<_>>())
        );
    }
    Ok(if args.metric.is_empty() { ordered_metrics(common.iter()) } else { args.metric.clone() })
}

fn listed(ids: &[String]) -> String {
    if ids.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = ids.iter().take(MAX_IDS).map(|id| text::plain(id)).collect();
    let more = ids.len().saturating_sub(MAX_IDS);
    let more = if more > 0 { format!(" and {} more", thousands(more as u64)) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// A comparison with its labels, flips and what was not compared.
fn in_full(comparison: &RunComparison) -> String {
    let mut out = format!("{}\n\n", text::plain(&comparison.conclusion));
    if comparison.overall.is_some() {
        out.push_str(&text::table(&comparison.table()));
        let flips = || comparison.gained.iter().chain(&comparison.lost);
        let all_or_nothing = flips().all(|flip| (flip.b - flip.a).abs() == 1.0);
        let [gained, lost] =
            if all_or_nothing { ["B right and A wrong", "A right and B wrong"] } else { ["B better", "A better"] };
        out.push_str(&flipped(gained, &comparison.gained, all_or_nothing));
        out.push_str(&flipped(lost, &comparison.lost, all_or_nothing));
    }
    out.push_str(&unpaired(comparison));
    for note in &comparison.notes {
        out.push_str(&format!("{}\n", text::plain(note)));
    }
    out
}

fn flipped(what: &str, flips: &[Flip], all_or_nothing: bool) -> String {
    let shown: Vec<String> = flips
        .iter()
        .map(|flip| match all_or_nothing {
            true => flip.id.clone(),
            false => format!("{} ({} -> {})", flip.id, percent(flip.a), percent(flip.b)),
        })
        .collect();
    let items = if flips.len() == 1 { "item" } else { "items" };
    let ids = if flips.is_empty() { String::new() } else { format!(": {}", listed(&shown)) };
    format!("{what} on {} {items}{ids}\n", thousands(flips.len() as u64))
}

fn unpaired(comparison: &RunComparison) -> String {
    let u = &comparison.unpaired;
    let lists = [
        ("only in A", &u.only_a),
        ("only in B", &u.only_b),
        ("same id, but another question or gold answer", &u.other_gold),
        ("not scored in A", &u.unscored_a),
        ("not scored in B", &u.unscored_b),
    ];
    let some = lists.into_iter().filter(|(_, ids)| !ids.is_empty());
    some.map(|(what, ids)| format!("not compared, {what}, {}: {}\n", thousands(ids.len() as u64), listed(ids)))
        .collect()
}

/// Many pairs of cells: a sentence and a line each.
fn overview(comparisons: &[&RunComparison]) -> String {
    let owned: Vec<RunComparison> = comparisons.iter().map(|c| (*c).clone()).collect();
    let mut out = String::new();
    for table in closeread_core::report::compare::comparison_tables(&owned) {
        out.push_str(&text::table(&table));
        out.push('\n');
    }
    let mut left_out: Vec<String> = Vec::new();
    for comparison in comparisons {
        for line in unpaired(comparison).lines() {
            let line = format!("{}, {}", metric_label(&comparison.metric), line);
            if !left_out.contains(&line) {
                left_out.push(line);
            }
        }
    }
    out.extend(left_out.iter().map(|line| format!("{line}\n")));
    out.push_str(
        "Name one cell by --method, --model and --budget to see labels, items and a conclusion; --json has all.\n",
    );
    out
}
