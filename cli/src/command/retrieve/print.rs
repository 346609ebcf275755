//! What is printed of a retrieval.

use super::RetrieveArgs;
use super::grid::Point;
use anyhow::Result;
use closeread_metrics::Metric;
use closeread_report::compare::{Choice, ChoiceError, RunComparison, Source, Two, comparison_tables};
use closeread_report::{report, score_table};
use closeread_runner::finished::{self, Texts};
use closeread_table::render::text;

/// The report on the folder, with paired differences against the first configuration.
pub(super) fn print(args: &RetrieveArgs, points: &[Point]) -> Result<()> {
    let run = finished::load(&args.out, finished::folder_name(&args.out), Texts::Skip)?;
    let told = report(std::slice::from_ref(&run))?;
    if args.json {
        outln!("{}", serde_json::to_string(&told)?);
        return Ok(());
    }
    let cells: Vec<_> = told.runs.iter().flat_map(|run| run.cells.iter().cloned()).collect();
    out!("{}", text::table(&score_table(&cells)));
    let two = Two::new(Source::of_run(run.name.clone(), args.out.display().to_string(), &run)?, None);
    let mut comparisons: Vec<RunComparison> = Vec::new();
    for other in points.iter().skip(1) {
        let choice = Choice { method: vec![points[0].name.clone(), other.name.clone()], ..Choice::default() };
        match two.compare(&choice) {
            Ok(compared) => comparisons.extend(compared.into_iter().map(|compared| compared.comparison)),
            // What was stopped has ranked nothing for one of them.
            Err(ChoiceError::NoCommonMetric { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let told_apart = [Metric::EvidenceRecall.name(), "mrr"];
    comparisons.retain(|comparison| told_apart.contains(&comparison.metric.as_str()) && comparison.overall.is_some());
    for table in comparison_tables(&comparisons) {
        out!("\n{}", text::table(&table));
    }
    Ok(())
}
