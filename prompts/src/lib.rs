//! Prompts: templates, one file each in `prompts/`, their variables, their hashes.
//!
//! A prompt file is front matter in TOML between two lines `+++`, then a minijinja template. Each carries the
//! requirements and the output format of its paper in our own words.

#![forbid(unsafe_code)]

use closeread_text::hash::sha256;
use minijinja::{Environment, UndefinedBehavior};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

macro_rules! shipped {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../", $name, ".md")))),*]
    };
}

/// The prompts that ship, by name.
const BUILT_IN: &[(&str, &str)] = shipped![
    "agentic-rag"
    "agentic-rag-again"
    "agentic-rag-results"
    "align-key-facts"
    "build-again"
    "classify-question"
    "closed-book-choice"
    "closed-book-question"
    "closed-book-summary"
    "raptor-summary"
    "corpusqa-closed-book"
    "corpusqa-documents"
    "corpusqa-extract"
    "corpusqa-field-votes"
    "corpusqa-fields"
    "corpusqa-paraphrase"
    "corpusqa-sql"
    "hamlet-chunk-size"
    "hamlet-query"
    "hamlet-tree"
    "hamlet-verify-tree"
    "judge-corpusqa"
    "judge-novelqa"
    "judge-novelqa-evidence"
    "judge-sagascale"
    "memory-agent-choice"
    "memory-agent-question"
    "memory-agent-summary"
    "memory-agent-update"
    "novelqa-choices"
    "novelqa-closed-book-choices"
    "novelqa-closed-book-questions"
    "novelqa-evidence"
    "novelqa-questions"
    "options-distractors"
    "read-agent-choice"
    "read-agent-gist"
    "read-agent-lookup"
    "read-agent-lookup-next"
    "read-agent-paginate"
    "read-agent-question"
    "read-agent-summary"
    "read-choice"
    "read-question"
    "read-summary"
    "sagascale-check-pair"
    "sagascale-closed-book"
    "sagascale-contexts"
    "sagascale-keywords"
    "sagascale-pair"
    "sagascale-segment"
    "sagascale-sub-queries"
    "sagascale-text"
    "verify-facts"
];

/// A set of prompts, by name.
#[derive(Debug, Clone)]
pub struct Prompts {
    environment: Environment<'static>,
    /// Without front matter. They are compiled when they are filled: few of them ever are.
    templates: BTreeMap<String, Cow<'static, str>>,
    hashes: BTreeMap<String, String>,
}

/// Front matter of a prompt file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    #[allow(dead_code, reason = "read by people and checked for presence")]
    paper: String,
    variables: BTreeSet<String>,
    #[allow(dead_code, reason = "read by people and checked for presence")]
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
        let mut prompts = Self { environment, templates: BTreeMap::new(), hashes: BTreeMap::new() };
        for (name, source) in BUILT_IN {
            let (_, body) = parts(name, source).expect("the shipped prompts are tested");
            prompts.put(name, body);
        }
        prompts
    }

    /// Puts `source` in the place of the prompt `name`.
    ///
    /// # Errors
    /// [`PromptError`] if there is no such prompt to replace, or the text is no prompt.
    pub fn replace(&mut self, name: &str, source: &str) -> Result<(), PromptError> {
        let Some((_, shipped)) = BUILT_IN.iter().find(|(shipped, _)| *shipped == name) else {
            return Err(self.unknown(name));
        };
        let (front, body) = parts(name, source)?;
        front_matter(name, &front)?;
        let unusable = |problem: String| PromptError::Template { name: name.to_owned(), problem };
        let template = self.environment.template_from_str(&body).map_err(|e| unusable(e.to_string()))?;
        let used = template.undeclared_variables(false);
        // What the shipped one is filled with: a replacement may use no more.
        let filled = front_matter(name, &parts(name, shipped)?.0)?.variables;
        if let Some(unknown) = used.iter().find(|variable| !filled.contains(*variable)) {
            let known = filled.iter().cloned().collect::<Vec<_>>().join(", ");
            return Err(unusable(format!("there is no variable `{unknown}` here; it is filled with: {known}")));
        }
        self.put(name, Cow::Owned(body.into_owned()));
        Ok(())
    }

    fn unknown(&self, name: &str) -> PromptError {
        let known = self.hashes.keys().cloned().collect::<Vec<_>>().join(", ");
        PromptError::Unknown { name: name.to_owned(), known }
    }

    fn put(&mut self, name: &str, body: Cow<'static, str>) {
        self.hashes.insert(name.to_owned(), sha256(body.as_bytes()));
        self.templates.insert(name.to_owned(), body);
    }

    /// SHA-256 of each template, in hex, by name: what the manifest of a run holds.
    pub fn hashes(&self) -> &BTreeMap<String, String> {
        &self.hashes
    }

    /// The prompt `name`, filled with the fields of `variables`.
    ///
    /// # Errors
    /// [`PromptError`] if there is no such prompt, or it names a variable that `variables` has no value for.
    pub fn render(&self, name: &str, variables: &impl Serialize) -> Result<String, PromptError> {
        let problem = |e: minijinja::Error| PromptError::Template { name: name.to_owned(), problem: e.to_string() };
        let Some(template) = self.templates.get(name) else {
            return Err(self.unknown(name));
        };
        let filled = || {
            let template = self.environment.template_from_named_str(name, template)?;
            let variables = minijinja::Value::from(minijinja::value::Serde(variables));
            // A book is written into memory of its size, in the place of memory that doubles until it fits.
            let mut text = Vec::with_capacity(template.source().len() + text_of(&variables));
            template.render_captured_to(variables, &mut text)?;
            Ok(text)
        };
        Ok(String::from_utf8(filled().map_err(problem)?).expect("templates and values are strings"))
    }
}

/// Front matter and template of a prompt file.
fn parts<'s>(name: &str, source: &'s str) -> Result<(Cow<'s, str>, Cow<'s, str>), PromptError> {
    let bad = |problem: &str| PromptError::FrontMatter { name: name.to_owned(), problem: problem.to_owned() };
    if source.contains("\r\n") {
        let source = source.replace("\r\n", "\n");
        let (front, body) = parts(name, &source)?;
        return Ok((Cow::Owned(front.into_owned()), Cow::Owned(body.into_owned())));
    }
    let rest = source.strip_prefix("+++\n").ok_or_else(|| bad("no front matter"))?;
    let (front, body) = rest.split_once("\n+++\n").ok_or_else(|| bad("the front matter has no end"))?;
    Ok((Cow::Borrowed(front), Cow::Borrowed(body.trim())))
}

fn front_matter(name: &str, front: &str) -> Result<FrontMatter, PromptError> {
    toml::from_str(front)
        .map_err(|e| PromptError::FrontMatter { name: name.to_owned(), problem: e.message().to_owned() })
}

/// Bytes of the strings among the fields of a value.
fn text_of(fields: &minijinja::Value) -> usize {
    let names = fields.try_iter().into_iter().flatten();
    names.filter_map(|name| fields.get_item(&name).ok()?.as_str().map(str::len)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_count_from_one_on_their_own_lines() {
        let variables = json!({"context": "C", "question": "Who?", "options": ["Ana", "Ben"]});
        let text = Prompts::built_in().render("read-choice", &variables).unwrap();
        assert!(text.contains("Question: Who?\n\n[[1]] Ana\n[[2]] Ben\n\nFirst"), "{text}");
    }

    #[test]
    fn every_shipped_prompt_is_one() {
        let mut prompts = Prompts::built_in();
        let hashes = prompts.hashes().clone();
        for (name, source) in BUILT_IN {
            prompts.replace(name, source).unwrap_or_else(|error| panic!("{error}"));
            prompts.replace(name, &source.replace('\n', "\r\n")).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(prompts.hashes(), &hashes);
        assert!(prompts.render("read-choise", &json!({})).unwrap_err().to_string().contains("there is no prompt"));
    }

    #[test]
    fn a_book_full_of_braces_stays_as_it_is() {
        let variables = json!({"context": "{{ question }} <b>&", "question": "Q"});
        let text = Prompts::built_in().render("read-question", &variables).unwrap();
        assert!(text.contains("\n{{ question }} <b>&\n"), "{text}");
    }

    #[test]
    fn a_bad_replacement_says_what_is_wrong() {
        let mut prompts = Prompts::built_in();
        let message = |r: Result<(), PromptError>| r.unwrap_err().to_string();
        assert!(message(prompts.replace("read-choise", "")).contains("the names are: agentic-rag, "));
        assert!(message(prompts.replace("read-choice", "Hello")).contains("no front matter"));
        let front = "+++\npaper = 'x'\nvariables = []\nreply = ''\n+++\n";
        assert!(message(prompts.replace("read-choice", &format!("{front}{{% if %}}"))).contains("read-choice"));
        let message = message(prompts.replace("read-choice", &format!("{front}{{{{ quetsion }}}}")));
        assert!(
            message.contains("no variable `quetsion` here; it is filled with: context, options, question"),
            "{message}"
        );
    }
}
