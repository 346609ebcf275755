//! Agentic RAG (SagaScale §4.1): the reader searches until it answers.

use super::cost::{Calls, Cost, Range, Sizes};
use super::read::{input, messages, reply};
use super::style::options_of;
use super::{Answer, Method, MethodError, Passages, Preset, PromptStyle, Questions, SAGASCALE_EMBEDDER, Session, Stop};
use crate::Host;
use crate::host::passage_texts;
use crate::record::SEARCHES;
use closeread_eval::answer::after_reasoning;
use closeread_eval::reading::Parsed;
use closeread_eval::{Item, Outcome, Task};
use closeread_llm::{Message, Speaker};
use closeread_prompts::readers::{AgenticRag as Prompted, AgenticRagAgain, AgenticRagResults};
use closeread_prompts::{Prompt, ReaderPrompt};
use closeread_retrieve::context::PassageOrder;
use closeread_retrieve::{Ranked, Retriever};
use closeread_text::Language;
use serde::{Deserialize, Serialize};

/// The measure that holds how many turns had more than one block; absent if none had.
const DOUBLE_TURNS: &str = "turns_with_several_blocks";
/// The measure that holds how many turns had no block; absent if none had.
const BARE_TURNS: &str = "turns_without_block";

/// Most tokens of the text around the passages of a search, and of the query before them.
const AROUND_RESULTS: u64 = 300;

/// Lets the reader search the books, a query or an answer a turn.
///
/// The context of the trial holds the passages of all searches in the order in which they were shown; one that two
/// searches found stands there twice. Its measures hold [`SEARCHES`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgenticRag {
    /// The passages that are searched: the same as for naive RAG.
    #[serde(flatten)]
    pub passages: Passages,
    /// Number of passages that a search gives.
    pub top_k: usize,
    /// Number of neighbouring passages to take on each side of a ranked one; the paper has none.
    pub neighbours: usize,
    /// Number of searches; a query beyond them ends the trial as unanswered (Table 7), no last answer is asked for.
    pub max_searches: usize,
    /// Tell the reader how many searches there are and how many are left; the paper does not, so that the number that a
    /// reader makes is its own (figures 4 and 18).
    pub tell_budget: bool,
    /// The order of a search's passages. The paper names none; best first is what a retriever returns.
    pub order: PassageOrder,
    /// What to do with a turn that has more than one block.
    pub on_both: OnBoth,
    /// What to do with a turn that has no block.
    pub on_neither: OnNeither,
    /// Turns that may be asked for again in one trial; one more that cannot be used ends it as unparsed.
    pub max_reprompts: usize,
}

/// What to do with a turn of several blocks, where the paper wants one query or one answer and says no more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnBoth {
    /// The turn's last answer counts, or its first query if it has no answer.
    Answer,
    /// The turn's first query counts, or its last answer if it has no query: what was written behind a query was
    /// written without the passages.
    #[default]
    Query,
    /// The turn is asked for again.
    Reject,
}

/// What to do with a turn without a block, of which the paper says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnNeither {
    /// The turn is asked for again.
    #[default]
    Reprompt,
    /// The trial ends as unparsed.
    End,
}

impl Default for AgenticRag {
    fn default() -> Self {
        Self {
            passages: Passages::windows(512).embedded_by(SAGASCALE_EMBEDDER),
            top_k: 3,
            neighbours: 0,
            max_searches: 8,
            tell_budget: false,
            order: PassageOrder::Score,
            on_both: OnBoth::default(),
            on_neither: OnNeither::default(),
            max_reprompts: 3,
        }
    }
}

impl Method for AgenticRag {
    const PRESETS: &'static [Preset<Self>] = &[Preset::new(
        "agentic-rag",
        "SagaScale 4.1",
        "what it searches for, three passages a search, at most eight searches",
        Self::default,
    )];
    type Prepared = ();

    fn passages(&self) -> Option<&Passages> {
        Some(&self.passages)
    }

    fn ranks_passages(&self) -> bool {
        true
    }

    async fn answer<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        _prepared: Option<&()>,
    ) -> Result<Vec<Answer>, Stop> {
        Ok(vec![self.converse(session, questions.first()).await?.into()])
    }

    /// Costs from one turn to one more than there are searches and turns asked again; each search adds its passages to
    /// what all later turns show.
    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
        let title = sizes.title();
        let task = self.task(questions.first(), &title, sizes.language(), Retriever::Dense);
        let first = sizes.prompt(&task)?;
        let response_limit = sizes.settings.response_limit;
        let found = sizes.top(self.top_k as u64, self.passages.max_tokens as u64, PromptStyle::Sagascale);
        let turn = Range::up_to(u64::from(response_limit.reserved()) + AROUND_RESULTS);
        let again = if self.asks_again() { self.max_reprompts as u64 } else { 0 };
        let calls = |n: u64| -> Calls {
            let shown = (turn + found) * n.min(self.max_searches as u64);
            let shown = shown + turn * n.saturating_sub(self.max_searches as u64);
            let call = sizes.call(first, shown, response_limit);
            match n {
                0 => call,
                _ => call.times(Range::up_to(1)),
            }
        };
        Ok((0..=self.max_searches as u64 + again).map(calls).collect::<Vec<_>>().into())
    }
}

impl AgenticRag {
    fn asks_again(&self) -> bool {
        self.on_neither == OnNeither::Reprompt || self.on_both == OnBoth::Reject
    }

    /// The prompt of the task.
    fn task<'p>(&self, item: &'p Item, title: &'p str, language: Language, retriever: Retriever) -> Prompted<'p> {
        Prompted {
            title,
            question: &item.question,
            options: options_of(item),
            summary: item.task == Task::Summary,
            language,
            top_k: self.top_k,
            ranked_by: match retriever {
                Retriever::Dense => "cosine similarity",
                Retriever::Bm25 => "BM25",
                Retriever::Hybrid => "cosine similarity and BM25",
            },
            max_searches: self.max_searches,
            tell_budget: self.tell_budget,
        }
    }

    async fn converse<H: Host>(&self, session: &mut Session<'_, H>, item: &Item) -> Result<Outcome, Stop> {
        let (prompts, index, language) = (session.settings().prompts, session.index()?, session.language());
        let (host, title) = (session.host(), session.title());
        let task = self.task(item, &title, language, session.retriever());
        let (mut prompt, mut expected) = (task.name(), task.expected());
        let mut messages = messages(&task, prompts, "")?;
        let mut found: Vec<Ranked> = Vec::new();
        let (mut searches, mut reprompts) = (0, 0);
        loop {
            session.shows(Some(session.context_of(&found)?));
            session.measure(SEARCHES, searches);
            let input = async || {
                let found: Vec<usize> = found.iter().map(|ranked| ranked.idx).collect();
                Ok(input(item, passage_texts(host, index, &found).await?, expected, language))
            };
            let response = session.ask(prompt, messages.clone(), input).await?.text;
            match self.turn(session, expected.parse(&[item], 0, &response)) {
                Turn::Answer(outcome) => return Ok(outcome),
                Turn::Query(_) if searches == self.max_searches => return Ok(Outcome::Unanswered),
                Turn::Query(query) => {
                    searches += 1;
                    let mut nearest = session.rank(&query, self.neighbours, self.top_k).await?;
                    nearest.truncate(self.top_k);
                    let nearest = self.order.of(nearest);
                    let excerpts = session.excerpts(&nearest).await?;
                    let context = PromptStyle::Sagascale.layout(&excerpts);
                    let (searches_left, tell_budget) = (self.max_searches - searches, self.tell_budget);
                    let results = AgenticRagResults { context: &context, searches_left, tell_budget };
                    (prompt, expected) = (results.name(), results.expected());
                    // Without what may stand behind the query: it was written without these passages.
                    messages.push(said(format!("<query>\n{query}\n</query>")));
                    messages.push(Message::user(results.render(prompts)?));
                    found.extend(nearest);
                }
                Turn::Unusable if reprompts == self.max_reprompts => {
                    return Ok(Outcome::Unparsed { response });
                }
                Turn::Unusable => {
                    reprompts += 1;
                    prompt = AgenticRagAgain::NAME;
                    let again = AgenticRagAgain {}.render(prompts)?;
                    reply(&mut messages, after_reasoning(&response).trim(), again);
                }
                Turn::End => return Ok(Outcome::Unparsed { response }),
            }
        }
    }

    /// Decides what to do about a turn; turns that do not keep to the form are counted.
    fn turn<H: Host>(&self, session: &mut Session<'_, H>, said: Parsed) -> Turn {
        match said {
            Parsed::Query { query } => Turn::Query(query),
            Parsed::Blocks { answers, queries, last_answer, first_query } if answers + queries > 0 => {
                session.count(DOUBLE_TURNS);
                let (answer, query) = (last_answer.map(Turn::Answer), first_query.map(Turn::Query));
                let chosen = match self.on_both {
                    OnBoth::Answer => answer.or(query),
                    OnBoth::Query => query.or(answer),
                    OnBoth::Reject => None,
                };
                chosen.unwrap_or(Turn::Unusable)
            }
            said => match said.into_answers().pop() {
                Some(answer) => Turn::Answer(answer.outcome),
                None => {
                    session.count(BARE_TURNS);
                    match self.on_neither {
                        OnNeither::Reprompt => Turn::Unusable,
                        OnNeither::End => Turn::End,
                    }
                }
            },
        }
    }
}

/// The decision on a turn.
enum Turn {
    Answer(Outcome),
    Query(String),
    /// The turn is asked for again.
    Unusable,
    /// The turn ends the trial.
    End,
}

/// A turn of the model.
fn said(content: String) -> Message {
    Message { role: Speaker::Assistant, content, shared_bytes: None }
}
