//! Responses of reasoning models, and the plain answers of MemAgent.

use super::parsed::Parsed;
use closeread_text::python;

/// Returns what a response says after its reasoning: the text after the last `</think>`, white space at its ends
/// removed; without the tag the response as it is (MemAgent, `taskutils/memory_eval`).
pub fn after_thinking(response: &str) -> &str {
    response.rsplit_once("</think>").map_or(response, |(_, answer)| python::strip(answer))
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
    }

    #[test]
    fn the_last_announcement_counts() {
        let answer = |response| memagent_answer(response).answer();
        assert_eq!(answer("the answer is A; no, the answer is **B. C**.<｜end▁of▁sentence｜>"), Some("B. C".into()));
        assert_eq!(answer("The answer is B"), None);
        assert_eq!(answer("the answer is"), Some(String::new()));
    }
}
