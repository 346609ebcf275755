//! `closeread man`: the manual, a page a command.

use anyhow::{Context, Result, bail};
use closeread_files::write_atomically;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write the manual pages into a folder
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder, such as ~/.local/share/man/man1
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the manual's pages.
pub(crate) fn run(args: &ManArgs) -> Result<ExitCode> {
    let folder = &args.folder;
    let written = || format!("cannot write the manual into {}", folder.display());
    std::fs::create_dir_all(folder).with_context(written)?;
    let made = tempfile::tempdir().context("cannot make a temporary folder")?;
    clap_mangen::generate_to(crate::command(), made.path()).with_context(written)?;
    let pages = closeread_files::entries(made.path())?;
    let places = || pages.iter().map(|page| (page, folder.join(page.file_name().unwrap_or_default())));
    places().try_for_each(|(_, place)| refuse_foreign(&place))?;
    for (page, place) in places() {
        write_atomically(&place, &closeread_files::read_file(page)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses to write over what is no page of closeread's.
fn refuse_foreign(path: &Path) -> Result<()> {
    let is_ours =
        |page: &[u8]| page.split(|&byte| byte == b'\n').take(5).any(|line| line.starts_with(b".TH closeread"));
    match closeread_files::read(path)? {
        Some(page) if !is_ours(&page) => {
            bail!("{} is no page of closeread's manual: move it away, or name another folder", path.display())
        }
        _ => Ok(()),
    }
}
