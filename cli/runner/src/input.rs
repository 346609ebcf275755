//! Input of books from paths: files, folders of files, `documents.jsonl`.

mod documents;
mod unread;

use closeread_books::html::whole_page;
use closeread_books::{Book, Frame, MAX_BOOK_BYTES, ReadOptions, decode, read_epub};
use closeread_files::leads_outside;
use closeread_text::Language;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fmt, io};
pub use unread::is_build;

/// The options of reading books.
#[derive(Debug, Clone, Default)]
pub struct InputOptions {
    /// The encoding of text files, any WHATWG label; `None` detects it. EPUB and JSON Lines name their own.
    pub encoding: Option<String>,
    /// The language of all books that do not name theirs; `None` detects it.
    pub language: Option<Language>,
    /// Whether Project Gutenberg's header and trailer are kept.
    pub keep_frame: bool,
    /// Whether every line break of hard-wrapped texts is kept.
    pub keep_wraps: bool,
    /// Files that a `documents.jsonl` names, and those that a link leads to, may lie outside the folder.
    pub allow_outside: bool,
    /// Leave texts in their files: books do not hold them, so that a corpus need not fit the memory
    /// ([`FileReport::left_in`]). Texts inside a `documents.jsonl` stay in memory.
    pub leave_on_disk: bool,
}

/// A file that a book was read from, to read it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    path: PathBuf,
    kind: Kind,
    encoding: Option<String>,
}

impl TextFile {
    /// Returns what the file holds now; the error is a message for people.
    pub(crate) fn text(&self) -> Result<String, String> {
        let options = InputOptions { encoding: self.encoding.clone(), ..InputOptions::default() };
        let text = read_text(&self.path, self.kind, &options);
        text.map(|file| file.text).map_err(|message| format!("{}: {message}", self.path.display()))
    }
}

/// The report on a file, written while it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// The file, or the `documents.jsonl` that holds the text.
    pub path: PathBuf,
    /// The encoding it was read in.
    pub encoding: &'static str,
    /// True if a Project Gutenberg header or trailer was set aside.
    pub framed: bool,
    /// Notes that a reader should know, e.g. how many bytes were replaced.
    pub notes: Vec<String>,
    /// File where the text was left, if the book does not hold it.
    pub left_in: Option<TextFile>,
    /// Line of a `documents.jsonl`, from 1.
    pub line: Option<usize>,
    /// Stamp of the file with the text, as it was before it was read; `None` for a text inside a line.
    pub(crate) stamp: Option<Stamp>,
}

/// Size and time of a file: a file that is changed has another, as a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    n_bytes: u64,
    modified: SystemTime,
}

impl Stamp {
    /// Takes the stamp of a file that is there.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let file = std::fs::metadata(path).ok()?;
        Some(Self { n_bytes: file.len(), modified: file.modified().ok()? })
    }
}

/// Something that was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Path of the file or folder.
    pub path: PathBuf,
    /// The line of a `documents.jsonl`, from 1.
    pub line: Option<usize>,
    /// Kind of problem: whether something is wrong, or merely not a book.
    pub kind: ProblemKind,
    /// Message: what was found, what was expected, what to do.
    pub message: String,
    /// Number of lines that it stands for and that are not listed themselves; 0 for a problem of its own.
    pub more: usize,
}

/// The kind of a [`Problem`], which says how bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// A book could not be read: the exit code says so.
    Failed,
    /// A file of a folder that is no book.
    Skipped,
}

impl Problem {
    /// Returns the problem as reports keep it.
    pub(crate) fn to_record(&self) -> closeread_eval::Problem {
        closeread_eval::Problem {
            file: self.path.display().to_string(),
            line: self.line,
            item: None,
            message: self.message.clone(),
            dropped: self.kind == ProblemKind::Failed,
            more: self.more,
        }
    }
}

impl fmt::Display for FileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.encoding)?;
        if self.framed {
            write!(f, ", Project Gutenberg frame set aside")?;
        }
        self.notes.iter().try_for_each(|note| write!(f, "; {note}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match self.kind {
            ProblemKind::Failed => write!(f, ": {}", self.message),
            ProblemKind::Skipped => write!(f, ": skipped: {}", self.message),
        }
    }
}

/// The books of one input, with what was found out about each file.
pub type Books = Vec<(Book, FileReport)>;

/// Reads `path`: a `.txt`, `.md` or `.epub` file, a `.jsonl` of documents, or a folder.
///
/// A folder that holds `documents.jsonl` is what that file says; any other gives its `.txt`, `.md` and `.epub` files
/// and those of its subfolders, sorted by name. Its other files are named as skipped, and so are builds of closeread; hidden ones
/// are skipped. A file named outright is read as text whatever its ending, unless the ending says that it is something else.
/// What cannot be read is a [`Problem`]; the rest goes on.
///
/// Ids: the file's name without its ending, in folders the path from the folder on; with its ending where two would be the same.
pub fn read_books(path: &Path, options: &InputOptions) -> (Books, Vec<Problem>) {
    let mut input = Input::new(options);
    match std::fs::metadata(path) {
        Err(e) => input.failed(path, None, unreadable(&e)),
        Ok(found) if found.is_dir() => input.read_root(path),
        Ok(found) if !found.is_file() => {
            input.failed(path, None, format!("it is neither a file nor a folder: {EXPECTED}"));
        }
        Ok(_) => match Kind::of(path) {
            Kind::Documents => input.read_documents(path),
            Kind::Data => input.failed(path, None, format!("its ending says that it is no text: {EXPECTED}")),
            kind => input.read_file(path, Path::new(path.file_name().unwrap_or_default()), kind),
        },
    }
    (input.books, input.problems)
}

/// Reads a `documents.jsonl` whose bytes are here.
pub(crate) fn read_documents(path: &Path, bytes: &[u8], options: &InputOptions) -> (Books, Vec<Problem>) {
    let mut input = Input::new(options);
    input.read_lines(path, bytes);
    (input.books, input.problems)
}

/// Reads one line of a `documents.jsonl`; `None` if it has no book.
pub(crate) fn read_document(
    path: &Path,
    number: usize,
    line: &[u8],
    options: &InputOptions,
) -> Option<(Book, FileReport)> {
    let mut input = Input::new(options);
    input.read_document(path, number, line).ok()?;
    input.books.pop()
}

const EXPECTED: &str = "expected a .txt, .md or .epub file, a documents.jsonl, or a folder of them";

/// Says why a link is not followed.
pub fn outside(root: &Path) -> String {
    format!(
        "it is a link that leads out of {}: its text would go to the model's server; put the file there, or say \
         --allow-outside",
        root.display()
    )
}

/// The kind of a file, by its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Epub,
    /// JSON Lines of documents.
    Documents,
    /// A file known not to be running text.
    Data,
    Unknown,
}

impl Kind {
    fn of(path: &Path) -> Self {
        match path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase().as_str() {
            "txt" | "md" | "markdown" | "text" => Self::Text,
            "epub" => Self::Epub,
            "jsonl" => Self::Documents,
            "json" | "csv" | "tsv" | "xml" | "html" | "htm" | "xhtml" | "toml" | "yaml" | "yml" | "mht" | "mhtml"
            | "opf" | "acsm" => Self::Data,
            _ => Self::Unknown,
        }
    }
}

/// The books and problems read so far.
struct Input<'o> {
    options: &'o InputOptions,
    books: Books,
    problems: Vec<Problem>,
    ids: HashSet<String>,
}

impl<'o> Input<'o> {
    fn new(options: &'o InputOptions) -> Self {
        Self { options, books: Vec::new(), problems: Vec::new(), ids: HashSet::new() }
    }

    fn failed(&mut self, path: &Path, line: Option<usize>, message: impl Into<String>) {
        let kind = ProblemKind::Failed;
        self.problems.push(Problem { path: path.to_owned(), line, kind, message: message.into(), more: 0 });
    }

    fn read_root(&mut self, root: &Path) {
        let documents = root.join("documents.jsonl");
        if documents.is_file() {
            return self.read_documents(&documents);
        }
        let mut entered = HashSet::new();
        self.read_folder(root, root, &mut entered);
        if self.books.is_empty() && self.problems.iter().all(|p| p.kind == ProblemKind::Skipped) {
            self.failed(root, None, format!("no book in this folder: {EXPECTED}"));
        }
    }

    /// Reads what is in `folder`, part of `root`. `entered` keeps links from leading around in circles.
    fn read_folder(&mut self, root: &Path, folder: &Path, entered: &mut HashSet<PathBuf>) {
        if !folder.canonicalize().is_ok_and(|real| entered.insert(real)) {
            return;
        }
        let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut paths: Vec<PathBuf> = match entries {
            Ok(entries) => entries.into_iter().map(|e| e.path()).collect(),
            Err(e) => return self.failed(folder, None, unreadable(&e)),
        };
        paths.sort();
        for path in paths {
            if path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.')) {
                continue;
            }
            let kind = Kind::of(&path);
            let is_book = matches!(kind, Kind::Text | Kind::Epub);
            let is_read = |found: &std::fs::Metadata| found.is_dir() && !is_build(&path) || found.is_file() && is_book;
            match std::fs::metadata(&path) {
                Err(e) => self.failed(&path, None, unreadable(&e)),
                Ok(found) if is_read(&found) && !self.options.allow_outside && leads_outside(root, &path) => {
                    self.failed(&path, None, outside(root));
                }
                Ok(found) if found.is_dir() && is_read(&found) => self.read_folder(root, &path, entered),
                Ok(found) if is_read(&found) => {
                    let name = path.strip_prefix(root).unwrap_or(&path).to_owned();
                    self.read_file(&path, &name, kind);
                }
                Ok(_) => {
                    let message = unread::why(&path);
                    self.problems.push(Problem { path, line: None, kind: ProblemKind::Skipped, message, more: 0 });
                }
            }
        }
    }

    /// Reads one file as a book called after `name`.
    fn read_file(&mut self, path: &Path, name: &Path, kind: Kind) {
        let stem = slashed(&name.with_extension(""));
        let id = if self.ids.contains(&stem) { slashed(name) } else { stem };
        match read_text(path, kind, self.options) {
            Ok(text) => {
                let title = text.title.clone().unwrap_or_else(|| file_title(name));
                let language = self.options.language.or(text.language);
                self.add(path, None, id, title, language, text);
            }
            Err(message) => self.failed(path, None, message),
        }
    }

    fn add(
        &mut self,
        path: &Path,
        line: Option<usize>,
        id: String,
        title: String,
        language: Option<Language>,
        text: FileText,
    ) {
        let read = ReadOptions { language, keep_frame: self.options.keep_frame, keep_wraps: self.options.keep_wraps };
        match Book::new(id.clone(), title, text.text, &read) {
            Ok(book) => {
                let encoding = self.options.encoding.clone();
                let file = |kind| TextFile { path: path.to_owned(), kind, encoding };
                let left_in = text.file.filter(|_| self.options.leave_on_disk).map(file);
                let book = if left_in.is_some() { book.let_go() } else { book };
                let framed = text.framed && !self.options.keep_frame;
                let (path, encoding) = (path.to_owned(), text.encoding);
                let report = FileReport { path, encoding, framed, notes: text.notes, left_in, line, stamp: text.stamp };
                self.ids.insert(id);
                self.books.push((book, report));
            }
            Err(e) => self.failed(path, line, e.to_string()),
        }
    }
}

/// A file's text before it is a book.
struct FileText {
    text: String,
    title: Option<String>,
    language: Option<Language>,
    encoding: &'static str,
    framed: bool,
    notes: Vec<String>,
    /// Kind of the file by itself; `None` for a text inside a line.
    file: Option<Kind>,
    stamp: Option<Stamp>,
}

/// Reads a file; the error is a message for people.
fn read_text(path: &Path, kind: Kind, options: &InputOptions) -> Result<FileText, String> {
    let stamp = Stamp::of(path);
    let bytes = closeread_files::read_file_within(path, MAX_BOOK_BYTES as u64).map_err(|e| unreadable(&e))?;
    if kind == Kind::Epub {
        if bytes.is_empty() {
            return Err("the file is empty (0 bytes): expected an EPUB book".to_owned());
        }
        let book = read_epub(bytes).map_err(|e| e.to_string())?;
        let (title, language) = (book.title, book.language);
        let (text, notes, file) = (book.text, book.notes, Some(kind));
        return Ok(FileText { text, title, language, encoding: "UTF-8", framed: false, notes, file, stamp });
    }
    let decoded = decode(&bytes, options.encoding.as_deref()).map_err(|e| e.to_string())?;
    Ok(FileText { file: Some(kind), stamp, ..FileText::of(decoded.text, decoded.encoding, decoded.notes) })
}

impl FileText {
    fn of(text: String, encoding: &'static str, mut notes: Vec<String>) -> Self {
        notes.extend(whole_page(&text).map(|_| "a web page, whose markup is read as text: convert it".to_owned()));
        let frame = Frame::find(&text);
        let title = frame.title(&text);
        let framed = frame.has_header || frame.has_trailer;
        Self { text, title, language: None, encoding, framed, notes, file: None, stamp: None }
    }
}

/// Says what an error of the file system means and what to do about it.
fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("there is no such file or folder: {EXPECTED}; check the path"),
        io::ErrorKind::PermissionDenied => {
            "permission denied: expected a readable file; change its permissions".to_owned()
        }
        io::ErrorKind::IsADirectory => "it is a folder: expected a file".to_owned(),
        _ => format!("it cannot be read: {error}"),
    }
}

/// A relative path with `/`, the same on every platform.
fn slashed(path: &Path) -> String {
    path.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// A title for a file that gives none: its name, without ending, dashes and underscores as spaces.
fn file_title(name: &Path) -> String {
    name.file_stem().unwrap_or_default().to_string_lossy().replace(['-', '_'], " ")
}

#[cfg(test)]
mod tests;
