//! Language of a book, guessed from its text.

use closeread_text::language::{Language, east_asian};

/// The language of `text`, judged by its letters.
///
/// A letter's script decides first: one Han, Kana or Hangul character carries about as much as a word, so a text is
/// East Asian where such characters outnumber a fifth of the letters of all alphabets; then Kana (at least a tenth of
/// its East Asian characters) means Japanese, a majority of Hangul Korean, anything else Chinese. An alphabetic text is
/// named by whatlang's trigrams where whatlang is sure, and where its letters are not Latin: a few lines of Arabic may be
/// Persian, yet no English. English otherwise: also for a text without letters, because some rule must cut it.
pub fn detect(text: &str) -> Language {
    east_asian(text).or_else(|| by_trigrams(text)).unwrap_or(Language::ENGLISH)
}

/// Characters that whatlang gets to see: more changes nothing on a book and costs time.
const SAMPLE_CHARS: usize = 20_000;

/// Returns what whatlang says about the middle of `text`, where title pages and licences are far; `None` where it is
/// unsure and the letters are Latin.
fn by_trigrams(text: &str) -> Option<Language> {
    let mut start = text.len().saturating_sub(SAMPLE_CHARS) / 2;
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let sample: String = text[start..].chars().take(SAMPLE_CHARS).collect();
    let info = whatlang::detect(&sample)?;
    let is_told = info.is_reliable() || info.script() != whatlang::Script::Latin;
    is_told.then(|| iso_639_1(info.lang())).flatten()
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
    fn a_few_words_in_other_letters_are_no_english() {
        let texts = [
            "ذهب الولد إلى المدرسة في الصباح. كان الجو باردا.",
            "Мальчик пошёл в школу.",
            "הילד הלך לבית הספר.",
            "Ο γέρος πήγε στο σπίτι.",
        ];
        for text in texts {
            assert_ne!(detect(text).code(), "en", "{text}");
        }
    }

    #[test]
    fn a_text_without_evidence_is_english() {
        check("", "en");
        check("1914 - 1918", "en");
        check("Call me Ishmael.", "en");
    }
}
