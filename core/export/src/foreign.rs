//! Logs of other tools as runs, so that they stand beside ours in comparisons and reports.

mod asked;

use asked::{Asked, is_same, two_items};
use closeread_data::foreign::{ForeignLog, ForeignSample};
use closeread_eval::{Item, Outcome};
use closeread_judges::Judging;
use closeread_llm::price::PriceList;
use closeread_methods::record::{Record, TrialKey};
use closeread_metrics::Metric;
use closeread_report::{Arm, HowAsked, Run};
use closeread_text::Language;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Most trials of logs: each takes some hundred bytes, also where no log asked it.
const MAX_TRIALS: usize = 10_000_000;

/// The reason why logs are no run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogsError {
    /// No log has a sample.
    #[error("the logs hold no samples")]
    NoSamples,
    /// Logs that would take all memory, such as one with an epoch of a billion.
    #[error("{items} items, {epochs} epochs and {logs} logs make more than {} million trials: pass fewer logs", MAX_TRIALS / 1_000_000)]
    TooMany {
        /// Number of items of all logs.
        items: usize,
        /// Number of epochs, which is the greatest epoch.
        epochs: u32,
        /// Number of logs.
        logs: usize,
    },
    /// Two samples of a log could not be told apart.
    #[error("{file}: two samples of epoch {epoch} have the id `{id}`: expected an id for each")]
    SampleTwice {
        /// Name of the file.
        file: String,
        /// Number of the epoch, from 1.
        epoch: u32,
        /// Id of both.
        id: String,
    },
    /// Two logs could not be told apart.
    #[error("{first} and {second} are both of `{task}` by {model}: pass them as two runs, not as one")]
    Twice {
        /// Name of a file.
        first: String,
        /// Name of another file.
        second: String,
        /// Task that the logs are of.
        task: String,
        /// Name of the model that answered.
        model: String,
    },
    /// Two logs of one task whose samples are not of the same items.
    #[error(
        "{first} and {second} are both of `{task}`, and {item} has another question or gold answer: pass them as two runs, not as one"
    )]
    TwoItems {
        /// Name of a file.
        first: String,
        /// Name of another file.
        second: String,
        /// Task that the logs are of.
        task: String,
        /// Id of the first item that is not the same.
        item: String,
    },
}

/// The run that logs are: an arm a log, its method the task, or what closeread wrote into the log.
///
/// Items of several tasks stand under `TASK/ID`: ids are often numbers.
///
/// # Errors
/// [`LogsError`] if there is no sample, or two logs are of one task and model, or of one task and other items, or two samples of
/// a log of one id and epoch, or there are more than ten million trials.
pub fn run(name: String, logs: &[ForeignLog]) -> Result<Run, LogsError> {
    let tasks: BTreeSet<&str> = logs.iter().map(|log| log.task.as_str()).collect();
    let id = |log: &ForeignLog, sample: &ForeignSample| match tasks.len() {
        0 | 1 => sample.item.id.clone(),
        _ => format!("{}/{}", log.task, sample.item.id),
    };
    let (mut items, mut places, mut plan, mut records) =
        (Vec::<Item>::new(), HashMap::new(), Vec::<Arm>::new(), Vec::new());
    let (mut gaps, mut repeats) = (Vec::new(), 1);
    let mut task_of: HashMap<String, &str> = HashMap::new();
    for (place, log) in logs.iter().enumerate() {
        let (method, budget) = log.cell.clone().unwrap_or_else(|| (log.task.clone(), None));
        let arm = Arm { method, model: log.model.clone(), budget };
        if let Some(first) = plan.iter().position(|known| *known == arm) {
            let (first, second) = (logs[first].file.clone(), logs[place].file.clone());
            return Err(LogsError::Twice { first, second, task: log.task.clone(), model: log.model.clone() });
        }
        gaps.extend(log.notes.iter().filter(|note| note.starts_with("INCOMPLETE")).cloned());
        let mut seen = HashSet::new();
        for sample in &log.samples {
            if !seen.insert((&sample.item.id, sample.repeat)) {
                let (file, id) = (log.file.clone(), sample.item.id.clone());
                return Err(LogsError::SampleTwice { file, epoch: sample.repeat + 1, id });
            }
            let id = id(log, sample);
            if !places.contains_key(&id) {
                places.insert(id.clone(), items.len());
                task_of.insert(id.clone(), &log.task);
                items.push(Item { id: id.clone(), ..sample.item.clone() });
            }
            repeats = repeats.max(sample.repeat.saturating_add(1));
            records.push(Record {
                scores: if log.cell.is_some() { sample.scores.clone() } else { both(sample) },
                prompt_tokens: sample.prompt_tokens,
                seconds: sample.seconds,
                ..record(&arm, id, sample.repeat, sample.outcome.clone())
            });
        }
        plan.push(arm);
    }
    if items.is_empty() {
        return Err(LogsError::NoSamples);
    }
    if let Some(wrong) = two_items(logs) {
        return Err(wrong);
    }
    if items.len().saturating_mul(plan.len()).saturating_mul(repeats as usize) > MAX_TRIALS {
        return Err(LogsError::TooMany { items: items.len(), epochs: repeats, logs: plan.len() });
    }
    // A log that came to its end has asked all that it was to ask; one that did not lacks items and epochs of its own task alone.
    let there: HashSet<TrialKey> = records.iter().map(|record| record.key.clone()).collect();
    for (log, arm) in logs.iter().zip(&plan) {
        let reason = || Outcome::NotAsked { reason: format!("{} does not ask it", log.file) };
        for item in &items {
            let is_own = !log.is_complete && task_of[&item.id] == log.task;
            let first = if is_own { log.epochs.unwrap_or(repeats) } else { 0 };
            let trials = (first..repeats).map(|repeat| record(arm, item.id.clone(), repeat, reason()));
            records.extend(trials.filter(|trial| !there.contains(&trial.key)));
        }
    }
    let files: Vec<&str> = logs.iter().map(|log| log.file.as_str()).collect();
    Ok(Run {
        name,
        benchmark: tasks.into_iter().collect::<Vec<_>>().join(", "),
        plan,
        items,
        records,
        repeats,
        books: BTreeMap::new(),
        texts: BTreeMap::new(),
        asked: HowAsked::default(),
        judging: Judging::default(),
        facts: vec![("read from".to_owned(), files.join(", "))],
        preparations: Vec::new(),
        prices: PriceList::default(),
        served: Vec::new(),
        is_log: true,
        gaps,
        data: Vec::new(),
    })
}

/// A record of a trial that says how it ended and nothing more.
fn record(arm: &Arm, item: String, repeat: u32, outcome: Outcome) -> Record {
    let Arm { method, model, budget } = arm.clone();
    Record::ended(TrialKey { item, method, model, budget, repeat }, outcome)
}

/// The tool's scores, and what closeread's own metric says of the answer. A score of the tool's that is called as one of
/// closeread's metrics is made in another way, and gets another name.
fn both(sample: &ForeignSample) -> BTreeMap<String, f64> {
    let theirs = sample.scores.iter().map(|(name, value)| match name.parse::<Metric>() {
        Ok(_) => (format!("{name}_of_log"), *value),
        Err(_) => (name.clone(), *value),
    });
    theirs.chain(closeread_eval::score(&sample.item, &sample.outcome, Language::ENGLISH)).collect()
}

/// Sentences on what the logs do not say, or say in another way.
pub fn notes(run: &Run, logs: &[ForeignLog]) -> Vec<String> {
    let mut notes: Vec<String> = logs
        .iter()
        .flat_map(|log| log.notes.iter().filter(|note| !note.starts_with("INCOMPLETE")))
        .map(|note| format!("{}: {note}", run.name))
        .collect();
    notes.sort();
    notes.dedup();
    let without = run.items.iter().filter(|item| item.documents.is_empty()).count();
    if without > 0 {
        notes.push(format!(
            "{}: {without} items name no document (a field `document` of their metadata): each counts as a document of its \
             own, and intervals are too narrow if several are about one",
            run.name
        ));
    }
    notes
}

/// Takes over what `items` say of the run's items: those of the same id whose gold answers are the same, however they are put.
/// Their questions have to be the same, too, where the id is a number or the log knew no gold answer.
/// So the items of two tools are the same items, and cluster by document. A choice keeps its option, wherever it stands now; where
/// the log knew but some of the gold answers, our own metric is that over all of them.
pub fn adopt(run: &mut Run, items: &[Item]) {
    let known: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let (asked, of_others) = (Asked::of(run.items.iter()), Asked::of(items.iter()));
    let of_others: HashMap<&str, &Asked> = items.iter().map(|item| item.id.as_str()).zip(&of_others).collect();
    let (mut adopted, mut scored_anew) = (HashSet::new(), HashSet::new());
    for (item, asked) in run.items.iter_mut().zip(&asked) {
        let Some(other) = known.get(item.id.as_str()).copied() else { continue };
        if is_same(item, asked, other, of_others[item.id.as_str()]) {
            adopted.insert(item.id.clone());
            if gold_texts(item).len() < gold_texts(other).len() {
                scored_anew.insert(item.id.clone());
            }
            *item = other.clone();
        }
    }
    for record in &mut run.records {
        let id = record.key.item.as_str();
        let Some(other) = known.get(id).filter(|_| adopted.contains(id)) else { continue };
        if let Outcome::Answered { answer, choice: Some(choice) } = &mut record.outcome {
            let place = other.options.iter().position(|option| option.trim() == answer.trim());
            *choice = place.unwrap_or(*choice);
        }
        if scored_anew.contains(id) {
            record.scores.extend(closeread_eval::score(other, &record.outcome, Language::ENGLISH));
        }
    }
}

/// The texts of the gold answers: of a choice that of the right option.
fn gold_texts(item: &Item) -> BTreeSet<String> {
    let right = item.correct.and_then(|correct| item.options.get(correct));
    let texts = right.map_or_else(|| item.answers.clone(), |option| vec![option.clone()]);
    texts.iter().map(|text| text.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::Task;

    fn log(task: &str, model: &str, id: &str, options: &[&str], correct: usize) -> ForeignLog {
        let mut item = Item::new(id, "b", "Which?", Task::Choice);
        item.options = options.iter().map(|option| (*option).to_owned()).collect();
        item.correct = Some(correct);
        item.documents.clear();
        let outcome = Outcome::Answered { answer: options[correct].to_owned(), choice: Some(correct) };
        let scores = BTreeMap::from([("s".to_owned(), 1.0)]);
        let samples = vec![ForeignSample { item, repeat: 0, outcome, scores, prompt_tokens: 0, seconds: 0.0 }];
        let (file, task, model) = (format!("{task}.eval"), task.to_owned(), model.to_owned());
        ForeignLog { file, task, model, cell: None, is_complete: true, epochs: None, samples, notes: Vec::new() }
    }

    #[test]
    fn logs_are_cells_of_a_run() {
        let made = run("r".into(), &[log("t", "m", "1", &["x", "y"], 0), log("u", "m", "1", &["x", "y"], 1)]).unwrap();
        let ids: Vec<&str> = made.items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!((ids, made.plan.len(), made.benchmark.as_str()), (vec!["t/1", "u/1"], 2, "t, u"));
        let twice = run("r".into(), &[log("t", "m", "1", &["x", "y"], 0), log("t", "m", "2", &["x", "y"], 0)]);
        assert!(matches!(twice, Err(LogsError::Twice { .. })));
        assert_eq!(run("r".into(), &[]), Err(LogsError::NoSamples));
        let mut same = log("t", "m", "1", &["x", "y"], 0);
        same.samples.push(ForeignSample { repeat: 1, ..same.samples[0].clone() });
        assert!(run("r".into(), &[same.clone()]).is_ok());
        same.samples.push(same.samples[0].clone());
        assert!(matches!(run("r".into(), &[same]), Err(LogsError::SampleTwice { epoch: 1, .. })));
        assert!(notes(&made, &[])[0].contains("2 items name no document"));
    }

    #[test]
    fn other_items_of_one_task_are_no_run() {
        let of = |model: &str, id: &str, asked: &str, correct: usize| {
            let mut logged = log("t", model, id, &["x", "y"], correct);
            logged.samples[0].item.question = asked.to_owned();
            logged
        };
        let first = of("m", "1", "Who came?", 0);
        assert!(run("r".into(), &[first.clone(), of("n", "1", "An example.\n\nWho came?", 0)]).is_ok());
        for other in [of("n", "1", "Who went?", 0), of("n", "1", "Who came?", 1)] {
            let error = run("r".into(), &[first.clone(), other]).unwrap_err().to_string();
            assert!(error.contains("are both of `t`, and 1 has another question or gold answer"), "{error}");
        }
        assert!(run("r".into(), &[of("m", "q1", "Who?", 0), of("n", "q1", "Who was it?", 0)]).is_ok());
    }

    #[test]
    fn an_epoch_of_a_billion_is_refused_before_it_is_counted() {
        let mut logged = log("t", "m", "1", &["x", "y"], 0);
        logged.samples[0].repeat = 999_999_999;
        let error = run("r".into(), &[logged]).unwrap_err().to_string();
        assert!(error.starts_with("1 items, 1000000000 epochs and 1 logs make more than 10 million"), "{error}");
    }

    #[test]
    fn a_score_of_theirs_does_not_pass_for_a_metric_of_ours() {
        let mut logged = log("t", "m", "1", &["x", "y"], 0);
        logged.samples[0].item =
            Item { answers: vec!["twenty-three".into()], ..Item::new("1", "b", "How many?", Task::Generative) };
        logged.samples[0].outcome = Outcome::Answered { answer: "twenty three".into(), choice: None };
        logged.samples[0].scores = BTreeMap::from([("f1".to_owned(), 1.0), ("match".to_owned(), 1.0)]);
        let scores = |log: ForeignLog| run("r".into(), &[log]).unwrap().records.remove(0).scores;
        let both = [("f1".to_owned(), 0.0), ("f1_of_log".to_owned(), 1.0), ("match".to_owned(), 1.0)];
        assert_eq!(scores(logged.clone()), BTreeMap::from(both));
        logged.cell = Some(("full-document".into(), None));
        assert_eq!(scores(logged)["f1"], 1.0, "what closeread wrote is its own");
    }

    #[test]
    fn what_another_log_asks_is_not_missing() {
        let mut twice = log("u", "m", "1", &["x", "y"], 1);
        twice.samples.push(ForeignSample { repeat: 1, ..twice.samples[0].clone() });
        let logs = [log("t", "m", "1", &["x", "y"], 0), log("u", "other", "1", &["x", "y"], 1), twice];
        let made = run("r".into(), &logs).unwrap();
        assert_eq!((made.repeats, made.lacks()), (2, Vec::new()));
        let asked = made.records.iter().filter(|record| !matches!(record.outcome, Outcome::NotAsked { .. }));
        assert_eq!((asked.count(), made.records.len()), (4, 12));
        let mut cut = logs;
        cut[1].is_complete = false;
        assert!(!run("r".into(), &cut).unwrap().lacks().is_empty(), "an epoch of a log that did not come to its end");
        cut[1].epochs = Some(1);
        assert!(run("r".into(), &cut).unwrap().lacks().is_empty(), "an epoch that it was not to have");
    }

    #[test]
    fn an_item_with_the_same_gold_is_the_same_item_wherever_its_options_stand() {
        let mut made = run("r".into(), &[log("t", "m", "q1", &["x", "y"], 0)]).unwrap();
        let mut ours = Item::new("q1", "book", "Which one?", Task::Choice);
        (ours.options, ours.correct) = (vec!["y".into(), "x".into()], Some(1));
        adopt(&mut made, std::slice::from_ref(&ours));
        assert_eq!(made.items, [ours.clone()]);
        assert_eq!(made.records[0].outcome, Outcome::Answered { answer: "x".into(), choice: Some(1) });
        let mut other = run("r".into(), &[log("t", "m", "q1", &["x", "z"], 1)]).unwrap();
        adopt(&mut other, &[ours]);
        assert_eq!(other.items[0].question, "Which?", "another gold answer is another item");
    }

    #[test]
    fn an_answer_is_scored_by_all_gold_answers_that_the_item_has() {
        let open = |answers: &[&str]| Item {
            answers: answers.iter().map(|&answer| answer.to_owned()).collect(),
            ..Item::new("1", "b", "Who?", Task::Generative)
        };
        let f1 = |of_log: &[&str], of_ours: &[&str]| {
            let mut logged = log("t", "m", "1", &["x", "y"], 0);
            logged.samples[0].item = open(of_log);
            logged.samples[0].outcome = Outcome::Answered { answer: "Bo".into(), choice: None };
            let mut made = run("r".into(), &[logged]).unwrap();
            adopt(&mut made, &[open(of_ours)]);
            made.records[0].scores.get("f1").copied()
        };
        assert_eq!(f1(&["Ana"], &["Ana", "Bo"]), Some(1.0));
        assert_eq!(f1(&[], &["Bo"]), Some(1.0));
        assert_eq!(f1(&["Ana", "Cleo"], &["Ana", "Bo"]), Some(0.0), "these are other gold answers");
    }

    #[test]
    fn of_items_that_are_numbers_another_question_is_another_item() {
        let adopts = |id: &str, asked: &str| {
            let mut logged = log("t", "m", id, &["A", "B"], 0);
            logged.samples[0].item.question = asked.to_owned();
            let mut made = run("r".into(), &[logged]).unwrap();
            let ours = Item { question: "Examples.\n\nWho came?\nAnswer:".into(), ..made.items[0].clone() };
            adopt(&mut made, &[Item { documents: vec!["book".into()], ..ours }]);
            !made.items[0].documents.is_empty()
        };
        assert!(adopts("7", "Other examples.\n\nWho came?\nAnswer:") && adopts("7", "Who came?\nAnswer:"));
        assert!(adopts("7", r#"[{"role": "user", "content": "Who came?\nAnswer:"}]"#));
        assert!(!adopts("7", "Who went?\nAnswer:") && adopts("mill-7", "Who went?\nAnswer:"));
    }

    #[test]
    fn without_a_gold_answer_another_question_is_another_item() {
        let open = |question: &str| Item { answers: Vec::new(), ..Item::new("1", "b", question, Task::Generative) };
        let adopts = |asked: &str| {
            let mut logged = log("t", "m", "1", &["x", "y"], 0);
            logged.samples[0].item = open(asked);
            let mut made = run("r".into(), &[logged]).unwrap();
            adopt(&mut made, &[open("Who came?")]);
            made.items[0].question == "Who came?"
        };
        assert!(adopts("Read the book. Who came? Answer in a word.") && adopts("Who came?"));
        assert!(!adopts("Prove the theorem."));
    }
}
