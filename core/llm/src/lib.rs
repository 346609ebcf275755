//! Models on servers, as values: what is sent to them, what comes back, what went wrong, what it costs.

#![forbid(unsafe_code)]

mod chat;
pub mod constrain;
pub mod price;
pub mod provider;
pub mod reasoning;

pub use chat::{ASSUMED_RESPONSE_TOKENS, Call, FinishReason, HostError, Message, Response, ServedBy, Speaker, Usage};
