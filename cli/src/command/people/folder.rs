//! The folder of a study: the page, what it asks, and what its units are about.

use anyhow::{Context, Result, bail};
use closeread_files::{PARTIAL, pretty, read_file, read_lines, write_atomically, write_lines};
use closeread_judges::study::{PersonAnswers, STUDY_FORMAT, Study, StudyUnit, UnitKey};
use closeread_text::hash::short_hash;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const STUDY: &str = "study.json";
const KEYS: &str = "keys.jsonl";
const SOURCE: &str = "source.json";

/// A study, as its folder holds it.
pub(super) struct StudyFolder {
    /// Path of the folder.
    pub(super) path: PathBuf,
    /// The study that people are asked.
    pub(super) study: Study,
    /// Keys that say what the units are about.
    pub(super) keys: Vec<UnitKey>,
    /// The run that it was drawn from.
    pub(super) run: Option<PathBuf>,
}

/// True of a folder of texts alone, which a study has before it is written whole.
fn is_of_texts(path: &Path) -> bool {
    let is_text = |entry: &PathBuf| {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        let is_hash = |stem: &str| stem.len() == 12 && stem.bytes().all(|byte| byte.is_ascii_hexdigit());
        name.strip_suffix(".txt").is_some_and(is_hash) || (name.starts_with('.') && name.ends_with(PARTIAL))
    };
    path.ends_with("texts") && path.is_dir() && closeread_files::entries(path).is_ok_and(|all| all.iter().all(is_text))
}

impl StudyFolder {
    /// Refuses a folder that holds anything but a study: what is not ours is not written over.
    pub(super) fn claim(path: &Path) -> Result<()> {
        let study = closeread_files::read(&path.join(STUDY))?;
        let is_ours = study.is_some_and(|bytes| serde_json::from_slice::<Study>(&bytes).is_ok());
        let foreign = closeread_files::entries(path)?.into_iter().find(|entry| !is_of_texts(entry));
        match foreign.as_ref() {
            Some(foreign) if !is_ours => bail!(
                "{} holds `{}`, and no study: name an empty or a new folder by --out",
                path.display(),
                foreign.strip_prefix(path).unwrap_or(foreign).display()
            ),
            _ => closeread_files::remove_partial(path),
        }
    }

    /// Writes the page and all that is needed to read back what people say; gives the path of the page.
    pub(super) fn write(
        path: &Path,
        title: String,
        minutes: Option<u32>,
        units: Vec<(StudyUnit, UnitKey)>,
        run: Option<&Path>,
    ) -> Result<PathBuf> {
        if units.is_empty() {
            bail!("there is nothing to ask: no item or trial is of the kind that was asked for");
        }
        let (units, keys): (Vec<StudyUnit>, Vec<UnitKey>) = units.into_iter().unzip();
        let id = short_hash(&json!([title, minutes, units, keys]));
        let study = Study { format: STUDY_FORMAT, id, title, minutes, units };
        let there = closeread_files::read(&path.join(STUDY))?;
        let there = there.and_then(|bytes| serde_json::from_slice::<Study>(&bytes).ok());
        if there.is_some_and(|there| there.id != study.id) {
            bail!("{} holds another study: choose another folder with --out", path.display());
        }
        fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))?;
        write_atomically(&path.join(STUDY), &pretty(&json!(study)))?;
        write_lines(&path.join(KEYS), &keys)?;
        if let Some(run) = run {
            let run = run.canonicalize().unwrap_or_else(|_| run.to_owned());
            write_atomically(&path.join(SOURCE), &pretty(&json!({"run": run})))?;
        }
        let page = path.join("page.html");
        write_atomically(&page, closeread_people::study_page(&study)?.as_bytes())?;
        Ok(page)
    }

    /// Reads the study back.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file = path.join(STUDY);
        let bytes = read_file(&file).with_context(|| {
            format!("cannot read {}: expected a folder of `closeread people answer` or `people rate`", file.display())
        })?;
        let study: Study = serde_json::from_slice(&bytes).with_context(|| format!("{} is damaged", file.display()))?;
        if study.format != STUDY_FORMAT {
            bail!("{} has format {}, and this closeread reads format {STUDY_FORMAT}", file.display(), study.format);
        }
        let keys: Vec<UnitKey> = read_lines(&path.join(KEYS), "what a unit is about")?;
        let mut units = BTreeSet::new();
        if let Some(twice) = keys.iter().find(|key| !units.insert(&key.unit)) {
            bail!("{}: `{}` is there twice: expected a line a unit; remove one", path.join(KEYS).display(), twice.unit);
        }
        let source = closeread_files::read(&path.join(SOURCE))?;
        let source: Option<Value> = source.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let run = source.as_ref().and_then(|source| source.get("run")?.as_str()).map(PathBuf::from);
        Ok(Self { path: path.to_owned(), study, keys, run })
    }

    /// Reads the answers of these people; each has a name of their own.
    pub(super) fn people(&self, files: &[PathBuf]) -> Result<Vec<PersonAnswers>> {
        let read = |file: &PathBuf| {
            let bytes = read_file(file).with_context(|| format!("cannot read {}", file.display()))?;
            PersonAnswers::read(&bytes, &self.study).with_context(|| format!("cannot use {}", file.display()))
        };
        let people = files.iter().map(read).collect::<Result<Vec<_>>>()?;
        let mut names = BTreeSet::new();
        if let Some(twice) = people.iter().find(|person| !names.insert(person.rater.clone())) {
            bail!("two files are by `{}`: write another `rater` into one of them", twice.rater);
        }
        Ok(people)
    }
}
