//! SagaScale's tables and figures as the paper prints them.

use super::{LENGTHS, MOST_SEARCHES, SagaScale, Setting};
use crate::paper::configurations::Configuration;
use crate::paper::grid::{Better, Grid};
use crate::paper::tabulate::unjudged;
use closeread_eval::observations::{Applies, Observations, Rows};
use closeread_judges::JUDGED_ACCURACY;
use closeread_table::number::{metric_label, thousands};
use closeread_table::{Table, Value};

/// What the marks behind models mean, as in the paper.
const REASONING: &str = "† reasoning off, ‡ reasoning";
const QUESTION_TYPES: &str = "sagascale-figure-2";

/// Figure 2: the share of questions of each type.
pub(in crate::paper) fn question_types(trials: &Observations) -> Option<Table> {
    let labels: Vec<&str> = trials.items().filter_map(|(_, item)| item.label("question_type")).collect();
    let mut types: Vec<(&str, usize)> = Vec::new();
    for label in &labels {
        match types.iter_mut().find(|(name, _)| name == label) {
            Some((_, n)) => *n += 1,
            None => types.push((label, 1)),
        }
    }
    types.sort_by_key(|(name, n)| (std::cmp::Reverse(*n), *name));
    let mut grid = Grid::new(QUESTION_TYPES, "Questions by type, %", "SagaScale, Figure 2", &["Type"], ["Share"]);
    for (name, n) in types {
        let value = 100.0 * n as f64 / labels.len() as f64;
        grid.row([Value::text(name)], [Ok(super::Number::new(value, n))]);
    }
    grid.finished()
}

impl SagaScale<'_> {
    pub(super) fn tables(&self) -> Vec<Table> {
        let all = [
            question_types(self.trials),
            self.table_3(),
            self.table_4(),
            self.table_5(),
            self.table_6(),
            self.table_7(),
            self.table_8(),
            self.figure_3a(),
            self.figure_3a_curve(),
            self.figure_3b(),
            self.figure_4(),
            self.advantages(),
            self.solved(),
            self.rank_correlations(),
        ];
        let mut tables: Vec<Table> = all.into_iter().flatten().collect();
        if self.configurations.iter().any(|of| of.reasoning.is_some()) {
            let of_models = tables.iter_mut().filter(|table| table.columns[0] == "Model");
            of_models.for_each(|table| table.notes.push(REASONING.to_owned()));
        }
        let notes = self.notes();
        let scored = tables.iter_mut().filter(|table| table.id != QUESTION_TYPES);
        scored.for_each(|table| table.notes.extend(notes.iter().cloned()));
        tables
    }

    /// What must be said of the metric below every table with scores.
    fn notes(&self) -> Vec<String> {
        let metric = &self.by.metric;
        let label = metric_label(metric.name());
        let n = self.trials.items().filter(|(_, item)| item.applies(metric) != Applies::Not).count();
        let all = self.trials.items().count();
        let without_judge = format!("scored by {label}: there is no judge's verdict");
        let of_some = format!(
            "{label} applies to {} of {} items; the others are in no mean",
            thousands(n as u64),
            thousands(all as u64)
        );
        let notes = [
            (metric.name() != JUDGED_ACCURACY).then_some(without_judge),
            (n < all).then_some(of_some),
            unjudged(self.trials, &Rows::all(), metric),
        ];
        notes.into_iter().flatten().collect()
    }

    /// Model and Max Len, as the papers' first columns have them.
    fn heads(of: &Configuration<'_>) -> [Value; 2] {
        let mark = match of.reasoning {
            Some(true) => "‡",
            Some(false) => "†",
            None => "",
        };
        let window = of.window.map_or_else(|| Value::missing("the context window is not known"), Value::count);
        [Value::text(format!("{}{mark}", of.name)), window]
    }

    fn table_3(&self) -> Option<Table> {
        let title = "Accuracy over all items, %";
        let columns = Setting::ALL.map(Setting::name);
        let mut grid = Grid::new("sagascale-table-3", title, "SagaScale, Table 3", &["Model", "Max Len"], columns);
        let mut cut = false;
        for of in &self.configurations {
            grid.row(Self::heads(of), Setting::ALL.map(|setting| self.accuracy(of, setting)));
            if self.overflowed(of) > 0 {
                grid.sign_last(2, "§");
                cut = true;
            }
        }
        let grid = grid.mark_columns(Better::Higher, true).averaged("Average");
        let grid = grid.note("failures count as wrong; best in bold, second underlined; Average: unweighted over rows");
        let grid = if cut { grid.note("§ some books exceed the window and count as wrong") } else { grid };
        grid.finished()
    }

    fn table_4(&self) -> Option<Table> {
        let title = "Accuracy without the book, %";
        let columns = [Setting::ClosedBook.name()];
        let mut grid = Grid::new("sagascale-table-4", title, "SagaScale, Table 4", &["Model", "Max Len"], columns);
        for of in &self.configurations {
            grid.row(Self::heads(of), [self.accuracy(of, Setting::ClosedBook)]);
        }
        grid.mark_columns(Better::Higher, false).finished()
    }

    fn table_5(&self) -> Option<Table> {
        let title = "Accuracy over the items whose book fits the model's window, %";
        let columns = Setting::ALL.map(Setting::name);
        let mut grid = Grid::new("sagascale-table-5", title, "SagaScale, Table 5", &["Model", "Max Len"], columns);
        for of in &self.configurations {
            grid.row(Self::heads(of), Setting::ALL.map(|setting| self.accuracy_in_window(of, setting)));
        }
        let note = "an item fits unless reading its whole book overflowed; where that was not tried, by its length; \
                    best method of each row in bold";
        grid.mark_rows(Better::Higher).averaged("Average").note(note).finished()
    }

    fn table_6(&self) -> Option<Table> {
        let title = "Responses of the long context without a readable answer, in-window items, %";
        let source = "SagaScale, Table 6";
        let mut grid = Grid::new("sagascale-table-6", title, source, &["Model", "Max Len"], ["Err Rate"]);
        for of in &self.configurations {
            grid.row(Self::heads(of), [self.parsing_errors(of)]);
        }
        grid.mark_columns(Better::Lower, false).note("of all items in the window; lowest in bold").finished()
    }

    fn table_7(&self) -> Option<Table> {
        let settings = [Setting::NaiveRag, Setting::AgenticRag];
        let title = "Calibration error: incorrect of attempted, %";
        let source = "SagaScale, Table 7 and footnote 6";
        let columns = settings.map(Setting::name);
        let mut grid = Grid::new("sagascale-table-7", title, source, &["Model", "Max Len"], columns);
        for of in &self.configurations {
            grid.row(Self::heads(of), settings.map(|setting| self.calibration_error(of, setting)));
        }
        let note = "not attempted: NONE in NR, a ninth query in AR; failures are attempts; lowest in bold";
        grid.mark_columns(Better::Lower, false).note(note).finished()
    }

    fn table_8(&self) -> Option<Table> {
        let title = "Polarization: items that every configuration answers alike, all wrong or all right, %";
        let mut grid = Grid::new("sagascale-table-8", title, "SagaScale, Table 8", &["Method"], ["Polarization"]);
        for setting in Setting::ALL {
            grid.row([Value::text(setting.name())], [self.polarization(setting)]);
        }
        grid.note("LC: over the configurations that the item's book fits; an item needs two").finished()
    }

    fn figure_3a(&self) -> Option<Table> {
        let title = "Accuracy over the books of at most so many tokens, mean over configurations, %";
        let columns = LENGTHS.map(|tokens| thousands(tokens as u64)).into_iter().chain(["decline".to_owned()]);
        let mut grid = Grid::new("sagascale-figure-3a", title, "SagaScale, Figure 3a", &["Method"], columns);
        for setting in Setting::ALL {
            let curve = self.of_curve(setting);
            let places = LENGTHS.map(|tokens| self.cumulative(&curve, tokens));
            grid.row([Value::text(setting.name())], places.into_iter().chain([self.decline(&curve)]));
        }
        let note = "LC: configurations whose window holds every book; decline: 128K minus 1M, in points";
        grid.note(note).finished()
    }

    fn figure_3a_curve(&self) -> Option<Table> {
        let title = "Accuracy over the books of at most so many tokens, at every length of a book, %";
        let columns = Setting::ALL.map(Setting::name);
        let mut grid = Grid::new("sagascale-figure-3a-curve", title, "SagaScale, Figure 3a", &["Tokens"], columns);
        let curves = Setting::ALL.map(|setting| self.of_curve(setting));
        for tokens in self.lengths() {
            grid.row([Value::count(tokens)], curves.iter().map(|curve| self.cumulative(curve, tokens)));
        }
        grid.finished()
    }

    fn figure_3b(&self) -> Option<Table> {
        let title = "Long context: accuracy over the books of at most so many tokens, %";
        let curves = self.of_curve(Setting::LongContext);
        let columns = curves.iter().map(|(of, _)| of.name.clone());
        let mut grid = Grid::new("sagascale-figure-3b", title, "SagaScale, Figure 3b", &["Tokens"], columns);
        for tokens in self.lengths() {
            grid.row([Value::count(tokens)], curves.chunks(1).map(|curve| self.cumulative(curve, tokens)));
        }
        grid.note("configurations whose window holds every book").finished()
    }

    fn figure_4(&self) -> Option<Table> {
        let title = "AR: accuracy by the number of searches, %";
        let columns = (1..=MOST_SEARCHES).map(|searches| searches.to_string());
        let mut grid = Grid::new("sagascale-figure-4", title, "SagaScale, Figure 4", &["Model", "Max Len"], columns);
        for of in &self.configurations {
            grid.row(Self::heads(of), (1..=MOST_SEARCHES).map(|searches| self.after_searches(of, searches)));
        }
        grid.note("over trials; points of fewer than 10 and trials that ended at a ninth query are left out").finished()
    }

    fn advantages(&self) -> Option<Table> {
        let title = "Long context minus retrieval, in-window items, points";
        let mut grid = Grid::new("sagascale-advantage", title, "SagaScale, section 4.2", &["LC over"], ["points"]);
        for setting in [Setting::NaiveRag, Setting::AgenticRag] {
            grid.row([Value::text(setting.name())], [self.advantage(setting)]);
        }
        grid.finished()
    }

    fn solved(&self) -> Option<Table> {
        let title = "Items that no configuration solves by one retrieval and one at least by searching, %";
        let mut grid = Grid::new("sagascale-solved", title, "SagaScale, section 4.2", &["Method"], ["solved"]);
        grid.row([Value::text(Setting::AgenticRag.name())], [self.solved_by_searching()]);
        grid.finished()
    }

    fn rank_correlations(&self) -> Option<Table> {
        let title = "Rank correlation of NR's calibration error, ascending, with accuracy, descending";
        let source = "SagaScale, section 4.2";
        let mut grid = Grid::new("sagascale-rank-correlation", title, source, &["Accuracy of"], ["rho"]).decimals(2);
        for setting in [Setting::NaiveRag, Setting::AgenticRag] {
            grid.row([Value::text(setting.name())], [self.rank_correlation(setting)]);
        }
        grid.note("over configurations").finished()
    }
}
