//! Native half of the Python package `closeread`: it takes files and rows, and returns JSON or columns. The public
//! functions and their documentation are in `closeread/` beside this folder.
//!
//! All work runs without the interpreter's lock. An error is a `ValueError` with the command line's message.

// What pyo3 generates is unsafe.
#![allow(unsafe_code)]

mod columns;
mod compare;
mod score;

use closeread_eval::InputFile;
use closeread_results::files;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// An input from Python: a path or rows.
#[derive(FromPyObject)]
enum Source {
    /// A file or a folder.
    Path(PathBuf),
    /// Rows, as bytes with a name for messages.
    Rows(String, Vec<u8>),
}

impl Source {
    /// Reads the files of all inputs.
    fn read_all(sources: Vec<Self>) -> anyhow::Result<Vec<InputFile>> {
        let mut read = Vec::new();
        for source in sources {
            match source {
                Self::Path(path) => read.extend(files::read_all(&[path])?),
                Self::Rows(name, bytes) => read.push(InputFile { name, bytes }),
            }
        }
        Ok(read)
    }
}

/// Runs `work` without the interpreter's lock, so that other Python threads continue.
fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> anyhow::Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| PyValueError::new_err(format!("{error:#}")))
}

#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::columns::columns;
    #[pymodule_export]
    use crate::compare::compare;
    #[pymodule_export]
    use crate::score::{score, score_format};

    #[pymodule_export]
    const VERSION: &str = closeread_results::VERSION;
}
