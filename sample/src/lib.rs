//! The sample benchmark: its files, as they lie in the package.

#![no_std]
#![forbid(unsafe_code)]

/// Stories and questions, by name: what a folder with `documents.jsonl` and `items.jsonl` holds.
pub static FILES: [(&str, &[u8]); 4] = [
    ("documents.jsonl", include_bytes!("../documents.jsonl")),
    ("items.jsonl", include_bytes!("../items.jsonl")),
    ("the-loan-of-the-bell.txt", include_bytes!("../the-loan-of-the-bell.txt")),
    ("shedu-bu.txt", include_bytes!("../shedu-bu.txt")),
];

/// `key_facts.jsonl`: more items of the same documents, summaries that only a judge can score.
pub static KEY_FACTS: &[u8] = include_bytes!("../key_facts.jsonl");

/// The Chinese story.
pub static SHEDU_BU: &str = include_str!("../shedu-bu.txt");
