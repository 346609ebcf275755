//! Slurm: an array whose tasks are told to end two minutes before their limit, and a job that joins the parts after any end.

use super::job::{Job, call, quoted, shown};
use anyhow::{Context as _, Result, ensure};
use closeread_text::hash::sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use tracing::info;

/// The file of a folder of logs with lines for each array: its number, that of the job that joins it, and --out. The last line holds.
pub(super) const JOBS: &str = "jobs";
/// Name of the script.
pub(super) const SCRIPT: &str = "submit.sh";
/// In the place of a job that joins an array: there is none.
const NO_JOB: &str = "-";
/// Name of the job that joins arrays.
const MERGE_NAME: &str = "closeread-merge";

/// The comment of all jobs of a folder. Slurm's queue has it even where closeread was killed before it could note their numbers.
fn comment(out: &str) -> String {
    format!("closeread-{}", &sha256(out.as_bytes())[..16])
}

/// Task IDs as Slurm takes them: `0-3,7`.
fn ids(wanted: &[usize]) -> String {
    let mut text = String::new();
    for (at, id) in wanted.iter().enumerate() {
        let follows = at > 0 && wanted[at - 1] + 1 == *id;
        let goes_on = wanted.get(at + 1) == Some(&(id + 1));
        match (follows, goes_on) {
            (true, true) => {}
            (true, false) => {
                let _ = write!(text, "-{id}");
            }
            (false, _) => {
                let comma = if text.is_empty() { "" } else { "," };
                let _ = write!(text, "{comma}{id}");
            }
        }
    }
    text
}

/// A value of one line as Slurm reads it in a script: quoted where a blank or `#` would end it.
fn in_option(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-,:%@+=".contains(c);
    if value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The folder of logs, in whose name Slurm fills in what `%` begins.
fn log_folder(job: &Job<'_>) -> Result<String> {
    let logs = job.logs.as_ref().context("Slurm writes logs into a folder")?;
    ensure!(
        !logs.contains('\\'),
        "{logs}: Slurm takes no backslash in the name of a log; name another folder by --logs"
    );
    Ok(logs.replace('%', "%%"))
}

/// The script of the array.
pub(super) fn script(job: &Job<'_>) -> Result<String> {
    let args = job.args;
    let mut text = String::from("#!/bin/bash\n");
    let mut option = |name: &str, value: &str| {
        let _ = writeln!(text, "#SBATCH --{name}={}", in_option(value));
    };
    option("job-name", "closeread");
    option("array", &ids(&job.wanted));
    option("time", &format!("{}:{:02}:00", job.minutes / 60, job.minutes % 60));
    option("cpus-per-task", &args.cpus.to_string());
    option("chdir", &job.working_folder);
    option("output", &format!("{}/%a.log", log_folder(job)?));
    option("open-mode", "append");
    option("comment", &comment(&job.out));
    let memory = job.memory.map(|mebibytes| format!("{mebibytes}M"));
    for (name, value) in [("mem", &memory), ("partition", &args.partition), ("account", &args.account)] {
        if let Some(value) = value {
            option(name, value);
        }
    }
    let _ = writeln!(text, "#SBATCH --requeue");
    let _ = writeln!(text, "# Two minutes before the limit: B: signals the shell, which exec makes closeread.");
    let _ = writeln!(text, "#SBATCH --signal=B:TERM@120");
    for share in &job.shares {
        let _ = writeln!(text, "# {share}");
    }
    let run = [&[job.program.clone(), "run".to_owned()], &job.run[..]].concat();
    let _ = writeln!(
        text,
        "exec {} --shard \"$((SLURM_ARRAY_TASK_ID + 1))/{}\" --out {}/\"$SLURM_ARRAY_TASK_ID\"",
        shown(&run),
        args.parts,
        quoted(&format!("{}/parts", job.out))?
    );
    Ok(text)
}

/// Returns whether Slurm knows the memory of its nodes: where it does not, it takes it for 1 MB and refuses who asks for more.
pub(super) fn knows_memory() -> bool {
    let nodes = call(Command::new("sinfo").args(["--noheader", "--format=%m"]));
    nodes.map_or(true, |nodes| nodes.is_empty() || nodes.split_whitespace().any(|megabytes| megabytes != "1"))
}

/// What earlier submissions of a folder left in Slurm's queue.
#[derive(Default)]
pub(super) struct Queued {
    /// Arrays with tasks that wait or run.
    pub(super) arrays: BTreeSet<String>,
    /// Jobs that are to join them.
    merges: BTreeSet<String>,
    /// Parts that wait or run, from 0.
    pub(super) parts: BTreeSet<usize>,
    /// Whether a job that joins parts waits or runs.
    pub(super) joins: bool,
    /// Whether no job joins one of the arrays: handing it in failed.
    pub(super) lacks_merge: bool,
}

/// Reads which jobs were handed in for this folder, and asks Slurm what it still has of them.
///
/// `script` is where the script of an earlier submission lies: it is written before anything is handed in.
pub(super) fn queued(logs: &Path, out: &str, script: &Path) -> Result<Queued> {
    let noted = closeread_files::read_text(&logs.join(JOBS))?.unwrap_or_default();
    let ours = noted.lines().filter_map(|line| {
        let mut words = line.splitn(3, ' ');
        let (array, merge, its) = (words.next()?, words.next()?, words.next()?);
        (its == out).then_some((array, merge))
    });
    let ours: BTreeMap<&str, &str> = ours.collect();
    let (comment, mut queued) = (comment(out), Queued::default());
    if ours.is_empty() && !closeread_files::read_text(script)?.is_some_and(|script| script.contains(&comment)) {
        return Ok(queued);
    }
    // Not by number: Slurm refuses that of a job that it has forgotten.
    let names = format!("--name=closeread,{MERGE_NAME}");
    let tasks = call(Command::new("squeue").args(["--noheader", "--array", &names, "--format=%F %K %T %j %k"]))?;
    for task in tasks.lines() {
        let mut words = task.split_whitespace();
        let mut word = || words.next().unwrap_or_default();
        let (array, part, state, name, its) = (word(), word(), word(), word(), word());
        match ours.get(array) {
            None if its != comment => {}
            // Another job joins what it would.
            _ if state == "COMPLETING" => {}
            _ if name == MERGE_NAME => {
                queued.joins = true;
                queued.merges.extend((state == "PENDING").then(|| array.to_owned()));
            }
            merge => {
                queued.parts.extend(part.parse::<usize>());
                queued.arrays.insert(array.to_owned());
                match merge {
                    None | Some(&NO_JOB) => queued.lacks_merge = true,
                    Some(merge) => drop(queued.merges.insert((*merge).to_owned())),
                }
            }
        }
    }
    Ok(queued)
}

/// Hands in the array, whose number it gives, and the job that joins its parts.
pub(super) fn hand_in(job: &Job<'_>, script: &Path, queued: &Queued) -> Result<String> {
    let array = call(Command::new("sbatch").arg("--parsable").arg(script))?;
    let array = array.split(';').next().unwrap_or(&array).to_owned();
    // At once: where the other job is refused, this one is in the queue.
    note(job, &[&array], NO_JOB)
        .with_context(|| format!("array {array} is in Slurm's queue: scancel {array} ends it"))?;
    hand_in_merge(job, Some(&array), queued)?;
    Ok(array)
}

/// Hands in the job that joins the parts whatever became of them: of this array, and of those that wait or run already.
pub(super) fn hand_in_merge(job: &Job<'_>, array: Option<&str>, queued: &Queued) -> Result<()> {
    let log = format!("--output={}/merge.log", log_folder(job)?);
    let arrays: Vec<&str> = array.into_iter().chain(queued.arrays.iter().map(String::as_str)).collect();
    let after = (!arrays.is_empty()).then(|| format!("--dependency=afterany:{}", arrays.join(":")));
    let wrap = format!("--wrap={}", job.merge_line()?);
    let mut merge = Command::new("sbatch");
    let (name, comment) = (format!("--job-name={MERGE_NAME}"), format!("--comment={}", comment(&job.out)));
    merge.args(["--parsable", &name, &comment, "--time=1:00:00"]).args(after).args([&log, &wrap]);
    for (name, value) in [("partition", &job.args.partition), ("account", &job.args.account)] {
        if let Some(value) = value {
            merge.arg(format!("--{name}={value}"));
        }
    }
    let merge = call(&mut merge).context(
        "the parts are in Slurm's queue, but not the job that joins them: give the same command again, which hands in that job",
    )?;
    let merge = merge.split(';').next().unwrap_or(&merge);
    // An array that is taken along has this job, too.
    note(job, &arrays, merge)?;
    // Two that join at once would be in each other's way. One that was cancelled by hand is not there any more.
    if !queued.merges.is_empty()
        && let Err(error) = call(Command::new("scancel").arg("--state=PENDING").args(&queued.merges))
    {
        info!("{error:#}");
    }
    match arrays.as_slice() {
        [] => info!("job {merge} joins the parts in {}/whole", job.out),
        arrays => {
            info!("array {}; job {merge} joins its parts in {}/whole when all have ended", arrays.join(", "), job.out)
        }
    }
    Ok(())
}

/// Notes which job joins arrays.
fn note(job: &Job<'_>, arrays: &[&str], merge: &str) -> Result<()> {
    let noted = Path::new(job.logs.as_ref().context("Slurm writes logs into a folder")?).join(JOBS);
    let lines: String = arrays.iter().map(|array| format!("{array} {merge} {}\n", job.out)).collect();
    let file = std::fs::OpenOptions::new().append(true).create(true).open(&noted);
    let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
    written.with_context(|| format!("cannot write {}", noted.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_as_slurm_reads_them() {
        for (value, text) in
            [("0-3,7", "0-3,7"), ("/a/é/%a.log", "/a/é/%a.log"), ("/my #1", "\"/my #1\""), ("a\"b\\", r#""a\"b\\""#)]
        {
            assert_eq!(in_option(value), text);
        }
    }

    #[test]
    fn task_ids_are_ranges() {
        for (wanted, text) in
            [(vec![0, 1, 2, 3], "0-3"), (vec![2], "2"), (vec![0, 2, 3, 7], "0,2-3,7"), (vec![1, 2, 4], "1-2,4")]
        {
            assert_eq!(ids(&wanted), text);
        }
    }
}
