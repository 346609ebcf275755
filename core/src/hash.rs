//! Content hashes: what names a text, a prompt, an index.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// SHA-256 of the parts, each preceded by its length so that no two lists of parts share a hash, in lower-case hex.
pub fn sha256_of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

/// SHA-256 of the bytes, in lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The first sixteen hex digits of the SHA-256 of a JSON value as it is written: enough to tell items apart.
pub fn short_hash(value: &serde_json::Value) -> String {
    let mut hex = sha256(value.to_string().as_bytes());
    hex.truncate(16);
    hex
}

/// The first twelve hex digits of the SHA-256 of a text: for names of folders and of documents that have none.
pub fn name_hash(text: &str) -> String {
    let mut hex = sha256(text.as_bytes());
    hex.truncate(12);
    hex
}

/// The bytes in lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes every write");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digest() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_ne!(sha256_of_parts([b"ab".as_slice(), b"c"]), sha256_of_parts([b"a".as_slice(), b"bc"]));
    }
}
