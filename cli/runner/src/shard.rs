//! Shards: parts of a run that is spread over machines.

mod engine;
mod number;

pub use number::Shard;

use anyhow::{Result, bail};
use closeread_eval::Item;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Most parts of a run, which its manifest is held to when it is read.
const MAX_PARTS: usize = 1_000_000;

/// The places of a part's items and books among all of the run, from 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// Places of its items, in their order.
    pub items: Vec<usize>,
    /// Places of its books, in their order.
    pub documents: Vec<usize>,
}

impl Shard {
    /// Reads `I/N`; `auto` takes both from the engine's variables, `auto/N` the part alone.
    ///
    /// # Errors
    /// If the text is neither, or if the environment does not settle which part this is.
    pub fn read(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let parts = |of: &str| of.parse::<usize>().ok().filter(|of| (1..=MAX_PARTS).contains(of));
        let part = match text.split_once('/') {
            None if text == "auto" => return engine::part(None, variable),
            Some(("auto", of)) => parts(of).map(|of| engine::part(Some(of), variable)),
            Some((index, of)) => parts(of)
                .zip(index.parse().ok())
                .filter(|(of, index)| (1..=*of).contains(index))
                .map(|(of, index)| Ok(Self { index, of })),
            None => None,
        };
        part.unwrap_or_else(|| {
            bail!("--shard: expected I/N with I from 1 to N, auto (in an array job), or auto/N; found `{text}`")
        })
    }

    /// Returns the places of this part's items among all, in their order: whole books where there are as many books as
    /// parts, so that a book is read and embedded in one place, else single items.
    pub fn places(self, items: &[Item]) -> Vec<usize> {
        let mut sizes: Vec<(&[String], usize)> = Vec::new();
        let mut place: HashMap<&[String], usize> = HashMap::new();
        for item in items {
            let idx = *place.entry(&item.documents).or_insert_with(|| {
                sizes.push((&item.documents, 0));
                sizes.len() - 1
            });
            sizes[idx].1 += 1;
        }
        if sizes.len() < self.of {
            return (self.index - 1..items.len()).step_by(self.of).collect();
        }
        // The part with the fewest items so far, of several the first.
        let mut loads: BinaryHeap<Reverse<(usize, usize)>> = (0..self.of).map(|part| Reverse((0, part))).collect();
        let mut is_ours = Vec::with_capacity(sizes.len());
        for (_, n_items) in sizes {
            let Reverse((load, lightest)) = loads.pop().expect("there is a part");
            loads.push(Reverse((load + n_items, lightest)));
            is_ours.push(lightest + 1 == self.index);
        }
        (0..items.len()).filter(|at| is_ours[place[items[*at].documents.as_slice()]]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::Task;
    use std::collections::HashSet;

    fn read(text: &str, variables: &[(&str, &str)]) -> Result<Shard> {
        let find = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        Shard::read(text, find)
    }

    #[test]
    fn the_part_is_given_or_found() {
        assert_eq!(read("2/8", &[]).unwrap(), Shard { index: 2, of: 8 });
        assert_eq!(read("auto/4", &[("JOB_COMPLETION_INDEX", "0")]).unwrap(), Shard { index: 1, of: 4 });
        for wrong in ["0/2", "3/2", "2", "a/b", "auto/0", "auto/x", "1/0", "1/1000001", ""] {
            assert!(read(wrong, &[]).unwrap_err().to_string().contains("expected I/N"), "{wrong}");
        }
    }

    #[test]
    fn the_parts_are_the_whole_and_share_nothing() {
        let items = |n_books: usize| -> Vec<Item> {
            (0..20).map(|i| Item::new(format!("q{i}"), format!("b{}", i % n_books), "?", Task::Choice)).collect()
        };
        for (n_books, of) in [(7, 3), (1, 4), (20, 20), (2, 30)] {
            let parts = (1..=of).flat_map(|index| Shard { index, of }.places(&items(n_books)));
            let mut placed: Vec<usize> = parts.collect();
            placed.sort_unstable();
            assert_eq!(placed, (0..20).collect::<Vec<_>>(), "{n_books} books, {of} parts");
        }
        let items = items(5);
        let books = |part: &[usize]| part.iter().map(|at| &items[*at].documents[0]).collect::<HashSet<_>>();
        let [a, b] = [1, 2].map(|index| Shard { index, of: 2 }.places(&items));
        assert!(books(&a).is_disjoint(&books(&b)), "a book is in one part");
    }
}
