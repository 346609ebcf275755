//! A PDF read by a process of its own, which has limits: the library that reads it has none, in time, memory or depth.

use super::text_here;
use anyhow::{Context, Result, bail};
use closeread_books::MAX_BOOK_BYTES;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

/// The argument by which this program reads a PDF and does nothing else.
const ARGUMENT: &str = "--read-a-pdf-apart";
/// Variable that sets how long one PDF may take, in seconds.
const SECONDS: &str = "CLOSEREAD_PDF_SECONDS";
const DEFAULT_SECONDS: u64 = 300;
/// Address space of the process, where the system limits it.
const MEMORY_KIB: u64 = 4 << 20;

/// This program, once it is known to read PDFs by [`ARGUMENT`].
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Reads a PDF from standard input if that is what this process was started for, and says how it ended. Otherwise PDFs are
/// read by processes of this program from now on.
pub fn begin() -> Option<ExitCode> {
    if !std::env::args_os().skip(1).eq([OsString::from(ARGUMENT)]) {
        if let Ok(program) = std::env::current_exe() {
            let _ = PROGRAM.set(program);
        }
        return None;
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes).map_err(Into::into).and_then(|_| text_here(&bytes));
    let (words, code) = match read {
        Ok(text) => (text, ExitCode::SUCCESS),
        Err(error) => (format!("{error:#}"), ExitCode::from(2)),
    };
    Some(std::io::stdout().write_all(words.as_bytes()).map_or(ExitCode::FAILURE, |()| code))
}

/// The text of a PDF, read by a process of its own where this program can start one.
pub(crate) fn text(bytes: &[u8]) -> Result<String> {
    match PROGRAM.get() {
        Some(program) => text_by(started(program)?, bytes, seconds()?),
        None => text_here(bytes),
    }
}

fn seconds() -> Result<u64> {
    let Ok(text) = std::env::var(SECONDS) else { return Ok(DEFAULT_SECONDS) };
    let seconds = text.parse().ok().filter(|seconds| (1..=86_400).contains(seconds));
    seconds.with_context(|| format!("{SECONDS}={text}: expected 1 to 86400"))
}

fn started(program: &Path) -> Result<Child> {
    let piped = |command: &mut Command| {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).env_remove("RUST_BACKTRACE").spawn()
    };
    if cfg!(unix) {
        // Its own limit on time is for a process whose parent was killed.
        let limited = format!("ulimit -v {MEMORY_KIB} 2>/dev/null; ulimit -t {}; exec \"$0\" \"$1\"", seconds()? + 5);
        // A system without a shell has no limit on memory.
        if let Ok(child) = piped(Command::new("sh").args(["-c", &limited]).arg(program).arg(ARGUMENT)) {
            return Ok(child);
        }
    }
    piped(Command::new(program).arg(ARGUMENT)).with_context(|| format!("cannot start {}", program.display()))
}

fn text_by(mut child: Child, bytes: &[u8], seconds: u64) -> Result<String> {
    let (mut input, output) = child.stdin.take().zip(child.stdout.take()).context("a child has pipes")?;
    let (sender, receiver) = channel();
    let (words, status) = std::thread::scope(|scope| {
        // It may end before it has read all.
        scope.spawn(move || drop(input.write_all(bytes)));
        scope.spawn(move || {
            let mut words = Vec::new();
            let read = output.take(MAX_BOOK_BYTES as u64 + 1).read_to_end(&mut words);
            drop(sender.send(read.map(|_| words)));
        });
        let words = receiver.recv_timeout(Duration::from_secs(seconds)).ok();
        let is_whole = matches!(&words, Some(Ok(words)) if words.len() <= MAX_BOOK_BYTES);
        if !is_whole {
            let _ = child.kill();
        }
        (words, child.wait())
    });
    let Some(words) = words else {
        bail!("this PDF was not read within {seconds} seconds ({SECONDS}): convert it to text first")
    };
    let words = words.context("cannot read what was read of this PDF")?;
    if words.len() > MAX_BOOK_BYTES {
        bail!("this PDF has more text than a book may have, {} MiB: divide it", MAX_BOOK_BYTES >> 20);
    }
    let words = String::from_utf8_lossy(&words).into_owned();
    match status.context("a child ends")?.code() {
        Some(0) => Ok(words),
        Some(2) => bail!(words),
        Some(126 | 127) => {
            bail!("cannot start closeread once more to read this PDF: was its program moved or replaced?")
        }
        _ => {
            bail!("this PDF is broken, or takes more than {} GiB of memory: convert it to text first", MEMORY_KIB >> 20)
        }
    }
}
