//! A run of the vectors as a table.

use closeread_eval::Task;
use closeread_eval::observations::{
    Applies, Cell, CellFacts, CellId, CellKey, Done, Ending, ItemFacts, MetricName, Observation, Observations, Score,
};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    benchmark: String,
    cells: Vec<RunCell>,
    items: Vec<RunItem>,
    repeats: u32,
    metrics: BTreeMap<String, Kind>,
    /// Items that a metric does not apply to, by metric.
    #[serde(default)]
    not_applicable: BTreeMap<String, Vec<String>>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunCell {
    id: String,
    configuration: String,
    method: String,
    model: String,
    budget: Option<usize>,
    task: Task,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunItem {
    id: String,
    gold: String,
    documents: Vec<String>,
    labels: BTreeMap<String, String>,
    /// Denominators by metric, where the item has them.
    #[serde(default)]
    of: BTreeMap<String, u32>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum Kind {
    Value,
    Ratio { of: Whose },
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Whose {
    Item,
    Answer,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    cell: String,
    item: String,
    repeat: u32,
    ending: Ending,
    scores: BTreeMap<String, RowScore>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RowScore {
    Value { value: f64 },
    Ratio { hit: u32, of: u32 },
    Word(Unjudged),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Unjudged {
    Unjudged,
}

impl Run {
    pub(super) fn table(&self) -> Result<Observations, String> {
        let cells = self.cells.iter().map(|cell| Cell { key: cell.key(), facts: CellFacts::default() }).collect();
        let items: Vec<ItemFacts> = self.items.iter().map(|item| self.facts(item)).collect();
        let done = self.rows.iter().map(|row| self.done(row)).collect::<Result<Vec<_>, _>>()?;
        let table = Observations::new(&self.benchmark, cells, &items, self.repeats, done.into_iter());
        if table.unplanned() > 0 {
            return Err(format!("{} rows name nothing planned", table.unplanned()));
        }
        Ok(table)
    }

    /// Finds a cell by its id in the vectors.
    pub(super) fn cell(&self, table: &Observations, id: &str) -> Result<CellId, String> {
        let key = self.key(id)?;
        let found = table.cells().find(|(_, cell)| cell.key == key).map(|(id, _)| id);
        found.ok_or_else(|| format!("cell {id} is not in the table"))
    }

    fn key(&self, id: &str) -> Result<CellKey, String> {
        let cell = self.cells.iter().find(|cell| cell.id == id);
        cell.map(RunCell::key).ok_or_else(|| format!("no cell {id}"))
    }

    fn facts(&self, item: &RunItem) -> ItemFacts {
        let applies = |(name, kind): (&String, &Kind)| {
            let applies = match kind {
                _ if self.not_applicable.get(name).is_some_and(|ids| ids.contains(&item.id)) => Applies::Not,
                Kind::Value => Applies::Once,
                Kind::Ratio { of: Whose::Answer } => Applies::OutOfAnswer,
                Kind::Ratio { of: Whose::Item } => {
                    item.of.get(name).map_or(Applies::OutOfAnswer, |of| Applies::OutOf(*of))
                }
            };
            (MetricName::from(name.as_str()), applies)
        };
        ItemFacts {
            evidence: String::new(),
            id: item.id.clone(),
            gold: item.gold.clone(),
            documents: item.documents.clone(),
            labels: item.labels.clone(),
            book_tokens: None,
            evidence_tokens: Vec::new(),
            evidence_unplaced: 0,
            metrics: self.metrics.iter().map(applies).collect(),
        }
    }

    fn done(&self, row: &Row) -> Result<Done, String> {
        let score = |(name, score): (&String, &RowScore)| {
            let score = match score {
                RowScore::Value { value } => Score::Value(*value),
                RowScore::Ratio { hit, of } => Score::Ratio { hit: *hit, of: *of },
                RowScore::Word(Unjudged::Unjudged) => Score::Unjudged,
            };
            (MetricName::from(name.as_str()), score)
        };
        let mut done = Observation::new(self.key(&row.cell)?, row.item.clone(), row.repeat, row.ending);
        done.scores = row.scores.iter().map(score).collect();
        Ok(done)
    }
}

impl RunCell {
    fn key(&self) -> CellKey {
        CellKey {
            configuration: self.configuration.as_str().into(),
            method: self.method.as_str().into(),
            model: self.model.as_str().into(),
            budget: self.budget,
            task: self.task,
        }
    }
}
