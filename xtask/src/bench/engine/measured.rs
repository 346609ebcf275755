//! Measures a command: seconds, peak memory, bytes written.

use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Interval at which the memory is looked at. The system remembers the most there was; only what grows in the last
/// moment is missed.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The time, memory and output of a command.
#[derive(Debug, Clone)]
pub(crate) struct Took {
    pub(crate) seconds: f64,
    /// Peak memory of the command, in bytes.
    pub(crate) memory: u64,
    /// Standard output of the command.
    pub(crate) output: String,
}

/// Refuses a system on which a process's memory cannot be read.
pub(crate) fn needs_proc() -> Result<()> {
    ensure!(Path::new("/proc/self/status").exists(), "memory is read from /proc, which this system does not have");
    Ok(())
}

/// Runs a command to its end.
///
/// # Errors
/// If it does not start, or ends with another code than 0; what it said on standard error is in the error.
pub(crate) fn measure(command: &mut Command, work: &Path) -> Result<Took> {
    let (out, err) = (work.join("stdout"), work.join("stderr"));
    let file = |path: &Path| std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()));
    command.stdin(Stdio::null()).stdout(file(&out)?).stderr(file(&err)?);
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("{command:?} does not start"))?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut memory = 0;
    let status = loop {
        if let Some(status) = child.try_wait().context("cannot wait for the command")? {
            break status;
        }
        memory = memory.max(peak(&status_file).unwrap_or(0));
        std::thread::sleep(LOOK_EVERY);
    };
    let seconds = started.elapsed().as_secs_f64();
    let said = std::fs::read_to_string(&err).unwrap_or_default();
    ensure!(status.success(), "{command:?} ended with {status}:\n{said}");
    Ok(Took { seconds, memory, output: std::fs::read_to_string(&out).unwrap_or_default() })
}

/// The peak memory of a running process, as Linux counts it.
fn peak(status_file: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status_file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Bytes of all files below a folder that need not exist.
pub(crate) fn size(folder: &Path) -> Result<u64> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        entries => entries.with_context(|| format!("cannot list {}", folder.display()))?,
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { size(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
