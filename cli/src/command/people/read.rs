//! `closeread people read`: what people said on the page of a study, as labels or as a run, and the tables on it.

use super::answer::RUN;
use super::folder::StudyFolder;
use super::labels::{self, faults, kept, of_judges, of_people};
use super::seen::Seen;
use crate::command::agreement::{corrected_table, raters};
use crate::command::tables::as_text;
use crate::hint::typed_path;
use anyhow::{Context, Result};
use clap::Args;
use closeread_eval::{InputFile, Item, Outcome, Task, score};
use closeread_files::read_file;
use closeread_judges::study::{Asks, PersonAnswer, PersonAnswers, State};
use closeread_judges::{against_people, human_labels};
use closeread_methods::record::{Record, TrialKey};
use closeread_report::folder::{RunManifest, read_items};
use closeread_runner::finished::{self, Texts};
use closeread_runner::run_folder::{MANIFEST, Opening, RunFolder};
use closeread_table::render::text;
use closeread_table::{Table, Value};
use closeread_text::Language;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use tracing::info;

/// Read people's saved work: labels and their agreement with each other and with the judges; answers as a run
///
/// Writes labels.csv, faults.csv and a file for each panel of judges, or the folder `run`. Exits with 1 if an entry cannot
/// be used.
#[derive(Debug, Args)]
pub(super) struct ReadArgs {
    /// Folder of the study
    #[arg(value_name = "DIR")]
    study: PathBuf,
    /// Saved work, a file for each person
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Run folder that the study was drawn from, if it was moved
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Number of raters for a majority [default: the number of files]
    #[arg(long, value_name = "N")]
    majority_of: Option<usize>,
    /// Print the tables as JSON
    #[arg(long)]
    json: bool,
}

/// Most entries to name that cannot be used.
const NAMED: usize = 1_000;

/// The method of trials that people made.
const HUMAN: &str = "human";

/// Reads, writes and prints.
pub(super) fn run(args: &ReadArgs) -> Result<ExitCode> {
    let folder = StudyFolder::read(&args.study)?;
    let people = folder.people(&args.files)?;
    let is_answered = folder.keys.iter().any(|key| key.asks == Asks::Answer);
    let (tables, mut problems) =
        if is_answered { as_run(&folder, &people)? } else { as_labels(args, &folder, &people)? };
    let more = problems.len().saturating_sub(NAMED);
    if more > 0 {
        problems.truncate(NAMED);
        problems.push(format!("and {more} more entries that cannot be used"));
    }
    if args.json {
        outln!("{}", json!({"study": folder.study.id, "tables": tables, "problems": problems}));
    } else {
        out!("{}", as_text(&tables));
    }
    for problem in &problems {
        info!("{}", text::plain(problem));
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The tables on labels of people, and of the judges of the run.
fn as_labels(args: &ReadArgs, folder: &StudyFolder, people: &[PersonAnswers]) -> Result<(Vec<Table>, Vec<String>)> {
    let path = args.run.as_ref().or(folder.run.as_ref()).filter(|path| finished::is_run_folder(path));
    let run = path.map(|path| finished::load(path, finished::folder_name(path), Texts::Skip)).transpose()?;
    let Seen { keys, people, left_out } = Seen::of(folder, people, run.as_ref().map(|run| run.records.as_slice()));
    let (rows, unusable) = of_people(&keys, &people, |asks| asks != Asks::Fault);
    let (fault_rows, _) = of_people(&keys, &people, |asks| asks == Asks::Fault);
    let mut problems = [left_out, unusable].concat();
    let mut tables = Vec::new();
    if fault_rows.len() > 1 {
        let named = kept(&folder.path, "faults.csv", "people", &fault_rows)?.out_of(args.majority_of);
        tables.push(faults(&keys, &named));
        tables.extend(raters::tables(&named, &[])?);
    }
    if rows.len() == 1 {
        return Ok((tables, problems));
    }
    let named = kept(&folder.path, "labels.csv", "people", &rows)?.out_of(args.majority_of);
    let Some(run) = run else {
        info!("the run that this was drawn from is not there: no judge is held against people; --run names it");
        tables.extend(raters::tables(&named, &[])?);
        return Ok((tables, problems));
    };
    let mut judges = Vec::new();
    for (at, (name, rows)) in of_judges(&keys, &run.judging).into_iter().enumerate() {
        judges.push(kept(&folder.path, &format!("judge-{}.csv", at + 1), &name, &rows)?);
    }
    tables.extend(raters::tables(&named, &judges)?);
    if keys.iter().any(|key| key.asks == Asks::Correctness) && !judges.is_empty() {
        let file = InputFile { name: "labels.csv".to_owned(), bytes: labels::csv(&rows)? };
        let (said, _) = human_labels(&file);
        let (against, unused) = against_people(&run.judging, &said, &file.name);
        problems.extend(unused.iter().map(ToString::to_string));
        tables.extend(corrected_table(&run, &against));
    }
    Ok((tables, problems))
}

/// Makes records of what people answered, a cell a person.
fn as_run(folder: &StudyFolder, people: &[PersonAnswers]) -> Result<(Vec<Table>, Vec<String>)> {
    let path = folder.path.join(RUN);
    let read = |name: &str| {
        let file = path.join(name);
        read_file(&file).with_context(|| format!("cannot read {}: make the page again", file.display()))
    };
    let manifest = read(MANIFEST)?;
    let items = read_items(&read("items.jsonl")?)?;
    let languages = RunManifest::read(&manifest)?.configuration.languages(&items);
    let mut configuration: Json = serde_json::from_slice::<Json>(&manifest)?["configuration"].take();
    let model = |person: &PersonAnswers| format!("{HUMAN}/{}", person.rater);
    let cells: Vec<Json> =
        people.iter().map(|person| json!({"method": HUMAN, "model": model(person), "budget": null})).collect();
    configuration["cells"] = json!(cells);
    let by_id: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let (mut records, mut problems, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for person in people {
        let mut own = Vec::new();
        problems.extend(person.problems(&folder.keys));
        for key in &folder.keys {
            let (Some(said), Some(item)) = (person.answers.get(&key.unit), by_id.get(key.item.as_str())) else {
                continue;
            };
            match outcome(item, said) {
                Ok(outcome) => {
                    let language = languages.get(&item.id).copied().unwrap_or(Language::ENGLISH);
                    own.push((said, record(item, model(person), outcome, said.time_taken(), language)));
                }
                Err(why) => problems.push(format!("{}, `{}`: {why}", person.rater, key.unit)),
            }
        }
        rows.push(summary(person, &own));
        records.extend(own.into_iter().map(|(_, record)| record));
    }
    RunFolder::open(&path, &configuration, None, Opening::Remake(&records))?.write_items(&items)?;
    let path = typed_path(&path);
    info!("closeread judge {path} --judge-model MODEL judges what they wrote");
    info!("closeread report {path} RUN... --paper NAME sets them beside models");
    let columns = ["person", "questions", "handed in", "given up", "timed out", "minutes", "right option"];
    let mut table = Table::new("people", "What people answered", columns.map(str::to_owned).to_vec());
    table.rows = rows;
    table
        .notes
        .push("minutes: mean over questions that were handed in; right option: of questions with options".to_owned());
    let mut tables = vec![table];
    tables.extend(against_gold(folder, people, &by_id)?);
    Ok((tables, problems))
}

/// Returns what a person said as the outcome of a trial.
fn outcome(item: &Item, said: &PersonAnswer) -> Result<Outcome, String> {
    if said.state != State::Answered {
        return Ok(Outcome::Unanswered);
    }
    if item.task != Task::Choice {
        return match said.text.trim() {
            "" => Err("it was handed in and has no answer".to_owned()),
            text => Ok(Outcome::Answered { answer: text.to_owned(), choice: None }),
        };
    }
    let choice = said.label.parse::<usize>().ok().and_then(|at| Some((at, item.options.get(at)?)));
    let (at, option) = choice.ok_or_else(|| format!("`{}` is the place of no option", said.label))?;
    Ok(Outcome::Answered { answer: option.clone(), choice: Some(at) })
}

fn record(item: &Item, model: String, outcome: Outcome, seconds: f64, language: Language) -> Record {
    let scores = score(item, &outcome, language);
    let key = TrialKey { item: item.id.clone(), method: HUMAN.to_owned(), model, budget: None, repeat: 0 };
    Record { scores, seconds, ..Record::ended(key, outcome) }
}

fn summary(person: &PersonAnswers, own: &[(&PersonAnswer, Record)]) -> Vec<Value> {
    let of = |state: State| own.iter().filter(|(said, _)| said.state == state).count();
    let finished = of(State::Answered);
    let seconds: f64 =
        own.iter().filter(|(said, _)| said.state == State::Answered).map(|(said, _)| said.time_taken()).sum();
    let minutes = match finished {
        0 => Value::missing("nothing was handed in"),
        n => Value::Number { value: seconds / 60.0 / n as f64, decimals: 1 },
    };
    let accuracy: Vec<f64> = own.iter().filter_map(|(_, record)| record.scores.get("accuracy").copied()).collect();
    let right = match accuracy.len() {
        0 => Value::missing("no question has options"),
        n => Value::Share { value: accuracy.iter().sum::<f64>() / n as f64, n },
    };
    vec![
        Value::text(&person.rater),
        Value::count(own.len()),
        Value::count(finished),
        Value::count(of(State::GaveUp)),
        Value::count(of(State::TimedOut)),
        minutes,
        right,
    ]
}

/// Agreement of people on options, with each other and with whoever set the right one (NovelQA 3.2).
fn against_gold(folder: &StudyFolder, people: &[PersonAnswers], items: &HashMap<&str, &Item>) -> Result<Vec<Table>> {
    let head = ["unit", "rater", "label"].map(str::to_owned).to_vec();
    let (mut said, mut gold) = (vec![head.clone()], vec![head]);
    for key in &folder.keys {
        let Some(item) = items.get(key.item.as_str()).filter(|item| item.task == Task::Choice) else { continue };
        for person in people {
            let answer = person.answers.get(&key.unit).filter(|answer| answer.state == State::Answered);
            said.extend(answer.map(|answer| vec![key.item.clone(), person.rater.clone(), answer.label.clone()]));
        }
        gold.extend(item.correct.map(|at| vec![key.item.clone(), "annotator".to_owned(), at.to_string()]));
    }
    if said.len() == 1 || gold.len() == 1 {
        return Ok(Vec::new());
    }
    let people = kept(&folder.path, "choices.csv", "people", &said)?;
    raters::tables(&people, &[kept(&folder.path, "right-options.csv", "annotator", &gold)?])
}
