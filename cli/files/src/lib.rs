//! Files and folders that need not be there, and files that are whole or not there.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod cached;
pub mod copies;
mod mapped;
pub mod run_files;

pub use cached::partial_of;
pub use mapped::map;

use anyhow::{Context, Result, bail};
use run_files::refuse_run_file;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Take, Write};
use std::path::{Path, PathBuf};
use tracing::debug;

/// Most bytes of a file that is read whole, 2 GiB.
pub const MAX_FILE_BYTES: u64 = 2 << 30;
/// What some editors write before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Ends the hidden names of files that are being written: a kill leaves them behind.
pub const PARTIAL: &str = ".partial";
/// Most bytes of a line of JSON, 64 MiB: as a value it can take twenty times as many.
const MAX_LINE_BYTES: usize = 64 << 20;

/// Reads a file. Pipes and devices, which may never end, and files of more than [`MAX_FILE_BYTES`] are refused.
pub fn read_file(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    read_file_within(path, MAX_FILE_BYTES)
}

/// Reads a file of at most `most` bytes, as [`read_file`] does.
pub fn read_file_within(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path.as_ref(), most)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the text of a file, as [`read_file`] does, without the byte order mark that some editors write.
pub fn read_text_file(path: impl AsRef<Path>) -> io::Result<String> {
    let no_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not in UTF-8: save it as UTF-8");
    let mut text = String::from_utf8(read_file(path)?).map_err(no_text)?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len_utf8());
    }
    Ok(text)
}

/// Opens a file after asking what it is: opening a pipe would wait for what writes into it. A file that grows meanwhile
/// ends after `most` bytes.
pub fn open_file(path: &Path, most: u64) -> io::Result<Take<File>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() && !metadata.is_dir() {
        let why = "it is a pipe or a device, which may never end: name a file";
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    if metadata.is_file() && metadata.len() > most {
        let why = format!("it has {} MiB: expected at most {} MiB; split it", metadata.len() >> 20, most >> 20);
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(File::open(path)?.take(most))
}

/// Reads a file; returns `None` if there is none.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    if_there(read_file(path)).with_context(|| format!("cannot read {}", path.display()))
}

/// The text that a file holds; `None` if there is none.
pub fn read_text(path: &Path) -> Result<Option<String>> {
    if_there(read_text_file(path)).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns the entries of a folder, in the order of their names; nothing if there is no folder.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let listed = if_there(listed()).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = listed.unwrap_or_default();
    paths.sort();
    Ok(paths)
}

/// Makes a folder in one that is there. That one is not made: it may have been moved away or deleted meanwhile.
pub fn make_inside(folder: &Path) -> Result<()> {
    let made = fs::create_dir(folder).or_else(|error| if folder.is_dir() { Ok(()) } else { Err(error) });
    made.with_context(|| format!("cannot create {}", folder.display()))
}

/// Removes a file, if there is one.
pub fn remove(path: &Path) -> Result<()> {
    if_there(fs::remove_file(path)).map(drop).with_context(|| format!("cannot remove {}", path.display()))
}

/// Removes the files of a folder whose names are `ours`, and the folder if nothing else is in it.
pub fn remove_from(folder: &Path, ours: impl Fn(&str) -> bool) -> Result<()> {
    for path in entries(folder)? {
        if path.file_name().and_then(|name| name.to_str()).is_some_and(&ours) {
            remove(&path)?;
        }
    }
    // It fails where a person keeps files there, and where there is no folder.
    let _ = fs::remove_dir(folder);
    Ok(())
}

fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        done => done.map(Some),
    }
}

/// The values of a file of JSON lines, none if there is no file; a last line that a kill cut short is skipped.
/// `expected` says what a line is, in errors.
pub fn read_lines<T: DeserializeOwned>(path: &Path, expected: &str) -> Result<Vec<T>> {
    let bytes = read(path)?.unwrap_or_default();
    values(path, &bytes[..whole(&bytes)], expected)
}

/// Opens a file of JSON lines for appending and reads those that are whole; the rest of a line that a kill cut short is
/// removed. `expected` says what a line is, in errors.
pub fn open_lines<T: DeserializeOwned>(path: &Path, expected: &str) -> Result<(File, Vec<T>)> {
    let named = || path.display().to_string();
    if path.exists() {
        open_file(path, MAX_FILE_BYTES).with_context(|| format!("cannot read {}", named()))?;
        make_own(path)?;
    }
    let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path);
    let mut file = file.with_context(|| format!("cannot open {}", named()))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).with_context(|| format!("cannot read {}", named()))?;
    let whole = whole(&bytes);
    // First of all they are looked at: what holds other lines is somebody else's, and nothing is removed from it.
    let values = values(path, &bytes[..whole], expected)?;
    if whole < bytes.len() {
        file.set_len(whole as u64).with_context(|| format!("cannot repair {}", named()))?;
        debug!(bytes = bytes.len() - whole, "{}: the last line was cut short and is removed", named());
    }
    file.seek(SeekFrom::End(0)).with_context(|| format!("cannot open {}", named()))?;
    if !ends(&bytes[..whole]) {
        file.write_all(b"\n").with_context(|| format!("cannot repair {}", named()))?;
    }
    Ok((file, values))
}

/// Bytes of the lines that are whole. A last line without its line feed is whole where it is an object, as an editor leaves it;
/// otherwise it was being written when a kill came.
pub fn whole(bytes: &[u8]) -> usize {
    let ended = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let last = &bytes[ended..];
    let is_whole = last.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(last).is_ok();
    if is_whole { bytes.len() } else { ended }
}

/// Whether what is appended to these lines begins a line of its own.
pub fn ends(lines: &[u8]) -> bool {
    lines.last().is_none_or(|&byte| byte == b'\n')
}

fn values<T: DeserializeOwned>(path: &Path, lines: &[u8], expected: &str) -> Result<Vec<T>> {
    let lines = lines.split(|&byte| byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace));
    let value = |(idx, line): (usize, &[u8])| {
        if line.len() > MAX_LINE_BYTES {
            let (there, most) = (line.len() >> 20, MAX_LINE_BYTES >> 20);
            bail!("{}:{}: {there} MiB in one line: expected at most {most} MiB", path.display(), idx + 1);
        }
        serde_json::from_slice(line).with_context(|| format!("{}:{}: expected {expected}", path.display(), idx + 1))
    };
    lines.map(value).collect()
}

/// Returns whether a file lies outside the folder once links are followed. One that is not there leads nowhere.
pub fn leads_outside(folder: &Path, file: &Path) -> bool {
    match (folder.canonicalize(), file.canonicalize()) {
        (Ok(folder), Ok(file)) => !file.starts_with(folder),
        _ => false,
    }
}

/// Refuses to write `out`, which the option names, where it is one of the files that are read for it, by whatever name, or
/// lies in a folder of them.
pub fn refuse_input_as_output<'a>(out: &Path, option: &str, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    // What does not exist is nobody's input.
    let Ok(there) = Identity::of(out) else { return Ok(()) };
    let is_read = |input: &&Path| {
        let is_in = input.is_dir() && !leads_outside(input, out);
        is_in || Identity::of(input).is_ok_and(|input| input == there)
    };
    match inputs.into_iter().find(is_read) {
        None => Ok(()),
        Some(input) if input.is_dir() => {
            bail!("{option} {} lies in {}, which is read: name another file", out.display(), input.display())
        }
        Some(input) => bail!("{option} {} is the input {}: name another file", out.display(), input.display()),
    }
}

/// Refuses two outputs, each with the option that names it, that are one place by whatever names.
pub fn refuse_same_output((one, option): (&Path, &str), (other, of_other): (&Path, &str)) -> Result<()> {
    let (there, of_there) = (placed(one), placed(other));
    let is_one = match (Identity::of(one), Identity::of(other)) {
        (Ok(one), Ok(other)) => one == other,
        // Where case counts for nothing, names that differ in case alone are one as soon as the file is there.
        (Err(_), Err(_)) => there.to_string_lossy().to_lowercase() == of_there.to_string_lossy().to_lowercase(),
        _ => there == of_there,
    };
    if is_one {
        bail!("{option} {} is the place of {of_other} as well: name another", one.display());
    }
    Ok(())
}

/// The path of a file that need not be there, with the links on the way to it followed.
fn placed(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = || Some(fs::canonicalize(folder).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(there).unwrap_or_else(|| path.to_owned())
}

/// The identity of a file, which tells it from others, links followed.
#[derive(PartialEq)]
struct Identity(PathBuf, #[cfg(unix)] (u64, u64));

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = fs::metadata(path)?;
        // Hard links share device and number, and not the path.
        Ok(Self(PathBuf::new(), (metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    fn of(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::canonicalize(path)?))
    }
}

/// Writes a value a line, whole or not at all.
pub fn write_lines(path: &Path, values: &[impl Serialize]) -> Result<()> {
    let mut bytes = Vec::new();
    for value in values {
        serde_json::to_writer(&mut bytes, value)?;
        bytes.push(b'\n');
    }
    write_atomically(path, &bytes)
}

/// JSON as people read it, with a line end.
pub fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// Adds a value as a line of JSON to a file, which is made if it is not there.
pub fn append_line(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    make_own(path)?;
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(&line)).with_context(|| format!("cannot write {}", path.display()))
}

/// Puts a copy in the place of a file that has another name as well, so that what is appended here does not land in a copy of
/// the folder that was made of hard links.
#[cfg(unix)]
pub fn make_own(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_file() && there.nlink() > 1 => {
            let mut shared = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            put(path, |own| io::copy(&mut shared, own).map(drop))
        }
        _ => Ok(()),
    }
}

/// Where files are not told from their hard links.
#[cfg(not(unix))]
pub fn make_own(_: &Path) -> Result<()> {
    Ok(())
}

/// Appends whole lines to a file that is open for it.
///
/// # Errors
/// If they cannot be written, and if the file was moved or deleted meanwhile: what is appended would be found by nobody.
pub fn append_lines(mut file: &File, path: &Path, lines: &[u8]) -> io::Result<()> {
    file.write_all(lines)?;
    let gone = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(_) => false,
        Ok(there) => is_replaced(file, &there),
    };
    if gone {
        return Err(io::Error::new(ErrorKind::NotFound, "it was moved or deleted while it was being written"));
    }
    Ok(())
}

/// Returns whether an open file is deleted and another stands in its place. Numbers of files are not compared: some file
/// systems change them.
#[cfg(unix)]
fn is_replaced(file: &File, there: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    there.nlink() > 0 && file.metadata().is_ok_and(|open| open.nlink() == 0)
}

/// Where files that are open cannot be deleted.
#[cfg(not(unix))]
fn is_replaced(_: &File, _: &fs::Metadata) -> bool {
    false
}

/// Writes a file that a person named, whole or not at all. Links are followed, and a device or a pipe is written into, never
/// replaced.
///
/// # Errors
/// As [`refuse_run_file`], and if it cannot be written.
pub fn write_output(path: &Path, bytes: &[u8]) -> Result<()> {
    refuse_run_file(path)?;
    let followed = fs::canonicalize(path);
    let there = followed.as_deref().unwrap_or(path);
    if fs::metadata(there).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let written = OpenOptions::new().write(true).open(there).and_then(|mut file| file.write_all(bytes));
        return written.with_context(|| format!("cannot write {}", path.display()));
    }
    write_atomically(there, bytes)
}

/// Writes a file of a folder of ours whole or not at all; who may read it is as for every new file. The folder may be
/// another's: a link is replaced and leads nowhere, a device or a pipe is refused.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    put(path, |file| file.write_all(bytes))
}

/// Puts what `fill` writes in the place of a file.
fn put(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let write = || -> io::Result<()> {
        let is_special = |there: fs::Metadata| !there.is_file() && !there.is_dir() && !there.is_symlink();
        if fs::symlink_metadata(path).is_ok_and(is_special) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is a pipe or a device: remove it"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut partial = tempfile::Builder::new();
        partial.prefix(".").suffix(PARTIAL);
        #[cfg(unix)]
        partial.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut partial = partial.tempfile_in(folder).map_err(without_place)?;
        // For `remove_partial`; a file system without locks keeps what a kill leaves behind.
        let _ = partial.as_file().try_lock();
        fill(partial.as_file_mut())?;
        partial.as_file().sync_data()?;
        partial.persist(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// The error without the name of our file that could not be made, which nobody knows.
fn without_place(error: io::Error) -> io::Error {
    let words = error.to_string();
    match words.split_once(" at path \"") {
        Some((cause, _)) => io::Error::new(error.kind(), cause),
        None => error,
    }
}

/// Removes what [`write_atomically`] left behind in a folder, and below it, when it was killed; what a process still writes
/// stays.
pub fn remove_partial(folder: &Path) -> Result<()> {
    for path in entries(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let random = name.strip_prefix('.').and_then(|name| name.strip_suffix(PARTIAL));
        let is_ours =
            random.is_some_and(|random| random.len() == 6 && random.bytes().all(|b| b.is_ascii_alphanumeric()));
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_dir() => remove_partial(&path)?,
            Ok(there) if there.is_file() && is_ours && !is_written(&path) => remove(&path)?,
            _ => {}
        }
    }
    Ok(())
}

/// Returns whether a process may be writing the file.
fn is_written(path: &Path) -> bool {
    !File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests;
