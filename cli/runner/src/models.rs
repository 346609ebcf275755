//! Embedding models on this machine: which there are, and where.

pub mod calibration;
mod fetch;
pub mod rerankers;

use anyhow::{Context, bail};
use closeread_embed::ModelSpec;
use closeread_embed::onnx::WeightFormat;
use closeread_files as files;
use closeread_models::all_minilm_l6_v2 as shipped;
use closeread_text::hash::sha256;
use closeread_text::names::meant;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the model inside the binary, the default everywhere.
pub const SHIPPED: &str = shipped::NAME;

/// The weights and their graph.
pub const ONNX: &str = "model.onnx";
/// File name of the tokenizer as published.
pub const TOKENIZER: &str = "tokenizer.json";
/// File name of the description.
pub const SPEC: &str = "model.toml";
/// File name of the manifest: hashes, source and recipe.
pub const MANIFEST: &str = "manifest.json";

/// The manifest of a model folder, `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format of this file, 1.
    pub version: u32,
    /// Format in which the weights are stored.
    pub weights: WeightFormat,
    /// Source of the published files.
    pub source: String,
    /// The command that made the folder.
    pub recipe: String,
    /// Licence of the weights (SPDX), where known.
    pub licence: Option<String>,
    /// SHA-256 of the published files it was made from, by name.
    pub made_from: BTreeMap<String, String>,
    /// SHA-256 of each file of the folder but this one, by name.
    pub files: BTreeMap<String, String>,
    /// Cosine of the two related sentences of `model verify` as measured when the folder was made.
    pub cosine: f64,
}

/// A model that can be used.
#[derive(Debug, Clone)]
pub struct Installed {
    /// Description of the model.
    pub spec: ModelSpec,
    /// Manifest of the model: hashes, source, recipe.
    pub manifest: Manifest,
    /// Folder of the model; `None` for the one inside the binary.
    pub folder: Option<PathBuf>,
}

impl Installed {
    /// The model inside the binary.
    pub fn shipped() -> anyhow::Result<Self> {
        let spec = ModelSpec::from_toml("the shipped model.toml", shipped::SPEC)?;
        let manifest = serde_json::from_str(shipped::MANIFEST).context("the shipped manifest.json")?;
        Ok(Self { spec, manifest, folder: None })
    }

    /// Reads the description and manifest of a model folder.
    pub fn in_folder(folder: &Path) -> anyhow::Result<Self> {
        let read = |name: &str| {
            let path = folder.join(name);
            closeread_files::read_text_file(&path).with_context(|| {
                format!("{} cannot be read: is this a folder made by `closeread model`?", path.display())
            })
        };
        let spec = ModelSpec::from_toml(&folder.join(SPEC).display().to_string(), &read(SPEC)?)?;
        let manifest =
            serde_json::from_str(&read(MANIFEST)?).with_context(|| format!("{}", folder.join(MANIFEST).display()))?;
        Ok(Self { spec, manifest, folder: Some(folder.to_owned()) })
    }

    /// The bytes of one of the folder's files.
    pub fn file(&self, name: &str) -> anyhow::Result<Cow<'static, [u8]>> {
        let Some(folder) = &self.folder else {
            return Ok(Cow::Borrowed(match name {
                ONNX if !shipped::HAS_WEIGHTS => {
                    let folder = fetch::weights(&self.manifest)?;
                    return Self { folder: Some(folder), ..self.clone() }.file(ONNX);
                }
                ONNX => shipped::onnx(),
                TOKENIZER => shipped::TOKENIZER,
                SPEC => shipped::SPEC.as_bytes(),
                MANIFEST => shipped::MANIFEST.as_bytes(),
                _ => bail!("the shipped model has no file `{name}`"),
            }));
        };
        let path = folder.join(name);
        closeread_files::read_file_within(&path, u64::MAX)
            .map(Cow::Owned)
            .with_context(|| format!("{} cannot be read", path.display()))
    }

    /// The hash of one of the folder's files, which of the shipped ones its manifest has.
    pub fn sha256(&self, name: &str) -> anyhow::Result<String> {
        match (&self.folder, self.manifest.files.get(name)) {
            (None, Some(known)) => Ok(known.clone()),
            _ => Ok(sha256(&self.file(name)?)),
        }
    }

    /// Returns the place of the model, in words.
    pub fn place(&self) -> String {
        match &self.folder {
            Some(folder) => folder.display().to_string(),
            None if !shipped::HAS_WEIGHTS => "fetched when it is first needed".to_owned(),
            None => "inside the program".to_owned(),
        }
    }
}

/// The folder of installed models: `CLOSEREAD_MODELS`, or `models` in the user's data folder.
pub fn models_dir() -> anyhow::Result<PathBuf> {
    if let Some(dir) = std::env::var_os("CLOSEREAD_MODELS").filter(|dir| !dir.is_empty()) {
        return Ok(dir.into());
    }
    let dirs = directories::ProjectDirs::from("", "", "closeread");
    let dirs = dirs.context("there is no home folder to keep models in: set CLOSEREAD_MODELS to a folder")?;
    Ok(dirs.data_dir().join("models"))
}

/// Returns every model folder in `dir` with a description, or why it cannot be read; the shipped model first.
///
/// A folder of the shipped model's name takes its place.
pub fn installed(dir: &Path) -> anyhow::Result<Vec<anyhow::Result<Installed>>> {
    let mut found = Vec::new();
    let folders = files::entries(dir)?;
    found.extend(folders.iter().filter(|f| f.join(SPEC).is_file()).map(|f| Installed::in_folder(f)));
    if !found.iter().flatten().any(|model| model.spec.name == SHIPPED) {
        found.insert(0, Installed::shipped());
    }
    Ok(found)
}

/// Returns whether a model of that name is there, readable or not.
pub(crate) fn is_installed(name: &str) -> anyhow::Result<bool> {
    let dir = models_dir()?;
    Ok(dir.join(name).join(SPEC).is_file() || installed(&dir)?.iter().flatten().any(|model| model.spec.name == name))
}

/// The model of a name, or in the folder of that path.
pub fn find(name: &str) -> anyhow::Result<Installed> {
    if Path::new(name).join(SPEC).is_file() {
        return Installed::in_folder(Path::new(name));
    }
    let dir = models_dir()?;
    let mut names = Vec::new();
    for model in installed(&dir)? {
        // A broken folder matters only if it is the one asked for.
        match model {
            Ok(model) if model.spec.name == name => return Ok(model),
            Ok(model) => names.push(model.spec.name),
            Err(error) if dir.join(name).join(SPEC).is_file() => return Err(error),
            Err(_) => {}
        }
    }
    let hint = if ModelSpec::named(name).is_some() {
        format!("fetch it with `closeread model pull {name}`")
    } else {
        "see `closeread model list`, or give the path of a model folder".to_owned()
    };
    let meant = meant(name, names.iter().map(String::as_str));
    bail!("no embedding model `{name}` is installed{meant} (installed: {}); {hint}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_model_is_what_its_manifest_says() {
        let model = Installed::shipped().expect("readable");
        assert_eq!(model.spec.name, SHIPPED);
        assert_eq!(ModelSpec::named(SHIPPED), Some(model.spec.clone()));
        for name in [ONNX, TOKENIZER, SPEC] {
            let bytes = model.file(name).expect("shipped");
            assert_eq!(model.manifest.files.get(name), Some(&sha256(&bytes)), "{name}");
        }
    }

    #[test]
    fn a_model_that_is_described_but_not_installed_is_offered() {
        let message = find("multilingual-e5-large").expect_err("not installed").to_string();
        assert!(message.contains("closeread model pull multilingual-e5-large"), "{message}");
    }
}
