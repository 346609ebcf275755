//! Keys of providers, which nothing prints.

use super::message::CUT;
use crate::{HostError, Response, ServedBy};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::fmt;

/// Shortest key that cannot be a word of an answer.
const MIN_TELLING: usize = 16;

/// Fewest characters of a key that are starred where a text was cut within it.
const MIN_OF_CUT: usize = 8;

/// Beginnings of providers' keys.
const BEGINNINGS: [&str; 8] = ["sk-", "sk_", "AIza", "gsk_", "hf_", "xai-", "pplx-", "nvapi-"];
/// Fewest characters of such a key.
const SHORTEST: usize = 20;
/// Fewest letters and digits side by side, both of them, in what is a key and no name.
const SHORTEST_RANDOM: usize = 12;

/// The words of a text that begin as providers' keys do and are as long.
pub fn words_like_keys(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_like = |word: &&str| word.len() >= SHORTEST && BEGINNINGS.iter().any(|begin| word.starts_with(begin));
    text.split(move |c| !is_part(c)).filter(is_like)
}

/// The words of a text that are keys by how they look; a name such as `hf_questions_of_2024` is none.
pub fn likely_keys(text: &str) -> impl Iterator<Item = &str> {
    let is_random = |part: &str| {
        let has = |is: fn(&u8) -> bool| part.bytes().any(|byte| is(&byte));
        part.len() >= SHORTEST_RANDOM && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    };
    words_like_keys(text).filter(move |word| word.split(['-', '_']).any(is_random))
}

/// A text with stars in the place of keys, which nobody knows to be keys but by how they look: one that was typed where something
/// else is expected.
pub fn without_likely_keys(text: &str) -> String {
    likely_keys(text).fold(text.to_owned(), |starred, key| starred.replace(key, "***"))
}

/// A key. It is never printed: `Debug` shows stars.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    key: String,
    /// The key in base64 and in hexadecimal digits, in which nothing of it is seen; none of a short one.
    encoded: Vec<String>,
}

/// The beginning of a text, as far as it concerns the key.
enum Begins {
    /// The key, in this number of bytes.
    Key(usize),
    /// The beginning of the key, if the text went on so.
    Part,
    Other,
}

impl Secret {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        let key = key.into();
        let encoded = if key.len() < MIN_TELLING { Vec::new() } else { encoded(key.as_bytes()) };
        Self { key, encoded }
    }

    /// The key itself, for the header of a request and nothing else.
    pub fn reveal(&self) -> &str {
        &self.key
    }

    /// A response with the key replaced, for servers that repeat their requests. Short keys, which servers of one's own are
    /// given, are words of their own: they stay.
    pub fn redact_response(&self, response: Response) -> Response {
        let redact = |text: String| if self.is_in(&text) { self.redact(&text) } else { text };
        let of_name = |name: String| if self.key.len() < MIN_TELLING { name } else { self.redact(&name) };
        let ServedBy { model, fingerprint } = response.served_by;
        let served_by = ServedBy { model: model.map(of_name), fingerprint: fingerprint.map(of_name) };
        Response { text: redact(response.text), served_by, ..response }
    }

    /// Returns whether a text holds the key, in whatever spelling. A short one is a word of its own, and in none.
    pub fn is_in(&self, text: &str) -> bool {
        self.key.len() >= MIN_TELLING && self.starred(text, false).is_some()
    }

    /// Redacts a response that is still coming, as [`redact_response`](Self::redact_response) would leave it. An end
    /// that may become the key is held back.
    pub fn redact_so_far(&self, text: &str) -> String {
        if self.key.len() < MIN_TELLING {
            return text.to_owned();
        }
        self.starred(text, true).unwrap_or_else(|| text.to_owned())
    }

    /// `text` with the key replaced, for servers that repeat it in their errors: as it is, escaped as in addresses, JSON or
    /// HTML, in base64 or in hexadecimal digits.
    pub fn redact(&self, text: &str) -> String {
        match self.key.len() {
            0..4 => text.to_owned(),
            4..MIN_TELLING => text.replace(&self.key, "***"),
            _ => self.starred_where_cut(self.starred(text, false).unwrap_or_else(|| text.to_owned())),
        }
    }

    /// The text with stars for a beginning of the key that is left where it was cut.
    fn starred_where_cut(&self, text: String) -> String {
        let Some((before, last)) = text.rsplit_once(CUT) else { return text };
        let uncut = |piece: &str| {
            let kept = self.redact_so_far(piece).len();
            if piece.len() < kept + MIN_OF_CUT { piece.to_owned() } else { format!("{}***", &piece[..kept]) }
        };
        let pieces: Vec<String> = before.split(CUT).map(uncut).chain([last.to_owned()]).collect();
        pieces.join(CUT)
    }

    /// The text with stars for the key, in whatever spelling; `None` if it is not in it. Of a text that is still coming an
    /// end that may become the key is left out.
    fn starred(&self, text: &str, is_coming: bool) -> Option<String> {
        let mut may_begin = [false; 256];
        let firsts = self.encoded.iter().chain([&self.key]).filter_map(|key| key.bytes().next());
        firsts.chain(*b"%\\&").for_each(|byte| may_begin[usize::from(byte)] = true);
        let (mut stars, mut kept, mut at) = (None, 0, 0);
        while at < text.len() {
            let begins = match may_begin[usize::from(text.as_bytes()[at])] {
                true => self.begins(&text.as_bytes()[at..]),
                false => Begins::Other,
            };
            match begins {
                Begins::Key(length) => {
                    stars.get_or_insert_with(String::new).push_str(&text[kept..at]);
                    stars.get_or_insert_with(String::new).push_str("***");
                    at += length;
                    kept = at;
                }
                Begins::Part if is_coming => {
                    return Some(stars.unwrap_or_default() + &text[kept..at]);
                }
                Begins::Part | Begins::Other => at += 1,
            }
        }
        stars.map(|stars| stars + &text[kept..])
    }

    fn begins(&self, text: &[u8]) -> Begins {
        let mut is_part = false;
        for key in self.encoded.iter().chain([&self.key]).map(|key| key.as_bytes()) {
            if text.starts_with(key) {
                return Begins::Key(key.len());
            }
            is_part |= key.starts_with(text);
        }
        let mut rest = text;
        for &wanted in self.key.as_bytes() {
            match (rest.first(), escaped(rest)) {
                (None, _) => return Begins::Part,
                (_, Escaped::Byte(byte, length)) if byte == wanted => rest = &rest[length..],
                (_, Escaped::Part) => return Begins::Part,
                (Some(byte), _) if *byte == wanted => rest = &rest[1..],
                _ if is_part => return Begins::Part,
                _ => return Begins::Other,
            }
        }
        Begins::Key(text.len() - rest.len())
    }

    /// The error without the key.
    pub fn redact_error(&self, error: HostError) -> HostError {
        match error {
            HostError::Failed(message) => HostError::Failed(self.redact(&message)),
            HostError::Blocked { reason } => HostError::Blocked { reason: self.redact(&reason) },
            HostError::Billed { error, usage } => {
                HostError::Billed { error: Box::new(self.redact_error(*error)), usage }
            }
            HostError::Overflow { message, needed, context_window: window } => {
                HostError::Overflow { message: self.redact(&message), needed, context_window: window }
            }
            HostError::Embedding(message) => HostError::Embedding(self.redact(&message)),
            HostError::Reranking(message) => HostError::Reranking(self.redact(&message)),
            HostError::Text(message) => HostError::Text(self.redact(&message)),
        }
    }
}

/// Returns what base64 and hexadecimal digits make of the key. Where it begins within three bytes of base64 is not
/// known, nor what stands beside it: these are the characters that it alone decides.
fn encoded(key: &[u8]) -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    for before in 0..3 {
        let bytes = [&b"\0\0"[..before], key].concat();
        let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            forms.push(engine.encode(&bytes)[start..end].to_owned());
        }
    }
    forms.push(key.iter().map(|byte| format!("{byte:02x}")).collect());
    forms.push(key.iter().map(|byte| format!("{byte:02X}")).collect());
    forms.dedup();
    forms
}

/// A byte as an address, JSON or HTML escapes it.
enum Escaped {
    /// A byte, and the number of bytes that say it.
    Byte(u8, usize),
    /// The beginning of an escape, if the text went on so.
    Part,
    No,
}

fn escaped(text: &[u8]) -> Escaped {
    let names: [(&[u8], u8); 5] =
        [(b"&amp;", b'&'), (b"&lt;", b'<'), (b"&gt;", b'>'), (b"&quot;", b'"'), (b"&apos;", b'\'')];
    if let Some((name, byte)) = names.into_iter().find(|(name, _)| text.starts_with(name)) {
        return Escaped::Byte(byte, name.len());
    }
    let (before, radix, most) = match text {
        [b'%', ..] => (1, 16, 2),
        [b'\\', b'u', ..] => (2, 16, 4),
        [b'\\', b'x', ..] => (2, 16, 2),
        [b'\\', byte, ..] => return Escaped::Byte(*byte, 2),
        [b'&', b'#', b'x' | b'X', ..] => (3, 16, 4),
        [b'&', b'#', ..] => (2, 10, 4),
        [b'\\' | b'&'] => return Escaped::Part,
        _ => return Escaped::No,
    };
    let is_html = text[0] == b'&';
    let digits = text[before..].iter().take(most).take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let end = before + digits;
    if text.len() == end && (digits < most || is_html) {
        return Escaped::Part;
    }
    let code = std::str::from_utf8(&text[before..end]).ok().and_then(|digits| u8::from_str_radix(digits, radix).ok());
    match code {
        Some(byte) if is_html && text[end] == b';' => Escaped::Byte(byte, end + 1),
        Some(byte) if !is_html && digits == most => Escaped::Byte(byte, end),
        _ => Escaped::No,
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
    fn a_key_that_was_typed_in_a_wrong_place_is_starred_and_a_name_is_not() {
        let said = "error: invalid value 'sk-proj-0123456789abcdef' for '--budget <N>', `hf_AbCdEfGhIjKlMn0123`";
        assert_eq!(without_likely_keys(said), "error: invalid value '***' for '--budget <N>', `***`");
        for name in ["hf_questions_of_the_year_2024.jsonl", "runs/sk-learn-and-others-of-2026", "sk-1234"] {
            assert_eq!(without_likely_keys(name), name);
        }
    }

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
    fn finding_14_a_key_in_another_spelling_is_no_less_a_key() {
        let key = "sk-or+v1/5f0e77=c1d2%94b6e8";
        let secret = Secret::new(key);
        let base64 = |text: &str| STANDARD_NO_PAD.encode(text);
        let every = |escape: fn(u8) -> String| key.bytes().map(escape).collect::<String>();
        for (spelled, left) in [
            (key.to_owned(), "***"),
            (key.replace('%', "%25").replace('+', "%2B").replace('/', "%2f").replace('=', "%3D"), "***"),
            (every(|byte| format!("%{byte:02x}")), "***"),
            (key.replace('/', "\\/"), "***"),
            (every(|byte| format!("\\u00{byte:02X}")), "***"),
            (every(|byte| format!("&#{byte};")), "***"),
            (every(|byte| format!("&#x{byte:x};")), "***"),
            (every(|byte| format!("{byte:02x}")), "***"),
            (base64(key), "***"),
            (URL_SAFE_NO_PAD.encode(key), "***"),
            (base64(&format!("user:{key}@host")), "dXNlcjp***hAaG9zdA"),
            (base64(&format!("Bearer {key}")), "QmVhcmVyIH***"),
        ] {
            let told = secret.redact(&format!("You sent {spelled}, é."));
            assert!(told.starts_with("You sent ") && told.ends_with(", é.") && told.contains("***"), "{told}");
            assert!(told.len() <= "You sent , é.".len() + left.len() + 2, "{told}");
            assert!(secret.is_in(&spelled));
            let said = format!("You sent {spelled}");
            for end in 0..said.len() {
                let shown = secret.redact_so_far(&said[..end]);
                assert!(shown.len() <= "You sent ".len() + left.len(), "{shown}");
            }
        }
        for other in ["", "%", "\\u00", "&#", "&#1234567;", "sk-or+v1/5f0e77=c1d2%94b6e9", "%E9%zz \\", "é"] {
            assert_eq!(secret.redact(other), other);
        }
        assert_eq!(Secret::new("short%25").redact("short%25 short%2525"), "*** ***25");
    }

    #[test]
    fn finding_14_a_key_is_starred_where_a_text_was_cut_within_it_and_where_html_names_its_characters() {
        let secret = Secret::new("sk-1234567890&abcdef");
        let base64 = STANDARD_NO_PAD.encode("sk-1234567890&abcdef");
        for cut in ["sk-1234567890&abcde", "sk-12345", "sk-1234567890&amp;abc", &base64[..12]] {
            let told = secret.redact(&format!("You sent Bearer {cut} ...; try 2 of 8"));
            assert_eq!(told, "You sent Bearer *** ...; try 2 of 8", "{cut}");
        }
        for words in ["no such words ...", "sk-1 ...", "You sent sk-12345, ...", " ... sk-12345"] {
            assert_eq!(secret.redact(words), words);
        }
        assert_eq!(secret.redact("<p>sk-1234567890&amp;abcdef</p>"), "<p>***</p>");
        let served_by = ServedBy { model: Some("m sk-1234567890 ...".to_owned()), ..ServedBy::default() };
        let kept = secret.redact_response(Response { served_by, ..Response::default() }).served_by;
        assert_eq!(kept.model.as_deref(), Some("m *** ..."));
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
