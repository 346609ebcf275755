//! The forms in which the papers' prompts ask for an answer.

use serde::{Deserialize, Serialize};

/// The form of a reply: what a prompt asks for, a reader keeps to and a parser reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `[[n]]` for a choice, a few words or `Not found in context.` for an open question, prose for a summary (Stronger
    /// Baselines, figures A.1 and A.2).
    #[default]
    Marked,
    /// `Answer: (A)` for a choice (ReadAgent's notebook), everything else as in [`Form::Marked`].
    Lettered,
    /// `\boxed{...}`, a letter for a choice (MemAgent); prose for a summary.
    Boxed,
    /// `Break point: <57>`, one of the labels that stand as options (ReadAgent).
    Break,
    /// `Page [2, 5]`, at most so many of the passages by their numbers from 0, or `STOP` (ReadAgent).
    Pages(usize),
}
