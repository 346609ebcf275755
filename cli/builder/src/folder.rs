//! The folder of a build: what was asked for, and a file a stage.

use anyhow::{Context, Result, bail};
use closeread_build::{BuildError, StageStore, Stored, canary};
use closeread_files::{self as files, open_lines, pretty, write_atomically};
use closeread_providers::ending::is_ending;
use closeread_runner::journal::{Journal, Journals};
use closeread_runner::progress::Progress;
use closeread_runner::run_folder::{EMBEDDINGS, differences, lock, read_manifest, refuse_foreign, refuse_other_format};
use closeread_runner::spending::CHARGES;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Name of the file that holds, by hash, what each stage was made from.
const MADE_FROM: &str = "made_from.json";
/// Version of the layout.
const FORMAT: u32 = 1;

/// An open build folder; nobody else has it while this value lives.
pub struct BuildFolder {
    path: PathBuf,
    /// The line that every item has.
    canary: String,
    stages: &'static [&'static str],
    state: RefCell<State>,
    /// Lock of the folder, released by the system when the process ends, however it ends.
    _lock: File,
}

#[derive(Default)]
struct State {
    made_from: BTreeMap<String, String>,
    /// The stage that is worked on.
    open: Option<(&'static str, File)>,
    progress: Option<Progress>,
}

impl BuildFolder {
    /// Name of the manifest, which holds what was asked for.
    pub const MANIFEST: &str = "build.json";

    /// Opens `path` for the build that `configuration` describes, creating it if need be. With `from` the lines of that
    /// stage and of all later ones are forgotten, and the configuration may be another one for them.
    pub fn open(
        path: &Path,
        stages: &'static [&'static str],
        configuration: &Value,
        from: Option<&str>,
        fresh: bool,
    ) -> Result<Self> {
        refuse_foreign(path, Self::MANIFEST)?;
        refuse_other_format(&path.join(Self::MANIFEST), FORMAT)?;
        fs::create_dir_all(path.join("stages"))
            .with_context(|| format!("cannot create the folder {}; choose another with --out", path.display()))?;
        let lock = lock(path)?;
        let mut folder = Self {
            path: path.to_owned(),
            canary: canary(&configuration.to_string()),
            stages,
            state: RefCell::default(),
            _lock: lock,
        };
        if let Some(from) = from
            && !stages.contains(&from)
        {
            bail!("there is no stage `{from}`: expected {}", stages.join(", "));
        }
        let first = if fresh { stages.first().copied() } else { from };
        if let Some(first) = first {
            folder.forget(first)?;
        }
        if fresh {
            files::remove(&path.join(CHARGES))?;
            files::remove(&path.join(EMBEDDINGS))?;
        }
        folder.note(configuration, first)?;
        if let Some(bytes) = files::read(&folder.path.join("stages").join(MADE_FROM))? {
            let named = || format!("{MADE_FROM} in {} is damaged: start anew with --fresh", path.display());
            folder.state.get_mut().made_from = serde_json::from_slice(&bytes).with_context(named)?;
        }
        Ok(folder)
    }

    /// Returns the journal of the responses that are in no line yet.
    pub fn journal(&self) -> Result<Journal> {
        Journals::of_run(&self.path).of(&"build")
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The line that says that what is built here is test data; the same configuration has the same.
    pub fn canary(&self) -> &str {
        &self.canary
    }

    /// Takes the progress away.
    pub fn quiet(&self) {
        if let Some(progress) = self.state.borrow_mut().progress.take() {
            progress.finish();
        }
    }

    /// Removes what was needed to resume, now that the build is finished.
    pub fn tidy(&self, journal: &Journal) -> Result<()> {
        journal.remove()?;
        Journals::of_run(&self.path).tidy();
        Ok(())
    }

    /// Returns the path of the lines of a stage in the folder `path` of a build with these stages.
    pub fn file_of(path: &Path, stages: &[&str], stage: &str) -> PathBuf {
        let number = stages.iter().position(|known| *known == stage).map_or(0, |at| at + 1);
        path.join("stages").join(format!("{number}-{stage}.jsonl"))
    }

    fn file(&self, stage: &str) -> PathBuf {
        Self::file_of(&self.path, self.stages, stage)
    }

    fn part(&self, stage: &str) -> PathBuf {
        self.file(stage).with_extension("jsonl.part")
    }

    fn forget(&self, first: &str) -> Result<()> {
        for stage in self.stages.iter().skip_while(|stage| **stage != first) {
            files::remove(&self.file(stage))?;
            files::remove(&self.part(stage))?;
        }
        Ok(())
    }

    /// Refuses a folder of another build; with `first` the stages from there on are made by the new configuration, and
    /// what the earlier ones were made by is kept.
    fn note(&self, configuration: &Value, first: Option<&str>) -> Result<()> {
        let path = self.path.join(Self::MANIFEST);
        let mut manifest = json!({
            "format": FORMAT, "closeread": env!("CARGO_PKG_VERSION"), "canary": self.canary,
            "configuration": configuration,
        });
        if let Some(mut there) = read_manifest(&path)? {
            let changes = differences(&there["configuration"], configuration);
            if changes.is_empty() {
                return Ok(());
            }
            if first.is_none() {
                bail!(
                    "{} holds a build with another configuration:\n  {}\n  Use the same options to resume it, --from \
                     STAGE to make the stages from there on with these, --out for another folder, or --fresh to start \
                     anew there",
                    self.path.display(),
                    changes.join("\n  ")
                );
            }
            let mut earlier = there["earlier"].as_array().cloned().unwrap_or_default();
            if first != self.stages.first().copied() {
                earlier.push(json!({"until": first, "configuration": there["configuration"].take()}));
                manifest["earlier"] = Value::Array(earlier);
            }
        }
        write_atomically(&path, &pretty(&manifest))
    }

    fn stored(&self, stage: &'static str, made_from: &str) -> Result<Option<Stored>> {
        let path = self.file(stage);
        let same = self.state.borrow().made_from.get(stage).is_some_and(|known| known == made_from);
        if let Some(text) = files::read_text(&path)? {
            let lines = text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
            return Ok(same.then_some(Stored { lines, finished: true }));
        }
        let part = self.part(stage);
        if !same || !part.exists() {
            return Ok(Some(Stored::default()));
        }
        let (_, lines): (File, Vec<Value>) =
            open_lines(&part, "a line of the stage; remove it and its unit is made again")?;
        Ok(Some(Stored { lines: lines.iter().map(Value::to_string).collect(), finished: false }))
    }

    fn append_line(&self, stage: &'static str, made_from: &str, line: &str) -> Result<()> {
        let mut state = self.state.borrow_mut();
        if state.open.as_ref().is_none_or(|(open, _)| *open != stage) {
            let part = self.part(stage);
            if state.made_from.get(stage).is_none_or(|known| known != made_from) {
                files::remove(&part)?;
                state.made_from.insert(stage.to_owned(), made_from.to_owned());
                self.write_made_from(&state.made_from)?;
            }
            let (file, _): (File, Vec<Value>) = open_lines(&part, "a line of the stage")?;
            state.open = Some((stage, file));
        }
        let (_, file) = state.open.as_mut().expect("opened above");
        let part = self.part(stage);
        let written = files::append_lines(file, &part, format!("{line}\n").as_bytes());
        if written.is_err() {
            // A piece of the line may stand there: it is cut off when the file is opened again.
            state.open = None;
        }
        written.with_context(|| format!("cannot write {}", part.display()))?;
        if let Some(progress) = &state.progress {
            progress.tick();
        }
        Ok(())
    }

    fn finish_stage(&self, stage: &'static str, made_from: &str, lines: &[String]) -> Result<()> {
        let mut state = self.state.borrow_mut();
        state.open = None;
        state.made_from.insert(stage.to_owned(), made_from.to_owned());
        self.write_made_from(&state.made_from)?;
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        write_atomically(&self.file(stage), text.as_bytes())?;
        files::remove(&self.part(stage))?;
        if let Some(progress) = state.progress.take() {
            progress.finish();
        }
        Ok(())
    }

    fn write_made_from(&self, made_from: &BTreeMap<String, String>) -> Result<()> {
        write_atomically(&self.path.join("stages").join(MADE_FROM), &pretty(&json!(made_from)))
    }
}

impl StageStore for BuildFolder {
    fn read(&self, stage: &'static str, made_from: &str) -> Result<Stored, BuildError> {
        self.stored(stage, made_from).map_err(store)?.ok_or(BuildError::Stale { stage })
    }

    fn begin(&self, stage: &'static str, units: usize, done: usize) {
        let progress = Progress::new(stage, units);
        progress.advance(done);
        self.state.borrow_mut().progress = Some(progress);
    }

    fn append(&self, stage: &'static str, made_from: &str, line: &str) -> Result<(), BuildError> {
        self.append_line(stage, made_from, line).map_err(store)?;
        // No unit begins any more; those under way come here.
        if is_ending() { Err(BuildError::Stopped { stage }) } else { Ok(()) }
    }

    fn finish(&self, stage: &'static str, made_from: &str, lines: &[String]) -> Result<(), BuildError> {
        self.finish_stage(stage, made_from, lines).map_err(store)
    }
}

fn store(error: anyhow::Error) -> BuildError {
    BuildError::Store(format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGES: &[&str] = &["one", "two"];

    fn open(dir: &Path, configuration: Value, from: Option<&str>) -> Result<BuildFolder> {
        BuildFolder::open(dir, STAGES, &configuration, from, false)
    }

    #[test]
    fn finding_01_a_folder_that_is_no_build_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("documents.jsonl"), "mine").unwrap();
        for fresh in [false, true] {
            let error = BuildFolder::open(dir.path(), STAGES, &json!({}), None, fresh).err().unwrap().to_string();
            assert!(error.contains("holds `documents.jsonl` and no build.json of closeread"), "{error}");
        }
        assert_eq!(files::entries(dir.path()).unwrap().len(), 1);
    }

    #[test]
    fn a_stage_begun_goes_on_and_a_line_cut_short_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let folder = open(dir.path(), json!({}), None).unwrap();
        folder.append("one", "a", r#"{"id": "x"}"#).unwrap();
        folder.append("one", "a", r#"{"id": "y"}"#).unwrap();
        drop(folder);
        let part = dir.path().join("stages/1-one.jsonl.part");
        let bytes = fs::read(&part).unwrap();
        fs::write(&part, &bytes[..bytes.len() - 3]).unwrap();
        let folder = open(dir.path(), json!({}), None).unwrap();
        let stored = folder.read("one", "a").unwrap();
        assert_eq!((stored.lines, stored.finished), (vec![r#"{"id":"x"}"#.to_owned()], false));
        assert_eq!(folder.read("one", "b").unwrap(), Stored::default(), "begun from something else");
        folder.finish("one", "a", &["{}".to_owned()]).unwrap();
        assert!(!part.exists() && folder.read("one", "a").unwrap().finished);
        assert!(matches!(folder.read("one", "b"), Err(BuildError::Stale { stage: "one" })));
    }

    #[test]
    fn another_configuration_is_for_later_stages_only() {
        let dir = tempfile::tempdir().unwrap();
        let folder = open(dir.path(), json!({"model": "a"}), None).unwrap();
        for stage in ["one", "two"] {
            folder.finish(stage, "x", &[]).unwrap();
        }
        drop(folder);
        let refused = open(dir.path(), json!({"model": "b"}), None).err().unwrap().to_string();
        assert!(refused.contains("model: \"a\" there, \"b\" now") && refused.contains("--from STAGE"), "{refused}");
        assert!(open(dir.path(), json!({"model": "b"}), Some("three")).err().unwrap().to_string().contains("one, two"));
        let folder = open(dir.path(), json!({"model": "b"}), Some("two")).unwrap();
        assert!(folder.read("one", "x").unwrap().finished && !folder.read("two", "x").unwrap().finished);
        let manifest: Value =
            serde_json::from_slice(&fs::read(dir.path().join(BuildFolder::MANIFEST)).unwrap()).unwrap();
        assert_eq!(manifest["earlier"][0], json!({"until": "two", "configuration": {"model": "a"}}));
    }
}
