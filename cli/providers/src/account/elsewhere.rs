//! Addresses that the providers' own tools take from the environment, and closeread does not.

use super::Keys;
use anyhow::{Result, bail};
use reqwest::Url;

/// Variables by which such tools ask at another address, by the provider's name.
static VARIABLES: [(&str, &[&str]); 4] = [
    ("openai", &["OPENAI_BASE_URL", "OPENAI_API_BASE"]),
    ("anthropic", &["ANTHROPIC_BASE_URL"]),
    ("gemini", &["GOOGLE_GEMINI_BASE_URL"]),
    ("cohere", &["CO_API_URL"]),
];

/// Refuses to ask a provider at its own address where a variable names another: a book would go where it is not meant to.
///
/// # Errors
/// If there is such a variable. Its value is not repeated: it may hold a key.
pub(crate) fn refuse_another(keys: &Keys, provider: &str, own: &str, option: &str) -> Result<()> {
    let Some((_, variables)) = VARIABLES.iter().find(|(name, _)| *name == provider) else { return Ok(()) };
    let Some((variable, url)) = keys.first_of(variables) else { return Ok(()) };
    // Some tools write `/v1` at the end and some do not: what counts is who gets the book.
    let server = |url: &str| Url::parse(url.trim()).ok().map(|url| url.origin());
    if server(url.reveal()) == server(own) {
        return Ok(());
    }
    bail!(
        "{variable} names another address than {own}, and closeread reads no address there: say by {option} which is \
         meant, or set {variable} to {own}"
    );
}
