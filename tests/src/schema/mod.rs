//! Runners of the vector schemas, one file each: they read cases, call the core and compare the results.

mod compare;
mod kind;
mod memagent;
mod meteor_resources;
mod observations;
mod paper_tables;
mod parse_corpusqa;
mod parse_infinitebench;
mod passages;
mod raters;
mod readagent;
mod rerank;
mod retrieval;
pub(crate) mod scorecard;
mod sentences_en;
mod sentences_zh;
mod statistics;
mod text_corpus;
mod text_metrics;
mod text_metrics_meteor;
mod token_counts;
mod tokenizer;

pub(crate) use kind::Schema;

/// Every schema that has code.
pub(crate) const SCHEMAS: &[Schema] = &[
    memagent::SCHEMA,
    meteor_resources::SCHEMA,
    observations::SCHEMA,
    paper_tables::SCHEMA,
    parse_corpusqa::SCHEMA,
    parse_infinitebench::SCHEMA,
    passages::SCHEMA,
    raters::SCHEMA,
    readagent::SCHEMA,
    rerank::SCHEMA,
    retrieval::SCHEMA,
    scorecard::SCHEMA,
    sentences_en::SCHEMA,
    sentences_zh::SCHEMA,
    statistics::SCHEMA,
    text_corpus::SCHEMA,
    text_metrics::SCHEMA,
    token_counts::SCHEMA,
];
