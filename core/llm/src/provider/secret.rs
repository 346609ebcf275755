//! Keys, which nothing prints.

use crate::{HostError, Response, ServedBy};
use std::fmt;

/// Shortest key that cannot be a word of an answer.
const MIN_TELLING: usize = 16;

/// A key. It is never printed: `Debug` shows stars.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself, for the header of a request and nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A response with the key replaced, for servers that repeat their requests. Short keys, which servers of one's own are
    /// given, are words of their own: they stay.
    pub fn redact_response(&self, response: Response) -> Response {
        let redact = |text: String| if self.is_in(&text) { self.redact(&text) } else { text };
        let ServedBy { model, fingerprint } = response.served_by;
        let served_by = ServedBy { model: model.map(redact), fingerprint: fingerprint.map(redact) };
        Response { text: redact(response.text), served_by, ..response }
    }

    /// Whether a text holds the key. A short one is a word of its own, and in none.
    pub fn is_in(&self, text: &str) -> bool {
        self.0.len() >= MIN_TELLING && text.contains(&self.0)
    }

    /// A response that is still coming, as [`redact_response`](Self::redact_response) would leave it. An end that may become
    /// the key is held back.
    pub fn redact_so_far(&self, text: &str) -> String {
        if self.0.len() < MIN_TELLING {
            return text.to_owned();
        }
        let mut text = self.redact(text);
        let begun = (1..self.0.len()).rev().filter_map(|length| self.0.get(..length));
        if let Some(begun) = begun.into_iter().find(|begun| text.ends_with(begun)) {
            text.truncate(text.len() - begun.len());
        }
        text
    }

    /// `text` with the key replaced, for servers that repeat it in their errors.
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < 4 { text.to_owned() } else { text.replace(&self.0, "***") }
    }

    /// The error without the key.
    pub fn redact_error(&self, error: HostError) -> HostError {
        match error {
            HostError::Failed(message) => HostError::Failed(self.redact(&message)),
            HostError::Blocked { reason } => HostError::Blocked { reason: self.redact(&reason) },
            HostError::Overflow { message, needed, context_window: window } => {
                HostError::Overflow { message: self.redact(&message), needed, context_window: window }
            }
            HostError::Embedding(message) => HostError::Embedding(self.redact(&message)),
            HostError::Text(message) => HostError::Text(self.redact(&message)),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let secret = Secret::new("sk-12345");
        assert_eq!(format!("{secret:?}"), "***");
        assert_eq!(secret.redact("Incorrect API key provided: sk-12345."), "Incorrect API key provided: ***.");
        let response = |text: &str| {
            let served_by = ServedBy { model: Some(text.to_owned()), ..ServedBy::default() };
            Response { text: text.to_owned(), served_by, ..Response::default() }
        };
        assert_eq!(secret.redact_response(response("sk-12345")), response("sk-12345"), "it may be a word of the book");
        let long = Secret::new("sk-1234567890abcdef");
        assert_eq!(long.redact_response(response("You sent sk-1234567890abcdef.")), response("You sent ***."));
    }

    #[test]
    fn no_beginning_of_a_key_is_shown_of_a_response_that_is_still_coming() {
        let (secret, said) = (Secret::new("sk-1234567890abcdef"), "You sent sk-1234567890abcdef, sk");
        for end in 0..=said.len() {
            let shown = secret.redact_so_far(&said[..end]);
            assert!("You sent ***, ".starts_with(&shown), "{shown}");
        }
        assert_eq!(secret.redact_so_far("asks, then"), "asks, then");
        assert_eq!(Secret::new("short").redact_so_far("a sho"), "a sho");
    }
}
