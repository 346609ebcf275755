//! Agentic RAG (SagaScale §4.1): the reader searches until it answers.

use super::ask::{Asking, End};
use super::dress::Dress;
use super::naive_rag::SAGASCALE_TOP_K;
use super::rag::{context_of, excerpts, ranking};
use super::read::{language_name, options_of, reading, title_of};
use super::reply::block_outcome;
use super::{Material, MethodError, Setting, Trial};
use crate::answer::tag::{AgentTurn, AnswerBlock, agent_turn, answer_block, blocks};
use crate::answer::{Form, after_thinking};
use crate::benchmark::{Item, Task};
use crate::chunk::Chunker;
use crate::host::{Host, Message, Speaker};
use crate::index::Ranked;
use crate::reader::Want;
use crate::record::{Outcome, SEARCHES};
use crate::retrieve::PassageOrder;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The measure that holds how many turns had more than one block; absent if none had.
const DOUBLE_TURNS: &str = "turns_with_several_blocks";
/// The measure that holds how many turns had no block; absent if none had.
const BARE_TURNS: &str = "turns_without_block";

/// Parameters of [`agentic_rag`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgenticRag {
    /// Most tokens of a passage, as for [`naive_rag`](super::naive_rag): the index is the same.
    pub max_tokens: usize,
    /// Passages that a search gives.
    pub top_k: usize,
    /// How many passages on each side of a ranked one are ranked right behind it; the paper has none.
    pub neighbours: usize,
    /// Searches; a query beyond them ends the trial as unanswered (Table 7), no last answer is asked for.
    pub max_searches: usize,
    /// The order of a search's passages. The paper names none; best first is what a retriever returns.
    pub order: PassageOrder,
    /// The embedding model; absent: [`SAGASCALE_EMBEDDER`](super::SAGASCALE_EMBEDDER) where it is installed, else the run's.
    pub embedder: Option<String>,
    /// What a turn does that has more than one block.
    pub on_both: OnBoth,
    /// What a turn does that has no block.
    pub on_neither: OnNeither,
    /// Turns that may be asked for again in one trial; one more that cannot be used ends it as unparsed.
    pub max_reprompts: usize,
}

/// What is done with a turn of several blocks, where the paper wants one query or one answer and says no more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnBoth {
    /// Its last answer counts, or its first query if it has none.
    Answer,
    /// Its first query counts, or its last answer if it has none: what was written behind a query was written without
    /// the passages.
    #[default]
    Query,
    /// It is asked for again.
    Reject,
}

/// What is done with a turn without a block, of which the paper says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnNeither {
    /// It is asked for again.
    #[default]
    Reprompt,
    /// The trial ends as unparsed.
    End,
}

impl Default for AgenticRag {
    fn default() -> Self {
        Self {
            max_tokens: Chunker::Window.default_max_tokens(),
            top_k: SAGASCALE_TOP_K,
            neighbours: 0,
            max_searches: 8,
            order: PassageOrder::Score,
            embedder: None,
            on_both: OnBoth::default(),
            on_neither: OnNeither::default(),
            max_reprompts: 3,
        }
    }
}

/// Lets the reader search the books, a query or an answer a turn.
///
/// The context of the trial holds the passages of all searches in the order in which they were shown; one that two
/// searches found stands there twice. Its measures hold [`SEARCHES`].
///
/// # Errors
/// [`MethodError`] if the shelf holds no vectors though they are needed.
pub async fn agentic_rag<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    item: &Item,
    parameters: &AgenticRag,
) -> Result<Trial, MethodError> {
    let mut asking = Asking::new(host, setting);
    let end = converse(&mut asking, material, item, parameters).await;
    asking.finish(end)
}

async fn converse<H: Host>(
    asking: &mut Asking<'_, H>,
    material: &Material<'_>,
    item: &Item,
    parameters: &AgenticRag,
) -> Result<Outcome, End> {
    let (prompts, shelf) = (asking.setting().prompts, material.shelf());
    let task = json!({
        "title": title_of(material.books), "question": item.question, "options": options_of(item),
        "summary": item.task == Task::Summary, "language": language_name(material.language()),
        "max_searches": parameters.max_searches,
    });
    let mut prompt = "agentic-rag";
    let mut messages = vec![Message::user(prompts.render(prompt, &task)?)];
    let mut found: Vec<Ranked> = Vec::new();
    let (mut searches, mut reprompts) = (0, 0);
    loop {
        asking.context = Some(context_of(material, &found));
        asking.measures.insert(SEARCHES.to_owned(), searches as f64);
        let shown = shelf.texts(found.iter().map(|ranked| ranked.idx));
        let searches_first = searches == 0 && parameters.max_searches > 0;
        let want = if searches_first { Want::Query } else { Want::Answer(Form::Tags) };
        let reading = reading(item, shown, want, material.language());
        let reply = asking.ask(prompt, messages.clone(), Some(reading)).await?.text;
        match turn(asking, &reply, parameters) {
            Turn::Answer(block) => return Ok(block_outcome(item, Some(block), &reply)),
            Turn::Query(_) if searches == parameters.max_searches => return Ok(Outcome::Unanswered),
            Turn::Query(query) => {
                searches += 1;
                let mut nearest = ranking(asking, material, query, parameters.neighbours).await?;
                nearest.truncate(parameters.top_k);
                if parameters.order == PassageOrder::Document {
                    nearest.sort_by_key(|ranked| ranked.idx);
                }
                let results = json!({
                    "context": Dress::Sagascale.layout(&excerpts(shelf, &nearest)),
                    "searches_left": parameters.max_searches - searches,
                });
                prompt = "agentic-rag-results";
                // Without what may stand behind the query: it was written without these passages.
                messages.push(said(format!("<query>\n{query}\n</query>")));
                messages.push(Message::user(prompts.render(prompt, &results)?));
                found.extend(nearest);
            }
            Turn::Unusable if reprompts == parameters.max_reprompts => return Ok(Outcome::Unparsed { reply }),
            Turn::Unusable => {
                reprompts += 1;
                prompt = "agentic-rag-again";
                let again = prompts.render(prompt, &json!({}))?;
                match after_thinking(&reply).trim() {
                    // Servers want turns to alternate and none to be empty.
                    "" => {
                        let last = messages.last_mut().expect("a dialogue begins with the task");
                        last.content = format!("{}\n\n{again}", last.content);
                    }
                    words => messages.extend([said(words.to_owned()), Message::user(again)]),
                }
            }
            Turn::End => return Ok(Outcome::Unparsed { reply }),
        }
    }
}

/// What is done about a turn.
enum Turn<'a> {
    Answer(AnswerBlock<'a>),
    Query(&'a str),
    /// It is asked for again.
    Unusable,
    /// It ends the trial.
    End,
}

/// Reads a turn, and counts those that do not keep to the form.
fn turn<'a, H: Host>(asking: &mut Asking<'_, H>, reply: &'a str, parameters: &AgenticRag) -> Turn<'a> {
    let mut count = |name: &str| *asking.measures.entry(name.to_owned()).or_default() += 1.0;
    match agent_turn(reply) {
        AgentTurn::Answer(block) => Turn::Answer(block),
        AgentTurn::Query(query) => Turn::Query(query),
        AgentTurn::Unparsed { n_answers: 0, n_queries: 0 } => {
            count(BARE_TURNS);
            match parameters.on_neither {
                OnNeither::Reprompt => Turn::Unusable,
                OnNeither::End => Turn::End,
            }
        }
        AgentTurn::Unparsed { .. } => {
            count(DOUBLE_TURNS);
            let query = blocks(after_thinking(reply), "query").find(|query| !query.is_empty()).map(Turn::Query);
            let answer = answer_block(reply).answer().map(Turn::Answer);
            let chosen = match parameters.on_both {
                OnBoth::Answer => answer.or(query),
                OnBoth::Query => query.or(answer),
                OnBoth::Reject => None,
            };
            chosen.unwrap_or(Turn::Unusable)
        }
    }
}

/// A turn of the model.
fn said(content: String) -> Message {
    Message { role: Speaker::Assistant, content, shared_bytes: None }
}
