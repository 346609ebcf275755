//! Words, as pages are measured in them.

use closeread_text::language::is_han;
use closeread_text::python;

/// Words of a text: pieces between white space, as ReadAgent counts them; but Chinese characters and Japanese syllables
/// count one each, as word processors count them, since those scripts put no space between words. In a piece of both
/// kinds, what stands between such characters is a word if it has a letter or a digit.
///
/// ReadAgent is silent on such texts. A Chinese word has about one and a half characters, so that a page of 600 in Chinese
/// tells somewhat less than one in English.
pub(crate) fn count_words(text: &str) -> usize {
    python::split(text).map(words_of_piece).sum()
}

fn words_of_piece(piece: &str) -> usize {
    if piece.is_ascii() || !piece.contains(is_word_of_its_own) {
        return 1;
    }
    let between = piece.split(is_word_of_its_own).filter(|run| run.contains(char::is_alphanumeric)).count();
    piece.chars().filter(|&c| is_word_of_its_own(c)).count() + between
}

/// Han characters, Hiragana and Katakana.
fn is_word_of_its_own(c: char) -> bool {
    is_han(c) || matches!(c, '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_between_spaces_and_chinese_characters_alone() {
        assert_eq!(count_words(" It was -- so\tit seemed --\n\nearly. "), 8);
        assert_eq!(count_words("那口钟是在1921年铸的，花了三年。"), 5 + 1 + 3 + 4);
        assert_eq!(count_words("他说：“Hello world。”"), 2 + 2);
        assert_eq!(count_words("ゆき と 雪"), 4);
        assert_eq!(count_words(" \u{3000}\n"), 0);
    }
}
