//! Prompts: templates from `prompts/`, their variables, their hashes.
//!
//! A prompt file is front matter in TOML between two lines `+++`, then a minijinja template. Each carries the
//! requirements and the output format of its paper in our own words.

use crate::hash::sha256;
use minijinja::{Environment, UndefinedBehavior, context};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The prompts that ship, by name.
const BUILT_IN: [(&str, &str); 6] = [
    ("closed-book-choice", include_str!("../../prompts/closed-book-choice.md")),
    ("closed-book-question", include_str!("../../prompts/closed-book-question.md")),
    ("closed-book-summary", include_str!("../../prompts/closed-book-summary.md")),
    ("read-choice", include_str!("../../prompts/read-choice.md")),
    ("read-question", include_str!("../../prompts/read-question.md")),
    ("read-summary", include_str!("../../prompts/read-summary.md")),
];

/// What a prompt may be filled with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables<'a> {
    /// Title of the work; empty if unknown.
    pub title: &'a str,
    /// The text handed over.
    pub context: &'a str,
    /// The question or query.
    pub question: &'a str,
    /// The options of a choice.
    pub options: &'a [String],
}

/// A set of prompts, by name.
#[derive(Debug, Clone)]
pub struct Prompts {
    environment: Environment<'static>,
    hashes: BTreeMap<String, String>,
}

/// Front matter of a prompt file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "read by people and checked for presence")]
struct FrontMatter {
    paper: String,
    variables: Vec<String>,
    reply: String,
}

/// Why a prompt cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// No prompt of that name.
    #[error("there is no prompt `{name}`; the names are: {known}")]
    Unknown {
        /// As asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// The front matter is missing or wrong.
    #[error(
        "prompt `{name}`: {problem}; expected TOML with paper, variables and reply between two lines `+++` at the top"
    )]
    FrontMatter {
        /// Name of the prompt.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The template does not parse, or names a variable that does not exist.
    #[error("prompt `{name}`: {problem}")]
    Template {
        /// Name of the prompt.
        name: String,
        /// What is wrong, with its line.
        problem: String,
    },
}

impl Default for Prompts {
    fn default() -> Self {
        Self::built_in()
    }
}

impl Prompts {
    /// The prompts that ship.
    pub fn built_in() -> Self {
        let mut environment = Environment::empty();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let mut prompts = Self { environment, hashes: BTreeMap::new() };
        for (name, source) in BUILT_IN {
            prompts.insert(name, source).expect("the shipped prompts are tested");
        }
        prompts
    }

    /// Puts `source` in the place of the prompt `name`.
    ///
    /// # Errors
    /// [`PromptError`] if there is no such prompt to replace, or the text is no prompt.
    pub fn replace(&mut self, name: &str, source: &str) -> Result<(), PromptError> {
        if !self.hashes.contains_key(name) {
            let known = self.hashes.keys().cloned().collect::<Vec<_>>().join(", ");
            return Err(PromptError::Unknown { name: name.to_owned(), known });
        }
        self.insert(name, source)
    }

    fn insert(&mut self, name: &str, source: &str) -> Result<(), PromptError> {
        let bad = |problem: String| PromptError::FrontMatter { name: name.to_owned(), problem };
        let source = source.replace("\r\n", "\n");
        let rest = source.strip_prefix("+++\n").ok_or_else(|| bad("no front matter".to_owned()))?;
        let (front, body) = rest.split_once("\n+++\n").ok_or_else(|| bad("the front matter has no end".to_owned()))?;
        toml::from_str::<FrontMatter>(front).map_err(|e| bad(e.message().to_owned()))?;
        self.environment
            .add_template_owned(name.to_owned(), body.trim().to_owned())
            .map_err(|e| PromptError::Template { name: name.to_owned(), problem: e.to_string() })?;
        self.hashes.insert(name.to_owned(), sha256(body.trim().as_bytes()));
        Ok(())
    }

    /// SHA-256 of each template, in hex, by name: what the manifest of a run holds.
    pub fn hashes(&self) -> &BTreeMap<String, String> {
        &self.hashes
    }

    /// The prompt `name`, filled in.
    ///
    /// # Errors
    /// [`PromptError`] if there is no such prompt, or it names a variable that does not exist.
    pub fn render(&self, name: &str, variables: &Variables<'_>) -> Result<String, PromptError> {
        let problem = |e: minijinja::Error| PromptError::Template { name: name.to_owned(), problem: e.to_string() };
        self.environment
            .get_template(name)
            .and_then(|t| {
                t.render(context! {
                    title => variables.title,
                    context => variables.context,
                    question => variables.question,
                    options => variables.options.to_vec(),
                })
            })
            .map_err(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_count_from_one_on_their_own_lines() {
        let options = ["Ana".to_owned(), "Ben".to_owned()];
        let variables = Variables { context: "C", question: "Who?", options: &options, ..Variables::default() };
        let text = Prompts::built_in().render("read-choice", &variables).unwrap();
        assert!(text.contains("Question: Who?\n\n[[1]] Ana\n[[2]] Ben\n\nFirst"), "{text}");
    }

    #[test]
    fn a_book_full_of_braces_stays_as_it_is() {
        let variables = Variables { context: "{{ question }} <b>&", question: "Q", ..Variables::default() };
        let text = Prompts::built_in().render("read-question", &variables).unwrap();
        assert!(text.contains("\n{{ question }} <b>&\n"), "{text}");
    }

    #[test]
    fn a_bad_replacement_says_what_is_wrong() {
        let mut prompts = Prompts::built_in();
        let message = |r: Result<(), PromptError>| r.unwrap_err().to_string();
        assert!(message(prompts.replace("read-choise", "")).contains("the names are: closed-book-choice"));
        assert!(message(prompts.replace("read-choice", "Hello")).contains("no front matter"));
        let front = "+++\npaper = 'x'\nvariables = []\nreply = ''\n+++\n";
        assert!(message(prompts.replace("read-choice", &format!("{front}{{% if %}}"))).contains("read-choice"));
        prompts.replace("read-choice", &format!("{front}{{{{ quetsion }}}}")).unwrap();
        assert!(prompts.render("read-choice", &Variables::default()).is_err());
    }
}
