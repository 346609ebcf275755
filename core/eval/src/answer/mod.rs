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
mod parsed;
pub(crate) mod read;
mod short;
pub mod tag;
mod thinking;

pub use form::Form;
pub use letter::{leval_letter, readagent_choice};
pub use marker::choice_marker;
pub(crate) use marker::first_choice_marker;
pub use pages::{break_point, look_up_pages};
pub use parsed::Parsed;
pub use short::{NOT_FOUND, ShortAnswer, short_answer};
pub(crate) use thinking::after_ended_reasoning;
pub use thinking::{after_reasoning, after_thinking, memagent_answer};
