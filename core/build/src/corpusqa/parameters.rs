//! The parameters of the pipeline, with the paper's values where it gives them.

use super::sets::Length;
use serde::{Deserialize, Serialize};

/// Parameters of the pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CorpusQa {
    /// Minimum tokens of a document: 10,240 in the paper.
    pub least_tokens: usize,
    /// Fewest numbers in 1,000 tokens; the paper asks for documents rich in numbers and names no measure.
    pub least_density: f64,
    /// Minimum table lines in a document; here, too, the paper names no measure.
    pub least_table_rows: usize,
    /// Number of times that each model reads each document: "several" in the paper.
    pub queries: usize,
    /// A field that the clear majority does not find stays empty, and a cell of a ready table may be. In the paper the
    /// document is dropped.
    pub allow_missing: bool,
    /// The lengths of the sets: 128K, 1M, 4M and 10M in the paper.
    pub lengths: Vec<Length>,
    /// Number of sets of each length.
    pub copies: usize,
    /// Minimum share of a set's length to fill, in percent; the sets of the paper's Table 2 fill 72, 91, 93 and 78.
    pub fill: u8,
    /// Number of questions on each set.
    pub per_set: usize,
    /// Minimum share of the set's documents that enter an answer, in percent.
    pub dispersion: u8,
    /// Most names that an answer may have.
    pub longest_list: usize,
    /// Maximum share of a set's questions whose answer is an empty list or zero, in percent; `None`: no limit, as in
    /// the paper.
    pub most_empty: Option<u8>,
    /// The beginning of the items' ids, such as `financial_en`.
    pub domain: String,
    /// Seed that decides what is drawn.
    pub seed: u64,
}

impl Default for CorpusQa {
    fn default() -> Self {
        let length = |label: &str, tokens| Length { label: label.to_owned(), tokens: Some(tokens) };
        Self {
            least_tokens: 10_240,
            least_density: 5.0,
            least_table_rows: 1,
            queries: 2,
            allow_missing: false,
            lengths: vec![
                length("128K", 128_000),
                length("1M", 1_000_000),
                length("4M", 4_000_000),
                length("10M", 10_000_000),
            ],
            copies: 1,
            fill: 70,
            per_set: 24,
            dispersion: 0,
            longest_list: 100,
            most_empty: None,
            domain: "corpus".to_owned(),
            seed: 1,
        }
    }
}
