//! The binary end to end, as a user meets it.

mod agents;
mod audit;
mod batch;
mod benchmark;
mod books;
mod compare;
mod corpus;
mod embeddings;
mod estimate;
mod http;
mod judge;
mod limits;
mod methods_saga;
mod provider;
mod real_embeddings;
mod real_server;
mod report;
mod retrieval_reference;
mod run;
mod score;
mod support;
mod tree;
mod verify;
