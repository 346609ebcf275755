//! A run as those see it who make tables of it.

use crate::asked::HowAsked;
use crate::books::TokenPlaces;
use crate::plan::Arm;
use closeread_eval::Item;
use closeread_judges::Judging;
use closeread_methods::record::Record;
use std::collections::BTreeMap;

/// A run as tables, charts and comparisons look at it.
#[derive(Debug, Clone, Copy)]
pub struct RunView<'a> {
    /// Name of the run, which no other run of the report has.
    pub name: &'a str,
    /// Name of the benchmark.
    pub benchmark: &'a str,
    /// Arms that were asked for, finished or not.
    pub plan: &'a [Arm],
    /// Items of the run.
    pub items: &'a [Item],
    /// Records of the run.
    pub records: &'a [Record],
    /// Number of times that each item was asked.
    pub repeats: u32,
    /// The tokens of its books by document; empty where the texts are not at hand.
    pub books: &'a BTreeMap<String, TokenPlaces>,
    /// Judging of the run.
    pub judging: &'a Judging,
    /// Settings with which the models were asked.
    pub asked: &'a HowAsked,
}
