//! Parts of a run, watched until all have ended, and whether they are joined.

use super::super::progress::{Part, State, parts, text};
use super::slurm;
use crate::stores;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tracing::info;

/// Shows the parts until none waits or runs: in their engine, as `goes_on` says, or by their looks where it does not say.
pub(in super::super) async fn follow(folder: &Path, mut goes_on: impl FnMut() -> Option<bool>) -> Result<ExitCode> {
    // A store has nothing until the first part begins.
    let mut begun = !stores::is_address(folder);
    loop {
        // Asked first: what ends meanwhile is then shown as it ended.
        let goes_on = goes_on();
        match parts(folder) {
            Err(error) if !begun && goes_on != Some(false) => info!("no part has begun: {error:#}"),
            parts => {
                let parts = parts?;
                begun = true;
                out!("{}\n", text(&parts));
                let open = || parts.iter().any(|part| matches!(part.state, State::Waiting | State::Running));
                if !goes_on.unwrap_or_else(open) {
                    if let Some(told) = unjoined(folder, &parts) {
                        outln!("{told}");
                    }
                    return Ok(code(&parts));
                }
            }
        }
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
}

/// What joins the parts of a submission that are all finished, where they are not joined.
pub(in super::super) fn unjoined(folder: &Path, parts: &[Part]) -> Option<String> {
    let folder = if stores::is_address(folder) { folder.to_owned() } else { std::path::absolute(folder).ok()? };
    let out = folder.to_str()?.trim_end_matches('/');
    let is_all = parts.first().is_some_and(|part| part.of == Some(parts.len()));
    let is_finished = parts.iter().all(|part| part.state == State::Finished);
    // A part alone is no submission.
    if !is_all || !is_finished || folder.file_name() == Some(parts[0].part.as_ref()) || is_joined(out) {
        return None;
    }
    let again = "give the command of `closeread submit` again, which joins them";
    Some(match is_joining(&folder) {
        Some(true) => format!("not joined yet: a job in Slurm's queue is to join them in {out}/whole"),
        Some(false) => format!("not joined: no job in Slurm's queue joins them in {out}/whole; {again}"),
        None => format!("not joined: {out}/whole does not have all of them; if no job is to join them, {again}"),
    })
}

/// Returns whether the parts stand joined, so that nothing lacks.
pub(super) fn is_joined(out: &str) -> bool {
    let whole = parts(Path::new(&format!("{out}/whole")));
    whole.is_ok_and(|parts| parts.iter().all(|part| part.state == State::Finished))
}

/// Returns whether Slurm's queue has a job that is to join the parts of a folder; `None` where nobody knows.
fn is_joining(folder: &Path) -> Option<bool> {
    // It was noted without a slash at its end.
    let folder: PathBuf = folder.components().collect();
    let (logs, out) = (folder.join("logs"), folder.to_str()?);
    if !logs.join(slurm::JOBS).is_file() {
        return None;
    }
    let queued = slurm::queued(&logs, out, &folder.join(slurm::SCRIPT)).ok()?;
    Some(queued.joins)
}

/// The code with which a command ends that has shown the parts.
pub(in super::super) fn code(parts: &[Part]) -> ExitCode {
    if parts.iter().all(|part| part.state == State::Finished) { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
