//! Words of a text as NLTK's `word_tokenize` gives them: Punkt sentences, then the rules of the Penn Treebank.
//!
//! NLTK 3.9.1's `NLTKWordTokenizer` rewrites a sentence by some thirty substitutions, one after the other, each of
//! which only adds white space or changes quotation marks, and splits the result at white space. What a later rule
//! sees depends on the white space that the earlier ones added, so they are kept one by one, each as a function that
//! names its pattern; [`Marks`] tells which of them can find anything.

use super::contractions;
use crate::metric::python::{is_space, is_word, split};
use crate::text::sentence::punkt;
use regex::Regex;
use std::mem;
use std::sync::LazyLock;

/// Cuts `text` into sentences by `parameters` and each sentence into words, punctuation marks among them.
///
/// Straight double quotes come out as ` `` ` and `''`, as in the reference. Chinese is not cut: a run of it between
/// white space, or between the few marks that the rules know, is one word.
pub fn words(parameters: &punkt::Parameters, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for_each_word(parameters, text, |word| found.push(word.to_owned()));
    found
}

/// [`words`] without a copy of each.
pub(super) fn for_each_word(parameters: &punkt::Parameters, text: &str, mut each: impl FnMut(&str)) {
    let mut sentence = Sentence::default();
    for span in parameters.sentences(text) {
        let text = &text[span.range()];
        let marks = Marks::of(text);
        if marks.is_plain() {
            split(text).for_each(&mut each);
        } else {
            sentence.text.clear();
            sentence.text.push_str(text);
            sentence.rewrite(marks);
            split(&sentence.text).for_each(&mut each);
        }
    }
}

/// Which of the characters that rules look for a sentence holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Marks(u16);

impl Marks {
    const APOSTROPHE: u16 = 1;
    const QUOTE: u16 = 1 << 1;
    const BACKTICK: u16 = 1 << 2;
    const COLON_OR_COMMA: u16 = 1 << 3;
    const STOP: u16 = 1 << 4;
    const SYMBOL: u16 = 1 << 5;
    const ASTERISK: u16 = 1 << 6;
    const BRACKET: u16 = 1 << 7;
    const DASH: u16 = 1 << 8;
    const QUESTION: u16 = 1 << 9;
    /// Typographic quotes; other characters with the same first byte in UTF-8 set it, too.
    const WIDE: u16 = 1 << 10;
    /// A word that is a contraction by itself, such as `cannot`.
    const CONTRACTION: u16 = 1 << 11;

    fn of(text: &str) -> Self {
        let mut marks = 0;
        for byte in text.bytes() {
            marks |= match byte {
                b'\'' => Self::APOSTROPHE,
                b'"' => Self::QUOTE,
                b'`' => Self::BACKTICK,
                b':' | b',' => Self::COLON_OR_COMMA,
                b'.' => Self::STOP,
                b';' | b'@' | b'#' | b'$' | b'%' | b'&' => Self::SYMBOL,
                b'*' => Self::ASTERISK,
                b'[' | b']' | b'(' | b')' | b'{' | b'}' | b'<' | b'>' => Self::BRACKET,
                b'-' => Self::DASH,
                b'?' | b'!' => Self::QUESTION,
                // First bytes of « and », and of ‘ ’ “ ” „.
                0xC2 | 0xE2 => Self::WIDE,
                _ => 0,
            };
        }
        if contractions::may_occur(text) {
            marks |= Self::CONTRACTION;
        }
        Self(marks)
    }

    fn is_plain(self) -> bool {
        self.0 == 0
    }

    fn has(self, any: u16) -> bool {
        self.0 & any != 0
    }
}

/// A sentence under the rules, and room for the next form of it.
#[derive(Debug, Default)]
struct Sentence {
    text: String,
    next: String,
}

impl Sentence {
    fn rewrite(&mut self, marks: Marks) {
        if marks.has(Marks::WIDE | Marks::BACKTICK) {
            self.apply(opening_quotes);
        }
        if marks.has(Marks::QUOTE) {
            self.apply(first_quote);
        }
        if marks.has(Marks::BACKTICK | Marks::QUOTE) {
            self.apply(|from, to| pad_str(from, to, "``"));
        }
        if marks.has(Marks::QUOTE | Marks::APOSTROPHE) {
            self.apply(quote_after_bracket);
        }
        if marks.has(Marks::APOSTROPHE) {
            self.apply(apostrophe_before_letter);
        }
        if marks.has(Marks::STOP) {
            self.apply(|from, to| final_stop(from, to, "])}>\"'»”’ ", " "));
        }
        if marks.has(Marks::COLON_OR_COMMA) {
            self.apply(colon_or_comma);
            self.apply(final_colon_or_comma);
        }
        if marks.has(Marks::STOP) {
            self.apply(runs_of_stops);
        }
        if marks.has(Marks::SYMBOL) {
            self.apply(|from, to| pad_chars(from, to, |c| matches!(c, ';' | '@' | '#' | '$' | '%' | '&')));
        }
        if marks.has(Marks::STOP) {
            self.apply(|from, to| final_stop(from, to, "])}>\"'", ""));
        }
        if marks.has(Marks::QUESTION) {
            self.apply(|from, to| pad_chars(from, to, |c| matches!(c, '?' | '!')));
        }
        if marks.has(Marks::APOSTROPHE) {
            self.apply(closing_apostrophe);
        }
        if marks.has(Marks::ASTERISK) {
            self.apply(|from, to| pad_chars(from, to, |c| c == '*'));
        }
        if marks.has(Marks::BRACKET) {
            let is_bracket = |c| matches!(c, '[' | ']' | '(' | ')' | '{' | '}' | '<' | '>');
            self.apply(|from, to| pad_chars(from, to, is_bracket));
        }
        if marks.has(Marks::DASH) {
            self.apply(|from, to| pad_str(from, to, "--"));
        }
        if marks.has(Marks::WIDE) {
            self.apply(|from, to| pad_chars(from, to, |c| matches!(c, '»' | '”' | '’')));
        }
        if marks.has(Marks::APOSTROPHE) {
            self.apply(|from, to| pad_str(from, to, "''"));
        }
        if marks.has(Marks::QUOTE) {
            self.apply(straight_quotes);
        }
        if marks.has(Marks::APOSTROPHE | Marks::CONTRACTION) {
            self.apply(single_blanks);
        }
        if marks.has(Marks::APOSTROPHE) {
            self.apply(|from, to| clitics(from, to, &["'s", "'S", "'m", "'M", "'d", "'D", "'"]));
            self.apply(|from, to| clitics(from, to, &["'ll", "'LL", "'re", "'RE", "'ve", "'VE", "n't", "N'T"]));
        }
        if marks.has(Marks::CONTRACTION) {
            contractions::split(&mut self.text, &mut self.next);
        }
    }

    fn apply(&mut self, rule: impl Fn(&str, &mut String)) {
        self.next.clear();
        rule(&self.text, &mut self.next);
        mem::swap(&mut self.text, &mut self.next);
    }
}

/// `([«“‘„]|[`]+)` becomes ` \1 `.
fn opening_quotes(from: &str, to: &mut String) {
    let mut in_backticks = false;
    for c in from.chars() {
        if in_backticks && c != '`' {
            to.push(' ');
        }
        match c {
            '`' if in_backticks => to.push('`'),
            '`' => to.push_str(" `"),
            '«' | '“' | '‘' | '„' => to.extend([' ', c, ' ']),
            _ => to.push(c),
        }
        in_backticks = c == '`';
    }
    if in_backticks {
        to.push(' ');
    }
}

/// `^"` becomes two backticks.
fn first_quote(from: &str, to: &mut String) {
    match from.strip_prefix('"') {
        Some(rest) => to.extend(["``", rest]),
        None => to.push_str(from),
    }
}

/// `([ \(\[{<])("|'{2})` becomes `\1` and two backticks between blanks.
fn quote_after_bracket(from: &str, to: &mut String) {
    let mut rest = from;
    while let Some(c) = rest.chars().next() {
        to.push(c);
        rest = &rest[c.len_utf8()..];
        if matches!(c, ' ' | '(' | '[' | '{' | '<')
            && let Some(after) = rest.strip_prefix('"').or_else(|| rest.strip_prefix("''"))
        {
            to.push_str(" `` ");
            rest = after;
        }
    }
}

/// `(')(?!re|ve|ll|m|t|s|d|n)(\w)\b`, in any case, becomes `\1 \2`.
fn apostrophe_before_letter(from: &str, to: &mut String) {
    for (at, c) in from.char_indices() {
        to.push(c);
        if c != '\'' {
            continue;
        }
        let mut after = from[at + 1..].chars();
        // The lookahead's longer clitics cannot hold where a word of one character is asked for. Python folds ſ to s.
        let splits = after.next().is_some_and(|c| {
            !matches!(c, 'm' | 'M' | 't' | 'T' | 's' | 'S' | 'ſ' | 'd' | 'D' | 'n' | 'N') && is_word(c)
        });
        if splits && !after.next().is_some_and(is_word) {
            to.push(' ');
        }
    }
}

/// `([^\.])(\.)([closing]*)\s*$` becomes `\1 \2`, `between`, `\3` and a blank.
fn final_stop(from: &str, to: &mut String, closing: &str, between: &str) {
    // No stop may follow, so only the last one can match.
    let matched = from.rfind('.').filter(|&at| at > 0 && !from[..at].ends_with('.')).and_then(|at| {
        let rest = &from[at + 1..];
        let n_closing = rest.len() - rest.trim_start_matches(|c| closing.contains(c)).len();
        rest[n_closing..].chars().all(is_space).then(|| (at, &rest[..n_closing]))
    });
    match matched {
        Some((at, closing)) => to.extend([&from[..at], " .", between, closing, " "]),
        None => to.push_str(from),
    }
}

/// `([:,])([^\d])` becomes ` \1 \2`.
fn colon_or_comma(from: &str, to: &mut String) {
    let mut chars = from.chars();
    while let Some(c) = chars.next() {
        if !matches!(c, ':' | ',') {
            to.push(c);
            continue;
        }
        let before_next = chars.clone();
        match chars.next() {
            Some(next) if !is_digit(next) => to.extend([' ', c, ' ', next]),
            _ => {
                to.push(c);
                chars = before_next;
            }
        }
    }
}

/// `([:,])$` becomes ` \1 `; Python's `$` also stands before a line feed at the very end.
fn final_colon_or_comma(from: &str, to: &mut String) {
    let (body, end) = match from.strip_suffix('\n') {
        Some(body) => (body, "\n"),
        None => (from, ""),
    };
    match body.chars().next_back() {
        Some(mark @ (':' | ',')) => {
            to.push_str(&body[..body.len() - 1]);
            to.extend([' ', mark, ' ']);
        }
        _ => to.push_str(body),
    }
    to.push_str(end);
}

/// `\.{2,}` gets blanks around it.
fn runs_of_stops(from: &str, to: &mut String) {
    let mut rest = from;
    while let Some(at) = rest.find("..") {
        let n_stops = rest[at..].bytes().take_while(|b| *b == b'.').count();
        to.extend([&rest[..at], " ", &rest[at..at + n_stops], " "]);
        rest = &rest[at + n_stops..];
    }
    to.push_str(rest);
}

/// `([^'])' ` becomes `\1 ' `.
fn closing_apostrophe(from: &str, to: &mut String) {
    let mut rest = from;
    // The character before the apostrophe must not belong to the match before.
    while let Some(c) = rest.chars().next() {
        to.push(c);
        rest = &rest[c.len_utf8()..];
        if c != '\''
            && let Some(after) = rest.strip_prefix("' ")
        {
            to.push_str(" ' ");
            rest = after;
        }
    }
}

/// `"` becomes two apostrophes between blanks.
fn straight_quotes(from: &str, to: &mut String) {
    for c in from.chars() {
        if c == '"' { to.push_str(" '' ") } else { to.push(c) }
    }
}

/// Puts a blank before and after the sentence, then makes every run of white space one blank.
fn single_blanks(from: &str, to: &mut String) {
    to.push(' ');
    let mut after_space = true;
    for c in from.chars() {
        let space = is_space(c);
        if !space {
            to.push(c);
        } else if !after_space {
            to.push(' ');
        }
        after_space = space;
    }
    if !after_space {
        to.push(' ');
    }
}

/// `([^' ])(clitics) ` becomes `\1 \2 `; the first clitic that fits is taken.
fn clitics(from: &str, to: &mut String, clitics: &[&str]) {
    let mut rest = from;
    while let Some(c) = rest.chars().next() {
        to.push(c);
        rest = &rest[c.len_utf8()..];
        if matches!(c, '\'' | ' ') || !rest.starts_with(['\'', 'n', 'N']) {
            continue;
        }
        let found = clitics.iter().find_map(|clitic| {
            let after = rest.strip_prefix(clitic)?.strip_prefix(' ')?;
            Some((clitic, after))
        });
        if let Some((clitic, after)) = found {
            to.extend([" ", clitic, " "]);
            rest = after;
        }
    }
}

fn pad_chars(from: &str, to: &mut String, matches: impl Fn(char) -> bool) {
    for c in from.chars() {
        if matches(c) { to.extend([' ', c, ' ']) } else { to.push(c) }
    }
}

fn pad_str(from: &str, to: &mut String, mark: &str) {
    let mut copied = 0;
    for (at, _) in from.match_indices(mark) {
        to.extend([&from[copied..at], " ", mark, " "]);
        copied = at + mark.len();
    }
    to.push_str(&from[copied..]);
}

/// Python's `\d`: decimal digits of any script.
fn is_digit(c: char) -> bool {
    static DIGIT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\d").expect("a constant, tried by tests"));
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    c.is_numeric() && DIGIT.is_match(c.encode_utf8(&mut [0; 4]))
}

#[cfg(all(test, feature = "vocabularies"))]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(words(punkt::english(), text).join("|"), expected, "{text:?}");
    }

    #[test]
    fn punctuation_stands_alone() {
        check("", "");
        check(" \n", "");
        check("Good muffins cost $3.88 (roughly 3,36 euros).", "Good|muffins|cost|$|3.88|(|roughly|3,36|euros|)|.");
        check("Wait... what?! a,,b: c", "Wait|...|what|?|!|a|,|,b|:|c");
        check("50% of Q&A @ #1; a*b--c", "50|%|of|Q|&|A|@|#|1|;|a|*|b|--|c");
        check("He came, Mr. Smith said. Yes.", "He|came|,|Mr.|Smith|said|.|Yes|.");
        check("time 10:30,", "time|10:30|,");
    }

    #[test]
    fn quotation_marks_are_rewritten() {
        check("\"Go,\" she said. (\"Now.\")", "``|Go|,|''|she|said|.|(|``|Now|.|''|)");
        check("“Go,” he said ‘here’ «there».", "“|Go|,|”|he|said|‘|here|’|«|there|»|.");
        check("''tis'' ``x``", "''|tis|''|``|x|``");
    }

    #[test]
    fn contractions_are_split() {
        check("I can't, won't, shouldn't've.", "I|ca|n't|,|wo|n't|,|shouldn't|'ve|.");
        check("The king's men's 'Tis gonna cannot wanna x", "The|king|'s|men|'s|'T|is|gon|na|can|not|wan|na|x");
        check("'TİS 'twaſ gımme, gonna, wanna.", "'T|İS|'t|waſ|gım|me|,|gon|na|,|wan|na|.");
        check("d'ye gimme more'n dogs' 'a b' we'LL", "d|'ye|gim|me|more|'n|dogs|'|'|a|b|'|we|'LL");
    }
}
