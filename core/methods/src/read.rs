//! The last step of most methods: one prompt, one response, an answer to each question.

use super::style::{Excerpt, Frame, Place, PromptStyle, View, options_of};
use super::{Answer, Questions, ResponseLimit, Session, Settings, Stop};
use crate::Host;
use crate::record::Context;
use closeread_eval::Item;
use closeread_eval::reading::{Expected, ExtractiveInput, Question};
use closeread_llm::{Message, Speaker};
use closeread_prompts::{Prompt, PromptError, Prompts};
use closeread_retrieve::Ranked;
use closeread_text::Language;

/// The part of the books that a model is shown.
#[derive(Debug)]
pub struct Shown {
    /// Kind of view of the books.
    pub view: View,
    /// The passages, in the order of the prompt; empty for a closed book.
    pub passages: Vec<Excerpt>,
    /// The passages by reference.
    pub context: Option<Context>,
    /// Whether the sentences that hold the answer are asked for as well, where the style can.
    pub evidence: bool,
}

impl Shown {
    /// Shows nothing of the books' text.
    pub fn nothing() -> Self {
        Self { view: View::Nothing, passages: Vec::new(), context: None, evidence: false }
    }

    /// Shows these passages.
    pub fn passages(passages: Vec<Excerpt>, context: Option<Context>) -> Self {
        Self { view: View::Passages, passages, context, evidence: false }
    }
}

/// Tokens that each question after the first adds to the longest response.
///
/// The run's limit, or what is assumed without one, is for one question; a line of a few words takes far less than
/// that, and as much for each question of a book is more than most models can write.
const LINE_TOKENS: u32 = 64;
/// Tokens that each question after the first adds where its line also cites sentences.
const EVIDENCED_LINE_TOKENS: u32 = 256;

/// Returns how long a response to the questions may be, where one question has `limit`.
pub(super) fn limit_for(limit: ResponseLimit, questions: &Questions<'_>, evidence: bool) -> ResponseLimit {
    let line = if evidence { EVIDENCED_LINE_TOKENS } else { LINE_TOKENS };
    let further = u32::try_from(questions.further().len()).unwrap_or(u32::MAX);
    limit.plus(further.saturating_mul(line))
}

/// The messages that ask by a prompt: the system's, where it has one, and the user's, whose beginning up to the end of
/// `shared` other calls share.
///
/// # Errors
/// [`PromptError`] if a user's own template cannot be filled.
pub fn messages(prompt: &(impl Prompt + ?Sized), prompts: &Prompts, shared: &str) -> Result<Vec<Message>, PromptError> {
    let system = prompt.system(prompts)?;
    let system = system.map(|content| Message { role: Speaker::System, content, shared_bytes: None });
    let user = Message::user(prompt.render(prompts)?).sharing(shared);
    Ok(system.into_iter().chain([user]).collect())
}

/// Adds what the model said, and what it is told now. Servers want turns to alternate and none to be empty: where it said
/// nothing, the last message says that too.
pub fn reply(messages: &mut Vec<Message>, said: &str, told: String) {
    match (said.trim(), messages.last_mut()) {
        ("", Some(last)) => last.content = format!("{}\n\n{told}", last.content),
        _ => {
            let said = Message { role: Speaker::Assistant, content: said.to_owned(), shared_bytes: None };
            messages.extend([said, Message::user(told)]);
        }
    }
}

/// Tokens of these messages.
///
/// # Errors
/// As [`messages`].
pub fn prompt_tokens(prompt: &(impl Prompt + ?Sized), settings: Settings<'_>) -> Result<usize, PromptError> {
    let messages = messages(prompt, settings.prompts, "")?;
    Ok(messages.iter().map(|message| settings.tokenizer.count(&message.content)).sum())
}

/// Returns the input from which a reader without a language model makes its response.
pub(super) fn input(item: &Item, context: Vec<String>, expected: Expected, language: Language) -> ExtractiveInput {
    ExtractiveInput {
        context,
        question: item.question.clone(),
        options: options_of(item).to_vec(),
        further: Vec::new(),
        task: item.task,
        expected,
        language,
    }
}

impl<H: Host> Session<'_, H> {
    /// Passages of the index as a prompt shows them, in this order.
    ///
    /// # Errors
    /// [`Stop`] if there is no index, or the text of a book cannot be had.
    pub async fn excerpts(&self, passages: &[Ranked]) -> Result<Vec<Excerpt>, Stop> {
        let index = self.index()?;
        let texts = self.texts(passages.iter().map(|ranked| ranked.idx)).await?;
        let place = |idx: usize| Place { document: index.passages()[idx].book, idx };
        let excerpt = |(ranked, text): (&Ranked, String)| Excerpt { place: Some(place(ranked.idx)), text };
        Ok(passages.iter().zip(texts).map(excerpt).collect())
    }

    /// Shows passages of the index, in this order, and reads the answer.
    ///
    /// # Errors
    /// [`Stop`] if the prompt cannot be filled or the call ends without a response.
    pub async fn read_passages(
        &mut self,
        questions: &Questions<'_>,
        passages: &[Ranked],
        style: PromptStyle,
    ) -> Result<Vec<Answer>, Stop> {
        let shown = Shown::passages(self.excerpts(passages).await?, Some(self.context_of(passages)?));
        self.read(questions, shown, style).await
    }

    /// Fills the prompt, asks the reader and reads its answer to each question; several questions need a style that has a
    /// line for each.
    ///
    /// # Errors
    /// [`Stop`] if the prompt cannot be filled or the call ends without a response.
    pub async fn read(
        &mut self,
        questions: &Questions<'_>,
        shown: Shown,
        style: PromptStyle,
    ) -> Result<Vec<Answer>, Stop> {
        let Shown { view, passages, context, evidence } = shown;
        let (title, language) = (self.title(), self.language());
        let frame = Frame { style, view, evidence, title: &title, language };
        let text = style.layout(&passages);
        let prompt = frame.prompt(questions, &text);
        let (name, expected) = (prompt.name(), prompt.expected());
        // A whole document is what all questions on it share; retrieved passages differ from question to question.
        let shared = if view == View::Whole { &*text } else { "" };
        let messages = messages(&*prompt, self.settings().prompts, shared)?;
        // A book is long, and the call may take minutes.
        drop(prompt);
        drop(text);
        if context.is_some() {
            self.shows(context);
        }
        let texts = passages.into_iter().map(|excerpt| excerpt.text).collect();
        let further = questions.further().iter();
        let input = ExtractiveInput {
            further: further
                .map(|item| Question { question: item.question.clone(), options: options_of(item).to_vec() })
                .collect(),
            ..input(questions.first(), texts, expected, language)
        };
        let response = self.ask(name, messages, async || Ok(input)).await?;
        Ok(expected.parse(questions.items(), 0, &response.text).into_answers())
    }
}
