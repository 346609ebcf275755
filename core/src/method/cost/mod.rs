//! What a method will ask for, told before it runs: calls and tokens, exact where the method determines them and a range
//! where the model decides.
//!
//! What stands around the text is not estimated: the method runs once on a book of one word, with a host that replies
//! nothing, and its prompts are counted. [`Shape`] says how the text comes in between.

mod blank;
mod money;
mod shape;

pub(crate) use blank::calls_of;
pub use money::Tariff;
pub use shape::{Context, Shape};

use super::read_agent::LookUp;
use super::{Method, MethodError, Setting, batches};
use crate::benchmark::Item;
use crate::table::number::thousands;
use crate::text::tokens::Tokenizer;
use crate::text::{Book, Language};
use blank::Blank;
use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, Mul};

/// From `low` to `high`, both included; equal where the number is determined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// At least.
    pub low: u64,
    /// At most.
    pub high: u64,
}

/// What the cost of a method depends on of a book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookSize {
    /// Its title, which prompts may show.
    pub title: String,
    /// Its language, which prompts may go by.
    pub language: Language,
    /// Tokens of its text as it is read.
    pub tokens: u64,
    /// Its words, separated by white space.
    pub words: u64,
}

/// When calls are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Once for all questions on the same books.
    Preparation,
    /// For each question, or for all at once where the method asks them together.
    Question,
}

/// The beginning of a prompt that other calls on the same books have too, in tokens: what a provider's cache keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// None that is marked for the cache.
    #[default]
    Nothing,
    /// The first call with this beginning writes it.
    First(u64),
    /// Later ones read it.
    Again(u64),
}

/// Calls of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// When they are made.
    pub stage: Stage,
    /// How many.
    pub n: Range,
    /// Tokens of all their prompts together.
    pub prompt: Range,
    /// Tokens of the longest of these prompts, at most.
    pub longest: u64,
    /// Most tokens of a reply.
    pub reply_limit: u64,
    /// What the prompts share with others; where it is something, this is one call.
    pub shared: Shared,
}

/// What a method asks for about some books.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// The calls, those of the preparation first.
    pub calls: Vec<Calls>,
    /// Ids of the items that end as an overflow of the window, without a call.
    pub overflows: Vec<String>,
}

impl Range {
    /// A number that is determined.
    pub const fn exactly(n: u64) -> Self {
        Self { low: n, high: n }
    }

    /// `1,200`, or `1,200 to 3,400`.
    pub fn shown(self) -> String {
        match self.low == self.high {
            true => thousands(self.low),
            false => format!("{} to {}", thousands(self.low), thousands(self.high)),
        }
    }
}

impl Add for Range {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }
}

impl Mul<u64> for Range {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self { low: self.low * times, high: self.high * times }
    }
}

impl Sum for Range {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), Add::add)
    }
}

impl BookSize {
    /// Measures a book.
    pub fn of(book: &Book, tokenizer: &Tokenizer) -> Self {
        let flow = book.flow();
        let text = flow.text();
        Self {
            title: book.title.clone(),
            language: book.language,
            tokens: tokenizer.count(text) as u64,
            words: text.split_whitespace().count() as u64,
        }
    }
}

impl Calls {
    /// Tokens of all the replies together, a reply at its shortest taken to have `typical` tokens.
    pub fn reply(&self, typical: u64) -> Range {
        Range { low: self.n.low * typical.min(self.reply_limit), high: self.n.high * self.reply_limit }
    }
}

impl Cost {
    /// The same where what is made of the books once is there already, as for all budgets but the first.
    #[must_use]
    pub fn prepared(mut self) -> Self {
        self.calls.retain(|calls| calls.stage != Stage::Preparation);
        self
    }

    /// How many calls.
    pub fn n(&self) -> Range {
        self.calls.iter().map(|calls| calls.n).sum()
    }

    /// Tokens of all prompts together.
    pub fn prompt(&self) -> Range {
        self.calls.iter().map(|calls| calls.prompt).sum()
    }

    /// Tokens of all replies together, see [`Calls::reply`].
    pub fn reply(&self, typical: u64) -> Range {
        self.calls.iter().map(|calls| calls.reply(typical)).sum()
    }

    /// Tokens of the largest request, prompt and limit of the reply.
    pub fn largest_request(&self) -> u64 {
        self.calls.iter().map(|calls| calls.longest + calls.reply_limit).max().unwrap_or(0)
    }
}

impl Method {
    /// What the method will ask for to answer `items`, all of which are about `books`; `budget` as for
    /// [`run`](Method::run).
    ///
    /// Exact to the few tokens that white space takes where text and prompt meet for `closed-book` and
    /// `full-document`; ranges for the others, as their [`Shape`] says. A limit in `setting.window` counts as it does in
    /// the run: what does not fit is not asked.
    ///
    /// # Errors
    /// [`MethodError`] if a prompt cannot be filled.
    pub fn cost(
        &self,
        setting: Setting<'_>,
        books: &[BookSize],
        items: &[&Item],
        budget: Option<usize>,
    ) -> Result<Cost, MethodError> {
        let shape = self.shape(budget);
        let mut cost = Cost { calls: shape.preparation(books, setting), overflows: Vec::new() };
        let blank = Blank::new(self, &shape, setting, books)?;
        let units: Vec<Vec<&Item>> = match self.asks_together() {
            true => batches(items),
            false => items.iter().map(|item| vec![*item]).collect(),
        };
        for (idx, unit) in units.iter().enumerate() {
            let frames = blank.frames(unit, budget)?;
            match shape.asking(books, setting, &frames, idx == 0) {
                Some(calls) => cost.calls.extend(calls),
                None => cost.overflows.extend(unit.iter().map(|item| item.id.clone())),
            }
        }
        Ok(cost)
    }

    /// Whether the method makes something of the books before the first question, see [`prepare`](Method::prepare).
    pub fn prepares(&self) -> bool {
        matches!(self.shape(None), Shape::Tree { .. } | Shape::Pages { .. })
    }

    /// How its calls come about.
    fn shape(&self, budget: Option<usize>) -> Shape {
        match self {
            Self::ClosedBook(_) => Shape::Reading(Context::Nothing),
            Self::FullDocument(parameters) => Shape::Reading(Context::Whole(parameters.overflow)),
            Self::QuerySummary(parameters) => Shape::Reading(Context::Whole(parameters.overflow)),
            Self::NaiveRag(rag) => {
                Shape::Reading(Context::Top { top_k: rag.top_k as u64, passage_tokens: rag.max_tokens as u64 })
            }
            Self::AgenticRag(agent) => Shape::Searching {
                searches: agent.max_searches as u64,
                top_k: agent.top_k as u64,
                passage_tokens: agent.max_tokens as u64,
            },
            Self::MemoryAgent(agent) => Shape::Sections {
                section_tokens: agent.section_tokens.get() as u64,
                max_context: agent.max_context.map(|most| most.get() as u64),
                memory_tokens: agent.memory_tokens.into(),
            },
            Self::ReadAgent(agent) => Shape::Pages {
                word_limit: agent.word_limit as u64,
                start_threshold: agent.start_threshold as u64,
                max_pages: agent.max_pages as u64,
                sequential: agent.lookup == LookUp::Sequential,
            },
            Self::Raptor(raptor) => Shape::Tree {
                passage_tokens: raptor.max_tokens as u64,
                summary_tokens: raptor.summary_tokens as u64,
                cluster_tokens: raptor.cluster_tokens as u64,
                most_layers: raptor.max_layers,
                last_layer: raptor.reduction_dimension as u64 + 1,
                budget,
            },
            Self::CorpusRag(rag) => Shape::Reading(Context::Budget { budget, passage_tokens: rag.max_tokens as u64 }),
            Self::VanillaRag(rag) | Self::DosRag(rag) => {
                Shape::Reading(Context::Budget { budget, passage_tokens: rag.max_tokens as u64 })
            }
        }
    }
}
