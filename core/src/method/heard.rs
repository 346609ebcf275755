//! What one reply of a trial says, for those who look on while a method runs: read by the same parsers, without the
//! rules by which the method goes on from there.

use super::reply::read_one;
use crate::answer::tag::{AgentTurn, agent_turn};
use crate::answer::{Form, after_thinking, break_point, look_up_pages};
use crate::benchmark::Item;
use crate::reader::{Reading, Want};
use crate::record::Outcome;
use serde::Serialize;

/// What a reply was understood as.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "said", rename_all = "snake_case")]
pub enum Heard {
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

/// What the reply to a call says about `item`; `prompt` names the prompt that the call was made from.
pub fn heard(prompt: &str, reading: &Reading, item: &Item, reply: &str) -> Heard {
    let text = || after_thinking(reply).trim().to_owned();
    match (prompt, reading.want) {
        ("memory-agent-update", _) => Heard::Memory { text: after_thinking(reply).to_owned() },
        ("read-agent-gist", _) => Heard::Gist { text: text() },
        ("raptor-summary", _) => Heard::Summary { text: text() },
        (_, Want::Break) => Heard::Break { label: break_point(after_thinking(reply)) },
        (_, Want::Pages(_)) => Heard::Pages { pages: look_up_pages(after_thinking(reply), reading.context.len()) },
        ("agentic-rag" | "agentic-rag-results" | "agentic-rag-again", _) | (_, Want::Query) => {
            match agent_turn(reply) {
                AgentTurn::Query(query) => Heard::Query { query: query.to_owned() },
                AgentTurn::Answer(_) => Heard::Answer(read_one(Form::Tags, item, reply)),
                AgentTurn::Unparsed { n_answers, n_queries } => {
                    Heard::Blocks { answers: n_answers, queries: n_queries }
                }
            }
        }
        (_, Want::Answer(form)) => Heard::Answer(read_one(form, item, reply)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Task;

    #[test]
    fn a_reply_is_understood_by_what_was_asked_for() {
        let mut item = Item::new("a", "b", "Where?", Task::Choice);
        item.options = ["In Lund", "In Orvik"].map(str::to_owned).to_vec();
        let reading = |want| Reading { want, ..Reading::summary(vec!["x".to_owned(); 5], "en") };
        let heard = |prompt, want, reply| heard(prompt, &reading(want), &item, reply);
        let orvik = Heard::Answer(Outcome::Answered { answer: "In Orvik".to_owned(), choice: Some(1) });
        let answer = Want::Answer(Form::Marked);
        assert_eq!(heard("read-choice", answer, "So [[2]]."), orvik);
        let tags = Want::Answer(Form::Tags);
        assert_eq!(heard("agentic-rag-results", tags, "<answer>1</answer>"), orvik);
        let query = Heard::Query { query: "bell".to_owned() };
        assert_eq!(heard("agentic-rag", Want::Query, "<think>?</think><query>bell</query>"), query);
        assert_eq!(heard("agentic-rag", Want::Query, "Hm."), Heard::Blocks { answers: 0, queries: 0 });
        assert_eq!(heard("read-agent-paginate", Want::Break, "Break point: <7>"), Heard::Break { label: Some(7) });
        assert_eq!(heard("read-agent-paginate", Want::Break, "Here."), Heard::Break { label: None });
        assert_eq!(heard("read-agent-lookup", Want::Pages(6), "Page [4, 9, 0]"), Heard::Pages { pages: vec![4, 0] });
        let memory = Heard::Memory { text: "Tom has it.".to_owned() };
        assert_eq!(heard("memory-agent-update", answer, "<think>x</think>Tom has it."), memory);
        assert_eq!(heard("read-agent-gist", answer, " Rain. "), Heard::Gist { text: "Rain.".to_owned() });
    }
}
