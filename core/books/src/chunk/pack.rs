//! The sentence packer.

use crate::tokens::Tokenizer;
use closeread_text::FlowSpan;

/// Marks behind which a sentence that exceeds the cap is cut: RAPTOR's three, and what Chinese writes in their place.
pub(super) const DELIMITERS: [char; 7] = [',', ';', ':', '，', '；', '：', '、'];

/// Packs `sentences` into passages; [`Chunker::pieces`](super::Chunker::pieces) states the rule.
pub(super) fn pack(text: &str, sentences: &[FlowSpan], tokenizer: &Tokenizer, max_tokens: usize) -> Vec<Vec<FlowSpan>> {
    let mut counter = Counter { tokenizer, spaced: String::new() };
    let mut passages = Passages { closed: Vec::new(), open: Vec::new(), n_tokens: 0, max_tokens };
    for sentence in sentences.iter().filter_map(|&sentence| trimmed(text, sentence)) {
        let n_tokens = counter.count(&text[sentence.range()]);
        if n_tokens <= max_tokens {
            passages.add(sentence, n_tokens);
            continue;
        }
        passages.close();
        for part in parts(text, sentence) {
            let n_tokens = counter.count(&text[part.range()]);
            if !passages.extend(text, part, n_tokens) {
                passages.add(part, n_tokens);
            }
        }
        passages.close();
    }
    passages.close();
    passages.closed
}

/// Packs `sentences` as DOS RAG's own code does; [`Chunker::pieces`](super::Chunker::pieces) states the rule.
pub(super) fn pack_as_published(
    text: &str,
    sentences: &[FlowSpan],
    tokenizer: &Tokenizer,
    max_tokens: usize,
) -> Vec<Vec<FlowSpan>> {
    let mut counter = Counter { tokenizer, spaced: String::new() };
    let mut passages = Passages { closed: Vec::new(), open: Vec::new(), n_tokens: 0, max_tokens };
    for sentence in sentences.iter().filter_map(|&sentence| trimmed(text, sentence)) {
        let is_long = counter.count(&text[sentence.range()]) > max_tokens;
        for part in if is_long { clauses(text, sentence) } else { vec![sentence] } {
            let n_tokens = counter.count(&text[part.range()]);
            if n_tokens <= max_tokens {
                passages.add(part, n_tokens);
                continue;
            }
            passages.close();
            for words in words(text, part).chunks(max_tokens) {
                passages.closed.push(vec![words[0].cover(words[words.len() - 1])]);
            }
        }
    }
    passages.close();
    passages.closed
}

/// The parts of a sentence between white space that follows `,`, `;` or `:`.
fn clauses(text: &str, sentence: FlowSpan) -> Vec<FlowSpan> {
    let mut found: Vec<FlowSpan> = Vec::new();
    for word in words(text, sentence) {
        match found.last_mut() {
            Some(last) if !text[..last.end].ends_with([',', ';', ':']) => *last = last.cover(word),
            _ => found.push(word),
        }
    }
    found
}

/// Returns the words of a span, which stand between white space.
fn words(text: &str, span: FlowSpan) -> Vec<FlowSpan> {
    let inside = &text[span.range()];
    let place = |word: &str| span.start + (word.as_ptr() as usize - inside.as_ptr() as usize);
    inside.split_whitespace().map(|word| FlowSpan::new(place(word), place(word) + word.len())).collect()
}

/// Counts one space and a piece, as RAPTOR does, without a new string for each.
struct Counter<'t> {
    tokenizer: &'t Tokenizer,
    spaced: String,
}

impl Counter<'_> {
    fn count(&mut self, piece: &str) -> usize {
        self.spaced.clear();
        self.spaced.push(' ');
        self.spaced.push_str(piece);
        self.tokenizer.count(&self.spaced)
    }
}

struct Passages {
    closed: Vec<Vec<FlowSpan>>,
    open: Vec<FlowSpan>,
    /// Sum of the counts in `open`.
    n_tokens: usize,
    max_tokens: usize,
}

impl Passages {
    fn add(&mut self, piece: FlowSpan, n_tokens: usize) {
        if self.n_tokens + n_tokens > self.max_tokens {
            self.close();
        }
        self.open.push(piece);
        self.n_tokens += n_tokens;
    }

    /// Lengthens the last open piece to the end of `part`, if the cap allows and the text between them is what joining
    /// would put there, or nothing. Other white space was not counted, so it is left out.
    fn extend(&mut self, text: &str, part: FlowSpan, n_tokens: usize) -> bool {
        let fits = self.n_tokens + n_tokens <= self.max_tokens;
        let adjoins = |last: &FlowSpan| matches!(&text[last.end..part.start], "" | " ");
        let Some(last) = self.open.last_mut().filter(|last| fits && adjoins(last)) else { return false };
        *last = last.cover(part);
        self.n_tokens += n_tokens;
        true
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.closed.push(std::mem::take(&mut self.open));
        }
        self.n_tokens = 0;
    }
}

/// The parts of `sentence`, each with the delimiter behind it, without white space at their ends.
fn parts(text: &str, sentence: FlowSpan) -> impl Iterator<Item = FlowSpan> {
    let mut start = sentence.start;
    let inclusive = text[sentence.range()].split_inclusive(DELIMITERS);
    inclusive.filter_map(move |part| {
        let span = FlowSpan::new(start, start + part.len());
        start = span.end;
        trimmed(text, span)
    })
}

/// `span` without white space at its ends; `None` if nothing else is in it.
fn trimmed(text: &str, span: FlowSpan) -> Option<FlowSpan> {
    let inside = &text[span.range()];
    let start = span.end - inside.trim_start().len();
    let end = start + text[start..span.end].trim_end().len();
    (start < end).then(|| FlowSpan::new(start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_text::sentence::punkt;

    fn check(text: &str, max_tokens: usize, expected: &[&[&str]]) {
        let passages = pack(text, &punkt::sentences(text), &Tokenizer::cl100k(), max_tokens);
        let found: Vec<Vec<_>> =
            passages.iter().map(|spans| spans.iter().map(|span| &text[span.range()]).collect()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_open_passage_closes_before_a_long_sentence() {
        check(
            "One. Two, three, four; five: 1,000 of them all. Six.",
            9,
            &[&["One."], &["Two, three, four; five:"], &["1,000 of them all."], &["Six."]],
        );
    }

    #[test]
    fn as_published_parts_join_the_open_passage_and_words_are_counted_off() {
        let cut = |text: &str, max_tokens| {
            let passages = pack_as_published(text, &punkt::sentences(text), &Tokenizer::cl100k(), max_tokens);
            let texts = |spans: &Vec<FlowSpan>| spans.iter().map(|span| text[span.range()].to_owned()).collect();
            passages.iter().map(texts).collect::<Vec<Vec<String>>>()
        };
        assert_eq!(
            cut("One. Two, three, four; five: 1,000 of them all. Six.", 9),
            [vec!["One.", "Two,", "three,", "four;"], vec!["five:"], vec!["1,000 of them all."], vec!["Six."]]
        );
        assert_eq!(
            cut("A b c d e f g h i j k, last. End.", 4),
            [vec!["A b c d"], vec!["e f g h"], vec!["i j k,"], vec!["last.", "End."]]
        );
    }

    #[test]
    fn only_white_space_that_was_counted_is_kept_between_parts() {
        check("a, b,\r\nc, d,  e, f, g, h.", 9, &[&["a, b,", "c, d,"], &["e, f, g, h."]]);
    }

    #[test]
    fn a_part_without_delimiter_stands_alone_above_the_cap() {
        check("a, b c d e f g h i j k, last. End.", 4, &[&["a,"], &["b c d e f g h i j k,"], &["last."], &["End."]]);
    }
}
