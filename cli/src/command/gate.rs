//! `closeread gate`: a run against thresholds that know noise, for CI.

use super::export::{at_name, is_at};
use crate::values::each_once;
use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use closeread_eval::observations::MetricName;
use closeread_files::run_files::refuse_run_file;
use closeread_files::{refuse_same_output, write_output};
use closeread_llm::price::Dollars;
use closeread_report::compare::{Choice, listed};
use closeread_report::gate::{
    Gate, MostFailed, Verdict, at_least, at_most_cost, at_most_failed, gate_table, missing_score, no_worse_than,
    not_whole,
};
use closeread_report::{Arm, Cell, Run, report};
use closeread_results::{Sides, foreign};
use closeread_runner::finished::{NamedFolder, Texts};
use closeread_runner::run_folder;
use closeread_table::render::{markdown, text};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use tracing::{info, warn};

/// A gate was not passed.
const NOT_PASSED: u8 = 10;
/// Exit code where no gate failed, and one is undecided.
const UNDECIDED: u8 = 11;
/// Bytes of a step's summary beyond which GitHub shows nothing.
const SUMMARY_BYTES: u64 = 1024 * 1024;

/// Check a run against thresholds in CI, with its uncertainty
///
/// Each threshold is compared with an end of a 95% interval. Exits with 0 if every gate is passed, 10 if one is not, 11
/// if none failed and one is undecided because the items are too few (--undecided), 2 if nothing could be decided.
#[derive(Debug, clap::Args)]
pub(crate) struct GateArgs {
    /// The run folder, or logs of inspect_ai or lm-evaluation-harness
    run: PathBuf,
    /// Only these cells, METHOD[@BUDGET][ MODEL]; repeatable [default: every cell]
    #[arg(long, value_name = "CELL")]
    at: Vec<String>,
    /// The score to reach, from 0 to 1, as in accuracy=0.55; repeatable
    #[arg(long, value_name = "METRIC=SCORE")]
    min: Vec<Least>,
    /// A run, log or score file that this run must not be worse than, on the same items
    #[arg(long, value_name = "BASE")]
    no_worse_than: Option<PathBuf>,
    /// Points by which it may be worse: 2 is two points of 100
    #[arg(long, value_name = "POINTS", default_value_t = 0.0, requires = "no_worse_than")]
    margin: f64,
    /// With --no-worse-than: only these metrics [default: the main metric of each cell]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "no_worse_than")]
    metric: Vec<String>,
    /// Maximum cost of the run, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,
    /// Maximum failed trials of a cell: a number, or a share such as 2%
    #[arg(long, value_name = "N|SHARE%")]
    max_failed: Option<Most>,
    /// Result of a gate that has too few items to decide [default: exit with 11]
    #[arg(long, value_name = "NAME")]
    undecided: Option<Undecided>,
    /// Write a JUnit report, with a test case for each gate
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Append the gates and the scores as Markdown [default: $GITHUB_STEP_SUMMARY, where it is set]
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Print {"verdict", "gates"} as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Undecided {
    /// As passed
    Pass,
    /// As not passed
    Fail,
}

#[derive(Debug, Clone)]
struct Least {
    metric: MetricName,
    score: f64,
}

impl FromStr for Least {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}`: expected METRIC=SCORE with a score from 0 to 1, such as accuracy=0.55");
        let (metric, score) = text.split_once('=').ok_or_else(wrong)?;
        let score: f64 = score.trim().parse().map_err(|_| wrong())?;
        if metric.trim().is_empty() || !(0.0..=1.0).contains(&score) {
            return Err(wrong());
        }
        Ok(Self { metric: metric.trim().into(), score })
    }
}

#[derive(Debug, Clone, Copy)]
struct Most(MostFailed);

impl FromStr for Most {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}`: expected a number of trials such as 3, or a share such as 2%");
        match text.strip_suffix('%') {
            None => text.parse().map(|n| Self(MostFailed::Trials(n))).map_err(|_| wrong()),
            Some(share) => match share.trim().parse::<f64>() {
                Ok(share) if (0.0..=100.0).contains(&share) => Ok(Self(MostFailed::Share(share / 100.0))),
                _ => Err(wrong()),
            },
        }
    }
}

/// Decides on the gates, writes and prints the decisions.
pub(crate) fn run(args: &GateArgs) -> Result<ExitCode> {
    let summary = args
        .summary
        .clone()
        .or_else(|| std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from));
    if let (Some(junit), Some(summary)) = (&args.junit, &summary) {
        refuse_same_output((junit, "--junit"), (summary, "--summary"))?;
    }
    let (runs, notes) = foreign::load_all(&[NamedFolder { path: args.run.clone(), name: None }], Texts::Skip)?;
    notes.iter().for_each(|note| info!("{note}"));
    let run = runs.into_iter().next().context("one path is one run")?;
    let told = report(std::slice::from_ref(&run))?;
    let gates = args.gates(&run, &told)?;
    let verdict = args.verdict(&gates);
    if let Some(path) = &args.junit {
        write_output(path, junit(&run, &gates, args.undecided)?.as_bytes())?;
    }
    if let Some(path) = summary {
        let scores = told.tables.first().map(markdown::table).unwrap_or_default();
        append(&path, &format!("{}\n{scores}\n", markdown::table(&gate_table(&gates))))?;
    }
    if args.json {
        outln!("{}", json!({"verdict": verdict, "gates": gates}));
    } else {
        for gate in &gates {
            outln!("{}: {}: {}", gate.verdict.name(), text::plain(&gate.name), text::plain(&gate.found));
        }
    }
    for lack in run.lacks() {
        info!("{}: {lack}", args.run.display());
    }
    Ok(match verdict {
        Verdict::Passed => ExitCode::SUCCESS,
        Verdict::NotPassed => ExitCode::from(NOT_PASSED),
        Verdict::Undecided => ExitCode::from(UNDECIDED),
    })
}

impl GateArgs {
    fn is_meant(&self, arm: &Arm) -> bool {
        self.at.is_empty() || self.at.iter().any(|at| is_at(at, arm))
    }

    /// Every gate that is given, for each cell that is meant.
    fn gates(&self, run: &Run, told: &closeread_report::Report) -> Result<Vec<Gate>> {
        let cells = self.cells(run, told)?;
        let mut gates = self.on_scores(run, &cells)?;
        if let Some(base) = &self.no_worse_than {
            gates.extend(self.against(base, run, &cells)?);
        }
        if let Some(most) = self.max_cost {
            let charged = charged(&self.run, run)?;
            gates.push(at_most_cost(&told.runs[0].usage, &told.runs[0].served, charged, Dollars(most)));
        }
        if let Some(Most(most)) = self.max_failed {
            gates.extend(cells.iter().map(|cell| at_most_failed(&name_of(run, &cell.key.arm), cell, most)));
        }
        if gates.is_empty() {
            bail!("no gate: pass --min METRIC=SCORE, --no-worse-than BASE, --max-cost or --max-failed");
        }
        gates.extend(run.gaps.iter().map(|gap| not_whole(gap)));
        Ok(gates)
    }

    /// The cells that are meant.
    fn cells<'t>(&self, run: &Run, told: &'t closeread_report::Report) -> Result<Vec<&'t Cell>> {
        let cells = told.runs.iter().flat_map(|run| &run.cells).filter(|cell| self.is_meant(&cell.key.arm));
        let cells: Vec<&Cell> = cells.collect();
        let is_there = |at: &String| cells.iter().any(|cell| is_at(at, &cell.key.arm));
        let unknown = self.at.iter().find(|at| !is_there(at));
        if cells.is_empty() || unknown.is_some() {
            let there: BTreeSet<String> = run.plan.iter().map(at_name).collect();
            let there: Vec<String> = there.into_iter().collect();
            let unknown = unknown.map_or("", String::as_str);
            bail!("{} has no cell `{unknown}`: it has {}", self.run.display(), there.join(", "));
        }
        Ok(cells)
    }

    /// The gates on scores of each cell.
    fn on_scores(&self, run: &Run, cells: &[&Cell]) -> Result<Vec<Gate>> {
        let mut gates = Vec::new();
        for Least { metric, score } in &self.min {
            let of = cells.iter().filter_map(|cell| at_least(&name_of(run, &cell.key.arm), cell, metric, *score));
            let of: Vec<Gate> = of.collect();
            let lacks = |cell: &&Cell| cell.unjudged(metric) == 0 && !cell.metrics.contains_key(metric);
            if of.is_empty() && cells.iter().all(lacks) {
                let known: BTreeSet<&str> =
                    cells.iter().flat_map(|cell| cell.metrics.keys().map(MetricName::name)).collect();
                let known: Vec<&str> = known.into_iter().collect();
                match known.is_empty() {
                    true => bail!("--min {metric}: {} holds no score", self.run.display()),
                    false => bail!("--min {metric}: no such score; the cells have {}", known.join(", ")),
                }
            }
            gates.extend(of);
            let unfinished = |cell: &&Cell| missing_score(&name_of(run, &cell.key.arm), cell, metric, *score);
            gates.extend(cells.iter().filter_map(unfinished));
        }
        Ok(gates)
    }

    /// The run against its base, cell by cell.
    fn against(&self, base: &Path, run: &Run, cells: &[&Cell]) -> Result<Vec<Gate>> {
        if self.margin > 0.0 && self.margin < 0.1 {
            warn!(
                "--margin {} is less than a tenth of a point: it counts points, not shares, and 2 is two points",
                self.margin
            );
        }
        let two = Sides::against(base, &self.run, run.clone())?.two()?;
        two.a().lacks().iter().for_each(|lack| info!("{}: {lack}", base.display()));
        let (mut gates, mut told) = (Vec::new(), two.lacks());
        for cell in cells {
            let arm = &cell.key.arm;
            let main = cell.metrics.keys().find(|metric| !metric.is_of_context()).map(MetricName::to_string);
            let metric = if self.metric.is_empty() { main.into_iter().collect() } else { each_once(&self.metric) };
            // A score file has no model: it is held against every cell.
            let choice = Choice {
                metric,
                method: vec![arm.method.clone()],
                model: if two.a().has_cells() { Vec::new() } else { vec![arm.model.clone()] },
                budget: arm.budget.into_iter().collect(),
                by: Vec::new(),
            };
            let cannot = || format!("{} cannot be held against {}", name_of(run, arm), base.display());
            // As text: the hint on options is for `compare`.
            let mut compared = two.compare(&choice).map_err(|error| anyhow!("{}: {error}", cannot()))?;
            compared.retain(|one| one.b.key().is_none_or(|key| key == arm));
            if compared.is_empty() {
                bail!("{}: it has no such cell of {}", cannot(), arm.model);
            }
            for one in &compared {
                let other = &one.comparison.unpaired.other_gold;
                if !other.is_empty() {
                    let (name, base) = (name_of(run, arm), base.display());
                    info!("{name}: not the same items as in {base}, and left out: {}", listed(other));
                }
                for note in &one.comparison.notes {
                    if !told.contains(note) {
                        info!("{note}");
                        told.push(note.clone());
                    }
                }
                let (name, of_base) = (name_of(run, arm), two.a().name.as_str());
                let gate = no_worse_than(&name, of_base, &one.comparison, self.margin / 100.0);
                gates.push(gate.with_context(|| format!("{}: they have no scored item in common", cannot()))?);
            }
        }
        Ok(gates)
    }

    fn verdict(&self, gates: &[Gate]) -> Verdict {
        let counts = |gate: &Gate| match (gate.verdict, self.undecided) {
            (Verdict::Undecided, Some(Undecided::Pass)) => Verdict::Passed,
            (Verdict::Undecided, Some(Undecided::Fail)) => Verdict::NotPassed,
            (verdict, _) => verdict,
        };
        let all: Vec<Verdict> = gates.iter().map(counts).collect();
        let has = |verdict| all.contains(&verdict);
        match () {
            () if has(Verdict::NotPassed) => Verdict::NotPassed,
            () if has(Verdict::Undecided) => Verdict::Undecided,
            () => Verdict::Passed,
        }
    }
}

/// Returns what a folder's calls were charged while they ran, and the most that those can cost besides whose end is not known.
fn charged(folder: &Path, run: &Run) -> Result<(Dollars, Dollars)> {
    if run.is_log {
        return Ok((Dollars::default(), Dollars::default()));
    }
    let spent = run_folder::spent(folder, run.records.iter(), &run.judging, &run.prices)?;
    Ok((spent.ended() + spent.served, spent.open))
}

/// Returns a cell's name, `dos-rag@1500`, with the model where the run has several.
fn name_of(run: &Run, arm: &Arm) -> String {
    closeread_export::cell_name(run, arm)
}

/// A case is a gate: its class is the metric, for readers show the class as the suite.
fn junit(run: &Run, gates: &[Gate], undecided: Option<Undecided>) -> Result<String> {
    let mut report = Report::new("closeread gate");
    let mut suite = TestSuite::new(run.name.clone());
    for gate in gates {
        let status = match (gate.verdict, undecided) {
            (Verdict::Passed, _) | (Verdict::Undecided, Some(Undecided::Pass)) => TestCaseStatus::success(),
            (Verdict::NotPassed, _) | (Verdict::Undecided, Some(Undecided::Fail)) => {
                TestCaseStatus::non_success(NonSuccessKind::Failure)
            }
            (Verdict::Undecided, None) => TestCaseStatus::non_success(NonSuccessKind::Error),
        };
        let is_success = matches!(status, TestCaseStatus::Success { .. });
        let mut case = TestCase::new(gate.name.clone(), status);
        case.set_classname(gate.about.clone());
        if !is_success {
            case.status.set_message(format!("{}: {}", gate.verdict.name(), gate.found));
        }
        case.set_system_out(gate.found.clone());
        suite.add_test_case(case);
    }
    report.add_test_suite(suite);
    report.to_string().context("cannot write the JUnit report")
}

/// Appends to a summary of a step, as far as its limit reaches.
fn append(path: &Path, text: &str) -> Result<()> {
    refuse_run_file(path)?;
    let named = || format!("cannot write {}", path.display());
    let there = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let room = usize::try_from(SUMMARY_BYTES.saturating_sub(there)).unwrap_or_default();
    let note = "\n(cut: a step's summary holds 1 MiB)\n";
    let text = match text.len() <= room {
        true => text.to_owned(),
        false => format!("{}{note}", &text[..text.floor_char_boundary(room.saturating_sub(note.len()))]),
    };
    if text.len() > room {
        info!("{} is full: GitHub shows no summary beyond 1 MiB", path.display());
        return Ok(());
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path).with_context(named)?;
    file.write_all(text.as_bytes()).with_context(named)
}
