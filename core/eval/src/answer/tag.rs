//! Blocks between tags: SagaScale's answers, queries and sub-queries, NoCha's verdicts.

use super::parsed::Parsed;
use super::thinking::after_thinking;
use closeread_text::pattern::pattern;
use regex_lite::Regex;
use std::sync::LazyLock;

/// The whole of an answer block that says that the contexts do not hold the answer, in capitals, since "None" can be an
/// answer (SagaScale, figure 17).
pub(crate) const NONE: &str = "NONE";

/// The request of one turn of an agent (SagaScale §4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentTurn<'a> {
    /// The agent's final answer; white space at its ends removed, never empty.
    Answer(&'a str),
    /// A search; white space at the query's ends removed.
    Query(&'a str),
    /// Not exactly one query or answer: SagaScale demands one block a turn and leaves open what happens otherwise.
    Unparsed {
        /// Number of answers that the turn gives.
        n_answers: usize,
        /// Number of queries that the turn gives.
        n_queries: usize,
    },
}

/// Reads the answer between `<answer>` and `</answer>`, white space at its ends removed.
///
/// SagaScale leaves open several blocks and empty ones. Here the last complete block counts, for models repeat the form
/// before they fill it in; an empty block is unparsed. Reasoning up to `</think>` is not read.
pub fn answer_block(response: &str) -> Parsed<&str> {
    blocks(after_thinking(response), "answer").last().filter(|text| !text.is_empty()).into()
}

/// Reads one turn of an agent. Empty blocks do not count; reasoning up to `</think>` is not read.
pub fn agent_turn(response: &str) -> AgentTurn<'_> {
    let response = after_thinking(response);
    let filled = |tag| blocks(response, tag).filter(|text| !text.is_empty()).collect::<Vec<_>>();
    match (filled("answer").as_slice(), filled("query").as_slice()) {
        ([answer], []) => AgentTurn::Answer(answer),
        ([], [query]) => AgentTurn::Query(query),
        (answers, queries) => AgentTurn::Unparsed { n_answers: answers.len(), n_queries: queries.len() },
    }
}

/// The sub-queries that a response gives, each between `<summary>` and `</summary>` (SagaScale, figure 10); none if it
/// holds no block. Empty blocks are left out; reasoning up to `</think>` is not read.
pub fn sub_queries(response: &str) -> Vec<&str> {
    blocks(after_thinking(response), "summary").filter(|text| !text.is_empty()).collect()
}

/// Returns whether a response says that a claim is true: `<answer>TRUE</answer>` or `<answer>FALSE</answer>` in
/// whatever case (NoCha). The first such block counts, as the regular expression that scores the published responses
/// takes it.
pub fn nocha_verdict(response: &str) -> Parsed<bool> {
    static VERDICT: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)<answer>[\s\x1c-\x1f]*(?:(true)|false)[\s\x1c-\x1f]*</answer>"));
    VERDICT.captures(response).map(|found| found.get(1).is_some()).into()
}

/// Returns the texts between `<tag>` and `</tag>`, in order, white space at the ends removed. A closing tag ends the
/// block of the last opening tag before it, so a block never holds its own opening tag.
pub fn blocks<'a>(response: &'a str, tag: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = response;
    std::iter::from_fn(move || {
        loop {
            let (block, after) = rest.split_once(close.as_str())?;
            rest = after;
            if let Some((_, text)) = block.rsplit_once(open.as_str()) {
                return Some(text.trim());
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_complete_block_is_the_answer() {
        let text = Parsed::Answer;
        assert_eq!(answer_block("<answer>\nAna\n</answer>"), text("Ana"));
        assert_eq!(answer_block("<answer>x</answer> no: <answer>y</answer> <answer>z"), text("y"));
        assert_eq!(answer_block("<answer><answer>y</answer></answer>"), text("y"));
        assert_eq!(answer_block("<think><answer>x</answer></think> Ana"), Parsed::Unparsed);
        assert_eq!(answer_block("<answer> NONE\n</answer>"), text("NONE"));
        for response in ["", "Ana", "<answer> </answer>", "</answer><answer>", "<Answer>x</Answer>"] {
            assert_eq!(answer_block(response), Parsed::Unparsed, "{response}");
        }
    }

    #[test]
    fn a_turn_asks_for_exactly_one_thing() {
        assert_eq!(agent_turn("Let me see. <query> who? </query>"), AgentTurn::Query("who?"));
        assert_eq!(agent_turn("<answer>Ana</answer>"), AgentTurn::Answer("Ana"));
        assert_eq!(agent_turn("Hm."), AgentTurn::Unparsed { n_answers: 0, n_queries: 0 });
        let both = "<query>a</query><query>b</query><answer>c</answer>";
        assert_eq!(agent_turn(both), AgentTurn::Unparsed { n_answers: 1, n_queries: 2 });
    }

    #[test]
    fn sub_queries_come_in_order() {
        assert_eq!(sub_queries("<summary>一</summary>\n<summary></summary><summary> b </summary>"), ["一", "b"]);
    }

    #[test]
    fn a_verdict_stands_alone_in_its_tags() {
        assert_eq!(nocha_verdict("<explanation>no</explanation>\n<answer>\nTrue </answer>"), Parsed::Answer(true));
        assert_eq!(nocha_verdict("<answer>FALSE</answer><answer>TRUE</answer>"), Parsed::Answer(false));
        assert_eq!(nocha_verdict("<answer>It is true</answer>"), Parsed::Unparsed);
        assert_eq!(nocha_verdict("TRUE"), Parsed::Unparsed);
    }
}
