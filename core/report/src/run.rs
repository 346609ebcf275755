//! A run folder, read.

use super::{Arm, HowAsked, RunView, TokenPlaces};
use closeread_data::statistics::BookFacts;
use closeread_eval::Item;
use closeread_judges::Judging;
use closeread_llm::price::PriceList;
use closeread_methods::record::{CallTrace, Record};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A run folder, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its name, which no other run of the report has.
    pub name: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// What was asked for, in the order of the table, finished or not.
    pub plan: Vec<Arm>,
    /// Its items.
    pub items: Vec<Item>,
    /// Its records.
    pub records: Vec<Record>,
    /// How often each item was asked.
    pub repeats: u32,
    /// The tokens of its books by document; empty where the texts are not at hand.
    pub books: BTreeMap<String, TokenPlaces>,
    /// The same books as the papers' tables on data have them.
    pub data: Vec<BookFacts>,
    /// How its models were asked.
    pub asked: HowAsked,
    /// What judges said of it; its verdicts are among the scores of the records already.
    pub judging: Judging,
    /// What its numbers rest on, name and value: retriever, tokenizer, version.
    pub facts: Vec<(String, String)>,
    /// What methods asked before the questions.
    pub preparations: Vec<PreparationCalls>,
    /// The prices of its models that its money is counted by.
    pub prices: PriceList,
    /// What of its folder is damaged or missing, a sentence each; see [`Run::lacks`].
    pub gaps: Vec<String>,
}

impl Run {
    /// The run as tables look at it.
    pub fn view(&self) -> RunView<'_> {
        let Self { name, benchmark, plan, items, records, repeats, books, judging, asked, .. } = self;
        RunView { name, benchmark, plan, items, records, repeats: *repeats, books, judging, asked }
    }
}

/// The calls of a preparation: what a method asked about books before the questions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PreparationCalls {
    /// Name of the method.
    pub method: String,
    /// Reader, `provider/model`.
    pub model: String,
    /// The calls.
    pub calls: Vec<CallTrace>,
}
