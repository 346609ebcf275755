//! `closeread compare`: two runs, or two cells of a run, on the same items.

use anyhow::Result;
use closeread_report::compare::{Choice, Flip, RunComparison, listed};
use closeread_results::{Given, Sides};
use closeread_table::number::{metric_label, percent, thousands};
use closeread_table::render::text;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare two runs, or two cells of a run, item by item.
///
/// A run is a run folder, what `closeread score --json` printed, or logs of inspect_ai (.eval, .json) or
/// lm-evaluation-harness (samples_*.jsonl), a file or a folder of them. If runs have several cells, those with
/// the same method, model and budget are compared; with two values, as in `--method vanilla-rag,dos-rag`, the first is A's
/// and the second B's. Exits
/// with 1 if nothing could be compared, if items of the same id are not the same item, or if a run is incomplete or
/// damaged.
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
    group_by: Vec<String>,
    /// Benchmark folder with the gold, for score files without labels and books
    #[arg(long, value_name = "DIR")]
    gold: Option<PathBuf>,
    /// Print everything as JSON, scores from 0 to 1
    #[arg(long)]
    json: bool,
}

/// Compares and prints.
pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let choice = args.choice();
    choice.check()?;
    let sides = Sides::load(Given::Path(args.a.clone()), args.b.clone().map(Given::Path), args.gold.as_deref())?;
    let two = sides.two()?;
    let compared = two.compare(&choice)?;
    let comparisons: Vec<&RunComparison> = compared.iter().map(|one| &one.comparison).collect();
    let several = compared.iter().any(|one| one.a.key() != compared[0].a.key() || one.b.key() != compared[0].b.key());
    if args.json {
        outln!("{}", two.json(&compared));
    } else if several {
        out!("{}", overview(&comparisons));
        for line in two.lacks().into_iter().chain(two.notes()) {
            outln!("{}", text::plain(&line));
        }
    } else {
        for (idx, comparison) in comparisons.iter().enumerate() {
            out!("{}{}", if idx > 0 { "\n" } else { "" }, in_full(comparison));
        }
    }
    let clean = comparisons.iter().all(|c| c.unpaired.other_gold.is_empty());
    let some = comparisons.iter().any(|c| c.overall.is_some());
    Ok(if clean && some && two.lacks().is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

impl CompareArgs {
    fn choice(&self) -> Choice {
        Choice {
            metric: self.metric.clone(),
            method: self.method.clone(),
            model: self.model.clone(),
            budget: self.budget.clone(),
            by: self.group_by.clone(),
        }
    }
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

/// Describes many pairs of cells: a sentence and a line each.
fn overview(comparisons: &[&RunComparison]) -> String {
    let owned: Vec<RunComparison> = comparisons.iter().map(|c| (*c).clone()).collect();
    let mut out = String::new();
    for table in closeread_report::compare::comparison_tables(&owned) {
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
