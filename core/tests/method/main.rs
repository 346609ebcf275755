//! Each method as a transcript: what it asks of its host, word for word, and what it makes of the reply.

mod agentic_rag;
mod closed_book;
mod dress;
mod full_document;
mod naive_rag;
mod rag;
mod support;
mod together;
