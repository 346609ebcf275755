//! What a prompt file says of itself, above its template.

use crate::error::PromptError;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Front matter of a prompt file: what it says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontMatter {
    /// The paper that it follows, with its section, table or figure.
    pub paper: String,
    /// What it is filled with.
    pub variables: BTreeSet<String>,
    /// The form of the response that it asks for.
    pub response: String,
    /// What it demands because its paper does; a user's own file need not say.
    #[serde(default)]
    pub requirements: Vec<Requirement>,
    /// What it says that its paper does not.
    #[serde(default)]
    pub adds: Vec<Addition>,
    /// Template of the system's message, of the same variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
}

/// Something that a prompt demands because a paper does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The requirement, in a few words.
    pub what: String,
    /// Where it stands: the paper, and its section, table, figure or file.
    pub source: String,
}

/// Something that a prompt says and its paper does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addition {
    /// What is added, in a few words.
    pub what: String,
    /// Why.
    pub why: String,
}

/// Front matter and template of a prompt file.
pub(crate) fn parts<'s>(name: &str, source: &'s str) -> Result<(Cow<'s, str>, Cow<'s, str>), PromptError> {
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

pub(crate) fn front_matter(name: &str, front: &str) -> Result<FrontMatter, PromptError> {
    toml::from_str(front)
        .map_err(|e| PromptError::FrontMatter { name: name.to_owned(), problem: e.message().to_owned() })
}
