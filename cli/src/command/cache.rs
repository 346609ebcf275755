//! `closeread cache`: the responses, vectors, scores, indexes and catalogs that are kept between runs.

use anyhow::{Context, Result};
use closeread_files::copies::{COPIES, INDEX, LOCK, READ, READERS};
use closeread_providers::response_cache::Entry;
use closeread_runner::cache::{CATALOGS, cache_folder};
use closeread_runner::kept_index::INDEXES;
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{File, Metadata, TryLockError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// List or clear the cache: responses, vectors, scores, indexes
#[derive(Debug, clap::Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, clap::Subcommand)]
enum Chore {
    /// Show the size of the cache, by model
    List {
        /// Print {"folder", "responses": [{"model", "n", "bytes"}], "vectors": {"n", "bytes"}, "scores": {"n", "bytes"},
        /// "indexes": {"n", "bytes"}, "catalogs": {"n", "bytes"}, "copies": {"n", "bytes"}}
        #[arg(long)]
        json: bool,
    },
    /// Delete entries that were not written for N days
    Prune {
        /// Delete files not written for this many days
        #[arg(long, value_name = "DAYS", default_value_t = 90)]
        older_than: u64,
        /// Only responses of this model, as `list` names it
        #[arg(long, value_name = "PROVIDER/MODEL")]
        model: Option<String>,
    },
    /// Read every response and remove damaged ones; exit code 1 if there were any, or some that cannot be read
    Verify,
}

/// Lists, prunes or verifies.
pub(crate) fn run(args: CacheArgs) -> Result<ExitCode> {
    let Some(folder) = cache_folder() else {
        outln!("nothing is remembered: this system has no cache folder; name one in CLOSEREAD_CACHE");
        return Ok(ExitCode::SUCCESS);
    };
    match args.chore {
        Chore::List { json } => list(&folder, json),
        Chore::Prune { older_than, model } => prune(&folder, older_than, model.as_deref()),
        Chore::Verify => verify(&folder),
    }
}

fn list(folder: &Path, as_json: bool) -> Result<ExitCode> {
    let mut responses: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for (path, metadata) in files(&folder.join("responses"))? {
        let (n, bytes) = responses.entry(model_of(&path)).or_default();
        *n += 1;
        *bytes += metadata.len();
    }
    let sized = |name: &str| -> Result<(usize, u64)> {
        let files = files(&folder.join(name))?;
        Ok((files.len(), files.iter().map(|(_, metadata)| metadata.len()).sum()))
    };
    let ((n_vectors, vector_bytes), (n_scores, score_bytes)) = (sized("vectors")?, sized("scores")?);
    let ((n_indexes, index_bytes), (n_catalogs, catalog_bytes)) = (sized(INDEXES)?, sized(CATALOGS)?);
    let (n_copied, copied_bytes) = below(&folder.join(COPIES))?;
    if as_json {
        let responses: Vec<_> =
            responses.iter().map(|(model, (n, bytes))| json!({ "model": model, "n": n, "bytes": bytes })).collect();
        let vectors = json!({ "n": n_vectors, "bytes": vector_bytes });
        let scores = json!({ "n": n_scores, "bytes": score_bytes });
        let indexes = json!({ "n": n_indexes, "bytes": index_bytes });
        let catalogs = json!({ "n": n_catalogs, "bytes": catalog_bytes });
        let copies = json!({ "n": n_copied, "bytes": copied_bytes });
        let folder = folder.display().to_string();
        outln!(
            "{}",
            json!({
                "folder": folder, "responses": responses, "vectors": vectors, "scores": scores, "indexes": indexes,
                "catalogs": catalogs, "copies": copies,
            })
        );
        return Ok(ExitCode::SUCCESS);
    }
    outln!("{}", folder.display());
    for (model, (n, bytes)) in &responses {
        outln!("  {model}: responses {n}, {} KB", bytes.div_ceil(1000));
    }
    outln!("  vectors: files {n_vectors}, {} KB", vector_bytes.div_ceil(1000));
    outln!("  scores: files {n_scores}, {} KB", score_bytes.div_ceil(1000));
    outln!("  indexes: files {n_indexes}, {} KB", index_bytes.div_ceil(1000));
    outln!("  catalogs: files {n_catalogs}, {} KB", catalog_bytes.div_ceil(1000));
    outln!("  copies of folders in object stores: files {n_copied}, {} KB", copied_bytes.div_ceil(1000));
    Ok(ExitCode::SUCCESS)
}

fn prune(folder: &Path, older_than_days: u64, model: Option<&str>) -> Result<ExitCode> {
    let age = Duration::from_secs(older_than_days.saturating_mul(24 * 3600));
    let limit = SystemTime::now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut all = files(&folder.join("responses"))?;
    match model {
        Some(model) => all.retain(|(path, _)| model_of(path) == model),
        None => {
            for name in ["vectors", "scores", INDEXES, CATALOGS] {
                all.extend(files(&folder.join(name))?);
            }
        }
    }
    let copies = folder.join(COPIES).join(READ);
    let (mut n_removed, mut bytes) = if model.is_none() { forget(&copies, limit)? } else { (0, 0) };
    for (path, metadata) in all {
        if metadata.modified().is_ok_and(|written| written <= limit) {
            closeread_files::remove(&path)?;
            n_removed += 1;
            bytes += metadata.len();
        }
    }
    outln!(
        "files removed: {n_removed}, {} KB, of those not written for {older_than_days} days (--older-than)",
        bytes.div_ceil(1000)
    );
    Ok(ExitCode::SUCCESS)
}

/// Removes the copies below `folder` that were fetched last by `limit`, but those that a command fetches now or a run reads from.
fn forget(folder: &Path, limit: SystemTime) -> Result<(usize, u64)> {
    let (mut n, mut bytes) = (0, 0);
    for copy in closeread_files::entries(folder)?.into_iter().filter(|path| digits(path) == Some(16)) {
        let index = copy.join(INDEX);
        let fetched = index.symlink_metadata().and_then(|metadata| metadata.modified());
        let Ok(lock) = File::options().write(true).open(copy.join(LOCK)) else { continue };
        if !fetched.is_ok_and(|fetched| fetched <= limit) || lock.try_lock().is_err() {
            continue;
        }
        let readers = File::options().write(true).open(copy.join(READERS));
        if readers.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock))) {
            continue;
        }
        for path in closeread_files::entries(&copy)?.into_iter().filter(|path| path.is_dir()) {
            let (more, of_them) = below(&path)?;
            std::fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            (n, bytes) = (n + more, bytes + of_them);
        }
        // The index goes last: without it nothing would find what a kill left of the copy.
        closeread_files::remove(&index)?;
    }
    Ok((n, bytes))
}

/// Number and bytes of all files below a folder that need not exist.
fn below(folder: &Path) -> Result<(usize, u64)> {
    let (mut n, mut bytes) = (0, 0);
    for path in closeread_files::entries(folder)? {
        // A command that runs beside this one may have removed it.
        let Ok(metadata) = path.symlink_metadata() else { continue };
        let (more, of_them) = if metadata.is_dir() { below(&path)? } else { (1, metadata.len()) };
        (n, bytes) = (n + more, bytes + of_them);
    }
    Ok((n, bytes))
}

fn verify(folder: &Path) -> Result<ExitCode> {
    let all = files(&folder.join("responses"))?;
    let (mut n_damaged, mut n_unread) = (0, 0);
    for (path, _) in &all {
        match Entry::read(path) {
            Ok(Some(_)) => {}
            Ok(None) => {
                outln!("{}: damaged, removed; its call is made again by the next run that needs it", path.display());
                std::fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
                n_damaged += 1;
            }
            Err(error) => {
                outln!("{}: cannot be read, left as it is: {error}", path.display());
                n_unread += 1;
            }
        }
    }
    let unread = if n_unread > 0 { format!(", {n_unread} that cannot be read") } else { String::new() };
    outln!("responses: {} whole, {n_damaged} damaged{unread}", all.len() - n_damaged - n_unread);
    Ok(if n_damaged + n_unread == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn model_of(path: &Path) -> String {
    match Entry::read(path) {
        Ok(Some(entry)) => format!("{}/{}", entry.source.provider, entry.source.model),
        Ok(None) => "(damaged)".to_owned(),
        Err(_) => "(cannot be read)".to_owned(),
    }
}

/// The files of ours below a folder that need not exist, in the order of their names: each is called by a hash and one ending of
/// ours, in a folder of its first two digits. What else lies there is a person's.
fn files(folder: &Path) -> Result<Vec<(PathBuf, Metadata)>> {
    let mut found = Vec::new();
    for group in closeread_files::entries(folder)?.into_iter().filter(|path| digits(path) == Some(2)) {
        let is_named = |path: &PathBuf| digits(path).is_some_and(|n| n > 2) && name(path).starts_with(&*name(&group));
        let is_ours = |path: &PathBuf| is_named(path) && has_our_ending(&name(path));
        for path in closeread_files::entries(&group)?.into_iter().filter(is_ours) {
            // A command that runs beside this one may have removed it.
            if let Ok(metadata) = path.symlink_metadata()
                && metadata.is_file()
            {
                found.push((path, metadata));
            }
        }
    }
    Ok(found)
}

/// Returns whether a file that is called by a hash is one of ours, whole or while it is written.
fn has_our_ending(name: &str) -> bool {
    let ending = name.split_once('.').map_or("", |(_, ending)| ending);
    ["json", "jsonl", "vec", "index", "catalog"].contains(&ending) || ending.ends_with("tmp")
}

fn name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// Returns how many hexadecimal digits a file's name has before its endings; `None` if it has anything else there.
fn digits(path: &Path) -> Option<usize> {
    let name = name(path);
    let stem = name.split('.').next().unwrap_or_default();
    stem.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(stem.len())
}
