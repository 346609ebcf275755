//! Sources of a comparison: the cells of a run, or the items of a score file; which of them, by which metrics.

mod choice_error;
mod score_file;
use super::comparison::{Labels, RunComparison, Side, compare};
use crate::cells::{aggregation, metrics_of};
use crate::plan::{Line, lines};
use crate::run::{JudgesByMetric, judges_of, other_judges, other_texts};
use crate::tables::Naming;
use crate::{Arm, Run};
pub use choice_error::ChoiceError;
use closeread_eval::observations::{Cell, CellFacts, CellKey, ItemFacts, MetricName, Observations, PoolError};
use closeread_eval::{Item, Task};
use closeread_table::number::thousands;
use closeread_table::render::text;
pub use score_file::ScoreFileItem;
use score_file::{INCOMPLETE, other_words};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Names that an error lists; there may be thousands.
const MAX_LISTED: usize = 12;

/// A run or a score file.
#[derive(Debug, Clone)]
pub struct Source {
    /// Name of the source in the comparison.
    pub name: String,
    /// Path of the source, or the name again.
    pub path: String,
    table: Observations,
    lines: Vec<Line>,
    is_run: bool,
    /// What a reader must know to read the scores of a log that another tool wrote; `None` of what closeread wrote.
    foreign: Option<Vec<String>>,
    lacks: Vec<String>,
    /// As [`Run::texts`].
    texts: BTreeMap<String, String>,
    judges: JudgesByMetric,
    /// How the text metrics cut Chinese, by the word of a score file; `None` of one that does not say.
    chinese: Option<String>,
}

/// The two sides of a comparison: two sources, or one with itself.
#[derive(Debug, Clone)]
pub struct Two {
    a: Source,
    b: Option<Source>,
}

/// A cell of a run, or a whole score file.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    source: &'a Source,
    line: &'a Line,
}

/// The choice of what to compare. Two values name A's and B's; an empty list leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Choice {
    /// Metrics; empty: all that both have.
    pub metric: Vec<String>,
    /// The method, or A's and B's.
    pub method: Vec<String>,
    /// The model, or A's and B's.
    pub model: Vec<String>,
    /// The token budget, or A's and B's. Of two methods, one without a budget is compared with the other at each.
    pub budget: Vec<usize>,
    /// Labels to break down by; empty: every label with 2 to [`MAX_LABEL_VALUES`](crate::MAX_LABEL_VALUES) values.
    pub by: Vec<String>,
}

/// Two entries and what they say of each other under one metric.
#[derive(Debug, Clone)]
pub struct Compared<'a> {
    /// Entry of A.
    pub a: Entry<'a>,
    /// Entry of B.
    pub b: Entry<'a>,
    /// Comparison of the two entries.
    pub comparison: RunComparison,
}

impl Two {
    /// Two sources, or one with itself. Those of one name are called by where they lie. What a score file does not say of
    /// its items is taken from the other source.
    pub fn new(mut a: Source, mut b: Option<Source>) -> Self {
        if let Some(b) = &mut b {
            if a.name == b.name {
                a.name = a.path.clone();
                b.name = b.path.clone();
            }
            a.learn(b.table.items().map(|(_, item)| item));
            b.learn(a.table.items().map(|(_, item)| item));
        }
        Self { a, b }
    }

    /// Returns the first source.
    pub fn a(&self) -> &Source {
        &self.a
    }

    /// The second source, which may be the first.
    pub fn b(&self) -> &Source {
        self.b.as_ref().unwrap_or(&self.a)
    }

    /// True if one source is compared with itself.
    pub fn same(&self) -> bool {
        self.b.is_none()
    }

    /// Compares every pair of entries that `choice` leaves, under every metric.
    ///
    /// # Errors
    /// [`ChoiceError`] says what there is to choose from.
    pub fn compare(&self, choice: &Choice) -> Result<Vec<Compared<'_>>, ChoiceError> {
        let labels = if choice.by.is_empty() { Labels::All } else { Labels::Named(choice.by.clone()) };
        let mut compared = Vec::new();
        for (a, b) in choice.pairs(self)? {
            let names = self.names(&a, &b);
            for metric in choice.metrics(&a, &b)? {
                let (x, y) = (a.side(&names.0), b.side(&names.1));
                let mut comparison = compare(&x, &y, &metric, &labels);
                comparison.notes.extend(self.lacks());
                comparison.notes.extend(self.notes());
                comparison.notes.extend(self.other_judges(&metric));
                compared.push(Compared { a, b, comparison });
            }
        }
        Ok(compared)
    }

    /// Returns what of the runs is damaged or missing, each with the run's name.
    pub fn lacks(&self) -> Vec<String> {
        let said = |source: &Source, lack: &String| format!("{}: {lack}", source.name);
        let sources = [Some(&self.a), self.b.as_ref()].into_iter().flatten();
        sources.flat_map(|source| source.lacks.iter().map(|lack| said(source, lack))).collect()
    }

    /// Returns what a reader must know to read the scores: of logs that other tools wrote, and of documents whose texts differ.
    pub fn notes(&self) -> Vec<String> {
        let sources = [Some(&self.a), self.b.as_ref()].into_iter().flatten();
        let of_logs = sources.filter_map(|source| source.foreign.clone()).flatten();
        let other_words = other_words([self.a(), self.b()].map(|source| (&*source.name, source.chinese.as_deref())));
        of_logs.chain(other_texts([&self.a().texts, &self.b().texts])).chain(other_words).collect()
    }

    fn other_judges(&self, metric: &MetricName) -> Vec<String> {
        other_judges([metric.name()], &[self.a(), self.b()].map(|source| (source.name.as_str(), &source.judges)))
    }

    /// Returns the names that tell the two apart: the cell in one run, the run where it has one cell, else both.
    fn names(&self, a: &Entry<'_>, b: &Entry<'_>) -> (String, String) {
        let name = |entry: &Entry<'_>, source: &Source| match (self.same(), source.entries().len()) {
            (true, _) => entry.name(),
            (false, 0 | 1) => source.name.clone(),
            (false, _) => format!("{}: {}", source.name, entry.name()),
        };
        (name(a, self.a()), name(b, self.b()))
    }

    /// Returns what `closeread compare --json` prints of `compared`, without its line end.
    pub fn json(&self, compared: &[Compared<'_>]) -> String {
        let row = |one: &Compared<'_>| {
            let mut row = json!({"cell_a": one.a.key(), "cell_b": one.b.key()});
            if let (Some(row), Ok(Value::Object(rest))) = (row.as_object_mut(), serde_json::to_value(&one.comparison)) {
                row.extend(rest);
            }
            row
        };
        let named = |source: &Source| json!({"name": source.name, "path": source.path});
        let rows: Vec<Value> = compared.iter().map(row).collect();
        json!({"a": named(self.a()), "b": named(self.b()), "comparisons": rows}).to_string()
    }
}

impl Source {
    /// A run.
    ///
    /// # Errors
    /// As [`RunView::observations`](crate::RunView::observations).
    pub fn of_run(name: String, path: String, run: &Run) -> Result<Self, PoolError> {
        let table = run.view().observations()?;
        let (lacks, texts, judges) = (run.lacks(), run.texts.clone(), judges_of(&run.judging));
        let chinese = Some("reference".to_owned());
        Ok(Self { name, path, lines: lines(&table), table, is_run: true, foreign: None, lacks, texts, judges, chinese })
    }

    /// Makes it the source of a log that another tool wrote, with notes that a reader must know to read its scores.
    pub fn foreign(self, notes: Vec<String>) -> Self {
        Self { foreign: Some(notes), ..self }
    }

    /// Makes it the source of a score file that says of itself whether it is whole, and how it cut Chinese.
    pub fn saying(mut self, is_complete: bool, chinese: Option<String>) -> Self {
        self.lacks.extend((!is_complete).then(|| INCOMPLETE.to_owned()));
        Self { chinese, ..self }
    }

    /// True if the source has cells, which a score file has not.
    pub fn has_cells(&self) -> bool {
        self.is_run
    }

    /// Returns what of the run is damaged or missing.
    pub fn lacks(&self) -> &[String] {
        &self.lacks
    }

    /// The items of a score file, of which each stands there once; `gold` has what it does not say of them.
    pub fn of_scores(name: String, path: String, scores: &[ScoreFileItem], gold: &[Item]) -> Self {
        let key = CellKey {
            configuration: "".into(),
            method: name.as_str().into(),
            model: "".into(),
            budget: None,
            task: Task::Generative,
        };
        let metrics: BTreeSet<String> = scores.iter().flat_map(|item| item.scores().into_keys()).collect();
        let gold: HashMap<&str, ItemFacts> = gold.iter().map(|item| (item.id.as_str(), item.into())).collect();
        let facts = scores.iter().map(|item| {
            let mut facts = item.facts(&metrics);
            if let Some(item) = gold.get(item.id.as_str()).filter(|_| facts.gold.is_empty()) {
                facts.gold = item.gold.clone();
            }
            facts
        });
        let facts: Vec<ItemFacts> = facts.collect();
        let cell = Cell { key: key.clone(), facts: CellFacts::default() };
        let done = scores.iter().map(|item| item.done(&key));
        let table = Observations::new("", vec![cell], &facts, 1, done);
        let (lacks, texts, judges) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let lines = lines(&table);
        let mut source =
            Self { name, path, lines, table, is_run: false, foreign: None, lacks, texts, judges, chinese: None };
        source.learn(gold.values());
        source
    }

    /// Takes over what it does not know of its items.
    fn learn<'i>(&mut self, items: impl Iterator<Item = &'i ItemFacts>) {
        let known: HashMap<&str, &ItemFacts> = items.map(|item| (item.id.as_str(), item)).collect();
        self.table.describe(|item| {
            let Some(other) = known.get(item.id.as_str()) else { return };
            let agrees = item.gold.is_empty() || item.gold == other.gold;
            if item.documents.is_empty() && agrees {
                item.documents = other.documents.clone();
            }
            if item.labels.is_empty() && agrees {
                item.labels = other.labels.clone();
            }
        });
    }

    /// Returns the cells of a run, or the source itself as one entry.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        self.lines.iter().map(|line| Entry { source: self, line }).collect()
    }

    fn entry_names(&self) -> Vec<String> {
        self.entries().iter().map(Entry::name).collect()
    }
}

impl Choice {
    /// Holds the values to one, or A's and B's; [`Two::compare`] does as well, once both sides were read.
    ///
    /// # Errors
    /// [`ChoiceError::Values`].
    pub fn check(&self) -> Result<(), ChoiceError> {
        let counts = [("method", self.method.len()), ("model", self.model.len()), ("budget", self.budget.len())];
        match counts.into_iter().find(|(_, n)| *n > 2) {
            Some((name, n)) => Err(ChoiceError::Values { name, n }),
            None => Ok(()),
        }
    }

    /// The entries to compare: those that agree in whatever was not told apart by two values.
    fn pairs<'a>(&self, sources: &'a Two) -> Result<Vec<(Entry<'a>, Entry<'a>)>, ChoiceError> {
        self.check()?;
        let chosen = |source: &'a Source, side: usize| {
            let entries: Vec<Entry<'a>> =
                source.entries().into_iter().filter(|entry| self.leaves(entry, side)).collect();
            match entries.is_empty() {
                true => Err(ChoiceError::NoCell { path: source.path.clone(), cells: source.entry_names() }),
                false => Ok(entries),
            }
        };
        let (a, b) = (chosen(sources.a(), 0)?, chosen(sources.b(), 1)?);
        let names = |entries: &[Entry<'_>]| entries.iter().map(Entry::name).collect::<Vec<_>>();
        if let ([one], [other]) = (a.as_slice(), b.as_slice()) {
            if sources.same() && one.key() == other.key() {
                return Err(ChoiceError::OneCell { cell: one.name() });
            }
            return Ok(vec![(*one, *other)]);
        }
        let two = [self.method.len() == 2, self.model.len() == 2, self.budget.len() == 2];
        if sources.same() && two == [false; 3] {
            return Err(ChoiceError::OneRun { cells: names(&a) });
        }
        let agree = |of_x: &Entry<'_>, of_y: &Entry<'_>| match (of_x.key(), of_y.key()) {
            (Some(x), Some(y)) => {
                let has_none = two[0] && (of_x.takes_no_budget() || of_y.takes_no_budget());
                let same_budget = two[2] || has_none || x.budget == y.budget;
                (two[0] || x.method == y.method) && (two[1] || x.model == y.model) && same_budget
            }
            _ => false,
        };
        let pairs: Vec<_> = a.iter().flat_map(|x| b.iter().filter(|y| agree(x, y)).map(|y| (*x, *y))).collect();
        match pairs.is_empty() {
            true => Err(ChoiceError::NoCommonCell { a: names(&a), b: names(&b) }),
            false => Ok(pairs),
        }
    }

    fn leaves(&self, entry: &Entry<'_>, side: usize) -> bool {
        fn of<T>(values: &[T], side: usize) -> Option<&T> {
            values.get(side.min(values.len().saturating_sub(1)))
        }
        let Some(key) = entry.key() else { return true };
        // Options name our cells: a log of one cell has nothing to choose from.
        if entry.source.foreign.is_some() && entry.source.lines.len() == 1 {
            return true;
        }
        of(&self.method, side).is_none_or(|method| *method == key.method)
            && of(&self.model, side).is_none_or(|model| *model == key.model)
            && of(&self.budget, side)
                .is_none_or(|budget| Some(*budget) == key.budget || (self.method.len() == 2 && entry.takes_no_budget()))
    }

    /// The metrics that were asked for, or all that both have.
    fn metrics(&self, a: &Entry<'_>, b: &Entry<'_>) -> Result<Vec<MetricName>, ChoiceError> {
        let (of_a, of_b) = (a.metrics(), b.metrics());
        let common: Vec<MetricName> = of_a.iter().filter(|metric| of_b.contains(metric)).cloned().collect();
        let names = |metrics: &[MetricName]| metrics.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut asked: Vec<MetricName> = Vec::new();
        for metric in &self.metric {
            // A list cuts a name with a comma, such as `exact_match,strict-match`, in two.
            let joined = |begin: &MetricName| MetricName::from(format!("{begin},{metric}"));
            let whole = asked.last().map(joined).filter(|whole| common.contains(whole));
            asked.truncate(asked.len() - usize::from(whole.is_some()));
            asked.push(whole.unwrap_or_else(|| metric.as_str().into()));
        }
        if let Some(unknown) = asked.iter().find(|metric| !common.contains(metric)) {
            return Err(ChoiceError::UnknownMetric { metric: unknown.to_string(), known: names(&common) });
        }
        if common.is_empty() {
            return Err(ChoiceError::NoCommonMetric { a: listed(&names(&of_a)), b: listed(&names(&of_b)) });
        }
        Ok(if asked.is_empty() { common } else { asked })
    }
}

impl<'a> Entry<'a> {
    /// The cell; `None` for a score file.
    pub fn key(&self) -> Option<&'a Arm> {
        self.source.is_run.then_some(&self.line.key.arm)
    }

    /// Returns the entry's name, `dos-rag at 1,500 (openai/gpt-4o)`; a score file has its own name.
    pub fn name(&self) -> String {
        if !self.source.is_run {
            return self.source.name.clone();
        }
        Naming::of(self.source.lines.iter().map(|line| &line.key)).full_name(&self.line.key)
    }

    /// True if no cell of the method has a budget.
    fn takes_no_budget(&self) -> bool {
        let mine = |line: &&Line| line.key.arm.method == self.line.key.arm.method;
        self.source.lines.iter().filter(mine).all(|line| line.key.arm.budget.is_none())
    }

    fn metrics(&self) -> Vec<MetricName> {
        let (table, rows) = (&self.source.table, self.line.rows());
        let has = |metric: &MetricName| table.aggregate(&rows, &aggregation(metric)).estimate.is_some();
        metrics_of(table, &rows).into_iter().filter(has).collect()
    }

    fn side(&self, name: &str) -> Side<'a> {
        Side { name: name.to_owned(), table: &self.source.table, rows: self.line.rows() }
    }
}

/// Lists the first of many names, and how many there are beyond; `none` of none.
pub fn listed(ids: &[String]) -> String {
    if ids.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = ids.iter().take(MAX_LISTED).map(|id| text::plain(id)).collect();
    let more = ids.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!(" and {} more", thousands(more as u64)) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
