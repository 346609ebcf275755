//! A run folder that is begun anew.

use super::{PRICES, cut, preparations};
use crate::journal;
use crate::judging::JUDGING;
use crate::spending::CHARGES;
use anyhow::Result;
use closeread_files as files;
use closeread_files::run_files::GROWING;
use closeread_providers::batch;
use std::path::Path;

/// Removes what earlier runs left but the manifest, which is replaced and never away: it tells that the folder is ours.
pub(super) fn clear(path: &Path) -> Result<()> {
    for name in GROWING.into_iter().chain(["report.json", cut::CUT, PRICES, JUDGING, CHARGES]) {
        files::remove(&path.join(name))?;
    }
    for (name, ending) in [(preparations::FOLDER, ".json"), (journal::FOLDER, ".jsonl"), (batch::FOLDER, "")] {
        files::remove_from(&path.join(name), |file| is_numbered(file, ending))?;
    }
    Ok(())
}

/// Returns whether a file of a run's journal, preparations or batches is called so: by a number in hexadecimal digits.
fn is_numbered(name: &str, ending: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    stem.len() >= 4 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()) && name.ends_with(ending)
}
