//! Compares two runs, or two cells of a run, on the same items.

use crate::{Source, detached};
use closeread_eval::InputFile;
use closeread_report::compare::Choice;
use closeread_results::{Given, Sides};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Options of a comparison.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Chosen {
    metric: Vec<String>,
    method: Vec<String>,
    model: Vec<String>,
    budget: Vec<usize>,
    by: Vec<String>,
}

fn given(source: Source) -> Given {
    match source {
        Source::Path(path) => Given::Path(path),
        Source::Rows(name, bytes) => Given::Scores(InputFile { name, bytes }),
    }
}

/// Compares two runs; returns the output of `closeread compare A B --json`.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    a: Source,
    b: Option<Source>,
    chosen: Chosen,
    gold: Option<PathBuf>,
) -> PyResult<String> {
    detached(py, || {
        let Chosen { metric, method, model, budget, by } = chosen;
        let choice = Choice { metric, method, model, budget, by };
        choice.check()?;
        let sides = Sides::load(given(a), b.map(given), gold.as_deref())?;
        let two = sides.two()?;
        let compared = two.compare(&choice)?;
        Ok(two.json(&compared))
    })
}
