//! Passages from text: offsets only, the text is never copied.
//!
//! Everything here works on flow text, the text as it is read, with wraps undone; a [`Flow`](crate::Flow) maps the
//! spans back to the file.

mod pack;
mod window;

use crate::tokens::Tokenizer;
use closeread_text::FlowSpan;
use serde::{Deserialize, Serialize};

/// A way to cut a text into passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Chunker {
    /// Sentences packed up to 100 tokens: RAPTOR's packer over Punkt sentences, as DOS RAG uses it (Stronger Baselines
    /// §2.3, A.4), with the repairs that [`Chunker::pieces`] names.
    Dos,
    /// Like [`Chunker::Dos`], where a sentence exceeds the cap as well: as DOS RAG's own code cuts it (dos-rag-eval,
    /// `source/method/utils.py`), but in the order of the text.
    StrongerBaselines,
    /// Windows of 512 tokens without overlap (SagaScale §4.1).
    Window,
    /// Sentences packed up to 4,000 tokens (HAMLET §3), by the same rule as [`Chunker::Dos`].
    Sentences,
    /// Windows of 5,000 tokens without overlap (the memory agent of CorpusQA §4.1).
    Sections,
}

/// A passage as the pieces of the text that make it up, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// Spans of the pieces: ascending, disjoint, none empty; at least one.
    pub spans: Vec<FlowSpan>,
    /// Tokens of [`Pieces::joined`], by the tokenizer the passage was cut with.
    pub n_tokens: usize,
}

impl Chunker {
    /// All chunkers.
    pub const ALL: [Self; 5] = [Self::Dos, Self::StrongerBaselines, Self::Window, Self::Sentences, Self::Sections];

    /// Returns the chunker's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dos => "dos",
            Self::StrongerBaselines => "stronger-baselines",
            Self::Window => "window",
            Self::Sentences => "sentences",
            Self::Sections => "sections",
        }
    }

    /// Returns the most tokens a passage has unless a caller says otherwise, as in the papers.
    pub fn default_max_tokens(self) -> usize {
        match self {
            Self::Dos | Self::StrongerBaselines => 100,
            Self::Window => 512,
            Self::Sentences => 4_000,
            Self::Sections => 5_000,
        }
    }

    /// Cuts `text` into passages of at most `max_tokens` tokens (0 is taken for 1).
    ///
    /// The passages ascend and are disjoint, and what lies between and inside them is only white space that was lost.
    ///
    /// **`Dos` and `Sentences`** pack `sentences` (ascending, disjoint, from
    /// [`sentence::split`](closeread_text::sentence::split)) in their order. A sentence counts as the tokens of one space
    /// and itself; a passage is closed when the sum would exceed `max_tokens`, so a joined passage can come to a token
    /// or two more, because its first word stands without the space. A sentence that alone exceeds the cap is cut
    /// behind each `, ; :` and their Chinese like `，；：、` and its parts are packed by the same rule into passages of
    /// their own; only a part without any of these can exceed the cap, and then stands alone. RAPTOR's code
    /// (`chunk::reference`) drops these marks, emits the parts before the passage that was open, and lets that passage go on
    /// behind them; here it is closed first and the marks stay with the part before them. Parts of one sentence that
    /// meet again in a passage with one space or nothing between them are one piece, as it stands in the text: `1,000`
    /// is not joined as `1, 000`.
    ///
    /// **`StrongerBaselines`** cuts a sentence above the cap at white space behind `, ; :`; its parts join the open passage as
    /// sentences do. A part that alone exceeds the cap is cut behind every `max_tokens`-th word, and each piece is a passage.
    /// The authors' code puts these before the passage that was open; here that is closed first, so that passages ascend.
    ///
    /// **`Window` and `Sections`** ignore `sentences` and cut the whole text, white space included, behind every
    /// `max_tokens`-th token. Where that is inside a character, or where the tokens of a window counted by itself come
    /// to more than the cap, because a word was cut in two, the window ends at the token before; so the cap holds for
    /// all but a single token or character, at the price of a grid that moves by a token now and then. SagaScale and
    /// CorpusQA do not say what they do there; decoding the tokens, the plain way, tears such characters.
    pub fn pieces(&self, text: &str, sentences: &[FlowSpan], tokenizer: &Tokenizer, max_tokens: usize) -> Vec<Pieces> {
        let max_tokens = max_tokens.max(1);
        match self {
            Self::Dos | Self::StrongerBaselines | Self::Sentences => {
                let pack = if *self == Self::StrongerBaselines { pack::pack_as_published } else { pack::pack };
                let passages = pack(text, sentences, tokenizer, max_tokens).into_iter();
                passages.map(|spans| Pieces { n_tokens: tokenizer.count(&join(text, &spans)), spans }).collect()
            }
            Self::Window | Self::Sections => window::windows(text, tokenizer, max_tokens)
                .into_iter()
                .map(|(span, n_tokens)| Pieces { spans: vec![span], n_tokens })
                .collect(),
        }
    }
}

impl Pieces {
    /// The passage as a model sees it: its pieces joined by one space, in every language.
    ///
    /// Chinese sentences are joined by a space too: the papers' code knows no other join, and a budget that did not
    /// count it would not be theirs.
    pub fn joined(&self, text: &str) -> String {
        join(text, &self.spans)
    }

    /// Returns the span from the first piece's start to the last one's end.
    pub fn cover(&self) -> FlowSpan {
        let first = self.spans.first().expect("a passage has at least one piece");
        let last = self.spans.last().expect("a passage has at least one piece");
        first.cover(*last)
    }
}

fn join(text: &str, spans: &[FlowSpan]) -> String {
    let mut joined = String::with_capacity(spans.iter().map(|span| span.len() + 1).sum());
    for (i, span) in spans.iter().enumerate() {
        if i > 0 {
            joined.push(' ');
        }
        joined.push_str(&text[span.range()]);
    }
    joined
}
