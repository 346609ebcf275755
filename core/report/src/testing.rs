//! Items and records for the tests of reports.

use super::{Arm, HowAsked, PASSAGES, RunView, TokenPlaces};
use closeread_eval::observations::{
    Cell, CellFacts, CellKey, Done, Ending, ItemFacts, Observation, Observations, Score,
};
use closeread_eval::{Item, Outcome, Task};
use closeread_judges::Judging;
use closeread_methods::record::{Record, SEARCHES, TrialKey};
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(super) fn item(id: &str, document: &str) -> Item {
    let mut item = Item::new(id, document, "?", Task::Choice);
    item.options = vec!["True".to_owned(), "False".to_owned()];
    item.correct = Some(0);
    item
}

pub(super) fn key(method: &str, budget: Option<usize>) -> Arm {
    Arm { method: method.to_owned(), model: "p/x".to_owned(), budget }
}

pub(super) fn record(key: &Arm, id: &str, outcome: Outcome, scores: &[(&str, f64)]) -> Record {
    let Arm { method, model, budget } = key.clone();
    let key = TrialKey { item: id.to_owned(), method, model, budget, repeat: 0 };
    let scores = scores.iter().map(|(metric, score)| ((*metric).to_owned(), *score)).collect();
    Record { scores, prompt_tokens: 10, seconds: 0.5, ..Record::ended(key, outcome) }
}

pub(super) fn answered() -> Outcome {
    Outcome::Answered { answer: "True".to_owned(), choice: Some(0) }
}

/// A run of those, without books and judges, each item asked once.
pub(super) fn run<'a>(plan: &'a [Arm], items: &'a [Item], records: &'a [Record]) -> RunView<'a> {
    static JUDGING: LazyLock<Judging> = LazyLock::new(Judging::default);
    static BOOKS: BTreeMap<String, TokenPlaces> = BTreeMap::new();
    static ASKED: LazyLock<HowAsked> = LazyLock::new(HowAsked::default);
    let (judging, books, asked) = (&*JUDGING, &BOOKS, &*ASKED);
    RunView { name: "r", benchmark: "b", plan, items, records, repeats: 1, books, judging, asked }
}

/// A trial of a table, for tests of tables: method `m` on book `b`, answered.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) item: String,
    pub(super) task: Task,
    pub(super) method: String,
    pub(super) model: String,
    pub(super) budget: Option<usize>,
    pub(super) repeat: u32,
    pub(super) ending: Ending,
    pub(super) scores: BTreeMap<String, f64>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) book_tokens: Option<usize>,
    pub(super) evidence_tokens: Vec<usize>,
    pub(super) searches: Option<usize>,
    pub(super) n_passages: Option<usize>,
    pub(super) n_documents: usize,
}

pub(super) fn case(item: &str) -> Case {
    Case {
        item: item.to_owned(),
        task: Task::Generative,
        method: "m".to_owned(),
        model: "p/x".to_owned(),
        budget: None,
        repeat: 0,
        ending: Ending::Answered,
        scores: BTreeMap::new(),
        labels: BTreeMap::new(),
        book_tokens: None,
        evidence_tokens: Vec::new(),
        searches: None,
        n_passages: None,
        n_documents: 1,
    }
}

impl Case {
    pub(super) fn scored(mut self, metric: &str, score: f64) -> Self {
        self.scores.insert(metric.to_owned(), score);
        self
    }

    pub(super) fn label(mut self, name: &str, value: &str) -> Self {
        self.labels.insert(name.to_owned(), value.to_owned());
        self
    }

    fn cell(&self) -> CellKey {
        let Self { method, model, budget, .. } = self.clone();
        Arm { method, model, budget }.cell(self.task)
    }

    fn facts(&self) -> ItemFacts {
        ItemFacts {
            id: self.item.clone(),
            gold: format!("gold of {}", self.item),
            evidence: String::new(),
            documents: (0..self.n_documents).map(|n| if n == 0 { "b".to_owned() } else { format!("b{n}") }).collect(),
            labels: self.labels.clone(),
            book_tokens: self.book_tokens,
            evidence_tokens: self.evidence_tokens.clone(),
            evidence_unplaced: 0,
            metrics: BTreeMap::new(),
        }
    }

    fn done(&self) -> Done {
        let mut done = Observation::new(self.cell(), self.item.clone(), self.repeat, self.ending);
        done.scores = self.scores.iter().map(|(name, value)| (name.as_str().into(), Score::Value(*value))).collect();
        let counted = [(SEARCHES, self.searches), (PASSAGES, self.n_passages)];
        done.measures = counted.into_iter().filter_map(|(name, n)| Some((name.into(), n? as f64))).collect();
        done
    }
}

/// The table of these trials; each cell is planned for its own items.
pub(super) fn table(cases: &[Case]) -> Observations {
    table_of("b", cases)
}

/// The same of a benchmark.
pub(super) fn table_of(benchmark: &str, cases: &[Case]) -> Observations {
    let mut keys: Vec<CellKey> = Vec::new();
    for case in cases {
        if !keys.contains(&case.cell()) {
            keys.push(case.cell());
        }
    }
    let of_cell = |key: CellKey| {
        let own: Vec<&Case> = cases.iter().filter(|case| case.cell() == key).collect();
        let mut items: Vec<ItemFacts> = Vec::new();
        for case in &own {
            if items.iter().all(|item| item.id != case.item) {
                items.push(case.facts());
            }
        }
        let repeats = own.iter().map(|case| case.repeat + 1).max().unwrap_or(1);
        let cells = vec![Cell { key, facts: CellFacts::default() }];
        ("".into(), Observations::new(benchmark, cells, &items, repeats, own.iter().map(|case| case.done())))
    };
    Observations::pooled(keys.into_iter().map(of_cell)).unwrap()
}
