//! Scoring of predictions against gold answers.

use crate::files;
use anyhow::{Result, bail};
use closeread_data::jsonl;
use closeread_data::scoring::format::{Format, FormatInput};
use closeread_data::scoring::{Options, Scorecard, Submission, score};
use closeread_eval::{Evaluator, InputFile, Item};
use closeread_metrics::Metric;
use closeread_metrics::meteor::WordNet;
use std::collections::BTreeMap;
use std::path::Path;

/// The predictions in files of a published layout.
#[derive(Debug)]
pub enum Published {
    /// The predictions of one system.
    One(Box<Submission>),
    /// Predictions of several systems, by the system's name.
    Systems(BTreeMap<String, Submission>),
}

/// Reads `items.jsonl`, or that of a folder.
///
/// # Errors
/// If there is none.
pub fn gold(path: &Path) -> Result<InputFile> {
    files::read(&files::items_file(path))
}

/// Reads the items of [`gold`] for what is published: no row may be left out.
///
/// # Errors
/// If there are none, or a row is none.
pub fn whole_items(path: &Path) -> Result<Vec<Item>> {
    let file = gold(path)?;
    let (items, problems) = jsonl::items(&file);
    match problems.iter().find(|problem| problem.dropped) {
        Some(problem) => bail!("{problem}"),
        None if items.is_empty() => bail!("{} holds no item", file.name),
        None => Ok(items),
    }
}

/// Reads `predictions.jsonl` of a submission's folder, or a file.
///
/// # Errors
/// If there is none.
pub fn predictions(path: &Path) -> Result<InputFile> {
    if path.is_dir() { files::read(&path.join("predictions.jsonl")) } else { files::read(path) }
}

/// Reads predictions as they were published. Without `system` those of all systems.
///
/// # Errors
/// If the files are not of that layout, or there is no such task or system.
pub fn published(
    format: &Format,
    files: &[InputFile],
    gold: &[InputFile],
    task: Option<&str>,
    system: Option<&str>,
) -> Result<Published> {
    let input = |system| FormatInput { files, gold, task, system };
    let systems = if system.is_none() { (format.systems)(&input(None)) } else { Vec::new() };
    if systems.len() < 2 {
        return Ok(Published::One(Box::new((format.read)(&input(system))?)));
    }
    let read = systems.iter().map(|system| Ok((system.clone(), (format.read)(&input(Some(system)))?)));
    Ok(Published::Systems(read.collect::<Result<_>>()?))
}

/// Scores a submission, with the WordNet that METEOR needs.
///
/// # Errors
/// If a label is unknown.
pub fn scorecard(submission: &Submission, options: &Options) -> Result<Scorecard> {
    let metrics = options.metrics_for(submission);
    let wordnet = metrics.contains(&Metric::Meteor).then(WordNet::built_in);
    let evaluator = Evaluator::new(metrics, options.chinese, wordnet)?;
    Ok(score(submission, &evaluator, options)?)
}
