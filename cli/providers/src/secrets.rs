//! What is secret of an account: its key, and what its address holds of one.

use crate::account::Address;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use closeread_llm::provider::{Secret, likely_keys};
use closeread_llm::{HostError, Response};

/// Shortest value in an address's query that can be a key.
const MIN_IN_QUERY: usize = 8;

/// The secrets of an account, which are kept out of what its server says.
#[derive(Clone)]
pub struct Secrets(Vec<Secret>);

impl Secrets {
    /// The keys, and of the address the password, both with the user as they are sent (`Basic`), the query's values, and keys in
    /// the path.
    pub fn of<'a>(keys: impl IntoIterator<Item = &'a Secret>, address: &Address) -> Self {
        let mut secrets: Vec<Secret> = keys.into_iter().cloned().collect();
        let Ok(url) = reqwest::Url::parse(address.reveal()) else { return Self(secrets) };
        let user = unescaped(url.username());
        let password = url.password().map(unescaped);
        if password.is_some() || !user.is_empty() {
            let sent = format!("{user}:{}", password.as_deref().unwrap_or_default());
            secrets.extend([Secret::new(STANDARD.encode(&sent)), Secret::new(password.unwrap_or(user))]);
        }
        let values = url.query_pairs().filter(|(_, value)| value.len() >= MIN_IN_QUERY);
        secrets.extend(values.map(|(_, value)| Secret::new(value)));
        secrets.extend(likely_keys(url.path()).map(Secret::new));
        Self(secrets)
    }

    /// A text without them.
    pub fn redact(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| secret.redact(&text))
    }

    /// Returns whether one of them is in a text.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|secret| secret.is_in(text))
    }

    /// An error without them.
    pub(crate) fn redact_error(&self, error: HostError) -> HostError {
        self.0.iter().fold(error, |error, secret| secret.redact_error(error))
    }

    /// A response without them.
    pub(crate) fn redact_response(&self, response: Response) -> Response {
        self.0.iter().fold(response, |response, secret| secret.redact_response(response))
    }
}

/// A part of an address without its escapes.
fn unescaped(part: &str) -> String {
    let query = format!("http://x/?x={}", part.replace('+', "%2B"));
    let url = reqwest::Url::parse(&query).ok();
    url.and_then(|url| url.query_pairs().next().map(|(_, text)| text.into_owned())).unwrap_or_else(|| part.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_the_address_is_no_more_to_be_seen_than_a_key() {
        let secrets =
            |url: &str| Secrets::of(Some(&Secret::new("sk-0123456789abcdef")), &Address::new(url, "--x").unwrap());
        let there = secrets("http://ada:pa55%2Bword@h:1/v1?token=0123456789abcdefgh&v=1");
        let said = format!(
            "Basic {} pa55+word 0123456789abcdefgh sk-0123456789abcdef v 1 ada",
            STANDARD.encode("ada:pa55+word")
        );
        assert_eq!(there.redact(&said), "Basic *** *** *** *** v 1 ada");
        let response = Response { text: said, ..Response::default() };
        let kept = there.redact_response(response).text;
        assert_eq!(kept, "Basic *** pa55+word *** *** v 1 ada", "a short one is a word of its own in an answer");
        let in_path =
            secrets("http://h:1/sk-proj-0123456789abcdef/v1").redact("no such path: /sk-proj-0123456789abcdef/v1/x");
        assert_eq!(in_path, "no such path: /***/v1/x");
        assert_eq!(secrets("http://t0ken-of-somebody@h:1/v1").redact("user t0ken-of-somebody"), "user ***");
        let HostError::Failed(error) = there.redact_error(HostError::Failed("pa55+word!".to_owned())) else { panic!() };
        assert_eq!(error, "***!");
    }
}
