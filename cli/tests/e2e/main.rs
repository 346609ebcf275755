//! The binary end to end, as a user meets it.

mod agents;
mod audit;
mod benchmark;
mod books;
mod compare;
mod corpus;
mod crashes;
mod disk;
mod estimate;
mod extend;
mod fault_server;
mod faults;
mod judge;
mod limits;
mod llmock;
mod methods_saga;
mod provider;
mod real_server;
mod report;
mod retrieval_reference;
mod run;
mod score;
mod secret;
mod support;
mod tree;
mod verify;
