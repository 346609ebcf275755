//! Truncation: responses cut at their limit of tokens, and prompts that a server shortened without saying so.
//!
//! No server says that it cut a prompt. What it counted beside what we counted tells, over all calls of a run:
//! tokenizers differ by a factor that is much the same for one model in one language.

use crate::observations::Marks;
use closeread_text::Language;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::AddAssign;

/// Share of what its model counts elsewhere for as long a prompt in that language, below which a prompt was cut.
const LEAST_SHARE: f64 = 0.8;
/// Least tokens of a prompt that is judged. Shorter ones say little: what a server puts around them weighs too much.
const LEAST_TOKENS: u64 = 500;
/// Number of prompts of different lengths that, served as one and the same number of tokens, count as cut to it.
const ALIKE: usize = 5;
/// Factor by which one length exceeds another if they differ; by less, tokenizers differ.
const FURTHER: f64 = 1.05;
/// Share of the calls of a cell from which on what was cut is worth a warning.
const WORTH_A_WARNING: f64 = 0.01;

/// The prompt of one call as both sides counted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedPrompt<'a> {
    /// Name of the model that was asked.
    pub model: &'a str,
    /// Language of the text.
    pub language: Language,
    /// Tokens by the run's tokenizer.
    pub counted: u64,
    /// Tokens by the server; `None` where it said nothing.
    pub served: Option<u64>,
}

/// How much of a prompt arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// The whole prompt, as far as anyone can tell.
    Whole,
    /// The server seems to have cut the prompt.
    Cut,
    /// The server did not count the prompt.
    NotKnown,
}

/// Returns how much of each prompt arrived, judged over all of them.
///
/// One of 500 tokens or more was cut if the server counted less than 0.8 of what it counts at the median, in proportion
/// to our count, for prompts to that model in that language; or if it is one of five, of which no two are within 5% of
/// each other by our count, that the server of the model counted alike.
pub fn arrived(prompts: &[CountedPrompt<'_>]) -> Vec<Arrived> {
    let long = |prompt: &CountedPrompt<'_>| prompt.served.filter(|_| prompt.counted >= LEAST_TOKENS);
    let mut ratios: HashMap<(&str, Language), Vec<f64>> = HashMap::new();
    let mut alike: HashMap<(&str, u64), Vec<u64>> = HashMap::new();
    for prompt in prompts {
        if let Some(served) = long(prompt) {
            ratios.entry((prompt.model, prompt.language)).or_default().push(served as f64 / prompt.counted as f64);
            alike.entry((prompt.model, served)).or_default().push(prompt.counted);
        }
    }
    let medians: HashMap<_, f64> = ratios.into_iter().map(|(key, ratios)| (key, median(ratios))).collect();
    alike.retain(|_, counts| n_apart(counts) >= ALIKE);
    let of = |prompt: &CountedPrompt<'_>| match (prompt.served, long(prompt)) {
        (None, _) => Arrived::NotKnown,
        (Some(_), None) => Arrived::Whole,
        (_, Some(served)) => {
            let share = served as f64 / prompt.counted as f64 / medians[&(prompt.model, prompt.language)];
            let is_cut = share < LEAST_SHARE || alike.contains_key(&(prompt.model, served));
            if is_cut { Arrived::Cut } else { Arrived::Whole }
        }
    };
    prompts.iter().map(of).collect()
}

/// Returns how many of the counts there are of which no two differ by less than 5%.
fn n_apart(counts: &mut [u64]) -> usize {
    counts.sort_unstable();
    let mut last = None;
    let mut is_further = |count: u64| {
        let further = last.is_none_or(|last: u64| count as f64 > last as f64 * FURTHER);
        if further {
            last = Some(count);
        }
        further
    };
    counts.iter().filter(|&&count| is_further(count)).count()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) { f64::midpoint(values[middle - 1], values[middle]) } else { values[middle] }
}

/// Number of calls, and of calls in which something was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cuts {
    /// Number of all calls.
    pub calls: usize,
    /// Responses that ended at their limit of tokens.
    pub cut_short: usize,
    /// Prompts that the server seems to have cut.
    pub server_truncated: usize,
    /// Prompts that the server did not count, so that nobody knows.
    pub not_known: usize,
}

impl Cuts {
    /// True where more than 1% of the responses ended at their limit.
    pub fn warns_of_responses(&self) -> bool {
        self.cut_short as f64 > self.calls as f64 * WORTH_A_WARNING
    }

    /// True where more than 1% of the prompts that the server counted seem to have been cut.
    pub fn warns_of_prompts(&self) -> bool {
        self.server_truncated as f64 > self.calls.saturating_sub(self.not_known) as f64 * WORTH_A_WARNING
    }
}

impl AddAssign for Cuts {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.cut_short += other.cut_short;
        self.server_truncated += other.server_truncated;
        self.not_known += other.not_known;
    }
}

impl From<Cuts> for Marks {
    fn from(cuts: Cuts) -> Self {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { cut_short: count(cuts.cut_short), server_truncated: count(cuts.server_truncated) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(model: &'static str, language: &str, counted: u64, served: u64) -> CountedPrompt<'static> {
        CountedPrompt { model, language: language.parse().unwrap(), counted, served: Some(served) }
    }

    #[test]
    fn a_prompt_is_held_against_its_model_in_its_language() {
        let mut prompts: Vec<_> = (0..9).map(|n| prompt("a", "en", 1000 + n, 1100 + n)).collect();
        prompts.extend((0..9).map(|n| prompt("a", "zh", 1000 + n, 700 + n)));
        prompts.extend((0..9).map(|n| prompt("b", "en", 1000 + n, 800 + n)));
        assert!(arrived(&prompts).iter().all(|arrived| *arrived == Arrived::Whole));
        prompts.extend([prompt("a", "en", 2000, 1750), prompt("a", "en", 2000, 1770), prompt("a", "en", 400, 100)]);
        let all = arrived(&prompts);
        assert_eq!(all[27..], [Arrived::Cut, Arrived::Whole, Arrived::Whole], "0.795 and 0.805 of 1.1; too short");
    }

    #[test]
    fn five_lengths_that_are_served_as_one_number_are_cut_even_if_all_are() {
        let cut = |counts: &[u64]| {
            let prompts: Vec<_> = counts.iter().map(|&counted| prompt("a", "en", counted, 4096)).collect();
            arrived(&prompts).iter().filter(|arrived| **arrived == Arrived::Cut).count()
        };
        assert_eq!(cut(&[4300, 4600, 4900, 5200, 5500]), 5);
        assert_eq!(cut(&[4300, 4600, 4900, 5200]), 0, "four");
        assert_eq!(cut(&[4300, 4310, 4500, 4510, 4520, 4700, 4710]), 0, "tokenizers differ by so much");
        let two: Vec<_> = (0..4)
            .flat_map(|n| [prompt("a", "en", 4300 + 300 * n, 4096), prompt("b", "en", 5500 + 300 * n, 4096)])
            .collect();
        assert!(arrived(&two).iter().all(|arrived| *arrived == Arrived::Whole), "four of each model");
    }

    #[test]
    fn a_server_that_counts_nothing_is_not_known() {
        let silent = CountedPrompt { served: None, ..prompt("a", "en", 4000, 0) };
        assert_eq!(arrived(&[silent, prompt("a", "en", 4000, 4100)]), [Arrived::NotKnown, Arrived::Whole]);
        assert_eq!(arrived(&[]), []);
    }

    #[test]
    fn more_than_one_in_a_hundred_is_worth_a_warning() {
        let cuts =
            |calls, cut_short, server_truncated, not_known| Cuts { calls, cut_short, server_truncated, not_known };
        let warns = |cuts: Cuts| (cuts.warns_of_responses(), cuts.warns_of_prompts());
        assert_eq!(warns(cuts(100, 1, 1, 0)), (false, false));
        assert_eq!(warns(cuts(100, 2, 1, 50)), (true, true), "of those that were counted");
        assert_eq!(warns(Cuts::default()), (false, false));
        let mut sum = cuts(1, 1, 0, 1);
        sum += cuts(2, 0, 1, 0);
        assert_eq!((sum, Marks::from(sum).server_truncated), (cuts(3, 1, 1, 1), 1));
    }
}
