//! The binary end to end, as a user meets it.

mod audit;
mod books;
mod provider;
mod retrieval_reference;
mod run;
mod support;
