//! `closeread model list`: what is installed, and what can be pulled.

use anyhow::Result;
use closeread_embed::ModelSpec;
use closeread_runner::models::rerankers::{InstalledReranker, KNOWN, KnownReranker, installed_rerankers};
use closeread_runner::models::{Installed, installed, models_dir};
use closeread_runner::tokenizer::FETCHED;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use tracing::info;

/// Models and tokenizers.
struct Listing {
    /// Installed embedding models; those that cannot be read too.
    models: Vec<Result<Installed>>,
    rerankers: Vec<InstalledReranker>,
    /// Tokenizers with their files, where they are installed.
    tokenizers: Vec<(&'static str, Option<PathBuf>)>,
}

/// Lists them.
pub(super) fn run(json: bool) -> Result<ExitCode> {
    let dir = models_dir()?;
    let models = installed(&dir)?;
    let mut tokenizers = Vec::new();
    for tokenizer in FETCHED {
        tokenizers.push((tokenizer.name, tokenizer.installed()?));
    }
    let listing = Listing { models, rerankers: installed_rerankers(&dir)?, tokenizers };
    if json {
        outln!("{:#}", listing.as_json());
    } else {
        listing.print()?;
        info!("installed models live in {}", dir.display());
    }
    let is_broken = listing.models.iter().any(Result::is_err);
    Ok(if is_broken { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

impl Listing {
    /// Embedding models that can be pulled.
    fn available(&self) -> Vec<ModelSpec> {
        let names: Vec<&str> = self.models.iter().flatten().map(|model| model.spec.name.as_str()).collect();
        ModelSpec::built_in().into_iter().filter(|spec| !names.contains(&spec.name.as_str())).collect()
    }

    /// Rerankers that can be pulled.
    fn available_rerankers(&self) -> Vec<KnownReranker> {
        let is_there = |known: &KnownReranker| self.rerankers.iter().any(|model| model.name == known.name);
        KNOWN.into_iter().filter(|known| !is_there(known)).collect()
    }

    fn as_json(&self) -> Value {
        let rows = self.models.iter().flatten().map(describe);
        let broken = self.models.iter().filter_map(|model| model.as_ref().err()).map(|error| format!("{error:#}"));
        json!({
            "models": rows.collect::<Vec<_>>(), "unreadable": broken.collect::<Vec<_>>(),
            "available": self.available().iter().map(|spec| &spec.name).collect::<Vec<_>>(),
            "rerankers": self.rerankers.iter().map(|model| json!({"name": model.name, "folder": model.folder})).collect::<Vec<_>>(),
            "available_rerankers": self.available_rerankers().iter().map(|known| known.name).collect::<Vec<_>>(),
            "tokenizers": self.tokenizers.iter().map(|(name, file)| json!({"name": name, "file": file})).collect::<Vec<_>>(),
        })
    }

    fn print(&self) -> Result<()> {
        for model in &self.models {
            match model {
                Ok(Installed { spec, manifest, .. }) => {
                    let weights = serde_json::to_value(manifest.weights)?;
                    outln!(
                        "{:<32} {:>5} numbers  {:>4} tokens  {:<4} {:<12} {}",
                        spec.name,
                        spec.dimension,
                        spec.max_tokens,
                        weights.as_str().unwrap_or_default(),
                        languages(spec),
                        model.as_ref().map(Installed::place).unwrap_or_default()
                    );
                }
                Err(error) => info!("unreadable: {error:#}"),
            }
        }
        for spec in self.available() {
            outln!("{:<32} not installed: closeread model pull {}", spec.name, spec.name);
        }
        for model in &self.rerankers {
            outln!("{:<32} reranker   {}", model.name, model.place());
        }
        for KnownReranker { name, about, .. } in self.available_rerankers() {
            outln!("{name:<32} reranker, {about}, not installed: closeread model pull {name}");
        }
        for (name, file) in &self.tokenizers {
            match file {
                Some(file) => outln!("{name:<32} tokenizer  {}", file.display()),
                None => outln!("{name:<32} tokenizer, not installed: closeread model pull {name}"),
            }
        }
        Ok(())
    }
}

fn languages(spec: &ModelSpec) -> String {
    if spec.languages.is_empty() { "any language".to_owned() } else { spec.languages.join(",") }
}

fn describe(model: &Installed) -> Value {
    let Installed { spec, manifest, folder } = model;
    json!({
        "name": spec.name, "dimension": spec.dimension, "max_tokens": spec.max_tokens, "pooling": spec.pooling,
        "languages": spec.languages, "weights": manifest.weights, "licence": manifest.licence,
        "source": manifest.source, "folder": folder,
    })
}
