//! A set of prompt templates, and filling one with its variables.

use crate::error::PromptError;
use closeread_text::hash::sha256;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// A set of prompts, by name.
#[derive(Debug, Clone)]
pub struct Prompts {
    environment: Environment<'static>,
    /// Template sources without front matter. A template is compiled when it is filled: a run fills few of them.
    templates: BTreeMap<String, Cow<'static, str>>,
    /// Templates of system messages, for prompts that have one.
    systems: BTreeMap<String, String>,
    hashes: BTreeMap<String, String>,
}

impl Prompts {
    pub(crate) fn none() -> Self {
        let mut environment = Environment::empty();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let (templates, systems, hashes) = Default::default();
        Self { environment, templates, systems, hashes }
    }

    /// The variables that a template is filled with.
    pub(crate) fn variables(&self, template: &str) -> Result<HashSet<String>, minijinja::Error> {
        Ok(self.environment.template_from_str(template)?.undeclared_variables(false))
    }

    pub(crate) fn unknown(&self, name: &str) -> PromptError {
        let known = self.hashes.keys().cloned().collect::<Vec<_>>().join(", ");
        PromptError::Unknown { name: name.to_owned(), known }
    }

    pub(crate) fn put(&mut self, name: &str, body: Cow<'static, str>, system: Option<String>) {
        let hash = match &system {
            None => sha256(body.as_bytes()),
            Some(system) => sha256(format!("{system}\n+++\n{body}").as_bytes()),
        };
        self.hashes.insert(name.to_owned(), hash);
        self.templates.insert(name.to_owned(), body);
        match system {
            None => self.systems.remove(name),
            Some(system) => self.systems.insert(name.to_owned(), system),
        };
    }

    /// SHA-256 of each template with its system message, in hex, by name, as a run's manifest records it.
    pub fn hashes(&self) -> &BTreeMap<String, String> {
        &self.hashes
    }

    /// The prompt `name`, filled with the fields of `variables`.
    pub(crate) fn filled(&self, name: &str, variables: &impl Serialize) -> Result<String, PromptError> {
        let Some(template) = self.templates.get(name) else {
            return Err(self.unknown(name));
        };
        self.filled_in(name, template, variables)
    }

    /// The filled system message of the prompt `name`; `None` if there is none or it is empty.
    pub(crate) fn system(&self, name: &str, variables: &impl Serialize) -> Result<Option<String>, PromptError> {
        let filled = self.systems.get(name).map(|template| self.filled_in(name, template, variables)).transpose()?;
        Ok(filled.filter(|text| !text.is_empty()))
    }

    fn filled_in(&self, name: &str, template: &str, variables: &impl Serialize) -> Result<String, PromptError> {
        let problem = |e: minijinja::Error| PromptError::Template { name: name.to_owned(), problem: e.to_string() };
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

/// Total bytes of the strings in the fields of a value.
fn text_of(fields: &minijinja::Value) -> usize {
    let names = fields.try_iter().into_iter().flatten();
    names.filter_map(|name| fields.get_item(&name).ok()?.as_str().map(str::len)).sum()
}
