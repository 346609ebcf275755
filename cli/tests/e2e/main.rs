//! The binary end to end, as a user meets it.

mod agents;
mod batch;
mod batch_ends;
mod batch_found;
mod batch_server;
mod benchmark;
mod books;
mod build;
mod build_corpusqa;
mod build_corpusqa_data;
mod build_corpusqa_refused;
mod build_killed;
mod build_model;
mod build_options;
mod build_sagascale;
mod catalog;
mod compare;
mod contact;
mod corpus;
mod corpus_truth;
mod crashes;
mod cuts;
mod data_stats;
mod disk;
mod eight_bit;
mod embeddings;
mod estimate;
mod export;
mod export_platforms;
mod extend;
mod fault_server;
mod faults;
mod findings;
mod findings_files;
mod findings_limits;
#[cfg(unix)]
mod findings_others;
mod findings_own;
mod foreign;
mod format;
mod gate;
#[cfg(feature = "gpu")]
mod gpu;
mod http;
mod index;
mod judge;
mod judge_limits;
mod leaderboard;
mod limits;
mod llmock;
mod log;
mod methods_saga;
mod moto;
mod nginx;
mod novel_articles;
mod paper;
mod people;
mod promises;
mod protocol;
mod provider;
mod proxies;
mod python;
mod real_builds;
mod real_embeddings;
mod real_server;
mod report;
mod rerank;
mod retrieval_reference;
mod retrieve;
mod run;
mod run_options;
mod schemas;
mod score;
mod secret;
mod serve;
mod served_costs;
mod sixteen;
#[cfg(all(unix, feature = "object-stores"))]
mod store_server;
#[cfg(all(unix, feature = "object-stores"))]
mod stores;
#[cfg(all(unix, feature = "object-stores"))]
mod stores_faults;
#[cfg(all(unix, feature = "object-stores"))]
mod stores_money;
#[cfg(unix)]
mod submit;
#[cfg(unix)]
mod submit_again;
#[cfg(unix)]
mod submit_places;
mod support;
mod texts;
mod tree;
mod verify;
