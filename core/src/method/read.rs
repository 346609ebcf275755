//! The last step of every method here: one prompt, one reply, an answer to each question.

use super::ask::{Asking, End};
use super::dress::{Dress, Excerpt, View};
use super::reply::{Said, read_reply};
use crate::answer::Form;
use crate::benchmark::{Item, Task};
use crate::host::{Host, Message};
use crate::prompt::{PromptError, Prompts};
use crate::reader::{Question, Reading, Want};
use crate::record::{Context, Outcome};
use serde::Serialize;
use serde_json::{Value, json};

/// What a reader is shown.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    /// Whose prompt and answer form.
    pub dress: Dress,
    /// What of the books it is.
    pub view: View,
    /// Title of the work.
    pub title: &'a str,
    /// The passages, in the order of the prompt; empty for a closed book.
    pub passages: Vec<Excerpt>,
    /// The same by reference.
    pub context: Option<Context>,
    /// ISO 639-1 code of the text.
    pub language: &'a str,
    /// The sentences that hold the answer are asked for as well, where the dress can.
    pub evidence: bool,
}

impl Shown<'_> {
    /// The prompt's name and the form of the reply.
    fn prompt(&self, items: &[&Item]) -> (&'static str, Form) {
        self.dress.of(self.view, items[0].task, self.evidence)
    }

    /// The prompt with `context` in the place of the text.
    pub(super) fn render(&self, prompts: &Prompts, items: &[&Item], context: &str) -> Result<String, PromptError> {
        let (name, _) = self.prompt(items);
        prompts.render(name, &variables(self, items, context))
    }
}

/// The title of the item's books as a prompt names it; empty if none has one.
pub(super) fn title_of(books: &[impl AsRef<crate::text::Book>]) -> String {
    let titles: Vec<&str> = books.iter().map(|b| b.as_ref().title.as_str()).filter(|title| !title.is_empty()).collect();
    titles.join("; ")
}

/// The name of a language in a prompt.
pub(crate) fn language_name(code: &str) -> &str {
    match code {
        "en" => "English",
        "zh" => "Chinese",
        _ => "the language of the question",
    }
}

/// The options that an item is asked with.
pub(super) fn options_of(item: &Item) -> &[String] {
    if item.task == Task::Choice { &item.options } else { &[] }
}

/// What the prompts of readers are filled with.
#[derive(Serialize)]
struct Variables<'a> {
    title: &'a str,
    context: &'a str,
    language: &'a str,
    question: &'a str,
    options: &'a [String],
    questions: Vec<Asked<'a>>,
    n_questions: usize,
}

/// One of several questions in a prompt.
#[derive(Serialize)]
struct Asked<'a> {
    question: &'a str,
    options: &'a [String],
}

fn variables<'a>(shown: &Shown<'a>, items: &[&'a Item], context: &'a str) -> Variables<'a> {
    let (title, language) = (shown.title, language_name(shown.language));
    let questions = items.iter().map(|item| Asked { question: &item.question, options: options_of(item) }).collect();
    let (question, options) = (&items[0].question, options_of(items[0]));
    Variables { title, context, language, question, options, questions, n_questions: items.len() }
}

/// Name of the prompt of a method for a task.
pub(super) fn prompt_for(method: &str, task: Task) -> String {
    let task = match task {
        Task::Choice => "choice",
        Task::Generative => "question",
        Task::Summary => "summary",
    };
    format!("{method}-{task}")
}

/// Options as prompts show them that ask for a letter.
pub(super) fn lettered(options: &[String]) -> Vec<Value> {
    let letters = 'A'..='Z';
    letters.zip(options).map(|(letter, text)| json!({ "letter": letter, "text": text })).collect()
}

/// What a reader without a language model makes its reply from.
pub(super) fn reading(item: &Item, context: Vec<String>, want: Want, language: &str) -> Reading {
    Reading {
        context,
        question: item.question.clone(),
        options: options_of(item).to_vec(),
        further: Vec::new(),
        task: item.task,
        want,
        language: language.to_owned(),
    }
}

/// Fills the prompt, asks the reader and reads its answer.
pub(super) async fn read<H: Host>(asking: &mut Asking<'_, H>, item: &Item, shown: Shown<'_>) -> Result<Outcome, End> {
    Ok(read_all(asking, &[item], shown).await?.remove(0).outcome)
}

/// The same for several questions of one task in one call, in a dress that has a line for each.
pub(super) async fn read_all<H: Host>(
    asking: &mut Asking<'_, H>,
    items: &[&Item],
    shown: Shown<'_>,
) -> Result<Vec<Said>, End> {
    let (name, form) = shown.prompt(items);
    let context = shown.dress.layout(&shown.passages);
    let mut message = Message::user(shown.render(asking.setting().prompts, items, &context)?);
    // A whole document is what all questions on it share; retrieved passages differ from question to question.
    if shown.view == View::Whole {
        message = message.sharing(&context);
    }
    // A book is long, and the call may take minutes.
    drop(context);
    asking.context = shown.context;
    let further = items[1..].iter();
    let reading = Reading {
        further: further
            .map(|item| Question { question: item.question.clone(), options: options_of(item).to_vec() })
            .collect(),
        ..reading(
            items[0],
            shown.passages.into_iter().map(|excerpt| excerpt.text).collect(),
            Want::Answer(form),
            shown.language,
        )
    };
    let reply = asking.ask(name, vec![message], Some(reading)).await?;
    Ok(read_reply(form, items, &reply.text))
}
