//! Study of how large a chunk should be (appendix B, Table 24).

use super::chunks::chunk_text;
use super::{Chunk, Unit, chunks};
use crate::StageCost;
use crate::ask;
use crate::assumed::{Prompt, tokens_of};
use crate::stage::{BuildError, Building, Made, StageStore, kept};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
use closeread_eval::answer::json::json_value;
use closeread_eval::rows::scalar;
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_metrics::random::SplitMix64;
use closeread_prompts::builds::HamletChunkSize;
use closeread_table::{Table, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The sizes of the paper, in tokens.
pub const STUDY_SIZES: [usize; 4] = [1_000, 2_000, 4_000, 8_000];

/// A chunk to be rated by a judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyChunk {
    /// The size that it was cut to.
    pub size: usize,
    /// Number of the judge, from 0.
    pub judge: usize,
    /// The chunk.
    pub chunk: Chunk,
}

/// A judge's scores of a chunk, from 1 to 5 (Table 24; its conditions for a coherence of 3 and of 4 overlap as
/// printed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scores {
    /// Score for validity: whether the chunk holds enough major facts.
    pub validity: u8,
    /// Score for coherence: whether the chunk stands by itself.
    pub coherence: u8,
    /// Score for cross-content: whether the chunk's parts belong together.
    pub cross_content: u8,
}

/// The chunks to rate: of each size `per_size` (100 in the paper), drawn from all books by the seed, each once a judge.
///
/// # Errors
/// As [`chunks`].
pub fn study_chunks(
    books: &[Arc<Book>],
    tokenizer: &Tokenizer,
    sizes: &[usize],
    per_size: usize,
    judges: usize,
    seed: u64,
) -> Result<Vec<Unit<StudyChunk>>, TextError> {
    let mut units = Vec::new();
    for &size in sizes {
        let mut all = chunks(books, tokenizer, size)?;
        let mut random = SplitMix64(seed ^ size as u64);
        random.shuffle(&mut all);
        all.truncate(per_size);
        all.sort_by(|a, b| a.id.cmp(&b.id));
        for judge in 0..judges {
            units.extend(all.iter().map(|unit| Unit {
                id: format!("{size}/{}/judge-{}", unit.id, judge + 1),
                input: StudyChunk { size, judge, chunk: unit.input.clone() },
            }));
        }
    }
    Ok(units)
}

/// Has each judge rate its chunks; returns the means over chunks and judges by size.
///
/// # Errors
/// [`BuildError`].
pub async fn study<H: Host, S: StageStore>(
    judges: &[&H],
    settings: Settings<'_>,
    mut building: Building<'_, S>,
    books: &[Arc<Book>],
    units: &[Unit<StudyChunk>],
) -> Result<Vec<Table>, BuildError> {
    let lines = building
        .stage("chunk-size", units, async |unit: &Unit<StudyChunk>| {
            let StudyChunk { judge, chunk, .. } = &unit.input;
            let book = books.iter().find(|book| book.id == chunk.document).expect("chunks are cut from these books");
            rate(judges[*judge], settings, &chunk_text(book, chunk)?).await
        })
        .await?;
    let made = kept(lines);
    let rating = |unit: &Unit<StudyChunk>| {
        let scores = made.iter().find(|other| other.id == unit.id).map(|other| other.input);
        let scores = [scores.map(|s| s.validity), scores.map(|s| s.coherence), scores.map(|s| s.cross_content)];
        let StudyChunk { size, chunk, .. } = &unit.input;
        Rating { size: *size, chunk: format!("{}/{}", chunk.document, chunk.index), scores }
    };
    let ratings: Vec<Rating> = units.iter().map(rating).collect();
    Ok(vec![study_table(&ratings), building.into_funnel().table()])
}

/// The rating of one chunk by one judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rating {
    /// The size that the chunk was cut to.
    pub size: usize,
    /// Name of the chunk among those of its size.
    pub chunk: String,
    /// Validity, coherence, cross-content, from 1 to 5; `None` where the judge gave none that could be read.
    pub scores: [Option<u8>; 3],
}

/// Means by size (Table 9): of the judges that scored a chunk, then of the chunks that have a score.
pub fn study_table(ratings: &[Rating]) -> Table {
    let columns = ["Chunk Size", "Validity", "Coherence", "Cross-content", "chunks"].map(str::to_owned).to_vec();
    let mut table = Table::new("chunk-size", "Scores of chunks by their size, 1 to 5", columns);
    table.source = "HAMLET, Table 9".to_owned();
    let mut by_size: BTreeMap<usize, BTreeMap<&str, Vec<&Rating>>> = BTreeMap::new();
    for rating in ratings {
        by_size.entry(rating.size).or_default().entry(&rating.chunk).or_default().push(rating);
    }
    for (size, chunks) in by_size {
        let mean = |dimension: usize| {
            let of_chunk = |ratings: &Vec<&Rating>| {
                let scores: Vec<f64> =
                    ratings.iter().filter_map(|rating| rating.scores[dimension]).map(f64::from).collect();
                (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
            };
            let scores: Vec<f64> = chunks.values().filter_map(of_chunk).collect();
            match scores.len() {
                0 => Value::missing("no chunk was scored"),
                n => Value::printed(scores.iter().sum::<f64>() / n as f64, 2, n),
            }
        };
        table.rows.push(vec![Value::text(size.to_string()), mean(0), mean(1), mean(2), Value::count(chunks.len())]);
    }
    table.notes.push("a chunk counts by the judges that scored it; one without a score is in no mean".to_owned());
    table
}

async fn rate<H: Host>(host: &H, settings: Settings<'_>, chunk: &str) -> Result<Made<Scores>, MethodError> {
    ask::one(host, settings, &HamletChunkSize { chunk }, "", |response, _| read(response).ok_or(NoScores)).await
}

#[derive(Debug, thiserror::Error)]
#[error("it holds no JSON object with three scores from 1 to 5")]
struct NoScores;

fn read(response: &str) -> Option<Scores> {
    let value = json_value(response).answer()?;
    let score = |name: &str| {
        let score = value.get(name).and_then(scalar)?.parse::<u8>().ok()?;
        (1..=5).contains(&score).then_some(score)
    };
    Some(Scores {
        validity: score("HKF_validity")?,
        coherence: score("Content_coherence")?,
        cross_content: score("Cross_content_reasoning")?,
    })
}

/// Returns what the study will ask for.
///
/// # Errors
/// [`MethodError`] if the prompt cannot be filled.
pub fn study_cost(settings: Settings<'_>, units: &[Unit<StudyChunk>]) -> Result<StageCost, MethodError> {
    let frame = tokens_of(settings, &HamletChunkSize { chunk: "" })?;
    let prompts: Vec<Prompt> =
        units.iter().map(|unit| Prompt { known: frame + unit.input.chunk.tokens as u64, responses: 0 }).collect();
    Ok(StageCost::of("chunk-size", &prompts, settings.response_limit.reserved()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_lie_between_one_and_five() {
        let scores = Scores { validity: 4, coherence: 5, cross_content: 1 };
        assert_eq!(
            read(r#"{"HKF_validity": 4, "Content_coherence": "5", "Cross_content_reasoning": 1, "explanation": "x"}"#),
            Some(scores)
        );
        assert_eq!(read(r#"{"HKF_validity": 6, "Content_coherence": 5, "Cross_content_reasoning": 1}"#), None);
        assert_eq!(read(r#"{"HKF_validity": 4, "Content_coherence": 5}"#), None);
    }
}
