//! What one reply of a trial says, for those who look on while a method runs: read by the same parsers, without the
//! rules by which the method goes on from there.

use super::reply::read_one;
use closeread_eval::Item;
use closeread_eval::Outcome;
use closeread_eval::answer::tag::{AgentTurn, agent_turn};
use closeread_eval::answer::{Form, after_thinking, break_point, look_up_pages};
use closeread_eval::reading::{Expected, ExtractiveInput};
use serde::Serialize;

/// What a reply was understood as.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "said", rename_all = "snake_case")]
pub enum Parsed {
    /// An answer to the question, or that there is none in the agreed form.
    Answer(Outcome),
    /// A search (SagaScale).
    Query {
        /// The words searched for.
        query: String,
    },
    /// A turn without exactly one block: the method's parameters `on_both` and `on_neither` say what becomes of it.
    Blocks {
        /// Answers it gives.
        answers: usize,
        /// Queries it gives.
        queries: usize,
    },
    /// The label behind which a page ends; `None` where the reply names none (ReadAgent).
    Break {
        /// The label.
        label: Option<usize>,
    },
    /// Pages to read again, from 0, in the reply's order (ReadAgent).
    Pages {
        /// Their numbers.
        pages: Vec<usize>,
    },
    /// The new memory (MemAgent).
    Memory {
        /// All of it.
        text: String,
    },
    /// A page's gist (ReadAgent).
    Gist {
        /// All of it.
        text: String,
    },
    /// A node of a tree, before it is cut to its length (RAPTOR).
    Summary {
        /// All of it.
        text: String,
    },
}

/// What a reply to a call says about `item`.
pub fn parse(input: &ExtractiveInput, item: &Item, reply: &str) -> Parsed {
    let text = || after_thinking(reply).trim().to_owned();
    match input.expected {
        Expected::Answer(form) => Parsed::Answer(read_one(form, item, reply)),
        Expected::Turn { .. } => match agent_turn(reply) {
            AgentTurn::Query(query) => Parsed::Query { query: query.to_owned() },
            AgentTurn::Answer(_) => Parsed::Answer(read_one(Form::Tags, item, reply)),
            AgentTurn::Unparsed { n_answers: answers, n_queries: queries } => Parsed::Blocks { answers, queries },
        },
        Expected::Break => Parsed::Break { label: break_point(after_thinking(reply)) },
        Expected::Pages(_) => Parsed::Pages { pages: look_up_pages(after_thinking(reply), input.context.len()) },
        Expected::Memory => Parsed::Memory { text: after_thinking(reply).to_owned() },
        Expected::Gist => Parsed::Gist { text: text() },
        Expected::Node => Parsed::Summary { text: text() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::Task;

    #[test]
    fn a_reply_is_understood_by_what_was_asked_for() {
        let mut item = Item::new("a", "b", "Where?", Task::Choice);
        item.options = ["In Lund", "In Orvik"].map(str::to_owned).to_vec();
        let parsed =
            |expected, reply| parse(&ExtractiveInput::summary(vec!["x".to_owned(); 5], expected, "en"), &item, reply);
        let orvik = Parsed::Answer(Outcome::Answered { answer: "In Orvik".to_owned(), choice: Some(1) });
        assert_eq!(parsed(Expected::Answer(Form::Marked), "So [[2]]."), orvik);
        let (first, later) = (Expected::Turn { must_search: true }, Expected::Turn { must_search: false });
        assert_eq!(parsed(later, "<answer>1</answer>"), orvik);
        let query = Parsed::Query { query: "bell".to_owned() };
        assert_eq!(parsed(first, "<think>?</think><query>bell</query>"), query);
        assert_eq!(parsed(first, "Hm."), Parsed::Blocks { answers: 0, queries: 0 });
        assert_eq!(parsed(Expected::Break, "Break point: <7>"), Parsed::Break { label: Some(7) });
        assert_eq!(parsed(Expected::Break, "Here."), Parsed::Break { label: None });
        assert_eq!(parsed(Expected::Pages(6), "Page [4, 9, 0]"), Parsed::Pages { pages: vec![4, 0] });
        let memory = Parsed::Memory { text: "Tom has it.".to_owned() };
        assert_eq!(parsed(Expected::Memory, "<think>x</think>Tom has it."), memory);
        assert_eq!(parsed(Expected::Gist, " Rain. "), Parsed::Gist { text: "Rain.".to_owned() });
    }
}
