//! The memory agent (CorpusQA 4.1; MemAgent, Yu et al. 2025): a text of any length is read section by section, and all
//! that is kept of it is a memory that each call writes anew.

use super::ask::{Asking, End};
use super::dress::{Dress, Excerpt, View};
use super::read::{Shown, lettered, options_of, prompt_for, read, reading, title_of};
use super::reply::read_one;
use super::sections::{Section, Sections};
use super::{Material, MethodError, Setting, Trial};
use crate::answer::{Form, after_thinking};
use crate::benchmark::{Item, Task};
use crate::host::{Host, Message};
use crate::reader::{Reading, Want};
use crate::record::{Context, Outcome, PassageRef};
use crate::text::FlowSpan;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::num::NonZeroUsize;

/// The memory before anything was read, in MemAgent's words.
const NO_MEMORY: &str = "No previous memory";

/// Parameters of [`memory_agent`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryAgent {
    /// Tokens of a section.
    pub section_tokens: NonZeroUsize,
    /// Most tokens that are read of a text: of a longer one the centre is left out. MemAgent's evaluation has 120,000; `None`
    /// reads everything, as CorpusQA does.
    pub max_context: Option<NonZeroUsize>,
    /// Most tokens of a memory.
    pub memory_tokens: u32,
    /// Sampling temperature. CorpusQA decodes greedily; MemAgent's evaluation has 0.7.
    pub temperature: f32,
    /// Whose prompt and answer form the last call has, the memory in the place of the text; `None`: MemAgent's, a box.
    pub dress: Option<Dress>,
}

impl Default for MemoryAgent {
    fn default() -> Self {
        let section_tokens = NonZeroUsize::new(5000).expect("not zero");
        Self { section_tokens, max_context: None, memory_tokens: 1024, temperature: 0.0, dress: None }
    }
}

/// Reads the item's books section by section, then answers from the memory alone.
///
/// Each section is read with the question and the memory so far; the reply, without its reasoning, is the new memory, also
/// where it was cut short at its limit. Measures: `sections`. The context is what was read, although the last call sees the
/// memory alone: its tokens and spans say what of the text the model had before it once, as for a full document.
///
/// # Errors
/// [`MethodError::Prompt`] if a prompt cannot be filled.
pub async fn memory_agent<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    item: &Item,
    parameters: &MemoryAgent,
) -> Result<Trial, MethodError> {
    let mut asking = Asking::new(host, Setting { temperature: parameters.temperature, ..setting });
    let mut read = Read::default();
    let end = async {
        let mut memory = NO_MEMORY.to_owned();
        let text_of = |number: usize| material.books[number].flow().text().to_owned();
        let MemoryAgent { section_tokens, max_context, memory_tokens, .. } = *parameters;
        asking.limit_replies(memory_tokens);
        for section in Sections::new(setting.tokenizer, material.books.len(), text_of, section_tokens, max_context) {
            memory = update(&mut asking, material, item, &memory, &section).await?;
            read.add(&section);
        }
        asking.limit_replies(setting.max_output_tokens);
        match parameters.dress {
            Some(dress) => answer_in(dress, &mut asking, material, item, memory).await,
            None => answer(&mut asking, material, item, memory).await,
        }
    }
    .await;
    asking.measures.insert("sections".to_owned(), read.n_sections as f64);
    asking.context = Some(read.context(material));
    asking.finish(end)
}

/// The memory after one more section.
async fn update<H: Host>(
    asking: &mut Asking<'_, H>,
    material: &Material<'_>,
    item: &Item,
    memory: &str,
    section: &Section,
) -> Result<String, End> {
    let variables = json!({
        "question": item.question, "options": lettered(options_of(item)), "memory": memory, "section": section.text,
    });
    let message = Message::user(asking.setting().prompts.render("memory-agent-update", &variables)?);
    // A reader without a language model keeps the sentences that match the question best.
    let known = (memory != NO_MEMORY).then(|| memory.to_owned());
    let context = known.into_iter().chain([section.text.clone()]).collect();
    let question = format!("{} {}", item.question, options_of(item).join(" "));
    let reading = Reading {
        question,
        task: Task::Summary,
        ..reading(item, context, Want::Answer(Form::Marked), material.language())
    };
    let reply = asking.ask("memory-agent-update", vec![message], Some(reading)).await?;
    Ok(after_thinking(&reply.text).to_owned())
}

/// The answer, from the memory alone.
async fn answer<H: Host>(
    asking: &mut Asking<'_, H>,
    material: &Material<'_>,
    item: &Item,
    memory: String,
) -> Result<Outcome, End> {
    let name = prompt_for("memory-agent", item.task);
    let variables = json!({ "question": item.question, "options": lettered(options_of(item)), "memory": memory });
    let message = Message::user(asking.setting().prompts.render(&name, &variables)?);
    let known = if memory == NO_MEMORY { Vec::new() } else { vec![memory] };
    let reading = reading(item, known, Want::Answer(Form::Boxed), material.language());
    let reply = asking.ask(&name, vec![message], Some(reading)).await?;
    Ok(read_one(Form::Boxed, item, &reply.text))
}

/// The answer, from the memory alone, by the prompt of a paper that knows no memory.
async fn answer_in<H: Host>(
    dress: Dress,
    asking: &mut Asking<'_, H>,
    material: &Material<'_>,
    item: &Item,
    memory: String,
) -> Result<Outcome, End> {
    let title = title_of(material.books);
    let known = if memory == NO_MEMORY { Vec::new() } else { vec![memory] };
    let shown = Shown {
        dress,
        view: View::Passages,
        title: &title,
        passages: known.into_iter().map(Excerpt::from).collect(),
        context: None,
        language: material.language(),
        evidence: false,
    };
    read(asking, item, shown).await
}

/// What was read so far.
#[derive(Default)]
struct Read {
    n_sections: usize,
    n_tokens: usize,
    /// Number of the document, bytes of its text; what follows on another is one with it.
    places: Vec<(usize, FlowSpan)>,
}

impl Read {
    fn add(&mut self, section: &Section) {
        self.n_sections += 1;
        self.n_tokens += section.n_tokens();
        for &(number, place) in &section.places {
            match self.places.last_mut() {
                Some((last, before)) if *last == number && before.end == place.start => before.end = place.end,
                _ => self.places.push((number, place)),
            }
        }
    }

    fn context(&self, material: &Material<'_>) -> Context {
        let passages = self.places.iter().map(|&(number, place)| {
            let book = &material.books[number];
            let span = book.flow().to_source(place);
            PassageRef { document: book.id.clone(), start: span.start, end: span.end, score: None }
        });
        Context { retriever: None, n_tokens: self.n_tokens, passages: passages.collect() }
    }
}
