//! Parts of a run.

use anyhow::{Result, bail};
use closeread_eval::Item;
use closeread_methods::{AnyMethod, Entry};
use closeread_runner::shard::Shard;
use std::collections::HashSet;

/// Refuses to split a book where a method asks all of its questions in one call: each part would pay for the book, and send
/// other prompts than the whole run.
pub(crate) fn check_whole_books(shard: Shard, items: &[Item], methods: &[(&Entry, AnyMethod)]) -> Result<()> {
    let n_books = items.iter().map(|item| &item.documents).collect::<HashSet<_>>().len();
    let together = methods.iter().find(|(_, method)| method.asks_together());
    let is_split = n_books < shard.of && n_books < items.len();
    match together.filter(|_| is_split) {
        None => Ok(()),
        Some((entry, _)) => bail!(
            "--shard {shard}: {} asks all questions on a book in one call, so parts are whole books, of which there are {n_books}: \
             make no more parts, or give --param {}.together=false",
            entry.name,
            entry.name
        ),
    }
}
