//! Normalisation: how answers are made alike before their tokens are compared.

use super::tokens::Tokens;
use super::words::{Words, is_chinese_punctuation, is_spaceless, narrow};
use closeread_text::python;
use std::ops::Range;

/// SQuAD's normalisation (`normalize_answer` of `evaluate-v1.1.py`, the same in v2, InfiniteBench and MemAgent): lower
/// case, ASCII punctuation deleted without leaving a space, the words a, an and the deleted, white space collapsed.
///
/// Odd: an article is deleted wherever word boundaries enclose it, also inside `“the”` and `a–b`, and leaves a space
/// there; punctuation beyond ASCII stays.
pub fn squad_normalize(text: &str, words: Words) -> String {
    squad_tokens(text, words).iter().collect::<Vec<_>>().join(" ")
}

/// InfiniteBench's normalisation of Chinese (`normalize_zh_answer` of `src/compute_scores.py`): lower case, ASCII and
/// Chinese punctuation and all white space deleted.
///
/// Odd: the list of Chinese punctuation holds 》 but not 《, and lacks 〈, 〉 and the middle dot, so the opening mark of
/// a title stays.
pub fn infinitebench_zh_normalize(text: &str) -> String {
    character_tokens(text).text.into_owned()
}

pub(super) fn squad_tokens(text: &str, words: Words) -> Tokens<'static> {
    let mut spans = Vec::with_capacity(text.len() / 6 + 1);
    if let Some(kept) = plain_tokens(text, &mut spans) {
        return Tokens { text: kept.into(), spans };
    }
    let lower = python::lower(text);
    let mut kept = String::with_capacity(lower.len());
    match words {
        Words::Reference => kept.extend(lower.chars().filter(|c| !c.is_ascii_punctuation())),
        Words::ChineseCharacters => {
            for c in lower.chars().map(narrow).filter(|&c| !c.is_ascii_punctuation() && !is_chinese_punctuation(c)) {
                if is_spaceless(c) {
                    kept.extend([' ', c, ' ']);
                } else {
                    kept.push(c);
                }
            }
        }
    }
    let mut start = 0;
    for piece in kept.split(python::is_space) {
        split_at_articles(piece, |from, to| spans.push(start + from..start + to));
        let end = start + piece.len();
        start = end + kept[end..].chars().next().map_or(0, char::len_utf8);
    }
    Tokens { text: kept.into(), spans }
}

/// The way of nearly all English text: ASCII without control characters, and the dashes, quotes and dots of General
/// Punctuation, which are kept as they are. Gives the text without punctuation and fills `spans`; nothing for other text.
///
/// Nearly all the time of F1 goes into this: where words end, and which are articles, are values here and not branches,
/// which nobody could predict.
fn plain_tokens(text: &str, spans: &mut Vec<Range<usize>>) -> Option<String> {
    const SPACE: u8 = b' ';
    /// Byte that occurs in no UTF-8 text.
    const CONTROL: u8 = 0xff;
    /// Lower case; 0 for punctuation. Bytes beyond ASCII stay.
    const PLAIN: [u8; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = match byte as u8 {
                b'\t'..=b'\r' | 0x1c..=0x1f | b' ' => SPACE,
                plain if plain.is_ascii_punctuation() => 0,
                plain if plain.is_ascii_alphanumeric() => plain.to_ascii_lowercase(),
                plain if plain.is_ascii() => CONTROL,
                foreign => foreign,
            };
            byte += 1;
        }
        table
    };
    /// Bytes behind the last word, so that a word can be looked at by four.
    const ROOM: usize = 4;
    let mut kept = vec![0u8; text.len() + ROOM];
    let mut ends = vec![0u32; text.len() + 1];
    let (mut at, mut n_ends, mut all) = (0, 0, 0);
    for byte in text.bytes() {
        let plain = PLAIN[usize::from(byte)];
        kept[at] = plain;
        ends[n_ends] = at as u32;
        n_ends += usize::from(plain == SPACE);
        at += usize::from(plain != 0);
        all |= plain;
    }
    ends[n_ends] = u32::try_from(at).ok()?;
    let has_foreign = !all.is_ascii();
    let is_mark = |c: char| c.is_ascii() || ('\u{2010}'..='\u{2027}').contains(&c);
    if has_foreign && (kept[..at].contains(&CONTROL) || !text.chars().all(is_mark)) {
        return None;
    }
    spans.resize(n_ends + 1, 0..0);
    let (mut start, mut n_spans) = (0, 0);
    for end in ends.into_iter().take(n_ends + 1).map(|end| end as usize) {
        let four = kept[start..].first_chunk().map_or(0, |four| u32::from_le_bytes(*four));
        let n_bytes = end - start;
        let is_article = (n_bytes == 1) & (four & 0xff == u32::from_le_bytes(*b"a\0\0\0"))
            | (n_bytes == 2) & (four & 0xffff == u32::from_le_bytes(*b"an\0\0"))
            | (n_bytes == 3) & (four & 0xff_ffff == u32::from_le_bytes(*b"the\0"));
        spans[n_spans] = start..end;
        n_spans += usize::from((n_bytes > 0) & !is_article);
        start = end + 1;
    }
    spans.truncate(n_spans);
    kept.truncate(at);
    let kept = String::from_utf8(kept).expect("only whole ASCII characters were changed or left out");
    if has_foreign {
        let words = std::mem::take(spans);
        for Range { start, end } in words {
            match kept[start..end].is_ascii() {
                true => spans.push(start..end),
                false => split_at_articles(&kept[start..end], |from, to| spans.push(start + from..start + to)),
            }
        }
    }
    Some(kept)
}

/// Calls `found` with the ranges of what is left of a text in lower case when the words a, an and the are taken out: those
/// that word boundaries of Python enclose.
pub fn split_at_articles(piece: &str, mut found: impl FnMut(usize, usize)) {
    let article = |run: &str| matches!(run, "a" | "an" | "the");
    if piece.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        if !piece.is_empty() && !article(piece) {
            found(0, piece.len());
        }
        return;
    }
    let (mut kept, mut at) = (0, 0);
    while at < piece.len() {
        let run = piece[at..].bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (before, after) = (piece[..at].chars().next_back(), piece[at + run..].chars().next());
        if article(&piece[at..at + run]) && ![before, after].into_iter().flatten().any(python::is_word) {
            if kept < at {
                found(kept, at);
            }
            kept = at + run;
        }
        at += run + after.map_or(0, char::len_utf8);
    }
    if kept < piece.len() {
        found(kept, piece.len());
    }
}

/// Returns one token a character.
pub(super) fn character_tokens(text: &str) -> Tokens<'static> {
    let (mut kept, mut spans) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    for c in python::lower(text).chars() {
        if !c.is_ascii_punctuation() && !is_listed_punctuation(c) && !python::is_space(c) {
            let start = kept.len();
            kept.push(c);
            spans.push(start..kept.len());
        }
    }
    Tokens { text: kept.into(), spans }
}

/// The marks beyond ASCII that InfiniteBench's scorer deletes.
fn is_listed_punctuation(c: char) -> bool {
    !c.is_ascii() && !is_spaceless(c)
        && "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏"
            .contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, normalised: &str) {
        assert_eq!(squad_normalize(text, Words::Reference), normalised, "{text}");
    }

    #[test]
    fn articles_go_wherever_word_boundaries_enclose_them() {
        check("The “the” a–b an", "“ ” –b");
        check("the\u{301} theé éthe 孔the the孔 a²", "\u{301} theé éthe 孔the the孔 a²");
        check("a\0b \0a", "\0b \0");
        check("a_n the_ U.S.A. t-h-e", "usa");
        check("“The cat”—an “a”… the’s", "“ cat”— “ ”… ’s");
        check("The\u{2028}cat ‘the É’ an", "cat ‘ é’");
    }

    #[test]
    fn python_splits_at_separators() {
        check("x\x1dA\u{85}the\u{3000}y", "x y");
        check("\u{a0}", "");
    }

    #[test]
    fn chinese_words_are_characters_without_marks() {
        assert_eq!(
            squad_normalize("他姓孔，叫“孔乙己”ＡＢ the c！", Words::ChineseCharacters),
            "他 姓 孔 叫 孔 乙 己 ab c"
        );
    }

    #[test]
    fn chinese_marks_of_the_list_go() {
        assert_eq!(infinitebench_zh_normalize("《呐喊》，\x1c鲁迅·A."), "《呐喊鲁迅·a");
    }
}
