//! Opinions of people and further judges on the same answers: Tables 7, 15 and 17.

use super::items::{ASPECTS, aspect};
use super::{FAULT, JUDGED, NovelQa, RATED};
use crate::paper::grid::{Grid, Number, Place, average};
use closeread_eval::Task;
use closeread_eval::observations::{Aggregation, Ending, FailurePolicy, ItemFacts, MetricName, Observation, Rows};
use closeread_judges::Fault;
use closeread_metrics::stats::agreement::cohen_kappa;
use closeread_table::{Table, Value};

impl NovelQa<'_> {
    pub(super) fn opinions(&self) -> Vec<Table> {
        let once = |tables: [Option<Table>; 3]| tables.into_iter().filter(|_| self.policy == FailurePolicy::Wrong);
        let [counts, shares] = self.table_17();
        once([self.table_7(), counts, shares]).chain([self.table_15()]).flatten().collect()
    }

    /// The metrics whose names begin so, in their order.
    fn said_by(&self, prefix: &str) -> Vec<MetricName> {
        self.trials.metrics(&Rows::all()).into_iter().filter(|metric| metric.name().starts_with(prefix)).collect()
    }

    /// The verdict on an answer, where there is one.
    fn verdict(row: &Observation, metric: &MetricName) -> Option<bool> {
        row.scores.get(metric)?.value(metric).map(|value| value > 0.5)
    }

    /// Table 7: Cohen's kappa of the judge with each person, over answers on which both have a verdict.
    fn table_7(&self) -> Option<Table> {
        let raters = self.said_by(RATED);
        if raters.is_empty() {
            return None;
        }
        let names = raters.iter().map(|rater| rater.name().trim_start_matches(RATED)).chain(["avg"]);
        let title = "Cohen's kappa of the judge with each person, of 100";
        let mut grid = Grid::new("novelqa-table-7", title, "NovelQA, Table 7", &["Model"], names).decimals(2);
        let mean = |places: &[Place]| average(places.iter().copied()).map_err(|_| "no kappa to average");
        let mut sums: Vec<Vec<Place>> = Vec::new();
        for row in self.lines() {
            let Ok(rows) = self.rows(&row, Task::Generative) else { continue };
            let Some(judge) = self.trials.main_metric(&rows) else { continue };
            let kappa = |rater: &MetricName| {
                let answers = self.trials.rows(&rows).filter(|row| row.outcome == Ending::Answered);
                let both = answers.filter_map(|row| Some((Self::verdict(row, &judge)?, Self::verdict(row, rater)?)));
                let (judge, rater): (Vec<bool>, Vec<bool>) = both.unzip();
                match (judge.len(), cohen_kappa(&judge, &rater)) {
                    (0, _) => Err("no common labels"),
                    (_, None) => Err("both gave one and the same label throughout"),
                    (n, Some(kappa)) => Ok(Number::new(100.0 * kappa.kappa, n)),
                }
            };
            let mut places: Vec<Place> = raters.iter().map(kappa).collect();
            places.push(mean(&places));
            grid.row([Value::text(Self::name(&row))], places.iter().copied());
            sums.push(places);
        }
        let column = |column: usize| mean(&sums.iter().map(|places| places[column]).collect::<Vec<_>>());
        let averages = (0..=raters.len()).map(column).collect();
        grid.with_summary([Value::text("Avg.")], averages).note("over answers that both have a verdict on").finished()
    }

    /// Table 15: accuracy by the verdicts of each judge.
    fn table_15(&self) -> Option<Table> {
        let judges = self.said_by(JUDGED);
        if judges.len() < 2 {
            return None;
        }
        let names = judges.iter().map(|judge| judge.name().trim_start_matches(JUDGED));
        let title = "Accuracy by each judge, generative, %";
        let mut grid = self.grid("novelqa-table-15", title, "NovelQA, Table 15", &["Model"], names);
        for row in self.lines() {
            let Ok(rows) = self.rows(&row, Task::Generative) else { continue };
            let share = |judge: &MetricName| {
                let by = Aggregation { policy: self.policy, ..Aggregation::new(judge.clone()) };
                let estimate = self.trials.aggregate(&rows, &by).estimate.ok_or("nothing was judged")?;
                Ok(Number::new(100.0 * estimate.value, estimate.n))
            };
            grid.row([Value::text(Self::name(&row))], judges.iter().map(share).collect::<Vec<_>>());
        }
        grid.note("an answer that a judge has no verdict on is not in its mean").finished()
    }

    /// Table 17: kinds of errors by aspect, as counts and as shares of all of them. A label on a right answer is left out.
    fn table_17(&self) -> [Option<Table>; 2] {
        let mut found: Vec<(Fault, &ItemFacts)> = Vec::new();
        let mut of_right = 0;
        for (cell, _) in self.trials.cells() {
            let rows = Rows::of(cell);
            let main = self.trials.main_metric(&rows);
            for row in self.trials.rows(&rows) {
                let faults = Fault::ALL
                    .into_iter()
                    .filter(|fault| row.scores.contains_key(&format!("{FAULT}{}", fault.name()).as_str().into()));
                let is_right = main.as_ref().and_then(|main| Self::verdict(row, main)) == Some(true);
                for fault in faults {
                    if is_right { of_right += 1 } else { found.push((fault, self.trials.item(row.item))) }
                }
            }
        }
        if found.is_empty() {
            return [None, None];
        }
        let mut aspects = ASPECTS;
        aspects.sort_by_key(|(_, short)| *short);
        let columns: Vec<&str> = aspects.iter().map(|(_, short)| *short).chain(["sum"]).collect();
        let count = |fault: Option<Fault>, name: Option<&str>| {
            let is_of = |(of, item): &&(Fault, &ItemFacts)| {
                fault.is_none_or(|fault| fault == *of) && name.is_none_or(|name| aspect(item) == Some(name))
            };
            found.iter().filter(is_of).count()
        };
        let lines = Fault::ALL.map(Some).into_iter().chain([None]);
        let rows = lines.map(|fault| {
            let names = aspects.iter().map(|(name, _)| Some(*name)).chain([None]);
            (fault.map_or(["sum", ""], Fault::words), names.map(|name| count(fault, name)).collect::<Vec<_>>())
        });
        let rows: Vec<([&str; 2], Vec<usize>)> = rows.collect();
        let note = match of_right {
            0 => "of all answers whose error was labelled".to_owned(),
            n => format!("of all answers whose error was labelled; {n} labels on right answers are left out"),
        };
        let (source, heads) = ("NovelQA, Table 17", ["Error", "Subtype"]);
        let all_heads = heads.into_iter().chain(columns.iter().copied()).map(str::to_owned).collect();
        let mut counts = Table::new("novelqa-table-17", "Errors by kind and aspect", all_heads);
        source.clone_into(&mut counts.source);
        counts.rows.extend(rows.iter().map(|(names, counts)| {
            names.iter().copied().map(Value::text).chain(counts.iter().copied().map(Value::count)).collect()
        }));
        counts.summary_rows = 1;
        counts.notes.push(note.clone());
        let title = "Errors by kind and aspect, % of all";
        let mut shares = Grid::new("novelqa-table-17-shares", title, source, &heads, columns).decimals(2);
        let share = |n: &usize| Ok(Number::new(100.0 * *n as f64 / found.len() as f64, *n));
        for (names, counts) in &rows[..rows.len() - 1] {
            shares.row(names.map(Value::text), counts.iter().map(share));
        }
        let sums = rows.last().map(|(_, counts)| counts.iter().map(share).collect()).unwrap_or_default();
        let shares = shares.with_summary(["sum", ""].map(Value::text), sums).note(note);
        [Some(counts), shares.finished()]
    }
}
