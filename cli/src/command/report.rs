//! `closeread report`: tables, charts and a site from run folders.

use super::site::SiteFolder;
use super::tables::{as_latex, as_text, check_csv, write_csv};
use anyhow::{Context, Result, anyhow, bail};
use clap::builder::PossibleValuesParser;
use closeread_eval::{InputFile, Paper};
use closeread_files::refuse_same_output;
use closeread_judges::human_labels;
use closeread_report::paper::{self, Exhibit, Number, numbered};
use closeread_report::site::site;
use closeread_report::{AskedOfPaper, LabelFile, PaperReport, Report, Run, paper_list, paper_report, report};
use closeread_results::foreign;
use closeread_runner::finished::{NamedFolder, Texts};
use closeread_table::render::text;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracing::info;

/// Show the tables and charts of one run, or of several in one table.
///
/// Without options the tables are printed as text. Exits with 1 if a run is incomplete.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Run folders, or logs of inspect_ai or lm-evaluation-harness; NAME is the run's name in tables of several
    #[arg(value_name = "RUN[=NAME]", required_unless_present = "list")]
    runs: Vec<NamedFolder>,
    /// Write a site of static pages into this folder
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Write all tables as one list (a file that ends in .csv; `-` prints it), or one file a table (a folder)
    #[arg(long, value_name = "FILE|DIR")]
    csv: Option<PathBuf>,
    /// Print the tables as LaTeX (booktabs)
    #[arg(long, conflicts_with = "json")]
    latex: bool,
    /// Print everything as JSON, scores from 0 to 1
    #[arg(long)]
    json: bool,
    /// Only the tables and figures of this paper, whatever the benchmark
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Paper::ALL.map(Paper::name)))]
    paper: Option<String>,
    /// With --paper: only these, as in 3,7,figure-4
    #[arg(long, value_name = "NUMBER,...", value_delimiter = ',', requires = "paper")]
    table: Vec<Number>,
    /// With --paper: people's labels of answers (JSON Lines or CSV: item, label, and where needed rater, run, method,
    /// model, budget, repeat); repeatable
    #[arg(long, value_name = "FILE[=RATER]", requires = "paper")]
    labels: Vec<NamedFolder>,
    /// With --paper: list its tables and figures, and which these runs can fill; without a run, what each needs
    #[arg(long, requires = "paper")]
    list: bool,
}

/// Reads the runs, writes and prints what was asked for.
pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    if let Some(twice) =
        args.runs.iter().enumerate().find(|(n, run)| args.runs[..*n].iter().any(|r| r.path == run.path))
    {
        bail!("{} is given twice: name each run folder once", twice.1.path.display());
    }
    if let (Some(html), Some(csv)) = (&args.html, &args.csv) {
        refuse_same_output((html, "--html"), (csv, "--csv"))?;
    }
    check_csv(args.csv.as_deref(), args.json || args.latex)?;
    let paper = args.paper.as_deref().and_then(Paper::named);
    let asked = paper.map(|paper| Ok::<_, anyhow::Error>((paper, exhibits(paper, &args.table)?))).transpose()?;
    let (runs, notes) = foreign::load_all(&args.runs, Texts::Count)?;
    notes.iter().for_each(|note| info!("{}", text::plain(note)));
    let labels = args.labels.iter().map(labels).collect::<Result<Vec<_>>>()?;
    let report = match &asked {
        None => report(&runs),
        Some((paper, exhibits)) => {
            let asked = AskedOfPaper { paper: *paper, exhibits, labels: &labels };
            if !args.list {
                return of_paper(args, &runs, asked);
            }
            paper_list(&runs, asked)
        }
    };
    print(args, &runs, &report.context(NOT_POOLED)?)
}

const NOT_POOLED: &str = "the runs cannot stand in one table";

/// The exhibits with these numbers.
fn exhibits(paper: Paper, numbers: &[Number]) -> Result<Vec<&'static Exhibit>> {
    numbered(paper, numbers).map_err(|number| {
        let there: Vec<String> = paper::exhibits(paper).iter().map(|one| one.number.to_string()).collect();
        anyhow!("{} has no {number}: expected one of {}", paper.title(), there.join(", "))
    })
}

/// The labels of a file; the rater is named by the file unless the user names them.
fn labels(NamedFolder { path, name }: &NamedFolder) -> Result<LabelFile> {
    let bytes = closeread_files::read_file(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = InputFile { name: path.display().to_string(), bytes };
    let (labels, problems) = human_labels(&file);
    if let Some(first) = problems.first() {
        let others = problems.len() - 1;
        let more = if others > 0 { format!(" ({others} more)") } else { String::new() };
        bail!("{first}{more}");
    }
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(LabelFile { name: file.name, rater: name.clone().unwrap_or_else(stem), labels })
}

/// Prints what the runs give of a paper, and says what they do not.
fn of_paper(args: &ReportArgs, runs: &[Run], asked: AskedOfPaper<'_>) -> Result<ExitCode> {
    let AskedOfPaper { paper, exhibits, .. } = asked;
    let PaperReport { report, lacking, unused } = paper_report(runs, asked).context(NOT_POOLED)?;
    unused.iter().for_each(|problem| info!("{}", text::plain(&problem.to_string())));
    if report.tables.is_empty() {
        let why: Vec<String> = lacking.iter().map(|(number, why)| format!("{number}: {why}")).collect();
        bail!("these runs give nothing of {}\n  {}", paper.title(), why.join("\n  "));
    }
    let ended = if unused.is_empty() {
        print(args, runs, &report)?
    } else {
        print(args, runs, &report).map(|_| ExitCode::from(1))?
    };
    if args.table.is_empty() {
        let (n, of) = (exhibits.len() - lacking.len(), exhibits.len());
        info!("{n} of {of} tables and figures of {}: --list says what the others lack", paper.title());
    } else {
        lacking.iter().for_each(|(number, why)| info!("{number}: {why}"));
    }
    Ok(ended)
}

/// Writes and prints a report.
fn print(args: &ReportArgs, runs: &[Run], report: &Report) -> Result<ExitCode> {
    if let Some(folder) = &args.html {
        write_site(folder, report, runs)?;
    }
    if let Some(path) = &args.csv {
        write_csv(path, &report.tables, report.complete)?;
    }
    if args.json {
        outln!("{}", serde_json::to_string(report)?);
    } else if args.latex {
        out!("{}", as_latex(&report.tables));
    } else if args.html.is_none() && args.csv.is_none() {
        out!("{}", as_text(&report.tables));
    }
    for note in &report.notes {
        info!("{}", text::plain(note));
    }
    Ok(if report.complete { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn write_site(folder: &Path, report: &Report, runs: &[Run]) -> Result<()> {
    let folder = SiteFolder::open(folder, "report-files.json", "--html")?;
    let files = site(report, runs);
    let has_board = files.iter().any(|file| file.path == "leaderboard.html");
    folder.write(&files, has_board)
}
