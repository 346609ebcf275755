//! The binary end to end, as a user meets it.

mod agents;
mod audit;
mod books;
mod compare;
mod corpus;
mod estimate;
mod judge;
mod limits;
mod methods_saga;
mod provider;
mod report;
mod retrieval_reference;
mod run;
mod score;
mod support;
mod verify;
