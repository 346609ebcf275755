//! Parsed responses, by what they had to hold: methods continue with them, and a progress display shows them.

use super::answer::Answer;
use super::expected::Expected;
use crate::answer::read::{read_response, short_outcome};
use crate::answer::tag::{AgentTurn, agent_turn, answer_block, blocks};
use crate::answer::{after_ended_reasoning, after_reasoning, break_point, look_up_pages};
use crate::{Item, Outcome};
use serde::{Serialize, Serializer};

/// The parsed content of a response.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "said", rename_all = "snake_case")]
pub enum Parsed {
    /// An answer to each question, or that there is none in the agreed form; a progress display shows the first.
    Answer(
        #[serde(serialize_with = "first_outcome")]
        #[cfg_attr(feature = "typescript", ts(as = "Outcome"))]
        Vec<Answer>,
    ),
    /// A search (SagaScale).
    Query {
        /// The words searched for.
        query: String,
    },
    /// A turn without exactly one block: the method's parameters `on_both` and `on_neither` say what becomes of it.
    Blocks {
        /// Number of answers that the turn gives.
        answers: usize,
        /// Number of queries that the turn gives.
        queries: usize,
        /// Outcome of the turn's last answer.
        #[serde(skip)]
        last_answer: Option<Outcome>,
        /// The turn's first query.
        #[serde(skip)]
        first_query: Option<String>,
    },
    /// The label behind which a page ends; `None` where the response names none (ReadAgent).
    Break {
        /// The label.
        label: Option<usize>,
    },
    /// Pages to read again, from 0, in the response's order (ReadAgent).
    Pages {
        /// Numbers of the pages.
        pages: Vec<usize>,
        /// Whether the response begins with `STOP`.
        #[serde(skip)]
        stops: bool,
    },
    /// The new memory (MemAgent).
    Memory {
        /// The whole response.
        text: String,
    },
    /// A page's gist (ReadAgent).
    Gist {
        /// The whole response.
        text: String,
    },
    /// A node of a tree, before it is cut to its length (RAPTOR).
    Summary {
        /// The whole response.
        text: String,
    },
}

fn first_outcome<S: Serializer>(answers: &[Answer], serializer: S) -> Result<S::Ok, S::Error> {
    answers[0].outcome.serialize(serializer)
}

impl Expected {
    /// Parses a response: what it says of each of `items`, if it is to answer them; of a text of `n_pages`, if it is to
    /// name pages. The items are of one task, and several only in forms that have a line for each.
    pub fn parse(self, items: &[&Item], n_pages: usize, response: &str) -> Parsed {
        let said = after_reasoning(response);
        let text = || said.trim().to_owned();
        match self {
            Self::Answer(form) => Parsed::Answer(read_response(form, items, response)),
            Self::Turn { .. } => turn(items, said, response),
            Self::Break => Parsed::Break { label: break_point(said) },
            Self::Pages(_) => {
                Parsed::Pages { pages: look_up_pages(said, n_pages), stops: said.trim_start().starts_with("STOP") }
            }
            // A memory is kept even where its reasoning did not end: MemAgent's code does so.
            Self::Memory => Parsed::Memory { text: after_ended_reasoning(response).to_owned() },
            Self::Gist => Parsed::Gist { text: text() },
            Self::Node => Parsed::Summary { text: text() },
        }
    }
}

fn turn(items: &[&Item], said: &str, response: &str) -> Parsed {
    let outcome = |answer| short_outcome(items[0], Some(answer), response);
    match agent_turn(said) {
        AgentTurn::Query(query) => Parsed::Query { query: query.to_owned() },
        AgentTurn::Answer(block) => Parsed::Answer(vec![outcome(block).into()]),
        AgentTurn::Unparsed { n_answers: answers, n_queries: queries } => {
            let first_query = blocks(said, "query").find(|query| !query.is_empty());
            let last_answer = answer_block(said).answer().map(outcome);
            Parsed::Blocks { answers, queries, last_answer, first_query: first_query.map(str::to_owned) }
        }
    }
}

impl Parsed {
    /// The answers; none of anything else.
    pub fn into_answers(self) -> Vec<Answer> {
        match self {
            Self::Answer(answers) => answers,
            _ => Vec::new(),
        }
    }

    /// The text of a memory, a gist or a summary; empty for anything else.
    pub fn into_text(self) -> String {
        match self {
            Self::Memory { text } | Self::Gist { text } | Self::Summary { text } => text,
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;
    use crate::answer::Form;
    use serde_json::json;

    #[test]
    fn a_response_is_understood_by_what_was_asked_for() {
        let mut item = Item::new("a", "b", "Where?", Task::Choice);
        item.options = ["In Lund", "In Orvik"].map(str::to_owned).to_vec();
        let parsed = |expected: Expected, response| expected.parse(&[&item], 5, response);
        let orvik = Parsed::Answer(vec![Outcome::Answered { answer: "In Orvik".to_owned(), choice: Some(1) }.into()]);
        let seen = json!({"said": "answer", "outcome": "answered", "answer": "In Orvik", "choice": 1});
        assert_eq!(json!(orvik), seen);
        assert_eq!(parsed(Expected::Answer(Form::Marked), "So [[2]]."), orvik);
        let (first, later) = (Expected::Turn { must_search: true }, Expected::Turn { must_search: false });
        assert_eq!(parsed(later, "<answer>1</answer>"), orvik);
        let query = Parsed::Query { query: "bell".to_owned() };
        assert_eq!(parsed(first, "<think>?</think><query>bell</query>"), query);
        let bare = Parsed::Blocks { answers: 0, queries: 0, last_answer: None, first_query: None };
        assert_eq!(parsed(first, "Hm."), bare);
        assert_eq!(parsed(first, "<think><query>bell</query>"), bare, "the reasoning is not over");
        let Parsed::Blocks { answers: 1, queries: 2, last_answer, first_query } =
            parsed(later, "<query>a</query><query>b</query><answer>0</answer>")
        else {
            panic!("three blocks")
        };
        let lund = Outcome::Answered { answer: "In Lund".to_owned(), choice: Some(0) };
        assert_eq!((last_answer, first_query.as_deref()), (Some(lund), Some("a")));
        assert_eq!(parsed(Expected::Break, "Break point: <7>"), Parsed::Break { label: Some(7) });
        assert_eq!(parsed(Expected::Break, "Here."), Parsed::Break { label: None });
        assert_eq!(parsed(Expected::Pages(6), "Page [4, 9, 0]"), Parsed::Pages { pages: vec![4, 0], stops: false });
        assert_eq!(parsed(Expected::Pages(6), " STOP, [3] is read"), Parsed::Pages { pages: vec![3], stops: true });
        let memory = Parsed::Memory { text: "Tom has it.".to_owned() };
        assert_eq!(parsed(Expected::Memory, "<think>x</think>Tom has it."), memory);
        let open = Parsed::Memory { text: "<think>Tom has it.".to_owned() };
        assert_eq!(parsed(Expected::Memory, "<think>Tom has it."), open);
        assert_eq!(parsed(Expected::Break, "<think>Break point: <7>"), Parsed::Break { label: None });
        assert_eq!(parsed(Expected::Gist, " Rain. "), Parsed::Gist { text: "Rain.".to_owned() });
        assert_eq!(parsed(Expected::Gist, "<think>Rain, I guess"), Parsed::Gist { text: String::new() });
        assert_eq!(parsed(Expected::Node, "<think>Rain, I guess"), Parsed::Summary { text: String::new() });
    }
}
