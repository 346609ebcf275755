//! ReadAgent (Lee et al. 2024), as Stronger Baselines compares it (appendix A.6): a book is cut into pages, each page is
//! remembered by its gist, and a question is answered from the gists and the few pages that are worth reading again.

mod look_up;
mod pages;
mod paginate;
mod words;

pub use look_up::LookUp;
pub use pages::{Page, Pages, expand};
pub use paginate::{PageLength, Stretch, Unit};

use super::cost::{Calls, Cost, Range, Shared, Sizes, Stage};
use super::read::{Shown, input, messages};
use super::style::{View, options_of};
use super::{
    Answer, Method, MethodError, PreparationInputs, Preset, PromptStyle, Questions, ResponseLimit, Session, Stop,
};
use crate::Host;
use crate::record::Context;
use closeread_books::{Book, Flow};
use closeread_eval::reading::{Expected, ExtractiveInput, Parsed};
use closeread_eval::{Item, Outcome, Task};
use closeread_llm::{FinishReason, Response};
use closeread_prompts::readers::{
    ReadAgentChoice, ReadAgentGist, ReadAgentPaginate, ReadAgentQuestion, ReadAgentSummary,
};
use closeread_prompts::variables::Lettered;
use closeread_prompts::{Prompt, ReaderPrompt};
use closeread_text::FlowSpan;
use look_up::{Looking, look_up};
use serde::{Deserialize, Serialize};
use serde_json::json;
pub(crate) use words::count_words;

/// Most tokens that a number, a label or a line break adds to a page, a unit or a gist in a prompt.
const MARK_TOKENS: u64 = 8;

/// Looks up the pages that may help with the question, answers from them and the gists of all others.
///
/// Measures: `pages`, `pages_looked_up`, `compression` (the share of the words that the gists save) and
/// `compression_after_lookup`. The context names the pages that were read again and no gist: a gist is not the book's
/// text. Its tokens are those of everything that was shown, gists too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAgent {
    /// Units that pages are made of.
    pub unit: Unit,
    /// Number of words after which no further unit is offered for a page.
    pub word_limit: usize,
    /// Number of words from which on a page may end.
    pub start_threshold: usize,
    /// Number of words below which the rest is the last page without asking.
    pub min_words: usize,
    /// The way to choose pages.
    pub lookup: LookUp,
    /// Most pages to read again.
    pub max_pages: usize,
    /// What decides where a page ends.
    pub pagination: Pagination,
    /// Whether pages that a response names beyond `max_pages` are read as well, as in the code that Stronger Baselines
    /// ran.
    pub read_beyond: bool,
    /// Whether the options of a look-up stand by letters; if not, behind a dash, as in that code.
    pub lettered: bool,
    /// Paper whose prompt and answer form the last step has; `None`: ReadAgent's own.
    pub style: Option<PromptStyle>,
}

/// What decides where a page ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pagination {
    /// The model decides, as in ReadAgent's notebook.
    #[default]
    Asked,
    /// Nothing: a page ends at its last label. So it came out in Stronger Baselines, whose parser does not read the
    /// responses that its prompt asks for.
    LastLabel,
}

impl Default for ReadAgent {
    fn default() -> Self {
        Self {
            unit: Unit::default(),
            word_limit: 600,
            start_threshold: 280,
            min_words: 350,
            lookup: LookUp::default(),
            max_pages: 6,
            pagination: Pagination::Asked,
            read_beyond: false,
            lettered: true,
            style: None,
        }
    }
}

impl Method for ReadAgent {
    const PRESETS: &'static [Preset<Self>] = &[Preset::new(
        "read-agent",
        "Stronger Baselines, appendix A.6 (ReadAgent)",
        "the gists of all pages, and the pages that it looked up",
        Self::default,
    )];
    type Prepared = Pages;

    fn check(&self) -> Result<(), &'static str> {
        match self.word_limit < self.min_words.max(self.start_threshold) {
            true => Err("word_limit must be at least min_words and start_threshold: with fewer words than min_words \
                         in hand, the rest of a book becomes one page; lower those, too"),
            false => Ok(()),
        }
    }

    fn shares_its_prompts(&self) -> bool {
        true
    }

    fn preparation(&self) -> Option<PreparationInputs> {
        let Self { unit, word_limit, start_threshold, min_words, pagination, .. } = self;
        let mut parameters = json!({
            "unit": unit, "word_limit": word_limit, "start_threshold": start_threshold, "min_words": min_words,
        });
        if *pagination != Pagination::Asked {
            parameters["pagination"] = json!(pagination);
        }
        Some(PreparationInputs { parameters, prompts: &[ReadAgentPaginate::NAME, ReadAgentGist::NAME] })
    }

    /// Cuts the books into pages and has each page's gist written.
    ///
    /// A page ends where the model finds a pause among the labels it is offered, so pages are cut one after the other; the
    /// gists of a book are written all at once. Measures: `pages`, and `compression`, the share of the words that the
    /// gists save.
    async fn prepare<H: Host>(&self, session: &mut Session<'_, H>) -> Result<Option<Pages>, Stop> {
        let mut pages = Vec::new();
        for (number, book) in session.books().iter().enumerate() {
            let text = session.text(book).await?;
            let flow = text.flow();
            for span in paginate(session, book, flow, self).await? {
                let place = flow.to_source(span);
                let words = count_words(&flow.text()[span.range()]);
                let gist = String::new();
                pages.push(Page { book: number, start: place.start, end: place.end, words, gist });
            }
        }
        let mut pages = Pages { pages };
        for (page, gist) in gists(session, &pages).await?.into_iter().enumerate() {
            pages.pages[page].gist = gist;
        }
        session.measure("pages", pages.pages.len());
        let compression = pages.compression(&pages.memory(session, &[]).await?);
        session.measure("compression", compression);
        Ok(Some(pages))
    }

    /// A page has from `start_threshold` to twice `word_limit` words; choosing its end shows it, the page before and a
    /// little more.
    fn preparation_cost(&self, sizes: &Sizes<'_>) -> Result<Vec<Calls>, MethodError> {
        let (pages, text) = (self.n_pages(sizes), sizes.text());
        let per_word = |words: u64| words * text / sizes.words().max(1);
        let paginate = sizes.prompt(&ReadAgentPaginate { preceding: "", passage: "", following: "" })?;
        let gist = sizes.prompt(&ReadAgentGist { passage: "" })?;
        let page = per_word(2 * self.word_limit as u64);
        // A label a unit, of which a unit of text has few words at least.
        let shown = 3 * page / 2 + paginate + MARK_TOKENS * self.word_limit as u64 / 4;
        let before = |n: Range, prompt: Range, longest: u64| Calls {
            stage: Stage::Preparation,
            n,
            prompt,
            longest,
            response_limit: sizes.settings.response_limit.reserved().into(),
            shared: Shared::Nothing,
        };
        let breaks = Range { low: pages.low.saturating_sub(sizes.books.len() as u64), high: pages.high };
        let low = (per_word(self.word_limit as u64).min(text) + paginate) * breaks.low;
        let asked = before(breaks, Range { low, high: shown * breaks.high }, shown);
        let asked = (self.pagination == Pagination::Asked).then_some(asked);
        Ok(asked
            .into_iter()
            .chain([before(
                pages,
                Range { low: text * 9 / 10 + gist * pages.low, high: text + text / 10 + gist * pages.high },
                page + gist,
            )])
            .collect())
    }

    async fn answer<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        prepared: Option<&Pages>,
    ) -> Result<Vec<Answer>, Stop> {
        let pages = prepared.ok_or(MethodError::NotPrepared)?;
        let (item, books) = (questions.first(), session.books());
        session.measure("pages", pages.pages.len());
        session.measure("compression", pages.compression(&pages.memory(session, &[]).await?));
        let mut chosen = look_up(session, item, pages, self.looking()).await?;
        chosen.sort_unstable();
        let memory = pages.memory(session, &chosen).await?;
        session.measure("pages_looked_up", chosen.len());
        session.measure("compression_after_lookup", pages.compression(&memory));
        session.shows(Some(Context {
            retriever: None,
            reranked: None,
            n_tokens: memory.iter().map(|part| session.settings().tokenizer.count(part)).sum(),
            passages: chosen.iter().map(|&page| pages.pages[page].reference(books)).collect(),
        }));
        self.respond(session, questions, pages, &memory).await
    }

    /// A look-up in the gists and an answer; a gist has from a tenth of its page to all of it.
    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
        let (item, text, pages) = (questions.first(), sizes.text(), self.n_pages(sizes));
        let response_limit = sizes.settings.response_limit;
        let page = text.div_ceil(pages.low.max(1));
        let shortest = (text / 10).min(pages.low * u64::from(response_limit.reserved()) / 2);
        let gists = Range { low: shortest, high: text + pages.high * MARK_TOKENS };
        let most = if self.read_beyond { pages.high } else { self.max_pages as u64 };
        let looked_up = Range::up_to(most * page);
        let mut calls = Vec::new();
        let lookup = |at_most| sizes.prompt(&*look_up::prompt(self.looking(), item, "", at_most, &[]));
        match self.lookup {
            _ if self.max_pages == 0 => {}
            LookUp::Parallel => {
                calls.push(sizes.call(lookup(self.max_pages)?, gists, response_limit));
            }
            LookUp::Sequential => {
                let turns = Range { low: 1, high: self.max_pages as u64 };
                let call = sizes.call(lookup(1)?, gists + looked_up, response_limit);
                calls.push(call.times(turns));
            }
        }
        let around = match self.style {
            None => sizes.prompt(&*answer_prompt(item, ""))?,
            Some(style) => {
                let whole = sizes.reading(questions, style, View::Passages, gists + looked_up)?;
                calls.push(whole);
                return Ok(calls.into());
            }
        };
        calls.push(sizes.call(around, gists + looked_up, response_limit));
        Ok(calls.into())
    }
}

impl ReadAgent {
    fn looking(&self) -> Looking {
        let Self { lookup, max_pages, read_beyond, lettered, .. } = *self;
        Looking { lookup, max_pages, read_beyond, lettered }
    }

    /// Asks the last step: the question, to be answered from what is remembered.
    async fn respond<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        pages: &Pages,
        memory: &[String],
    ) -> Result<Vec<Answer>, Stop> {
        let (item, shown) = (questions.first(), pages.shown(memory, false));
        let Some(style) = self.style else {
            let prompt = answer_prompt(item, &shown);
            let asked = messages(&*prompt, session.settings().prompts, "")?;
            let input = input(item, memory.to_vec(), prompt.expected(), session.language());
            let response = session.ask(prompt.name(), asked, async || Ok(input)).await?;
            return Ok(prompt.expected().parse(&[item], 0, &response.text).into_answers());
        };
        session.read(questions, Shown::passages(vec![shown.into()], None), style).await
    }

    /// Returns the number of pages of the books.
    fn n_pages(&self, sizes: &Sizes<'_>) -> Range {
        let of = |words: u64| Range {
            low: words.div_ceil(2 * (self.word_limit as u64).max(1)).max(1),
            high: words.div_ceil((self.start_threshold as u64).max(1)).max(1),
        };
        sizes.books.iter().map(|book| of(book.words)).sum()
    }
}

fn answer_prompt<'p>(item: &'p Item, memory: &'p str) -> Box<dyn ReaderPrompt + 'p> {
    let question = item.question.as_str();
    match item.task {
        Task::Choice => Box::new(ReadAgentChoice { memory, question, options: Lettered::all(options_of(item)) }),
        Task::Generative => Box::new(ReadAgentQuestion { memory, question }),
        Task::Summary => Box::new(ReadAgentSummary { memory, question }),
    }
}

/// The pages of a book, one after the other.
async fn paginate<H: Host>(
    session: &mut Session<'_, H>,
    book: &Book,
    flow: &Flow,
    parameters: &ReadAgent,
) -> Result<Vec<FlowSpan>, Stop> {
    let ReadAgent { unit, word_limit, start_threshold, min_words, pagination, .. } = *parameters;
    let length = PageLength { word_limit, start_threshold, min_words };
    let is_asked = pagination == Pagination::Asked;
    let text = flow.text();
    let units = unit.of(flow, book.language);
    let words: Vec<usize> = units.iter().map(|unit| count_words(&text[unit.range()])).collect();
    let mut pages: Vec<FlowSpan> = Vec::new();
    let mut start = 0;
    while start < units.len() {
        let stretch = length.stretch(&words, start);
        let end = if stretch.is_rest || !is_asked {
            stretch.end
        } else {
            let before = pages.last().map_or(String::new(), |page| format!("...\n{}", &text[page.range()]));
            let behind = units.get(stretch.end).map_or(String::new(), |next| format!("{}\n...", &text[next.range()]));
            let labelled = stretch.labelled(text, &units);
            let prompt = ReadAgentPaginate { preceding: &before, passage: &labelled, following: &behind };
            let asked = messages(&prompt, session.settings().prompts, "")?;
            let input = ExtractiveInput {
                context: Vec::new(),
                question: String::new(),
                options: stretch.labels.iter().map(|label| format!("<{label}>")).collect(),
                further: Vec::new(),
                task: Task::Choice,
                expected: prompt.expected(),
                language: book.language,
            };
            let response = session.ask(prompt.name(), asked, async || Ok(input)).await?;
            match prompt.expected().parse(&[], 0, &response.text) {
                Parsed::Break { label } => stretch.cut(label),
                _ => stretch.cut(None),
            }
        };
        pages.push(units[start].cover(units[end - 1]));
        start = end;
    }
    Ok(pages)
}

/// The gist of each page, all asked for at once.
async fn gists<H: Host>(session: &mut Session<'_, H>, pages: &Pages) -> Result<Vec<String>, Stop> {
    let (books, mut requests) = (session.books(), Vec::new());
    let texts = pages.texts(session, 0..pages.pages.len()).await?;
    for (page, text) in pages.pages.iter().zip(texts) {
        let asked = messages(&ReadAgentGist { passage: &text }, session.settings().prompts, "")?;
        let language = books[page.book].language;
        let input = async move || Ok(ExtractiveInput::summary(vec![text], Expected::Gist, language));
        requests.push((asked, input));
    }
    let limit = session.settings().response_limit;
    let responses = session.ask_all(ReadAgentGist::NAME, requests).await?;
    responses.iter().map(|response| gist(response, limit)).collect()
}

/// What a page is remembered by. Reasoning that did not end holds no gist, and the page would be lost for every question.
fn gist(response: &Response, limit: ResponseLimit) -> Result<String, Stop> {
    let text = Expected::Gist.parse(&[], 0, &response.text).into_text();
    if text.is_empty() && (response.finish == FinishReason::Length || !response.text.trim().is_empty()) {
        let more = |limit| format!("; a model that thinks may need a response limit of more than {limit} tokens");
        let error = format!("the gist of a page is reasoning alone{}", limit.sent().map(more).unwrap_or_default());
        return Err(Stop::Outcome(Outcome::Failed { error }));
    }
    Ok(text)
}
