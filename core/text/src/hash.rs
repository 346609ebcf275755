//! Content hashes: what names a text, a prompt, an index.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// SHA-256 of the parts, each preceded by its length so that no two lists of parts share a hash, in lower-case hex.
pub fn sha256_of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = PartsHash::default();
    for part in parts {
        hash.part(&[part]);
    }
    hash.finish()
}

/// [`sha256_of_parts`] over parts that come one after the other, and need not lie together.
#[derive(Default)]
pub struct PartsHash(Sha256);

impl PartsHash {
    /// Adds a part that stands in `pieces`.
    pub fn part<P: AsRef<[u8]>>(&mut self, pieces: &[P]) {
        let length: usize = pieces.iter().map(|piece| piece.as_ref().len()).sum();
        self.0.update((length as u64).to_le_bytes());
        pieces.iter().for_each(|piece| self.0.update(piece));
    }

    /// Returns the hash in lower-case hex.
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// SHA-256 of the bytes, in lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the first sixteen hex digits of the SHA-256 of a JSON value as it is written: enough to tell items apart.
pub fn short_hash(value: &serde_json::Value) -> String {
    let mut hex = sha256(value.to_string().as_bytes());
    hex.truncate(16);
    hex
}

/// Returns the first twelve hex digits of the SHA-256 of a text: for names of folders and of documents that have none.
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
        let mut pieced = PartsHash::default();
        pieced.part(&[b"a", b"b"]);
        pieced.part(&[b"c"]);
        assert_eq!(pieced.finish(), sha256_of_parts([b"ab".as_slice(), b"c"]));
    }
}
