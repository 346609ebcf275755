//! Front matter of prompt files: paper, variables, response format, requirements, additions.

use crate::error::PromptError;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Front matter of a prompt file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontMatter {
    /// The paper that it follows, with its section, table or figure.
    pub paper: String,
    /// Names of its variables.
    pub variables: BTreeSet<String>,
    /// The response format that the prompt requests.
    pub response: String,
    /// Requirements that come from the paper; optional in a user's own file.
    #[serde(default)]
    pub requirements: Vec<Requirement>,
    /// Additions that the paper does not have.
    #[serde(default)]
    pub adds: Vec<Addition>,
    /// Template of the system message, with the same variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
}

/// A requirement of a prompt that comes from a paper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The requirement, in a few words.
    pub what: String,
    /// Its source: the paper, and its section, table, figure or file.
    pub source: String,
}

/// An addition of a prompt that its paper does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addition {
    /// The addition, in a few words.
    pub what: String,
    /// The reason for the addition.
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
