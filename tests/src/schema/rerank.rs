//! Rerankers: pairs of texts as token ids, and their scores.

use super::compare;
use super::kind::Schema;
use crate::report::{FileReport, label, list};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use closeread_embed::PairIds;
use closeread_embed::encoder::{CrossEncoder, EncoderOptions};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

pub(super) const SCHEMA: Schema = Schema { name: "rerank", version: "1", run };

/// Tolerance between scores computed in f32 and in f64.
const TOLERANCE: f64 = 1e-5;

/// Files of a published model.
#[derive(Deserialize)]
struct Model {
    name: String,
    #[serde(rename = "config.json")]
    config: String,
    #[serde(rename = "tokenizer.json")]
    tokenizer: String,
    /// Weights in base64.
    #[serde(rename = "model.safetensors")]
    weights: String,
}

#[derive(Deserialize)]
struct Pair {
    model: String,
    query: String,
    passage: String,
    ids: Vec<u32>,
    /// Type of each token, 0 or 1.
    types: Vec<u32>,
    cut: bool,
    score: f64,
}

fn run(file: &Value, report: &mut FileReport) {
    let mut models = HashMap::new();
    for (position, model) in list(file, "models").enumerate() {
        report.case(&label(model, "models", position), || {
            let (name, model) = load(model)?;
            models.insert(name, model);
            Ok(())
        });
    }
    for (position, case) in list(file, "cases").enumerate() {
        report.case(&label(case, "cases", position), || pair(case, &models));
    }
}

fn load(model: &Value) -> Result<(String, CrossEncoder), String> {
    let Model { name, config, tokenizer, weights } = compare::parse(model)?;
    let weights = BASE64_STANDARD.decode(weights).map_err(|error| error.to_string())?;
    let files = (config.as_bytes(), &*weights, tokenizer.as_bytes());
    let model = CrossEncoder::from_published(&name, files, EncoderOptions::default()).map_err(|e| e.to_string())?;
    Ok((name, model))
}

fn pair(case: &Value, models: &HashMap<String, CrossEncoder>) -> Result<(), String> {
    let case: Pair = compare::parse(case)?;
    let model = models.get(&case.model).ok_or("its model could not be read")?;
    let pairs = model.pairs(&case.query, &[&case.passage]).map_err(|error| error.to_string())?;
    let PairIds { ids, second, cut } = &pairs[0];
    compare::same("token", ids, &case.ids)?;
    let types: Vec<u32> = (0..ids.len()).map(|place| u32::from(place >= *second)).collect();
    compare::same("type of token", &types, &case.types)?;
    compare::same("cut", &[*cut], &[case.cut])?;
    // In one batch with others, as in a run.
    let scored = model.score(&case.query, &["", &case.passage, &case.query]).map_err(|error| error.to_string())?;
    compare::close("score", scored.scores[1], case.score, TOLERANCE)
}
