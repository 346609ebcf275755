//! Words of a text as NLTK's `word_tokenize` gives them: Punkt sentences, then the rules of the Penn Treebank.
//!
//! NLTK 3.9.1's `NLTKWordTokenizer` rewrites a sentence by some thirty substitutions, one after the other, each of
//! which only adds white space or changes quotation marks, and splits the result at white space. What a later rule
//! sees depends on the white space that the earlier ones added, so they are kept one by one; [`Marks`] tells which of
//! them can find anything.

mod contractions;
mod marks;
mod rules;

use closeread_text::python::is_space;
use closeread_text::sentence::punkt;
use marks::Marks;
use std::mem;

/// Cuts `text` into sentences by `parameters` and each sentence into words, punctuation marks among them.
///
/// Straight double quotes come out as ` `` ` and `''`, as in the reference. Chinese is not cut: a run of it between
/// white space, or between the few marks that the rules know, is one word.
pub fn words(parameters: &punkt::Parameters, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for_each_word(parameters, text, |word| found.push(word.to_owned()));
    found
}

/// Calls `each` with the [`words`] of a text, without a copy of each.
pub(super) fn for_each_word(parameters: &punkt::Parameters, text: &str, mut each: impl FnMut(&str)) {
    let mut sentence = Sentence::default();
    for span in parameters.sentences(text) {
        let text = &text[span.range()];
        let marks = Marks::of(text);
        if marks.is_plain() {
            for_each_piece(text, &mut each);
        } else {
            sentence.text.clear();
            sentence.text.push_str(text);
            sentence.rewrite(marks);
            for_each_piece(&sentence.text, &mut each);
        }
    }
}

/// Calls `each` with the pieces of Python's `str.split()`.
fn for_each_piece(text: &str, mut each: impl FnMut(&str)) {
    let mut start = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let space_len = match bytes[at] {
            b' ' | b'\t'..=b'\r' | 0x1c..=0x1f => 1,
            // Only characters that start with these bytes can be white space beyond ASCII.
            0xc2 | 0xe1..=0xe3 => text[at..].chars().next().filter(|c| is_space(*c)).map_or(0, char::len_utf8),
            _ => 0,
        };
        if space_len == 0 {
            at += 1;
            continue;
        }
        if start < at {
            each(&text[start..at]);
        }
        at += space_len;
        start = at;
    }
    if start < at {
        each(&text[start..]);
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
            self.apply(rules::opening_quotes);
        }
        if marks.has(Marks::QUOTE) {
            self.apply(rules::first_quote);
        }
        if marks.has(Marks::BACKTICK | Marks::QUOTE) {
            self.apply(|from, to| rules::pad_str(from, to, "``"));
        }
        if marks.has(Marks::QUOTE | Marks::APOSTROPHES) {
            self.apply(rules::quote_after_bracket);
        }
        if marks.has(Marks::APOSTROPHE) {
            self.apply(rules::apostrophe_before_letter);
        }
        if marks.has(Marks::STOP) {
            self.apply(|from, to| rules::final_stop(from, to, "])}>\"'»”’ ", " "));
        }
        if marks.has(Marks::COLON_OR_COMMA) {
            self.apply(rules::colon_or_comma);
            self.apply(rules::final_colon_or_comma);
        }
        if marks.has(Marks::STOPS) {
            self.apply(rules::runs_of_stops);
        }
        if marks.has(Marks::SYMBOL) {
            self.apply(|from, to| rules::pad(from, to, Marks::SYMBOL));
        }
        if marks.has(Marks::STOP) {
            self.apply(|from, to| rules::final_stop(from, to, "])}>\"'", ""));
        }
        if marks.has(Marks::QUESTION) {
            self.apply(|from, to| rules::pad(from, to, Marks::QUESTION));
        }
        if marks.has(Marks::APOSTROPHE) {
            self.apply(rules::closing_apostrophe);
        }
        if marks.has(Marks::ASTERISK) {
            self.apply(|from, to| rules::pad(from, to, Marks::ASTERISK));
        }
        if marks.has(Marks::BRACKET) {
            self.apply(|from, to| rules::pad(from, to, Marks::BRACKET));
        }
        if marks.has(Marks::DASH) {
            self.apply(|from, to| rules::pad_str(from, to, "--"));
        }
        if marks.has(Marks::WIDE) {
            self.apply(rules::closing_quotes);
        }
        if marks.has(Marks::APOSTROPHES) {
            self.apply(|from, to| rules::pad_str(from, to, "''"));
        }
        if marks.has(Marks::QUOTE) {
            self.apply(rules::straight_quotes);
        }
        if marks.has(Marks::APOSTROPHE | Marks::CONTRACTION) {
            self.apply(rules::single_blanks);
        }
        if marks.has(Marks::APOSTROPHE) {
            self.apply(rules::short_clitics);
            self.apply(rules::long_clitics);
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

#[cfg(test)]
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
