//! Calls of one kind, and all that a method asks for.

use crate::questions::Questions;
use crate::read_agent::count_words;
use crate::settings::ResponseLimit;
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, BookText};
use closeread_text::Language;
use closeread_text::thousands;
use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, Mul};

/// A range of numbers from `low` to `high`, both included; equal where the number is determined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "CostRange"))]
pub struct Range {
    /// The least that it can be.
    pub low: u64,
    /// The most that it can be.
    pub high: u64,
}

/// Size of a book, with all else of it that the cost of a method depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookSize {
    /// Title of the book, which prompts may show.
    pub title: String,
    /// Language of the book, which prompts may go by.
    pub language: Language,
    /// Tokens of its text as it is read.
    pub tokens: u64,
    /// Number of words, as ReadAgent measures its pages in.
    pub words: u64,
}

/// The stage at which calls are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Calls made once for all questions on the same books.
    Preparation,
    /// Calls made for each question, or for all at once where the method asks them together.
    Question,
}

/// The beginning of a prompt that other calls on the same books have too, in tokens: what a provider's cache keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// No beginning that is marked for the cache.
    #[default]
    Nothing,
    /// A beginning of this length, which the first call writes to the cache.
    First(u64),
    /// A beginning of this length, which later calls read from the cache.
    Again(u64),
}

/// Calls of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Stage at which the calls are made.
    pub stage: Stage,
    /// Number of the calls.
    pub n: Range,
    /// Tokens of all their prompts together.
    pub prompt: Range,
    /// Tokens of the longest of these prompts, at most.
    pub longest: u64,
    /// Most tokens that a response may have, or the assumption where it has no limit, see [`ResponseLimit::reserved`].
    pub response_limit: u64,
    /// Beginning that the prompts share with others; where it is something, this is one call.
    pub shared: Shared,
}

/// Cost of a method on some books, in calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// The calls, those of the preparation first.
    pub calls: Vec<Calls>,
    /// Ids of the items that end as an overflow of the window, without a call.
    pub overflows: Vec<String>,
}

impl Range {
    /// Returns the range from nothing to `high`.
    pub const fn up_to(high: u64) -> Self {
        Self { low: 0, high }
    }

    /// A number that is determined.
    pub const fn exactly(n: u64) -> Self {
        Self { low: n, high: n }
    }

    /// Returns the range in words: `1,200`, or `1,200 to 3,400`.
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
    /// Measures a book by its text.
    pub fn of(book: &Book, text: &BookText, tokenizer: &Tokenizer) -> Self {
        let text = text.flow().text();
        Self {
            title: book.title.clone(),
            language: book.language,
            tokens: tokenizer.count(text) as u64,
            words: count_words(text) as u64,
        }
    }
}

impl Calls {
    /// Limits the responses to a number of tokens.
    #[must_use]
    pub fn limited_to(self, response_limit: ResponseLimit) -> Self {
        Self { response_limit: response_limit.reserved().into(), ..self }
    }

    /// Makes `n` calls like this one.
    #[must_use]
    pub fn times(self, n: Range) -> Self {
        let Range { low, high } = self.prompt;
        Self { n, prompt: Range { low: low * n.low, high: high * n.high }, ..self }
    }

    /// Tokens of all the responses together, a response at its shortest taken to have `typical` tokens.
    pub fn response(&self, typical: u64) -> Range {
        Range { low: self.n.low * typical.min(self.response_limit), high: self.n.high * self.response_limit }
    }
}

impl From<Calls> for Cost {
    fn from(calls: Calls) -> Self {
        Self { calls: vec![calls], overflows: Vec::new() }
    }
}

impl From<Vec<Calls>> for Cost {
    fn from(calls: Vec<Calls>) -> Self {
        Self { calls, overflows: Vec::new() }
    }
}

impl Cost {
    /// Returns the cost of an overflow: nothing is asked, for the text does not fit the window.
    pub fn overflow(questions: &Questions<'_>) -> Self {
        Self { calls: Vec::new(), overflows: questions.items().iter().map(|item| item.id.clone()).collect() }
    }

    /// Returns the cost of the questions, and the cost of what is made of the books once before them.
    #[must_use]
    pub fn split(self) -> (Self, Self) {
        let (preparation, questions) = self.calls.into_iter().partition(|calls| calls.stage == Stage::Preparation);
        (Self { calls: questions, ..self }, Self { calls: preparation, overflows: Vec::new() })
    }

    /// The cost with up to `more` tokens beside each prompt, which not every server counts.
    #[must_use]
    pub fn with_up_to(mut self, more: u64) -> Self {
        for calls in &mut self.calls {
            calls.prompt.high += calls.n.high * more;
            calls.longest += more;
        }
        self
    }

    /// Returns the number of calls.
    pub fn n(&self) -> Range {
        self.calls.iter().map(|calls| calls.n).sum()
    }

    /// Tokens of all prompts together.
    pub fn prompt(&self) -> Range {
        self.calls.iter().map(|calls| calls.prompt).sum()
    }

    /// Tokens of all responses together, see [`Calls::response`].
    pub fn response(&self, typical: u64) -> Range {
        self.calls.iter().map(|calls| calls.response(typical)).sum()
    }

    /// Tokens of the largest request, prompt and limit of the response.
    pub fn largest_request(&self) -> u64 {
        self.calls.iter().map(|calls| calls.longest + calls.response_limit).max().unwrap_or(0)
    }
}
