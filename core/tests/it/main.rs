//! Tests of core from outside, in one binary.

mod answer_laws;
mod benchmark_jsonl;
mod benchmark_shared;
mod build;
mod chunk_laws;
mod judge;
mod method;
mod metric_laws;
mod published_formats;
mod sample;
mod sentences;
mod support;
mod text_decode;
mod text_epub;
mod text_flow;
mod text_frame;
mod tokens;
