//! Server-sent events (WHATWG HTML, section 9.2), out of bytes that arrive in pieces of any size.

use memchr::memchr2;

/// Byte order mark that may stand before the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Type of the event; empty if the server gave none.
    pub(super) kind: String,
    /// Data of the event, lines joined by a line feed.
    pub(super) data: String,
}

/// Cuts bytes into events.
#[derive(Debug, Clone, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    after_return: bool,
    /// Whether a line was read.
    begun: bool,
}

impl Events {
    /// The events that `bytes` complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(at) = memchr2(b'\n', b'\r', rest) else { break };
            self.line.extend_from_slice(&rest[..at]);
            self.after_return = rest[at] == b'\r';
            events.extend(self.end_line());
            rest = &rest[at + 1..];
        }
        self.line.extend_from_slice(rest);
        events
    }

    /// Bytes that are held until their event is complete.
    pub(super) fn held(&self) -> usize {
        self.line.len() + self.event.data.len() + self.event.kind.len()
    }

    /// The event that the end of the stream leaves open, which servers without a last blank line send.
    pub(super) fn finish(mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_event()
    }

    fn end_line(&mut self) -> Option<Event> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            return self.end_event();
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.event.kind),
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: &str = ": hello\r\nevent: a\r\ndata: {\"x\":\r\ndata:1}\r\n\r\ndata: é\n\nid: 3\n\ndata: last";

    fn events(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<(String, String)> {
        let mut reader = Events::default();
        let mut found: Vec<Event> = pieces.flat_map(|piece| reader.push(&piece)).collect();
        found.extend(reader.finish());
        found.into_iter().map(|event| (event.kind, event.data)).collect()
    }

    #[test]
    fn comments_and_empty_events_are_passed_over() {
        let expected = [("a", "{\"x\":\n1}"), ("", "é"), ("", "last")];
        assert_eq!(
            events(std::iter::once(STREAM.as_bytes().to_vec())),
            expected.map(|(kind, data)| (kind.to_owned(), data.to_owned()))
        );
    }

    proptest! {
        #[test]
        fn where_the_pieces_are_cut_does_not_matter(size in 1usize..20) {
            let whole = events(std::iter::once(STREAM.as_bytes().to_vec()));
            prop_assert_eq!(events(STREAM.as_bytes().chunks(size).map(<[u8]>::to_vec)), whole);
        }
    }
}
