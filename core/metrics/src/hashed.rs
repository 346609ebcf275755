//! Gold answers that a public file can carry without telling them.

use super::{Words, squad_normalize};
use closeread_text::hash::sha256;

const PREFIX: &str = "sha256:";

/// A gold answer of which only a salted hash is known, written `sha256:SALT:DIGEST`.
///
/// DIGEST is the SHA-256, in 64 lower-case hex digits, of the salt, a colon and the answer as SQuAD's exact match
/// normalises it (lower case, no punctuation, no articles, single blanks). Only exact match can tell whether an answer is
/// the same. The salt keeps one list of hashed words from opening every benchmark; it does not keep a short answer from
/// being guessed by who tries all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashedAnswer<'a> {
    salt: &'a str,
    digest: &'a str,
}

impl<'a> HashedAnswer<'a> {
    /// Reads a hashed gold answer; `None` if the gold answer is one in the open.
    pub fn parse(gold: &'a str) -> Option<Self> {
        let (salt, digest) = gold.strip_prefix(PREFIX)?.split_once(':')?;
        let is_digest = digest.len() == 64 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        is_digest.then_some(Self { salt, digest })
    }

    /// True if the answer is the gold one after normalisation.
    pub fn matches(&self, answer: &str) -> bool {
        digest(answer, self.salt) == self.digest
    }
}

/// The gold answer as a public file carries it; `salt` must not hold a colon.
pub fn hashed(gold: &str, salt: &str) -> String {
    format!("{PREFIX}{salt}:{}", digest(gold, salt))
}

fn digest(answer: &str, salt: &str) -> String {
    sha256(format!("{salt}:{}", squad_normalize(answer, Words::Reference)).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_matches_its_hash_as_exact_match_would() {
        let gold = hashed("The Red Hat!", "s1");
        let hidden = HashedAnswer::parse(&gold).unwrap();
        assert!(hidden.matches("red  hat") && hidden.matches("a RED hat."));
        assert!(!hidden.matches("red hats"));
        assert!(!gold.to_lowercase().contains("hat"));
        assert_ne!(gold, hashed("The Red Hat!", "s2"));
    }

    #[test]
    fn only_a_whole_hash_is_one() {
        for open in ["sha256 is a hash", "sha256:salt", "sha256:salt:abc", "red"] {
            assert_eq!(HashedAnswer::parse(open), None, "{open}");
        }
    }
}
