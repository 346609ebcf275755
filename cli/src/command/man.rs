//! `closeread man`: the manual, a page a command.

use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the manual pages into a folder
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder, such as ~/.local/share/man/man1
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the pages.
pub(crate) fn run(args: &ManArgs) -> Result<ExitCode> {
    let folder = &args.folder;
    let written = || format!("cannot write the manual into {}", folder.display());
    std::fs::create_dir_all(folder).with_context(written)?;
    clap_mangen::generate_to(crate::command(), folder).with_context(written)?;
    Ok(ExitCode::SUCCESS)
}
