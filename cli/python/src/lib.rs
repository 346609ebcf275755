//! The native half of the Python package `closeread`: files and rows in, JSON or columns out. What a user of Python sees, and
//! its documentation, is in `closeread/` beside this folder.
//!
//! Everything here is done without the interpreter's lock. An error is a `ValueError` with the command line's words.

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

/// What Python hands in.
#[derive(FromPyObject)]
enum Source {
    /// A file or a folder.
    Path(PathBuf),
    /// Rows, as bytes with a name for messages.
    Rows(String, Vec<u8>),
}

impl Source {
    /// All files of these.
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

/// Does `work` while other threads of Python go on.
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
