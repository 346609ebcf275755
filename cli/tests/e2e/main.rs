//! The binary end to end, as a user meets it.

mod audit;
mod books;
mod compare;
mod provider;
mod report;
mod retrieval_reference;
mod run;
mod score;
mod support;
mod tree;
