//! Reading what a run left behind, without touching it.

mod streamed;

pub use streamed::{StoredRecords, Streamed, stream};

use crate::judging::{JUDGEMENTS, JUDGING};
use crate::run_folder::{EMBEDDINGS, MANIFEST, PRICES, RERANKING, StoredTexts, TEXTS, preparation_files, served_calls};
use crate::texts::BookTexts;
use crate::tokenizer;
use anyhow::{Context, Result, anyhow, bail};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, ReadOptions};
use closeread_data::statistics::BookFacts;
use closeread_eval::ranking::RANKED_ALONE;
use closeread_files as files;
use closeread_files::run_files::RECORDS;
use closeread_methods::record::Record;
use closeread_report::folder::{
    DocumentEntry, FolderError, RunConfiguration, RunFiles, RunManifest, read_record, read_records, read_run,
    run_of_records,
};
use closeread_report::{Arm, Run, TokenPlaces, served_usage};
use closeread_text::Language;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use tracing::info;

/// The choice whether the books are read and counted, which takes a second a million words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// The books are read and counted.
    Count,
    /// The books are not read.
    Skip,
}

/// A run folder, and the name that its configuration is to have beside others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFolder {
    /// Path of the folder.
    pub path: PathBuf,
    /// The name; `None` leaves it to the run.
    pub name: Option<String>,
}

impl FromStr for NamedFolder {
    type Err = Infallible;

    /// `DIR` or `DIR=NAME`; what exists as it stands is a folder.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let named = text.rsplit_once('=').filter(|(_, name)| !name.is_empty() && !Path::new(text).exists());
        Ok(match named {
            Some((path, name)) => Self { path: path.into(), name: Some(name.to_owned()) },
            None => Self { path: text.into(), name: None },
        })
    }
}

/// The runs in these folders. Where there are several, each stands under the name that was given, else under that of its
/// configuration, which its manifest has, else under its folder's, or its path where two folders have one name.
pub fn load_all(folders: &[NamedFolder], texts: Texts) -> Result<Vec<Run>> {
    let own: Vec<String> = folders.iter().map(|folder| folder_name(&folder.path)).collect();
    let mut runs = Vec::new();
    for (NamedFolder { path, name }, own_name) in folders.iter().zip(&own) {
        let unique = own.iter().filter(|other| *other == own_name).count() == 1;
        let otherwise = || if unique { own_name.clone() } else { path.display().to_string() };
        let of_configuration = match name {
            None if folders.len() > 1 => manifest(path)?.configuration_name,
            _ => None,
        };
        runs.push(load(path, name.clone().or(of_configuration).unwrap_or_else(otherwise), texts)?);
    }
    Ok(runs)
}

/// The run in a folder.
///
/// # Errors
/// If manifest, items or records are not there or cannot be read; file and line are named. A last line of the records
/// that a kill cut short is skipped, as a resumed run does. What else is damaged or missing is among [`Run::gaps`].
pub fn load(path: &Path, name: String, texts: Texts) -> Result<Run> {
    match texts {
        Texts::Count => load_with(path, name, |configuration| books(path, configuration)),
        Texts::Skip => load_uncounted(path, name),
    }
}

/// The run in a folder, whose books are not read. What links to this alone is without tokenizers and the models that bring
/// them.
///
/// # Errors
/// As [`load`].
pub fn load_uncounted(path: &Path, name: String) -> Result<Run> {
    load_with(path, name, |_| Counted::default())
}

fn load_with(path: &Path, name: String, counted: impl FnOnce(&RunConfiguration) -> Counted) -> Result<Run> {
    let read = |name: &str| {
        closeread_files::read_file(path.join(name))
            .with_context(|| format!("cannot read {}", path.join(name).display()))
    };
    let manifest_bytes = manifest_bytes(path)?;
    let (items, records) = (read("items.jsonl")?, read(RECORDS)?);
    let optional = |name: &str| files::read(&path.join(name));
    let (judging, judgements, prices) = (optional(JUDGING)?, optional(JUDGEMENTS)?, optional(PRICES)?);
    let run_files = RunFiles {
        manifest: &manifest_bytes,
        items: &items,
        records: &records,
        judging: judging.as_deref(),
        judgements: judgements.as_deref(),
        prices: prices.as_deref(),
        preparations: &preparation_files(path)?,
    };
    let counted = counted(&manifest(path)?.configuration);
    let (mut run, _) = read_run(name, &run_files, counted.places).map_err(|error| of_folder(path, &error))?;
    run.gaps.extend(counted.damaged);
    run.served = served_usage(&[served_calls(path, EMBEDDINGS)?, served_calls(path, RERANKING)?].concat(), &run.prices);
    let fact = |(document, language, tokens): &(DocumentEntry, Language, usize)| {
        let count = |text: &str| counted.tokenizer.as_ref().map_or(0, |tokenizer| tokenizer.count(text));
        BookFacts::of(&document.id, &document.title, language.code(), *tokens, &run.items, count)
    };
    run.data = counted.lengths.iter().map(fact).collect();
    Ok(run)
}

/// Adds the folder in which the files lie to an error of core on them.
fn of_folder(path: &Path, error: &FolderError) -> anyhow::Error {
    anyhow!("{}{}{error}", path.display(), std::path::MAIN_SEPARATOR)
}

/// The records of a run as they were written, without what judges said of them afterwards.
pub fn records(path: &Path) -> Result<Vec<Record>> {
    let file = path.join(RECORDS);
    let bytes = closeread_files::read_file(&file).with_context(|| format!("cannot read {}", file.display()))?;
    read_records(&bytes).map_err(|error| of_folder(path, &error))
}

/// The books of a run by id, without their texts, which [`texts`] has; those that cannot be read are said and left out.
pub fn books_of(folder: &Path) -> Result<BTreeMap<String, Arc<Book>>> {
    let manifest = manifest(folder)?;
    let mut books = BTreeMap::new();
    for document in &manifest.configuration.documents {
        match book(folder, &manifest.configuration, document) {
            Ok(book) => {
                books.insert(document.id.clone(), Arc::new(book.let_go()));
            }
            Err(error) => info!("document `{}` cannot be read: {error:#}", document.id),
        }
    }
    Ok(books)
}

/// The texts of a run's books.
pub fn texts(folder: &Path) -> BookTexts {
    BookTexts::stored(texts_of(folder))
}

/// True for a folder that a run was made in.
pub fn is_run_folder(path: &Path) -> bool {
    path.join("manifest.json").is_file()
}

/// Refuses what `closeread retrieve` made: its trials have rankings, and an empty answer each.
///
/// # Errors
/// If the plan is that of a grid of rankings.
pub fn refuse_rankings(plan: &[Arm], path: &Path) -> Result<()> {
    if plan.iter().any(|arm| arm.model == RANKED_ALONE) {
        bail!("{} holds rankings of `closeread retrieve`, and no answers", path.display());
    }
    Ok(())
}

/// Returns the last part of a path, also of `.` and `..`.
pub fn folder_name(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Books of a run by their ids, as the run read them, with their texts.
///
/// # Errors
/// If the run has no such document, or its text is not there.
pub fn documents(path: &Path, ids: &[String]) -> Result<Vec<Arc<Book>>> {
    let configuration = manifest(path)?.configuration;
    let of = |id: &String| {
        let entry = configuration.documents.iter().find(|document| document.id == *id);
        let entry = entry.with_context(|| format!("{} has no document `{id}`", path.display()))?;
        book(path, &configuration, entry).map(Arc::new)
    };
    ids.iter().map(of).collect()
}

fn manifest(path: &Path) -> Result<RunManifest> {
    RunManifest::read(&manifest_bytes(path)?).map_err(|error| of_folder(path, &error))
}

fn manifest_bytes(path: &Path) -> Result<Vec<u8>> {
    let file = path.join(MANIFEST);
    closeread_files::read_file(&file).with_context(|| {
        format!("cannot read {}: expected a run folder, which `closeread run --out DIR` makes", file.display())
    })
}

/// The books of a run, counted.
#[derive(Default)]
struct Counted {
    /// Places of tokens by document.
    places: BTreeMap<String, TokenPlaces>,
    /// The tokens of each as it is read.
    lengths: Vec<(DocumentEntry, Language, usize)>,
    /// Tokenizer that counted.
    tokenizer: Option<Tokenizer>,
    /// Messages on texts that are damaged.
    damaged: Vec<String>,
}

/// Counts the books of a run. A text that is not there or cannot be read leaves its tables empty, which is said.
fn books(folder: &Path, configuration: &RunConfiguration) -> Counted {
    let tokenizer = match tokenizer::load(Some(&configuration.tokenizer), None) {
        Ok(tokenizer) => tokenizer,
        Err(_) => {
            info!(
                "lengths and positions are counted with cl100k: the run's tokenizer `{}` is not at hand",
                configuration.tokenizer
            );
            Tokenizer::cl100k()
        }
    };
    let mut counted = Counted::default();
    for document in &configuration.documents {
        let count = |book: Book| {
            let text = book.text()?;
            let read = tokenizer.count(text.flow().text());
            Ok((TokenPlaces::of_text(&book, &text, &tokenizer), book.language, read))
        };
        match book(folder, configuration, document).and_then(count) {
            Ok((places, language, tokens)) => {
                counted.places.insert(document.id.clone(), places);
                counted.lengths.push((document.clone(), language, tokens));
            }
            Err(error) => {
                info!("no lengths and positions for document `{}`: {error:#}", document.id);
                // A run may be handed on without its books; a file of one that is there must be whole.
                if texts_of(folder).file(&document.sha256).exists() {
                    counted.damaged.push(format!("DAMAGED: the text of document `{}`: {error:#}", document.id));
                }
            }
        }
    }
    counted.tokenizer = Some(tokenizer);
    counted
}

fn texts_of(folder: &Path) -> StoredTexts {
    StoredTexts { folder: folder.join(TEXTS) }
}

fn book(folder: &Path, configuration: &RunConfiguration, document: &DocumentEntry) -> Result<Book> {
    if !document.sha256.bytes().all(|b| b.is_ascii_hexdigit()) {
        bail!("its sha256 in manifest.json is none");
    }
    let options = ReadOptions {
        language: document.language.as_deref().and_then(Language::stored),
        keep_frame: configuration.keep_frame,
        keep_wraps: configuration.keep_wraps,
    };
    let of = |text| Book::new(document.id.clone(), document.title.clone(), text, &options);
    texts_of(folder).book(&document.sha256, of)
}
