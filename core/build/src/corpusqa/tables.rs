//! Tables of the report on a table, its sets and its questions.

use super::column::Schema;
use super::consensus::Consensus;
use super::extract::{Ballots, agree, rounds};
use super::global::{Row, Statement};
use super::gold::is_empty;
use super::sets::DocumentSet;
use super::template::Difficulty;
use crate::corpusqa::global;
use crate::line::End;
use crate::stage::Unit;
use closeread_eval::Item;
use closeread_table::{Table, Value};

/// Makes the table of how often the extractions of each column agree; documents that were dropped count as well.
/// `asked` is how often each model was to read each document.
pub(super) fn agreement(schema: &Schema, ballots: &[Unit<Ballots>], asked: usize) -> Table {
    let columns =
        ["column", "documents", "clear majority", "share", "all agree", "share of all", "not found", "no majority"];
    let mut table = Table::new("agreement", "What the extractions agree on", columns.map(str::to_owned).to_vec());
    table.source = "CorpusQA, section 3".to_owned();
    table.notes.push(
        "clear majority: more than half of all extractions of the cell, and at least two, give the same value"
            .to_owned(),
    );
    let n_fields = schema.columns.len();
    let read = rounds(n_fields, asked);
    if read < asked && !ballots.is_empty() {
        table.notes.push(format!(
            "each model read each document {read} times instead of {asked}: {n_fields} fields are asked for in no further order"
        ));
    }
    for (at, column) in schema.columns.iter().enumerate() {
        let (mut clear, mut all, mut absent, mut split) = (0, 0, 0, 0);
        for unit in ballots {
            // Read alone, a column is not held back by the others.
            let columns = vec![unit.input.schema.columns[at].clone()];
            let alone = Ballots { schema: Schema { columns, ..schema.clone() }, ..unit.input.clone() };
            match agree(&alone, true).end {
                End::Kept { value } => match value.fields[0].consensus {
                    Consensus::Agreed { votes, of, .. } => {
                        clear += 1;
                        all += usize::from(votes == of);
                    }
                    _ => absent += 1,
                },
                _ if at == 0 => split += 1,
                End::Dropped { detail, .. } if detail.contains("not found") => absent += 1,
                _ => split += 1,
            }
        }
        let n = ballots.len();
        let share = |part: usize| match n {
            0 => Value::missing("no document"),
            n => Value::Share { value: part as f64 / n as f64, n },
        };
        table.rows.push(vec![
            Value::text(&column.key),
            Value::count(n),
            Value::count(clear),
            share(clear),
            Value::count(all),
            share(all),
            Value::count(absent),
            Value::count(split),
        ]);
    }
    table
}

/// The sets with what is in them.
pub(super) fn sets(sets: &[Unit<DocumentSet>], rows: &[Row], items: &[Item]) -> Table {
    let columns = ["set", "documents", "rows", "tokens", "questions", "empty", "dispersion", "least", "conflicts"];
    let mut table = Table::new("sets", "The sets of documents", columns.map(str::to_owned).to_vec());
    table.source = "CorpusQA, Table 2".to_owned();
    table.notes.push("dispersion: share of the set's documents whose rows enter an answer, mean and least".to_owned());
    table.notes.push("empty: share of the questions whose answer is an empty list or zero".to_owned());
    for Unit { id, input: set } in sets {
        let of: Vec<&Item> = items.iter().filter(|item| item.other.get("set").is_some_and(|name| name == id)).collect();
        let shares: Vec<f64> = of.iter().filter_map(|item| item.other.get("dispersion")?.as_f64()).collect();
        let n = shares.len();
        let (mean, least) = match n {
            0 => (Value::missing("no question"), Value::missing("no question")),
            n => {
                let least = shares.iter().copied().fold(1.0, libm::fmin);
                (Value::Share { value: shares.iter().sum::<f64>() / n as f64, n }, Value::Share { value: least, n })
            }
        };
        let n_empty = of.iter().filter(|item| item.answers.first().is_some_and(|gold| is_empty(gold))).count();
        let empty = match of.len() {
            0 => Value::missing("no question"),
            n => Value::Share { value: n_empty as f64 / n as f64, n },
        };
        let inside = rows.iter().filter(|row| set.rows.contains(&row.name));
        table.rows.push(vec![
            Value::text(id),
            Value::count(set.documents.len()),
            Value::count(set.rows.len()),
            Value::count(set.tokens),
            Value::count(of.len()),
            empty,
            mean,
            least,
            Value::count(inside.map(|row| row.conflicts.len()).sum()),
        ]);
    }
    table
}

/// Questions by set and difficulty, as the paper's Table 2.
pub(super) fn counts(sets: &[Unit<DocumentSet>], items: &[Item]) -> Table {
    let columns = std::iter::once("set").chain(Difficulty::ALL.map(Difficulty::name)).chain(["all"]);
    let mut table = Table::new("questions", "Questions by difficulty", columns.map(str::to_owned).collect());
    table.source = "CorpusQA, Table 2".to_owned();
    for Unit { id, .. } in sets {
        let n = |difficulty: Option<Difficulty>| {
            let of = items.iter().filter(|item| item.other.get("set").is_some_and(|name| name == id));
            let of = of
                .filter(|item| difficulty.is_none_or(|d| item.labels.get("difficulty").is_some_and(|l| l == d.name())));
            Value::count(of.count())
        };
        let mut row = vec![Value::text(id)];
        row.extend(Difficulty::ALL.map(|difficulty| n(Some(difficulty))));
        row.push(n(None));
        table.rows.push(row);
    }
    table
}

/// Makes the table of every cell that documents contradict each other in, with the documents.
pub(super) fn conflicts(rows: &[Row]) -> Table {
    let columns = ["row", "column", "value kept", "stated by", "other values"];
    let mut table =
        Table::new("conflicts", "Where documents contradict each other", columns.map(str::to_owned).to_vec());
    table.notes.push("the value of the latest document is kept, as CorpusQA's prompt says".to_owned());
    for (column, n) in global::conflicts(rows) {
        table.notes.push(format!("{column}: {n} cells"));
    }
    let stated = |statement: &Statement| format!("{} ({})", statement.value, statement.documents.join(", "));
    for row in rows {
        for conflict in &row.conflicts {
            table.rows.push(vec![
                Value::text(&row.name),
                Value::text(&conflict.column),
                Value::text(conflict.kept.value.to_string()),
                Value::text(conflict.kept.documents.join(", ")),
                Value::text(conflict.others.iter().map(stated).collect::<Vec<_>>().join("; ")),
            ]);
        }
    }
    table
}
