//! The text of an EPUB book.

mod error;
mod limits;

use super::book::has_text;
use super::decode::{DecodeError, SAVE_AS, decode, office_document};
use super::html::{Layout, drawn, to_text};
use super::language::detect;
use closeread_text::{Language, counted};
pub use error::EpubError;
use limits::{Chapters, Limited, check};
use rbook::Epub;
use rbook::epub::manifest::EpubManifestEntry;
use std::collections::HashMap;
use std::io::Cursor;
use std::iter;
use std::ops::Range;

/// Media types of chapters; the last two are of EPUB 2 and of what came before it.
const CHAPTERS: [&str; 4] = ["application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"];
/// Media type of a page that is a drawing.
const DRAWING: &str = "image/svg+xml";

/// Most fallbacks of a document, each of the one before it.
const MAX_FALLBACKS: usize = 8;

/// The text of an EPUB archive for a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpubText {
    /// The title of the book's metadata.
    pub title: Option<String>,
    /// The language of the book's metadata.
    pub language: Option<Language>,
    /// The chapters in reading order, separated by a blank line. Offsets into the book count bytes of this text.
    pub text: String,
    /// Notes that a reader should know, e.g. how many parts outside the reading order were left out.
    pub notes: Vec<String>,
}

/// Reads the archive `bytes`, EPUB 2 or 3: the documents of its spine, in order, as text.
///
/// Documents marked as outside the reading order (`linear="no"`) and the navigation document are left out; a note says
/// how many. Of a document that is no text its fallback is read; of a drawing without one, its words.
///
/// # Errors
/// [`EpubError`]; an archive that unpacks to more than a book can be is given up before it fills the memory. A chapter that is missing or broken is an error, because a book with a hole would pass for whole; a drawing is left out with a note, as other pictures are.
pub fn read_epub(bytes: Vec<u8>) -> Result<EpubText, EpubError> {
    if let Some(other) = other_than_epub(&bytes) {
        return Err(other);
    }
    let package = check(&bytes)?;
    // The table of contents is not used, and may be of any size.
    let epub = Epub::options().skip_toc(true).read(Cursor::new(bytes));
    let epub = epub.map_err(|e| EpubError::Broken { reason: chain(&e) })?;
    if is_encrypted(&epub) {
        return Err(EpubError::Encrypted);
    }
    let mut spine = SpineText::default();
    for entry in epub.spine().iter() {
        let Some(named) = entry.manifest_entry() else {
            let reason = "the book's manifest does not list it".to_owned();
            return Err(EpubError::Chapter { href: entry.idref().to_owned(), reason });
        };
        if !entry.is_linear() || named.properties().has_property("nav") {
            spine.n_left_out += 1;
        } else {
            spine.add(&epub, named)?;
        }
    }
    if spine.n_chapters == 0 {
        return Err(package.without_chapter(spine.n_left_out, spine.other_kinds.into_notes()));
    }
    if spine.text.is_empty() {
        return Err(EpubError::NoText { n_chapters: spine.n_chapters });
    }
    let (text, mut notes) = spine.finish();
    let metadata = epub.metadata();
    let said: Option<Language> = metadata.language().and_then(|l| l.value().parse().ok());
    let seen = said.and_then(|said| other_writing(said, &text));
    if let (Some(said), Some(seen)) = (said, seen) {
        notes.push(format!("read as `{seen}`, though its metadata says `{said}`: name the language if that is wrong"));
    }
    Ok(EpubText {
        title: metadata.title().map(|t| t.value().trim().to_owned()).filter(|t| !t.is_empty()),
        language: seen.or(said),
        text,
        notes,
    })
}

/// The text of the documents of a spine, as far as they are read.
#[derive(Default)]
struct SpineText {
    text: String,
    chapters: Chapters,
    read: HashMap<String, ReadFile>,
    notes: Few,
    /// Notes on documents that are no text.
    other_kinds: Few,
    n_chapters: usize,
    n_empty: usize,
    n_left_out: usize,
}

/// A file that is read.
struct ReadFile {
    n_bytes: usize,
    /// Its place in the text.
    place: Range<usize>,
    /// Whether it was read for another document or for a place within it.
    is_indirect: bool,
}

impl SpineText {
    /// Adds what the document `named` holds, or its fallback.
    fn add(&mut self, epub: &Epub, named: EpubManifestEntry<'_>) -> Result<(), EpubError> {
        let no_text = || format!("`{}` is left out: {} is no text", named.href(), named.media_type());
        let candidates = || iter::once(named).chain(named.fallbacks().take(MAX_FALLBACKS));
        let Some(document) = candidates().find(is_chapter).or_else(|| candidates().find(is_drawing)) else {
            self.other_kinds.push(no_text);
            return Ok(());
        };
        let stands_in = document.href().as_str() != named.href().as_str();
        let href = document.href().path().as_str().to_owned();
        let is_indirect = stands_in || document.href().fragment().is_some();
        let read = self.read.get(&href);
        if read.is_some_and(|read| is_indirect || read.is_indirect) {
            self.notes.push(|| format!("`{}` is left out: its text, `{href}`, is read already", named.href()));
            return Ok(());
        }
        if stands_in {
            self.notes.push(|| format!("`{href}` is read in place of `{}`, which is no text", named.href()));
        }
        if let Some(ReadFile { n_bytes, place, .. }) = read {
            // A reading order may name a chapter again and again: it counts each time, and is read once.
            if !self.chapters.has_room(*n_bytes) {
                return Err(self.chapters.too_large(&href));
            }
            self.n_chapters += 1;
            self.chapters.count(*n_bytes);
            append(&mut self.text, |text| text.extend_from_within(place.clone()));
            return Ok(());
        }
        let file = match unpacked(epub, document, &self.chapters) {
            Err(EpubError::Chapter { href, reason }) if is_drawing(&document) => {
                self.other_kinds.push(|| format!("`{href}` is left out: the drawing cannot be read: {reason}"));
                return Ok(());
            }
            file => file?,
        };
        self.chapters.count(file.bytes.len());
        let chapter = self.chapter(&document, &file.bytes)?;
        if has_text(&chapter) {
            append(&mut self.text, |text| text.push_str(&chapter));
            let place = self.text.len() - chapter.len()..self.text.len();
            self.read.insert(href, ReadFile { n_bytes: file.bytes.len(), place, is_indirect });
        } else if is_drawing(&document) {
            self.other_kinds.push(no_text);
            return Ok(());
        } else {
            self.n_empty += 1;
        }
        self.n_chapters += 1;
        Ok(())
    }

    /// The text of a document; empty if its file is.
    fn chapter(&mut self, document: &EpubManifestEntry<'_>, bytes: &[u8]) -> Result<String, EpubError> {
        match decode(bytes, None) {
            Ok(decoded) => {
                for note in &decoded.notes {
                    self.notes.push(|| format!("`{}` is read as {}: {note}", document.href(), decoded.encoding));
                }
                Ok(if is_drawing(document) { drawn(&decoded.text) } else { to_text(&decoded.text, Layout::Book) })
            }
            Err(DecodeError::Empty { .. }) => Ok(String::new()),
            Err(e) => Err(EpubError::Chapter { href: document.href().to_string(), reason: e.to_string() }),
        }
    }

    /// The text and the notes on it.
    fn finish(mut self) -> (String, Vec<String>) {
        self.text.push('\n');
        let mut notes = [self.notes.into_notes(), self.other_kinds.into_notes()].concat();
        if self.n_empty > 0 {
            let (n_empty, n_chapters) = (self.n_empty, self.n_chapters);
            notes.push(format!("{n_empty} of {n_chapters} chapters hold no text, perhaps pictures of pages"));
        }
        if self.n_left_out > 0 {
            let parts = counted(self.n_left_out, "part");
            notes.push(format!("left out: {parts} outside the reading order (navigation, linear=\"no\")"));
        }
        (self.text, notes)
    }
}

fn is_chapter(document: &EpubManifestEntry<'_>) -> bool {
    CHAPTERS.contains(&kind_of(document))
}

fn is_drawing(document: &EpubManifestEntry<'_>) -> bool {
    kind_of(document) == DRAWING
}

/// The media type of a document, without parameters.
fn kind_of<'e>(document: &EpubManifestEntry<'e>) -> &'e str {
    document.media_type().split(';').next().unwrap_or_default().trim()
}

/// The bytes of a document. A manifest may name no place within a file, yet some do: then it is the whole file.
fn unpacked(epub: &Epub, document: EpubManifestEntry<'_>, chapters: &Chapters) -> Result<Limited, EpubError> {
    let href = document.href();
    let mut room = chapters.room();
    let mut copied = document.copy_bytes(&mut room);
    if copied.is_err() && !room.is_full() && href.fragment().is_some() {
        room = chapters.room();
        copied = epub.copy_resource(href.path().as_str(), &mut room);
    }
    match copied {
        Ok(_) => Ok(room),
        Err(_) if room.is_full() => Err(chapters.too_large(href.as_str())),
        Err(error) => Err(EpubError::Chapter { href: href.to_string(), reason: chain(&error) }),
    }
}

/// The language of a text whose words are not parted as in the language that was said: programs write their own into a book.
fn other_writing(said: Language, text: &str) -> Option<Language> {
    const LETTERS: usize = 200;
    let is_long = text.chars().filter(|c| c.is_alphabetic()).nth(LETTERS).is_some();
    let seen = detect(text);
    (is_long && seen.is_spaceless() != said.is_spaceless()).then_some(seen)
}

/// The first of some notes, and how many more there are: a reading order, and a name in it, may be of any length.
#[derive(Default)]
struct Few {
    notes: Vec<String>,
    n_more: usize,
}

impl Few {
    const SHOWN: usize = 5;

    fn push(&mut self, note: impl FnOnce() -> String) {
        if self.notes.len() < Self::SHOWN {
            self.notes.push(note());
        } else {
            self.n_more += 1;
        }
    }

    fn into_notes(mut self) -> Vec<String> {
        if self.n_more > 0 {
            self.notes.push(format!("{} more notes like these", self.n_more));
        }
        self.notes
    }
}

/// Adds a chapter, after a blank line.
fn append(text: &mut String, chapter: impl FnOnce(&mut String)) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    chapter(text);
}

/// Returns what a file is that is no EPUB, by its first bytes and by the names in the archive; `None` for one that may
/// be one.
fn other_than_epub(bytes: &[u8]) -> Option<EpubError> {
    let has = |name: &[u8]| memchr::memmem::find(bytes, name).is_some();
    let (what, hint) = if !bytes.starts_with(b"PK\x03\x04") {
        ("no ZIP archive", "get it anew, or give it another name if it is a text")
    } else if !has(b"PK\x01\x02") {
        ("a damaged archive (its table of contents is missing)", "get it anew; the download may have broken off")
    } else if let Some(document) = office_document(bytes) {
        (document, SAVE_AS)
    } else if !has(b"META-INF/container.xml") {
        ("a ZIP archive of something else", "unpack it and give a book in it")
    } else {
        return None;
    };
    Some(EpubError::Other { what, hint })
}

/// True if the archive's list of encrypted files names more than obfuscated fonts.
fn is_encrypted(epub: &Epub) -> bool {
    const FONT_OBFUSCATION: [&str; 2] = ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];
    let mut list = Chapters::default().room();
    // One that is too large to be read lists more than fonts.
    if epub.copy_resource("/META-INF/encryption.xml", &mut list).is_err() {
        return list.is_full();
    }
    let list = String::from_utf8_lossy(&list.bytes);
    list.match_indices("EncryptionMethod").any(|(at, _)| {
        let method = list[at..].split('>').next().unwrap_or_default();
        method.contains("Algorithm") && !FONT_OBFUSCATION.iter().any(|known| method.contains(known))
    })
}

/// An error and its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        cause = inner.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_that_are_not_shown_are_not_written() {
        let mut few = Few::default();
        for n in 0..7 {
            few.push(|| {
                assert!(n < 5, "{n}");
                format!("note {n}")
            });
        }
        let notes = few.into_notes();
        assert_eq!((notes.len(), &*notes[4], &*notes[5]), (6, "note 4", "2 more notes like these"));
    }
}
