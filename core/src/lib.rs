//! The core of closeread: text, passages, retrieval, methods, metrics and records.
//!
//! It does no I/O. Whatever it needs from outside it asks of a [`host::Host`]; whatever a run leaves behind is a
//! [`record`]. The same code is compiled natively for the command line and to WebAssembly for the page, and gives the
//! same numbers in both. `ARCHITECTURE.md` in the repository's root says where a line belongs.

#![forbid(unsafe_code)]

pub use closeread_books::chunk;
pub use closeread_build as build;
pub use closeread_data::scoring;
pub use closeread_embed::{self as embed, rows};
pub use closeread_eval::{answer, observations};
pub use closeread_judges as judge;
pub use closeread_llm::{price, provider};
pub use closeread_methods::{cluster, listing, protocol, work};
pub use closeread_metrics::{random, stats};
pub use closeread_prompts as prompt;
pub use closeread_report as report;
pub use closeread_retrieve::{self as index, context as retrieve};
pub use closeread_table as table;
pub use closeread_text::hash;

/// The methods of the papers.
pub mod method {
    pub use closeread_methods::*;
}

/// The one door to the world.
pub mod host {
    pub use closeread_llm::{Call, HostError, Message, Reply, Speaker, Stop, Usage};
    pub use closeread_methods::Host;
}

/// What a run leaves behind.
pub mod record {
    pub use closeread_eval::{Ledger, Outcome, PassageRef};
    pub use closeread_methods::record::*;
}

/// Readers that are no language model.
pub mod reader {
    pub use closeread_eval::reading::{Expected, ExtractiveInput, Question};
    pub use closeread_methods::reader::*;
}

/// The papers' numbers and tables.
pub mod paper {
    pub use closeread_eval::{Case, Configuration, Ending, FailurePolicy, Paper};
    pub use closeread_report::paper::*;
}

/// Numbers from answers and retrieved passages.
pub mod metric {
    pub use closeread_eval::{
        Answer, ClaimScore, Evaluator, NoWordNet, PAIR, citation_recall, default_metrics, evidence, is_chinese,
        pair_scores, score,
    };
    pub use closeread_methods::{ShownOfBooks as Shown, recorded_scores};
    pub use closeread_metrics::*;
}

/// From the bytes of a file to sentences whose place in that file is known.
pub mod text {
    pub use closeread_books::*;
    pub use closeread_text::language::{east_asian, is_han};
    pub use closeread_text::{
        Change, ChangeKind, FlowSpan, Folding, Language, Located, Locator, Span, UnknownLanguage, changes, pattern,
        python, sentence,
    };
}

/// What is asked about which texts: the public formats and one adapter per published data set.
pub mod benchmark {
    pub use closeread_data::*;
    pub use closeread_eval::rows;
    pub use closeread_eval::{
        ChunkPlace, Content, Document, Evidence, InputFile, Item, KeyFact, KeyFacts, Problem, Task,
    };
}
