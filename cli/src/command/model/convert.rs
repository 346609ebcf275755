//! `closeread model convert`: published files in, a model folder out.

use super::reference::reference;
use super::verify::related_cosine;
use anyhow::{Context, anyhow, bail};
use closeread_embed::onnx::{WeightFormat, convert, dimension, max_tokens};
use closeread_embed::{EmbeddingModel, ModelSpec, Pooling};
use closeread_runner::models::{Installed, MANIFEST, Manifest, ONNX, SPEC, TOKENIZER, models_dir};
use closeread_text::hash::sha256;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracing::info;

/// Name of the file with the configuration, as models are published.
pub(super) const CONFIG: &str = "config.json";
/// Name of the file with the weights, as models are published.
pub(super) const WEIGHTS: &str = "model.safetensors";

/// The origin of a model, as its manifest states it.
pub(super) struct Origin {
    /// Name of the folder or repository.
    pub(super) source: String,
    /// Command line that made the model.
    pub(super) recipe: String,
}

pub(super) fn run(
    dir: &Path,
    weights: WeightFormat,
    out: Option<PathBuf>,
    name: Option<String>,
    spec: Option<&Path>,
) -> anyhow::Result<ExitCode> {
    let spec = choose_spec(dir, name, spec)?;
    ModelSpec::check_name(&spec.name).map_err(|problem| anyhow!("`{}`: {problem}: give another --name", spec.name))?;
    let out = match out {
        Some(out) => {
            refuse_foreign(&out)?;
            out
        }
        None => models_dir()?.join(&spec.name),
    };
    let format = serde_json::to_value(weights)?;
    let origin = Origin {
        source: spec.hub.as_ref().map_or_else(|| "a local folder".to_owned(), |hub| hub.repo.clone()),
        recipe: format!(
            "closeread model convert DIR --weights {} --name {}",
            format.as_str().unwrap_or_default(),
            spec.name
        ),
    };
    let model = install(dir, &spec, weights, &out, origin)?;
    info!("wrote {} ({})", model.place(), model.spec.name);
    Ok(ExitCode::SUCCESS)
}

/// Refuses a folder in which something lies that is no model of ours: the published files are there, or a person's.
fn refuse_foreign(out: &Path) -> anyhow::Result<()> {
    if closeread_files::entries(out)?.is_empty() || Installed::in_folder(out).is_ok() {
        return Ok(());
    }
    bail!("{} is not empty and holds no model that closeread converted: name another folder by --out", out.display())
}

/// Converts the files in `dir` and writes the model folder `out`, the manifest last.
pub(super) fn install(
    dir: &Path,
    spec: &ModelSpec,
    weights: WeightFormat,
    out: &Path,
    origin: Origin,
) -> anyhow::Result<Installed> {
    let mut made_from = BTreeMap::new();
    let mut read = |name: &str| -> anyhow::Result<Vec<u8>> {
        let bytes = read_published(dir, name)?;
        made_from.insert(name.to_owned(), sha256(&bytes));
        Ok(bytes)
    };
    let (config, tokenizer) = (read(CONFIG)?, read(TOKENIZER)?);
    let in_dir = || format!("converting {}", dir.display());
    let (found, longest) = (dimension(&config).with_context(in_dir)?, max_tokens(&config).with_context(in_dir)?);
    if found != spec.dimension {
        bail!(
            "{}: hidden_size is {found}, the description of `{}` says dimension = {}",
            dir.display(),
            spec.name,
            spec.dimension
        );
    }
    if longest < spec.max_tokens {
        bail!(
            "{}: the model has {longest} positions, the description of `{}` says max_tokens = {}",
            dir.display(),
            spec.name,
            spec.max_tokens
        );
    }
    let onnx = convert(&config, &read(WEIGHTS)?, weights).with_context(in_dir)?;
    // Whatever cannot be run is not installed.
    let encoder = EmbeddingModel::new(spec.clone(), &tokenizer, reference(spec, &onnx)?)?;
    let cosine = related_cosine(&encoder)?;
    drop(encoder);

    std::fs::create_dir_all(out).with_context(|| format!("{} cannot be made", out.display()))?;
    let mut files = BTreeMap::new();
    let spec_toml = spec.to_toml();
    for (name, bytes) in [(ONNX, &onnx[..]), (TOKENIZER, &tokenizer), (SPEC, spec_toml.as_bytes())] {
        write(&out.join(name), bytes)?;
        files.insert(name.to_owned(), sha256(bytes));
    }
    let Origin { source, recipe } = origin;
    let licence = spec.hub.as_ref().map(|hub| hub.licence.clone());
    let manifest = Manifest { version: 1, weights, source, recipe, licence, made_from, files, cosine };
    let json = serde_json::to_string_pretty(&manifest)? + "\n";
    write(&out.join(MANIFEST), json.as_bytes())?;
    Installed::in_folder(out)
}

fn read_published(dir: &Path, name: &str) -> anyhow::Result<Vec<u8>> {
    let path = dir.join(name);
    let hint = if name == WEIGHTS && dir.join("model.safetensors.index.json").exists() {
        " (its weights are split over several files: join them into one model.safetensors)"
    } else if name == WEIGHTS && dir.join("pytorch_model.bin").exists() {
        " (pytorch_model.bin is not read: save the model as safetensors)"
    } else {
        " (a published encoder has config.json, model.safetensors and tokenizer.json)"
    };
    closeread_files::read_file_within(&path, u64::MAX)
        .with_context(|| format!("{} cannot be read{hint}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let part = path.with_extension("part");
    std::fs::write(&part, bytes)
        .and_then(|()| std::fs::rename(&part, path))
        .with_context(|| format!("{} cannot be written", path.display()))
}

/// The description to convert with: given, built in, or read from what sentence-transformers leaves in a folder.
fn choose_spec(dir: &Path, name: Option<String>, spec: Option<&Path>) -> anyhow::Result<ModelSpec> {
    if let Some(path) = spec {
        let mut spec = read_spec(path)?;
        spec.name = name.unwrap_or(spec.name);
        return Ok(spec);
    }
    let folder_name = || Some(dir.canonicalize().ok()?.file_name()?.to_string_lossy().into_owned());
    let name = name.or_else(folder_name).context("give the model a --name")?;
    match ModelSpec::named(&name) {
        Some(spec) => Ok(spec),
        None => described_by_folder(dir, name),
    }
}

fn described_by_folder(dir: &Path, name: String) -> anyhow::Result<ModelSpec> {
    let json = |file: &str| -> Option<serde_json::Value> {
        serde_json::from_slice(&closeread_files::read_file(dir.join(file)).ok()?).ok()
    };
    let config = read_published(dir, CONFIG)?;
    let pooling = json("1_Pooling/config.json").and_then(|pooling| {
        let modes =
            pooling.as_object()?.iter().filter(|(key, value)| key.starts_with("pooling_mode_") && **value == true);
        match modes.map(|(key, _)| key.as_str()).collect::<Vec<_>>()[..] {
            ["pooling_mode_mean_tokens"] => Some(Pooling::Mean),
            ["pooling_mode_cls_token"] => Some(Pooling::Cls),
            _ => None,
        }
    });
    let Some(pooling) = pooling else {
        bail!(
            "{} does not say how its states become one vector (1_Pooling/config.json with mean or cls): describe the model \
             with --spec (name, dimension, max_tokens, pooling, query_prefix, passage_prefix)",
            dir.display()
        );
    };
    let longest = max_tokens(&config)?;
    let said = json("sentence_bert_config.json").and_then(|config| config["max_seq_length"].as_u64());
    info!("note: no description of `{name}`: taken from its folder, without prefixes (--spec says otherwise)");
    Ok(ModelSpec {
        name,
        dimension: dimension(&config)?,
        max_tokens: said.and_then(|said| usize::try_from(said).ok()).map_or(longest, |said| said.min(longest)),
        pooling,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        normalize: true,
        languages: Vec::new(),
        hub: None,
        check: None,
    })
}

/// Reads a description from a TOML file.
pub(super) fn read_spec(path: &Path) -> anyhow::Result<ModelSpec> {
    let text = closeread_files::read_text_file(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(ModelSpec::from_toml(&path.display().to_string(), &text)?)
}
