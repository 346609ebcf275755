//! The tokenizer that a run counts with.

use crate::models;
use anyhow::{Context, Result, bail};
use closeread_books::tokens::Tokenizer;
use closeread_providers::is_served;
use std::path::Path;

/// `cl100k` (the default), `o200k`, `embedder` for the embedding model's own, or a `tokenizer.json`.
pub fn load(name: Option<&str>, embedder: Option<&str>) -> Result<Tokenizer> {
    match name {
        None | Some("cl100k" | "cl100k_base") => Ok(Tokenizer::cl100k()),
        Some("o200k" | "o200k_base") => Ok(Tokenizer::o200k()),
        Some("embedder") => {
            if let Some(name) = embedder.filter(|name| is_served(name)) {
                bail!("--tokenizer embedder: {name} is on a server; give the file of its tokenizer.json");
            }
            let model = models::find(embedder.unwrap_or(models::SHIPPED))?;
            Ok(Tokenizer::from_json(&model.spec.name, &model.file(models::TOKENIZER)?)?)
        }
        Some(path) if Path::new(path).is_file() => {
            let json = closeread_files::read_file(path).with_context(|| format!("cannot read the tokenizer {path}"))?;
            Ok(Tokenizer::from_json(path, &json)?)
        }
        Some(other) => bail!("unknown tokenizer `{other}`: expected cl100k, o200k, embedder, or a tokenizer.json file"),
    }
}
