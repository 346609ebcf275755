//! Each method as a transcript: what it asks of its host, word for word, and what it makes of the response.

mod agentic_rag;
mod closed_book;
mod corpus_rag;
mod cost;
mod full_document;
mod memory_agent;
mod naive_rag;
mod query_summary;
mod rag;
mod raptor;
mod read_agent;
mod styles;
mod texts;
mod together;
