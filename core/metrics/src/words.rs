//! Words of a text without spaces.

use closeread_text::Language;
use closeread_text::language;
use serde::{Deserialize, Serialize};

/// The way in which a metric finds words.
///
/// The reference implementations were written for English. In Chinese text rouge_score finds no words at all, and
/// SQuAD's and BLEU's scripts take what stands between two spaces or ASCII marks, mostly a whole sentence, as one, so
/// that a right answer with one more character scores 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Words {
    /// Words as the reference implementation of the metric has them.
    #[default]
    Reference,
    /// Words as the reference has them, with every Chinese character and Japanese syllable a word of its own; beforehand the full-width forms
    /// of ASCII become ASCII (`１９１９` is `1919`, `，` is `,`). Chinese punctuation is treated as the metric treats ASCII
    /// punctuation: deleted by SQuAD's, ignored by ROUGE, a token of its own for BLEU. Our definition, as no paper
    /// gives one; single characters are also what InfiniteBench's Zh.QA and sacrebleu's tokenizer `zh` count.
    ChineseCharacters,
}

impl Words {
    /// The words for a text in `language`: characters for Chinese and Japanese, else the reference's.
    pub fn for_language(language: Language) -> Self {
        if language.is_spaceless() { Self::ChineseCharacters } else { Self::Reference }
    }
}

/// True for characters that are a word each: Han, Kana and 〆, without the marks that stand between Kana.
pub(super) fn is_spaceless(c: char) -> bool {
    (language::is_spaceless(c) && !matches!(c, '゠' | '・')) || c == '〆'
}

/// Marks of Chinese text that have no ASCII twin, and the general punctuation it shares with other scripts.
pub(super) fn is_chinese_punctuation(c: char) -> bool {
    !is_spaceless(c)
        && matches!(c, '\u{3000}'..='\u{303f}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '·' | '・'
            | '\u{fe10}'..='\u{fe1f}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff5f}'..='\u{ff65}')
}

/// The ASCII character whose full-width form `c` is, or `c`.
pub(super) fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).expect("full-width forms mirror ASCII"),
        '\u{3000}' => ' ',
        _ => c,
    }
}
