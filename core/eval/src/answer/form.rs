//! The forms in which the papers' prompts ask for an answer.

use serde::{Deserialize, Serialize};

/// The form of an answer: what a prompt asks for, a reader keeps to and a parser reads.
///
/// Where options are to be chosen from, they are numbered from 1 in [`Form::Marked`], as Stronger Baselines does, named by
/// letters in [`Form::Lettered`] and [`Form::Boxed`], and numbered from 0 in all others, as NovelQA does; SagaScale and
/// CorpusQA have no choices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `[[n]]` for a choice, a few words or `Not found in context.` for an open question, prose for a summary (Stronger
    /// Baselines, figures A.1 and A.2).
    #[default]
    Marked,
    /// Like [`Form::Marked`], where the first `[[n]]` counts, as in Stronger Baselines' code, and not the last.
    FirstMarked,
    /// `<answer>` ... `</answer>` (SagaScale §4.1).
    Tags,
    /// Like [`Form::Tags`], where `NONE` says that the contexts do not hold the answer (SagaScale, figure 17).
    TagsOrNone,
    /// `Answer0: ...`, a line a question (NovelQA, table 11).
    Lines,
    /// `Answer0: answer$ sentences`, a line a question (NovelQA, table 11).
    EvidencedLines,
    /// A last line `The answer is: ...` (CorpusQA, appendix C).
    Announced,
    /// `Answer: (A)` for a choice (ReadAgent's notebook), everything else as in [`Form::Marked`].
    Lettered,
    /// `\boxed{...}`, a letter for a choice (MemAgent); prose for a summary.
    Boxed,
    /// Like [`Form::Boxed`], or else as in [`Form::Announced`]: MemAgent on a question that holds CorpusQA's
    /// requirements.
    BoxedOrAnnounced,
}
