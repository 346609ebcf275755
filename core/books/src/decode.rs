//! Text from bytes: which encoding, and whether it is text at all.

mod declared;
mod formats;
mod legacy;

use super::book::has_text;
use super::language::detect;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    BIG5, Encoding, GB18030, GBK, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1252,
    WINDOWS_1257,
};
use formats::known_format;
#[cfg(feature = "epub")]
pub(super) use formats::{SAVE_AS, office_document};
use legacy::{Look, is_ebcdic, second_look};
use std::cmp::Ordering;

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The whole text. A byte order mark stays, as U+FEFF, so that offsets into UTF-8 files are offsets into the file.
    pub text: String,
    /// The encoding's name in the WHATWG Encoding Standard, e.g. `UTF-8`, `gb18030`, `windows-1252` (which covers
    /// ISO-8859-1).
    pub encoding: &'static str,
    /// Notes that a reader should know: replaced bytes, a byte order mark at odds with the encoding asked for.
    pub notes: Vec<String>,
}

/// The reason why bytes are no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// There is no encoding of this name.
    #[error(
        "unknown encoding `{label}`: expected a name like utf-8, utf-16le, gb18030, big5, shift_jis, windows-1252 or \
         iso-8859-1"
    )]
    UnknownLabel {
        /// Name of the encoding that was asked for.
        label: String,
    },
    /// The file has no bytes, or white space only.
    #[error("the file is empty ({bytes} bytes, none of them text): expected a book's text")]
    Empty {
        /// Length of the file.
        bytes: usize,
    },
    /// A known format that is not plain text.
    #[error("the file is {what}, not plain text: {hint}")]
    Format {
        /// The format, with its article.
        what: &'static str,
        /// Hint on what to do.
        hint: &'static str,
    },
    /// The file has bytes that no text has.
    #[error(
        "the file is binary, not plain text: byte {offset} (line {line}) is the control character 0x{byte:02X}; \
         {hint}"
    )]
    Binary {
        /// Position of the first such byte, from 0.
        offset: usize,
        /// Line of the byte, from 1.
        line: usize,
        /// Value of the byte.
        byte: u8,
        /// Hint on what to do.
        hint: &'static str,
    },
    /// The file is UTF-8, but damaged.
    #[error(
        "invalid UTF-8: byte {offset} (line {line}) is 0x{byte:02X}, {n_invalid} such in the file, while \
         {n_valid} characters beside ASCII are valid; repair the file, or read it as it is by \
         naming its encoding: as utf-8, \u{FFFD} stands for each"
    )]
    InvalidUtf8 {
        /// Position of the first invalid byte, from 0.
        offset: usize,
        /// Line of the byte, from 1.
        line: usize,
        /// Value of the byte.
        byte: u8,
        /// Invalid sequences in the file.
        n_invalid: usize,
        /// Valid sequences of more than one byte.
        n_valid: usize,
    },
    /// The best guess does not decode the file.
    #[error(
        "the encoding is not clear: {guess} is likeliest, yet byte {offset} (line {line}) is invalid in it; \
         name the encoding, or repair the file"
    )]
    Undetected {
        /// Name of the likeliest encoding.
        guess: &'static str,
        /// Position of the first invalid sequence, from 0.
        offset: usize,
        /// Line of the byte, from 1.
        line: usize,
    },
}

/// Decodes a text file; `label` names the encoding (any WHATWG label: `gbk`, `latin1`, `sjis`), `None` detects it.
///
/// Detection: a byte order mark (UTF-8, UTF-16); else UTF-8 if every byte is valid; else ISO-2022-JP by its escapes; else
/// an error if the file is UTF-8 but for some damage (valid sequences outweigh invalid bytes: legacy encodings are almost
/// never valid UTF-8, and mojibake must not enter a benchmark silently); else what a page of HTML or XML declares, if it
/// decodes the page without a fault; else chardetng's guess, which must decode the file without a fault. GBK is reported as
/// the gb18030 that it is a part of. A guess in which words look odd is looked at again: Mac Roman is read, texts of DOS and
/// EBCDIC are refused, any other gets a note.
///
/// # Errors
/// [`DecodeError`]; with a label, invalid bytes are no error: each becomes U+FFFD and a note counts them.
pub fn decode(bytes: &[u8], label: Option<&str>) -> Result<Decoded, DecodeError> {
    if let Some((what, hint)) = known_format(bytes) {
        return Err(DecodeError::Format { what, hint });
    }
    let decoded = match label {
        Some(label) => decode_as(bytes, named(label)?),
        None => decode_detected(bytes)?,
    };
    if !has_text(&decoded.text) && !decoded.text.contains('\0') {
        return Err(DecodeError::Empty { bytes: bytes.len() });
    }
    // A control character of the text is one byte in every encoding but UTF-16.
    if let Some(offset) = binary_at(decoded.text.as_bytes()) {
        return Err(binary(decoded.text.as_bytes(), offset, bytes));
    }
    Ok(decoded)
}

fn named(label: &str) -> Result<&'static Encoding, DecodeError> {
    match Encoding::for_label(label.trim().as_bytes()) {
        // The standard's stand-in for encodings it refuses to decode.
        None => Err(DecodeError::UnknownLabel { label: label.to_owned() }),
        Some(encoding) if encoding == REPLACEMENT => Err(DecodeError::UnknownLabel { label: label.to_owned() }),
        Some(encoding) if encoding == GBK => Ok(GB18030),
        Some(encoding) => Ok(encoding),
    }
}

/// Decodes whatever `bytes` hold as `encoding`, replacing what is invalid.
fn decode_as(bytes: &[u8], encoding: &'static Encoding) -> Decoded {
    let mut notes = Vec::new();
    if let Some((marked, _)) = Encoding::for_bom(bytes).filter(|(marked, _)| *marked != encoding) {
        notes.push(format!(
            "its byte order mark says {}, it was read as {} because that was asked for",
            marked.name(),
            encoding.name()
        ));
    }
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    if had_errors {
        let n_replaced = text.matches('\u{FFFD}').count();
        notes.push(format!("{n_replaced} invalid sequences for {} were replaced by U+FFFD", encoding.name()));
    }
    Decoded { text: text.into_owned(), encoding: encoding.name(), notes }
}

fn decode_detected(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes).filter(|(encoding, _)| *encoding != UTF_8) {
        return strictly(bytes, encoding);
    }
    if is_ebcdic(bytes) {
        return Err(DecodeError::Format { what: "text in EBCDIC", hint: "convert it to UTF-8" });
    }
    if let Some(offset) = binary_at(bytes) {
        return Err(binary(bytes, offset, bytes));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        if is_iso_2022_jp(bytes) {
            return strictly(bytes, ISO_2022_JP);
        }
        return Ok(Decoded { text: text.to_owned(), encoding: UTF_8.name(), notes: Vec::new() });
    }
    let guess = guess(bytes);
    let declared = declared::encoding(bytes).and_then(|encoding| strictly(bytes, encoding).ok());
    let damage = Utf8Damage::of(bytes);
    if damage.is_utf8(bytes, guess.is_single_byte() && declared.is_none()) {
        return Err(DecodeError::InvalidUtf8 {
            offset: damage.first,
            line: line_of(bytes, damage.first),
            byte: bytes[damage.first],
            n_invalid: damage.n_invalid,
            n_valid: damage.n_valid,
        });
    }
    if let Some(decoded) = declared {
        return Ok(decoded);
    }
    let mut decoded = strictly(bytes, guess)?;
    match second_look(bytes, guess, &decoded.text) {
        Look::AsGuessed => {}
        Look::Doubtful(note) => decoded.notes.push(note),
        Look::Mac(mac) => return Ok(mac),
        Look::Dos => {
            let hint = "convert it to UTF-8, as by iconv -f CP850 -t UTF-8; to read it otherwise, name the encoding";
            return Err(DecodeError::Format { what: "text in a code page of DOS (437 or 850)", hint });
        }
    }
    Ok(decoded)
}

/// Decodes, or says where `encoding` fails.
fn strictly(bytes: &[u8], encoding: &'static Encoding) -> Result<Decoded, DecodeError> {
    let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(bytes) else {
        let offset = first_fault(bytes, encoding);
        return Err(DecodeError::Undetected { guess: encoding.name(), offset, line: line_of(bytes, offset) });
    };
    Ok(Decoded { text: text.into_owned(), encoding: encoding.name(), notes: Vec::new() })
}

/// Position of the first byte at which `encoding` cannot go on.
fn first_fault(bytes: &[u8], encoding: &'static Encoding) -> usize {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let room = decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or(bytes.len());
    let mut text = vec![0; room];
    let (result, n_read, _) = decoder.decode_to_utf8_without_replacement(bytes, &mut text, true);
    match result {
        encoding_rs::DecoderResult::Malformed(n_bad, n_after) => {
            n_read.saturating_sub(usize::from(n_bad) + usize::from(n_after))
        }
        _ => n_read,
    }
}

/// chardetng's guess among the encodings that are not UTF-8.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    let mut guess = detector.guess(None, Utf8Detection::Deny);
    if guess.is_single_byte() && is_english(bytes) {
        // A few accents or pound signs tell chardetng little; that the words are English tells it of Western Europe.
        guess = detector.guess(Some(b"uk"), Utf8Detection::Deny);
    }
    if guess == WINDOWS_1252 && is_hungarian(bytes) {
        return WINDOWS_1250;
    }
    if guess == WINDOWS_1252 && is_estonian(bytes) {
        return WINDOWS_1257;
    }
    if guess == GBK || needs_four_bytes(bytes, guess) { GB18030 } else { guess }
}

/// True if `bytes` fail in `guess` but are gb18030 with its four-byte sequences, which chardetng does not score.
fn needs_four_bytes(bytes: &[u8], guess: &'static Encoding) -> bool {
    let is_whole = |encoding: &'static Encoding| {
        encoding.decode_without_bom_handling_and_without_replacement(bytes).is_some_and(|t| !t.is_ascii())
    };
    let four_bytes = bytes.windows(4).any(|w| matches!(w, [0x81..=0xFE, 0x30..=0x39, 0x81..=0xFE, 0x30..=0x39]));
    four_bytes && is_whole(GB18030) && (guess.is_single_byte() || guess == BIG5 || !is_whole(guess))
}

/// True if at least one word in seven is one of the commonest English ones.
fn is_english(bytes: &[u8]) -> bool {
    const COMMON: &[&[u8]] = &[
        b"the", b"of", b"and", b"to", b"in", b"that", b"he", b"was", b"it", b"is", b"for", b"with", b"his", b"on",
        b"be", b"at", b"by", b"had", b"not", b"she", b"her", b"you", b"but",
    ];
    let words = bytes.split(|b| !b.is_ascii_alphabetic() && b.is_ascii()).filter(|w| !w.is_empty());
    let (mut n_words, mut n_common) = (0usize, 0usize);
    for word in words {
        n_words += 1;
        n_common += usize::from(COMMON.iter().any(|c| c.eq_ignore_ascii_case(word)));
    }
    n_common * 7 >= n_words.max(1)
}

/// True of Hungarian with its ő or ű, which chardetng takes for the õ and û of Western Europe.
fn is_hungarian(bytes: &[u8]) -> bool {
    let has_long = bytes.iter().any(|byte| matches!(byte, 0xD5 | 0xDB | 0xF5 | 0xFB));
    has_long && detect(&WINDOWS_1250.decode_without_bom_handling(bytes).0).code() == "hu"
}

/// True of Estonian with its š or ž, which chardetng takes for the ð and þ of Icelandic, where they are far more common.
fn is_estonian(bytes: &[u8]) -> bool {
    let n_hooked = bytes.iter().filter(|byte| matches!(byte, 0xD0 | 0xDE | 0xF0 | 0xFE)).count();
    let is_rare = n_hooked > 0 && n_hooked * 50 < bytes.len();
    is_rare && detect(&WINDOWS_1257.decode_without_bom_handling(bytes).0).code() == "et"
}

fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    bytes.is_ascii()
        && bytes.windows(3).any(|w| matches!(w, [0x1B, b'$', b'B' | b'@']))
        && ISO_2022_JP.decode_without_bom_handling_and_without_replacement(bytes).is_some()
}

/// The damage of a file that is not quite UTF-8.
struct Utf8Damage {
    first: usize,
    n_invalid: usize,
    n_valid: usize,
    n_valid_bytes: usize,
    n_invalid_bytes: usize,
}

impl Utf8Damage {
    fn of(bytes: &[u8]) -> Self {
        let mut damage = Self { first: bytes.len(), n_invalid: 0, n_valid: 0, n_valid_bytes: 0, n_invalid_bytes: 0 };
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars().filter(|c| !c.is_ascii()) {
                damage.n_valid += 1;
                damage.n_valid_bytes += c.len_utf8();
            }
            at += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                damage.first = damage.first.min(at);
                damage.n_invalid += 1;
                damage.n_invalid_bytes += chunk.invalid().len();
            }
            at += chunk.invalid().len();
        }
        damage
    }

    /// True if the file was UTF-8 before it was damaged.
    ///
    /// Chinese in GBK is valid UTF-8 for some 15% of its characters by chance, so there three quarters must be valid;
    /// in single-byte encodings valid sequences are rare, so there half will do, but not against what a page declares: ’é
    /// of Mac Roman is one. A byte order mark settles it.
    fn is_utf8(&self, bytes: &[u8], is_rare: bool) -> bool {
        let factor = if is_rare { 1 } else { 3 };
        bytes.starts_with(b"\xEF\xBB\xBF") || (self.n_valid > 0 && self.n_valid_bytes >= factor * self.n_invalid_bytes)
    }
}

/// Position of the first control character if there are too many for text: any NUL, or one in 500 bytes.
///
/// Old text files do hold a stray one (a form feed, the end-of-file mark of DOS, an escape).
fn binary_at(bytes: &[u8]) -> Option<usize> {
    let is_control = |b: &u8| matches!(b, 0x00..=0x08 | 0x0E..=0x19 | 0x1C..=0x1F | 0x7F);
    if let Some(nul) = bytes.iter().position(|&b| b == 0) {
        return Some(nul);
    }
    let n_controls = bytes.iter().filter(|b| is_control(b)).count();
    if n_controls * 500 > bytes.len() { bytes.iter().position(is_control) } else { None }
}

/// The error for the control character at `offset` of `bytes`, part of the file `whole`.
fn binary(bytes: &[u8], offset: usize, whole: &[u8]) -> DecodeError {
    // Every script has spaces or line ends of ASCII, or the stops of Chinese; in the other order of bytes they are rare letters.
    let n_common = |encoding: &'static Encoding| {
        let text = encoding.decode_without_bom_handling_and_without_replacement(&whole[..whole.len() & !1]);
        let text = text.filter(|text| binary_at(text.as_bytes()).is_none()).unwrap_or_default();
        text.chars().filter(|c| c.is_ascii() || "、。，".contains(*c)).count()
    };
    // What is ASCII but for a few bytes is no UTF-16, though half of it may look like that.
    if whole.iter().filter(|byte| matches!(byte, b'\t'..=b'\r' | b' '..=b'~')).count() * 10 > whole.len() * 9 {
        let hint = "remove it and others like it, or give another text file";
        return DecodeError::Binary { offset, line: line_of(bytes, offset), byte: bytes[offset], hint };
    }
    let hint = match n_common(UTF_16BE).cmp(&n_common(UTF_16LE)) {
        Ordering::Greater => "it looks like UTF-16 without its mark: name the encoding utf-16be",
        Ordering::Less => "it looks like UTF-16 without its mark: name the encoding utf-16le",
        Ordering::Equal => "give a text file, or convert this one to text first",
    };
    DecodeError::Binary { offset, line: line_of(bytes, offset), byte: bytes[offset], hint }
}

/// Line of byte `offset`, from 1.
fn line_of(bytes: &[u8], offset: usize) -> usize {
    let before = &bytes[..offset.min(bytes.len())];
    1 + before
        .iter()
        .enumerate()
        .filter(|&(i, &b)| b == b'\n' || (b == b'\r' && bytes.get(i + 1) != Some(&b'\n')))
        .count()
}
