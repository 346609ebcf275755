//! The lines in which the records of a CSV file begin, which its reader does not say right where lines end in CRLF.

/// Counts lines up to ascending offsets.
#[derive(Debug)]
pub struct Lines<'b> {
    bytes: &'b [u8],
    end: u8,
    at: usize,
    line: usize,
}

impl<'b> Lines<'b> {
    /// Begins at the first line of a whole file.
    pub fn new(bytes: &'b [u8]) -> Self {
        // Lone CRs inside fields are no lines to an editor, unless the whole file ends its lines so.
        let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
        Self { bytes, end, at: 0, line: 1 }
    }

    /// The line, from 1, of the record whose reader stood at this offset; no offset may be smaller than the one before.
    pub fn line_of(&mut self, start: u64) -> usize {
        // The reader leaves the LF of a CRLF, and blank lines, to the record that follows.
        let start = usize::try_from(start).unwrap_or(usize::MAX).clamp(self.at, self.bytes.len());
        let blank = self.bytes[start..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let begin = start + blank;
        self.line += self.bytes[self.at..begin].iter().filter(|byte| **byte == self.end).count();
        self.at = begin;
        self.line
    }

    /// The number of lines that the file's last record takes because it never closes a quotation mark; `None` if it closes
    /// all, or is one line. To be called once [`Self::line_of`] was asked for that record.
    pub fn unclosed(&self, separator: u8, escape: Option<u8>) -> Option<usize> {
        let record = self.bytes[self.at..].trim_ascii_end();
        let n_lines = record.iter().filter(|byte| **byte == self.end).count() + 1;
        (n_lines > 1 && is_open(record, separator, escape)).then_some(n_lines)
    }
}

/// Returns whether a record ends within a cell in quotation marks. A mark inside a cell without them, as in `5"`, opens none.
fn is_open(record: &[u8], separator: u8, escape: Option<u8>) -> bool {
    let (mut is_open, mut is_start) = (false, true);
    let mut bytes = record.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if !is_open {
            is_open = is_start && byte == b'"';
            is_start = byte == separator;
        } else if Some(byte) == escape {
            bytes.next();
        } else if byte == b'"' {
            is_open = escape.is_none() && bytes.next_if_eq(&b'"').is_some();
        }
    }
    is_open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_record_with_an_open_quotation_mark_takes_the_lines_behind_it() {
        let check = |text: &str, start: u64, escape: Option<u8>, expected: Option<usize>| {
            let mut lines = Lines::new(text.as_bytes());
            lines.line_of(start);
            assert_eq!(lines.unclosed(b',', escape), expected, "{text:?}");
        };
        check("a,b\n1,\"2\n3,4\n", 4, None, Some(2));
        check("a,b\r1,\"2\r3,4\r", 4, None, Some(2));
        check("a,b\n1,\"2\n3\"\n", 4, None, None);
        check("a,b\n1,5\"\n", 4, None, None);
        check("a,b,c\n\"1\n2\",5\",3\n", 6, None, None);
        check("a,b,c\n5\",\"1\"\"\n2\",3\n", 6, None, None);
        check("a,b,c\n5\",1,\"2\n3,4\n", 6, None, Some(2));
        check("5\",b\n1,\"2\n3\"\n", 5, None, None);
        check("a,b\n1,\"2 \\\"\n3\"\n", 4, Some(b'\\'), None);
        check("a,b\n1,\"2 \\\"\n3,4\n", 4, Some(b'\\'), Some(2));
    }
}
