//! Sources of the values of a protocol.

use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "where", rename_all = "snake_case")]
pub enum Source<T = &'static str> {
    /// The paper states the value: the section or appendix.
    Paper(T),
    /// The authors' code has the value: repository, commit, file and lines.
    Code(T),
    /// Neither the paper nor the code has the value: what we chose, and why.
    Open(T),
}

impl From<Source> for Source<String> {
    fn from(source: Source) -> Self {
        match source {
            Source::Paper(place) => Self::Paper(place.to_owned()),
            Source::Code(place) => Self::Code(place.to_owned()),
            Source::Open(reason) => Self::Open(reason.to_owned()),
        }
    }
}

impl<T: AsRef<str>> fmt::Display for Source<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paper(place) | Self::Code(place) => f.write_str(place.as_ref()),
            Self::Open(reason) => write!(f, "open: we chose; {}", reason.as_ref()),
        }
    }
}

/// A value of a protocol with its source. It is serialized as the value alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Source of the value.
    pub source: Source,
    /// Difference from the paper or its authors' code.
    pub differs: Option<&'static str>,
}

impl<T: Copy> Sourced<T> {
    /// Makes a value that the paper states.
    pub const fn paper(value: T, section: &'static str) -> Self {
        Self { value, source: Source::Paper(section), differs: None }
    }

    /// Makes a value that the authors' code has.
    pub const fn code(value: T, place: &'static str) -> Self {
        Self { value, source: Source::Code(place), differs: None }
    }

    /// Makes a value that we chose.
    pub const fn open(value: T, reason: &'static str) -> Self {
        Self { value, source: Source::Open(reason), differs: None }
    }

    /// Adds that the paper or its code does otherwise, or in part.
    #[must_use]
    pub const fn but(self, differs: &'static str) -> Self {
        Self { differs: Some(differs), ..self }
    }

    /// Returns who has the value, as a sentence begins with it: the paper, or its protocol where we chose.
    pub fn owner(&self) -> &'static str {
        if matches!(self.source, Source::Open(_)) { "the protocol" } else { "the paper" }
    }
}

impl<T> Deref for Sourced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Serialize> Serialize for Sourced<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}
