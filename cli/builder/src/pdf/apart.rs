//! A PDF read by a process of its own, which has limits: the library that reads it has none, in time, memory or depth.

use super::pages::PdfText;
use super::read_here;
use anyhow::{Context, Result, bail};
use closeread_books::MAX_BOOK_BYTES;
use memory_stats::memory_stats;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::ops::RangeInclusive;
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
/// Variable that sets how much memory reading one PDF may take, in MiB.
const MEMORY: &str = "CLOSEREAD_PDF_MEMORY";
const DEFAULT_MIB: u64 = 4 << 10;
/// Time between two looks at the memory that the process takes.
const EVERY: Duration = Duration::from_millis(20);
/// Ends a process whose PDF cannot be read.
const REFUSED: u8 = 2;
/// Ends a process that took more.
const TOO_LARGE: u8 = 3;

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
    let mib = memory().unwrap_or(DEFAULT_MIB);
    std::thread::spawn(move || end_beyond(mib));
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes).map_err(Into::into).and_then(|_| read_here(&bytes));
    let (words, code) = match read {
        Ok(PdfText { text, n_pages, n_empty, n_characters, n_unknown, n_fields }) => {
            (format!("{n_pages} {n_empty} {n_characters} {n_unknown} {n_fields}\n{text}"), ExitCode::SUCCESS)
        }
        Err(error) => (format!("{error:#}"), ExitCode::from(REFUSED)),
    };
    Some(std::io::stdout().write_all(words.as_bytes()).map_or(ExitCode::FAILURE, |()| code))
}

/// Reads a PDF by a process of its own where this program can start one.
pub(super) fn read(bytes: &[u8]) -> Result<PdfText> {
    let Some(program) = PROGRAM.get() else { return read_here(bytes) };
    let words = words_by(started(program)?, bytes, seconds()?)?;
    let (counts, text) = words.split_once('\n').context("a process that reads a PDF counts its pages first")?;
    let counts = counts.split(' ').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    let [n_pages, n_empty, n_characters, n_unknown, n_fields] = counts[..] else {
        bail!("it counts pages, characters and fields")
    };
    Ok(PdfText { text: text.to_owned(), n_pages, n_empty, n_characters, n_unknown, n_fields })
}

/// Ends a process that reads a PDF in a program that does not unwind, with what is to be said of it.
pub(super) fn end_where_nothing_unwinds(words: &str) {
    if cfg!(panic = "abort") {
        let _ = std::io::stdout().write_all(words.as_bytes());
        std::process::exit(i32::from(REFUSED));
    }
}

/// Ends this process when it takes more memory: macOS and Windows limit no address space, nor does a system without a shell.
fn end_beyond(mib: u64) {
    while memory_stats().is_none_or(|taken| taken.physical_mem as u64 >> 20 <= mib) {
        std::thread::sleep(EVERY);
    }
    std::process::exit(i32::from(TOO_LARGE));
}

fn seconds() -> Result<u64> {
    within(SECONDS, DEFAULT_SECONDS, 1..=86_400)
}

fn memory() -> Result<u64> {
    within(MEMORY, DEFAULT_MIB, 64..=1 << 20)
}

/// Returns the number in a variable, or what holds without it.
fn within(variable: &str, default: u64, range: RangeInclusive<u64>) -> Result<u64> {
    let Some(text) = std::env::var(variable).ok().filter(|text| !text.is_empty()) else { return Ok(default) };
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.with_context(|| format!("{variable}={text}: expected {} to {}", range.start(), range.end()))
}

fn started(program: &Path) -> Result<Child> {
    let piped = |command: &mut Command| {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).env_remove("RUST_BACKTRACE").spawn()
    };
    let (mib, seconds) = (memory()?, seconds()?);
    if cfg!(unix) {
        // Its own limit on time is for a process whose parent was killed.
        // The address space of a large allocation is refused before it is taken.
        let limited = format!("ulimit -v {} 2>/dev/null; ulimit -t {}; exec \"$0\" \"$1\"", mib << 10, seconds + 5);
        // A system without a shell has the other limits.
        if let Ok(child) = piped(Command::new("sh").args(["-c", &limited]).arg(program).arg(ARGUMENT)) {
            return Ok(child);
        }
    }
    piped(Command::new(program).arg(ARGUMENT)).with_context(|| format!("cannot start {}", program.display()))
}

fn words_by(mut child: Child, bytes: &[u8], seconds: u64) -> Result<String> {
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
        Some(code) if code == i32::from(REFUSED) => bail!(words),
        Some(126 | 127) => {
            bail!("cannot start closeread once more to read this PDF: was its program moved or replaced?")
        }
        _ => {
            bail!(
                "this PDF is broken, or takes more than {} MiB of memory ({MEMORY}): convert it to text first",
                memory()?
            )
        }
    }
}
