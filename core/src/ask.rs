//! Methods, the host that they ask, and what they leave behind.

pub use closeread_eval::reading::{Expected, ExtractiveInput, Parsed};
pub use closeread_eval::{Evidence, Item, Outcome, PassageRef, Task};
pub use closeread_llm::price::{Dollars, PriceList};
pub use closeread_llm::provider;
pub use closeread_llm::{Call, FinishReason, HostError, Message, Response, ServedBy, Speaker, Usage};
pub use closeread_methods::cost::{Calls, Cost, Sizes};
pub use closeread_methods::protocol::{PROTOCOLS, Protocol};
pub use closeread_methods::reader::{EXTRACTIVE, answer as extractive};
pub use closeread_methods::record::{CallTrace, Context, Record, TrialKey};
pub use closeread_methods::work::{Job, Workers};
pub use closeread_methods::{
    AgenticRag, Answer, AnyMethod, AnyPrepared, ClosedBook, Entry, FullDocument, Host, METHODS, MemoryAgent, Method,
    MethodError, ParameterError, Preparation, PreparationInputs, Preset, PromptStyle, QuerySummary, Questions, Rag,
    Raptor, ReadAgent, Session, Settings, Stop, Trial, View, prepare, run,
};
pub use closeread_prompts::{Prompt, PromptError, Prompts, ReaderPrompt};
