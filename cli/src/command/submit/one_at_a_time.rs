//! Submissions of one folder, one at a time: two at once would hand in each part twice.

use super::job::Engine;
use anyhow::{Context as _, Result, bail};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use tracing::info;

/// Name of the file, among the logs, that a submission locks.
const LOCK: &str = ".submit.lock";

/// Waits until no other submission writes its logs into this folder, and keeps others waiting until the file is closed. Ray's lasts
/// as long as its parts, so it is not waited for. Where nothing can be locked, nothing is.
pub(super) fn one_at_a_time(engine: Engine, logs: &Path) -> Result<Option<File>> {
    std::fs::create_dir_all(logs).with_context(|| format!("cannot create {}", logs.display()))?;
    let path = logs.join(LOCK);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) if engine == Engine::Ray => bail!(
            "another `closeread submit` runs these parts, its logs are in {}: wait for it to end, or stop it",
            logs.display()
        ),
        Err(TryLockError::WouldBlock) => {
            info!("another `closeread submit` hands in these parts now: it is waited for");
            Ok(file.lock().is_ok().then_some(file))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}
