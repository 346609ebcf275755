//! The trials of a case as an evaluation table.

use closeread_eval::Task;
use closeread_eval::observations::{
    Applies, Cell, CellFacts, CellKey, Done, Ending, ItemFacts, MetricName, Observation, Observations, Score,
};
use closeread_judges::EVIDENCE_MARKS;
use closeread_metrics::bleu::BleuStatistics;
use closeread_report::PASSAGES;
use closeread_report::paper::novelqa::{FAULT, JUDGED, RATED};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Name of the metric that holds the judge's verdict.
const VERDICT: &str = "judged_accuracy";

#[derive(Deserialize)]
struct Input {
    configurations: Vec<Configuration>,
    items: Vec<InputItem>,
    planned: Vec<Planned>,
    trials: Vec<Trial>,
    #[serde(default)]
    humans: Vec<Human>,
    human: Option<Baseline>,
    /// People's verdicts on open answers of `full-document`.
    #[serde(default)]
    ratings: Vec<Opinion>,
    /// Verdicts of a second judge on the same answers.
    #[serde(default)]
    verdicts: Vec<Opinion>,
    /// Faults of the same answers, as people labelled them.
    #[serde(default)]
    faults: Vec<Opinion>,
}

/// A verdict on an answer, by a person or a judge, or its fault.
#[derive(Deserialize)]
struct Opinion {
    configuration: String,
    item: String,
    task: Option<Task>,
    rater: Option<String>,
    judge: Option<String>,
    correct: Option<bool>,
    fault: Option<String>,
    subtype: Option<String>,
}

impl Opinion {
    /// Returns the metric of the verdict or fault, and its score.
    fn score(&self) -> (MetricName, Score) {
        let (prefix, name) = match (&self.rater, &self.judge) {
            (Some(rater), _) => (RATED, rater.clone()),
            (_, Some(judge)) => (JUDGED, judge.clone()),
            _ => {
                let words = self.fault.iter().chain(&self.subtype).map(String::as_str);
                (FAULT, words.collect::<Vec<_>>().join(" "))
            }
        };
        let score = Score::Value(f64::from(self.correct.unwrap_or(true)));
        (format!("{prefix}{name}").as_str().into(), score)
    }
}

/// Counts of people's correct answers.
#[derive(Deserialize)]
struct Baseline {
    head: String,
    cells: BTreeMap<Task, Asked>,
}

#[derive(Deserialize)]
struct Asked {
    correct: usize,
    asked: usize,
}

impl Asked {
    /// A run of as many invented questions as people were asked.
    fn run(&self, task: Task) -> Observations {
        let (configuration, human) = ("".into(), "human".into());
        let key = CellKey { configuration, method: human, model: "people".into(), budget: None, task };
        let item = |n: usize| InputItem { id: format!("people {task:?} {n}"), ..InputItem::default() }.facts();
        let items: Vec<ItemFacts> = (0..self.asked).map(item).collect();
        let done = items.iter().enumerate().map(|(n, item)| {
            let mut done = Observation::new(key.clone(), item.id.clone(), 0, Ending::Answered);
            done.scores = BTreeMap::from([(VERDICT.into(), Score::Value(f64::from(n < self.correct)))]);
            done
        });
        let cells = vec![Cell { key: key.clone(), facts: CellFacts::default() }];
        Observations::new("papers", cells, &items, 1, done)
    }
}

#[derive(Deserialize)]
struct Configuration {
    name: String,
    model: String,
    context_window: Option<usize>,
    reasoning: Option<bool>,
}

#[derive(Default, Deserialize)]
struct InputItem {
    id: String,
    document: Option<String>,
    /// Number of documents.
    documents: Option<usize>,
    #[serde(default)]
    evidence_tokens: Vec<usize>,
    /// Pieces of gold evidence that are not found in the text.
    #[serde(default)]
    evidence_unplaced: usize,
    book_tokens: Option<usize>,
    task: Option<Task>,
    #[serde(default)]
    tasks: Vec<Task>,
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Planned {
    configuration: String,
    method: String,
    budget: Option<usize>,
    task: Option<Task>,
    repeats: u32,
    /// Only items whose label has one of these values.
    #[serde(default)]
    labels: BTreeMap<String, OneOf>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOf {
    One(String),
    Many(Vec<String>),
}

/// One person's attempt at an item.
#[derive(Deserialize)]
struct Human {
    item: String,
    /// `answered`, or the reason for giving up.
    ending: String,
    correct: Option<bool>,
    seconds: f64,
}

#[derive(Deserialize)]
struct Trial {
    configuration: String,
    method: String,
    budget: Option<usize>,
    #[serde(default)]
    repeat: u32,
    item: String,
    task: Option<Task>,
    ending: Ending,
    correct: Option<bool>,
    answer: Option<String>,
    #[serde(default)]
    scores: BTreeMap<String, f64>,
    bleu: Option<Bleu>,
    #[serde(default)]
    prompt_tokens: usize,
    /// Number of pieces of evidence that the answer cites.
    cited: Option<usize>,
    marks: Option<Marks>,
    #[serde(default)]
    searches: u32,
    #[serde(default)]
    chunks: u32,
    #[serde(default)]
    seconds: f64,
}

/// Counts that corpus BLEU adds up.
#[derive(Deserialize)]
struct Bleu {
    matches: [u64; 4],
    possible: [u64; 4],
    length: u64,
    reference_length: u64,
}

/// Marks, out of 100, of the evidence that an answer cites.
#[derive(Deserialize)]
struct Marks {
    c: f64,
    r: f64,
    s: f64,
}

/// The evaluation table of a case: one run a line of `planned`, pooled under the configurations' names.
pub(super) fn trials(inputs: Option<&Value>, asked: &Value) -> Result<Observations, String> {
    let name = asked.get("name").or_else(|| asked.get("dataset")).and_then(Value::as_str);
    let name = name.ok_or("no field `input.name` or `input.dataset`")?;
    let input = inputs.and_then(|inputs| inputs.get(name)).ok_or_else(|| format!("no input {name}"))?;
    let input = Input::deserialize(input).map_err(|error| format!("input {name}: {error}"))?;
    let only: Option<Vec<String>> = match asked.get("configurations") {
        Some(names) => Some(Deserialize::deserialize(names).map_err(|error| format!("configurations: {error}"))?),
        None => asked.get("configuration").and_then(Value::as_str).map(|name| vec![name.to_owned()]),
    };
    let mut input = input;
    if let Some(only) = asked.get("where").and_then(Value::as_object) {
        let has = |item: &InputItem| {
            only.iter().all(|(name, value)| item.labels.get(name).map(String::as_str) == value.as_str())
        };
        input.items.retain(has);
    }
    let kept = |name: &String| only.as_ref().is_none_or(|only| only.contains(name));
    let mut runs = Vec::new();
    // The order of rows is that of the configurations, not of what was planned.
    for configuration in input.configurations.iter().filter(|configuration| kept(&configuration.name)) {
        for planned in input.planned.iter().filter(|planned| planned.configuration == configuration.name) {
            runs.push((configuration.name.as_str().into(), input.run(configuration, planned)));
        }
    }
    if asked.get("human").is_some() {
        let baseline = input.human.as_ref().ok_or("no field `human`")?;
        runs.extend(baseline.cells.iter().map(|(task, counted)| (baseline.head.as_str().into(), counted.run(*task))));
    }
    if !input.humans.is_empty() {
        runs.push(("people".into(), input.people()));
    }
    Observations::pooled(runs).map_err(|error| error.to_string())
}

impl Input {
    /// Items that people attempted.
    fn people(&self) -> Observations {
        let drawn: Vec<&InputItem> =
            self.items.iter().filter(|item| self.humans.iter().any(|human| human.item == item.id)).collect();
        let task = drawn.first().and_then(|item| item.task).unwrap_or(Task::Generative);
        let (configuration, human) = ("".into(), "human".into());
        let key = CellKey { configuration, method: human, model: "people".into(), budget: None, task };
        let items: Vec<ItemFacts> = drawn.iter().map(|item| item.facts()).collect();
        let cells = vec![Cell { key: key.clone(), facts: CellFacts::default() }];
        Observations::new("papers", cells, &items, 1, self.humans.iter().map(|human| human.done(&key)))
    }

    fn run(&self, configuration: &Configuration, planned: &Planned) -> Observations {
        let has_labels = |item: &&InputItem| {
            planned.labels.iter().all(|(name, values)| item.labels.get(name).is_some_and(|value| values.has(value)))
        };
        let is_asked = |item: &&InputItem| planned.task.is_none_or(|task| item.is_asked_as(task));
        let items: Vec<&InputItem> = self.items.iter().filter(has_labels).filter(is_asked).collect();
        let of_items = || items.first().and_then(|item| item.task);
        let task = planned.task.or_else(of_items).unwrap_or(Task::Generative);
        let key = CellKey {
            configuration: "".into(),
            method: planned.method.as_str().into(),
            model: configuration.model.as_str().into(),
            budget: planned.budget,
            task,
        };
        let facts = CellFacts { context_window: configuration.context_window, reasoning: configuration.reasoning };
        let own = self.trials.iter().filter(|trial| {
            trial.configuration == planned.configuration
                && trial.method == planned.method
                && trial.budget == planned.budget
                && trial.task.is_none_or(|own| own == task)
        });
        // Some data sets count repeats from 1.
        let first = self.trials.iter().map(|trial| trial.repeat).min().unwrap_or(0);
        let facts_of: Vec<ItemFacts> = items.iter().map(|item| item.facts()).collect();
        let cells = vec![Cell { key: key.clone(), facts }];
        let done = own.map(|trial| {
            let mut done = trial.done(&key, first);
            self.add_opinions(trial, task, &mut done);
            done
        });
        Observations::new("papers", cells, &facts_of, planned.repeats, done)
    }

    /// Adds the verdicts on an answer of `full-document`. With a second judge, each judge has its own column.
    fn add_opinions(&self, trial: &Trial, task: Task, done: &mut Done) {
        if trial.method != "full-document" {
            return;
        }
        let all = self.ratings.iter().chain(&self.verdicts).chain(&self.faults);
        let own = all.filter(|said| said.configuration == trial.configuration && said.item == trial.item);
        let own = own.filter(|said| said.task.unwrap_or(Task::Generative) == task);
        if task == Task::Generative && !self.verdicts.is_empty() && done.outcome == Ending::Answered {
            let names = self.verdicts.iter().filter_map(|said| said.judge.as_deref()).chain(["first"]);
            done.scores.extend(names.map(|name| (MetricName::from(format!("{JUDGED}{name}")), Score::Unjudged)));
            let first = trial.correct.map_or(Score::Unjudged, |correct| Score::Value(f64::from(correct)));
            done.scores.insert(format!("{JUDGED}first").into(), first);
        }
        done.scores.extend(own.map(Opinion::score));
    }
}

impl OneOf {
    fn has(&self, value: &String) -> bool {
        match self {
            Self::One(one) => one == value,
            Self::Many(many) => many.contains(value),
        }
    }
}

impl Human {
    fn done(&self, cell: &CellKey) -> Done {
        let ending = if self.ending == "answered" { Ending::Answered } else { Ending::Unanswered };
        let mut done = Observation::new(cell.clone(), self.item.clone(), 0, ending);
        if let Some(correct) = self.correct {
            done.scores = BTreeMap::from([(MetricName::from(VERDICT), Score::Value(f64::from(correct)))]);
        }
        done.spent.seconds = self.seconds;
        done
    }
}

impl InputItem {
    fn is_asked_as(&self, task: Task) -> bool {
        self.task == Some(task) || self.tasks.contains(&task)
    }

    fn documents(&self) -> Vec<String> {
        let first = self.document.clone().unwrap_or_default();
        match self.documents {
            Some(n) => (0..n).map(|n| format!("{first} {n}")).collect(),
            None => vec![first],
        }
    }

    fn facts(&self) -> ItemFacts {
        let has_evidence = !self.evidence_tokens.is_empty() || self.evidence_unplaced > 0;
        let not = |mark: &str| (MetricName::from(mark), Applies::Not);
        ItemFacts {
            id: self.id.clone(),
            gold: self.id.clone(),
            evidence: String::new(),
            documents: self.documents(),
            // The adapter of CorpusQA's files calls the label so.
            labels: self.labels.iter().map(|(name, value)| (renamed(name), value.clone())).collect(),
            book_tokens: self.book_tokens,
            evidence_tokens: self.evidence_tokens.clone(),
            evidence_unplaced: self.evidence_unplaced,
            metrics: if has_evidence { BTreeMap::new() } else { EVIDENCE_MARKS.map(not).into() },
        }
    }
}

/// Labels of an item, named as the adapters of the published files name them.
fn renamed(label: &str) -> String {
    match label {
        "set" => "length_set",
        "hard" => "difficulty",
        label => label,
    }
    .to_owned()
}

impl Trial {
    fn done(&self, cell: &CellKey, first_repeat: u32) -> Done {
        // What is empty is no answer.
        let is_empty = self.ending == Ending::Answered && self.answer.as_deref() == Some("");
        let ending = if is_empty { Ending::Unanswered } else { self.ending };
        let mut done = Observation::new(cell.clone(), self.item.clone(), self.repeat - first_repeat, ending);
        let verdict = self.correct.map_or(Score::Unjudged, |correct| Score::Value(f64::from(correct)));
        let has_verdict = ending == Ending::Answered && self.scores.is_empty();
        done.scores.extend(has_verdict.then(|| (MetricName::from(VERDICT), verdict)));
        let metric = |name: &str| MetricName::from(if name == "rouge_l" { "rougeL" } else { name });
        done.scores.extend(self.scores.iter().map(|(name, score)| (metric(name), Score::Value(*score))));
        if let Some(Bleu { matches, possible, length, reference_length }) = &self.bleu {
            let (matching, possible) = (*matches, *possible);
            let (prediction_length, reference_length) = (*length, *reference_length);
            let counted = BleuStatistics { matching, possible, prediction_length, reference_length };
            done.scores.extend(["bleu_1", "bleu_4"].map(|name| (metric(name), Score::Bleu(counted))));
        }
        if self.method == "evidence" && ending == Ending::Answered {
            let marks = self.marks.as_ref().map(|Marks { c, r, s }| [c, r, s].map(|mark| Score::Value(mark / 100.0)));
            let cites_nothing = self.cited.unwrap_or(0) == 0;
            let otherwise = if cites_nothing { Score::Value(0.0) } else { Score::Unjudged };
            let scores = if cites_nothing { [otherwise; 3] } else { marks.unwrap_or([otherwise; 3]) };
            done.scores.extend(EVIDENCE_MARKS.into_iter().map(MetricName::from).zip(scores));
        }
        done.measures =
            BTreeMap::from([("searches".into(), f64::from(self.searches)), (PASSAGES.into(), f64::from(self.chunks))]);
        done.spent.seconds = self.seconds;
        done.spent.prompt_tokens = self.prompt_tokens;
        done
    }
}
