//! The trials of a run as a list to look through: filtered, a line each, and each with all that is known of it.

use super::plan::Trials;
use super::tables::Naming;
use super::{Arm, LineKey, Run};
use closeread_eval::observations::MetricName;
use closeread_eval::{Item, Outcome};
use closeread_judges::Judgement;
use closeread_methods::record::{Record, TrialKey};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The outcome of a trial that was asked for and has no record.
pub const MISSING: &str = "missing";
/// Characters of an answer and of a question that a line holds.
const SHORT: usize = 200;

/// Every trial that was asked for, item by item, in each by the cells of the plan and then by repeat. A line is named
/// by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialList {
    cells: Vec<String>,
    places: Vec<Place>,
}

/// The places of a line's item, cell and record in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    item: u32,
    cell: u32,
    record: Option<u32>,
}

/// The choice of lines to show; a field that is left out leaves no line out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, deny_unknown_fields)]
pub struct TrialFilter {
    /// Only trials with this outcome: its name in JSON or [`MISSING`].
    pub outcome: Option<String>,
    /// Only trials of this cell, by its number in [`TrialList::cells`].
    pub cell: Option<usize>,
    /// Words that items or answers must have, in any case: id, question, gold answer, answer.
    pub text: String,
    /// Only trials of the item of this id.
    pub item: Option<String>,
    /// Only trials that were right, wrong, or answered otherwise by another cell of the same budget.
    pub verdict: Option<Wanted>,
    /// The order of the lines.
    pub sort: Sort,
}

/// Whether an answer counts as right: its main metric is at least one half. A trial that failed is wrong; one that no metric
/// was computed for is neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "RightOrWrong"))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The main metric is at least one half.
    Right,
    /// The main metric is less than one half, or there is no answer.
    Wrong,
}

/// The verdicts that a filter wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// Right trials.
    Right,
    /// Wrong trials.
    Wrong,
    /// Trials of an item that cells of one budget answered rightly and wrongly, such as the two orders.
    Differ,
}

/// The order of lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Item by item, as they were asked.
    #[default]
    Item,
    /// Cell by cell.
    Cell,
    /// The lowest by the main metric first; lines without it come last.
    Lowest,
    /// The highest by the main metric first; lines without it come last.
    Highest,
}

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TrialLine {
    /// Id of the item.
    pub item: String,
    /// The beginning of its question.
    pub question: String,
    /// Number of the cell in [`TrialList::cells`].
    pub cell: usize,
    /// Number of the repetition, from 0.
    pub repeat: u32,
    /// Outcome of the trial: its name in JSON or [`MISSING`].
    pub outcome: String,
    /// The beginning of the answer, or of what stands in its place.
    pub said: String,
    /// Score by metric, in 0..=1.
    pub scores: BTreeMap<String, f64>,
    /// Whether the answer counts as right; absent where nothing says so.
    pub verdict: Option<Verdict>,
}

/// The whole trace of a trial: record and judgements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TrialTrace<'a> {
    /// The item with its gold.
    pub item: &'a Item,
    /// Name of the cell.
    pub cell: &'a str,
    /// Record of the trial; absent if it is missing.
    pub record: Option<&'a Record>,
    /// Judgements of the trial, and of the question.
    pub judgements: Vec<&'a Judgement>,
}

impl TrialList {
    /// The list of a run. Of several records of one trial the last counts, as in every table.
    pub fn of(run: &Run) -> Self {
        let trials = Trials::of(&run.records);
        let numbers: HashMap<&TrialKey, u32> = run.records.iter().map(|record| &record.key).zip(0..).collect();
        let keys: Vec<LineKey> = run.plan.iter().map(|arm| arm.line("")).collect();
        let naming = Naming::of(keys.iter());
        let cells: Vec<String> = keys.iter().map(|key| naming.full_name(key)).collect();
        let by_cell: Vec<_> = run.plan.iter().map(|arm| trials.arm(arm)).collect();
        let mut places = Vec::new();
        for (item, asked) in (0..).zip(&run.items) {
            for (cell, trials) in (0..).zip(&by_cell) {
                match trials.get(asked.id.as_str()) {
                    None => places.push(Place { item, cell, record: None }),
                    Some(records) => {
                        let mut records = records.clone();
                        records.sort_by_key(|record| record.key.repeat);
                        places.extend(records.iter().map(|r| Place { item, cell, record: Some(numbers[&r.key]) }));
                    }
                }
            }
        }
        Self { cells, places }
    }

    /// Names of the cells, in the order of the plan.
    pub fn cells(&self) -> &[String] {
        &self.cells
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True if no trial was asked for.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The numbers of the lines that a filter leaves, in the order it wants. `run` is the list's own.
    pub fn select(&self, run: &Run, filter: &TrialFilter) -> Vec<u32> {
        let text = filter.text.to_lowercase();
        let holds = |words: &str| words.to_lowercase().contains(&text);
        let mut of_item: Option<(u32, bool)> = None;
        let mut item_holds = |number: u32| match of_item {
            Some((last, holds)) if last == number => holds,
            _ => {
                let item = &run.items[number as usize];
                let found = holds(&item.id) || holds(&item.question) || item.answers.iter().any(|answer| holds(answer));
                of_item = Some((number, found));
                found
            }
        };
        let differing = if filter.verdict == Some(Wanted::Differ) { self.differing(run) } else { BTreeSet::new() };
        let wanted = |place: &Place, record: Option<&Record>| match filter.verdict {
            None => true,
            Some(Wanted::Right) => verdict(record) == Some(Verdict::Right),
            Some(Wanted::Wrong) => verdict(record) == Some(Verdict::Wrong),
            Some(Wanted::Differ) => differing.contains(&(place.item, run.plan[place.cell as usize].budget)),
        };
        let mut left = Vec::new();
        for (line, place) in (0..).zip(&self.places) {
            let record = place.record.map(|number| &run.records[number as usize]);
            let outcome = record.map_or(MISSING, |record| record.outcome.name());
            let is_left = filter.outcome.as_deref().is_none_or(|wanted| wanted == outcome)
                && filter.cell.is_none_or(|cell| cell == place.cell as usize)
                && filter.item.as_deref().is_none_or(|id| run.items[place.item as usize].id == id)
                && wanted(place, record)
                && (text.is_empty() || item_holds(place.item) || record.is_some_and(|r| holds(said(&r.outcome))));
            if is_left {
                left.push(line);
            }
        }
        self.sort(run, &mut left, filter.sort);
        left
    }

    fn sort(&self, run: &Run, lines: &mut [u32], sort: Sort) {
        let place = |line: &u32| &self.places[*line as usize];
        let score = |line: &u32| place(line).record.and_then(|number| main_score(&run.records[number as usize]));
        match sort {
            Sort::Item => {}
            Sort::Cell => lines.sort_by_key(|line| place(line).cell),
            Sort::Lowest => {
                lines.sort_by(|a, b| score(a).unwrap_or(f64::INFINITY).total_cmp(&score(b).unwrap_or(f64::INFINITY)))
            }
            Sort::Highest => lines.sort_by(|a, b| score(b).unwrap_or(-1.0).total_cmp(&score(a).unwrap_or(-1.0))),
        }
    }

    /// Items with the budgets at which some trial was right and another wrong.
    fn differing(&self, run: &Run) -> BTreeSet<(u32, Option<usize>)> {
        let mut seen: BTreeMap<(u32, Option<usize>), [bool; 2]> = BTreeMap::new();
        for place in &self.places {
            let record = place.record.map(|number| &run.records[number as usize]);
            let [right, wrong] = seen.entry((place.item, run.plan[place.cell as usize].budget)).or_default();
            match verdict(record) {
                Some(Verdict::Right) => *right = true,
                Some(Verdict::Wrong) => *wrong = true,
                None => {}
            }
        }
        seen.into_iter().filter(|(_, seen)| *seen == [true, true]).map(|(key, _)| key).collect()
    }

    /// A line by its number; `None` behind the last. `run` is the list's own.
    pub fn line(&self, run: &Run, number: u32) -> Option<TrialLine> {
        let place = self.places.get(number as usize)?;
        let item = &run.items[place.item as usize];
        let record = place.record.map(|number| &run.records[number as usize]);
        Some(TrialLine {
            item: item.id.clone(),
            question: short(&item.question),
            cell: place.cell as usize,
            repeat: record.map_or(0, |record| record.key.repeat),
            outcome: record.map_or(MISSING, |record| record.outcome.name()).to_owned(),
            said: record.map_or(String::new(), |record| short(said(&record.outcome))),
            scores: record.map_or(BTreeMap::new(), |record| record.scores.clone()),
            verdict: verdict(record),
        })
    }

    /// Returns the trace of a trial by the number of its line; `None` behind the last. `run` is the list's own.
    pub fn trace<'a>(&'a self, run: &'a Run, number: u32) -> Option<TrialTrace<'a>> {
        let place = self.places.get(number as usize)?;
        let item = &run.items[place.item as usize];
        let record = place.record.map(|number| &run.records[number as usize]);
        let key = &run.plan[place.cell as usize];
        let is_about = |judgement: &&Judgement| {
            let subject = &judgement.key.subject;
            let of_trial = subject.trial.as_ref().is_none_or(|trial| {
                *key == Arm { method: trial.method.clone(), model: trial.model.clone(), budget: trial.budget }
                    && record.is_some_and(|record| record.key.repeat == trial.repeat)
            });
            subject.item == item.id && of_trial
        };
        let judgements = run.judging.judgements.iter().filter(is_about).collect();
        Some(TrialTrace { item, cell: &self.cells[place.cell as usize], record, judgements })
    }
}

/// The score of a record's main metric.
fn main_score(record: &Record) -> Option<f64> {
    let metrics = record.scores.iter().map(|(name, score)| (MetricName::from(name.as_str()), *score));
    metrics.filter(|(metric, _)| !metric.is_of_context()).min_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, score)| score)
}

fn verdict(record: Option<&Record>) -> Option<Verdict> {
    let record = record?;
    match main_score(record) {
        Some(score) => Some(if score >= 0.5 { Verdict::Right } else { Verdict::Wrong }),
        None if matches!(record.outcome, Outcome::Answered { .. } | Outcome::NotAsked { .. }) => None,
        None => Some(Verdict::Wrong),
    }
}

/// The answer, or the words that stand in its place.
fn said(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Answered { answer, .. } => answer,
        Outcome::NotFound | Outcome::Unanswered | Outcome::Overflow { .. } => "",
        Outcome::Blocked { reason: words }
        | Outcome::Unparsed { response: words }
        | Outcome::CutShort { response: words, .. }
        | Outcome::Failed { error: words }
        | Outcome::NotAsked { reason: words } => words,
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(SHORT) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answered, item, key, record};
    use closeread_judges::Judging;
    use closeread_llm::price::PriceList;

    fn run() -> Run {
        let plan = vec![key("closed-book", None), key("dos-rag", Some(1500))];
        let records = vec![
            record(&plan[1], "b", Outcome::Failed { error: "no response".to_owned() }, &[]),
            record(&plan[1], "b", Outcome::NotFound, &[("accuracy", 0.0)]),
            record(&plan[0], "a", answered(), &[("accuracy", 1.0)]),
        ];
        Run {
            name: "r".to_owned(),
            benchmark: "b".to_owned(),
            plan,
            items: ["a", "b"].map(|id| item(id, "book")).to_vec(),
            records,
            repeats: 1,
            books: BTreeMap::new(),
            texts: BTreeMap::new(),
            data: Vec::new(),
            asked: crate::HowAsked::default(),
            judging: Judging::default(),
            facts: Vec::new(),
            preparations: Vec::new(),
            prices: PriceList::default(),
            served: Vec::new(),
            is_log: false,
            gaps: Vec::new(),
        }
    }

    #[test]
    fn every_trial_that_was_asked_for_has_a_line() {
        let run = run();
        let list = TrialList::of(&run);
        let lines: Vec<_> = (0..4).filter_map(|n| list.line(&run, n)).collect();
        let short: Vec<_> = lines.iter().map(|line| (&*line.item, line.cell, &*line.outcome)).collect();
        assert_eq!(short, [("a", 0, "answered"), ("a", 1, MISSING), ("b", 0, MISSING), ("b", 1, "not_found")]);
        assert_eq!((list.len(), list.cells()[1].as_str()), (4, "dos-rag at 1,500"));
        assert_eq!(list.line(&run, 4), None);
    }

    #[test]
    fn a_filter_leaves_what_all_its_parts_leave() {
        let run = run();
        let list = TrialList::of(&run);
        let select = |outcome: Option<&str>, cell, text: &str| {
            let filter = TrialFilter {
                outcome: outcome.map(str::to_owned),
                cell,
                text: text.to_owned(),
                ..TrialFilter::default()
            };
            list.select(&run, &filter)
        };
        assert_eq!(select(None, None, ""), [0, 1, 2, 3]);
        assert_eq!(select(Some(MISSING), None, ""), [1, 2]);
        assert_eq!(select(Some(MISSING), Some(1), ""), [1]);
        let id = run.items[1].question.to_uppercase();
        assert!(!select(None, None, &id).is_empty());
        assert_eq!(select(None, None, "no such words"), [0; 0]);
        let trace = list.trace(&run, 3).unwrap();
        assert_eq!(trace.record.map(|record| &record.outcome), Some(&Outcome::NotFound));
    }

    #[test]
    fn right_and_wrong_are_told_apart_sorted_and_held_against_each_other() {
        let mut run = run();
        run.plan = vec![key("vanilla-rag", Some(1500)), key("dos-rag", Some(1500))];
        run.records = vec![
            record(&run.plan[0], "a", answered(), &[("f1", 0.2), ("evidence_recall", 1.0)]),
            record(&run.plan[1], "a", answered(), &[("f1", 0.9), ("evidence_recall", 0.0)]),
            record(&run.plan[0], "b", Outcome::Failed { error: "no response".to_owned() }, &[]),
        ];
        let list = TrialList::of(&run);
        let select = |filter: TrialFilter| list.select(&run, &filter);
        let wanted = |verdict| select(TrialFilter { verdict: Some(verdict), ..TrialFilter::default() });
        assert_eq!(wanted(Wanted::Right), [1]);
        assert_eq!(wanted(Wanted::Wrong), [0, 2], "a failure is wrong, a missing trial is neither");
        assert_eq!(wanted(Wanted::Differ), [0, 1], "the two orders of one item");
        let sorted = |sort| select(TrialFilter { sort, ..TrialFilter::default() });
        assert_eq!(sorted(Sort::Lowest), [0, 1, 2, 3]);
        assert_eq!(sorted(Sort::Highest), [1, 0, 2, 3]);
        assert_eq!(sorted(Sort::Cell), [0, 2, 1, 3]);
        assert_eq!(select(TrialFilter { item: Some("b".to_owned()), ..TrialFilter::default() }), [2, 3]);
        assert_eq!(list.line(&run, 1).and_then(|line| line.verdict), Some(Verdict::Right));
    }
}
