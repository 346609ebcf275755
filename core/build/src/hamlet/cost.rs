//! Cost of making queries, told before it begins.

use super::chunks::Chunk;
use super::chunks::chunk_text;
use super::parameters::Hamlet;
use super::verify::Criterion;
use super::{query, tree, verify};
use crate::StageCost;
use crate::assumed::{Prompt, tokens_of};
use crate::stage::Unit;
use closeread_books::Book;
use closeread_methods::{MethodError, Settings};
use std::sync::Arc;

/// The calls of each stage that asks.
///
/// # Errors
/// [`MethodError`] if a prompt cannot be filled.
pub fn cost(
    settings: Settings<'_>,
    books: &[Arc<Book>],
    chunks: &[Unit<Chunk>],
    parameters: &Hamlet,
) -> Result<Vec<StageCost>, MethodError> {
    let responses = u64::from(settings.response_limit.reserved());
    let mut stages: Vec<(&'static str, Vec<Prompt>)> =
        ["trees", "faithfulness", "objectivity", "significance", "queries"].map(|stage| (stage, Vec::new())).to_vec();
    for Unit { input: chunk, .. } in chunks.iter().filter(|unit| unit.input.tokens >= parameters.least_tokens) {
        let Some(book) = books.iter().find(|book| book.id == chunk.document) else { continue };
        let text = chunk_text(book, chunk)?;
        for &perspective in &parameters.perspectives {
            let known = tokens_of(settings, &*tree::prompt(book, &text, perspective))?;
            stages[0].1.push(Prompt { known, responses: 0 });
            for (place, criterion) in Criterion::ALL.into_iter().enumerate() {
                let known = tokens_of(settings, &verify::prompt(&text, criterion, ""))?;
                stages[1 + place].1.push(Prompt { known, responses });
            }
            let known = tokens_of(settings, &*query::prompt(book, perspective, &text, ""))?;
            stages[4].1.push(Prompt { known, responses });
        }
    }
    Ok(stages
        .iter()
        .map(|(stage, prompts)| StageCost::of(stage, prompts, settings.response_limit.reserved()))
        .collect())
}
