//! NovelQA (section 4, appendix C): accuracy in both settings, by complexity and aspect, by where the evidence stands,
//! without the book, and the evidence that answers cite.
//!
//! Each quantity is a function that reads like the paper's definition; `tables` lays them out as the paper prints them.

mod data;
mod items;
mod opinions;
mod tables;

pub(super) use data::tables as data_tables;

use super::configurations::{Configuration, configurations};
use super::grid::{Number, Place};
use super::tabulate::{main_metric, nothing_answered};
use crate::plan::{Line, LineKey, lines};
use closeread_data::novelqa::COMPLEXITIES;
use closeread_eval::Task;
use closeread_eval::correlate;
use closeread_eval::observations::{
    Aggregation, CellId, CellKey, FailurePolicy, ItemFacts, ItemId, Observations, Rows,
};
use closeread_judges::{EVIDENCE_MARKS, JUDGED_ACCURACY};
use closeread_table::Table;
use items::evidence_distance;
use std::collections::BTreeSet;

/// Length, in tokens, where Table 4 parts the evidence, and Figure 7 the books.
const SPLIT: usize = 100_000;
/// Least length of a book, in tokens, that is in a class of Figure 7.
const SHORTEST: usize = 65_000;
/// The two settings, in the order of Table 2.
const SETTINGS: [(Task, &str); 2] = [(Task::Choice, "multichoice"), (Task::Generative, "generative")];
/// The method that Table 6 holds against the others.
const CLOSED_BOOK: &str = "closed-book";
/// The method whose answers are asked for their evidence (Table 5).
const EVIDENCE: &str = "evidence";
/// Prefix of the metrics that hold a person's verdicts (Table 7); the person's name follows.
pub const RATED: &str = "rated by ";
/// Prefix of the metrics that hold the verdicts of one of several judges (Table 15); the judge's name follows.
pub const JUDGED: &str = "judged by ";
/// Prefix of the metrics that hold a kind of error that somebody found in an answer (Table 17); the name of a
/// [`Fault`](closeread_judges::Fault) follows.
pub const FAULT: &str = "error: ";
/// Short names of the complexities in Tables 3 and 14.
const SHORT_COMPLEXITIES: [&str; 3] = ["mh", "sh", "dtl"];

/// The paper's tables and figures for these trials; those for which the trials carry nothing are left out. What scores
/// answers stands twice: with failures as wrong, and with failures left out.
pub fn tables(trials: &Observations) -> Vec<Table> {
    let papers = FailurePolicy::ALL.map(|policy| NovelQa { trials, policy, configurations: configurations(trials) });
    data::tables(trials).into_iter().chain(papers.iter().flat_map(NovelQa::tables)).collect()
}

/// A piece of evidence with the score of its question; a question counts once for each piece whose place is known.
struct Piece<'a> {
    token: usize,
    score: f64,
    item: &'a ItemFacts,
}

/// A line of the report, in the configuration that it belongs to.
struct Row<'a> {
    of: &'a Configuration<'a>,
    line: Line,
}

/// The data that the tables are made from.
struct NovelQa<'a> {
    trials: &'a Observations,
    policy: FailurePolicy,
    configurations: Vec<Configuration<'a>>,
}

impl<'a> NovelQa<'a> {
    /// Returns every line but those that others are held against: the closed book, and answers that are asked for their
    /// evidence.
    fn lines(&self) -> Vec<Row<'_>> {
        let lines = lines(self.trials);
        let own = |of: &Configuration<'_>, key: &LineKey| {
            of.model == key.arm.model && *of.cells[0].1.configuration == key.configuration
        };
        let is_row = |line: &&Line| ![CLOSED_BOOK, EVIDENCE].contains(&line.key.arm.method.as_str());
        let rows = self.configurations.iter().flat_map(|of| {
            let lines = lines.iter().filter(is_row).filter(|line| own(of, &line.key));
            lines.map(|line| Row { of, line: line.clone() }).collect::<Vec<_>>()
        });
        rows.collect()
    }

    fn rows(&self, row: &Row<'_>, task: Task) -> Result<Rows, &'static str> {
        row.line.asked_as(self.trials, task).ok_or("not asked")
    }

    fn by(&self, rows: &Rows) -> Result<Aggregation, &'static str> {
        let metric = main_metric(self.trials, rows, JUDGED_ACCURACY).ok_or("no scored items")?;
        Ok(Aggregation { policy: self.policy, ..Aggregation::new(metric) })
    }

    fn only(&self, rows: Rows, keep: impl Fn(&ItemFacts) -> bool) -> Rows {
        let items: Vec<ItemId> = self.trials.items().filter(|(_, item)| keep(item)).map(|(id, _)| id).collect();
        rows.items(items)
    }

    /// The share of right answers.
    fn mean(&self, row: &Row<'_>, task: Task, keep: impl Fn(&ItemFacts) -> bool) -> Place {
        let rows = self.rows(row, task)?;
        let by = self.by(&rows)?;
        let made = self.trials.aggregate(&self.only(rows, keep), &by);
        match made.estimate {
            Some(estimate) => Ok(Number::new(100.0 * estimate.value, estimate.n)),
            None if made.planned() == 0 => Err("no items"),
            None => Err("all left out"),
        }
    }

    /// Returns every piece of evidence with the score of its question (C.2.4).
    fn pieces(&self, row: &Row<'_>, task: Task) -> Vec<Piece<'a>> {
        let Ok(rows) = self.rows(row, task) else { return Vec::new() };
        let Ok(by) = self.by(&rows) else { return Vec::new() };
        let scores = self.trials.scores(&rows, &by).into_iter();
        let pieces = scores.flat_map(|one| {
            one.item.evidence_tokens.iter().map(move |&token| Piece { token, score: one.value, item: one.item })
        });
        pieces.collect()
    }

    /// The rows of Table 5, whose answers were asked for their evidence; `None` if there are none.
    fn evidence_rows(&self, of: &Configuration<'_>) -> Option<Rows> {
        let has_marks = |id: CellId, key: &CellKey| {
            let rows = Rows::of(id);
            self.trials.metrics(&rows).iter().any(|metric| metric.name() == EVIDENCE_MARKS[0])
                || &*key.method == EVIDENCE && nothing_answered(self.trials, &rows)
        };
        let asked_alike = |key: &CellKey| {
            let same =
                |other: &CellKey| (&other.method, other.budget, other.task) == (&key.method, key.budget, key.task);
            self.trials.cells().any(|(id, cell)| same(&cell.key) && has_marks(id, &cell.key))
        };
        // Where no answer came there are no marks, only zeros.
        let cells: Vec<CellId> = of.cells.iter().filter(|(_, key)| asked_alike(key)).map(|(id, _)| *id).collect();
        (!cells.is_empty()).then(|| Rows::all().cells(cells))
    }

    /// Table 5: marks of the evidence that answers cite, over the questions with gold evidence.
    fn evidence_marks(&self, rows: &Rows) -> [Place; 4] {
        let mark = |name: &str| {
            let by = Aggregation { policy: self.policy, ..Aggregation::new(name) };
            let estimate = self.trials.aggregate(rows, &by).estimate.ok_or("all left out")?;
            Ok(Number::new(100.0 * estimate.value, estimate.n))
        };
        let [correctness, relevance, sufficiency] = EVIDENCE_MARKS.map(mark);
        let average = || {
            let marks = [correctness?, relevance?, sufficiency?];
            Ok(Number::new(marks.iter().map(|mark| mark.value).sum::<f64>() / 3.0, marks[0].n))
        };
        [correctness, relevance, sufficiency, average()]
    }

    /// The questions of these rows that have no gold evidence, which Table 5 leaves out.
    fn without_gold_evidence(&self, rows: &Rows) -> BTreeSet<ItemId> {
        let has_none = |item: &ItemId| {
            let item = self.trials.item(*item);
            item.evidence_tokens.is_empty() && item.evidence_unplaced == 0
        };
        self.trials.rows(rows).map(|row| row.item).filter(has_none).collect()
    }

    /// Table 6: without the book, and that minus with it, over the questions that count in both.
    fn closed_book(&self, row: &Row<'_>, task: Task) -> [Place; 2] {
        let made = || {
            let standard = self.rows(row, task)?;
            let is_closed = |key: &CellKey| &*key.method == CLOSED_BOOK && key.task == task;
            let closed = row.of.cells.iter().find(|(_, key)| is_closed(key)).ok_or("no common questions")?;
            let closed = Rows::of(closed.0);
            let common = self.trials.paired(&closed, self.trials, &standard, &self.by(&standard)?).common;
            let mean = |values: &mut dyn Iterator<Item = f64>| 100.0 * values.sum::<f64>() / common.len() as f64;
            match common.len() {
                0 => Err("no common questions"),
                n => {
                    let closed = mean(&mut common.iter().map(|both| both.a));
                    let standard = mean(&mut common.iter().map(|both| both.b));
                    Ok((Number::new(closed, n), Number::new(closed - standard, n)))
                }
            }
        };
        match made() {
            Ok((closed, drop)) => [Ok(closed), Ok(drop)],
            Err(reason) => [Err(reason); 2],
        }
    }

    /// Table 16: Pearson's, Spearman's and Kendall's coefficient of the distance between pieces of evidence with the score,
    /// over multi-hop questions with two pieces or more, each with its p.
    fn by_distance(&self, row: &Row<'_>) -> [(Place, Place); 3] {
        let points = || {
            let rows = self.rows(row, Task::Generative)?;
            let by = self.by(&rows)?;
            let multi_hop = |item: &ItemFacts| item.label("complexity") == Some(COMPLEXITIES[0]);
            let scores = self.trials.scores(&self.only(rows, multi_hop), &by);
            let points = scores.into_iter();
            let points: Vec<(f64, f64)> = points
                .filter_map(|one| Some((evidence_distance(&one.item.evidence_tokens)? as f64, one.value)))
                .collect();
            let alike = |value: fn(&(f64, f64)) -> f64| points.windows(2).all(|two| value(&two[0]) == value(&two[1]));
            match points.len() {
                0..3 => Err("fewer than three questions"),
                _ if alike(|point| point.0) => Err("distances all equal"),
                _ if alike(|point| point.1) => Err("accuracies all equal"),
                _ => Ok(points),
            }
        };
        let points = match points() {
            Ok(points) => points,
            Err(reason) => return [(Err(reason), Err(reason)); 3],
        };
        let n = points.len();
        let (distances, scores): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        correlate::with_p_values(&distances, &scores).map(|found| match found {
            Some((coefficient, p)) => {
                let p = p.map(|p| Number::new(p, n)).ok_or("no p for so few questions");
                (Ok(Number::new(coefficient, n)), p)
            }
            None => (Err("not defined"), Err("not defined")),
        })
    }
}

/// The mean score of pieces of evidence; n counts pieces.
fn mean_of<'p>(pieces: impl Iterator<Item = &'p Piece<'p>>) -> Place {
    let scores: Vec<f64> = pieces.map(|piece| piece.score).collect();
    match scores.len() {
        0 => Err("no evidence here"),
        n => Ok(Number::new(100.0 * scores.iter().sum::<f64>() / n as f64, n)),
    }
}

#[cfg(test)]
mod tests;
