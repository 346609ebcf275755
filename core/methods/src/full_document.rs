//! Full document, also called long context: the whole text in one prompt.

use super::cost::{Cost, Range, Sizes};
use super::read::{Shown, limit_for};
use super::style::{Frame, View};
use super::whole::{Kept, OnOverflow, TooLong, keep};
use super::{Answer, Method, MethodError, Preset, PromptStyle, Questions, Session, Stop};
use crate::Host;
use crate::record::Context;
use closeread_eval::Outcome;
use serde::{Deserialize, Serialize};

/// Hands the reader the whole text of the items' books.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FullDocument {
    /// What happens to a prompt that exceeds the window.
    pub overflow: OnOverflow,
    /// Whose prompt and answer form.
    pub style: PromptStyle,
    /// All questions on a book go into one call, as NovelQA does; in its style alone.
    pub together: bool,
    /// The sentences that hold the answer are asked for as well (NovelQA's evidence recall); in its style alone.
    pub evidence: bool,
}

impl FullDocument {
    fn heads_documents(&self, n_books: usize) -> bool {
        n_books > 1 || self.style.heads_documents()
    }
}

impl Method for FullDocument {
    const PRESETS: &'static [Preset<Self>] = &[Preset::new(
        "full-document",
        "SagaScale 4.1 (long context), NovelQA 4.1, Stronger Baselines",
        "the whole text",
        Self::default,
    )];
    type Prepared = ();

    fn check(&self) -> Result<(), &'static str> {
        self.style.check(self.together, self.evidence)
    }

    fn asks_together(&self) -> bool {
        self.together
    }

    fn shares_its_prompts(&self) -> bool {
        true
    }

    async fn answer<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        _prepared: Option<&()>,
    ) -> Result<Vec<Answer>, Stop> {
        session.limit_output(limit_for(session.settings().reply_limit, questions, self.evidence));
        let (settings, books, title) = (session.settings(), session.books(), session.title());
        let (style, evidence, language) = (self.style, self.evidence, session.language());
        let frame = Frame { style, view: View::Whole, evidence, title: &title, language };
        // The prompt with nothing in the place of the text.
        let around = settings.tokenizer.count(&frame.prompt(questions, "\n\n").render(settings.prompts)?);
        let kept = fitting(session, around, self.heads_documents(books.len()), self.overflow).await?;
        let context = Context {
            retriever: None,
            n_tokens: kept.stretches.iter().map(|text| settings.tokenizer.count(text)).sum(),
            passages: kept.references,
        };
        let passages = kept.stretches.into_iter().map(Into::into).collect();
        let shown = Shown { view: View::Whole, passages, context: Some(context), evidence };
        session.read(questions, shown, style).await
    }

    /// Exact to the few tokens that white space takes where text and prompt meet.
    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
        let limit = limit_for(sizes.settings.reply_limit, questions, self.evidence);
        let view = View::Whole;
        let headed = self.heads_documents(sizes.books.len());
        let around = sizes.around(questions, self.style, view, self.evidence, headed)?;
        let Some(text) = kept(sizes, around + u64::from(limit.reserved()), self.overflow) else {
            return Ok(Cost::overflow(questions));
        };
        Ok(sizes.call(around, Range::exactly(text), limit).sharing(sizes, text).into())
    }
}

/// As much of the books' text as the window leaves room for beside the prompt `around` it and what is kept free for the reply.
async fn fitting<H: Host>(
    session: &Session<'_, H>,
    around: usize,
    headed: bool,
    policy: OnOverflow,
) -> Result<Kept, Stop> {
    let settings = session.settings();
    let around = around + settings.reply_limit.reserved() as usize;
    let available = settings.context_window.map(|window| window.saturating_sub(around));
    // Where not even the question fits, nothing is cut, so that the whole is counted.
    let policy = if available == Some(0) { OnOverflow::Fail } else { policy };
    keep(session, headed, available, policy).await?.map_err(|TooLong(n_tokens)| {
        Stop::Outcome(Outcome::Overflow { needed: Some(around + n_tokens), context_window: settings.context_window })
    })
}

/// Tokens of the whole text that stay beside `around` others, by the rule of [`fitting`]; `None` for an overflow.
fn kept(sizes: &Sizes<'_>, around: u64, policy: OnOverflow) -> Option<u64> {
    let text = sizes.text();
    let Some(window) = sizes.settings.context_window else { return Some(text) };
    let available = (window as u64).checked_sub(around).filter(|available| *available > 0);
    match policy {
        _ if available.is_some_and(|available| text <= available) => Some(text),
        OnOverflow::Fail => None,
        OnOverflow::TruncateEnd | OnOverflow::TruncateMiddle => available,
    }
}
