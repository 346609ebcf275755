//! "Stronger Baselines" (DOS RAG; sections 3 and 4, Tables 1 to 5, Figures 1 and 3 to 6): scores over the token budget,
//! with their spread over repeats.

use super::configurations::{Configuration, configurations};
use super::grid::{Better, Grid, Number, Place};
use super::tabulate::{main_metric, policy_note, unjudged, values};
use closeread_eval::Task;
use closeread_eval::observations::{
    Aggregation, CellId, CellKey, Counting, FailurePolicy, ItemFacts, MetricName, NotFoundAs, Observations, Rows,
    Treatment, Weighting,
};
use closeread_table::number::{self, metric_label, thousands};
use closeread_table::{Group, Table, Value};

/// The paper's methods with its names of them, in the order of its tables.
const METHODS: [(&str, &str); 5] = [
    ("vanilla-rag", "Vanilla RAG"),
    ("dos-rag", "DOS RAG"),
    ("raptor", "RAPTOR"),
    ("read-agent", "ReadAgent"),
    ("full-document", "Full Document"),
];
/// The metrics of Table 5, in its order; of the two F1 the paper's is the first.
const METRICS: [&str; 6] = ["f1_v2", "f1", "bleu_1", "bleu_4", "rougeL", "meteor"];
/// F1 as the paper's code computes it.
const F1_OF_PAPER: &str = METRICS[0];
/// The label by which QuALITY's questions stand apart.
const DIFFICULTY: &str = "difficulty";
/// Head over the budgets in Tables 1 to 4.
const HEAD: &str = "Maximum Retrieval Token Budget";
/// Entry that stands for the budget of methods without one.
const ALL_BUDGETS: &str = "all";

/// Counting where words are scored (NarrativeQA): "not found" is scored as text and empty answers are left out, as in
/// the authors' code.
const OF_WORDS: Counting = Counting {
    not_found: NotFoundAs::AsText,
    unparsed: Treatment::Zero,
    unjudged: Treatment::Out,
    empty: Treatment::Out,
};

/// The paper's tables and figures for these trials, a set for each configuration; nothing if no method has a budget.
pub fn tables(trials: &Observations) -> Vec<Table> {
    if trials.cells().all(|(_, cell)| cell.key.budget.is_none()) {
        return Vec::new();
    }
    let configurations = configurations(trials);
    let several = configurations.len() > 1;
    let of = |configuration| {
        let metrics = metrics(trials, configuration);
        StrongerBaselines { trials, configuration, several, metrics }.tables()
    };
    configurations.iter().flat_map(of).collect()
}

/// The readers of the paper, which has tables of its own for each.
enum Reader {
    Gpt4oMini,
    Gpt4o,
    Other,
}

impl Reader {
    fn of(model: &str) -> Self {
        match model.rsplit('/').next() {
            Some(name) if name.starts_with("gpt-4o-mini") => Self::Gpt4oMini,
            Some(name) if name == "gpt-4o" || name.starts_with("gpt-4o-20") => Self::Gpt4o,
            _ => Self::Other,
        }
    }
}

/// The data that the tables of a configuration are made from.
struct StrongerBaselines<'a> {
    trials: &'a Observations,
    configuration: &'a Configuration<'a>,
    several: bool,
    metrics: Vec<MetricName>,
}

/// The metric that speaks for each kind of question; the paper's benchmarks have one each.
fn metrics(trials: &Observations, of: &Configuration<'_>) -> Vec<MetricName> {
    let mut found: Vec<MetricName> = Vec::new();
    for (_, key) in &of.cells {
        let cells = of.cells.iter().filter(|(_, other)| other.task == key.task);
        let rows = Rows::all().cells(cells.map(|(id, _)| *id));
        let has_own = trials.metrics(&rows).contains(&F1_OF_PAPER.into());
        let of_paper = |main: MetricName| if has_own && main.name() == "f1" { F1_OF_PAPER.into() } else { main };
        let otherwise = if key.task == Task::Choice { "accuracy" } else { F1_OF_PAPER };
        let metric = main_metric(trials, &rows, otherwise).map(of_paper);
        found.extend(metric.filter(|metric| !found.contains(metric)));
    }
    found
}

impl StrongerBaselines<'_> {
    fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.table_5()];
        // The authors' code leaves failed calls out; the other reading stands beside it.
        let policies = [FailurePolicy::LeftOut, FailurePolicy::Wrong];
        for (policy, metric) in
            policies.into_iter().flat_map(|policy| self.metrics.iter().map(move |metric| (policy, metric)))
        {
            let counting = if metric.name().contains("accuracy") { Counting::default() } else { OF_WORDS };
            let by = Aggregation { policy, counting, ..Aggregation::new(metric.clone()) };
            tables.push(self.by_budget(&by, None));
            for value in values(self.trials, DIFFICULTY, &["hard"]) {
                tables.push(self.by_budget(&by, Some(&value)));
            }
            tables.push(self.over_tokens(&by));
        }
        tables.into_iter().flatten().collect()
    }

    /// The cells by method, the paper's in its order first, and budget.
    fn cells(&self) -> Vec<(CellId, &CellKey)> {
        let mut cells = self.configuration.cells.clone();
        let rank = |method: &str| METHODS.iter().position(|(known, _)| *known == method).unwrap_or(METHODS.len());
        cells.sort_by_key(|(_, key)| (rank(&key.method), key.method.clone(), key.budget));
        cells
    }

    fn rows(&self) -> Rows {
        Rows::all().cells(self.configuration.cells.iter().map(|(id, _)| *id))
    }

    fn budgets(&self) -> Vec<usize> {
        let mut budgets: Vec<usize> = self.configuration.cells.iter().filter_map(|(_, key)| key.budget).collect();
        budgets.sort_unstable();
        budgets.dedup();
        budgets
    }

    /// Returns what the paper prints of the benchmark, its tables and its figures: of one of its two readers that reader's.
    fn source(&self) -> (&'static str, &'static str) {
        match (self.trials.benchmark(), Reader::of(self.configuration.model)) {
            ("infinitebench", Reader::Gpt4oMini) => ("Stronger Baselines, Table 1", "Stronger Baselines, Figure 5"),
            ("infinitebench", Reader::Gpt4o) => ("Stronger Baselines, Table 2", "Stronger Baselines, Figures 1 and 5"),
            ("infinitebench", _) => ("Stronger Baselines, Tables 1 and 2", "Stronger Baselines, Figures 1 and 5"),
            ("quality", Reader::Gpt4oMini) => ("Stronger Baselines, Table 3", "Stronger Baselines, Figure 6"),
            ("quality", Reader::Gpt4o) => ("Stronger Baselines, Table 4", "Stronger Baselines, Figure 3"),
            ("quality", _) => ("Stronger Baselines, Tables 3 and 4", "Stronger Baselines, Figures 3 and 6"),
            ("narrativeqa", _) => ("Stronger Baselines, Table 5", "Stronger Baselines, Figure 4"),
            _ => ("Stronger Baselines, Tables 1 to 4", "Stronger Baselines, Figures 1 and 3 to 6"),
        }
    }

    fn named(&self, title: &str) -> String {
        if self.several { format!("{title}: {}", self.configuration.name) } else { title.to_owned() }
    }

    /// Makes an id, which tells configurations and metrics apart by their names.
    fn id(&self, id: &str, metric: Option<&MetricName>) -> String {
        let metric = metric.filter(|_| self.metrics.len() > 1).map(MetricName::name);
        let names = metric.into_iter().chain(self.several.then_some(self.configuration.name.as_str()));
        let plain = |name: &str| name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect::<String>();
        names.fold(id.to_owned(), |id, name| format!("{id}-{}", plain(name)))
    }

    /// The mean over the repeats of each repeat's mean, with the sample deviation; n counts repeats. Of one repeat it is the
    /// mean over its items, with n 1.
    fn over_repeats(&self, rows: &Rows, by: &Aggregation) -> Place {
        let made = self.trials.aggregate(rows, by);
        if made.planned() == 0 {
            return Err("no items");
        }
        match (made.repeats, made.estimate) {
            (Some(over), _) => {
                let percent = |value: f64| 100.0 * value;
                let mean = over.mean.ok_or("all left out")?;
                Ok(Number { value: percent(mean), sd: over.sd.map(percent), n: over.n })
            }
            (None, Some(estimate)) => Ok(Number::new(100.0 * estimate.value, 1)),
            (None, None) => Err("all left out"),
        }
    }

    /// Tables 1 to 4: a row a method, a column a budget; a method without a budget has one cell over all columns, with its
    /// mean tokens.
    fn by_budget(&self, by: &Aggregation, difficulty: Option<&str>) -> Option<Table> {
        let (suffix, said) = said_of(by.policy);
        let apart = difficulty.map_or_else(String::new, |value| format!("-{}", value.replace(' ', "-")));
        let only = difficulty.map_or_else(String::new, |value| format!(", {value} items"));
        let title =
            format!("{} over the token budget{only}{said}, mean ± deviation over repeats, %", leading(&by.metric));
        let budgets = self.budgets();
        let columns = budgets.iter().map(|budget| thousands(*budget as u64));
        let id = self.id(&format!("stronger-baselines-budgets{apart}{suffix}"), Some(&by.metric));
        let source = self.source().0;
        let mut grid = Grid::new(&id, &self.named(&title), source, &["Method"], columns);
        let in_group = |item: &ItemFacts| difficulty.is_none_or(|value| item.label(DIFFICULTY) == Some(value));
        let items: Vec<_> = self.trials.items().filter(|(_, item)| in_group(item)).map(|(id, _)| id).collect();
        let cells = self.cells();
        let mut methods: Vec<&str> = cells.iter().map(|(_, key)| &*key.method).collect();
        methods.dedup();
        let rows_of = |method: &str, budget: Option<usize>| {
            let own = cells.iter().filter(|(_, key)| &*key.method == method && key.budget == budget);
            let own: Vec<CellId> = own.map(|(id, _)| *id).collect();
            (!own.is_empty()).then(|| Rows::all().cells(own).items(items.iter().copied()))
        };
        for method in methods {
            let place = |budget| match rows_of(method, budget) {
                None => Err("not run"),
                Some(rows) => self.over_repeats(&rows, by),
            };
            if budgets.iter().any(|budget| rows_of(method, Some(*budget)).is_some()) {
                grid.row([Value::text(printed(method))], budgets.iter().map(|budget| place(Some(*budget))));
            }
            if let Some(rows) = rows_of(method, None) {
                let tokens = self.tokens(&rows).map_or_else(
                    |reason| format!("Avg. Tokens: {reason}"),
                    |mean| format!("Avg. Tokens: {}", in_thousands(mean.value)),
                );
                grid.spanning_row([Value::text(printed(method))], place(None), tokens);
            }
        }
        let waiting = unjudged(self.trials, &self.rows().items(items.iter().copied()), &by.metric);
        let grid = grid.grouped([HEAD], budgets.len());
        let grid = grid.mark_best().note(policy_note(by.policy)).note("best of all in bold; n counts repeats");
        waiting.into_iter().fold(grid, Grid::note).finished()
    }

    /// Figures 1 and 3 to 6: the same over the tokens that were spent.
    fn over_tokens(&self, by: &Aggregation) -> Option<Table> {
        let (suffix, said) = said_of(by.policy);
        let title = format!("{} over the tokens spent{said}, %", leading(&by.metric));
        let source = self.source().1;
        let heads = ["Method", "Budget"];
        let columns = ["mean tokens".to_owned(), label(&by.metric)];
        let id = self.id(&format!("stronger-baselines-tokens{suffix}"), Some(&by.metric));
        let mut grid = Grid::new(&id, &self.named(&title), source, &heads, columns);
        for (cell, key) in self.cells() {
            let rows = Rows::of(cell);
            let score = self.over_repeats(&rows, by);
            if score.is_ok() {
                grid.row(heads_of(key), [self.tokens(&rows), score]);
            }
        }
        let waiting = unjudged(self.trials, &self.rows(), &by.metric);
        waiting.into_iter().fold(grid.note("tokens: mean over all trials that made a prompt"), Grid::note).finished()
    }

    /// Mean tokens of a trial's prompts, in which no metric has a say; n counts the trials that were planned.
    fn tokens(&self, rows: &Rows) -> Place {
        let made = self.trials.aggregate(rows, &Aggregation::new(self.metrics[0].clone()));
        Ok(Number::new(made.tokens.ok_or("no prompt was made")?, made.planned()))
    }

    /// Table 5: BLEU of the corpus, the others as means of the trials.
    fn table_5(&self) -> Option<Table> {
        let all = self.trials.metrics(&self.rows());
        let has_own = all.contains(&F1_OF_PAPER.into());
        let metrics = METRICS.into_iter().filter(|name| !(has_own && *name == "f1")).map(MetricName::from);
        let metrics: Vec<MetricName> = metrics.filter(|name| all.contains(name)).collect();
        if metrics.len() < 2 {
            return None;
        }
        let of_paper = |metric: &MetricName| if metric.name() == F1_OF_PAPER { "F1".to_owned() } else { label(metric) };
        let columns = ["Avg. Tokens".to_owned()].into_iter().chain(metrics.iter().map(of_paper));
        let title = self.named("All metrics, %");
        let heads = ["Method", "Budget"];
        let id = self.id("stronger-baselines-table-5", None);
        let mut grid = Grid::new(&id, &title, "Stronger Baselines, Table 5", &heads, columns);
        for (cell, key) in self.cells() {
            let rows = Rows::of(cell);
            let score = |metric: &MetricName| {
                let weighting = if metric.name().starts_with("bleu") { Weighting::Pooled } else { Weighting::Item };
                let policy = FailurePolicy::LeftOut;
                let by = Aggregation { policy, counting: OF_WORDS, weighting, ..Aggregation::new(metric.clone()) };
                let made = self.trials.aggregate(&rows, &by);
                Ok(Number::new(100.0 * made.estimate.ok_or("all left out")?.value, made.counted))
            };
            grid.row(heads_of(key), [self.tokens(&rows)].into_iter().chain(metrics.iter().map(score)));
        }
        let grid = grid.mark_columns_from(1, Better::Higher, false);
        let note = "failures and empty answers are left out, \"not found\" is scored as text, BLEU is of the corpus; \
                    best of each metric in bold";
        let grid = if has_own { grid.note("F1: SQuAD v2") } else { grid };
        let head = |head: &str, first, n| Group { head: head.to_owned(), first, n };
        let groups = vec![head("Tokens", 1, 2), head("Metric", 3, metrics.len())];
        grid.note(note).finished().map(|table| Table { groups, ..table })
    }
}

/// Tokens as the paper prints them: `86K`, `4.8K`.
fn in_thousands(tokens: f64) -> String {
    match tokens {
        ..1_000.0 => number::number(tokens, 0),
        ..10_000.0 => format!("{}K", number::number(tokens / 1_000.0, 1)),
        _ => format!("{}K", number::number(tokens / 1_000.0, 0)),
    }
}

fn heads_of(key: &CellKey) -> [Value; 2] {
    let budget = key.budget.map_or_else(|| Value::text(ALL_BUDGETS), Value::count);
    [Value::text(printed(&key.method)), budget]
}

/// The paper's name of a method, or our own where it has none.
fn printed(method: &str) -> &str {
    METHODS.iter().find(|(known, _)| *known == method).map_or(method, |(_, name)| *name)
}

fn label(metric: &MetricName) -> String {
    metric_label(metric.name())
}

/// The metric at the beginning of a title.
fn leading(metric: &MetricName) -> String {
    let label = label(metric);
    let mut letters = label.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn said_of(policy: FailurePolicy) -> (&'static str, &'static str) {
    match policy {
        FailurePolicy::LeftOut => ("", ""),
        FailurePolicy::Wrong => ("-wrong", ", failures as wrong"),
    }
}

#[cfg(test)]
mod tests;
