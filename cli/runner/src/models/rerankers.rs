//! Rerankers on this machine: folders with the three files of a cross-encoder as it is published.

use super::{SPEC, TOKENIZER, models_dir};
use anyhow::{Context, Result, bail};
use closeread_embed::encoder::{CrossEncoder, EncoderOptions};
use closeread_files as files;
use closeread_text::names::meant;
use std::path::{Path, PathBuf};

/// File name of the model's configuration.
pub const CONFIG: &str = "config.json";
/// File name of the model's weights.
pub const WEIGHTS: &str = "model.safetensors";

/// A reranker that can be fetched.
#[derive(Debug, Clone, Copy)]
pub struct KnownReranker {
    /// Name of the reranker, as `--reranker` and `model pull` give it.
    pub name: &'static str,
    /// Name of its repository on the Hugging Face hub.
    pub repo: &'static str,
    /// Licence of the weights (SPDX).
    pub licence: &'static str,
    /// Purpose of the reranker, in words.
    pub about: &'static str,
}

/// The rerankers that are known out of the box: one that is quick on a processor, and one for Chinese and English.
pub const KNOWN: [KnownReranker; 2] = [
    KnownReranker {
        name: "ms-marco-MiniLM-L6-v2",
        repo: "cross-encoder/ms-marco-MiniLM-L6-v2",
        licence: "Apache-2.0",
        about: "English, 6 layers of 384",
    },
    KnownReranker {
        name: "bge-reranker-base",
        repo: "BAAI/bge-reranker-base",
        licence: "MIT",
        about: "Chinese and English, 12 layers of 768",
    },
];

impl KnownReranker {
    /// Returns the known reranker of that name.
    pub fn named(name: &str) -> Option<Self> {
        KNOWN.into_iter().find(|known| known.name == name)
    }
}

/// A reranker that can be used.
#[derive(Debug, Clone)]
pub struct InstalledReranker {
    /// Name of the folder.
    pub name: String,
    /// Path of the folder.
    pub folder: PathBuf,
}

impl InstalledReranker {
    /// The model in a folder.
    pub fn in_folder(folder: &Path) -> Result<Self> {
        let whole = folder.canonicalize().with_context(|| format!("{} cannot be read", folder.display()))?;
        let name = whole.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Self { name: name.context("a reranker lies in a folder that has a name")?, folder: folder.to_owned() })
    }

    /// The bytes of one of its files.
    pub fn file(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.folder.join(name);
        files::read_file_within(&path, u64::MAX).with_context(|| {
            format!("{} cannot be read: a reranker has {CONFIG}, {WEIGHTS} and {TOKENIZER}", path.display())
        })
    }

    /// Returns the place of the reranker, in words.
    pub fn place(&self) -> String {
        self.folder.display().to_string()
    }

    /// Longest input in tokens, if the files are a reranker's.
    pub fn max_tokens(&self) -> Result<usize> {
        Ok(self.load(EncoderOptions::default())?.max_tokens())
    }

    /// The model ready for texts.
    pub fn load(&self, options: EncoderOptions<'_>) -> Result<CrossEncoder> {
        let (config, weights, tokenizer) = (self.file(CONFIG)?, self.file(WEIGHTS)?, self.file(TOKENIZER)?);
        Ok(CrossEncoder::from_published(&self.name, (&config, &weights, &tokenizer), options)?)
    }
}

/// Returns every reranker in `dir`: folders as they are published, which embedding models are not once they are
/// installed.
pub fn installed_rerankers(dir: &Path) -> Result<Vec<InstalledReranker>> {
    let is_one = |folder: &PathBuf| folder.join(WEIGHTS).is_file() && !folder.join(SPEC).is_file();
    files::entries(dir)?.iter().filter(|folder| is_one(folder)).map(|f| InstalledReranker::in_folder(f)).collect()
}

/// The reranker of a name, or in the folder of that path.
pub fn find_reranker(name: &str) -> Result<InstalledReranker> {
    if Path::new(name).join(WEIGHTS).is_file() {
        return InstalledReranker::in_folder(Path::new(name));
    }
    let installed = installed_rerankers(&models_dir()?)?;
    if let Some(model) = installed.iter().find(|model| model.name == name) {
        return Ok(model.clone());
    }
    let names: Vec<&str> = installed.iter().map(|model| model.name.as_str()).collect();
    let hint = match KnownReranker::named(name) {
        Some(_) => format!("fetch it with `closeread model pull {name}`"),
        None => format!(
            "see `closeread model list`, give the path of a folder with {CONFIG}, {WEIGHTS} and {TOKENIZER}, or name a \
             model on a server: cohere/MODEL, jina/MODEL, openai-compatible/MODEL, tei/MODEL"
        ),
    };
    let known = KNOWN.iter().map(|known| known.name).filter(|known| *known != name);
    let (meant, there) = (meant(name, known.chain(names.iter().copied())), names.join(", "));
    let there = if there.is_empty() { "none".to_owned() } else { there };
    bail!("no reranker `{name}` is installed{meant} (installed: {there}); {hint}")
}

/// The files of a reranker, whose hashes the manifest of a fetched one holds.
pub const FILES: [&str; 3] = [CONFIG, TOKENIZER, WEIGHTS];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_but_not_installed_is_offered_and_what_is_mistyped_is_meant() {
        let message = |name: &str| find_reranker(name).unwrap_err().to_string();
        assert!(message("bge-reranker-base").contains("closeread model pull bge-reranker-base"));
        let mistyped = message("ms-marco-MiniLM-L6");
        assert!(mistyped.contains("ms-marco-MiniLM-L6-v2") && mistyped.contains("model.safetensors"), "{mistyped}");
        assert!(KNOWN.iter().all(|known| closeread_embed::ModelSpec::named(known.name).is_none()));
    }
}
