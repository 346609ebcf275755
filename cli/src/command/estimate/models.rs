//! Estimate of a model over all its cells, and what is known of the model.

use super::cells::{CellEstimate, Money, Tariffs, plus};
use super::scene::Scene;
use super::windows::{ContextOverflow, Measured};
use closeread_books::tokens::Tokenizer;
use closeread_llm::price::Dollars;
use serde::Serialize;

/// Books and characters of each by which two tokenizers are compared.
const COMPARED_BOOKS: usize = 20;
const COMPARED_CHARS: usize = 20_000;

/// A model of the run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ModelEstimate {
    pub(super) model: String,
    /// Totals over its cells; absent where the price is not known.
    pub(super) dollars: Tariffs,
    /// Source of the prices and their day; absent where there are none.
    pub(super) prices: Option<(String, String)>,
    /// Tokens of prompt and response together that it takes; absent where that is not known.
    pub(super) window: Option<usize>,
    pub(super) overflow: Option<ContextOverflow>,
    pub(super) tokenizer: Counting,
    /// Seconds at least and at most; absent for a reader that is no server.
    pub(super) seconds: Option<(f64, f64)>,
}

/// The relation of this estimate's counts to those of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "counts", rename_all = "snake_case")]
pub(super) enum Counting {
    /// The model counts with the same tokenizer.
    Same,
    /// The model counts with this tokenizer, which on these books gives `ratio` tokens for one of ours.
    Other { name: String, ratio: f64 },
    /// The tokenizer of the model is not known.
    Unknown,
    /// The model counts nothing.
    Nothing,
}

/// Makes the estimate of a model.
pub(super) fn estimate(
    scene: &Scene<'_>,
    model: &str,
    cells: &[CellEstimate],
    measured: &Measured,
    seconds: Option<(f64, f64)>,
) -> ModelEstimate {
    let facts = scene.prices.of(model);
    let window = scene.window(model);
    let total = |of: fn(&Tariffs) -> Option<Money>| {
        let mine = cells.iter().filter(|cell| cell.key.model == model);
        let zero = (Dollars::default(), Dollars::default());
        mine.map(|cell| of(&cell.dollars)).try_fold(zero, |sum, more| Some(plus(sum, more?, 1.0)))
    };
    ModelEstimate {
        model: model.to_owned(),
        dollars: Tariffs { list: total(|t| t.list), cached: total(|t| t.cached), batch: total(|t| t.batch) },
        prices: facts.filter(|facts| facts.price.is_some()).map(|facts| (facts.source.clone(), facts.date.clone())),
        window,
        overflow: window.and_then(|window| measured.at(window)).cloned(),
        tokenizer: match seconds {
            None => Counting::Nothing,
            Some(_) => counting(scene, facts.and_then(|facts| facts.tokenizer.as_deref())),
        },
        seconds,
    }
}

/// Compares the model's tokenizer with the run's on the beginnings of some books.
fn counting(scene: &Scene<'_>, name: Option<&str>) -> Counting {
    let ours = scene.setting.tokenizer;
    let theirs = match name {
        Some(name) if name == ours.name() => return Counting::Same,
        Some("o200k_base") => Tokenizer::o200k(),
        Some("cl100k_base") => Tokenizer::cl100k(),
        _ => return Counting::Unknown,
    };
    let (mut n_ours, mut n_theirs) = (0, 0);
    for book in scene.benchmark.books.iter().take(COMPARED_BOOKS) {
        let Ok(text) = scene.benchmark.texts.open(book) else { return Counting::Unknown };
        let text: String = text.flow().text().chars().take(COMPARED_CHARS).collect();
        n_ours += ours.count(&text);
        n_theirs += theirs.count(&text);
    }
    Counting::Other { name: theirs.name().to_owned(), ratio: n_theirs as f64 / n_ours.max(1) as f64 }
}
