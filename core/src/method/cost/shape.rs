//! How the calls of a method come about: what is determined by the text, and what a model decides.

use super::blank::Frame;
use super::{BookSize, Calls, Range, Shared, Stage};
use crate::method::{Setting, WindowPolicy};

/// Tokens of a prompt of the preparation around the text in it, and of a query: they are not counted but taken to be
/// at most this many.
const AROUND: u64 = 300;
/// How often a node of a RAPTOR tree can be expected to be summarised: soft clusters overlap.
const MOST_MEMBERSHIPS: u64 = 2;

/// How a method's calls come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One call a question, or one for all together, with some of the text in it.
    Reading(Context),
    /// A dialogue of one turn more than there are searches, each of which adds passages to it (SagaScale's agentic
    /// RAG): from one call to one more than `searches`, the first without a passage.
    Searching {
        /// Most searches.
        searches: u64,
        /// Passages that a search gives.
        top_k: u64,
        /// Most tokens of a passage.
        passage_tokens: u64,
    },
    /// A call for each section of the text and one for the answer, with a memory (CorpusQA's memory agent): the number
    /// of calls is determined, ceil(tokens / `section_tokens`) + 1, the length of the memory is not.
    Sections {
        /// Tokens of a section.
        section_tokens: u64,
        /// Tokens of the text that are kept where it is longer.
        max_context: Option<u64>,
        /// Most tokens of a reply that becomes the memory.
        memory_tokens: u64,
    },
    /// A tree of summaries (RAPTOR), then one call a question within a token budget.
    ///
    /// Leaves have half to all of `passage_tokens`. A layer of n nodes takes from n / (`cluster_tokens` /
    /// `summary_tokens`) summaries, where clusters are as large as they may be, to n / 2, and reads each node once to
    /// twice, since soft clusters overlap.
    Tree {
        /// Most tokens of a leaf.
        passage_tokens: u64,
        /// Most tokens of a summary.
        summary_tokens: u64,
        /// Most tokens of a cluster.
        cluster_tokens: u64,
        /// Layers of summaries at which it ends.
        most_layers: usize,
        /// Nodes of a layer at which it ends.
        last_layer: u64,
        /// Tokens of the passages and summaries that the reader is given.
        budget: Option<usize>,
    },
    /// Pages with gists (ReadAgent), then a look-up in the gists and an answer.
    ///
    /// A page has from `start_threshold` to twice `word_limit` words; choosing its end shows it, the page before and a
    /// little more. A gist has from a tenth of its page to all of it.
    Pages {
        /// Words at which a page ends at the latest but for the last unit.
        word_limit: u64,
        /// Words from which it may end.
        start_threshold: u64,
        /// Most pages that are looked up.
        max_pages: u64,
        /// Look-ups of one page each; else all pages are named in one call.
        sequential: bool,
    },
}

/// What of the text stands in a reading's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Nothing.
    Nothing,
    /// All of it, or what the window leaves of it.
    Whole(WindowPolicy),
    /// Passages while they fit the budget: from a passage less than it to all of it, with a token between two; all of
    /// the text where that is less.
    Budget {
        /// Most tokens of the passages; `None` takes all.
        budget: Option<usize>,
        /// Most tokens of a passage.
        passage_tokens: u64,
    },
    /// This many passages, of which only the last of a book is shorter than the others.
    Top {
        /// How many.
        top_k: u64,
        /// Tokens of a passage.
        passage_tokens: u64,
    },
}

impl Context {
    /// Tokens of the text in a prompt.
    fn tokens(self, text: u64) -> Range {
        match self {
            Self::Nothing => Range::default(),
            Self::Whole(_) => Range::exactly(text),
            Self::Budget { budget, passage_tokens } => {
                let budget = budget.map_or(u64::MAX, |budget| budget as u64);
                // White space between sentences is not part of a passage, and some words count twice where they are cut.
                let low = budget.saturating_sub(passage_tokens).min(text * 8 / 10);
                let high = budget.min(text + text / 10);
                let separators = 2 * high / passage_tokens.max(1) + 1;
                Range { low, high: high + separators }
            }
            Self::Top { top_k, passage_tokens } => {
                let most = (top_k * passage_tokens).min(text);
                let separators = 10 * top_k;
                Range { low: most.saturating_sub(passage_tokens), high: most + separators }
            }
        }
    }
}

impl Shape {
    /// The calls for one question (or one set of questions that are asked together), whose prompts around the text are
    /// `frames`; `first` on its books or not. `None` if nothing is asked because it does not fit the window.
    pub(super) fn asking(
        &self,
        books: &[BookSize],
        setting: Setting<'_>,
        frames: &[Frame],
        first: bool,
    ) -> Option<Vec<Calls>> {
        let text: u64 = books.iter().map(|book| book.tokens).sum();
        let Some(&frame) = frames.first() else { return Some(Vec::new()) };
        Some(match *self {
            Self::Reading(Context::Whole(policy)) => {
                let text = kept(text, frame, setting.window, policy)?;
                let shared = if first { Shared::First(text) } else { Shared::Again(text) };
                vec![Calls { shared, ..one(frame, Range::exactly(text)) }]
            }
            Self::Reading(context) => vec![one(frame, context.tokens(text))],
            Self::Searching { searches, top_k, passage_tokens } => {
                let found = Context::Top { top_k, passage_tokens }.tokens(text);
                (0..=searches)
                    .map(|turn| {
                        let dialogue = Range { low: 0, high: frame.reply_limit + AROUND } + found;
                        let calls = one(frame, dialogue * turn);
                        match turn {
                            0 => calls,
                            _ => Calls {
                                n: Range { low: 0, high: 1 },
                                prompt: Range { low: 0, ..calls.prompt },
                                ..calls
                            },
                        }
                    })
                    .collect()
            }
            Self::Sections { section_tokens, max_context, memory_tokens } => {
                let last = *frames.last().expect("there is a first");
                let text = text.min(max_context.unwrap_or(u64::MAX));
                let n = text.div_ceil(section_tokens.max(1));
                let memory = Range { low: 0, high: memory_tokens };
                let sections = Calls {
                    n: Range::exactly(n),
                    prompt: Range::exactly(text) + (Range::exactly(frame.prompt) + memory) * n,
                    longest: frame.prompt + memory_tokens + section_tokens.min(text),
                    ..one(frame, Range::default())
                };
                vec![sections, one(last, memory)]
            }
            Self::Tree { passage_tokens, budget, .. } => {
                vec![one(frame, Context::Budget { budget, passage_tokens }.tokens(text))]
            }
            Self::Pages { max_pages, sequential, .. } => {
                let pages = self.pages(books);
                let page = text.div_ceil(pages.low.max(1));
                let gists = Range { low: text / 10, high: text + AROUND };
                let looked_up = Range { low: 0, high: max_pages * page };
                let lookups = if sequential { Range { low: 1, high: max_pages + 1 } } else { Range::exactly(1) };
                let lookup = one(frame, gists + Range { low: 0, high: looked_up.high * u64::from(sequential) });
                let prompt = Range { low: lookup.prompt.low * lookups.low, high: lookup.prompt.high * lookups.high };
                vec![Calls { n: lookups, prompt, ..lookup }, one(frame, gists + looked_up)]
            }
        })
    }

    /// The calls before the first question.
    pub(super) fn preparation(&self, books: &[BookSize], setting: Setting<'_>) -> Vec<Calls> {
        let text: u64 = books.iter().map(|book| book.tokens).sum();
        let before = |n: Range, prompt: Range, longest: u64, reply_limit: u64| Calls {
            stage: Stage::Preparation,
            n,
            prompt,
            longest,
            reply_limit,
            shared: Shared::Nothing,
        };
        match *self {
            Self::Reading(_) | Self::Searching { .. } | Self::Sections { .. } => Vec::new(),
            Self::Tree { passage_tokens, summary_tokens, cluster_tokens, most_layers, last_layer, .. } => {
                let leaves = text.div_ceil(passage_tokens.max(1));
                let mut nodes = Range { low: leaves, high: 2 * leaves };
                let mut node_tokens = text;
                let mut layers = Vec::new();
                let largest_cluster = (cluster_tokens / summary_tokens.max(1)).max(2);
                for _ in 0..most_layers {
                    if nodes.high <= last_layer {
                        break;
                    }
                    let low = if nodes.low <= last_layer { 0 } else { nodes.low.div_ceil(largest_cluster) };
                    let n = Range { low, high: nodes.high.div_ceil(2) };
                    let read = Range {
                        low: if low == 0 { 0 } else { nodes.low * summary_tokens.min(node_tokens / nodes.low) },
                        high: node_tokens * MOST_MEMBERSHIPS + n.high * AROUND,
                    };
                    layers.push(before(n, read, cluster_tokens + AROUND, summary_tokens));
                    node_tokens = n.high * summary_tokens;
                    nodes = n;
                }
                layers
            }
            Self::Pages { word_limit, .. } => {
                let pages = self.pages(books);
                let per_word = |words: u64| {
                    let all: u64 = books.iter().map(|book| book.words).sum();
                    words * text / all.max(1)
                };
                let reply = u64::from(setting.max_output_tokens);
                let page = per_word(2 * word_limit);
                let breaks = Range { low: pages.low.saturating_sub(books.len() as u64), high: pages.high };
                let shown =
                    Range { low: per_word(word_limit) * breaks.low, high: (3 * page / 2 + AROUND) * breaks.high };
                vec![
                    before(breaks, shown, 3 * page / 2 + AROUND, reply),
                    before(pages, Range { low: text, high: text + pages.high * AROUND }, page + AROUND, reply),
                ]
            }
        }
    }

    /// Pages of ReadAgent.
    fn pages(&self, books: &[BookSize]) -> Range {
        let Self::Pages { word_limit, start_threshold, .. } = *self else { return Range::default() };
        let of = |book: &BookSize| Range {
            low: book.words.div_ceil(2 * word_limit.max(1)).max(1),
            high: book.words.div_ceil(start_threshold.max(1)).max(1),
        };
        books.iter().map(of).sum()
    }
}

/// One call for a question.
fn one(frame: Frame, text: Range) -> Calls {
    let prompt = Range::exactly(frame.prompt) + text;
    Calls {
        stage: Stage::Question,
        n: Range::exactly(1),
        prompt,
        longest: prompt.high,
        reply_limit: frame.reply_limit,
        shared: Shared::Nothing,
    }
}

/// Tokens of a whole text that stay, by the rule of `full-document`.
fn kept(text: u64, frame: Frame, window: Option<usize>, policy: WindowPolicy) -> Option<u64> {
    let Some(window) = window else { return Some(text) };
    let available = (window as u64).checked_sub(frame.prompt + frame.reply_limit).filter(|available| *available > 0);
    match policy {
        _ if available.is_some_and(|available| text <= available) => Some(text),
        WindowPolicy::Fail => None,
        WindowPolicy::TruncateEnd | WindowPolicy::TruncateMiddle => available,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::cost::Cost;
    use crate::prompt::Prompts;
    use crate::text::Language;
    use crate::text::tokens::Tokenizer;

    fn book(tokens: u64) -> BookSize {
        BookSize { title: String::new(), language: Language::ENGLISH, tokens, words: tokens * 3 / 4 }
    }

    /// The calls of one question on a book, whose prompts around the text have 200 tokens and replies up to 1,000.
    fn cost(shape: Shape, tokens: u64, n_frames: usize) -> Cost {
        let (prompts, tokenizer) = (Prompts::built_in(), Tokenizer::cl100k());
        let setting = Setting {
            prompts: &prompts,
            tokenizer: &tokenizer,
            max_output_tokens: 1_000,
            temperature: 0.0,
            window: None,
        };
        let books = [book(tokens)];
        let mut calls = shape.preparation(&books, setting);
        let frames = vec![Frame { prompt: 200, reply_limit: 1_000 }; n_frames];
        calls.extend(shape.asking(&books, setting, &frames, true).unwrap());
        Cost { calls, overflows: Vec::new() }
    }

    #[test]
    fn a_memory_agent_reads_each_section_once_and_then_answers() {
        let shape = Shape::Sections { section_tokens: 5_000, max_context: None, memory_tokens: 1_024 };
        for (tokens, n) in [(0, 1), (1, 2), (5_000, 2), (5_001, 3), (10_000_000, 2_001)] {
            assert_eq!(cost(shape, tokens, 2).n(), Range::exactly(n), "{tokens}");
        }
        let three = cost(shape, 12_000, 2).prompt();
        assert_eq!(three, Range { low: 12_000 + 4 * 200, high: 12_000 + 4 * 200 + 4 * 1_024 });
        let cut = Shape::Sections { section_tokens: 5_000, max_context: Some(20_000), memory_tokens: 1_024 };
        assert_eq!(cost(cut, 10_000_000, 2).n(), Range::exactly(5));
    }

    #[test]
    fn an_agent_answers_at_once_or_after_its_last_search() {
        let shape = Shape::Searching { searches: 8, top_k: 3, passage_tokens: 512 };
        let cost = cost(shape, 200_000, 1);
        assert_eq!(cost.n(), Range { low: 1, high: 9 });
        assert_eq!(cost.prompt().low, 200, "the first turn holds no passage");
        let passages = 3 * 512 * (1..=8).sum::<u64>();
        assert!(cost.prompt().high >= 9 * 200 + passages, "every later turn holds all passages so far");
    }

    #[test]
    fn a_tree_is_built_of_ever_fewer_summaries() {
        let shape = Shape::Tree {
            passage_tokens: 100,
            summary_tokens: 100,
            cluster_tokens: 3_500,
            most_layers: 5,
            last_layer: 11,
            budget: Some(2_000),
        };
        let cost = cost(shape, 300_000, 1);
        let layers: Vec<Range> =
            cost.calls.iter().filter(|calls| calls.stage == Stage::Preparation).map(|calls| calls.n).collect();
        assert!(layers.len() <= 5 && layers[0].low == 3_000u64.div_ceil(35) && layers[0].high == 3_000, "{layers:?}");
        assert!(layers.windows(2).all(|pair| pair[1].high < pair[0].high));
        let read: Range = cost.calls.iter().filter(|c| c.stage == Stage::Preparation).map(|calls| calls.prompt).sum();
        assert!(read.low >= 300_000 - 100 && read.high > read.low, "every leaf is read: {read:?}");
        assert_eq!(self::cost(shape, 900, 1).n(), Range { low: 1, high: 10 }, "nine to eighteen leaves");
    }

    #[test]
    fn pages_are_cut_gisted_and_looked_up() {
        let shape = Shape::Pages { word_limit: 600, start_threshold: 280, max_pages: 6, sequential: false };
        let parallel = cost(shape, 8_000, 1);
        let pages = Range { low: 5, high: 22 };
        assert_eq!(parallel.n(), Range { low: 4, high: 22 } + pages + Range::exactly(2));
        let gists = &parallel.calls[1];
        assert_eq!((gists.stage, gists.n, gists.prompt.low), (Stage::Preparation, pages, 8_000));
        let shape = Shape::Pages { word_limit: 600, start_threshold: 280, max_pages: 6, sequential: true };
        let questions = cost(shape, 8_000, 1).calls.into_iter().filter(|calls| calls.stage == Stage::Question);
        assert_eq!(questions.map(|calls| calls.n).sum::<Range>(), Range { low: 2, high: 8 });
    }
}
