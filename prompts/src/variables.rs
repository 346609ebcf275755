//! What variables of several fields are made of, and languages as prompts name them.

use closeread_text::language::Language;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// One of several questions.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct QuestionOf<'a> {
    /// The question.
    pub question: &'a str,
    /// Its options; empty for an open question.
    pub options: &'a [String],
}

/// An option that is chosen by its letter.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Lettered<'a> {
    /// `A` for the first.
    pub letter: char,
    /// The option.
    pub text: &'a str,
}

impl<'a> Lettered<'a> {
    /// Options with their letters.
    pub fn all(options: &'a [String]) -> Vec<Self> {
        ('A'..='Z').zip(options).map(|(letter, text)| Self { letter, text }).collect()
    }
}

/// A category that is to be chosen, and what it means.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Named<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it means.
    pub meaning: &'a str,
}

/// A type of questions.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Kind<'a> {
    /// Its name.
    pub name: &'a str,
    /// What its questions ask for.
    pub meaning: &'a str,
    /// One of its questions.
    pub example: &'a str,
}

/// A question with its answer.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Pair<'a> {
    /// The question.
    pub question: &'a str,
    /// Its answer.
    pub answer: &'a str,
}

/// A text with its title: a document, a result of a search.
#[derive(Debug, Clone, Serialize)]
pub struct Titled<'a> {
    /// Its title; may be empty.
    pub title: &'a str,
    /// The text.
    pub text: Cow<'a, str>,
}

/// A field that is looked for in a document.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Field<'a> {
    /// Its name in the response.
    pub key: &'a str,
    /// Its name for readers.
    pub title: &'a str,
    /// What its values are.
    pub r#type: &'a str,
    /// The unit of its numbers; may be empty.
    pub unit: &'a str,
    /// What is looked for; may be empty.
    pub meaning: &'a str,
}

/// A column of a table in SQL.
#[derive(Debug, Clone, Serialize)]
pub struct Column<'a> {
    /// Its name in the database.
    pub key: &'a str,
    /// Its name in questions.
    pub title: String,
    /// Its type in SQL.
    pub r#type: &'a str,
    /// The unit of its numbers; may be empty.
    pub unit: &'a str,
    /// All its words, where it has few.
    pub words: Vec<&'a str>,
}

/// A text that must not come again.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Rejected<'a> {
    /// The text.
    pub text: &'a str,
    /// Why.
    pub why: &'a str,
}

fn named(language: Language, other: &'static str) -> &'static str {
    match language {
        Language::ENGLISH => "English",
        Language::CHINESE => "Chinese",
        _ => other,
    }
}

/// The name of a language, where a novel is written in it.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) fn in_novel<S: Serializer>(language: &Language, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(named(*language, "the language of the novel"))
}

/// The name of a language, where a question in it is shown.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) fn in_question<S: Serializer>(language: &Language, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(named(*language, "the language of the question"))
}

/// The name of a language, where a text in it is shown.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) fn in_text<S: Serializer>(language: &Language, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(named(*language, "the language of the text"))
}
