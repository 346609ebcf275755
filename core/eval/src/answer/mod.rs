//! Reading an answer out of a model's response: one file a form.
//!
//! A response can be anything, so a parser never fails: what does not follow the form is [`Parsed::Unparsed`], which is
//! scored as it is. Every parser takes time linear in the response.

pub mod boxed;
pub mod corpusqa;
mod form;
pub mod infinitebench;
pub mod json;
mod letter;
mod marker;
pub mod novelqa;
mod pages;
pub(crate) mod read;
mod short;
pub mod tag;
mod thinking;

pub use form::Form;
pub use letter::{leval_letter, readagent_choice};
pub use marker::choice_marker;
pub use pages::{break_point, look_up_pages};
pub use short::{NOT_FOUND, ShortAnswer, short_answer};
pub use thinking::{after_thinking, memagent_answer};

/// What a parser made of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parsed<T> {
    /// The response follows the form and says this.
    Answer(T),
    /// The response does not follow the form.
    Unparsed,
}

impl<T> Parsed<T> {
    /// What the response says, if it follows the form.
    pub fn answer(self) -> Option<T> {
        match self {
            Self::Answer(answer) => Some(answer),
            Self::Unparsed => None,
        }
    }

    /// Another view of what the response says.
    pub fn map<U>(self, view: impl FnOnce(T) -> U) -> Parsed<U> {
        self.answer().map(view).into()
    }
}

impl<T> From<Option<T>> for Parsed<T> {
    fn from(answer: Option<T>) -> Self {
        answer.map_or(Self::Unparsed, Self::Answer)
    }
}
