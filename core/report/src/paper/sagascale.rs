//! SagaScale (sections 4.1 and 4.2, Tables 3 to 8, Figures 3 and 4): long context, naive and agentic retrieval on novels.
//!
//! Each quantity is a function that reads like the paper's definition; `tables` lays them out as the paper prints them.
//! What the paper leaves open is said at the function.

pub(super) mod tables;

use super::configurations::{Configuration, by_window};
use super::grid::{Number, Place, average};
use super::tabulate::{NO_SCORE, main_metric, nothing_answered};
use closeread_eval::correlate::spearman;
use closeread_eval::observations::{Aggregation, Ending, ItemId, Observation, Observations, Rows};
use closeread_judges::JUDGED_ACCURACY;
use closeread_methods::record::SEARCHES;
use closeread_table::Table;
use std::collections::{BTreeMap, BTreeSet};

/// Book lengths, in tokens, at which Figure 3 is read; K is 1,000 (Table 2).
const LENGTHS: [usize; 4] = [128_000, 256_000, 512_000, 1_000_000];
/// Points of Figure 4 with fewer trials are left out.
const FEWEST_TRIALS: usize = 10;
/// Retrievals of an agentic run; one more leaves the problem unanswered (section 4.1).
const MOST_SEARCHES: usize = 8;

/// The part that a method plays in the paper's comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// Naive RAG (NR): one retrieval.
    NaiveRag,
    /// Agentic RAG (AR): the model searches.
    AgenticRag,
    /// Long context (LC): the whole book in the prompt.
    LongContext,
    /// The closed book: no book at all.
    ClosedBook,
}

impl Setting {
    /// The settings that are columns of Table 3.
    const ALL: [Self; 3] = [Self::NaiveRag, Self::AgenticRag, Self::LongContext];

    /// Returns the setting's name in the paper's heads.
    const fn name(self) -> &'static str {
        match self {
            Self::NaiveRag => "NR",
            Self::AgenticRag => "AR",
            Self::LongContext => "LC",
            Self::ClosedBook => "Accuracy",
        }
    }

    /// True of the method that plays this part.
    pub(super) fn is(self, method: &str) -> bool {
        let own = match self {
            Self::NaiveRag => "naive-rag",
            Self::AgenticRag => "agentic-rag",
            Self::LongContext => "full-document",
            Self::ClosedBook => "closed-book",
        };
        method == own
    }
}

/// The paper's tables and figures for these trials; those for which the trials carry nothing are left out.
pub fn tables(trials: &Observations) -> Vec<Table> {
    SagaScale::new(trials).map(|paper| paper.tables()).unwrap_or_default()
}

/// The data that the tables are made from.
struct SagaScale<'a> {
    trials: &'a Observations,
    by: Aggregation,
    configurations: Vec<Configuration<'a>>,
}

impl<'a> SagaScale<'a> {
    /// `None` where there are answers and no trial has a score. The judges' verdict counts, and where there is none the benchmark's own metric.
    fn new(trials: &'a Observations) -> Option<Self> {
        let metric = main_metric(trials, &Rows::all(), JUDGED_ACCURACY)?;
        Some(Self { trials, by: Aggregation::new(metric), configurations: by_window(trials) })
    }

    fn rows(&self, of: &Configuration<'_>, setting: Setting) -> Result<Rows, &'static str> {
        of.rows(|method| setting.is(method)).ok_or("not run")
    }

    /// The rows of a setting whose answers are scored. Beside judged runs the answers of a run that nobody judged have no
    /// score: its failures alone would make a mean of 0.
    fn scored(&self, of: &Configuration<'_>, setting: Setting) -> Result<Rows, &'static str> {
        let (rows, metric) = (self.rows(of, setting)?, &self.by.metric);
        let is_scored = |row: &Observation| row.scores.get(metric).is_some_and(|score| score.value(metric).is_some());
        let counts = nothing_answered(self.trials, &rows) || self.trials.rows(&rows).any(is_scored);
        if counts { Ok(rows) } else { Err(NO_SCORE) }
    }

    fn in_window(&self, of: &Configuration<'_>) -> BTreeSet<ItemId> {
        of.in_window(|method| Setting::LongContext.is(method))
    }

    fn mean(&self, rows: &Rows) -> Place {
        let estimate = self.trials.aggregate(rows, &self.by).estimate.ok_or("no scored items")?;
        Ok(Number::new(100.0 * estimate.value, estimate.n))
    }

    /// Table 3: the share of right answers over all items, failures as wrong.
    fn accuracy(&self, of: &Configuration<'_>, setting: Setting) -> Place {
        self.mean(&self.scored(of, setting)?)
    }

    /// Table 3, footnote: items whose whole book exceeded the window.
    fn overflowed(&self, of: &Configuration<'_>) -> usize {
        let Ok(rows) = self.rows(of, Setting::LongContext) else { return 0 };
        let overflowed = self.trials.rows(&rows).filter(|row| row.outcome == Ending::Overflow);
        overflowed.map(|row| row.item).collect::<BTreeSet<_>>().len()
    }

    /// Table 5: the same over the items in the window.
    fn accuracy_in_window(&self, of: &Configuration<'_>, setting: Setting) -> Place {
        let rows = self.scored(of, setting)?;
        match self.in_window(of) {
            items if items.is_empty() => Err("no item in the window"),
            items => self.mean(&rows.items(items)),
        }
    }

    /// Table 6: the share of responses of the long context in the window that hold no answer in the agreed form, those
    /// that were cut short among them. Open: the denominator is every item in the window, missing and failed ones too.
    fn parsing_errors(&self, of: &Configuration<'_>) -> Place {
        let rows = self.rows(of, Setting::LongContext)?.items(self.in_window(of));
        let mut by_item: BTreeMap<ItemId, (f64, usize)> = BTreeMap::new();
        for row in self.trials.rows(&rows).filter(|row| !row.outcome.is_never_scored()) {
            let (errors, n) = by_item.entry(row.item).or_default();
            *errors += f64::from(matches!(row.outcome, Ending::Unparsed | Ending::CutShort));
            *n += 1;
        }
        let n = by_item.len();
        let errors: f64 = by_item.into_values().map(|(errors, n)| errors / n as f64).sum();
        if n == 0 { Err("no item in the window") } else { Ok(Number::new(100.0 * errors / n as f64, n)) }
    }

    /// Table 7 and footnote 6: incorrect / attempted, over trials. What signals inability is no attempt: "none" in NR, a
    /// ninth query in AR. Open: a response without a readable answer is an attempt, and so is a failure.
    fn calibration_error(&self, of: &Configuration<'_>, setting: Setting) -> Place {
        let inability = match setting {
            Setting::NaiveRag => Some(Ending::NotFound),
            Setting::AgenticRag => Some(Ending::Unanswered),
            Setting::LongContext | Setting::ClosedBook => None,
        };
        let trials = self.trials.trials(&self.scored(of, setting)?, &self.by);
        let attempted = trials.iter().filter(|(row, _)| Some(row.outcome) != inability);
        let (incorrect, n) = attempted.fold((0.0, 0), |(sum, n), (_, score)| (sum + 1.0 - score, n + 1));
        if n == 0 { Err("nothing was attempted") } else { Ok(Number::new(100.0 * incorrect / n as f64, n)) }
    }

    /// Returns each item's score in each configuration that has one; of the long context only where the window holds
    /// the item (the printed 34.6 cannot come out over all, see docs/audit.md).
    fn by_item(&self, setting: Setting) -> BTreeMap<&'a str, Vec<f64>> {
        let mut items: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for configuration in &self.configurations {
            let Ok(mut rows) = self.scored(configuration, setting) else { continue };
            if setting == Setting::LongContext {
                rows = rows.items(self.in_window(configuration));
            }
            for one in self.trials.scores(&rows, &self.by) {
                items.entry(&one.item.id).or_default().push(one.value);
            }
        }
        items
    }

    /// Table 8: the share of items that all configurations answer alike, all wrong or all right, of those that two or
    /// more answered.
    fn polarization(&self, setting: Setting) -> Place {
        let items: Vec<Vec<f64>> = self.by_item(setting).into_values().filter(|scores| scores.len() > 1).collect();
        let alike = |scores: &&Vec<f64>| [0.0, 1.0].iter().any(|end| scores.iter().all(|score| score == end));
        let polarized = items.iter().filter(alike).count();
        match items.len() {
            0 => Err("fewer than two configurations"),
            n => Ok(Number::new(100.0 * polarized as f64 / n as f64, n)),
        }
    }

    /// Section 4.2: of the items that no configuration solves by one retrieval, those that one at least solves by
    /// searching.
    fn solved_by_searching(&self) -> Place {
        let played = |setting| self.configurations.iter().filter(|of| self.scored(of, setting).is_ok()).count();
        if played(Setting::NaiveRag) < 2 || played(Setting::AgenticRag) < 2 {
            return Err("fewer than two configurations");
        }
        let searching = self.by_item(Setting::AgenticRag);
        let unsolved: Vec<&str> = self
            .by_item(Setting::NaiveRag)
            .into_iter()
            .filter(|(_, scores)| scores.iter().all(|score| *score == 0.0))
            .map(|(item, _)| item)
            .collect();
        let solves = |item: &&&str| searching.get(**item).is_some_and(|scores| scores.iter().any(|score| *score > 0.0));
        let solved = unsolved.iter().filter(solves).count();
        match unsolved.len() {
            0 => Err("one retrieval solves every item"),
            n => Ok(Number::new(100.0 * solved as f64 / n as f64, n)),
        }
    }

    /// Section 4.2: Spearman's rho of the calibration error of NR, ascending, against accuracy, descending.
    fn rank_correlation(&self, accuracy: Setting) -> Place {
        let both = self.configurations.iter().filter_map(|of| {
            let error = self.calibration_error(of, Setting::NaiveRag).ok()?;
            // Equal means can be rounded differently, and share a rank all the same.
            let rank = |number: Number| (number.value * 1e9).round();
            Some((rank(error), rank(self.accuracy(of, accuracy).ok()?)))
        });
        let (errors, accuracies): (Vec<f64>, Vec<f64>) = both.unzip();
        if errors.len() < 2 {
            return Err("fewer than two configurations");
        }
        let rho = spearman(&errors, &accuracies).ok_or("all configurations are alike")?;
        Ok(Number::new(-rho, errors.len()))
    }

    /// The configurations of a curve of Figure 3: all that played the setting; of the long context those whose window
    /// holds every book (with all of them the printed decline cannot come out).
    fn of_curve(&self, setting: Setting) -> Vec<(&Configuration<'a>, Rows)> {
        let holds = |of: &&Configuration<'_>| {
            setting != Setting::LongContext || of.holds_all(|method| Setting::LongContext.is(method))
        };
        let held = self.configurations.iter().filter(holds);
        held.filter_map(|of| Some((of, self.scored(of, setting).ok()?))).collect()
    }

    /// Figure 3a: accuracy over the books of at most `tokens` tokens, mean over configurations; n counts their items.
    fn cumulative(&self, curve: &[(&Configuration<'a>, Rows)], tokens: usize) -> Place {
        let up_to = |rows: &Rows| rows.clone().length(0..tokens + 1);
        let mean = average(curve.iter().map(|(_, rows)| self.mean(&up_to(rows))))?;
        let items: BTreeSet<ItemId> = curve
            .iter()
            .flat_map(|(_, rows)| self.trials.rows(&up_to(rows)).map(|row| row.item).collect::<Vec<_>>())
            .collect();
        Ok(Number { n: items.len(), ..mean })
    }

    /// Section 4.2: accuracy at 128K minus that at 1M, in points; n counts configurations.
    fn decline(&self, curve: &[(&Configuration<'a>, Rows)]) -> Place {
        let [short, .., long] = LENGTHS.map(|tokens| self.cumulative(curve, tokens));
        Ok(Number::new(short?.value - long?.value, curve.len()))
    }

    /// Figure 4: accuracy over the trials with exactly so many searches, failures as wrong. Open: a ninth query leaves a
    /// trial out, though eight searches were made.
    fn after_searches(&self, of: &Configuration<'_>, searches: usize) -> Place {
        let trials = self.trials.trials(&self.scored(of, Setting::AgenticRag)?, &self.by);
        let made = |row: &Observation| row.measures.get(SEARCHES).map_or(0, |n| *n as usize);
        let here = trials.iter().filter(|(row, _)| made(row) == searches && row.outcome != Ending::Unanswered);
        let scores: Vec<f64> = here.map(|(_, score)| *score).collect();
        match scores.len() {
            n if n < FEWEST_TRIALS => Err("fewer than 10 trials"),
            n => Ok(Number::new(100.0 * scores.iter().sum::<f64>() / n as f64, n)),
        }
    }

    /// Section 4.2: how far the long context is ahead in the window, in points, mean over configurations.
    fn advantage(&self, over: Setting) -> Place {
        let ahead = |of: &Configuration<'_>| {
            let [long, other] = [Setting::LongContext, over].map(|setting| self.accuracy_in_window(of, setting));
            Ok(Number::new(long?.value - other?.value, 1))
        };
        average(self.configurations.iter().map(ahead)).map_err(|_| "no configuration has both")
    }

    /// Returns every length of a book, in tokens.
    fn lengths(&self) -> BTreeSet<usize> {
        self.trials.items().filter_map(|(_, item)| item.book_tokens).collect()
    }
}

#[cfg(test)]
mod tests;
