//! Formats that are no plain text, known by their first bytes.

/// What to do about an [`office_document`].
pub(crate) const SAVE_AS: &str = "save it as .txt or .epub";

/// Returns what an archive of a word processor is, by the names in it.
pub(crate) fn office_document(archive: &[u8]) -> Option<&'static str> {
    let has = |name: &[u8]| memchr::memmem::find(archive, name).is_some();
    if has(b"word/document.xml") {
        Some("a Word document")
    } else if has(b"content.xml") && has(b"mimetypeapplication/vnd.oasis") {
        Some("an OpenDocument text")
    } else {
        None
    }
}

/// Formats that are met in folders of books and are not plain text, with what to do about each.
pub(super) fn known_format(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const ARCHIVE: &[u8] = b"PK\x03\x04";
    const CONVERT: &str = "convert it to text first";
    const CONVERT_BOOK: &str = "convert it to EPUB or text first";
    const UNPACK: &str = "unpack it first";
    const LEAVE_OUT: &str = "leave it out";
    const FORMATS: &[(usize, &[u8], &str, &str)] = &[
        (0, b"%PDF-", "a PDF document", CONVERT),
        (0, ARCHIVE, "a ZIP archive", "unpack it first; an EPUB must be named .epub"),
        (0, b"PK\x05\x06", "an empty ZIP archive", LEAVE_OUT),
        (0, b"\x1F\x8B", "a gzip archive", UNPACK),
        (0, b"BZh91AY&SY", "a bzip2 archive", UNPACK),
        (0, b"\xFD7zXZ\0", "an xz archive", UNPACK),
        (0, b"\x28\xB5\x2F\xFD", "a Zstandard archive", UNPACK),
        (0, b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive", UNPACK),
        (0, b"Rar!\x1A\x07", "a RAR archive", UNPACK),
        (0, b"{\\rtf", "an RTF document", "save it as plain text"),
        (0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an old Microsoft Office document", "save it as plain text"),
        (60, b"BOOKMOBI", "a Kindle book", CONVERT_BOOK),
        (60, b"TEXtREAd", "a Palm book", CONVERT_BOOK),
        (0, b"\xEADRMION\xEE", "a Kindle book that is encrypted (DRM)", "get a copy without protection"),
        (0, b"AT&TFORM", "a DjVu document", CONVERT),
        (0, b"ITSF\x03\0", "a help file of Windows", CONVERT_BOOK),
        (0, b"ITOLITLS", "a book for Microsoft Reader", CONVERT_BOOK),
        (0, b"%!PS-Adobe", "a PostScript document", CONVERT),
        (
            0,
            b"version https://git-lfs.github.com/spec/",
            "a pointer of Git LFS",
            "fetch the file itself by git lfs pull",
        ),
        (0, b"PAR1", "a Parquet file", "convert it to JSON Lines first"),
        (0, b"\x89PNG\r\n", "a PNG image", LEAVE_OUT),
        (0, b"\xFF\xD8\xFF", "a JPEG image", LEAVE_OUT),
        (0, b"GIF87a", "a GIF image", LEAVE_OUT),
        (0, b"GIF89a", "a GIF image", LEAVE_OUT),
        (0, b"RIFF", "an image or a recording", LEAVE_OUT),
        (0, b"SQLite format 3\0", "an SQLite database", LEAVE_OUT),
        (0, b"\x7FELF", "a program", LEAVE_OUT),
        (0, b"\xFF\xFE\0\0", "text in UTF-32", "convert it to UTF-8"),
        (0, b"\0\0\xFE\xFF", "text in UTF-32", "convert it to UTF-8"),
    ];
    if bytes.starts_with(ARCHIVE) && memchr::memmem::find(bytes, b"xl/workbook.xml").is_some() {
        return Some(("an Excel workbook", "save it as CSV UTF-8"));
    }
    if let Some(document) = bytes.starts_with(ARCHIVE).then(|| office_document(bytes)).flatten() {
        return Some((document, SAVE_AS));
    }
    if is_fiction_book(bytes) {
        return Some(("a FictionBook (FB2)", CONVERT_BOOK));
    }
    let found = FORMATS.iter().find(|(at, magic, ..)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(magic)))?;
    // "RIFF" alone may begin a text; the container goes on with a length and its kind. Parquet ends as it begins.
    let is_text_after_all = found.1 == b"RIFF" && !matches!(bytes.get(8..12), Some(b"WEBP" | b"WAVE" | b"AVI "))
        || found.1 == b"PAR1" && !bytes.ends_with(b"PAR1");
    (!is_text_after_all).then_some((found.2, found.3))
}

/// True of an XML document whose outermost element is `FictionBook`.
fn is_fiction_book(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1024)];
    let is_xml = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start().starts_with(b"<");
    is_xml && memchr::memmem::find(head, b"<FictionBook").is_some()
}
