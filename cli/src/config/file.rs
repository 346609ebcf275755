//! The options of `run` from a TOML file.

use super::RunArgs;
use crate::{ranges, stores};
use anyhow::{Context, Result, anyhow};
use closeread_data::adapter;
use closeread_llm::price::without_value;
use closeread_providers::extra_body;
use closeread_runner::benchmark::SAMPLE;
use closeread_runner::pricing;
use closeread_text::names::meant;
use merge::Merge;
use std::path::{Path, PathBuf};
use tracing::debug;

/// Options of every run, in the user's configuration folder.
const USER_FILE: &str = "run.toml";

/// The file with the user's options, where there is one.
pub(crate) fn user_file() -> Option<PathBuf> {
    pricing::own_file(USER_FILE)
}

impl RunArgs {
    /// The options with those of the `--config` file filled in where the command line and the environment say nothing, then
    /// those of the user's file. A benchmark and data in a store are fetched.
    pub(crate) fn with_config_file(self) -> Result<Self> {
        let mut options = self.with_files()?;
        stores::fetched_one(&mut options.benchmark)?;
        stores::fetched_each(&mut options.data)?;
        Ok(options)
    }

    /// The same where nothing is read of the benchmark: one in a store is not fetched.
    pub(crate) fn with_files(mut self) -> Result<Self> {
        if let Some(path) = self.config.clone() {
            self.fill_in(&path)?;
        }
        if let Some(path) = user_file() {
            self.fill_in(&path)?;
            debug!("options of {} hold where nothing else is said", path.display());
        }
        Ok(self)
    }

    fn fill_in(&mut self, path: &Path) -> Result<()> {
        let text = closeread_files::read_text_file(path)
            .with_context(|| format!("cannot read the config {}", path.display()))?;
        let wrong = |error: toml::de::Error| {
            let before = error.span().map(|at| &text[..at.start]);
            let place = before.map_or_else(String::new, |before| format!(":{}", before.matches('\n').count() + 1));
            let name = before.and_then(|before| before.lines().last()?.split_once('=')).map(|(name, _)| name.trim());
            anyhow!("{}{place}: {}", path.display(), worded(&without_value(error.message()), name))
        };
        ranges::check_file(&text.parse().map_err(wrong)?).with_context(|| path.display().to_string())?;
        let file: Self = toml::from_str(&text).map_err(wrong)?;
        let mut file = file.in_folder(path.parent().unwrap_or(Path::new("")));
        if self.benchmark.is_some() && file.benchmark.is_some() && self.benchmark != file.benchmark {
            // They are of the other benchmark.
            file.data.clear();
        }
        self.merge(file);
        Ok(())
    }

    /// The options of a file that lies in `folder`, to which its paths are relative.
    fn in_folder(mut self, folder: &Path) -> Self {
        // Names of what is built in or installed stay names.
        let is_path = |name: &str| name.contains(['/', std::path::MAIN_SEPARATOR]);
        let beside = |name: &mut Option<String>, is_there: fn(&Path) -> bool| {
            if let Some(path) = name.as_ref().map(|name| folder.join(name)).filter(|path| is_there(path)) {
                *name = Some(path.to_string_lossy().into_owned());
            }
        };
        if self.benchmark.as_deref().is_some_and(|name| name != SAMPLE && adapter(name).is_none()) {
            beside(&mut self.benchmark, Path::is_dir);
        }
        beside(&mut self.tokenizer, Path::is_file);
        if self.reranker.as_deref().is_some_and(is_path) {
            beside(&mut self.reranker, Path::is_dir);
        }
        let named = [&mut self.embedder_spec, &mut self.out, &mut self.model_info, &mut self.prompts];
        for path in named.into_iter().flatten().chain(&mut self.data).filter(|path| !stores::is_address(path)) {
            *path = folder.join(&path);
        }
        for option in self.extra_body.iter_mut().chain(&mut self.judge_extra_body) {
            *option = extra_body::beside(folder, option);
        }
        self
    }
}

/// Words what is wrong with a file of options, whose option `name` it is about.
fn worded(message: &str, name: Option<&str>) -> String {
    const EXPECTED: &str = "expected the options of `closeread run` as TOML";
    if let Some(unknown) = message.strip_prefix("unknown field ") {
        let mut names = unknown.split('`').skip(1).step_by(2);
        let name = names.next().unwrap_or_default();
        return format!("unknown option `{name}`{}: `closeread run --help` lists all", meant(name, names));
    }
    let found = message.strip_prefix("invalid type: ").and_then(|message| message.split_once(", expected "));
    let (Some((found, expected)), Some(name)) = (found, name) else { return format!("{message}: {EXPECTED}") };
    let found = match found {
        "string" => "text",
        "integer" | "floating point" => "a number",
        "sequence" => "a list",
        "map" => "a table",
        found => found,
    };
    let expected = match expected {
        "a sequence" => "a list in brackets",
        "a string" => "text in quotes",
        "u16" | "u32" | "u64" | "usize" => "a whole number",
        "f64" => "a number",
        expected => expected,
    };
    format!("`{name}`: found {found}, expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_option_is_named_with_what_to_write() {
        let of = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("c.toml");
            std::fs::write(&path, text).unwrap();
            let said = RunArgs::default().fill_in(&path).unwrap_err().to_string();
            said[said.find("c.toml").unwrap()..].to_owned()
        };
        assert_eq!(
            of("seed = 1\nbugdet = []"),
            "c.toml:2: unknown option `bugdet` (did you mean `budget`?): `closeread run --help` lists all"
        );
        assert_eq!(of("model = \"m\""), "c.toml:1: `model`: found text, expected a list in brackets");
        assert_eq!(of("seed = []"), "c.toml:1: `seed`: found a list, expected a whole number");
        assert!(of("model = ").ends_with("expected the options of `closeread run` as TOML"));
    }
}
