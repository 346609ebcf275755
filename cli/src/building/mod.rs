//! Building benchmarks: the folder that a build lies in, what its options say, what comes out.

mod article;
mod by_hand;
mod collection;
mod database;
mod dataset;
mod dry_run;
mod folder;
mod global_table;
mod options;
#[cfg(feature = "parquet")]
mod parquet_file;
mod search;
mod sheet;

pub(crate) use article::ArticleArgs;
pub(crate) use by_hand::{hand_checked, write_cells};
pub(crate) use collection::DocumentInputs;
pub(crate) use database::Sqlite;
pub(crate) use dataset::{checked, write};
pub(crate) use dry_run::show as show_costs;
pub(crate) use folder::BuildFolder;
pub(crate) use global_table::{
    DATABASE, read_entity, read_schema, read_table, stored_schema, stored_table, write_table,
};
pub(crate) use options::{BookInputs, BuildContext, BuildOptions};
pub(crate) use search::{Search, SearchArgs};
pub(crate) use sheet::{read_forms, sheet_of, write_sheet};

use anyhow::Result;
use closeread_books::Book;
use closeread_build::BuildError;
use closeread_runner::interrupt::asked_to_end;
use closeread_runner::journal::Journal;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

/// Works until the build is finished, fails or is to end: then says what it took, and how to go on. What is finished goes to
/// `write`, which gives the exit code; only then is removed what was for going on.
pub(crate) async fn finish<T>(
    folder: &BuildFolder,
    journal: &Journal,
    workshop: &BuildContext,
    build: impl Future<Output = Result<T, BuildError>>,
    write: impl FnOnce(T) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let mut out_of_money = false;
    let made = tokio::select! {
        made = build => Some(made),
        true = asked_to_end() => None,
        () = workshop.is_out() => {
            out_of_money = true;
            None
        }
    };
    folder.quiet();
    workshop.say_spending();
    match made {
        None if out_of_money => {
            eprintln!(
                "stopped: --max-cost leaves no money for another call; what was finished is kept, and the same command goes on"
            );
            Ok(ExitCode::from(1))
        }
        None => {
            eprintln!("stopped; what was finished is kept, and the same command goes on");
            Ok(ExitCode::from(1))
        }
        Some(Ok(built)) => {
            let code = write(built)?;
            folder.tidy(journal)?;
            Ok(code)
        }
        Some(Err(error @ BuildError::Stopped { .. })) => {
            eprintln!("{error}; the same command without --until goes on");
            Ok(ExitCode::SUCCESS)
        }
        Some(Err(error @ BuildError::Failed { .. })) => {
            eprintln!("{error}");
            Ok(ExitCode::from(1))
        }
        Some(Err(other)) => Err(other.into()),
    }
}

/// What names the books in the manifest.
pub(crate) fn hashes(books: &[Arc<Book>]) -> Value {
    books.iter().map(|book| json!({"id": book.id, "language": book.language.code(), "sha256": book.hash()})).collect()
}
