//! The encoding that a page of HTML or XML says it is in.

use encoding_rs::{Encoding, GB18030, GBK, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// Bytes in which the standard of HTML looks for it.
const HEAD: usize = 1024;

/// The single-byte or legacy encoding that the page declares; `None` for a text that is no page, and for one of Unicode's, which
/// bytes show by themselves.
pub(super) fn encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
        let xml = r#"\A<\?xml\s[^>]*?encoding\s*=\s*["']([^"'>]+)["']"#;
        let meta = r#"<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)"#;
        Regex::new(&format!("(?i-u){xml}|{meta}")).expect("a valid pattern")
    });
    let head = bytes[..bytes.len().min(HEAD)].trim_ascii_start();
    if !head.starts_with(b"<") {
        return None;
    }
    let found = DECLARED.captures(head)?;
    let encoding = Encoding::for_label(found.get(1).or(found.get(2))?.as_bytes())?;
    let is_legacy = ![UTF_8, UTF_16BE, UTF_16LE, REPLACEMENT].contains(&encoding);
    is_legacy.then_some(if encoding == GBK { GB18030 } else { encoding })
}
