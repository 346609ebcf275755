//! Server-sent events (WHATWG HTML, section 9.2), out of bytes that arrive in pieces of any size.

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Its type; empty if the server gave none.
    pub(super) kind: String,
    /// Its data, lines joined by a line feed.
    pub(super) data: String,
}

/// Cuts bytes into events.
#[derive(Debug, Clone, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    after_return: bool,
}

impl Events {
    /// The events that `bytes` complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                byte => self.line.push(byte),
            }
        }
        events
    }

    /// The event that the end of the stream leaves open, which servers without a last blank line send.
    pub(super) fn finish(mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_event()
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
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
