//! Selection of the benchmark's items to ask: those with given labels, and a sample of them.

use crate::Item;
use closeread_text::hash::sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// One value of a label, `LABEL=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Where {
    /// Name of the label.
    pub label: String,
    /// Value of the label.
    pub value: String,
}

/// A sample of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// Number of items to draw.
    pub n: usize,
    /// The label whose values are drawn from in proportion; without one all items are one stratum.
    pub by: Option<String>,
    /// Seed of the random draw.
    pub seed: u64,
}

/// The reason why items cannot be selected so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// A text is not of the form `LABEL=VALUE`.
    #[error("`{0}`: expected LABEL=VALUE, such as set=test")]
    NoPair(String),
    /// No item has the label.
    #[error("no item has a label `{label}`; {known}")]
    NoLabel {
        /// The label.
        label: String,
        /// What the message says of the labels that items have.
        known: String,
    },
    /// No item has this value of the label.
    #[error("no item has {asked}; `{}` is one of: {known}", asked.label)]
    NoValue {
        /// Label and value that were asked for.
        asked: Where,
        /// Values that items have, for the message.
        known: String,
    },
    /// More items are to be drawn than there are.
    #[error("{n} items are to be drawn, and there are {of}")]
    TooFew {
        /// Number of items that were asked for.
        n: usize,
        /// Number of items that there are.
        of: usize,
    },
}

impl FromStr for Where {
    type Err = SelectError;

    fn from_str(text: &str) -> Result<Self, SelectError> {
        match text.split_once('=') {
            Some((label, value)) if !label.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Self { label: label.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err(SelectError::NoPair(text.to_owned())),
        }
    }
}

impl Where {
    /// True of an item with this value of the label.
    pub fn holds(&self, item: &Item) -> bool {
        item.labels.get(&self.label).is_some_and(|value| *value == self.value)
    }

    /// Reads the same text with a label that items have: its name may hold `=`.
    fn among(&self, items: &[Item]) -> Self {
        let text = self.to_string();
        let cut = |(at, _): (usize, &str)| Self {
            label: text[..at].trim().to_owned(),
            value: text[at + 1..].trim().to_owned(),
        };
        let is_known = |asked: &Self| items.iter().any(|item| item.labels.contains_key(&asked.label));
        text.match_indices('=').map(cut).find(is_known).unwrap_or_else(|| self.clone())
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.label, self.value)
    }
}

/// Leaves the items that have one of the given values of each label that is given.
///
/// # Errors
/// [`SelectError::NoLabel`] and [`SelectError::NoValue`] for what no item has.
pub fn keep_where(items: &mut Vec<Item>, wanted: &[Where]) -> Result<(), SelectError> {
    let wanted: Vec<Where> = wanted.iter().map(|asked| asked.among(items)).collect();
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for asked in &wanted {
        let known: BTreeSet<&str> =
            items.iter().filter_map(|item| item.labels.get(&asked.label)).map(String::as_str).collect();
        if known.is_empty() {
            return Err(no_label(items, &asked.label));
        }
        if !known.contains(asked.value.as_str()) {
            return Err(SelectError::NoValue { asked: asked.clone(), known: joined(known) });
        }
        values.entry(&asked.label).or_default().insert(&asked.value);
    }
    let has = |item: &Item, label: &str, values: &BTreeSet<&str>| {
        item.labels.get(label).is_some_and(|value| values.contains(value.as_str()))
    };
    items.retain(|item| values.iter().all(|(label, values)| has(item, label, values)));
    Ok(())
}

impl Draw {
    /// Leaves a sample of the items, in their order: of each value of the label as many as its share of all, remainders to the
    /// largest; items without the label are a stratum of their own.
    ///
    /// Who is drawn depends on the seed and the items' ids alone, not on their order, and the same everywhere.
    ///
    /// # Errors
    /// [`SelectError::TooFew`], and [`SelectError::NoLabel`] if no item has the label.
    pub fn sample(&self, items: &mut Vec<Item>) -> Result<(), SelectError> {
        if self.n > items.len() {
            return Err(SelectError::TooFew { n: self.n, of: items.len() });
        }
        if let Some(label) = self.by.as_ref().filter(|label| !items.iter().any(|item| item.labels.contains_key(*label)))
        {
            return Err(no_label(items, label));
        }
        let mut strata: BTreeMap<Option<&str>, Vec<(String, &str)>> = BTreeMap::new();
        for item in items.iter() {
            let value = self.by.as_ref().and_then(|label| item.labels.get(label)).map(String::as_str);
            let lot = sha256(format!("{} {}", self.seed, item.id).as_bytes());
            strata.entry(value).or_default().push((lot, &item.id));
        }
        let sizes: Vec<usize> = strata.values().map(Vec::len).collect();
        let mut drawn: BTreeSet<String> = BTreeSet::new();
        for (mut lots, n) in strata.into_values().zip(largest_remainder(self.n, &sizes)) {
            lots.sort_unstable();
            drawn.extend(lots.into_iter().take(n).map(|(_, id)| id.to_owned()));
        }
        items.retain(|item| drawn.contains(&item.id));
        Ok(())
    }
}

/// `n` shared out in proportion to `sizes`, whose sum is at least `n`; ties go to the earlier one.
fn largest_remainder(n: usize, sizes: &[usize]) -> Vec<usize> {
    let total = sizes.iter().sum::<usize>().max(1) as u128;
    let exact = |size: usize| n as u128 * size as u128;
    let mut shares: Vec<usize> = sizes.iter().map(|&size| (exact(size) / total) as usize).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&idx| std::cmp::Reverse(exact(sizes[idx]) % total));
    let missing = n - shares.iter().sum::<usize>();
    for &idx in order.iter().take(missing) {
        shares[idx] += 1;
    }
    shares
}

fn no_label(items: &[Item], label: &str) -> SelectError {
    let known: BTreeSet<&str> = items.iter().flat_map(|item| item.labels.keys()).map(String::as_str).collect();
    let known = match known.is_empty() {
        true => "items here have no labels".to_owned(),
        false => format!("expected one of: {}", joined(known)),
    };
    SelectError::NoLabel { label: label.to_owned(), known }
}

/// Names one after the other, of many the first.
fn joined(names: BTreeSet<&str>) -> String {
    const NAMED: usize = 20;
    let more = if names.len() > NAMED { ", ..." } else { "" };
    names.into_iter().take(NAMED).collect::<Vec<_>>().join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;
    use proptest::prelude::*;

    fn items(aspects: &[&str]) -> Vec<Item> {
        let item = |(n, aspect): (usize, &&str)| {
            Item::new(format!("q{n}"), "book", "?", Task::Generative).label("aspect", aspect).label("set", "test")
        };
        aspects.iter().enumerate().map(item).collect()
    }

    fn ids(items: &[Item]) -> Vec<&str> {
        items.iter().map(|item| item.id.as_str()).collect()
    }

    fn drawn(items: &[Item], n: usize, seed: u64) -> Vec<Item> {
        let mut drawn = items.to_vec();
        Draw { n, by: Some("aspect".to_owned()), seed }.sample(&mut drawn).unwrap();
        drawn
    }

    proptest! {
        #[test]
        fn a_draw_has_its_size_the_shares_of_the_whole_and_no_item_twice(
            aspects in proptest::collection::vec(prop_oneof![Just("a"), Just("b"), Just("c"), Just("")], 1..60),
            share in 0.0..=1.0_f64,
            seed in 0..9_u64,
        ) {
            let all = items(&aspects);
            prop_assume!(aspects.iter().any(|aspect| !aspect.is_empty()));
            let n = (share * all.len() as f64) as usize;
            let sample = drawn(&all, n, seed);
            prop_assert_eq!(sample.len(), n);
            let unique: BTreeSet<&str> = ids(&sample).into_iter().collect();
            prop_assert_eq!(unique.len(), n);
            prop_assert!(ids(&sample).is_sorted_by_key(|id| id[1..].parse::<usize>().unwrap()), "their order stays");
            for value in ["a", "b", "c", ""] {
                let of = |items: &[Item]| items.iter().filter(|i| i.labels.get("aspect").map_or("", |v| v) == value).count();
                let quota = of(&all) as f64 * n as f64 / all.len() as f64;
                prop_assert!((of(&sample) as f64 - quota).abs() < 1.0, "{} of {quota}", of(&sample));
            }
            let mut turned = all.clone();
            turned.reverse();
            let again: BTreeSet<String> = drawn(&turned, n, seed).into_iter().map(|item| item.id).collect();
            prop_assert_eq!(again, unique.into_iter().map(str::to_owned).collect::<BTreeSet<_>>());
        }
    }

    #[test]
    fn another_seed_draws_others_and_the_same_the_same() {
        let all = items(&["a"; 40]);
        assert_eq!(ids(&drawn(&all, 10, 7)), ids(&drawn(&all, 10, 7)));
        assert_ne!(ids(&drawn(&all, 10, 7)), ids(&drawn(&all, 10, 8)));
        assert_eq!(largest_remainder(5, &[3, 3, 3]), [2, 2, 1], "ties go to the earlier one");
    }

    #[test]
    fn values_of_one_label_add_up_and_labels_narrow() {
        let kept = |wanted: &[&str]| {
            let mut all = items(&["a", "b", "c", ""]);
            let wanted: Vec<Where> = wanted.iter().map(|text| text.parse().unwrap()).collect();
            keep_where(&mut all, &wanted).map(|()| all.into_iter().map(|item| item.id).collect::<Vec<_>>())
        };
        assert_eq!(kept(&["aspect=a", "aspect=c", "set=test"]).unwrap(), ["q0", "q2"]);
        assert_eq!(kept(&[]).unwrap().len(), 4);
        let mut all = vec![items(&["a"]).remove(0).label("size=words", "x=1"), items(&["a"]).remove(0)];
        keep_where(&mut all, &["size=words=x=1".parse().unwrap()]).unwrap();
        assert_eq!(all.len(), 1, "a label or a value may hold the sign itself");
        let said = |wanted: &str| kept(&[wanted]).unwrap_err().to_string();
        assert_eq!(said("aspect=d"), "no item has aspect=d; `aspect` is one of: a, b, c");
        assert_eq!(said("kind=a"), "no item has a label `kind`; expected one of: aspect, set");
        assert_eq!(no_label(&[], "kind").to_string(), "no item has a label `kind`; items here have no labels");
        for text in ["set", "=test", "set="] {
            assert!(text.parse::<Where>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let draw = |n, by: &str| Draw { n, by: Some(by.to_owned()), seed: 0 }.sample(&mut items(&["a", "b"]));
        assert_eq!(draw(3, "aspect"), Err(SelectError::TooFew { n: 3, of: 2 }));
        assert!(matches!(draw(1, "kind"), Err(SelectError::NoLabel { .. })));
    }
}
