//! Languages, and what scripts tell of them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An ISO 639-1 language.
///
/// Any code is carried; sentence rules exist for English, Chinese and Japanese, and every other language is segmented as
/// English is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Language([u8; 2]);

/// A language name that is no ISO 639-1 code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a language code{}: expected two letters as in ISO 639-1, e.g. `en` or `zh`", .0, of_country(.0))]
pub struct UnknownLanguage(pub String);

/// Codes of countries that are written for their languages, and are no language's. A text under one would be cut into
/// sentences and words as English is.
const COUNTRIES: [(&str, &str); 2] = [("cn", "zh"), ("jp", "ja")];

/// What is meant by the code of a country, as a part of a message; nothing for what is none.
fn of_country(tag: &str) -> String {
    let code = code_of(tag).to_ascii_lowercase();
    let meant = COUNTRIES.iter().find(|(country, _)| *country == code);
    meant.map_or_else(String::new, |(_, language)| format!(" (did you mean `{language}`?)"))
}

/// The first part of a tag.
fn code_of(tag: &str) -> &str {
    tag.trim().split(['-', '_']).next().unwrap_or_default()
}

impl Language {
    /// English.
    pub const ENGLISH: Self = Self(*b"en");
    /// Chinese, simplified or traditional.
    pub const CHINESE: Self = Self(*b"zh");
    /// Japanese.
    pub const JAPANESE: Self = Self(*b"ja");
    /// Korean.
    pub const KOREAN: Self = Self(*b"ko");

    /// The ISO 639-1 code: two lower-case letters.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).expect("made of ASCII letters only")
    }

    /// The language of a tag that was read before, in a run folder: any two letters.
    pub fn stored(tag: &str) -> Option<Self> {
        match code_of(tag).as_bytes() {
            &[a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                Some(Self([a.to_ascii_lowercase(), b.to_ascii_lowercase()]))
            }
            _ => None,
        }
    }

    /// True for Chinese and Japanese, which put no space between words.
    pub fn is_spaceless(self) -> bool {
        matches!(self, Self::CHINESE | Self::JAPANESE)
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    /// Reads `en`, `EN`, and tags that go on (`en-US`, `zh_Hans`).
    fn from_str(tag: &str) -> Result<Self, UnknownLanguage> {
        let language = Self::stored(tag).filter(|_| of_country(tag).is_empty());
        language.ok_or_else(|| UnknownLanguage(tag.to_owned()))
    }
}

impl TryFrom<String> for Language {
    type Error = UnknownLanguage;

    fn try_from(tag: String) -> Result<Self, UnknownLanguage> {
        Self::stored(&tag).ok_or(UnknownLanguage(tag))
    }
}

impl From<Language> for String {
    fn from(language: Language) -> Self {
        language.code().to_owned()
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The language of `text` where its letters' scripts alone decide: Chinese, Japanese, Korean.
///
/// One Han, Kana or Hangul character carries about as much as a word, so a text is East Asian where such characters
/// outnumber a fifth of the letters of all alphabets; then Kana (at least a tenth of its East Asian characters) means
/// Japanese, a majority of Hangul Korean, anything else Chinese.
pub fn east_asian(text: &str) -> Option<Language> {
    let (mut alphabetic, mut han, mut kana, mut hangul) = (0usize, 0usize, 0usize, 0usize);
    for c in text.chars() {
        match c {
            '\u{AC00}'..='\u{D7AF}' => hangul += 1,
            c if is_kana(c) => kana += 1,
            c if is_han(c) => han += 1,
            c if c.is_alphabetic() => alphabetic += 1,
            _ => {}
        }
    }
    let asian = han + kana + hangul;
    if asian * 5 <= alphabetic {
        return None;
    }
    Some(if hangul * 2 > asian {
        Language::KOREAN
    } else if kana * 10 >= asian {
        Language::JAPANESE
    } else {
        Language::CHINESE
    })
}

/// True for Han characters, whatever language writes them.
pub fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}' | '々' | '〇')
}

/// True for characters of a writing without spaces: Han and Kana.
pub fn is_spaceless(c: char) -> bool {
    is_han(c) || is_kana(c)
}

/// True for the syllables of Japanese, and the marks that repeat or lengthen them.
fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_and_names_refused() {
        assert_eq!("zh-Hant-TW".parse(), Ok(Language::CHINESE));
        assert_eq!("EN_us".parse(), Ok(Language::ENGLISH));
        assert_eq!("english".parse::<Language>(), Err(UnknownLanguage("english".into())));
        assert_eq!("".parse::<Language>(), Err(UnknownLanguage(String::new())));
        let said = "cn".parse::<Language>().expect_err("a country").to_string();
        assert!(said.starts_with("`cn` is not a language code (did you mean `zh`?): expected"), "{said}");
        assert!("jp-JP".parse::<Language>().is_err());
        for language in ["tw", "kr"] {
            assert_eq!(
                language.parse().map(|twi_or_kanuri: Language| twi_or_kanuri.code().to_owned()),
                Ok(language.to_owned())
            );
        }
        assert_eq!(Language::stored("cn").map(|language| language.code().to_owned()).as_deref(), Some("cn"));
        assert_eq!(serde_json::to_string(&Language::CHINESE).expect("a string"), "\"zh\"");
    }
}
