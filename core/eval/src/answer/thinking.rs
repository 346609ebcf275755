//! Responses of reasoning models, and the plain answers of MemAgent.

use super::parsed::Parsed;
use closeread_text::python;

/// Returns what a response says after its reasoning: the text after the last `</think>`, white space at its ends
/// removed; without the tag the response as it is (MemAgent, `taskutils/memory_eval`).
pub fn after_thinking(response: &str) -> &str {
    response.rsplit_once("</think>").map_or(response, |(_, answer)| python::strip(answer))
}

/// Returns what a response says once its reasoning is over: as [`after_thinking`], and nothing while a `<think>` at its
/// beginning is open, as in a response that its limit cut.
///
/// Servers without a reader of reasoning send both in one text. All that reads answers, turns and rulings begins here.
pub fn after_reasoning(response: &str) -> &str {
    let said = after_thinking(response);
    if said.trim_start().starts_with("<think>") { "" } else { said }
}

/// The answer of a response that says "the answer is …" (MemAgent's `extract_answer`): what follows the last such words,
/// to the end of the response, without asterisks, two marks of chat templates, and white space and full stops at its
/// ends. May be empty. The words are case-sensitive.
pub fn memagent_answer(response: &str) -> Parsed<String> {
    let response = response.replace('*', "");
    let Some((_, answer)) = response.rsplit_once("the answer is") else {
        return Parsed::Unparsed;
    };
    let answer = python::strip(answer).replace("<｜Assistant｜>", "").replace("<｜end▁of▁sentence｜>", "");
    Parsed::Answer(python::strip(python::strip(&answer).trim_matches('.')).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_ends_with_its_last_tag() {
        assert_eq!(after_thinking("a</think> b</think> c "), "c");
        assert_eq!(after_thinking(" plain "), " plain ");
        assert_eq!(after_reasoning("\n<think>a</think> b"), "b");
        assert_eq!(after_reasoning("\n<think>So the answer is Ben"), "");
        assert_eq!(after_reasoning(" A <think> is no word. "), " A <think> is no word. ");
    }

    #[test]
    fn the_last_announcement_counts() {
        let answer = |response| memagent_answer(response).answer();
        assert_eq!(answer("the answer is A; no, the answer is **B. C**.<｜end▁of▁sentence｜>"), Some("B. C".into()));
        assert_eq!(answer("The answer is B"), None);
        assert_eq!(answer("the answer is"), Some(String::new()));
    }
}
