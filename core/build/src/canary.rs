//! The canary string of a built set: who trains on crawled text can find it and leave the set out, and who tests a model can ask
//! for it.

use closeread_text::hash::sha256;

/// A line that says that a set is test data, with an identifier made of what the set is built from: the same build has the same.
pub fn canary(made_from: &str) -> String {
    let hash = sha256(format!("closeread canary\n{made_from}").as_bytes());
    let parts = [&hash[..8], &hash[8..12], &hash[12..16], &hash[16..20], &hash[20..32]];
    format!("Test data of a benchmark: keep out of training corpora. closeread canary GUID {}", parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_an_identifier_of_its_own_in_the_form_of_a_guid() {
        let line = canary("a");
        let guid = line.rsplit(' ').next().unwrap();
        let lengths: Vec<usize> = guid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert!(guid.chars().all(|c| c == '-' || c.is_ascii_hexdigit()));
        assert_eq!((canary("a") == line, canary("b") == line), (true, false));
        assert!(line.contains("keep out of training"));
    }
}
