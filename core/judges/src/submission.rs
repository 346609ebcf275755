//! Submissions to a judge, and the judge's response.

use crate::verdict::Verdict;
use closeread_eval::{Item, Outcome};
use closeread_methods::record::CallTrace;
use closeread_prompts::readers::{ClosedBookChoice, ReadChoice};
use closeread_text::Language;

/// The submission to a judge.
#[derive(Debug, Clone, Copy)]
pub struct Submission<'a> {
    /// The item, with its gold.
    pub item: &'a Item,
    /// Title of the work; empty if unknown.
    pub title: &'a str,
    /// The language of the work.
    pub language: Language,
    /// Answer of the reader; nothing for a judge of questions.
    pub said: SubmittedAnswer<'a>,
    /// Sentences that the reader cited as evidence.
    pub cited: &'a [String],
    /// The text of the chunk that the item's key facts are about; empty without key facts.
    pub chunk: &'a str,
}

/// A reader's answer as it is submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubmittedAnswer<'a> {
    /// No answer: the question alone is judged.
    Nothing,
    /// An answer in the agreed form.
    Answer {
        /// Text of the answer.
        text: &'a str,
        /// Number of the option chosen, from 0.
        choice: Option<usize>,
    },
    /// A response that holds no answer in the agreed form.
    Unparsed {
        /// The response.
        response: &'a str,
        /// The number that its prompt gives the first option: 0, or 1.
        first: usize,
    },
}

impl<'a> SubmittedAnswer<'a> {
    /// The answer of a trial's outcome; its calls tell the number that the prompt gave the first option.
    pub fn of(outcome: &'a Outcome, calls: &[CallTrace]) -> Self {
        match outcome {
            Outcome::Answered { answer, choice, .. } => Self::Answer { text: answer, choice: *choice },
            Outcome::Unparsed { response } => Self::Unparsed { response, first: first_option(calls) },
            _ => Self::Nothing,
        }
    }

    /// The words to be judged.
    pub const fn text(self) -> &'a str {
        match self {
            Self::Nothing => "",
            Self::Answer { text, .. } => text,
            Self::Unparsed { response, .. } => response,
        }
    }
}

/// The number of the first option in the last prompt: those that ask for `[[n]]` count from 1.
fn first_option(calls: &[CallTrace]) -> usize {
    let prompt = calls.last().map_or("", |call| &call.prompt);
    usize::from(matches!(prompt, ReadChoice::NAME | ClosedBookChoice::NAME))
}

/// The response of a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeResponse {
    /// Verdict of the judge.
    pub verdict: Verdict,
    /// The call, if it came back.
    pub calls: Vec<CallTrace>,
    /// Tokens of the prompt, if it was blocked.
    pub blocked_tokens: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_numbered_as_their_prompt_numbers_them() {
        let outcome = Outcome::Unparsed { response: "2".to_owned() };
        let first = |prompts: &[&str]| {
            let call = |prompt: &&str| CallTrace { prompt: (*prompt).to_owned(), ..CallTrace::default() };
            let calls: Vec<CallTrace> = prompts.iter().map(call).collect();
            match SubmittedAnswer::of(&outcome, &calls) {
                SubmittedAnswer::Unparsed { first, .. } => first,
                said => panic!("{said:?}"),
            }
        };
        assert_eq!(first(&["raptor-summary", "read-choice"]), 1);
        assert_eq!(first(&["closed-book-choice"]), 1);
        assert_eq!((first(&["novelqa-choices"]), first(&["sagascale-text"]), first(&[])), (0, 0, 0));
    }
}
