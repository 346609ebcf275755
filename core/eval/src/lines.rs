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
}
