//! Types of prompt variables that have several fields, and the names of languages in prompts.

use closeread_text::language::Language;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// A question of a prompt that asks several.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct QuestionOf<'a> {
    /// The question.
    pub question: &'a str,
    /// Its answer options; empty for an open question.
    pub options: &'a [String],
}

/// An answer option with its letter.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Lettered<'a> {
    /// Letter of the option: `A` for the first.
    pub letter: char,
    /// Text of the option.
    pub text: &'a str,
}

impl<'a> Lettered<'a> {
    /// Options with their letters.
    pub fn all(options: &'a [String]) -> Vec<Self> {
        ('A'..='Z').zip(options).map(|(letter, text)| Self { letter, text }).collect()
    }
}

/// A category that the model may choose.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Named<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its definition.
    pub meaning: &'a str,
}

/// A type of question, with an example.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Kind<'a> {
    /// Its name.
    pub name: &'a str,
    /// What its questions ask for.
    pub meaning: &'a str,
    /// An example question of this type.
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

/// A text with its title: a document or a search result.
#[derive(Debug, Clone, Serialize)]
pub struct Titled<'a> {
    /// Its title; may be empty.
    pub title: &'a str,
    /// The text.
    pub text: Cow<'a, str>,
}

/// A field that the model extracts from a document.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Field<'a> {
    /// Its name in the response.
    pub key: &'a str,
    /// Its name for readers.
    pub title: &'a str,
    /// Description of its values.
    pub r#type: &'a str,
    /// The unit of its numbers; may be empty.
    pub unit: &'a str,
    /// Instructions for finding it; may be empty.
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
    /// All its values, if it has few.
    pub words: Vec<&'a str>,
}

/// A rejected text that the model must not repeat.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Rejected<'a> {
    /// The text.
    pub text: &'a str,
    /// The reason for the rejection.
    pub why: &'a str,
}

fn named(language: Language, other: &'static str) -> &'static str {
    match language {
        Language::ENGLISH => "English",
        Language::CHINESE => "Chinese",
        _ => other,
    }
}

/// Name of the language that a novel is written in.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) fn in_novel<S: Serializer>(language: &Language, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(named(*language, "the language of the novel"))
}

/// Name of the language of a question.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) fn in_question<S: Serializer>(language: &Language, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(named(*language, "the language of the question"))
}

/// Name of the language of a text.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) fn in_text<S: Serializer>(language: &Language, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(named(*language, "the language of the text"))
}
