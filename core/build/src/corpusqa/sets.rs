//! Length sets: which documents stand together (section 3, step 6).

use super::global::Row;
use crate::line::End;
use crate::stage::{Made, Unit};
use closeread_metrics::random::SplitMix64;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// A length of a set of documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Length {
    /// Label of the length, as it is written: `128K`.
    pub label: String,
    /// Most tokens of a set; `None`: all documents there are.
    pub tokens: Option<usize>,
}

/// The error of a text that is no length of a set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}`: expected a number of tokens such as 128K, 1M or 20000, or all")]
pub struct LengthError(String);

impl FromStr for Length {
    type Err = LengthError;

    /// Reads a length: `128K`, `1M`, `20000`, or `all`.
    fn from_str(text: &str) -> Result<Self, LengthError> {
        let label = text.trim().to_uppercase();
        if label == "ALL" {
            return Ok(Self { label: "all".to_owned(), tokens: None });
        }
        let (digits, unit) = match label.strip_suffix(['K', 'M']) {
            Some(digits) => (digits, if label.ends_with('K') { 1_000 } else { 1_000_000 }),
            None => (label.as_str(), 1),
        };
        let n = digits.parse::<usize>().ok().and_then(|n| n.checked_mul(unit)).filter(|n| *n > 0);
        let n = n.ok_or_else(|| LengthError(text.to_owned()))?;
        Ok(Self { label, tokens: Some(n) })
    }
}

impl TryFrom<String> for Length {
    type Error = LengthError;

    fn try_from(text: String) -> Result<Self, LengthError> {
        text.parse()
    }
}

impl From<Length> for String {
    fn from(length: Length) -> Self {
        length.label
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

/// Documents that questions are asked about together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentSet {
    /// The length it is of.
    pub length: Length,
    /// Names of the rows that the set is about.
    pub rows: Vec<String>,
    /// Ids of the documents, in the order in which they are read: by chance, so that no place in the text tells of the
    /// table.
    pub documents: Vec<String>,
    /// Tokens of all of them.
    pub tokens: usize,
}

/// The names and documents that a set is drawn from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Draw {
    length: Length,
    seed: u64,
    /// Names of rows, each with its documents.
    rows: Vec<(String, Vec<String>)>,
    /// Tokens of each document.
    tokens: BTreeMap<String, usize>,
}

/// Makes one unit a length and copy; of all documents there is one set, whose copies would be asked the same again.
pub(super) fn draws(
    rows: &[Row],
    tokens: &BTreeMap<String, usize>,
    lengths: &[Length],
    copies: usize,
    seed: u64,
) -> Vec<Unit<Draw>> {
    let copies_of = |length: &Length| if length.tokens.is_some() { copies } else { 1 };
    let of = |length: &Length, copy: usize| {
        let rows = rows.iter().map(|row| (row.name.clone(), row.documents.clone())).collect();
        let id = if copies_of(length) == 1 { length.label.clone() } else { format!("{}-{}", length.label, copy + 1) };
        let seed = super::seed::seeded(seed, &id);
        Unit { id, input: Draw { length: length.clone(), seed, rows, tokens: tokens.clone() } }
    };
    let places = lengths.iter().flat_map(|length| (0..copies_of(length)).map(move |copy| (length, copy)));
    places.map(|(length, copy)| of(length, copy)).collect()
}

/// Draws rows until no further one fits. A set that fills less than `fill` percent of its length is dropped.
pub(super) fn drawn(draw: &Draw, fill: u8) -> Made<DocumentSet> {
    let mut random = SplitMix64(draw.seed);
    let mut order: Vec<&(String, Vec<String>)> = draw.rows.iter().collect();
    random.shuffle(&mut order);
    let limit = draw.length.tokens.unwrap_or(usize::MAX);
    let (mut chosen, mut documents, mut total) = (BTreeSet::new(), BTreeSet::new(), 0_usize);
    for (name, own) in order {
        let new: Vec<&String> = own.iter().filter(|document| !documents.contains(*document)).collect();
        let more: usize = new.iter().map(|document| draw.tokens.get(*document).copied().unwrap_or(0)).sum();
        if total + more <= limit {
            total += more;
            documents.extend(new.into_iter().cloned());
            chosen.insert(name.as_str());
        }
    }
    let rows: Vec<String> =
        draw.rows.iter().map(|(name, _)| name.clone()).filter(|name| chosen.contains(name.as_str())).collect();
    let mut documents: Vec<String> = documents.into_iter().collect();
    random.shuffle(&mut documents);
    let least = draw.length.tokens.map_or(0, |tokens| tokens / 100 * usize::from(fill));
    Made::of(if rows.len() < 2 || total < least {
        let detail = format!("{} documents with {total} tokens, of at least {least}", documents.len());
        End::dropped("too few documents", detail)
    } else {
        End::Kept { value: DocumentSet { length: draw.length.clone(), rows, documents, tokens: total } }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(n: usize) -> (Vec<Row>, BTreeMap<String, usize>) {
        let row = |at: usize| Row {
            name: format!("r{at}"),
            cells: Vec::new(),
            documents: vec![format!("d{at}"), "shared".to_owned()],
            conflicts: Vec::new(),
        };
        let mut tokens: BTreeMap<String, usize> = (0..n).map(|at| (format!("d{at}"), 900 + 37 * at)).collect();
        tokens.insert("shared".to_owned(), 100);
        ((0..n).map(row).collect(), tokens)
    }

    #[test]
    fn lengths_are_read_as_the_paper_writes_them() {
        assert_eq!("128k".parse::<Length>().unwrap().tokens, Some(128_000));
        assert_eq!("10M".parse::<Length>().unwrap().tokens, Some(10_000_000));
        assert_eq!("all".parse::<Length>().unwrap().tokens, None);
        assert!("0".parse::<Length>().is_err() && "1G".parse::<Length>().unwrap_err().to_string().contains("128K"));
    }

    #[test]
    fn a_set_that_cannot_be_filled_is_dropped() {
        let (rows, tokens) = rows(5);
        let unit = &draws(&rows, &tokens, &["1M".parse().unwrap()], 1, 1)[0];
        assert!(matches!(&drawn(&unit.input, 90).end, End::Dropped { reason, .. } if reason == "too few documents"));
        let all = &draws(&rows, &tokens, &["all".parse().unwrap()], 1, 1)[0];
        let End::Kept { value } = drawn(&all.input, 90).end else { panic!("all are taken") };
        assert_eq!((value.rows.len(), value.documents.len()), (5, 6), "a document that two rows share is there once");
        let lengths = ["all", "4K"].map(|length| length.parse().unwrap());
        let several = draws(&rows, &tokens, &lengths, 2, 1);
        assert_eq!(several.iter().map(|unit| &*unit.id).collect::<Vec<_>>(), ["all", "4K-1", "4K-2"]);
    }

    proptest! {
        #[test]
        fn a_set_is_within_its_length_and_the_seeds(n in 4usize..40, limit in 4_000usize..30_000, seed: u64) {
            let (rows, tokens) = rows(n);
            let draw = || draws(&rows, &tokens, &[limit.to_string().parse().unwrap()], 2, seed);
            prop_assert_eq!(draw(), draw());
            for unit in draw() {
                if let End::Kept { value } = drawn(&unit.input, 0).end {
                    let sum: usize = value.documents.iter().map(|document| tokens[document]).sum();
                    prop_assert_eq!((value.tokens, sum <= limit), (sum, true));
                    prop_assert_eq!(value.documents.len(), value.rows.len() + 1);
                }
            }
        }
    }
}
