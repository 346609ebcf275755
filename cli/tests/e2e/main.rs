//! The binary end to end, as a user meets it.

mod audit;
mod books;
mod compare;
mod judge;
mod methods_saga;
mod provider;
mod report;
mod retrieval_reference;
mod run;
mod score;
mod support;
