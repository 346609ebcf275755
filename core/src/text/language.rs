//! Which language a text is in.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An ISO 639-1 language.
///
/// Any code is carried; sentence rules exist for English and Chinese, and every other language is segmented as English
/// is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Language([u8; 2]);

/// A language name that is no ISO 639-1 code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a language code: expected two letters as in ISO 639-1, e.g. `en` or `zh`")]
pub struct UnknownLanguage(pub String);

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
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    /// Reads `en`, `EN`, and tags that go on (`en-US`, `zh_Hans`).
    fn from_str(tag: &str) -> Result<Self, UnknownLanguage> {
        match tag.trim().split(['-', '_']).next().map(str::as_bytes) {
            Some(&[a, b]) if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                Ok(Self([a.to_ascii_lowercase(), b.to_ascii_lowercase()]))
            }
            _ => Err(UnknownLanguage(tag.to_owned())),
        }
    }
}

impl TryFrom<String> for Language {
    type Error = UnknownLanguage;

    fn try_from(tag: String) -> Result<Self, UnknownLanguage> {
        tag.parse()
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

/// The language of `text`, judged by its letters.
///
/// A letter's script decides first: one Han, Kana or Hangul character carries about as much as a word, so a text is
/// East Asian where such characters outnumber a fifth of the letters of all alphabets; then Kana (at least a tenth of
/// its East Asian characters) means Japanese, a majority of Hangul Korean, anything else Chinese. An alphabetic text is
/// named by whatlang's trigrams where whatlang is sure. English otherwise: also for a text without letters, because
/// some rule must cut it.
pub(crate) fn detect(text: &str) -> Language {
    east_asian(text).or_else(|| by_trigrams(text)).unwrap_or(Language::ENGLISH)
}

/// The language of `text` where its letters' scripts alone decide, see [`detect`]: Chinese, Japanese, Korean.
pub(crate) fn east_asian(text: &str) -> Option<Language> {
    let (mut alphabetic, mut han, mut kana, mut hangul) = (0usize, 0usize, 0usize, 0usize);
    for c in text.chars() {
        match c {
            '\u{3041}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' => kana += 1,
            '\u{AC00}'..='\u{D7AF}' => hangul += 1,
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

/// Characters that whatlang gets to see: more changes nothing on a book and costs time.
const SAMPLE_CHARS: usize = 20_000;

/// What whatlang says about the middle of `text`, where title pages and licences are far; `None` where it is unsure.
fn by_trigrams(text: &str) -> Option<Language> {
    let mut start = text.len().saturating_sub(SAMPLE_CHARS) / 2;
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let sample: String = text[start..].chars().take(SAMPLE_CHARS).collect();
    let info = whatlang::detect(&sample)?;
    info.is_reliable().then(|| iso_639_1(info.lang())).flatten()
}

/// The two-letter code of a language that whatlang knows by three.
fn iso_639_1(lang: whatlang::Lang) -> Option<Language> {
    const CODES: &[(&str, &str)] = &[
        ("afr", "af"),
        ("aka", "ak"),
        ("amh", "am"),
        ("ara", "ar"),
        ("aze", "az"),
        ("bel", "be"),
        ("ben", "bn"),
        ("bul", "bg"),
        ("cat", "ca"),
        ("ces", "cs"),
        ("cmn", "zh"),
        ("cym", "cy"),
        ("dan", "da"),
        ("deu", "de"),
        ("ell", "el"),
        ("eng", "en"),
        ("epo", "eo"),
        ("est", "et"),
        ("fin", "fi"),
        ("fra", "fr"),
        ("guj", "gu"),
        ("heb", "he"),
        ("hin", "hi"),
        ("hrv", "hr"),
        ("hun", "hu"),
        ("hye", "hy"),
        ("ind", "id"),
        ("ita", "it"),
        ("jav", "jv"),
        ("jpn", "ja"),
        ("kan", "kn"),
        ("kat", "ka"),
        ("khm", "km"),
        ("kor", "ko"),
        ("lat", "la"),
        ("lav", "lv"),
        ("lit", "lt"),
        ("mal", "ml"),
        ("mar", "mr"),
        ("mkd", "mk"),
        ("mya", "my"),
        ("nep", "ne"),
        ("nld", "nl"),
        ("nob", "nb"),
        ("ori", "or"),
        ("pan", "pa"),
        ("pes", "fa"),
        ("pol", "pl"),
        ("por", "pt"),
        ("ron", "ro"),
        ("rus", "ru"),
        ("sin", "si"),
        ("slk", "sk"),
        ("slv", "sl"),
        ("sna", "sn"),
        ("spa", "es"),
        ("srp", "sr"),
        ("swe", "sv"),
        ("tam", "ta"),
        ("tel", "te"),
        ("tgl", "tl"),
        ("tha", "th"),
        ("tuk", "tk"),
        ("tur", "tr"),
        ("ukr", "uk"),
        ("urd", "ur"),
        ("uzb", "uz"),
        ("vie", "vi"),
        ("yid", "yi"),
        ("zul", "zu"),
    ];
    let (_, two) = CODES.iter().find(|(three, _)| *three == lang.code())?;
    two.parse().ok()
}

/// True for Han characters, whatever language writes them.
pub(crate) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}' | '々' | '〇')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str) {
        assert_eq!(detect(text).code(), code, "{text}");
    }

    #[test]
    fn scripts_and_trigrams_tell_languages_apart() {
        check("The hotel on the point had been closed since the autumn gales.", "en");
        check("卻說海邊的旅館那年冬天忽然又開了門。", "zh");
        check("却说海边的旅馆那年冬天忽然又开了门。", "zh");
        check("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。", "ja");
        check("죽는 날까지 하늘을 우러러 한 점 부끄럼이 없기를", "ko");
        check(
            "Longtemps, je me suis couché de bonne heure. Parfois, à peine ma bougie éteinte, mes yeux se fermaient si vite que je n’avais pas le temps de me dire : « Je m’endors. »",
            "fr",
        );
        check(
            "Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte, fand er sich in seinem Bett zu einem ungeheueren Ungeziefer verwandelt.",
            "de",
        );
    }

    #[test]
    fn chinese_with_latin_names_is_chinese_and_english_with_a_chinese_word_english() {
        check("他说：Sherlock Holmes先生，您好！我们在Baker Street见过一次面，您还记得吗？", "zh");
        check("The word 道 means the way, and whoever follows it needs no map at all.", "en");
    }

    #[test]
    fn a_text_without_evidence_is_english() {
        check("", "en");
        check("1914 - 1918", "en");
        check("Call me Ishmael.", "en");
    }

    #[test]
    fn tags_are_read_and_names_refused() {
        assert_eq!("zh-Hant-TW".parse(), Ok(Language::CHINESE));
        assert_eq!("EN_us".parse(), Ok(Language::ENGLISH));
        assert_eq!("english".parse::<Language>(), Err(UnknownLanguage("english".into())));
        assert_eq!("".parse::<Language>(), Err(UnknownLanguage(String::new())));
        assert_eq!(serde_json::to_string(&Language::CHINESE).expect("a string"), "\"zh\"");
    }
}
