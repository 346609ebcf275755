//! Waiting for the parts of a run by their looks alone, which needs no rights in a cluster.

use super::super::progress::{self, Part, State};
use crate::stores;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tracing::info;

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(10);

/// The run folders below `folder`, once each part is finished, or for the time `quiet` none has run and nothing has changed.
pub(super) async fn ended(folder: &Path, quiet: Duration) -> Result<Vec<PathBuf>> {
    let (mut before, mut said, mut since) = (None, String::new(), Instant::now());
    loop {
        let parts = progress::parts(folder);
        let looks = parts.as_deref().map(looks).unwrap_or_default();
        let is = |state| looks.iter().any(|(_, its, _)| *its == state);
        let are_finished = !looks.is_empty() && looks.iter().all(|(_, state, _)| *state == State::Finished);
        let runs = is(State::Running);
        if before.as_ref() != Some(&looks) || runs {
            since = Instant::now();
        }
        let is_quiet = !runs && since.elapsed() >= quiet;
        if are_finished || is_quiet {
            // Where nothing has begun, it says so.
            parts?;
            return folders(folder);
        }
        let now = parts.map_or_else(|error| format!("no part has begun: {error:#}"), |parts| progress::summary(&parts));
        if now != said {
            info!("{now}");
            said = now;
        }
        before = Some(looks);
        tokio::time::sleep(LOOK.min(quiet.max(Duration::from_secs(1)))).await;
    }
}

/// Returns what changes while a part goes on.
fn looks(parts: &[Part]) -> Vec<(String, State, usize)> {
    parts.iter().map(|part| (part.part.clone(), part.state, part.trials)).collect()
}

/// The folders of this machine that have the parts.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    match folder.to_str().filter(|text| stores::is_address(text)) {
        Some(address) => Ok(stores::parts(address)?.into_iter().map(|part| part.folder).collect()),
        None => Ok(progress::numbered(folder)?.into_values().collect()),
    }
}
