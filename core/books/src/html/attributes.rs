//! A limit on the attributes of a tag, since html5ever compares each with all before it.

use std::borrow::Cow;

/// Most attributes of a tag to read.
const MAX_ATTRIBUTES: usize = 64;

/// The markup without the attributes of a tag beyond the first [`MAX_ATTRIBUTES`]. Tags are found as html5ever finds them: none
/// begins inside a comment or one of the elements `is_raw`.
pub(super) fn limited(html: &str, is_raw: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let bytes = html.as_bytes();
    let (mut kept, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(open) = memchr::memchr(b'<', &bytes[at..]).map(|found| at + found) {
        at = open + 1;
        if html[at..].starts_with("!--") {
            at = html[at..].find("-->").map_or(html.len(), |end| at + end);
        } else if bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            let tag = Tag::at(bytes, at);
            if let Some(from) = tag.beyond {
                kept.push_str(&html[copied..from]);
                copied = tag.end;
            }
            let name = html[at..tag.name_end].to_ascii_lowercase();
            at = tag.end;
            if is_raw(&name) && !tag.empty {
                at = end_of_raw(html, at, &name);
            }
        }
    }
    if copied == 0 {
        return Cow::Borrowed(html);
    }
    kept.push_str(&html[copied..]);
    Cow::Owned(kept)
}

/// Returns where `</name` stands.
fn end_of_raw(html: &str, mut at: usize, name: &str) -> usize {
    while let Some(found) = html[at..].find("</") {
        at += found;
        let behind = html.as_bytes().get(at + 2..at + 2 + name.len());
        if behind.is_some_and(|there| there.eq_ignore_ascii_case(name.as_bytes())) {
            return at;
        }
        at += 2;
    }
    html.len()
}

/// Bytes of a tag that opens an element.
struct Tag {
    name_end: usize,
    /// Place where the first attribute too many begins.
    beyond: Option<usize>,
    /// The `>`, or the end of the text.
    end: usize,
    /// Whether the tag closes the element as well.
    empty: bool,
}

impl Tag {
    /// The tag whose name begins at `at` (HTML standard, section 13.2.5, tokenization).
    fn at(bytes: &[u8], at: usize) -> Self {
        let until = |from: usize, ends: fn(u8) -> bool| {
            bytes[from..].iter().position(|&byte| ends(byte)).map_or(bytes.len(), |found| from + found)
        };
        let past_space = |from: usize| until(from, |byte| !byte.is_ascii_whitespace());
        let name_end = until(at, |byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'));
        let (mut at, mut n, mut beyond) = (name_end, 0, None);
        loop {
            let before = at;
            at = until(at, |byte| !byte.is_ascii_whitespace() && byte != b'/');
            if bytes.get(at).is_none_or(|&byte| byte == b'>') {
                return Self { name_end, beyond, end: at, empty: bytes[before..at].last() == Some(&b'/') };
            }
            n += 1;
            if n == MAX_ATTRIBUTES + 1 {
                beyond = Some(at);
            }
            // The first byte of a name may be anything, `=` too.
            let name = until(at + 1, |byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'='));
            at = past_space(name);
            if bytes.get(at) != Some(&b'=') {
                at = name;
                continue;
            }
            at = past_space(at + 1);
            at = match bytes.get(at) {
                Some(&quote @ (b'"' | b'\'')) => {
                    memchr::memchr(quote, &bytes[at + 1..]).map_or(bytes.len(), |found| at + 1 + found + 1)
                }
                Some(b'>') | None => at,
                Some(_) => until(at, |byte| byte.is_ascii_whitespace() || byte == b'>'),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(html: &str) -> String {
        limited(html, |name| name == "script").into_owned()
    }

    #[test]
    fn a_tag_keeps_its_first_attributes() {
        let attributes = |n: usize| (0..n).map(|n| format!(" a{n} = \"it's > {n}\"")).collect::<String>();
        let (within, beyond) = (attributes(MAX_ATTRIBUTES), attributes(MAX_ATTRIBUTES + 500));
        assert_eq!(limit(&format!("<p{within}>one</p>")), format!("<p{within}>one</p>"));
        assert_eq!(limit(&format!("é<p{beyond}>one<b>two")), format!("é<p{within} >one<b>two"));
        assert_eq!(limit(&format!("<p{beyond}")), format!("<p{within} "));
    }

    #[test]
    fn what_is_no_tag_stays() {
        let words = "word ".repeat(200);
        for html in [
            format!("a < b {words}> c"),
            format!("<!-- <p {words}> --><p>{words}"),
            format!("<script>if (a<b {words}) x='</p>'</script><p class=don't>{words} isn't {words}"),
            format!("<script/><p {}>{words}<script src=a/> <p {words}></script>", "a=b ".repeat(3)),
            format!("<p title=x'y>{words}'{words}<br/>{words}"),
            format!("<p =a ==b c=>{words}"),
        ] {
            assert_eq!(limit(&html), html);
        }
    }

    #[test]
    fn finding_09_a_tag_of_two_megabytes_takes_no_time() {
        let html = format!("<p {}>text</p>", (0..200_000).map(|n| format!("a{n}=x ")).collect::<String>());
        assert_eq!(crate::html::to_text(&html, crate::html::Layout::Book).trim(), "text");
    }
}
