//! Cost of collecting questions, told before it begins.

use super::filter::Candidate;
use super::generate::Pair;
use super::subject::{SagaScale, Subject, parts};
use super::{filter, generate};
use crate::StageCost;
use crate::assumed::{Prompt, tokens_of};
use closeread_methods::{MethodError, Settings};
use closeread_prompts::judges::{ClassifyQuestion, JudgeSagaScale};
use closeread_prompts::readers::SagaScaleClosedBook;
use closeread_text::Language;

/// The calls of each stage that asks, as if every segment gave `queries` sub-queries, and each of these one pair at
/// least and [`SagaScale::most_pairs`] at most; the model decides how many it writes, so everything behind the second
/// stage is a guess of that size. The two stages of contamination are for one model that must not know the answers.
///
/// # Errors
/// [`MethodError`] if a prompt cannot be filled.
pub fn cost(
    settings: Settings<'_>,
    subjects: &[Subject],
    queries: u64,
    parameters: &SagaScale,
) -> Result<Vec<StageCost>, MethodError> {
    let responses = u64::from(settings.response_limit.reserved());
    let mut prompts: [Vec<Prompt>; 8] = Default::default();
    for part in parts(subjects) {
        let Some(subject) = subjects.iter().find(|subject| subject.book.id == part.input.document) else { continue };
        let (book, part) = (&subject.book, &part.input);
        if settings.tokenizer.count(&part.segment.text) < parameters.least_tokens {
            continue;
        }
        let pair = Pair { question: String::new(), answer: String::new(), query: String::new(), passages: Vec::new() };
        let (title, language) = (book.title.as_str(), Language::ENGLISH);
        let candidate = Candidate { document: book.id.clone(), segment: String::new(), pair };
        let known = [
            tokens_of(settings, &generate::filter_prompt(book, part))?,
            tokens_of(settings, &generate::queries_prompt(book, part))?,
            tokens_of(settings, &generate::pair_prompt(book, part, &[], &[]))?
                + (parameters.top_k * parameters.passage_tokens) as u64,
            tokens_of(settings, &filter::correctness_prompt(book, &candidate, None))?,
            tokens_of(settings, &filter::keyword_prompt(book, &candidate))?,
            tokens_of(settings, &SagaScaleClosedBook { title, question: "", options: &[], language })?,
            tokens_of(settings, &JudgeSagaScale { title, question: "", answers: &[], several: false, answer: "" })?,
            tokens_of(settings, &ClassifyQuestion { question: "", types: &[] })?,
        ];
        for (at, known) in known.into_iter().enumerate() {
            let n = match at {
                0 | 1 => 1,
                // A pair, and END.
                2 => 2 * queries,
                _ => queries,
            };
            prompts[at].extend((0..n).map(|_| Prompt { known, responses: if at < 2 { 0 } else { responses } }));
        }
    }
    let stages = [
        "segment-filter",
        "sub-queries",
        "pairs",
        "correctness",
        "keywords",
        "contamination",
        "contamination: judge",
        "types",
    ];
    let cost = |(at, (stage, prompts)): (usize, (&'static str, &Vec<Prompt>))| {
        let most = if at < 2 { 1 } else { parameters.most_pairs as u64 };
        StageCost::of(stage, prompts, settings.response_limit.reserved()).at_most(most)
    };
    Ok(stages.into_iter().zip(&prompts).enumerate().map(cost).collect())
}
