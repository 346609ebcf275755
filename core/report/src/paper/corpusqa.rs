//! CorpusQA (sections 4.1 to 4.5, Tables 3 to 5): questions over whole collections, by length set and domain.

use super::configurations::{Configuration, configurations};
use super::grid::{Grid, Number, Place, average};
use super::tabulate::{HUMAN, NO_SCORE, main_metric, policy_note, stands_under, values, without_judge};
use crate::PASSAGES;
use closeread_eval::observations::{
    Aggregation, CellId, CellKey, Counting, Ending, FailurePolicy, ItemFacts, ItemId, Observation, Observations, Rows,
    Treatment,
};
use closeread_judges::JUDGED_ACCURACY;
use closeread_table::number::thousands;
use closeread_table::{Table, Value};
use std::collections::BTreeSet;

/// Domains in the order of Table 3, as ids and labels begin, with the paper's heads.
const DOMAINS: [(&str, &str); 4] = [
    ("financial_zh", "Financial-zh"),
    ("financial_en", "Financial-en"),
    ("education_en", "Education-en"),
    ("real_estate_en", "Real Estate-en"),
];
/// Length sets in order, as labels may write them.
const LENGTH_SETS: [&str; 8] = ["set1", "set2", "set3", "set4", "128K", "1M", "4M", "10M"];
/// The sets of the published files, with their lengths.
const PUBLISHED_SETS: [(&str, &str); 4] = [("set1", "128K"), ("set2", "1M"), ("set3", "4M"), ("set4", "10M")];
/// Difficulties in order, as labels may write them.
const DIFFICULTIES: [&str; 6] = ["easy", "Easy", "medium", "Medium", "hard", "Hard"];
/// Minutes after which a question put to a person counts as timed out (section 4.5).
const TIME_LIMIT_MINUTES: f64 = 90.0;
/// Mark of a number where fewer chunks than documents were retrieved (Table 4).
const DAGGER: &str = "†";

/// Methods of Table 4, with what its rows begin with.
const READERS: [(&str, &str); 2] = [("memory-agent", "Memory Agent"), ("corpus-rag", "RAG")];

/// The paper's tables for these trials; those for which the trials carry nothing are left out. Each stands twice: with
/// failures left out, as the paper and its authors' script have it, and with failures as wrong.
pub fn tables(trials: &Observations) -> Vec<Table> {
    let Some(metric) = main_metric(trials, &Rows::all(), JUDGED_ACCURACY) else { return Vec::new() };
    let of_policy = |policy| {
        // The authors' script counts a judge's call that failed as wrong.
        let counting = Counting { unjudged: Treatment::Zero, ..Counting::default() };
        let by = Aggregation { policy, counting, ..Aggregation::new(metric.clone()) };
        CorpusQa { trials, by, configurations: configurations(trials) }
    };
    let papers = [FailurePolicy::LeftOut, FailurePolicy::Wrong].map(of_policy);
    let [_, wrong] = &papers;
    let both =
        papers.iter().flat_map(|paper| [paper.table_3(), paper.table_4(), paper.figure_4(), paper.by_difficulty()]);
    both.chain([wrong.table_5()]).flatten().collect()
}

/// The data that the tables are made from.
struct CorpusQa<'a> {
    trials: &'a Observations,
    by: Aggregation,
    configurations: Vec<Configuration<'a>>,
}

/// The domain of an item: its label, or what its id begins with (the authors' script).
fn domain(item: &ItemFacts) -> Option<&str> {
    let by_id = || DOMAINS.into_iter().map(|(domain, _)| domain).find(|domain| item.id.starts_with(domain));
    item.label("domain").or_else(by_id)
}

fn length_set(item: &ItemFacts) -> Option<&str> {
    item.label("length_set")
}

/// The length of a set as Table 5 names it; a label that is none of the published files' stands as it is.
fn context(set: Option<&str>) -> &str {
    let set = set.unwrap_or("-");
    PUBLISHED_SETS.iter().find(|(label, _)| *label == set).map_or(set, |(_, length)| length)
}

/// The set as Tables 3 and 4 name it: `Set1 (128K)`.
fn named(set: Option<&str>) -> String {
    match (set.and_then(|set| set.strip_prefix("set")), context(set)) {
        (Some(number), length) if Some(length) != set => format!("Set{number} ({length})"),
        (_, name) => name.to_owned(),
    }
}

/// Returns whether a person answered too late or not at all (section 4.5).
fn is_time_out(row: &Observation) -> bool {
    row.outcome != Ending::Answered || row.spent.seconds / 60.0 > TIME_LIMIT_MINUTES
}

impl<'a> CorpusQa<'a> {
    fn mean(&self, rows: &Rows) -> Place {
        if !stands_under(self.trials.rows(rows), &self.by.metric) {
            return Err(NO_SCORE);
        }
        let estimate = self.trials.aggregate(rows, &self.by).estimate.ok_or("no item counted")?;
        Ok(Number::new(100.0 * estimate.value, estimate.n))
    }

    /// The rows of a cell about these items.
    fn about(&self, cell: CellId, keep: impl Fn(&ItemFacts) -> bool) -> Rows {
        let items: Vec<ItemId> = self.trials.items().filter(|(_, item)| keep(item)).map(|(id, _)| id).collect();
        Rows::of(cell).items(items)
    }

    fn is_planned(&self, rows: &Rows) -> bool {
        self.trials.rows(rows).next().is_some()
    }

    /// Domains that occur, the paper's in its order first.
    fn domains(&self) -> Vec<&'a str> {
        let mut domains: Vec<&str> = self.trials.items().filter_map(|(_, item)| domain(item)).collect();
        let rank = |name: &str| DOMAINS.iter().position(|(known, _)| *known == name).unwrap_or(DOMAINS.len());
        domains.sort_by_key(|name| (rank(name), *name));
        domains.dedup();
        domains
    }

    /// The length sets that occur; one for everything where no item has the label.
    fn length_sets(&self) -> Vec<Option<String>> {
        let sets: Vec<Option<String>> = values(self.trials, "length_set", &LENGTH_SETS).into_iter().map(Some).collect();
        if sets.is_empty() { vec![None] } else { sets }
    }

    /// The domains' numbers of a cell, their unweighted mean (the paper's overall), and correct over total (the overall
    /// of its script, and of one row of Table 4).
    fn accuracies(&self, cell: CellId, set: Option<&str>) -> Vec<Place> {
        let in_set = |item: &ItemFacts| length_set(item) == set;
        let of = |name: &str| self.mean(&self.about(cell, |item| in_set(item) && domain(item) == Some(name)));
        let mut places: Vec<Place> = self.domains().into_iter().map(of).collect();
        places.push(average(places.iter().copied()).map_err(|_| "no domain has a number"));
        places.push(self.mean(&self.about(cell, in_set)));
        places
    }

    /// True if a trial retrieved something, and fewer chunks than there are documents (Table 4).
    fn cannot_be_complete(&self, rows: &Rows) -> bool {
        self.trials.rows(rows).any(|row| {
            let chunks = row.measures.get(PASSAGES).map_or(0, |n| *n as usize);
            chunks > 0 && chunks < self.trials.item(row.item).documents.len()
        })
    }

    fn grid(&self, id: &str, title: &str, source: &str, heads: &[&str], columns: Vec<String>) -> Grid {
        let (suffix, said) = match self.by.policy {
            FailurePolicy::LeftOut => ("", ""),
            FailurePolicy::Wrong => ("-wrong", ", failures as wrong"),
        };
        Grid::new(&format!("{id}{suffix}"), &format!("{title}{said}, %"), source, heads, columns).decimals(2)
    }

    fn noted(&self, grid: Grid) -> Option<Table> {
        let judge = "an answer that no judge judged counts as wrong".to_owned();
        let judge = without_judge(&self.by.metric).unwrap_or(judge);
        grid.note(policy_note(self.by.policy)).note(judge).finished()
    }

    fn columns(&self) -> Vec<String> {
        let overall = ["Overall (mean of domains)", "correct over total"];
        let head = |name| DOMAINS.iter().find(|(known, _)| *known == name).map_or(name, |(_, head)| *head);
        self.domains().into_iter().map(head).chain(overall).map(str::to_owned).collect()
    }

    fn table_3(&self) -> Option<Table> {
        let title = "Accuracy of the whole collection in the prompt, by length set and domain";
        let mut grid = self.grid("corpusqa-table-3", title, "CorpusQA, Table 3", &["Set", "Model"], self.columns());
        for set in self.length_sets() {
            for of in &self.configurations {
                for (cell, _) in of.cells.iter().filter(|(_, key)| &*key.method == "full-document") {
                    if self.is_planned(&self.about(*cell, |item| length_set(item) == set.as_deref())) {
                        let heads = [named(set.as_deref()), of.name.clone()].map(Value::text);
                        grid.row(heads, self.accuracies(*cell, set.as_deref()));
                    }
                }
            }
        }
        self.noted(grid)
    }

    fn table_4(&self) -> Option<Table> {
        let title = "Accuracy of memory agent and retrieval, by length set and domain";
        let heads = ["Set", "Method", "Budget"];
        let mut grid = self.grid("corpusqa-table-4", title, "CorpusQA, Table 4", &heads, self.columns());
        let mut incomplete = false;
        for set in self.length_sets() {
            for (of, cell, key, name) in self.readers() {
                let in_set = |item: &ItemFacts| length_set(item) == set.as_deref();
                if !self.is_planned(&self.about(cell, in_set)) {
                    continue;
                }
                let budget = key.budget.map_or_else(String::new, |budget| thousands(budget as u64));
                let heads = [named(set.as_deref()), format!("{name} - {}", of.name), budget].map(Value::text);
                grid.row(heads, self.accuracies(cell, set.as_deref()));
                for (column, domain_name) in self.domains().into_iter().enumerate() {
                    let rows = self.about(cell, |item| in_set(item) && domain(item) == Some(domain_name));
                    if key.method.as_ref() == "corpus-rag" && self.cannot_be_complete(&rows) {
                        grid.sign_last(column, DAGGER);
                        incomplete = true;
                    }
                }
            }
        }
        let note = format!("{DAGGER} fewer chunks than documents in some trials: they cannot be complete");
        self.noted(if incomplete { grid.note(note) } else { grid })
    }

    /// Table 4's cells: by configuration, the memory agent before retrieval, budgets ascending.
    fn readers(&self) -> Vec<(&Configuration<'a>, CellId, &'a CellKey, &'static str)> {
        let mut found = Vec::new();
        for of in &self.configurations {
            for (method, name) in READERS {
                let mut cells: Vec<_> = of.cells.iter().filter(|(_, key)| &*key.method == method).collect();
                cells.sort_by_key(|(_, key)| key.budget);
                found.extend(cells.into_iter().map(|(cell, key)| (of, *cell, *key, name)));
            }
        }
        found
    }

    /// Accuracy by difficulty, over all sets and domains.
    fn by_difficulty(&self) -> Option<Table> {
        let difficulties = values(self.trials, "difficulty", &DIFFICULTIES);
        let heads = ["Model", "Method", "Budget"];
        let title = "Accuracy by difficulty";
        let source = "CorpusQA, appendix B";
        let mut grid = self.grid("corpusqa-difficulty", title, source, &heads, difficulties.clone());
        for of in &self.configurations {
            let whole = of.cells.iter().filter(|(_, key)| &*key.method == "full-document");
            let whole = whole.map(|(cell, key)| (*cell, *key));
            let readers = self.readers().into_iter().filter(|(owner, ..)| std::ptr::eq(*owner, of));
            for (cell, key) in whole.chain(readers.map(|(_, cell, key, _)| (cell, key))) {
                let budget = key.budget.map_or_else(String::new, |budget| thousands(budget as u64));
                let heads = [of.name.clone(), key.method.to_string(), budget].map(Value::text);
                let of_value =
                    |value: &String| self.mean(&self.about(cell, |item| item.label("difficulty") == Some(value)));
                grid.row(heads, difficulties.iter().map(of_value));
            }
        }
        self.noted(grid)
    }

    /// Table 5: people, the model alone and the memory agent on the items that people were given.
    ///
    /// Inferred: minutes are over finished questions, since the printed 31.9 minutes with a third timed out would leave 3
    /// minutes for the others otherwise, and the limit binds people alone, since a model has 120.7 minutes without one.
    fn table_5(&self) -> Option<Table> {
        let is_human = |key: &CellKey| [&*key.model, &*key.method].contains(&HUMAN);
        let cells: Vec<(&Configuration<'_>, CellId, &CellKey)> = self
            .configurations
            .iter()
            .flat_map(|of| of.cells.iter().map(move |(cell, key)| (of, *cell, *key)))
            .collect();
        let people: Vec<CellId> = cells.iter().filter(|(.., key)| is_human(key)).map(|(_, cell, _)| *cell).collect();
        let columns = ["Acc., %", "minutes", "time-outs, %"];
        let title = "People, the model alone and the memory agent on the drawn questions";
        let heads = ["Context", "Method"];
        let mut grid = Grid::new("corpusqa-table-5", title, "CorpusQA, Table 5", &heads, columns);
        let n_models = self.configurations.len().saturating_sub(usize::from(!people.is_empty()));
        for set in self.length_sets() {
            let head = |name: String| [Value::text(context(set.as_deref())), Value::text(name)];
            let in_set = |row: &&Observation| length_set(self.trials.item(row.item)) == set.as_deref();
            let all = Rows::all().cells(people.iter().copied());
            let asked: Vec<&Observation> = self.trials.rows(&all).filter(in_set).collect();
            if asked.is_empty() {
                continue;
            }
            grid.row(head("Human".to_owned()), self.people(&asked));
            let drawn: BTreeSet<ItemId> = asked.iter().map(|row| row.item).collect();
            for (method, role) in [("full-document", "Base LLM"), ("memory-agent", "Memory Agent")] {
                for (of, cell, _) in cells.iter().filter(|(.., key)| &*key.method == method && !is_human(key)) {
                    let name = if n_models > 1 { format!("{role} ({})", of.name) } else { role.to_owned() };
                    match self.model(&Rows::of(*cell).items(drawn.iter().copied())) {
                        Ok(places) => grid.row(head(name), places),
                        Err(reason) => grid.spanning_row(head(name), Err(reason), String::new()),
                    }
                }
            }
        }
        let note = "a question answered after more than 90 minutes or not at all is a time-out of a person, and wrong; \
                    minutes: mean over those finished";
        grid.note(note).finished()
    }

    fn people(&self, asked: &[&Observation]) -> Vec<Place> {
        let n = asked.len();
        let score = |row: &&Observation| {
            let score = row.scores.get(&self.by.metric).and_then(|score| score.value(&self.by.metric));
            if is_time_out(row) { 0.0 } else { score.unwrap_or(0.0) }
        };
        let share = |sum: f64| Ok(Number::new(100.0 * sum / n as f64, n));
        let is_judged = stands_under(asked.iter().copied(), &self.by.metric);
        let accuracy = if is_judged { share(asked.iter().map(score).sum()) } else { Err(NO_SCORE) };
        let finished: Vec<f64> =
            asked.iter().filter(|row| !is_time_out(row)).map(|row| row.spent.seconds / 60.0).collect();
        let late = n - finished.len();
        vec![accuracy, minutes(&finished, "all timed out"), share(late as f64)]
    }

    /// The cells of a model, or why it has none.
    fn model(&self, rows: &Rows) -> Result<Vec<Place>, &'static str> {
        let trials: Vec<&Observation> = self.trials.rows(rows).collect();
        if !trials.is_empty() && trials.iter().all(|row| row.outcome == Ending::Overflow) {
            return Err("context limit exceeded");
        }
        let ended = |row: &&&Observation| {
            !matches!(row.outcome, Ending::Missing | Ending::Failed | Ending::Blocked | Ending::Overflow)
        };
        let times: Vec<f64> = trials.iter().filter(ended).map(|row| row.spent.seconds / 60.0).collect();
        let accuracy = self.mean(rows);
        Ok(vec![accuracy, minutes(&times, "no trial ended"), accuracy.map(|number| Number { value: 0.0, ..number })])
    }
}

fn minutes(times: &[f64], otherwise: &'static str) -> Place {
    match times.len() {
        0 => Err(otherwise),
        n => Ok(Number::new(times.iter().sum::<f64>() / n as f64, n)),
    }
}

mod figures;

pub use figures::figure_3;

#[cfg(test)]
mod tests;
