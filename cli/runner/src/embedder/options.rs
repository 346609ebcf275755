//! Options of an embedding model besides its name.

use super::BackendName;
use crate::models::{SPEC, TOKENIZER, models_dir};
use anyhow::{Context, Result, bail};
use closeread_embed::{ModelSpec, ServedSpec};
use closeread_llm::provider::Limits;
use closeread_providers::is_served;
use std::path::{Path, PathBuf};
use tracing::info;

/// The options of an embedding model: how it is computed, and where.
#[derive(Clone, Default)]
pub struct EmbedderOptions {
    /// Backend that computes an installed model.
    pub backend: Option<BackendName>,
    /// Address of a served model's server.
    pub base_url: Option<String>,
    /// Whether vectors that are not remembered are an error: no server is asked.
    pub remembered_only: bool,
    /// File that describes a served model.
    pub spec: Option<PathBuf>,
    /// The description itself, as a manifest holds it.
    pub known: Option<ServedSpec>,
    /// Limits on how long and how often a request to a server is tried.
    pub limits: Limits,
}

impl EmbedderOptions {
    /// Returns the description of a served model: as described, or an installed model of that name, or out of the box.
    pub(crate) fn served_spec(&self, model: &str) -> Result<ServedSpec> {
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        if let Some(path) = &self.spec {
            let text = closeread_files::read_text_file(path)
                .with_context(|| format!("cannot read --embedder-spec {}", path.display()))?;
            let mut spec = ServedSpec::from_toml(&path.display().to_string(), &text)?;
            beside(path, &mut spec);
            return Ok(spec);
        }
        let name = model.rsplit('/').next().unwrap_or(model);
        // Without a folder of installed models there is no installed model.
        let installed = models_dir().unwrap_or_default().join(name);
        if let Ok(text) = closeread_files::read_text_file(installed.join(SPEC)) {
            let spec = ModelSpec::from_toml(&installed.join(SPEC).display().to_string(), &text)?;
            let tokenizer = installed.join(TOKENIZER);
            let tokenizer = tokenizer.is_file().then(|| tokenizer.display().to_string());
            return Ok(ServedSpec { tokenizer, ..spec.into() });
        }
        let Some(spec) = ServedSpec::named(model) else {
            info!(
                "{model} is not described: its texts get no prefixes, and texts that are too long are the server's \
                 business; --embedder-spec says otherwise"
            );
            return Ok(ServedSpec::default());
        };
        Ok(spec)
    }

    /// Refuses options that say nothing about the model of the run, where it is installed here.
    pub fn check(&self, name: &str) -> Result<()> {
        match (&self.base_url, &self.spec) {
            _ if is_served(name) => Ok(()),
            (None, None) => Ok(()),
            (Some(_), _) => bail!(
                "--embedder-base-url is for a model on a server, and `{name}` is installed here: expected --embedder \
                 openai/MODEL, openai-compatible/MODEL or tei/MODEL"
            ),
            _ => bail!("--embedder-spec is for a model on a server; `{name}` has a description of its own"),
        }
    }
}

/// A tokenizer that is a file lies beside the description.
fn beside(file: &Path, spec: &mut ServedSpec) {
    if let Some(tokenizer) = spec.tokenizer.as_mut().filter(|name| !matches!(name.as_str(), "cl100k" | "o200k")) {
        *tokenizer = file.parent().unwrap_or(Path::new("")).join(&*tokenizer).display().to_string();
    }
}
