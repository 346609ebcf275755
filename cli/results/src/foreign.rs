//! Logs of other tools, found and read: inspect_ai's `.eval` and JSON, lm-evaluation-harness's samples.

use anyhow::{Context, Result, bail};
use closeread_data::foreign::{ForeignLog, inspect, lm_eval};
use closeread_eval::InputFile;
use closeread_export::foreign::{adopt, notes, run};
use closeread_report::Run;
use closeread_runner::finished::{self, NamedFolder, Texts, is_run_folder};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Most bytes of a file in a log: a sample with all its events.
const MAX_BYTES: u64 = 256 << 20;

/// A run that other tools left, and what must be known to read its numbers.
#[derive(Debug)]
pub struct ForeignRun {
    /// The run.
    pub run: Run,
    /// Notes that a reader must know, a sentence each.
    pub notes: Vec<String>,
}

/// What a folder that is no run holds, as a newcomer names it: the folder of all runs, or a submission.
pub(crate) fn held_by(folder: &Path) -> String {
    if folder.join("predictions.jsonl").is_file() {
        let shown = folder.display();
        return format!(
            "; closeread score --gold ITEMS --predictions {shown} --json > FILE scores the predictions in it"
        );
    }
    let inside = closeread_files::entries(folder).unwrap_or_default();
    let runs: Vec<String> =
        inside.iter().filter(|path| is_run_folder(path)).map(|path| path.display().to_string()).collect();
    match runs.as_slice() {
        [] => String::new(),
        [one] => format!("; in it is the run {one}"),
        [first, ..] => format!("; in it are {} runs, such as {first}: name them one by one", runs.len()),
    }
}

/// The run in a log, or in a folder of logs; `None` for what is neither.
///
/// # Errors
/// If a log is damaged, or of a version that is not known.
pub fn read(path: &Path, name: &str) -> Result<Option<ForeignRun>> {
    let mut files = Vec::new();
    logs_in(path, &mut HashSet::new(), &mut files)?;
    let mut logs = Vec::new();
    for file in files {
        match kind_of(&file)? {
            Some(Kind::Archive) => logs.push(archive(&file)?),
            Some(Kind::Json) => logs.push(inspect::whole(&file.display().to_string(), &bytes(&file)?)?),
            Some(Kind::Samples) => {
                // The model's name is that of the folder, also where the path names none.
                let named = file.canonicalize().unwrap_or_else(|_| file.clone());
                let input = InputFile { name: named.display().to_string(), bytes: bytes(&file)? };
                logs.push(ForeignLog { file: file.display().to_string(), ..lm_eval::read(&input)? });
            }
            None => {}
        }
    }
    if logs.is_empty() {
        return Ok(None);
    }
    let run = run(name.to_owned(), &logs).with_context(|| path.display().to_string())?;
    Ok(Some(ForeignRun { notes: notes(&run, &logs), run }))
}

/// Our runs and those of other tools side by side, with what must be known to read these. What other tools were asked is called
/// by the name of our benchmark, where there is one: it is the items that tell whether they are the same.
///
/// # Errors
/// If one is neither a run folder nor a log.
pub fn load_all(folders: &[NamedFolder], texts: Texts) -> Result<(Vec<Run>, Vec<String>)> {
    let is_ours = |folder: &&NamedFolder| finished::is_run_folder(&folder.path) || !folder.path.exists();
    let ours: Vec<NamedFolder> = folders.iter().filter(is_ours).cloned().collect();
    let mut own = finished::load_all(&ours, texts)?.into_iter();
    let (mut runs, mut notes): (Vec<(bool, Run)>, Vec<String>) = Default::default();
    for folder in folders {
        if is_ours(&folder) {
            runs.extend(own.next().map(|run| (true, run)));
            continue;
        }
        let name = folder.name.clone().unwrap_or_else(|| finished::folder_name(&folder.path));
        let read = read(&folder.path, &name)?.with_context(|| {
            format!(
                "{} is neither a run folder (with manifest.json) nor a log of inspect_ai or lm-evaluation-harness{}",
                folder.path.display(),
                held_by(&folder.path)
            )
        })?;
        notes.extend(read.notes);
        runs.push((false, read.run));
    }
    let first = runs.iter().find(|(is_ours, _)| *is_ours).or(runs.first());
    if let Some((benchmark, items)) = first.map(|(_, run)| (run.benchmark.clone(), run.items.clone())) {
        let has_ours = runs.iter().any(|(is_ours, _)| *is_ours);
        for (_, run) in runs.iter_mut().filter(|(is_ours, _)| !is_ours) {
            adopt(run, &items);
            if has_ours {
                run.benchmark.clone_from(&benchmark);
            }
        }
    }
    Ok((runs.into_iter().map(|(_, run)| run).collect(), notes))
}

enum Kind {
    Archive,
    Json,
    Samples,
}

fn kind_of(path: &Path) -> Result<Option<Kind>> {
    if lm_eval::is_samples(&path.display().to_string()) {
        return Ok(Some(Kind::Samples));
    }
    let mut file =
        closeread_files::open_file(path, u64::MAX).with_context(|| format!("cannot read {}", path.display()))?;
    let mut head = Vec::new();
    let read = file.by_ref().take(4096).read_to_end(&mut head);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    if head.starts_with(b"PK\x03\x04") {
        return Ok(Some(Kind::Archive));
    }
    // A log begins with its version; a list of logs, and what closeread prints of scores, do not.
    let head = String::from_utf8_lossy(&head);
    let first = head.trim_start().strip_prefix('{').unwrap_or_default().trim_start();
    Ok((first.starts_with("\"version\"") && first.contains("\"eval\"")).then_some(Kind::Json))
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    closeread_files::read_file(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The logs below a folder, also of folders in it, each of which is entered once; what is no folder is the log itself.
fn logs_in(path: &Path, entered: &mut HashSet<PathBuf>, found: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        found.push(path.to_owned());
    } else if path.canonicalize().is_ok_and(|real| entered.insert(real)) {
        for path in closeread_files::entries(path)? {
            // What of these is no log is passed over.
            let is_log = || path.extension().is_some_and(|ending| ending == "eval" || ending == "json");
            if path.is_dir() || is_log() || lm_eval::is_samples(&path.display().to_string()) {
                logs_in(&path, entered, found)?;
            }
        }
    }
    Ok(())
}

/// A log that is an archive, read sample by sample.
fn archive(path: &Path) -> Result<ForeignLog> {
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
    let mut zip = ZipArchive::new(file).with_context(|| format!("{name} is no archive, or was cut short"))?;
    let header = entry(&mut zip, "header.json").with_context(|| {
        format!("{name} holds no header.json: expected a log of inspect_ai; of a run that was killed, `inspect log recover` makes one")
    })?;
    let mut log = inspect::start(&name, &header)?;
    let samples: Vec<String> = zip.file_names().filter_map(|name| name.ok()).map(|name| name.into_owned()).collect();
    for sample in samples.iter().filter(|name| inspect::is_sample(name)) {
        inspect::add(&mut log, sample, &entry(&mut zip, sample)?)?;
    }
    Ok(log)
}

fn entry(zip: &mut ZipArchive<File>, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    zip.by_name(name)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("{name} unpacks to more than {} MiB", MAX_BYTES >> 20);
    }
    Ok(bytes)
}
