//! The binary end to end, as a user meets it.

mod books;
mod provider;
mod retrieval_reference;
mod run;
mod score;
mod support;
