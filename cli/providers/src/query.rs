//! The query of an address: what it chooses, such as a gateway's backend, without the keys that it may hold.

use crate::account::without_credentials;
use crate::extra_body::names_a_key;
use closeread_text::hash::name_hash;

/// Names of keys that are none elsewhere: functions of Azure, signed addresses.
const KEYS: [&str; 3] = ["code", "sig", "signature"];

/// Stands before the hash of a query in an address.
const HASH: &str = "sha256=";

/// The hash of what the query of an address chooses; none where it holds nothing but keys. Two addresses that differ in it may
/// be two servers. That of [`told_apart`] has the hash that it holds.
pub fn query_hash(url: &str) -> Option<String> {
    let url = reqwest::Url::parse(url).ok()?;
    if let Some(hash) = url.query().and_then(|query| query.strip_prefix(HASH))
        && hash.len() == 12
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        return Some(hash.to_owned());
    }
    let is_key = |name: &str| names_a_key(name) || KEYS.contains(&&*name.to_lowercase());
    let mut chosen: Vec<String> =
        url.query_pairs().filter(|(name, _)| !is_key(name)).map(|(name, value)| format!("{name}={value}")).collect();
    chosen.sort();
    (!chosen.is_empty()).then(|| name_hash(&chosen.join("&")))
}

/// The address without credentials, with the hash of what its query chooses.
pub fn told_apart(url: &str) -> String {
    let address = without_credentials(url);
    query_hash(url).map_or_else(|| address.clone(), |hash| format!("{address}?{HASH}{hash}"))
}

#[cfg(test)]
mod tests {
    use super::{query_hash, told_apart};

    #[test]
    fn an_address_is_told_apart_by_what_its_query_chooses() {
        assert_eq!(told_apart("http://u:p@h/v1?key=k"), "http://h/v1");
        let shown = told_apart("http://h/v1?backend=a");
        assert!(shown.starts_with("http://h/v1?sha256=") && !shown.contains("backend"), "{shown}");
        assert_eq!(told_apart(&shown), shown, "a run folder names it so");
        assert!(!told_apart("http://h/v1?sha256=backend").contains("backend"));
    }

    #[test]
    fn a_key_in_a_query_chooses_nothing() {
        let of = |query: &str| query_hash(&format!("http://h/v1{query}"));
        for query in ["", "?", "?key=k", "?api_key=k&Sig=s", "?subscription-key=k", "?code=c", "#backend=a"] {
            assert_eq!(of(query), None, "{query}");
        }
        assert!(of("?backend=a").is_some_and(|hash| hash.len() == 12));
        assert_eq!(of("?backend=a&v=1&token=t"), of("?v=1&backend=%61"));
        assert_ne!(of("?backend=a"), of("?backend=b"));
    }
}
