//! Tables of a run folder as columns.

use crate::detached;
use anyhow::bail;
use closeread_export::tables::{Field, Kind};
use closeread_results::tables;
use closeread_runner::finished;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A column: name, kind, values.
pub(crate) type Column = (String, &'static str, Vec<Cell>);

/// A value of a column, converted to Python.
#[derive(IntoPyObject)]
pub(crate) enum Cell {
    Absent(Option<bool>),
    Text(String),
    Number(f64),
    Integer(i64),
    Truth(bool),
}

impl From<Field> for Cell {
    fn from(field: Field) -> Self {
        match field {
            Field::Absent => Self::Absent(None),
            Field::Text(text) => Self::Text(text),
            Field::Number(number) => Self::Number(number),
            Field::Integer(integer) => Self::Integer(integer),
            Field::Truth(truth) => Self::Truth(truth),
        }
    }
}

/// Reads a run folder: its name, its missing parts, and the requested tables as columns.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "a tuple of tuples is what Python takes apart")]
pub(crate) fn columns(
    py: Python<'_>,
    folder: PathBuf,
    wanted: Vec<String>,
) -> PyResult<(String, Vec<String>, Vec<(&'static str, Vec<Column>)>)> {
    detached(py, || {
        let mut runs = [finished::stream(&folder, finished::folder_name(&folder))?];
        let names = tables::columns(&mut runs)?;
        let schemas = tables::schemas(&names);
        if let Some(unknown) = wanted.iter().find(|name| schemas.iter().all(|schema| schema.name != **name)) {
            let known: Vec<&str> = schemas.iter().map(|schema| schema.name).collect();
            bail!("no table `{unknown}`: expected some of {}", known.join(", "));
        }
        let is_wanted = schemas.each_ref().map(|schema| wanted.iter().any(|name| name == schema.name));
        let mut made = schemas.map(|schema| {
            let column = |(name, kind)| (name, kind_name(kind), Vec::new());
            (schema.name, schema.columns.into_iter().map(column).collect::<Vec<Column>>())
        });
        tables::rows(&mut runs, &names, |table, row| {
            if is_wanted[table as usize] {
                let columns = &mut made[table as usize].1;
                columns.iter_mut().zip(row).for_each(|(column, field)| column.2.push(field.into()));
            }
            Ok(())
        })?;
        let [streamed] = runs;
        let made = made.into_iter().zip(is_wanted).filter(|(_, wanted)| *wanted).map(|(table, _)| table);
        Ok((streamed.run.name, streamed.lacks, made.collect()))
    })
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Number => "number",
        Kind::Integer => "integer",
        Kind::Truth => "truth",
    }
}
