//! The memory agent (CorpusQA 4.1; MemAgent, Yu et al. 2025): a text of any length is read section by section, and all
//! that is kept of it is a memory that each call writes anew.

use super::cost::{Cost, Range, Sizes};
use super::read::{Shown, input, messages};
use super::sections::{Section, Sections};
use super::style::{Excerpt, View, options_of};
use super::{Answer, Method, MethodError, Preset, PromptStyle, Questions, ResponseLimit, Session, Stop};
use crate::Host;
use crate::host::book_text;
use crate::record::Context;
use closeread_eval::PassageRef;
use closeread_eval::answer::Form;
use closeread_eval::reading::{Expected, ExtractiveInput};
use closeread_eval::{Item, Task};
use closeread_llm::HostError;
use closeread_prompts::readers::{
    CorpusQaProblem, MemoryAgentChoice, MemoryAgentQuestion, MemoryAgentSummary, MemoryAgentUpdate,
};
use closeread_prompts::variables::Lettered;
use closeread_prompts::{Prompt, PromptError, Prompts, ReaderPrompt};
use closeread_text::FlowSpan;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroUsize;

/// The memory before anything was read, in MemAgent's words.
const NO_MEMORY: &str = "No previous memory";

/// Reads the item's books section by section, then answers from the memory alone.
///
/// Each section is read with the question and the memory so far; the response, without its reasoning, is the new
/// memory, also where it was cut short at its limit. Measures: `sections`. The context is what was read, although the
/// last call sees the memory alone: its tokens and spans say what of the text the model had before it once, as for a
/// full document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryAgent {
    /// Number of tokens of a section.
    pub section_tokens: NonZeroUsize,
    /// Most tokens that are read of a text: of a longer one the centre is left out. MemAgent's evaluation has 120,000;
    /// `None` reads everything, as CorpusQA does.
    pub max_context: Option<NonZeroUsize>,
    /// Most tokens that a memory may have.
    pub memory_tokens: u32,
    /// Sampling temperature. CorpusQA decodes greedily; MemAgent's evaluation has 0.7.
    pub temperature: f64,
    /// Paper whose prompt and answer form the last call has, the memory in the place of the text; `None`: MemAgent's, a
    /// box.
    pub style: Option<PromptStyle>,
    /// CorpusQA's output requirements are part of the question in every call, where that is an open one (CorpusQA, appendix
    /// C: all models had its prompt). The answer is what is boxed, or else what follows "The answer is:".
    pub requirements: bool,
}

impl Default for MemoryAgent {
    fn default() -> Self {
        let section_tokens = NonZeroUsize::new(5000).expect("not zero");
        Self {
            section_tokens,
            max_context: None,
            memory_tokens: 1024,
            temperature: 0.0,
            style: None,
            requirements: false,
        }
    }
}

impl Method for MemoryAgent {
    const PRESETS: &'static [Preset<Self>] = &[Preset::new(
        "memory-agent",
        "CorpusQA 4.1 (MemAgent)",
        "the memory that it kept while it read the whole text section by section",
        Self::default,
    )];
    type Prepared = ();

    async fn answer<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        _prepared: Option<&()>,
    ) -> Result<Vec<Answer>, Stop> {
        session.set_temperature(self.temperature);
        let (settings, books) = (session.settings(), session.books());
        let mut read = Read::default();
        let end = async {
            let mut memory = NO_MEMORY.to_owned();
            let problem = self.problem(questions.first(), settings.prompts)?;
            let host = session.host();
            let text_of = async |number: usize| {
                let text = book_text(host, &books[number]).await?;
                Ok::<_, HostError>(text.flow().text().to_owned())
            };
            session.limit_output(ResponseLimit::AtMost(self.memory_tokens));
            let Self { section_tokens, max_context, .. } = *self;
            let sections = Sections::new(settings.tokenizer, books.len(), text_of, section_tokens, max_context);
            let mut sections = sections.await?;
            while let Some(section) = sections.next().await? {
                memory = update(session, questions.first(), &problem, &memory, &section).await?;
                read.add(&section);
            }
            session.limit_output(settings.response_limit);
            self.answer_from_memory(session, questions, &problem, memory).await
        }
        .await;
        session.measure("sections", read.n_sections);
        let context = read.context(session).await;
        session.shows(context.as_ref().ok().cloned());
        end.and_then(|answers| context.map(|_| answers))
    }

    /// A call for each section and one for the answer: their number is determined, the length of the memory is not.
    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
        let item = questions.first();
        let n_books = sizes.books.len() as u64;
        let headings = if n_books > 1 { Range { low: n_books, high: n_books * OF_HEADING } } else { Range::default() };
        let most = self.max_context.map_or(u64::MAX, |most| most.get() as u64);
        let text = Range::exactly(sizes.text()) + headings;
        let text = Range { low: text.low.min(most), high: text.high.min(most) };
        let section = self.section_tokens.get() as u64;
        let n = Range { low: text.low.div_ceil(section), high: text.high.div_ceil(section) };
        let memory = Range::up_to(self.memory_tokens.into());
        let problem = self.problem(item, sizes.settings.prompts)?;
        let around = sizes.prompt(&update_prompt(item, &problem, "", ""))?;
        let mut sections = sizes.call(around, memory, ResponseLimit::AtMost(self.memory_tokens)).times(n);
        sections.prompt = sections.prompt + text;
        sections.longest += section.min(text.high);
        let answer = match self.style {
            Some(style) => sizes.reading(questions, style, View::Passages, memory)?,
            None => {
                let around = sizes.prompt(&*answer_prompt(item, &problem, ""))?;
                sizes.call(around, memory, sizes.settings.response_limit)
            }
        };
        Ok(vec![sections, answer].into())
    }
}

/// Most tokens of a document's heading.
const OF_HEADING: u64 = 10;

fn update_prompt<'p>(item: &'p Item, question: &'p str, memory: &'p str, section: &'p str) -> MemoryAgentUpdate<'p> {
    MemoryAgentUpdate { question, options: Lettered::all(options_of(item)), memory, section }
}

fn answer_prompt<'p>(item: &'p Item, question: &'p str, memory: &'p str) -> Box<dyn ReaderPrompt + 'p> {
    match item.task {
        Task::Choice => Box::new(MemoryAgentChoice { question, options: Lettered::all(options_of(item)), memory }),
        Task::Generative => Box::new(MemoryAgentQuestion { question, memory }),
        Task::Summary => Box::new(MemoryAgentSummary { question, memory }),
    }
}

/// The memory after one more section.
async fn update<H: Host>(
    session: &mut Session<'_, H>,
    item: &Item,
    problem: &str,
    memory: &str,
    section: &Section,
) -> Result<String, Stop> {
    let prompt = update_prompt(item, problem, memory, &section.text);
    let asked = messages(&prompt, session.settings().prompts, "")?;
    // A reader without a language model keeps the sentences that match the question best.
    let known = (memory != NO_MEMORY).then(|| memory.to_owned());
    let context = known.into_iter().chain([section.text.clone()]).collect();
    let question = format!("{} {}", item.question, options_of(item).join(" "));
    let expected = prompt.expected();
    let input = ExtractiveInput { question, task: Task::Summary, ..input(item, context, expected, session.language()) };
    let response = session.ask(prompt.name(), asked, async || Ok(input)).await?;
    Ok(expected.parse(&[item], 0, &response.text).into_text())
}

impl MemoryAgent {
    fn requires(&self, item: &Item) -> bool {
        self.requirements && item.task == Task::Generative
    }

    /// Returns the problem that the calls work on: the question, with the output requirements where they are part of
    /// it.
    fn problem<'p>(&self, item: &'p Item, prompts: &Prompts) -> Result<Cow<'p, str>, PromptError> {
        match self.requires(item) {
            true => Ok(CorpusQaProblem { question: &item.question }.render(prompts)?.into()),
            false => Ok(item.question.as_str().into()),
        }
    }

    /// The answer, from the memory alone.
    async fn answer_from_memory<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        problem: &str,
        memory: String,
    ) -> Result<Vec<Answer>, Stop> {
        let item = questions.first();
        let known: Vec<String> = if memory == NO_MEMORY { Vec::new() } else { vec![memory.clone()] };
        // By the prompt of a paper that knows no memory.
        if let Some(style) = self.style {
            let excerpts = known.into_iter().map(Excerpt::from).collect();
            return session.read(questions, Shown::passages(excerpts, None), style).await;
        }
        let prompt = answer_prompt(item, problem, &memory);
        let asked = messages(&*prompt, session.settings().prompts, "")?;
        let expected = match self.requires(item) {
            true => Expected::Answer(Form::BoxedOrAnnounced),
            false => prompt.expected(),
        };
        let input = input(item, known, expected, session.language());
        let response = session.ask(prompt.name(), asked, async || Ok(input)).await?;
        Ok(expected.parse(&[item], 0, &response.text).into_answers())
    }
}

/// Progress of the reading: sections, tokens and places read so far.
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

    async fn context<H: Host>(&self, session: &Session<'_, H>) -> Result<Context, Stop> {
        let mut passages = Vec::with_capacity(self.places.len());
        for &(number, place) in &self.places {
            let book = &session.books()[number];
            let span = session.text(book).await?.flow().to_source(place);
            passages.push(PassageRef { document: book.id.clone(), start: span.start, end: span.end, score: None });
        }
        Ok(Context { retriever: None, reranked: None, n_tokens: self.n_tokens, passages })
    }
}
