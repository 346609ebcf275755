//! The text of a book's file.

/// Decodes a plain text: UTF-8 with or without a byte order mark, else UTF-16 by its mark, else Windows-1252, which
/// holds ISO-8859-1 and is what published stories of the nineties are in. `None` if the bytes are no text.
pub(in crate::benchmark) fn decode(bytes: &[u8]) -> Option<String> {
    let guess = match std::str::from_utf8(bytes) {
        Ok(_) => encoding_rs::UTF_8,
        Err(_) => encoding_rs::WINDOWS_1252,
    };
    let (text, _, _) = guess.decode(bytes);
    (!text.contains('\0')).then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn stories_are_decoded() {
        assert_eq!(decode("\u{feff}Évora".as_bytes()).as_deref(), Some("Évora"));
        assert_eq!(decode(b"\xc9vora").as_deref(), Some("Évora"));
        assert_eq!(decode(b"\xff\xfea\0b\0").as_deref(), Some("ab"));
        assert_eq!(decode(b"PK\0\0"), None);
    }
}
