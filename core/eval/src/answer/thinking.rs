//! Responses of reasoning models, and the plain answers of MemAgent.

use super::parsed::Parsed;
use closeread_text::python;

/// Returns what a response says after its reasoning: the text after the last `</think>`, white space at its ends
/// removed; without the tag the response as it is (MemAgent, `taskutils/memory_eval`).
pub fn after_thinking(response: &str) -> &str {
    response.rsplit_once("</think>").map_or(response, |(_, answer)| python::strip(answer))
}

/// Marks around reasoning besides `<think>`, as the lists of SGLang (`docs/advanced_features/separate_reasoning.md`) and
/// vLLM (`docs/features/reasoning_outputs.md`) have them, and the models' chat templates: Magistral, Seed-OSS, Kimi,
/// EXAONE Deep, Gemma 4, and two that are made by fine-tuning.
const MARKS: [(&str, &str); 7] = [
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<thought>", "</thought>"),
    ("<|channel>thought", "<channel|>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
];

/// The channels of gpt-oss: all messages but the last, which is the final one, are reasoning.
const CHANNEL: &str = "<|channel|>";
const FINAL: &str = "<|channel|>final<|message|>";

/// Returns what a response says after reasoning that has ended: as [`after_thinking`], and without reasoning that
/// stands at its beginning between other marks. Where the reasoning does not end, the response as it is.
pub(crate) fn after_ended_reasoning(response: &str) -> &str {
    let said = after_thinking(response);
    after_marks(said).flatten().unwrap_or(said)
}

/// Returns what a response says once its reasoning is over: without the reasoning, and nothing while reasoning at
/// its beginning is open, as in a response that its limit cut.
///
/// Servers without a reader of reasoning send both in one text. All that reads answers, turns and rulings begins here.
pub fn after_reasoning(response: &str) -> &str {
    let said = after_thinking(response);
    if said.trim_start().starts_with("<think>") {
        return "";
    }
    after_marks(said).map_or(said, Option::unwrap_or_default)
}

/// The text behind reasoning at the beginning of a response, `None` in it while it is open; `None` if the response does
/// not begin with any.
fn after_marks(response: &str) -> Option<Option<&str>> {
    let begins = response.trim_start();
    if begins.starts_with(CHANNEL) {
        let last = begins.rsplit_once(FINAL).map(|(_, last)| last);
        return Some(last.map(|last| python::strip(last.split_once("<|").map_or(last, |(answer, _)| answer))));
    }
    let (_, close) = MARKS.iter().find(|(open, _)| begins.starts_with(open))?;
    Some(begins.rsplit_once(close).map(|(_, answer)| python::strip(answer)))
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
    fn reasoning_between_other_marks_is_no_answer() {
        for (open, close) in MARKS {
            let ended = format!("\n{open}Ben?{close}\nAnn ");
            assert_eq!((after_reasoning(&ended), after_ended_reasoning(&ended)), ("Ann", "Ann"), "{open}");
            let cut = format!("{open}So the answer is Ben");
            assert_eq!((after_reasoning(&cut), after_ended_reasoning(&cut)), ("", cut.as_str()), "{open}");
            let named = format!(" The mark {open} is Ben's{close}. ");
            assert_eq!(after_reasoning(&named), named, "a text that does not begin with it");
        }
        let channels =
            "<|channel|>analysis<|message|>Ben?<|end|><|start|>assistant<|channel|>final<|message|>Ann<|return|>";
        assert_eq!((after_reasoning(channels), after_ended_reasoning(channels)), ("Ann", "Ann"));
        assert_eq!(after_reasoning("<|channel|>analysis<|message|>Ben"), "");
    }

    #[test]
    fn the_last_announcement_counts() {
        let answer = |response| memagent_answer(response).answer();
        assert_eq!(answer("the answer is A; no, the answer is **B. C**.<｜end▁of▁sentence｜>"), Some("B. C".into()));
        assert_eq!(answer("The answer is B"), None);
        assert_eq!(answer("the answer is"), Some(String::new()));
    }
}
