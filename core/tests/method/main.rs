//! Each method as a transcript: what it asks of its host, word for word, and what it makes of the reply.

mod closed_book;
mod full_document;
mod rag;
mod raptor;
mod support;
