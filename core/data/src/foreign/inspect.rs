//! Logs of inspect_ai, versions 1 and 2: an `.eval`, which is a ZIP of a header and samples, or one JSON.

mod kept;

use super::{ForeignError, ForeignLog, ForeignSample, documents, item, labels, option_of};
use closeread_eval::rows::{scalar, scalars};
use closeread_eval::{InputFile, Outcome, Task};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The newest version that is read.
const VERSION: u64 = 2;
/// Field of a sample's metadata in which closeread writes the task of the item: inspect has no word for a summary.
pub const ITEM_TASK: &str = "item_task";
const EXPECTED: &str = "expected a log of inspect_ai (.eval or .json)";

#[derive(Deserialize)]
struct Header {
    version: Option<u64>,
    #[serde(default)]
    status: String,
    /// A [`Spec`], which a newer version may write in another way.
    #[serde(default)]
    eval: Value,
}

#[derive(Deserialize)]
struct Spec {
    task: String,
    model: String,
    #[serde(default)]
    task_args: Map<String, Value>,
    #[serde(default)]
    packages: Map<String, Value>,
    #[serde(default)]
    config: Value,
}

#[derive(Deserialize)]
struct Samples {
    #[serde(default)]
    samples: Option<Vec<Sample>>,
}

#[derive(Deserialize)]
struct Sample {
    id: Value,
    #[serde(default)]
    epoch: Option<u32>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    target: Value,
    #[serde(default)]
    choices: Option<Vec<String>>,
    #[serde(default)]
    scores: Option<BTreeMap<String, SampleScore>>,
    /// The score where older logs have but one, without its scorer's name.
    #[serde(default)]
    score: Option<SampleScore>,
    #[serde(default)]
    metadata: Map<String, Value>,
    #[serde(default)]
    output: Option<Output>,
    #[serde(default)]
    error: Option<SampleError>,
    #[serde(default)]
    limit: Option<Limit>,
    #[serde(default)]
    total_time: Option<f64>,
    #[serde(default)]
    model_usage: BTreeMap<String, Usage>,
}

#[derive(Deserialize)]
struct SampleScore {
    value: Value,
    #[serde(default)]
    answer: Option<String>,
}

#[derive(Deserialize)]
struct Output {
    #[serde(default)]
    completion: String,
    #[serde(default)]
    choices: Vec<OutputChoice>,
}

#[derive(Deserialize)]
struct OutputChoice {
    #[serde(default)]
    stop_reason: String,
}

#[derive(Deserialize)]
struct SampleError {
    message: String,
}

#[derive(Deserialize)]
struct Limit {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: usize,
    #[serde(default)]
    input_tokens_cache_read: Option<usize>,
    #[serde(default)]
    input_tokens_cache_write: Option<usize>,
}

/// True for the names of a sample's file in an `.eval`.
pub fn is_sample(name: &str) -> bool {
    name.starts_with("samples/") && name.ends_with(".json")
}

/// The log whose `header.json` this is, without its samples yet.
///
/// # Errors
/// [`ForeignError`] if it is none, or of a version that is not known.
pub fn start(file: &str, header: &[u8]) -> Result<ForeignLog, ForeignError> {
    let value: Header = parsed(header).map_err(|why| ForeignError::new(file, format!("{EXPECTED}; {why}")))?;
    match value.version {
        Some(1..=VERSION) => {}
        Some(version) => {
            let why = format!(
                "a log of inspect_ai of version {version}, and this closeread reads versions 1 to {VERSION}: use a newer \
                 closeread, or write the log again by an inspect_ai that writes version {VERSION}"
            );
            return Err(ForeignError::new(file, why));
        }
        None => return Err(ForeignError::new(file, format!("{EXPECTED}; it names no version"))),
    }
    let spec = serde_json::from_value(value.eval);
    let Spec { task, model, task_args, packages, config } =
        spec.map_err(|why| ForeignError::new(file, format!("{EXPECTED}; of its `eval`: {why}")))?;
    let is_ours = packages.contains_key("closeread");
    let cell = task_args.get("method").and_then(Value::as_str).filter(|_| is_ours).map(|method| {
        let budget = task_args.get("budget").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        (method.to_owned(), budget)
    });
    let mut notes = Vec::new();
    if value.status != "success" {
        notes.push(format!("INCOMPLETE: inspect_ai says of this log `{}`", value.status));
    }
    let is_complete = value.status == "success";
    let reducers = config.get("epochs_reducer").map(scalars).unwrap_or_default();
    if !reducers.is_empty() && !reducers.iter().any(|reducer| reducer == "mean") {
        let reducers = reducers.join(", ");
        notes.push(format!("inspect_ai takes of the epochs of a sample the `{reducers}`, here it is their mean"));
    }
    let epochs = config.get("epochs").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    Ok(ForeignLog { file: file.to_owned(), task, model, cell, is_complete, epochs, samples: Vec::new(), notes })
}

/// Adds a sample, whose file this is.
///
/// # Errors
/// [`ForeignError`] if it is none.
pub fn add(log: &mut ForeignLog, name: &str, bytes: &[u8]) -> Result<(), ForeignError> {
    let wrong = |why: String| ForeignError::new(&log.file, format!("{name}: expected a sample of inspect_ai; {why}"));
    if let Some(why) = kept::too_many(bytes) {
        return Err(wrong(why));
    }
    let sample: Sample = parsed(bytes).map_err(wrong)?;
    push(log, sample)
}

/// A log that is one JSON.
///
/// # Errors
/// As [`start`] and [`add`].
pub fn whole(file: &str, bytes: &[u8]) -> Result<ForeignLog, ForeignError> {
    let mut log = start(file, bytes)?;
    let Samples { samples } = parsed(bytes).map_err(|why| ForeignError::new(file, format!("{EXPECTED}; {why}")))?;
    samples.unwrap_or_default().into_iter().try_for_each(|sample| push(&mut log, sample))?;
    Ok(log)
}

/// Reads every log among files, those of an archive under `ARCHIVE/`.
///
/// # Errors
/// As [`start`] and [`add`].
pub fn read(files: &[InputFile]) -> Result<Vec<ForeignLog>, ForeignError> {
    let mut logs: Vec<ForeignLog> = Vec::new();
    for file in files {
        if let Some(archive) = file.name.strip_suffix("/header.json") {
            let mut log = start(archive, &file.bytes)?;
            for file in files {
                let name = file.name.strip_prefix(archive).and_then(|rest| rest.strip_prefix('/'));
                if let Some(name) = name.filter(|name| is_sample(name)) {
                    add(&mut log, name, &file.bytes)?;
                }
            }
            logs.push(log);
        }
    }
    let is_part = |name: &str| logs.iter().any(|log| name.starts_with(&format!("{}/", log.file)));
    let alone: Vec<&InputFile> = files.iter().filter(|file| !is_part(&file.name)).collect();
    for file in alone {
        logs.push(whole(&file.name, &file.bytes)?);
    }
    Ok(logs)
}

fn push(log: &mut ForeignLog, mut sample: Sample) -> Result<(), ForeignError> {
    if let Some(score) = sample.score.take() {
        sample.scores.get_or_insert_default().entry("score".to_owned()).or_insert(score);
    }
    let file = &log.file;
    let id = scalar(&sample.id).ok_or_else(|| ForeignError::new(file, "a sample without id"))?;
    let options = sample.choices.clone().unwrap_or_default();
    let targets = scalars(&sample.target);
    let correct = targets.first().and_then(|target| option_of(target, &options)).filter(|_| targets.len() == 1);
    let answers = if options.is_empty() { targets } else { Vec::new() };
    let mut item = item(id, last_words(&sample.input), options, correct, answers);
    if log.cell.is_some() {
        // What closeread wrote has the options behind the question.
        let n = item.options.len();
        let lines: Vec<&str> = item.question.lines().collect();
        item.question = lines[..lines.len().saturating_sub(n)].join("\n");
    }
    item.documents = documents(&sample.metadata);
    let but = if log.cell.is_some() { &["outcome", ITEM_TASK][..] } else { &[] };
    let task = sample.metadata.get(ITEM_TASK).filter(|_| log.cell.is_some());
    item.task = task.and_then(|task| Task::deserialize(task).ok()).unwrap_or(item.task);
    item.labels = labels(&sample.metadata, but);
    let mut scores = BTreeMap::new();
    for (scorer, score) in sample.scores.iter().flatten() {
        for (name, value) in values(scorer, &score.value) {
            log.keep(&mut scores, name, value);
        }
    }
    let tokens = |usage: &Usage| {
        let cached = [usage.input_tokens_cache_read, usage.input_tokens_cache_write];
        cached.into_iter().flatten().fold(usage.input_tokens, usize::saturating_add)
    };
    let outcome = outcome(&sample, &item.options, log.cell.is_some(), scores.values().any(|score| *score > 0.0));
    // A scorer may ask a model of its own, whose prompts are none of the reader's.
    let of_reader = sample.model_usage.get(&log.model).map(tokens);
    let prompt_tokens =
        of_reader.unwrap_or_else(|| sample.model_usage.values().map(tokens).fold(0, usize::saturating_add));
    let seconds = sample.total_time.unwrap_or(0.0);
    let repeat = sample.epoch.unwrap_or(1).max(1) - 1;
    log.samples.push(ForeignSample { item, repeat, outcome, scores, prompt_tokens, seconds });
    Ok(())
}

/// Returns the outcome of a sample. One that a scorer of theirs gave something for was answered, however its last
/// response ended: failures count for nothing here.
fn outcome(sample: &Sample, options: &[String], is_ours: bool, is_credited: bool) -> Outcome {
    let said = sample.output.as_ref().map_or("", |output| output.completion.as_str());
    let stop =
        sample.output.as_ref().and_then(|output| output.choices.first()).map_or("", |one| one.stop_reason.as_str());
    let noted = sample.metadata.get("outcome").and_then(Value::as_str).filter(|_| is_ours);
    match (&sample.error, &sample.limit, noted) {
        (Some(error), ..) if is_ours || !is_credited => return Outcome::Failed { error: error.message.clone() },
        (_, Some(limit), _) if limit.kind == "context" && (is_ours || !is_credited) => {
            return Outcome::Overflow { needed: None, context_window: None };
        }
        (.., Some("not_found")) => return Outcome::NotFound,
        (.., Some("unanswered")) => return Outcome::Unanswered,
        (.., Some("cut_short")) => {
            return Outcome::CutShort { response: said.to_owned(), max_output_tokens: None };
        }
        (.., Some("not_asked")) => return Outcome::NotAsked { reason: String::new() },
        (.., Some("unparsed")) => return Outcome::Unparsed { response: said.to_owned() },
        _ => {}
    }
    match stop {
        _ if is_credited && !is_ours => {}
        "content_filter" => return Outcome::Blocked { reason: said.to_owned() },
        "model_length" if said.is_empty() => return Outcome::Overflow { needed: None, context_window: None },
        "max_tokens" if said.is_empty() => {
            return Outcome::CutShort { response: String::new(), max_output_tokens: None };
        }
        _ => {}
    }
    let given: Vec<&str> = sample.scores.iter().flatten().filter_map(|(_, score)| score.answer.as_deref()).collect();
    if options.is_empty() {
        let mut found = given.iter().map(|answer| answer.trim()).filter(|answer| !answer.is_empty());
        // Scorers that found several answers in a response leave it as it is.
        let answer = match found.next() {
            Some(first) if said.trim().is_empty() || found.all(|other| other == first) => first,
            _ => said.trim(),
        };
        return match answer {
            "" if !is_credited || is_ours => Outcome::Unanswered,
            answer => Outcome::Answered { answer: answer.to_owned(), choice: None },
        };
    }
    let last = said.rsplit("ANSWER:").next().unwrap_or_default().trim();
    let mut found = given.iter().filter_map(|text| option_of(text, options));
    let first = found.next();
    let chosen = if found.all(|other| Some(other) == first) { first } else { None };
    match chosen.or_else(|| option_of(last, options)).or(first) {
        Some(choice) => Outcome::Answered { answer: options[choice].clone(), choice: Some(choice) },
        None if is_credited && !is_ours => Outcome::Answered { answer: said.to_owned(), choice: None },
        None => Outcome::Unparsed { response: said.to_owned() },
    }
}

/// The text of the input, or of the last message of the user.
fn last_words(input: &Value) -> String {
    let content = match input {
        Value::Array(messages) => {
            let user = messages.iter().rev().find(|message| message["role"] == "user");
            user.or(messages.last()).map_or(&Value::Null, |message| &message["content"])
        }
        input => input,
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// A score as numbers, as inspect's `value_to_float` reads them; one a key where the value is an object. A list, and a word
/// that is none of inspect's, is no number; nothing is no score.
fn values(name: &str, value: &Value) -> Vec<(String, Option<f64>)> {
    let one = |value: &Value| match value {
        Value::Number(number) => number.as_f64(),
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Value::String(text) => match text.as_str() {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            text => match text.to_lowercase().as_str() {
                "yes" | "true" => Some(1.0),
                "no" | "false" => Some(0.0),
                text => text.parse().ok(),
            },
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    match value {
        Value::Object(several) => {
            let several = several.iter().filter(|(_, value)| !value.is_null());
            several.map(|(key, value)| (format!("{name}_{key}"), one(value))).collect()
        }
        Value::Null => Vec::new(),
        value => vec![(name.to_owned(), one(value))],
    }
}

/// JSON in which inspect may write `NaN` for a score that is none.
fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match serde_json::from_slice(bytes) {
        Ok(value) => Ok(value),
        Err(error) => serde_json::from_slice(&without_constants(bytes)).map_err(|_| error.to_string()),
    }
}

/// Returns the JSON with `NaN`, `Infinity` and `-Infinity` outside of texts as `null`.
fn without_constants(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut at, mut in_text) = (Vec::with_capacity(bytes.len()), 0, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let constant =
            [&b"NaN"[..], b"-Infinity", b"Infinity"].into_iter().find(|word| !in_text && rest.starts_with(word));
        match (constant, rest[0]) {
            (Some(word), _) => {
                out.extend(b"null");
                at += word.len();
            }
            (None, b'\\') if in_text => {
                out.extend(&rest[..rest.len().min(2)]);
                at += 2;
            }
            (None, byte) => {
                in_text ^= byte == b'"';
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
