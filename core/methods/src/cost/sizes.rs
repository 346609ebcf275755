//! Sizes that the cost of a method depends on, and the parts that costs are made of.

use super::calls::{BookSize, Calls, Range, Shared, Stage};
use crate::read::prompt_tokens;
use crate::session::joined_titles;
use crate::style::{Frame, View, heading};
use crate::{MethodError, PromptStyle, Questions, ResponseLimit, Settings};
use closeread_prompts::Prompt;
use closeread_text::Language;

/// The books, the settings and the budget of a run, as far as they decide what a method asks for.
#[derive(Debug, Clone, Copy)]
pub struct Sizes<'a> {
    /// Settings that every session of the run shares.
    pub settings: Settings<'a>,
    /// The books of the items.
    pub books: &'a [BookSize],
    /// Most tokens that retrieved passages may have, for methods that take a budget; without one everything fits.
    pub budget: Option<usize>,
    /// Whether nothing was asked about these books before.
    pub is_first: bool,
}

impl Sizes<'_> {
    /// Tokens of all books together.
    pub fn text(&self) -> u64 {
        self.books.iter().map(|book| book.tokens).sum()
    }

    /// Words of all books together.
    pub fn words(&self) -> u64 {
        self.books.iter().map(|book| book.words).sum()
    }

    /// The language of the first book.
    pub fn language(&self) -> Language {
        self.books.first().map_or(Language::ENGLISH, |book| book.language)
    }

    /// The title of the books as a prompt names it.
    pub fn title(&self) -> String {
        joined_titles(self.books.iter().map(|book| book.title.as_str()))
    }

    /// Tokens of a prompt.
    ///
    /// # Errors
    /// [`MethodError::Prompt`] if it cannot be filled.
    pub fn prompt(&self, prompt: &(impl Prompt + ?Sized)) -> Result<u64, MethodError> {
        Ok(prompt_tokens(prompt, self.settings)? as u64)
    }

    /// Counts the tokens of a reading's prompt without the text in it; with the headings of all documents if `headed`.
    pub(crate) fn around(
        &self,
        questions: &Questions<'_>,
        style: PromptStyle,
        view: View,
        evidence: bool,
        headed: bool,
    ) -> Result<u64, MethodError> {
        let (title, language) = (self.title(), self.language());
        let frame = Frame { style, view, evidence, title: &title, language };
        let headings: Vec<String> = (0..if headed { self.books.len() } else { 0 }).map(heading).collect();
        self.prompt(&*frame.prompt(questions, &headings.join("\n\n")))
    }

    /// Returns one call with `text` in a reading's prompt.
    ///
    /// # Errors
    /// [`MethodError::Prompt`] if the prompt cannot be filled.
    pub fn reading(
        &self,
        questions: &Questions<'_>,
        style: PromptStyle,
        view: View,
        text: Range,
    ) -> Result<Calls, MethodError> {
        let around = self.around(questions, style, view, false, false)?;
        Ok(self.call(around, text, self.settings.response_limit))
    }

    /// Returns one call for a question, with `text` in a prompt of `around` other tokens.
    pub fn call(&self, around: u64, text: Range, response_limit: ResponseLimit) -> Calls {
        let prompt = Range::exactly(around) + text;
        Calls {
            stage: Stage::Question,
            n: Range::exactly(1),
            prompt,
            longest: prompt.high,
            response_limit: response_limit.reserved().into(),
            shared: Shared::Nothing,
        }
    }

    /// Tokens of passages of at most `passage` tokens that fill the budget, with what stands between them: from a passage
    /// less than it to all of it; all of the text where that is less.
    pub fn within_budget(&self, passage: u64, style: PromptStyle) -> Range {
        let (text, budget) = (self.text(), self.budget.map_or(u64::MAX, |budget| budget as u64));
        // White space between sentences is not part of a passage, and some words count twice where they are cut.
        let low = budget.saturating_sub(passage).min(text * 8 / 10);
        let high = budget.min(text + text / 10);
        let n_passages = 2 * high / passage.max(1) + (self.books.len() as u64).max(1);
        Range { low, high: high + n_passages * style.tokens_beside_passage() }
    }

    /// Returns the tokens of `n` passages, of which only the last of a book is shorter than the others, with what
    /// stands between.
    pub fn top(&self, n: u64, passage: u64, style: PromptStyle) -> Range {
        let most = (n * passage).min(self.text());
        let short = passage * (self.books.len() as u64).max(1);
        Range { low: most.saturating_sub(short), high: most + n * style.tokens_beside_passage() }
    }
}

impl Calls {
    /// Marks the calls as beginning with `text` tokens that all questions on the books share.
    #[must_use]
    pub fn sharing(self, sizes: &Sizes<'_>, text: u64) -> Self {
        Self { shared: if sizes.is_first { Shared::First(text) } else { Shared::Again(text) }, ..self }
    }
}
