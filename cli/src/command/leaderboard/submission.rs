//! A submission, read: whatever is wrong with it is said of it alone.

use anyhow::{Result, anyhow, bail};
use closeread_eval::{InputFile, Item};
use closeread_files::{entries, leads_outside};
use closeread_llm::price::toml_problem;
use closeread_report::Run;
use closeread_report::site::{About, Found, Submission, SubmissionError, held_to, of_predictions};
use closeread_runner::finished::{self, Texts};
use serde::Deserialize;
use std::path::Path;
use toml::value::{Datetime, Value};

/// Name of the file with what a submitter says of the submission.
const ABOUT: &str = "submission.toml";
/// The answers of a submission that is no run.
const PREDICTIONS: &str = "predictions.jsonl";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AboutFile {
    date: Option<Value>,
    about: Option<String>,
    url: Option<String>,
    model: Option<String>,
    withdrawn: Option<String>,
}

/// Reads the folder of a submission.
pub(super) fn read(name: &str, path: &Path, gold: &[Item]) -> Submission {
    let (about, found) = match refuse_links(path).and_then(|()| about(path)) {
        Err(error) => (About::default(), Err(error)),
        Ok((about, Some(why))) => (about, Ok(Found::Withdrawn(why))),
        Ok((about, None)) => {
            let run = run(name, path, about.model.as_deref(), gold);
            (about, run.map(|run| Found::Run(Box::new(run))))
        }
    };
    let found = found.unwrap_or_else(|error| Found::Broken(format!("{error:#}")));
    Submission { name: name.to_owned(), about, found }
}

/// Refuses a submission with a link that leads out of it: the site publishes what is read, and the messages on it.
pub(super) fn refuse_links(folder: &Path) -> Result<()> {
    let mut there = entries(folder)?;
    for inner in there.clone().iter().filter(|path| path.is_dir() && !path.is_symlink()) {
        there.extend(entries(inner)?);
    }
    match there.iter().find(|path| leads_outside(folder, path)) {
        Some(link) => bail!("{} is a link that leads out of the submission", link.display()),
        None => Ok(()),
    }
}

/// Reads what the submitter says, and why the submission was withdrawn, if it was.
fn about(folder: &Path) -> Result<(About, Option<String>)> {
    let path = folder.join(ABOUT);
    let text = closeread_files::read_text(&path)?.unwrap_or_default();
    let said: AboutFile = toml::from_str(&text).map_err(|error| {
        let day = if is_of_date(&text, &error) { "; a day is written as in date = 2026-01-31" } else { "" };
        anyhow!("{}: {}{day}", path.display(), toml_problem(&text, &error))
    })?;
    let AboutFile { date, about, url, model, withdrawn } = said;
    let date = match &date {
        Some(Value::Datetime(date)) => Some(Ok(*date)),
        Some(Value::String(text)) => Some(text.parse::<Datetime>()),
        Some(_) => Some("".parse::<Datetime>()),
        None => None,
    };
    let date = match date {
        None => None,
        Some(Ok(Datetime { date: Some(day), time: None, .. })) => Some(day.to_string()),
        Some(_) => bail!("{}: `date` is no day: expected one, as in date = 2026-01-31", path.display()),
    };
    if let Some(url) = url.as_ref().filter(|url| !url.starts_with("https://") && !url.starts_with("http://")) {
        bail!("{}: `url` is {url}: expected an address that begins with https://", path.display());
    }
    Ok((About { date, about, url, model }, withdrawn))
}

/// Returns whether it is the line of `date` that is no TOML, as a day is that stands there in a form of some country.
fn is_of_date(text: &str, error: &toml::de::Error) -> bool {
    let before = error.span().map_or("", |at| &text[..at.start]);
    let line = &text[before.rfind('\n').map_or(0, |end| end + 1)..];
    line.split(['=', '\n']).next().is_some_and(|name| name.trim() == "date")
}

fn run(name: &str, folder: &Path, model: Option<&str>, gold: &[Item]) -> Result<Run> {
    if finished::is_run_folder(folder) {
        let run = finished::load(folder, name.to_owned(), Texts::Count)?;
        finished::refuse_rankings(&run.plan, folder)?;
        return held_to(run, gold).map_err(with_command);
    }
    let path = folder.join(PREDICTIONS);
    let Some(bytes) = closeread_files::read(&path)? else {
        let holds = |path: &std::path::PathBuf| finished::is_run_folder(path) || path.join(PREDICTIONS).is_file();
        let hint = match entries(folder)?.iter().any(holds) {
            true => format!("; folders in it do: name them by --runs '{}/*'", folder.display()),
            false => String::new(),
        };
        bail!("{} holds neither a run (manifest.json) nor {PREDICTIONS}{hint}", folder.display());
    };
    Ok(of_predictions(name, model, gold, &InputFile { name: path.display().to_string(), bytes })?)
}

/// Adds the command that makes predictions of a run on questions alone.
fn with_command(error: SubmissionError) -> anyhow::Error {
    match error {
        SubmissionError::NoGold(_) => {
            anyhow!("{error} (`closeread export predictions RUN --out {PREDICTIONS}`), in a folder of their own")
        }
        error => error.into(),
    }
}
