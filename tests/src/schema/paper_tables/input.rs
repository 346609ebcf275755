//! The trials of a case as an evaluation table.

use closeread_eval::Task;
use closeread_eval::observations::{
    Cell, CellFacts, CellKey, Done, Ending, ItemFacts, MetricName, Observation, Observations, Score,
};
use closeread_report::PASSAGES;
use closeread_text::Language;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Under which the verdict of the judge stands.
const VERDICT: &str = "judged_accuracy";

#[derive(Deserialize)]
struct Input {
    configurations: Vec<Configuration>,
    items: Vec<InputItem>,
    planned: Vec<Planned>,
    trials: Vec<Trial>,
}

#[derive(Deserialize)]
struct Configuration {
    name: String,
    model: String,
    context_window: Option<usize>,
    reasoning: Option<bool>,
}

#[derive(Deserialize)]
struct InputItem {
    id: String,
    document: Option<String>,
    language: Option<String>,
    book_tokens: Option<usize>,
    task: Task,
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Planned {
    configuration: String,
    method: String,
    budget: Option<usize>,
    repeats: u32,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Trial {
    configuration: String,
    method: String,
    budget: Option<usize>,
    #[serde(default)]
    repeat: u32,
    item: String,
    ending: Ending,
    correct: Option<bool>,
    #[serde(default)]
    searches: u32,
    #[serde(default)]
    chunks: u32,
    #[serde(default)]
    seconds: f64,
}

/// The evaluation table of a case: one run a line of `planned`, pooled under the configurations' names.
pub(super) fn trials(inputs: Option<&Value>, asked: Option<&Value>) -> Result<Observations, String> {
    let name = asked.and_then(|asked| asked.get("name")).and_then(Value::as_str).ok_or("no field `input.name`")?;
    let input = inputs.and_then(|inputs| inputs.get(name)).ok_or_else(|| format!("no input {name}"))?;
    let input = Input::deserialize(input).map_err(|error| format!("input {name}: {error}"))?;
    let only: Option<Vec<String>> = match asked.and_then(|asked| asked.get("configurations")) {
        Some(names) => Some(Deserialize::deserialize(names).map_err(|error| format!("configurations: {error}"))?),
        None => None,
    };
    let kept = |name: &String| only.as_ref().is_none_or(|only| only.contains(name));
    let mut runs = Vec::new();
    // The order of rows is that of the configurations, not of what was planned.
    for configuration in input.configurations.iter().filter(|configuration| kept(&configuration.name)) {
        for planned in input.planned.iter().filter(|planned| planned.configuration == configuration.name) {
            runs.push((configuration.name.as_str().into(), input.run(configuration, planned)));
        }
    }
    Observations::pooled(runs).map_err(|error| error.to_string())
}

impl Input {
    fn run(&self, configuration: &Configuration, planned: &Planned) -> Observations {
        let has_labels =
            |item: &&InputItem| planned.labels.iter().all(|(name, value)| item.labels.get(name) == Some(value));
        let items: Vec<&InputItem> = self.items.iter().filter(has_labels).collect();
        let task = items.first().map_or(Task::Generative, |item| item.task);
        let key = CellKey {
            configuration: "".into(),
            method: planned.method.as_str().into(),
            model: configuration.model.as_str().into(),
            budget: planned.budget,
            task,
        };
        let facts = CellFacts {
            context_window: configuration.context_window,
            reasoning: configuration.reasoning,
            ..CellFacts::default()
        };
        let own = self.trials.iter().filter(|trial| {
            trial.configuration == planned.configuration
                && trial.method == planned.method
                && trial.budget == planned.budget
        });
        let facts_of: Vec<ItemFacts> = items.iter().map(|item| item.facts()).collect();
        let cells = vec![Cell { key: key.clone(), facts }];
        Observations::new("papers", cells, &facts_of, planned.repeats, own.map(|trial| trial.done(&key)))
    }
}

impl InputItem {
    fn facts(&self) -> ItemFacts {
        ItemFacts {
            id: self.id.clone(),
            gold: self.id.clone(),
            evidence: String::new(),
            documents: self.document.iter().cloned().collect(),
            labels: self.labels.clone(),
            language: if self.language.as_deref() == Some("zh") { Language::CHINESE } else { Language::ENGLISH },
            book_tokens: self.book_tokens,
            evidence_tokens: Vec::new(),
            metrics: BTreeMap::new(),
        }
    }
}

impl Trial {
    fn done(&self, cell: &CellKey) -> Done {
        let mut done = Observation::new(cell.clone(), self.item.clone(), self.repeat, self.ending);
        if self.ending == Ending::Answered {
            let score = self.correct.map_or(Score::Unjudged, |correct| Score::Value(f64::from(correct)));
            done.scores = BTreeMap::from([(MetricName::from(VERDICT), score)]);
        }
        done.measures =
            BTreeMap::from([("searches".into(), f64::from(self.searches)), (PASSAGES.into(), f64::from(self.chunks))]);
        done.spent.seconds = self.seconds;
        done
    }
}
