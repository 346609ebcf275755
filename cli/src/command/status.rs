//! `closeread status`: how far the parts of a run are, from any machine that sees their folder.

use super::progress::{parts, text};
use super::submit::watch::{code, follow, unjoined};
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the progress of a submitted run's parts
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The folder of `closeread submit`, or a run folder; also in an object store
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Show it every ten seconds, until all parts have ended
    #[arg(long)]
    follow: bool,
    /// Print [{"part", "state", "of", "trials", "trials_planned", "dollars", "dollars_open", "seconds_left"}]
    #[arg(long, conflicts_with = "follow")]
    json: bool,
}

/// Prints the parts, once or until they have ended.
pub(crate) async fn run(args: StatusArgs) -> Result<ExitCode> {
    if args.follow {
        return follow(&args.folder, || None).await;
    }
    let parts = parts(&args.folder)?;
    if args.json {
        outln!("{}", serde_json::to_string(&parts)?);
    } else {
        out!("{}", text(&parts));
        if let Some(told) = unjoined(&args.folder, &parts) {
            outln!("{told}");
        }
    }
    Ok(code(&parts))
}
