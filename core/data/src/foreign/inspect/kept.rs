//! How much of a sample is kept while it is read.

use closeread_eval::rows::too_many_values;

/// Fields that are passed over: an agent's sample can have millions of values in them.
const PASSED_OVER: [&[u8]; 7] =
    [b"events", b"events_data", b"messages", b"attachments", b"store", b"timelines", b"error_retries"];

/// Returns the message on a sample whose other fields have so many values that they fill the memory.
pub(super) fn too_many(sample: &[u8]) -> Option<String> {
    too_many_values(sample)?;
    too_many_values(&without_passed_over(sample))
}

fn without_passed_over(sample: &[u8]) -> Vec<u8> {
    let (mut kept, mut depth, mut text, mut is_passed_over) = (Vec::new(), 0_usize, None, false);
    let mut bytes = sample.iter().copied().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (text, byte) {
            (Some(_), b'\\') => {
                bytes.next();
            }
            (Some(start), b'"') => {
                text = None;
                if depth == 1 && sample[at + 1..].trim_ascii_start().starts_with(b":") {
                    is_passed_over = PASSED_OVER.contains(&&sample[start..at]);
                }
            }
            (None, b'"') => text = Some(at + 1),
            (None, b'[' | b'{') => depth += 1,
            (None, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        // What is escaped in a text counts for nothing.
        if !is_passed_over && byte != b'\\' {
            kept.push(byte);
        }
    }
    kept
}
