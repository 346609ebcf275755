//! Logs of inspect_ai and samples of lm-evaluation-harness, scored anew.

use super::layout::{Format, FormatError, FormatInput};
use crate::foreign::{ForeignError, ForeignLog, inspect, lm_eval};
use crate::scoring::{Attempt, Problems, Submission};
use closeread_eval::{Problem, Task};
use closeread_metrics::Metric;
use std::collections::BTreeMap;

/// Reads the logs of inspect_ai.
pub(super) const INSPECT: Format = Format {
    name: "inspect",
    source: "inspect_ai 0.3.285, log/_log.py",
    wants: "logs of inspect_ai: .eval files, or JSON of the same",
    tasks: &[],
    systems: |input| systems(inspect::read(input.files)),
    read: |input| submission(&INSPECT, input, inspect::read(input.files)),
};

/// Reads the samples of lm-evaluation-harness.
pub(super) const LM_EVAL: Format = Format {
    name: "lm-eval",
    source: "lm-evaluation-harness 0.4.13, loggers/evaluation_tracker.py",
    wants: "samples_TASK_DATE.jsonl in the model's folder, as the option log_samples writes them",
    tasks: &[],
    systems: |input| systems(input.files.iter().map(lm_eval::read).collect()),
    read: |input| submission(&LM_EVAL, input, input.files.iter().map(lm_eval::read).collect()),
};

fn system(log: &ForeignLog) -> String {
    let cell = log.cell.as_ref().map_or_else(String::new, |(method, budget)| {
        format!(" {method}{}", budget.map_or_else(String::new, |budget| format!("@{budget}")))
    });
    format!("{}{cell} on {}", log.model, log.task)
}

/// Returns a name a log, with its file where another log has the same.
fn names(logs: &[ForeignLog]) -> Vec<String> {
    let systems: Vec<String> = logs.iter().map(system).collect();
    let is_alone = |name: &String| systems.iter().filter(|other| *other == name).count() == 1;
    let named = logs.iter().zip(&systems);
    named.map(|(log, name)| if is_alone(name) { name.clone() } else { format!("{name} in {}", log.file) }).collect()
}

/// Returns one system a log; none where the logs cannot be read, which reading says.
fn systems(logs: Result<Vec<ForeignLog>, ForeignError>) -> Vec<String> {
    logs.map(|logs| names(&logs)).unwrap_or_default()
}

/// The items of a log with its answers. Of several epochs the first counts.
fn submission(
    format: &Format,
    input: &FormatInput<'_>,
    logs: Result<Vec<ForeignLog>, ForeignError>,
) -> Result<Submission, FormatError> {
    format.check_without_gold(input)?;
    let unreadable = |file: String, problem: String| FormatError::Unreadable {
        file,
        format: format.name,
        problem,
        wants: format.wants,
    };
    let logs = logs.map_err(|error| unreadable(error.file, error.why))?;
    let file = format.first(input)?.name.clone();
    let names = names(&logs);
    let log = match (input.system, logs.as_slice()) {
        (None, [one]) => one,
        (None, []) => return Err(unreadable(file, "it holds no log".to_owned())),
        (None, _) => return Err(FormatError::WhichSystem { file, systems: names }),
        (Some(wanted), _) => match names.iter().position(|name| name == wanted) {
            Some(place) => &logs[place],
            None => return Err(FormatError::UnknownSystem { system: wanted.to_owned(), file, systems: names }),
        },
    };
    let mut read = Submission { problems: Problems::default(), ..Submission::default() };
    let mut further = 0;
    for sample in &log.samples {
        if sample.repeat > 0 {
            further += 1;
            continue;
        }
        if read.attempts.contains_key(&sample.item.id) {
            return Err(unreadable(log.file.clone(), format!("two samples have the id `{}`", sample.item.id)));
        }
        let attempt = Attempt { outcome: sample.outcome.clone(), evidence: Vec::new(), given: BTreeMap::new() };
        read.attempts.insert(sample.item.id.clone(), attempt);
        read.items.push(sample.item.clone());
    }
    if read.items.is_empty() {
        return Err(unreadable(log.file.clone(), "the log has no samples".to_owned()));
    }
    let note = |what: String| Problem::note(&log.file, None, None, what);
    let unfinished: Vec<&String> = log.notes.iter().filter(|note| note.starts_with("INCOMPLETE")).collect();
    read.is_unfinished = !unfinished.is_empty();
    read.notes.extend(unfinished.into_iter().cloned().map(note));
    if further > 0 {
        read.notes.push(note(format!("{further} samples of further epochs are left out: the first epoch counts")));
    }
    let has = |task: Task| read.items.iter().any(|item| item.task == task);
    let of_task = [(Task::Choice, &[Metric::Accuracy][..]), (Task::Generative, &[Metric::F1, Metric::ExactMatch])];
    read.metrics =
        of_task.into_iter().filter(|(task, _)| has(*task)).flat_map(|(_, metrics)| metrics.to_vec()).collect();
    Ok(read)
}
