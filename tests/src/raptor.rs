//! RAPTOR's `split_text`, unchanged: the packer behind the papers' numbers.
//!
//! Reference code: parthsarthi03/raptor, commit 2e3e83e, `raptor/utils.py`, with overlap 0. Use it to compare with the
//! papers; [`Chunker::Dos`](closeread_books::chunk::Chunker::Dos) is the same packer with its accidents repaired.

use closeread_books::tokens::Tokenizer;
use closeread_text::FlowSpan;

/// Units that RAPTOR's packer joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Units<'s> {
    /// RAPTOR's own: the text between any of `. ! ?` and line feeds, which are dropped (`raptor` in the vectors).
    Delimiters,
    /// Sentences cut before, as DOS RAG does with Punkt (`nltk_sentences` in the vectors).
    Sentences(&'s [FlowSpan]),
}

/// A chunk of [`split_text`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Joined pieces, in order, with the white space at their ends. A piece can be empty, and a chunk can have none.
    pub(crate) pieces: Vec<FlowSpan>,
    /// The pieces joined by one space.
    pub(crate) text: String,
    /// Tokens of `text`.
    pub(crate) n_tokens: usize,
}

impl Chunk {
    /// From the first piece's start to the last one's end; `None` for an empty chunk.
    pub(crate) fn cover(&self) -> Option<FlowSpan> {
        self.pieces.iter().copied().reduce(FlowSpan::cover)
    }
}

/// Packs `text` into chunks of about `max_tokens` tokens, in the order of emission, which is not always the text's.
///
/// The chunks of a unit longer than `max_tokens` come before the chunk that was open, which goes on behind it, so chunks
/// can overlap; its `, ; :` are dropped; a part that alone exceeds the cap leaves an empty chunk before it if it is the
/// first.
pub(crate) fn split_text(text: &str, units: Units<'_>, tokenizer: &Tokenizer, max_tokens: usize) -> Vec<Chunk> {
    let units = match units {
        Units::Delimiters => between(text, FlowSpan::new(0, text.len()), &['.', '!', '?', '\n']),
        Units::Sentences(sentences) => sentences.to_vec(),
    };
    let count = |span: FlowSpan| tokenizer.count(&format!(" {}", &text[span.range()]));
    let mut emitted: Vec<Vec<FlowSpan>> = Vec::new();
    let mut open = Vec::new();
    let mut n_open = 0;
    for unit in units {
        if text[unit.range()].chars().all(is_python_space) {
            continue;
        }
        let n_tokens = count(unit);
        if n_tokens > max_tokens {
            let mut part_chunk = Vec::new();
            let mut n_part_chunk = 0;
            for part in between(text, unit, &[',', ';', ':']) {
                let n_tokens = count(part);
                if n_part_chunk + n_tokens > max_tokens {
                    emitted.push(std::mem::take(&mut part_chunk));
                    n_part_chunk = 0;
                }
                part_chunk.push(part);
                n_part_chunk += n_tokens;
            }
            emitted.push(part_chunk);
        } else if n_open + n_tokens > max_tokens {
            emitted.push(std::mem::replace(&mut open, vec![unit]));
            n_open = n_tokens;
        } else {
            open.push(unit);
            n_open += n_tokens;
        }
    }
    if !open.is_empty() {
        emitted.push(open);
    }
    let chunk = |pieces: Vec<FlowSpan>| {
        let joined = pieces.iter().map(|piece| &text[piece.range()]).collect::<Vec<_>>().join(" ");
        Chunk { n_tokens: tokenizer.count(&joined), text: joined, pieces }
    };
    emitted.into_iter().map(chunk).collect()
}

/// Stretches between the `delimiters` inside `span`, with empty ones.
fn between(text: &str, span: FlowSpan, delimiters: &[char]) -> Vec<FlowSpan> {
    let mut start = span.start;
    let stretches = text[span.range()].split(delimiters);
    stretches
        .map(|stretch| {
            let found = FlowSpan::new(start, start + stretch.len());
            // Every delimiter is one byte.
            start = found.end + 1;
            found
        })
        .collect()
}

/// Returns whether Python counts `c` as white space: Unicode's, and the four separators of ASCII.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}
