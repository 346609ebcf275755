//! The tokenizer that a run counts with.

use crate::models;
use anyhow::{Context, Result, bail};
use closeread_books::tokens::Tokenizer;
use closeread_methods::protocol::PaperTokenizer;
use closeread_providers::is_served;
use closeread_text::names::meant;
use std::path::{Path, PathBuf};
use tracing::warn;

/// A tokenizer that is fetched from a hub, without the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetched {
    /// Name of the tokenizer in options and manifests.
    pub name: &'static str,
    /// The hub's repository that has its `tokenizer.json`.
    pub repo: &'static str,
}

/// Names of the tokenizers that are inside the program, and of the embedding model's own.
pub const OWN: [&str; 3] = ["cl100k", "o200k", "embedder"];

/// Every tokenizer that can be fetched.
pub const FETCHED: [Fetched; 1] = [Fetched { name: "deepseek-r1", repo: "deepseek-ai/DeepSeek-R1-0528" }];

impl Fetched {
    /// Returns the tokenizer of that name.
    pub fn named(name: &str) -> Option<Self> {
        FETCHED.into_iter().find(|fetched| fetched.name == name)
    }

    /// Returns the tokenizer's folder among the installed models.
    ///
    /// # Errors
    /// If there is no folder of models.
    pub fn folder(self) -> Result<PathBuf> {
        Ok(models::models_dir()?.join(self.name))
    }

    /// Returns the path of the tokenizer's `tokenizer.json`, if it is installed.
    ///
    /// # Errors
    /// If there is no folder of models.
    pub fn installed(self) -> Result<Option<PathBuf>> {
        Ok(Some(self.folder()?.join(models::TOKENIZER)).filter(|file| file.is_file()))
    }

    fn load(self) -> Result<Tokenizer> {
        let name = self.name;
        let Some(file) = self.installed()? else {
            bail!(
                "the tokenizer {name} is not installed: fetch it with `closeread model pull {name}`, or give the file \
                 tokenizer.json of {}",
                self.repo
            );
        };
        of_file(name, &file)
    }
}

/// Loads `cl100k` (the default), `o200k`, `embedder` for the embedding model's own, a fetched one, or a
/// `tokenizer.json`.
///
/// # Errors
/// If it is none of them, is not installed, or cannot be read.
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
        Some(path) if Path::new(path).is_file() => of_file(path, Path::new(path)),
        Some(other) => match Fetched::named(other) {
            Some(fetched) => fetched.load(),
            None => bail!(
                "unknown tokenizer `{other}`{}: expected cl100k, o200k, embedder, {}, or a tokenizer.json file",
                meant(other, OWN.into_iter().chain(FETCHED.map(|fetched| fetched.name))),
                FETCHED.map(|fetched| fetched.name).join(", ")
            ),
        },
    }
}

/// The tokenizer that an option names, else the paper's; where that is not installed cl100k, with a warning.
///
/// # Errors
/// As [`load`].
pub fn load_or(given: Option<&str>, of_paper: PaperTokenizer, embedder: Option<&str>) -> Result<Tokenizer> {
    if given.is_some() {
        return load(given, embedder);
    }
    let name = of_paper.name();
    match Fetched::named(name) {
        Some(fetched) if fetched.installed()?.is_none() => {
            warn!(
                "the paper counts tokens by {name}, which is not installed: cl100k is used, which counts about twice as many \
                 for Chinese (closeread model pull {name})"
            );
            Ok(Tokenizer::cl100k())
        }
        _ => load(Some(name), embedder),
    }
}

fn of_file(name: &str, file: &Path) -> Result<Tokenizer> {
    let json =
        closeread_files::read_file(file).with_context(|| format!("cannot read the tokenizer {}", file.display()))?;
    Ok(Tokenizer::from_json(name, &json)?)
}
