//! Texts of published files in the encoding that the options name: what adapters are not told they detect.

use anyhow::Result;
use closeread_books::{DecodeError, decode};
use std::path::Path;
use tracing::info;

/// Endings of files that hold a text and nothing else; rows and tables are in UTF-8.
const TEXTS: [&str; 6] = ["content", "htm", "html", "md", "text", "txt"];

/// The bytes of a file; those of a text as UTF-8 if its encoding is named. One that is no text stays as it is.
pub(super) fn utf8(path: &Path, bytes: Vec<u8>, encoding: Option<&str>) -> Result<Vec<u8>> {
    let is_text = path.extension().is_some_and(|ending| TEXTS.iter().any(|text| ending.eq_ignore_ascii_case(text)));
    let Some(encoding) = encoding.filter(|_| is_text) else { return Ok(bytes) };
    match decode(&bytes, Some(encoding)) {
        Ok(decoded) => {
            decoded.notes.iter().for_each(|note| info!("{}: read as {}: {note}", path.display(), decoded.encoding));
            Ok(decoded.text.into_bytes())
        }
        Err(error @ DecodeError::UnknownLabel { .. }) => Err(error.into()),
        Err(_) => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_in_the_encoding_that_is_named() {
        let read = |name: &str, encoding| utf8(Path::new(name), b"caf\x8e".to_vec(), encoding);
        assert_eq!(read("books/B00.TXT", Some("macintosh")).unwrap(), "café".as_bytes());
        assert_eq!(read("B00.txt", None).unwrap(), b"caf\x8e");
        assert_eq!(read("B00.json", Some("macintosh")).unwrap(), b"caf\x8e");
        assert!(read("B00.txt", Some("no such")).is_err());
        assert_eq!(utf8(Path::new("a.txt"), Vec::new(), Some("macintosh")).unwrap(), b"");
    }
}
