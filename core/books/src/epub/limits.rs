//! Limits of what an EPUB may unpack to: archives of a few megabytes can be made to fill any memory.

use super::error::EpubError;
use regex::bytes::Regex;
use std::io::{self, Cursor, Read, Write};
use zip::ZipArchive;

/// Most files in an archive.
const MAX_FILES: usize = 20_000;
/// Most bytes of `META-INF/container.xml`, which names the package.
const MAX_CONTAINER: u64 = 1 << 20;
/// Most bytes of the package, which lists chapters: reading it takes many times its size.
const MAX_PACKAGE: u64 = 4 << 20;
/// Most bytes of one chapter.
const MAX_CHAPTER: usize = 32 << 20;
/// Most bytes of all chapters together, each as often as the reading order names it.
const MAX_CHAPTERS: usize = 128 << 20;

/// What is known of a package before rbook reads it.
pub(super) struct Package {
    /// Whether its `metadata` is one empty tag: rbook takes all that follows for metadata.
    has_empty_metadata: bool,
}

impl Package {
    /// The error of a reading order without a chapter.
    pub(super) fn without_chapter(&self, n_left_out: usize, other_kinds: Vec<String>) -> EpubError {
        let reason = if self.has_empty_metadata {
            let reason = "its package has an empty `<metadata/>`, and title, language and identifier belong there";
            return EpubError::Broken { reason: reason.to_owned() };
        } else if !other_kinds.is_empty() {
            other_kinds.join(", ")
        } else if n_left_out > 0 {
            format!("{n_left_out} of its parts are marked as outside it")
        } else {
            "it names no part".to_owned()
        };
        EpubError::NoChapter { reason }
    }
}

/// Refuses an archive whose table of contents is too large to be read: what rbook reads in one piece.
pub(super) fn check(bytes: &[u8]) -> Result<Package, EpubError> {
    let broken = |reason: String| EpubError::Broken { reason };
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(error.to_string()))?;
    if zip.len() > MAX_FILES {
        return Err(EpubError::TooLarge {
            what: format!("its {} files", zip.len()),
            most: format!("{MAX_FILES} files"),
        });
    }
    let container = unpack(&mut zip, CONTAINER, MAX_CONTAINER)?.ok_or_else(|| broken(format!("no {CONTAINER}")))?;
    let full_path = Regex::new(r#"full-path\s*=\s*(?:"([^"]*)"|'([^']*)')"#).expect("a valid pattern");
    // Every package that is named is to be found as it is named: what names one otherwise could name one of any size.
    let empty_metadata = Regex::new(r"<(?:\w+:)?metadata(?:\s[^<>]*)?/>").expect("a valid pattern");
    let (mut n_packages, mut has_empty_metadata) = (0, false);
    for found in full_path.captures_iter(&container) {
        let value = found.get(1).or(found.get(2)).map_or(&b""[..], |value| value.as_bytes());
        let named = String::from_utf8_lossy(value).replace("&amp;", "&");
        let named = named.trim_start_matches('/');
        let mut is_there = false;
        for name in [named.to_owned(), percent_decoded(named)] {
            let Some(package) = unpack(&mut zip, &name, MAX_PACKAGE)? else { continue };
            (is_there, has_empty_metadata) = (true, has_empty_metadata || empty_metadata.is_match(&package));
        }
        if !is_there {
            return Err(broken(format!("{CONTAINER} names `{named}`, which is not in the archive")));
        }
        n_packages += 1;
    }
    if n_packages == 0 {
        return Err(broken(format!("{CONTAINER} names no package")));
    }
    if memchr::memmem::find(&container, KIND.as_bytes()).is_none() {
        return Err(broken(format!("no `rootfile` of {CONTAINER} has the media type {KIND}")));
    }
    Ok(Package { has_empty_metadata })
}

const CONTAINER: &str = "META-INF/container.xml";
/// Media type of a package in it.
const KIND: &str = "application/oebps-package+xml";

/// A file of the archive; `None` if it has none of this name.
fn unpack(zip: &mut ZipArchive<Cursor<&[u8]>>, name: &str, most: u64) -> Result<Option<Vec<u8>>, EpubError> {
    let Ok(file) = zip.by_name(name) else { return Ok(None) };
    let mut bytes = Vec::new();
    let broken = |error: io::Error| EpubError::Broken { reason: format!("{name}: {error}") };
    file.take(most + 1).read_to_end(&mut bytes).map_err(broken)?;
    match bytes.len() as u64 <= most {
        true => Ok(Some(bytes)),
        false => Err(EpubError::TooLarge { what: format!("`{name}`"), most: mib(most) }),
    }
}

fn percent_decoded(text: &str) -> String {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| bytes[at] == b'%') {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The bytes that chapters unpack to, until there are too many.
#[derive(Default)]
pub(super) struct Chapters {
    n_bytes: usize,
}

/// A chapter that is unpacked, and how many bytes it may still have.
pub(super) struct Limited {
    pub(super) bytes: Vec<u8>,
    left: usize,
}

impl Chapters {
    /// Room for the next one.
    pub(super) fn room(&self) -> Limited {
        Limited { bytes: Vec::new(), left: MAX_CHAPTER.min(MAX_CHAPTERS - self.n_bytes) }
    }

    /// Returns whether this number of bytes fits.
    pub(super) fn has_room(&self, n_bytes: usize) -> bool {
        n_bytes < self.room().left
    }

    /// Counts a chapter that fitted.
    pub(super) fn count(&mut self, n_bytes: usize) {
        self.n_bytes += n_bytes;
    }

    /// Returns the error of a chapter that did not fit.
    pub(super) fn too_large(&self, href: &str) -> EpubError {
        if MAX_CHAPTERS - self.n_bytes < MAX_CHAPTER {
            let what = "its chapters, each as often as the reading order names it,".to_owned();
            EpubError::TooLarge { what, most: mib(MAX_CHAPTERS as u64) }
        } else {
            EpubError::TooLarge { what: format!("chapter `{href}`"), most: mib(MAX_CHAPTER as u64) }
        }
    }
}

impl Limited {
    /// Returns whether more was written than there is room for.
    pub(super) fn is_full(&self) -> bool {
        self.left == 0
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The last byte of room is never written: it tells that there was more.
        if bytes.len() >= self.left {
            self.left = 0;
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it unpacks to too much"));
        }
        self.left -= bytes.len();
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
