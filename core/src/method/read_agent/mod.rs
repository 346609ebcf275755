//! ReadAgent (Lee et al. 2024), as Stronger Baselines compares it (appendix A.6): a book is cut into pages, each page is
//! remembered by its gist, and a question is answered from the gists and the few pages that are worth reading again.

mod look_up;
mod pages;
mod paginate;
mod words;

pub use pages::{Page, Pages, expand};
pub use paginate::{PageLength, Stretch, Unit};

use super::ask::{Asking, End};
use super::read::{lettered, options_of, prompt_for, reading};
use super::reply::read_one;
use super::{Material, MethodError, Preparation, Prepared, Setting, Trial};
use crate::answer::{Form, after_thinking};
use crate::benchmark::{Item, Task};
use crate::host::{Host, Message};
use crate::reader::{Reading, Want};
use crate::record::{Context, Outcome};
use crate::text::{Book, FlowSpan};
pub(crate) use look_up::LookUp;
use look_up::look_up;
use serde::{Deserialize, Serialize};
use serde_json::json;
use words::count_words;

/// Parameters of [`prepare_pages`] and [`read_agent`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadAgent {
    /// What pages are made of.
    pub unit: Unit,
    /// Words after which no further unit is offered for a page.
    pub word_limit: usize,
    /// Words from which on a page may end.
    pub start_threshold: usize,
    /// Fewer words than these are the last page without asking.
    pub min_words: usize,
    /// How pages are chosen.
    pub lookup: LookUp,
    /// Most pages that are read again.
    pub max_pages: usize,
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
        }
    }
}

/// Cuts the books into pages and has each page's gist written.
///
/// A page ends where the model finds a pause among the labels it is offered, so pages are cut one after the other; the
/// gists of a book are written all at once. Measures: `pages`, and `compression`, the share of the words that the gists
/// save.
///
/// # Errors
/// [`MethodError::Prompt`] if a prompt cannot be filled. A call that fails is part of the preparation.
pub async fn prepare_pages<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    parameters: &ReadAgent,
) -> Result<Preparation, MethodError> {
    let mut asking = Asking::new(host, setting);
    let end = async {
        let mut pages = Vec::new();
        for (number, book) in material.books.iter().enumerate() {
            let flow = book.flow();
            for span in paginate(&mut asking, book, parameters).await? {
                let place = flow.to_source(span);
                let words = count_words(&flow.text()[span.range()]);
                let gist = String::new();
                pages.push(Page { book: number, start: place.start, end: place.end, words, gist });
            }
        }
        let mut pages = Pages { pages };
        for (page, gist) in gists(&mut asking, material, &pages).await?.into_iter().enumerate() {
            pages.pages[page].gist = gist;
        }
        asking.measures.insert("pages".to_owned(), pages.pages.len() as f64);
        let compression = pages.compression(&pages.memory(material.books, &[]));
        asking.measures.insert("compression".to_owned(), compression);
        Ok(Prepared::Pages(pages))
    }
    .await;
    asking.finish_preparation(end)
}

/// The pages of a book, one after the other.
async fn paginate<H: Host>(
    asking: &mut Asking<'_, H>,
    book: &Book,
    parameters: &ReadAgent,
) -> Result<Vec<FlowSpan>, End> {
    let ReadAgent { unit, word_limit, start_threshold, min_words, .. } = *parameters;
    let length = PageLength { word_limit, start_threshold, min_words };
    let flow = book.flow();
    let text = flow.text();
    let units = unit.of(book);
    let words: Vec<usize> = units.iter().map(|unit| count_words(&text[unit.range()])).collect();
    let mut pages: Vec<FlowSpan> = Vec::new();
    let mut start = 0;
    while start < units.len() {
        let stretch = length.stretch(&words, start);
        let end = if stretch.is_rest {
            stretch.end
        } else {
            let variables = json!({
                "preceding": pages.last().map_or(String::new(), |page| format!("...\n{}", &text[page.range()])),
                "passage": stretch.labelled(text, &units),
                "following": units.get(stretch.end).map_or(String::new(), |next| format!("{}\n...", &text[next.range()])),
            });
            let message = Message::user(asking.setting().prompts.render("read-agent-paginate", &variables)?);
            let reading = Reading {
                context: Vec::new(),
                question: String::new(),
                options: stretch.labels.iter().map(|label| format!("<{label}>")).collect(),
                further: Vec::new(),
                task: Task::Choice,
                want: Want::Break,
                language: book.language.code().to_owned(),
            };
            let reply = asking.ask("read-agent-paginate", vec![message], Some(reading)).await?;
            stretch.cut(after_thinking(&reply.text))
        };
        pages.push(units[start].cover(units[end - 1]));
        start = end;
    }
    Ok(pages)
}

/// The gist of each page, all asked for at once.
async fn gists<H: Host>(
    asking: &mut Asking<'_, H>,
    material: &Material<'_>,
    pages: &Pages,
) -> Result<Vec<String>, End> {
    let mut requests = Vec::new();
    for page in &pages.pages {
        let text = page.text(material.books);
        let prompt = asking.setting().prompts.render("read-agent-gist", &json!({ "passage": text }))?;
        let language = material.books[page.book].language.code();
        let reading = Reading::summary(vec![text], language);
        requests.push((vec![Message::user(prompt)], Some(reading)));
    }
    let replies = asking.ask_all("read-agent-gist", requests).await?;
    Ok(replies.iter().map(|reply| after_thinking(&reply.text).trim().to_owned()).collect())
}

/// Looks up the pages that may help with the question, answers from them and the gists of all others.
///
/// Measures: `pages`, `pages_looked_up`, `compression` (the share of the words that the gists save) and
/// `compression_after_lookup`. The context names the pages that were read again and no gist: a gist is not the book's
/// text. Its tokens are those of everything that was shown, gists too.
///
/// # Errors
/// [`MethodError::Prompt`] if a prompt cannot be filled.
///
/// # Panics
/// If `material` holds no pages.
pub async fn read_agent<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    item: &Item,
    parameters: &ReadAgent,
) -> Result<Trial, MethodError> {
    let Some(Prepared::Pages(pages)) = material.prepared else { panic!("read-agent is given the pages it prepared") };
    let mut asking = Asking::new(host, setting);
    asking.measures.insert("pages".to_owned(), pages.pages.len() as f64);
    let gists = pages.memory(material.books, &[]);
    asking.measures.insert("compression".to_owned(), pages.compression(&gists));
    let end = async {
        let mut chosen = look_up(&mut asking, material, item, pages, parameters).await?;
        chosen.sort_unstable();
        let memory = pages.memory(material.books, &chosen);
        asking.measures.insert("pages_looked_up".to_owned(), chosen.len() as f64);
        asking.measures.insert("compression_after_lookup".to_owned(), pages.compression(&memory));
        asking.context = Some(Context {
            retriever: None,
            n_tokens: memory.iter().map(|part| setting.tokenizer.count(part)).sum(),
            passages: chosen.iter().map(|&page| pages.pages[page].reference(material.books)).collect(),
        });
        answer(&mut asking, material, item, pages, &memory).await
    }
    .await;
    asking.finish(end)
}

/// The last step: the question, to be answered from what is remembered.
async fn answer<H: Host>(
    asking: &mut Asking<'_, H>,
    material: &Material<'_>,
    item: &Item,
    pages: &Pages,
    memory: &[String],
) -> Result<Outcome, End> {
    let name = prompt_for("read-agent", item.task);
    let variables = json!({
        "memory": pages.shown(memory, false), "question": item.question, "options": lettered(options_of(item)),
    });
    let message = Message::user(asking.setting().prompts.render(&name, &variables)?);
    let reading = reading(item, memory.to_vec(), Want::Answer(Form::Lettered), material.language());
    let reply = asking.ask(&name, vec![message], Some(reading)).await?;
    Ok(read_one(Form::Lettered, item, &reply.text))
}
