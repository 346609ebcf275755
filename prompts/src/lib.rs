//! Prompts: templates, one file each in `prompts/`, their variables, their hashes.
//!
//! A prompt file is front matter in TOML between two lines `+++`, then a minijinja template. Each carries the
//! requirements and the output format of its paper in our own words, and lists them with their sources; what it adds of
//! its own it lists with the reason. Where its paper has a system message, that is a second template, `system`.
//!
//! Each file has a type, whose fields are the variables: a prompt is rendered from a value of it, so none can lack a
//! variable.

#![forbid(unsafe_code)]

#[macro_use]
mod prompt;
pub mod builds;
mod error;
mod front_matter;
pub mod judges;
pub mod readers;
mod shipped;
mod templates;
pub mod variables;

pub use error::PromptError;
pub use front_matter::{Addition, FrontMatter, Requirement};
pub use prompt::{Prompt, ReaderPrompt};
pub use templates::Prompts;
