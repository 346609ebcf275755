//! Candidates of Punkt: the marks that may end a sentence and the words around them, as NLTK's patterns find them.

/// A `.`, `?` or `!` that may end a sentence, because other punctuation or white space and a word follow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Byte of the mark.
    pub(super) at: usize,
    /// End of the punctuation or word that follows.
    pub(super) context_end: usize,
    /// Start of the word behind the white space, if it is white space that follows.
    pub(super) next_word: Option<usize>,
}

/// The candidates to decide on, each with the start of the word it ends: of several marks in one word, the last.
pub(super) fn words_before(text: &str) -> impl Iterator<Item = (usize, Candidate)> {
    let mut candidates = candidates(text);
    let mut held: Option<(usize, Candidate)> = None;
    std::iter::from_fn(move || {
        for next in candidates.by_ref() {
            let (held_start, held_at) = held.map_or((0, 0), |(start, candidate)| (start, candidate.at));
            let between = &text.as_bytes()[held_at..next.at];
            let start = match between.iter().rposition(|b| matches!(b, b' ' | b'\t'..=b'\r')) {
                // NLTK cannot tell white space at the very start of the text from none.
                None | Some(0) => held_start,
                Some(space) => held_at + space + 1,
            };
            let ready = held.replace((start, next)).filter(|(_, candidate)| candidate.at <= start);
            if ready.is_some() {
                return ready;
            }
        }
        held.take()
    })
}

fn candidates(text: &str) -> impl Iterator<Item = Candidate> {
    text.bytes().enumerate().filter(|(_, b)| matches!(b, b'.' | b'?' | b'!')).filter_map(|(at, _)| {
        let after = &text[at + 1..];
        let first = after.chars().next()?;
        if is_non_word(first) {
            return Some(Candidate { at, context_end: at + 2, next_word: None });
        }
        if !is_python_space(first) {
            return None;
        }
        let word = after.trim_start_matches(is_python_space);
        if word.is_empty() {
            return None;
        }
        let start = text.len() - word.len();
        let len = word.find(is_python_space).unwrap_or(word.len());
        Some(Candidate { at, context_end: start + len, next_word: Some(start) })
    })
}

/// Words and punctuation of a context, as NLTK's word pattern finds them from left to right.
pub(super) struct Words<'t> {
    rest: &'t str,
}

impl<'t> Words<'t> {
    pub(super) fn of(context: &'t str) -> Self {
        Self { rest: context }
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let text = self.rest.trim_start_matches(is_python_space);
        let first = text.chars().next()?;
        let len = if let Some(len) = multi_char_len(text) {
            len
        } else if is_word_start(first) {
            let others = text.char_indices().skip(1);
            others.map(|(at, _)| at).find(|&at| ends_word(&text[at..])).unwrap_or(text.len())
        } else {
            first.len_utf8()
        };
        let (word, rest) = text.split_at(len);
        self.rest = rest;
        Some(word)
    }
}

/// True if a word ends before `rest`, which is not empty.
fn ends_word(rest: &str) -> bool {
    let stops = |s: &str| s.starts_with(|c| is_python_space(c) || is_non_word(c)) || starts_multi_char(s);
    stops(rest) || rest.strip_prefix(',').is_some_and(|after| after.is_empty() || stops(after))
}

/// Length of the dashes, dots or spaced dots that `text` starts with: `--`, `..`, `. . .` and longer.
fn multi_char_len(text: &str) -> Option<usize> {
    for mark in ['-', '.'] {
        let len = text.len() - text.trim_start_matches(mark).len();
        if len > 1 {
            return Some(len);
        }
    }
    let mut end = 0;
    let mut n_dots = 0;
    while text[end..].starts_with('.') {
        end += 1;
        n_dots += 1;
        match text[end..].chars().next().filter(|&c| is_python_space(c) && c != '\n') {
            Some(space) if text[end + space.len_utf8()..].starts_with('.') => end += space.len_utf8(),
            _ => break,
        }
    }
    (n_dots > 2).then_some(end)
}

/// True if [`multi_char_len`] is some, in constant time.
fn starts_multi_char(text: &str) -> bool {
    let mut chars = text.chars();
    let spaced = |c: Option<char>| c.is_some_and(|c| is_python_space(c) && c != '\n');
    match chars.next() {
        Some('-') => chars.next() == Some('-'),
        Some('.') => {
            let second = chars.next();
            second == Some('.')
                || (spaced(second) && chars.next() == Some('.') && spaced(chars.next()) && chars.next() == Some('.'))
        }
        _ => false,
    }
}

fn is_non_word(c: char) -> bool {
    matches!(c, ')' | '"' | ';' | '}' | ']' | '*' | ':' | '@' | '\'' | '(' | '{' | '[' | '?' | '!')
}

fn is_word_start(c: char) -> bool {
    !matches!(c, '(' | '"' | '`' | '{' | '[' | ':' | ';' | '&' | '#' | '*' | '@' | ')' | '}' | ']' | '-' | ',')
}

/// White space to Python: Unicode's, and the four separators of ASCII.
pub(crate) fn is_python_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}
