//! Building benchmarks on a machine: the folder that a build lies in, who is asked, what is read and what comes out.

#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod article;
pub mod by_hand;
pub mod check;
pub mod collection;
pub mod context;
pub mod database;
pub mod dataset;
pub mod dry_run;
pub mod folder;
pub mod global_table;
mod page;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(feature = "pdf")]
pub mod pdf;
#[cfg(not(feature = "pdf"))]
pub mod pdf {
    //! What a build without PDF has in its place.

    /// No process of this build reads a PDF.
    pub fn begin() -> Option<std::process::ExitCode> {
        None
    }

    pub(crate) fn text(_: &[u8], _: &std::path::Path) -> anyhow::Result<String> {
        anyhow::bail!("{}; or convert the PDF to text first", closeread_runner::light::lacking("PDF", "pdf"))
    }
}
pub mod published;
pub mod review;
pub mod search;
pub mod sheet;

use anyhow::Result;
use closeread_books::Book;
use closeread_build::BuildError;
use closeread_providers::ending::is_ending;
use closeread_runner::interrupt::watch;
use context::BuildContext;
use folder::BuildFolder;
use serde_json::{Value, json};
use std::cell::Cell;
use std::sync::Arc;
use tracing::{Instrument, info_span};

/// The end of a build.
#[derive(Debug)]
pub enum Ended<T> {
    /// All stages are finished.
    Built(T),
    /// The build was asked to end.
    Interrupted,
    /// The limit on cost leaves nothing for another call.
    OutOfMoney,
    /// A stage was the last one asked for, or has units that failed.
    Early(BuildError),
}

/// Works until the build is finished, fails or is to end.
///
/// # Errors
/// What no later attempt mends, such as a folder that cannot be written.
pub async fn work<T>(
    folder: &BuildFolder,
    context: &BuildContext,
    build: impl Future<Output = Result<T, BuildError>>,
) -> Result<Ended<T>> {
    let span = info_span!("build", folder = %folder.path().display());
    let stop = Cell::new(false);
    // The work first: what comes back when it is to end is still kept.
    let made = tokio::select! {
        biased;
        made = build.instrument(span) => match made {
            Ok(built) => Ok(Ended::Built(built)),
            Err(BuildError::Stopped { .. } | BuildError::Failed { .. }) if is_ending() => Ok(Ended::Interrupted),
            Err(early @ (BuildError::Stopped { .. } | BuildError::Failed { .. })) => Ok(Ended::Early(early)),
            Err(other) => Err(other.into()),
        },
        () = watch(&stop) => Ok(Ended::Interrupted),
        () = context.is_out() => Ok(Ended::OutOfMoney),
    };
    folder.quiet();
    made
}

/// Returns what names the books in the manifest.
pub fn hashes(books: &[Arc<Book>]) -> Value {
    books.iter().map(|book| json!({"id": book.id, "language": book.language.code(), "sha256": book.hash()})).collect()
}
