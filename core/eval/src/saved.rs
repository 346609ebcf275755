//! Files of rows as spreadsheets and shells save them: in UTF-16, with a line that names the separator, with semicolons.

use std::borrow::Cow;

/// The bytes of a file as UTF-8, without its byte order mark. PowerShell's `>` and Excel's Unicode text are UTF-16 with one.
pub fn utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        Cow::Owned(text.into_bytes())
    };
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => Cow::Borrowed(rest),
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => Cow::Borrowed(bytes),
    }
}

/// A table in CSV, ready for a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet<'f> {
    /// The table as UTF-8, its lines under their numbers.
    pub bytes: Cow<'f, [u8]>,
    /// The mark between two columns.
    pub separator: u8,
}

/// Finds how a table is written. A first line `sep=;`, which Excel writes and obeys, names the separator and becomes a blank
/// line; without one it is the comma, the semicolon or the tab, whichever the head has most of.
pub fn sheet(bytes: &[u8]) -> Sheet<'_> {
    let bytes = utf8(bytes);
    let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len());
    if let Some(separator) = named_separator(&bytes[..end]) {
        let bytes = match bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[end..]),
            Cow::Owned(mut bytes) => Cow::Owned(bytes.split_off(end)),
        };
        return Sheet { bytes, separator };
    }
    let (mut counts, mut is_quoted) = ([(0, b'\t'), (0, b';'), (0, b',')], false);
    let is_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
    for byte in bytes.iter().skip_while(is_end) {
        if !is_quoted && is_end(&byte) {
            break;
        }
        is_quoted ^= *byte == b'"';
        counts.iter_mut().filter(|(_, mark)| !is_quoted && mark == byte).for_each(|(n, _)| *n += 1);
    }
    // Of equal numbers the last is taken.
    let separator = counts.into_iter().max_by_key(|(n, _)| *n).map_or(b',', |(_, mark)| mark);
    Sheet { bytes, separator }
}

/// The separator that a line names, perhaps in quotation marks, and perhaps filled up to the columns of the table.
fn named_separator(line: &[u8]) -> Option<u8> {
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    let (name, rest) = line.split_at_checked(4)?;
    let (&separator, rest) = rest.split_first().filter(|_| name.eq_ignore_ascii_case(b"sep="))?;
    let is_mark = separator == b'\t' || separator.is_ascii_punctuation();
    let is_padding = |byte: &u8| matches!(byte, b'"' | b' ' | b',' | b';' | b'\t') || *byte == separator;
    (is_mark && rest.iter().all(is_padding)).then_some(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(mark: &[u8], text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        mark.iter().copied().chain(text.encode_utf16().flat_map(unit)).collect()
    }

    #[test]
    fn what_a_mark_calls_utf_16_is_converted() {
        let text = "{\"a\": \"é 书 😀\"}\r\n";
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
            utf16(b"\xFF\xFE", text, u16::to_le_bytes),
            utf16(b"\xFE\xFF", text, u16::to_be_bytes),
        ] {
            assert_eq!(String::from_utf8_lossy(&utf8(&bytes)), text);
        }
        assert_eq!(*utf8(b"\xFF\xFEa\0\0\xD8b"), *"a\u{FFFD}".as_bytes());
    }

    #[test]
    fn the_separator_is_named_or_seen_in_the_head() {
        let check = |text: &str, separator: char, bytes: &str| {
            let sheet = sheet(text.as_bytes());
            assert_eq!((char::from(sheet.separator), &*String::from_utf8_lossy(&sheet.bytes)), (separator, bytes));
        };
        check("sep=;\r\na;b,c,d\r\n", ';', "\r\na;b,c,d\r\n");
        check("\u{feff}\"sep=,\"\nid\n", ',', "\nid\n");
        check("SEP=\t\nid\n", '\t', "\nid\n");
        check("sep=|,,,\na|b\n", '|', "\na|b\n");
        check("sep=\na,b\n", ',', "sep=\na,b\n");
        check("sep=x\na,b\n", ',', "sep=x\na,b\n");
        check("a;b;c\n1,2,3,4,5", ';', "a;b;c\n1,2,3,4,5");
        check("a\tb\tc,d\n", '\t', "a\tb\tc,d\n");
        check("\"a;b;\n;c\",d\n", ',', "\"a;b;\n;c\",d\n");
        check("\r\n\na;b\n", ';', "\r\n\na;b\n");
        check("id\n", ',', "id\n");
        check("", ',', "");
        let wide = utf16(b"\xFF\xFE", "sep=;\na;b\n", u16::to_le_bytes);
        assert_eq!(sheet(&wide), Sheet { bytes: Cow::Borrowed(b"\na;b\n"), separator: b';' });
    }
}
