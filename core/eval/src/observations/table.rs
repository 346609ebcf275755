//! The table: every planned trial has a row.

use super::{Cell, CellId, CellKey, Done, Ending, ItemFacts, ItemId, MetricName, Observation, Rows};
use crate::Task;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Every planned trial of a run, or of several that are pooled under names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observations {
    benchmark: String,
    items: Vec<ItemFacts>,
    cells: Vec<Cell>,
    /// The rows of each cell: item by item, repeat by repeat.
    plan: Vec<Range<usize>>,
    /// Number of times that each cell asks each item.
    repeats: Vec<u32>,
    rows: Vec<Observation>,
    unplanned: usize,
}

/// The reason why runs cannot stand in one table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// The runs are of different benchmarks.
    #[error("one run is of the benchmark `{first}`, another of `{other}`: only runs of one benchmark can be pooled")]
    TwoBenchmarks {
        /// The benchmark of the first run.
        first: String,
        /// Name of another benchmark.
        other: String,
    },
    /// One item of a task has two gold answers.
    #[error("item `{id}` has two different questions or gold answers in these runs, both asked as {task:?}")]
    TwoGolds {
        /// Id of the item.
        id: String,
        /// The way in which the item was asked.
        task: Task,
    },
    /// Two cells could not be told apart.
    #[error("two runs hold the same cell, {0}: give them different names")]
    EqualCells(Box<CellKey>),
}

impl Observations {
    /// The table of a run, in which every item is planned in every cell, `repeats` times. What `done` says nothing of is
    /// missing; of a trial that it holds twice the later one counts.
    ///
    /// Cells differ in their keys, items in their ids. A run that asks some items one way and some another is one table a
    /// task, [pooled](Self::pooled).
    pub fn new(
        benchmark: &str,
        cells: Vec<Cell>,
        items: &[ItemFacts],
        repeats: u32,
        done: impl Iterator<Item = Done>,
    ) -> Self {
        let (n_repeats, per_cell) = (repeats as usize, items.len() * repeats as usize);
        let mut rows = Vec::with_capacity(cells.len() * per_cell);
        for cell in 0..cells.len() {
            for item in 0..items.len() {
                rows.extend((0..repeats).map(|n| Observation::new(CellId(cell), ItemId(item), n, Ending::Missing)));
            }
        }
        let cell_of: HashMap<&CellKey, usize> = cells.iter().map(|cell| &cell.key).zip(0..).collect();
        let item_of: HashMap<&str, usize> = items.iter().map(|item| item.id.as_str()).zip(0..).collect();
        let mut unplanned = 0;
        for Done { cell, item, repeat, outcome, scores, measures, marks, spent } in done {
            let place = cell_of.get(&cell).zip(item_of.get(item.as_str())).filter(|_| repeat < repeats);
            let Some((&cell, &item)) = place else {
                unplanned += 1;
                continue;
            };
            let at = cell * per_cell + item * n_repeats + repeat as usize;
            let (cell, item) = (CellId(cell), ItemId(item));
            rows[at] = Observation { cell, item, repeat, outcome, scores, measures, marks, spent };
        }
        let repeats = vec![repeats; cells.len()];
        let plan = (0..cells.len()).map(|cell| cell * per_cell..(cell + 1) * per_cell).collect();
        Self { benchmark: benchmark.to_owned(), items: items.to_vec(), cells, plan, repeats, rows, unplanned }
    }

    /// Puts several runs side by side, each under a name that becomes the configuration of its cells.
    ///
    /// An item is an id with its gold; what the first run knows of it stands, and a metric applies to it where it does in some
    /// run. A cell is planned for the items of its own run alone.
    ///
    /// # Errors
    /// If the benchmarks differ, an item has two gold answers for one task, or two cells are equal, looked for in this
    /// order.
    pub fn pooled(runs: impl IntoIterator<Item = (Arc<str>, Self)>) -> Result<Self, PoolError> {
        let runs: Vec<(Arc<str>, Self)> = runs.into_iter().collect();
        let benchmark = runs.first().map(|(_, run)| run.benchmark.clone()).unwrap_or_default();
        if let Some((_, other)) = runs.iter().find(|(_, run)| run.benchmark != benchmark) {
            return Err(PoolError::TwoBenchmarks { first: benchmark, other: other.benchmark.clone() });
        }
        check_golds(&runs)?;
        let mut pool = Self { benchmark, ..Self::default() };
        let mut keys = BTreeSet::new();
        let mut known: HashMap<[String; 3], ItemId> = HashMap::new();
        for (name, run) in runs {
            let items: Vec<ItemId> = run.items.into_iter().map(|item| pool.add(item, &mut known)).collect();
            let (first_cell, first_row) = (pool.cells.len(), pool.rows.len());
            for mut cell in run.cells {
                cell.key.configuration = name.clone();
                if !keys.insert(cell.key.clone()) {
                    return Err(PoolError::EqualCells(Box::new(cell.key)));
                }
                pool.cells.push(cell);
            }
            pool.plan.extend(run.plan.into_iter().map(|rows| first_row + rows.start..first_row + rows.end));
            pool.rows.extend(run.rows.into_iter().map(|row| {
                let (cell, item) = (CellId(first_cell + row.cell.0), items[row.item.0]);
                Observation { cell, item, ..row }
            }));
            pool.repeats.extend(run.repeats);
            pool.unplanned += run.unplanned;
        }
        Ok(pool)
    }

    fn add(&mut self, item: ItemFacts, known: &mut HashMap<[String; 3], ItemId>) -> ItemId {
        let key = [&item.id, &item.gold, &item.evidence].map(Clone::clone);
        match known.entry(key) {
            Entry::Occupied(known) => {
                self.items[known.get().0].learn(item.metrics);
                *known.get()
            }
            Entry::Vacant(new) => {
                self.items.push(item);
                *new.insert(ItemId(self.items.len() - 1))
            }
        }
    }

    /// Returns the name of the benchmark.
    pub fn benchmark(&self) -> &str {
        &self.benchmark
    }

    /// Returns every cell, in the order of the runs.
    pub fn cells(&self) -> impl Iterator<Item = (CellId, &Cell)> {
        self.cells.iter().enumerate().map(|(place, cell)| (CellId(place), cell))
    }

    /// Returns every item.
    pub fn items(&self) -> impl Iterator<Item = (ItemId, &ItemFacts)> {
        self.items.iter().enumerate().map(|(place, item)| (ItemId(place), item))
    }

    /// A cell of this table.
    pub fn cell(&self, id: CellId) -> &Cell {
        &self.cells[id.0]
    }

    /// An item of this table.
    pub fn item(&self, id: ItemId) -> &ItemFacts {
        &self.items[id.0]
    }

    /// Finished trials that name no planned one; they are not in the table.
    pub fn unplanned(&self) -> usize {
        self.unplanned
    }

    /// Says more of every item.
    pub fn describe(&mut self, describe: impl FnMut(&mut ItemFacts)) {
        self.items.iter_mut().for_each(describe);
    }

    /// The rows that were asked for: cell by cell, item by item, repeat by repeat.
    pub fn rows<'t, 'r>(&'t self, rows: &'r Rows) -> impl Iterator<Item = &'t Observation> + use<'t, 'r> {
        let cells = self.cells().filter(|(id, _)| rows.has_cell(*id));
        cells.flat_map(move |(id, cell)| {
            let planned = self.rows[self.plan[id.0].clone()].iter();
            planned.filter(move |row| rows.has_item(cell, row.item, self.item(row.item)))
        })
    }

    /// Returns how often the cells that were asked for ask an item, at most.
    pub(super) fn repeats(&self, rows: &Rows) -> u32 {
        let asked = self.cells().filter(|(id, _)| rows.has_cell(*id)).map(|(id, _)| self.repeats[id.0]);
        asked.max().unwrap_or(0)
    }

    /// The metrics that one of the rows has a score under, in their order.
    pub fn metrics(&self, rows: &Rows) -> Vec<MetricName> {
        let names: BTreeSet<&MetricName> = self.rows(rows).flat_map(|row| row.scores.keys()).collect();
        names.into_iter().cloned().collect()
    }

    /// The metric that speaks for these rows: the first by [`MetricName::RANK`] that one of them has; where none has any,
    /// that of the cells which asked for the same kind of answer.
    pub fn main_metric(&self, rows: &Rows) -> Option<MetricName> {
        let main = |rows: &Rows| self.metrics(rows).into_iter().find(|metric| !metric.is_of_context());
        main(rows).or_else(|| {
            let tasks: BTreeSet<Task> = self.rows(rows).map(|row| self.cell(row.cell).key.task).collect();
            let alike = self.cells().filter(|(_, cell)| tasks.contains(&cell.key.task)).map(|(id, _)| id);
            main(&Rows::all().cells(alike))
        })
    }
}

fn check_golds(runs: &[(Arc<str>, Observations)]) -> Result<(), PoolError> {
    let mut golds: HashMap<(Task, &str), &str> = HashMap::new();
    for (_, run) in runs {
        for row in run.rows.iter().filter(|row| row.repeat == 0) {
            let (task, item) = (run.cell(row.cell).key.task, run.item(row.item));
            if *golds.entry((task, &item.id)).or_insert(&item.gold) != item.gold {
                return Err(PoolError::TwoGolds { id: item.id.clone(), task });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Applies;
    use super::super::testing::{cell, done, item};
    use super::*;

    fn table(rows: Vec<Done>) -> Observations {
        Observations::new("bench", vec![cell("m")], &[item("a"), item("b")], 2, rows.into_iter())
    }

    #[test]
    fn a_later_row_of_the_same_trial_replaces_the_earlier_one() {
        let run = table(vec![done("m", "a", 1, Some(0.0)), done("m", "a", 1, Some(1.0))]);
        let scores: Vec<usize> = run.rows(&Rows::all()).map(|row| row.scores.len()).collect();
        assert_eq!(scores, [0, 1, 0, 0]);
        assert_eq!(
            run.rows(&Rows::all()).nth(1).unwrap().scores.values().next(),
            Some(&super::super::Score::Value(1.0))
        );
    }

    #[test]
    fn what_was_not_planned_is_counted_and_left_out() {
        let run = table(vec![done("m", "c", 0, None), done("x", "a", 0, None), done("m", "a", 2, None)]);
        assert_eq!((run.unplanned(), run.rows(&Rows::all()).count()), (3, 4));
        assert!(run.rows(&Rows::all()).all(|row| row.outcome == Ending::Missing));
    }

    #[test]
    fn the_main_metric_of_a_cell_without_scores_is_that_of_its_task() {
        let mut answer = done("m", "a", 0, Some(1.0));
        answer.scores.insert("evidence_recall".into(), super::super::Score::Value(1.0));
        let cells = vec![cell("m"), cell("failed")];
        let run = Observations::new("bench", cells, &[item("a")], 1, [answer].into_iter());
        assert_eq!(run.main_metric(&Rows::of(CellId(1))), Some("f1".into()));
        assert_eq!(run.metrics(&Rows::of(CellId(0))), ["f1", "evidence_recall"].map(MetricName::from));
        assert!(run.metrics(&Rows::of(CellId(1))).is_empty());
    }

    #[test]
    fn runs_of_the_same_cells_need_names() {
        let name = |name: &str| Arc::<str>::from(name);
        let refused = Observations::pooled([(name(""), table(vec![])), (name(""), table(vec![]))]).unwrap_err();
        assert_eq!(refused.to_string(), "two runs hold the same cell, m (p/x): give them different names");
        let pool = Observations::pooled([(name("a"), table(vec![])), (name("b"), table(vec![]))]).unwrap();
        assert_eq!((pool.cells().count(), pool.items().count(), pool.rows(&Rows::all()).count()), (2, 2, 8));
    }
    #[test]
    fn a_metric_applies_to_a_pooled_item_where_it_does_in_some_run() {
        let run = |name: &str, known: &[(&str, Applies)]| {
            let metrics = known.iter().map(|(metric, applies)| ((*metric).into(), *applies)).collect();
            let items = [ItemFacts { metrics, ..item("a") }];
            (Arc::from(name), Observations::new("bench", vec![cell("m")], &items, 1, std::iter::empty()))
        };
        let judged = [("f1", Applies::Not), ("judged_accuracy", Applies::Not)];
        for runs in [
            [run("a", &[("f1", Applies::Once)]), run("b", &judged)],
            [run("a", &judged), run("b", &[("f1", Applies::Once)])],
        ] {
            let pool = Observations::pooled(runs).unwrap();
            let (_, item) = pool.items().next().unwrap();
            assert_eq!(
                [item.applies(&"f1".into()), item.applies(&"judged_accuracy".into())],
                [Applies::Once, Applies::Not]
            );
        }
    }
}
