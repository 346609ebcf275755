//! Building benchmarks: the folder that a build lies in, what its options say, what comes out.

mod article;
mod dataset;
mod dry_run;
mod folder;
mod options;
mod search;

pub(crate) use article::ArticleArgs;
pub(crate) use dataset::{checked, write};
pub(crate) use dry_run::show as show_costs;
pub(crate) use folder::BuildFolder;
pub(crate) use options::{BookInputs, BuildOptions};
pub(crate) use search::{Search, SearchArgs};

use anyhow::Result;
use closeread_core::build::BuildError;
use std::process::ExitCode;

/// What a build that was not finished is told by, and the exit code: nothing is lost, and the same command goes on.
pub(crate) fn ended(error: BuildError) -> Result<ExitCode> {
    match error {
        BuildError::Stopped { .. } => {
            eprintln!("{error}; the same command without --until goes on");
            Ok(ExitCode::SUCCESS)
        }
        BuildError::Failed { .. } => {
            eprintln!("{error}");
            Ok(ExitCode::from(1))
        }
        other => Err(other.into()),
    }
}

/// What came of a build, or that it was interrupted.
pub(crate) async fn until_interrupted<T>(
    build: impl Future<Output = Result<T, BuildError>>,
) -> Option<Result<T, BuildError>> {
    tokio::select! {
        built = build => Some(built),
        _ = tokio::signal::ctrl_c() => {
            eprintln!("stopped; what was finished is kept, and the same command goes on");
            None
        }
    }
}
