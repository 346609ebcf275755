//! Full document, also called long context: the whole text in one prompt.

use super::cost::{Cost, Range, Sizes};
use super::read::{Shown, input, limit_for, messages, prompt_tokens};
use super::style::{Frame, View};
use super::whole::{Kept, OnOverflow, TooLong, keep};
use super::{Answer, Method, MethodError, Preset, PromptStyle, Questions, Session, Settings, Stop};
use crate::Host;
use crate::record::Context;
use closeread_eval::published::{Part, Published};
use closeread_eval::{Item, Outcome};
use closeread_prompts::readers::CorpusQaPublished;
use closeread_prompts::{Prompt, ReaderPrompt};
use serde::{Deserialize, Serialize};

/// Hands the reader the whole text of the items' books.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FullDocument {
    /// What to do with a prompt that exceeds the window.
    pub overflow: OnOverflow,
    /// Paper whose prompt and answer form the method uses.
    pub style: PromptStyle,
    /// Whether all questions on a book go into one call, as NovelQA does; in its style alone.
    pub together: bool,
    /// Whether the sentences that hold the answer are asked for as well (NovelQA's evidence recall); in its style
    /// alone.
    pub evidence: bool,
    /// Source of the words that ask: the style, or the published row.
    pub prompt: Wording,
}

/// The source of the words that a model is asked by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wording {
    /// The prompt of the style.
    #[default]
    Own,
    /// The messages of the item's published row, the system's included, unchanged; nothing is cut (CorpusQA,
    /// `src/infer.py`).
    Published,
}

impl FullDocument {
    /// Sends the messages of the item's row, each document where it stood.
    async fn as_published<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        Published { system, user }: &Published,
    ) -> Result<Vec<Answer>, Stop> {
        let (item, settings, language) = (questions.first(), session.settings(), session.language());
        let kept = fitting(session, 0, false, OnOverflow::Fail).await?;
        let mut said = String::new();
        for part in user {
            match part {
                Part::Words(words) => said.push_str(words),
                Part::Document(number) => {
                    let Some(book) = session.books().get(*number) else {
                        let error = format!("its published prompt has a document {number}, which it does not name");
                        return Err(Stop::Outcome(Outcome::Failed { error }));
                    };
                    said.push_str(session.text(book).await?.source());
                }
            }
        }
        let prompt = CorpusQaPublished { system, user: &said };
        let (name, expected) = (prompt.name(), prompt.expected());
        let asked = messages(&prompt, settings.prompts, "")?;
        drop(said);
        session.shows(Some(context(&kept, settings)));
        let input = input(item, kept.stretches, expected, language);
        let response = session.ask(name, asked, async || Ok(input)).await?;
        Ok(expected.parse(questions.items(), 0, &response.text).into_answers())
    }

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
        match (self.prompt, self.style) {
            (Wording::Published, PromptStyle::Corpusqa) | (Wording::Own, _) => {
                self.style.check(self.together, self.evidence)
            }
            (Wording::Published, _) => Err("prompt=published needs style=corpusqa, whose rows have prompts"),
        }
    }

    fn declines(&self, item: &Item) -> Option<&'static str> {
        let lacks = self.prompt == Wording::Published && Published::of(item).is_none();
        lacks.then_some("prompt=published needs the prompt of a published row, as CorpusQA's own files have them")
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
        if self.prompt == Wording::Published
            && let Some(published) = Published::of(questions.first())
        {
            return self.as_published(session, questions, &published).await;
        }
        session.limit_output(limit_for(session.settings().response_limit, questions, self.evidence));
        let (settings, books, title) = (session.settings(), session.books(), session.title());
        let (style, evidence, language) = (self.style, self.evidence, session.language());
        let frame = Frame { style, view: View::Whole, evidence, title: &title, language };
        // The prompt with nothing in the place of the text.
        let around = prompt_tokens(&*frame.prompt(questions, "\n\n"), settings)?;
        let kept = fitting(session, around, self.heads_documents(books.len()), self.overflow).await?;
        let context = context(&kept, settings);
        let passages = kept.stretches.into_iter().map(Into::into).collect();
        let shown = Shown { view: View::Whole, passages, context: Some(context), evidence };
        session.read(questions, shown, style).await
    }

    /// Returns the cost, exact to the few tokens that white space takes where text and prompt meet.
    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
        let limit = limit_for(sizes.settings.response_limit, questions, self.evidence);
        let view = View::Whole;
        let headed = self.heads_documents(sizes.books.len());
        let published = Published::of(questions.first()).filter(|_| self.prompt == Wording::Published);
        let (around, overflow) = match published {
            Some(Published { system, user }) => {
                let words = user.iter().map(|part| if let Part::Words(words) = part { words } else { "" });
                let user = words.collect::<String>();
                (sizes.prompt(&CorpusQaPublished { system: &system, user: &user })?, OnOverflow::Fail)
            }
            None => (sizes.around(questions, self.style, view, self.evidence, headed)?, self.overflow),
        };
        let Some(text) = kept(sizes, around + u64::from(limit.reserved()), overflow) else {
            return Ok(Cost::overflow(questions));
        };
        Ok(sizes.call(around, Range::exactly(text), limit).sharing(sizes, text).into())
    }
}

/// Returns what was kept, by reference.
fn context(kept: &Kept, settings: Settings<'_>) -> Context {
    Context {
        retriever: None,
        reranked: None,
        n_tokens: kept.stretches.iter().map(|text| settings.tokenizer.count(text)).sum(),
        passages: kept.references.clone(),
    }
}

/// Returns as much of the books' text as the window leaves room for beside the prompt `around` it and the tokens that
/// are kept free for the response.
async fn fitting<H: Host>(
    session: &Session<'_, H>,
    around: usize,
    headed: bool,
    policy: OnOverflow,
) -> Result<Kept, Stop> {
    let settings = session.settings();
    let around = around + settings.response_limit.reserved() as usize;
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
