//! A run as flat tables: cells, trials, items, calls, passages. Column names follow inspect's data frames: `score_*` is what a
//! trial counts for, `metadata_*` a label of the item, `low` and `high` the ends of an interval.

use super::{About, CellTrials, Row};
use closeread_eval::Outcome;
use closeread_report::Run;
use serde_json::json;
use std::collections::BTreeSet;

/// The kind of a column's values; every value may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text in UTF-8.
    Text,
    /// A number, as a double.
    Number,
    /// A signed integer of 64 bits.
    Integer,
    /// A truth value: true or false.
    Truth,
}

/// A value in a place of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    /// No value.
    Absent,
    /// A value of a [`Kind::Text`].
    Text(String),
    /// A value of a [`Kind::Number`].
    Number(f64),
    /// A value of a [`Kind::Integer`].
    Integer(i64),
    /// A value of a [`Kind::Truth`].
    Truth(bool),
}

/// A table's name and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Name of the table, and so of its file.
    pub name: &'static str,
    /// Names and kinds, in order.
    pub columns: Vec<(String, Kind)>,
}

/// The tables of a run, and what their columns are.
#[derive(Debug, Clone)]
pub struct Tables {
    metrics: Vec<String>,
    labels: Vec<String>,
    measures: Vec<String>,
}

const CELL: [(&str, Kind); 5] = [
    ("run", Kind::Text),
    ("benchmark", Kind::Text),
    ("method", Kind::Text),
    ("model", Kind::Text),
    ("budget", Kind::Integer),
];

impl Tables {
    /// The tables of runs whose trials count under these metrics, in whose records methods noted these measures, and whose items
    /// have these labels.
    pub fn of(metrics: BTreeSet<String>, measures: BTreeSet<String>, labels: BTreeSet<String>) -> Self {
        let list = |names: BTreeSet<String>| names.into_iter().collect();
        Self { metrics: list(metrics), labels: list(labels), measures: list(measures) }
    }

    fn schema(name: &'static str, first: &[(&str, Kind)], rest: &[(&str, Kind)]) -> Schema {
        let columns = first.iter().chain(rest).map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        Schema { name, columns }
    }

    /// Returns the schema of cells: a line a cell and metric.
    pub fn cells_schema() -> Schema {
        let own = [
            ("metric", Kind::Text),
            ("policy", Kind::Text),
            ("score", Kind::Number),
            ("low", Kind::Number),
            ("high", Kind::Number),
            ("n", Kind::Integer),
            ("interval", Kind::Text),
        ];
        Self::schema("cells", &CELL, &own)
    }

    /// The lines of a cell.
    pub fn cells(run: &Run, cell: &CellTrials) -> Vec<Vec<Field>> {
        let policies =
            [("failures_wrong", &cell.summary.metrics), ("failures_left_out", &cell.summary.failures_left_out)];
        let mut rows = Vec::new();
        for (policy, metrics) in policies {
            for (metric, estimate) in metrics {
                let mut row = cell_fields(run, cell);
                row.extend([text(metric.name()), text(policy)]);
                row.extend([estimate.value, estimate.low, estimate.high].map(Field::Number));
                row.extend([
                    integer(estimate.n),
                    Field::Text(json!(estimate.interval).as_str().unwrap_or_default().into()),
                ]);
                rows.push(row);
            }
        }
        rows
    }

    /// Returns the schema of trials: a line a planned trial, missing ones included.
    pub fn trials_schema(&self) -> Schema {
        let own = [
            ("id", Kind::Text),
            ("epoch", Kind::Integer),
            ("outcome", Kind::Text),
            ("answer", Kind::Text),
            ("choice", Kind::Integer),
            ("error", Kind::Text),
            ("prompt_tokens", Kind::Integer),
            ("total_time", Kind::Number),
            ("input_tokens", Kind::Integer),
            ("output_tokens", Kind::Integer),
            ("cost", Kind::Number),
            ("calls", Kind::Integer),
        ];
        let mut schema = Self::schema("trials", &CELL, &own);
        let more = |names: &[String], prefix: &str, kind| -> Vec<(String, Kind)> {
            names.iter().map(|name| (format!("{prefix}_{name}"), kind)).collect()
        };
        schema.columns.extend(more(&self.metrics, "score", Kind::Number));
        schema.columns.extend(more(&self.measures, "measure", Kind::Number));
        schema.columns.push(("document".to_owned(), Kind::Text));
        schema.columns.extend(more(&self.labels, "metadata", Kind::Text));
        schema
    }

    /// The line of a trial; `row` is absent where it is missing.
    pub fn trial(&self, about: About<'_>, cell: &CellTrials, place: usize, row: Option<&Row<'_>>) -> Vec<Field> {
        let run = about.run;
        let trial = &cell.trials[place];
        let item = &run.items[trial.item];
        let record = row.map(|row| row.record);
        let outcome = record.map(|record| &record.outcome);
        let (answer, choice) = match outcome {
            Some(Outcome::Answered { answer, choice }) => (text(answer), choice.map_or(Field::Absent, integer)),
            _ => (Field::Absent, Field::Absent),
        };
        let error = match outcome {
            Some(Outcome::Failed { error }) => text(error),
            Some(Outcome::Blocked { reason } | Outcome::NotAsked { reason }) => text(reason),
            Some(Outcome::Unparsed { response } | Outcome::CutShort { response, .. }) => text(response),
            _ => Field::Absent,
        };
        let tokens = record.map(|record| super::tokens::Tokens::of_trial(&cell.arm.model, record, &run.prices));
        let mut fields = cell_fields(run, cell);
        fields.extend([
            text(&item.id),
            integer(trial.repeat as usize + 1),
            text(trial.ending.name()),
            answer,
            choice,
            error,
        ]);
        fields.push(record.map_or(Field::Absent, |record| integer(record.prompt_tokens)));
        fields.push(record.map_or(Field::Absent, |record| Field::Number(record.seconds)));
        fields.push(tokens.map_or(Field::Absent, |tokens| whole(tokens.input)));
        fields.push(tokens.map_or(Field::Absent, |tokens| whole(tokens.output)));
        fields.push(tokens.and_then(|tokens| tokens.dollars).map_or(Field::Absent, Field::Number));
        fields.push(record.map_or(Field::Absent, |record| integer(record.calls.len())));
        let number = |value: Option<&f64>| value.map_or(Field::Absent, |value| Field::Number(*value));
        fields.extend(self.metrics.iter().map(|metric| number(trial.counted.get(metric))));
        fields.extend(self.measures.iter().map(|name| number(record.and_then(|record| record.measures.get(name)))));
        fields.push(item.documents.first().map_or(Field::Absent, |id| text(id)));
        fields
            .extend(self.labels.iter().map(|label| item.labels.get(label).map_or(Field::Absent, |value| text(value))));
        fields
    }

    /// Returns the schema of items: a line an item.
    pub fn items_schema(&self) -> Schema {
        let own = [
            ("id", Kind::Text),
            ("task", Kind::Text),
            ("input", Kind::Text),
            ("target", Kind::Text),
            ("choices", Kind::Text),
            ("documents", Kind::Text),
            ("evidence", Kind::Text),
        ];
        let mut schema = Self::schema("items", &[], &own);
        schema.columns.extend(self.labels.iter().map(|label| (format!("metadata_{label}"), Kind::Text)));
        schema
    }

    /// The line of an item; lists are JSON.
    pub fn item(&self, item: &closeread_eval::Item) -> Vec<Field> {
        let list = |value: serde_json::Value| Field::Text(value.to_string());
        let target = match super::correct(item).map(|correct| &item.options[correct]) {
            Some(option) => text(option),
            None => item.answers.first().map_or(Field::Absent, |answer| text(answer)),
        };
        let task = json!(item.task);
        let mut fields = vec![text(&item.id), text(task.as_str().unwrap_or_default()), text(&item.question), target];
        fields.extend([list(json!(super::options(item))), list(json!(item.documents)), list(json!(item.evidence))]);
        fields
            .extend(self.labels.iter().map(|label| item.labels.get(label).map_or(Field::Absent, |value| text(value))));
        fields
    }

    /// Returns the schema of calls: a line a call.
    pub fn calls_schema() -> Schema {
        let own = [
            ("id", Kind::Text),
            ("epoch", Kind::Integer),
            ("call", Kind::Integer),
            ("prompt", Kind::Text),
            ("sha256", Kind::Text),
            ("response", Kind::Text),
            ("finish", Kind::Text),
            ("counted_tokens", Kind::Integer),
            ("input_tokens", Kind::Integer),
            ("cached_tokens", Kind::Integer),
            ("output_tokens", Kind::Integer),
            ("reasoning_tokens", Kind::Integer),
            ("cost", Kind::Number),
            ("remembered", Kind::Truth),
            ("served_by", Kind::Text),
        ];
        Self::schema("calls", &CELL, &own)
    }

    /// The lines of a trial's calls.
    pub fn calls(run: &Run, cell: &CellTrials, row: &Row<'_>) -> Vec<Vec<Field>> {
        let line = |(n, call): (usize, &closeread_methods::record::CallTrace)| {
            let usage = &call.usage;
            let tokens = |n: Option<u64>| n.map_or(Field::Absent, whole);
            let cost = run.prices.cost(&cell.arm.model, usage).filter(|_| !call.cached);
            let finish = json!(call.finish);
            let mut fields = cell_fields(run, cell);
            fields.extend([text(&row.item.id), integer(row.trial.repeat as usize + 1), integer(n)]);
            fields.extend([text(&call.prompt), text(&call.sha256), text(&call.response)]);
            fields.extend([text(finish.as_str().unwrap_or_default()), integer(call.counted_tokens)]);
            fields.extend(
                [usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.reasoning_tokens].map(tokens),
            );
            fields.push(cost.map_or(Field::Absent, |dollars| Field::Number(dollars.0)));
            fields.push(Field::Truth(call.cached));
            fields.push(call.served_by.model.as_ref().map_or(Field::Absent, |model| text(model)));
            fields
        };
        row.record.calls.iter().enumerate().map(line).collect()
    }

    /// Returns the schema of passages: a line a passage of a context.
    pub fn passages_schema() -> Schema {
        let own = [
            ("id", Kind::Text),
            ("epoch", Kind::Integer),
            ("place", Kind::Integer),
            ("document", Kind::Text),
            ("start", Kind::Integer),
            ("end", Kind::Integer),
            ("score", Kind::Number),
            ("evidence", Kind::Truth),
        ];
        Self::schema("passages", &CELL, &own)
    }

    /// Returns the lines of a trial's passages, in the order in which the model saw them; `evidence`: the passage
    /// reaches gold evidence.
    pub fn passages(run: &Run, cell: &CellTrials, row: &Row<'_>) -> Vec<Vec<Field>> {
        let pieces = closeread_eval::ranking::pieces(row.item);
        let passages = row.record.context.iter().flat_map(|context| &context.passages);
        let line = |(n, passage): (usize, &closeread_eval::PassageRef)| {
            let reaches = pieces.iter().any(|(document, span)| {
                *document == passage.document && span.start < passage.end && passage.start < span.end
            });
            let mut fields = cell_fields(run, cell);
            fields.extend([text(&row.item.id), integer(row.trial.repeat as usize + 1), integer(n)]);
            fields.extend([text(&passage.document), integer(passage.start), integer(passage.end)]);
            fields.push(passage.score.map_or(Field::Absent, Field::Number));
            fields.push(if pieces.is_empty() { Field::Absent } else { Field::Truth(reaches) });
            fields
        };
        passages.enumerate().map(line).collect()
    }
}

fn cell_fields(run: &Run, cell: &CellTrials) -> Vec<Field> {
    let arm = &cell.arm;
    let budget = arm.budget.map_or(Field::Absent, integer);
    vec![text(&run.name), text(&run.benchmark), text(&arm.method), text(&arm.model), budget]
}

fn text(text: &str) -> Field {
    Field::Text(text.to_owned())
}

fn integer(n: usize) -> Field {
    whole(n as u64)
}

fn whole(n: u64) -> Field {
    i64::try_from(n).map_or(Field::Absent, Field::Integer)
}
