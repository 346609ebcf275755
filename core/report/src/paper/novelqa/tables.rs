//! NovelQA's tables and figures on trials, as the paper prints them.

use super::data::relative_bins;
use super::items::{ASPECTS, POSITION_BINS, aspect, position_bin, relative_bin};
use super::{COMPLEXITIES, NovelQa, Piece, Row, SETTINGS, SHORT_COMPLEXITIES, SHORTEST, SPLIT, mean_of};
use crate::paper::grid::{Better, Grid, Number, Place};
use crate::paper::tabulate::{HUMAN, policy_ends, policy_note, unjudged, without_judge};
use crate::plan::Arm;
use closeread_eval::Task;
use closeread_eval::observations::{ItemFacts, ItemId, MetricName, Rows};
use closeread_judges::{EVIDENCE_MARKS, JUDGED_ACCURACY};
use closeread_table::number::thousands;
use closeread_table::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The label by which novels in the public domain stand apart, with its value.
const PUBLIC_DOMAIN: (&str, &str) = ("rights", "public-domain");
/// The tables with scores of answers in words.
const OF_WORDS: [&str; 6] = [
    "novelqa-table-2",
    "novelqa-table-3",
    "novelqa-table-4",
    "novelqa-table-6",
    "novelqa-table-16",
    "novelqa-figure-4",
];
const PER_EVIDENCE: &str = "a question counts once for each piece of its evidence whose place is known";

/// The paper's name of a setting, at the beginning of a title.
fn setting(task: Task) -> &'static str {
    if task == Task::Choice { "Multichoice" } else { "Generative" }
}

impl NovelQa<'_> {
    pub(super) fn tables(&self) -> Vec<Table> {
        let is_public = |item: &ItemFacts| item.label(PUBLIC_DOMAIN.0) == Some(PUBLIC_DOMAIN.1);
        let before = [
            self.table_2("", "", |_| true),
            self.table_2("-public-domain", ", novels in the public domain", is_public),
            self.matrix("novelqa-table-3", "NovelQA, Table 3", Task::Generative),
            self.matrix("novelqa-table-14", "NovelQA, Table 14", Task::Choice),
            self.by_position("novelqa-figure-4", "NovelQA, Figure 4", Task::Generative),
            self.by_tenth("novelqa-figure-4-relative", "NovelQA, Figure 4", Task::Generative, "", |_| true),
            self.by_position("novelqa-figure-6", "NovelQA, Figure 6", Task::Choice),
            self.by_tenth("novelqa-figure-6-relative", "NovelQA, Figure 6", Task::Choice, "", |_| true),
            self.by_tenth(
                "novelqa-figure-7-65k-100k",
                "NovelQA, Figure 7",
                Task::Choice,
                ", books of 65K to 100K tokens",
                |book| (SHORTEST..=SPLIT).contains(&book),
            ),
            self.by_tenth(
                "novelqa-figure-7-above-100k",
                "NovelQA, Figure 7",
                Task::Choice,
                ", books of more than 100K tokens",
                |book| book > SPLIT,
            ),
        ];
        let behind = [self.table_5(), self.table_6(), self.table_16()].into_iter().flatten();
        let mut tables: Vec<Table> =
            before.into_iter().flatten().chain(self.table_4()).chain(behind).chain(self.opinions()).collect();
        let notes = self.of_judges();
        let of_words = |table: &&mut Table| OF_WORDS.iter().any(|id| table.id.starts_with(id));
        tables.iter_mut().filter(of_words).for_each(|table| table.notes.extend(notes.iter().cloned()));
        tables
    }

    /// Notes on open answers: the rows that were scored without a judge, and the answers that wait for a verdict.
    fn of_judges(&self) -> Vec<String> {
        let lines = self.lines();
        let metric = |row: &Row<'_>| Some(self.by(&self.rows(row, Task::Generative).ok()?).ok()?.metric);
        let open: Vec<(&Row<'_>, MetricName)> = lines.iter().filter_map(|row| Some((row, metric(row)?))).collect();
        let mut rows_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (row, metric) in &open {
            if let Some(note) = without_judge(metric) {
                rows_of.entry(note).or_default().push(Self::name(row));
            }
        }
        let note = |(note, rows): (String, Vec<String>)| match rows.len() == open.len() {
            true => format!("generative {note}"),
            false => format!("{}: generative {note}", rows.join("; ")),
        };
        let waiting = unjudged(self.trials, &Rows::all(), &JUDGED_ACCURACY.into());
        rows_of.into_iter().map(note).chain(waiting.map(|waiting| format!("generative {waiting}"))).collect()
    }

    pub(super) fn grid<S: Into<String>>(
        &self,
        id: &str,
        title: &str,
        source: &str,
        heads: &[&str],
        columns: impl IntoIterator<Item = S>,
    ) -> Grid {
        let (suffix, said) = policy_ends(self.policy);
        let grid = Grid::new(&format!("{id}{suffix}"), &format!("{title}{said}"), source, heads, columns);
        grid.decimals(2).note(policy_note(self.policy))
    }

    /// The configuration, and the method where it is not the paper's.
    pub(super) fn name(row: &Row<'_>) -> String {
        let Arm { method, budget, .. } = &row.line.key.arm;
        let budget = budget.map_or_else(String::new, |budget| format!(" at {}", thousands(budget as u64)));
        match method.as_str() {
            "full-document" | HUMAN => row.of.name.clone(),
            method => format!("{}, {method}{budget}", row.of.name),
        }
    }

    fn table_2(&self, suffix: &str, said: &str, keep: impl Fn(&ItemFacts) -> bool + Copy) -> Option<Table> {
        if !self.trials.items().any(|(_, item)| keep(item)) {
            return None;
        }
        let title = format!("Accuracy in both settings{said}, %");
        let columns = SETTINGS.map(|(_, name)| name);
        let id = format!("novelqa-table-2{suffix}");
        let mut grid = self.grid(&id, &title, "NovelQA, Table 2", &["Model", "Max Length"], columns);
        let lines = self.lines();
        let (people, models): (Vec<&Row<'_>>, Vec<&Row<'_>>) =
            lines.iter().partition(|row| row.line.key.arm.method == HUMAN);
        let add = |grid: &mut Grid, row: &Row<'_>| {
            let window = row.of.window;
            let window = window.map_or_else(|| Value::missing("the context window is not known"), Value::count);
            grid.row([Value::text(Self::name(row)), window], SETTINGS.map(|(task, _)| self.mean(row, task, keep)));
        };
        models.into_iter().for_each(|row| add(&mut grid, row));
        let mut grid = grid.mark_columns(Better::Higher, false);
        people.into_iter().for_each(|row| add(&mut grid, row));
        grid.note("best in bold; people take no part in that").finished()
    }

    /// Tables 3 and 14: a panel a line; averages are over all questions of a row or column.
    fn matrix(&self, id: &str, source: &str, task: Task) -> Option<Table> {
        let mut aspects = ASPECTS.map(Some).to_vec();
        aspects.sort_by_key(|aspect| aspect.map(|(_, short)| short));
        let columns = aspects.iter().flatten().map(|(_, short)| *short).chain(["avg"]);
        if !self.trials.items().any(|(_, item)| aspect(item).is_some()) {
            return None;
        }
        let title = format!("{}: accuracy by complexity and aspect, %", setting(task));
        let mut grid = self.grid(id, &title, source, &["Model", "Complexity"], columns);
        let complexities = COMPLEXITIES.into_iter().zip(SHORT_COMPLEXITIES).map(Some).chain([None]);
        for row in self.lines() {
            for complexity in complexities.clone() {
                let places = aspects.iter().copied().chain([None]).map(|of| {
                    self.mean(&row, task, |item| {
                        of.is_none_or(|(name, _)| aspect(item) == Some(name))
                            && complexity.is_none_or(|(name, _)| item.label("complexity") == Some(name))
                    })
                });
                let short = complexity.map_or("avg", |(_, short)| short);
                grid.row([Value::text(Self::name(&row)), Value::text(short)], places.collect::<Vec<_>>());
            }
        }
        grid.note("avg: over all questions of the row or column").finished()
    }

    /// Figures 4 and 6, by tokens from the start of the book.
    fn by_position(&self, id: &str, source: &str, task: Task) -> Option<Table> {
        let title = format!("{}: accuracy by where the evidence starts, in tokens, %", setting(task));
        self.by_bin(id, &title, source, task, POSITION_BINS.map(str::to_owned).to_vec(), |piece| {
            Some(position_bin(piece.token))
        })
    }

    /// Figures 4, 6 and 7, by tenths of the book; of books whose length is in a class.
    fn by_tenth(
        &self,
        id: &str,
        source: &str,
        task: Task,
        of_books: &str,
        of_length: impl Fn(usize) -> bool,
    ) -> Option<Table> {
        let title = format!("{}: accuracy by where in its book the evidence starts{of_books}, %", setting(task));
        self.by_bin(id, &title, source, task, relative_bins(), |piece| {
            let book = piece.item.book_tokens.filter(|book| of_length(*book))?;
            relative_bin(piece.token, book)
        })
    }

    fn by_bin(
        &self,
        id: &str,
        title: &str,
        source: &str,
        task: Task,
        bins: Vec<String>,
        bin: impl Fn(&Piece<'_>) -> Option<usize>,
    ) -> Option<Table> {
        let n_bins = bins.len();
        let mut grid = self.grid(id, title, source, &["Model"], bins);
        for row in self.lines() {
            let pieces = self.pieces(&row, task);
            let mean = |wanted: usize| mean_of(pieces.iter().filter(|piece| bin(piece) == Some(wanted)));
            grid.row([Value::text(Self::name(&row))], (0..n_bins).map(mean).collect::<Vec<_>>());
        }
        grid.note(PER_EVIDENCE).finished()
    }

    fn table_4(&self) -> Vec<Table> {
        let title = "Accuracy by whether the evidence starts before 100K tokens, %";
        let parts = SETTINGS.map(|(task, name)| [(task, name, true), (task, name, false)]).concat();
        let columns =
            parts.iter().map(|(_, name, is_before)| format!("{name} {}-100K", if *is_before { "pre" } else { "post" }));
        let mut grid = self.grid("novelqa-table-4", title, "NovelQA, Table 4", &["Model"], columns);
        let mut sums = vec![(0.0, 0); parts.len()];
        for row in self.lines() {
            let part = |(task, _, is_before): &(Task, &str, bool)| {
                let pieces = self.pieces(&row, *task);
                mean_of(pieces.iter().filter(|piece| (piece.token < SPLIT) == *is_before))
            };
            let places: Vec<Place> = parts.iter().map(part).collect();
            for (sum, place) in sums.iter_mut().zip(&places) {
                if let Ok(Number { value, n, .. }) = place {
                    *sum = (sum.0 + value * *n as f64, sum.1 + n);
                }
            }
            grid.row([Value::text(Self::name(&row))], places);
        }
        let pooled = sums.into_iter().map(|(sum, n)| match n {
            0 => Err("no evidence here"),
            n => Ok(Number::new(sum / n as f64, n)),
        });
        let grid = grid.with_summary([Value::text("Weighted Avg.")], pooled.collect());
        let grid = grid.grouped(SETTINGS.map(|(_, name)| name), 2);
        let grid = grid.note(PER_EVIDENCE).note("Weighted Avg.: by the pieces of each line");
        grid.finished_with_ns(&format!(
            "Pieces of evidence before and behind 100K tokens{}",
            policy_ends(self.policy).1
        ))
    }

    fn table_5(&self) -> Option<Table> {
        let title = "Marks of the evidence that answers cite, of 100";
        let columns = EVIDENCE_MARKS.into_iter().chain(["avg"]);
        let mut grid = self.grid("novelqa-table-5", title, "NovelQA, Table 5", &["Model"], columns);
        let mut without: BTreeSet<ItemId> = BTreeSet::new();
        for of in &self.configurations {
            if let Some(rows) = self.evidence_rows(of) {
                grid.row([Value::text(&of.name)], self.evidence_marks(&rows));
                without.append(&mut self.without_gold_evidence(&rows));
            }
        }
        let note = "over questions with gold evidence; what is no answer, or cites nothing, has marks of 0; an answer that was \
                    not judged has none; avg: mean of the three";
        let grid = grid.mark_columns(Better::Higher, false).with_n().note(note);
        let left_out = format!("{} questions without gold evidence are left out", without.len());
        if without.is_empty() { grid.finished() } else { grid.note(left_out).finished() }
    }

    fn table_6(&self) -> Option<Table> {
        let title = "Accuracy without the book, %, and that minus with it, points";
        let columns = SETTINGS.map(|(_, name)| [name.to_owned(), format!("{name} drop")]).concat();
        let mut grid = self.grid("novelqa-table-6", title, "NovelQA, Table 6", &["Model"], columns);
        for row in self.lines() {
            let places = SETTINGS.map(|(task, _)| self.closed_book(&row, task)).concat();
            grid.row([Value::text(Self::name(&row))], places);
        }
        grid.note("over the questions that count in both").finished()
    }

    fn table_16(&self) -> Option<Table> {
        let title = "Correlation of accuracy with the distance between pieces of evidence, multi-hop questions";
        let columns = ["Pearson", "Spearman", "Kendall"].map(|name| [name.to_owned(), format!("{name} p")]).concat();
        let mut grid = self.grid("novelqa-table-16", title, "NovelQA, Table 16", &["Model"], columns).decimals(4);
        for row in self.lines() {
            let places = self.by_distance(&row).map(|(coefficient, p)| [coefficient, p]).concat();
            grid.row([Value::text(Self::name(&row))], places);
        }
        grid.with_n().note("questions with two pieces of evidence or more, answered openly").finished()
    }
}
