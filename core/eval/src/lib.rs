//! Items, responses and scores: what is asked, how a response is read, how a trial ended, and what that counts for.

#![forbid(unsafe_code)]

pub mod answer;
mod citation;
pub mod correlate;
pub mod draw;
mod evaluate;
pub mod evidence;
pub mod hamlet;
mod input;
mod item;
pub mod lines;
pub mod observations;
mod outcome;
mod paper;
mod problems;
pub mod published;
pub mod ranking;
pub mod reading;
pub mod rows;
pub mod saved;
#[doc(hidden)]
pub mod testing;
pub mod truncation;

pub use citation::citation_recall;
pub use evaluate::{
    Answer, Evaluator, NoWordNet, default_metrics, is_spaceless, score, tell_language, unread_language,
};
pub use input::{InputFile, Problem};
pub use item::{
    ASKED_AS, ChunkPlace, Content, Document, Evidence, Item, KeyFact, KeyFacts, PUBLISHED, Task, question_id,
};
pub use observations::PAIR;
pub use outcome::{Outcome, PassageRef};
pub use paper::Paper;
pub use problems::{LISTED, ProblemList};
