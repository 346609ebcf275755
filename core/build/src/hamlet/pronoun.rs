//! Facts name what they are about: no pronouns (section 3.1.2).

use closeread_text::Language;
use closeread_text::sentence::Rules;
use regex::Regex;
use std::sync::LazyLock;

/// Pattern of personal and possessive pronouns in English.
const ENGLISH: &str = "he|she|it|they|him|her|them|his|hers|its|their|theirs|himself|herself|itself|themselves|\
                       i|me|my|mine|we|us|our|ours|you|your|yours";

/// Returns the first personal or possessive pronoun of a fact, by the rules of its language: English words, Chinese or
/// Japanese ones. What stands in quotation marks was said by somebody and does not count.
pub(super) fn pronoun(fact: &str, language: Language) -> Option<String> {
    static QUOTED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""[^"]*"|“[^”]*”|「[^」]*」|『[^』]*』|《[^》]*》"#).expect("a valid pattern"));
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(&format!(r"(?i)\b(?:{ENGLISH})\b")).expect("a valid pattern"));
    // Words that hold the character of a pronoun and are none.
    static CHINESE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("其他|他人|他乡|他日|他处|吉他|自我|忘我|我国|(他们|她们|它们|我们|你们|咱们|他|她|它|我|你|您)")
            .expect("a valid pattern")
    });
    static JAPANESE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("彼女|彼|私|僕|俺|我々|我ら|あなた|お前|貴方").expect("a valid pattern"));
    let bare = QUOTED.replace_all(fact, " ");
    match Rules::of(language) {
        Rules::Chinese => CHINESE.captures_iter(&bare).find_map(|found| Some(found.get(1)?.as_str().to_owned())),
        Rules::Japanese => JAPANESE.find(&bare).map(|found| found.as_str().to_owned()),
        Rules::English => {
            // US and IT in capitals are names.
            let word = WORD.find_iter(&bare).find(|word| !matches!(word.as_str(), "US" | "IT" | "ME"));
            word.map(|word| word.as_str().to_lowercase())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pronouns_are_words_and_quotes_do_not_count() {
        let of = |fact| pronoun(fact, Language::ENGLISH);
        assert_eq!(of("Ana hides the key and she waits.").as_deref(), Some("she"));
        assert_eq!(of("The bell loses Its voice.").as_deref(), Some("its"));
        assert_eq!(of("Ana tells Ben \"I saw you\" and hides the item."), None);
        assert_eq!(of("The US army leaves the herbs there."), None);
    }

    #[test]
    fn japanese_has_its_own() {
        let of = |fact| pronoun(fact, Language::JAPANESE);
        assert_eq!(of("安は彼女に鍵を渡した。").as_deref(), Some("彼女"));
        assert_eq!(of("安は「私は行く」と言った。"), None);
    }

    #[test]
    fn chinese_words_that_hold_such_a_character_are_none() {
        let of = |fact| pronoun(fact, Language::CHINESE);
        assert_eq!(of("阿安说他们走了。").as_deref(), Some("他们"));
        assert_eq!(of("其他船工把吉他交给他人。"), None);
        assert_eq!(of("阿安写下“我走了”。"), None);
    }
}
