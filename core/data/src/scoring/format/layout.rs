//! Published layouts of predictions, and why a file could not be read as one.

use super::novelqa::codabench::CodabenchError;
use crate::scoring::Submission;
use closeread_eval::InputFile;

/// A published layout of predictions.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The name a user asks for.
    pub name: &'static str,
    /// The paper, and the repository at the commit whose files or script it follows.
    pub source: &'static str,
    /// Files to pass, in words that are shown where they are missing.
    pub wants: &'static str,
    /// Tasks among which [`FormatInput::task`] chooses; empty if there is one.
    pub tasks: &'static [&'static str],
    /// The systems that the files hold, in file order; empty if they are about one system that has no name.
    pub systems: fn(&FormatInput<'_>) -> Vec<String>,
    /// Turns files into items, attempts and problems. A bad row is left out and counted in
    /// [`Submission::problems`], which is never an error.
    ///
    /// # Errors
    /// [`FormatError`] if nothing can be read, or if it does not show which task or system is meant.
    pub read: fn(&FormatInput<'_>) -> Result<Submission, FormatError>,
}

/// The input that a format is read from.
#[derive(Debug, Clone, Copy, Default)]
pub struct FormatInput<'a> {
    /// Files with predictions.
    pub files: &'a [InputFile],
    /// Files with gold answers; empty where the predictions carry their own.
    pub gold: &'a [InputFile],
    /// Task, one of [`Format::tasks`]; `None` asks the file names.
    pub task: Option<&'a str>,
    /// System, one of [`Format::systems`]; `None` is enough where there is one.
    pub system: Option<&'a str>,
}

/// The reason why a file could not be read as the format that was named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// No file was given.
    #[error("no file to read: {format} wants {wants}")]
    NoFile {
        /// Name of the format.
        format: &'static str,
        /// Files that the format wants.
        wants: &'static str,
    },
    /// The predictions carry no gold answers and none were given.
    #[error("{format} predictions carry no gold answers: name {wants} as the gold file")]
    NoGold {
        /// Name of the format.
        format: &'static str,
        /// Files that hold the gold answers.
        wants: &'static str,
    },
    /// Gold answers were given for predictions that are scored by their own alone.
    #[error("{file}: {format} files hold their gold answers, and others cannot replace them")]
    OwnGold {
        /// The file of gold answers, as named by the user.
        file: String,
        /// Name of the format.
        format: &'static str,
    },
    /// Not one row could be used.
    #[error("{file}: nothing in it could be read as {format} ({problem}): pass {wants}")]
    Unreadable {
        /// The file, as named by the user.
        file: String,
        /// Name of the format.
        format: &'static str,
        /// The first problem.
        problem: String,
        /// Files that the format wants.
        wants: &'static str,
    },
    /// No task was named, and the file names do not show it.
    #[error("{file}: the name does not show its task: name one of {}", tasks.join(", "))]
    NoTask {
        /// The file, as named by the user.
        file: String,
        /// Tasks of the format.
        tasks: &'static [&'static str],
    },
    /// The format has no such task.
    #[error("unknown task `{task}`: {format} has {}", if tasks.is_empty() { "one task, which need not be named".into() } else { tasks.join(", ") })]
    UnknownTask {
        /// Name of the task that was asked for.
        task: String,
        /// Name of the format.
        format: &'static str,
        /// Tasks of the format.
        tasks: &'static [&'static str],
    },
    /// There are several systems, and none was named.
    #[error("{file} holds {} systems: name one of {}", systems.len(), systems.join(", "))]
    WhichSystem {
        /// The file, as named by the user.
        file: String,
        /// Names of the systems.
        systems: Vec<String>,
    },
    /// The files hold no such system.
    #[error("{file} holds no system `{system}`: it has {}", systems.join(", "))]
    UnknownSystem {
        /// Name of the system that was asked for.
        system: String,
        /// The file, as named by the user.
        file: String,
        /// Names of those it has.
        systems: Vec<String>,
    },
    /// A submission that its leaderboard would refuse.
    #[error(transparent)]
    Codabench(#[from] CodabenchError),
}

impl Format {
    /// Refuses a task that the format does not have, and an input without files.
    pub(super) fn check(&self, input: &FormatInput<'_>) -> Result<(), FormatError> {
        self.check_task(input)?;
        self.first(input).map(drop)
    }

    /// [`Self::check`] for predictions without gold answers of their own; `wants` is what holds these.
    pub(super) fn check_with_gold(&self, input: &FormatInput<'_>, wants: &'static str) -> Result<(), FormatError> {
        self.check(input)?;
        match input.gold.is_empty() {
            true => Err(FormatError::NoGold { format: self.name, wants }),
            false => Ok(()),
        }
    }

    /// [`Self::check`] for predictions that are scored by the gold answers in them alone.
    pub(super) fn check_without_gold(&self, input: &FormatInput<'_>) -> Result<(), FormatError> {
        self.check(input)?;
        match input.gold.first() {
            Some(gold) => Err(FormatError::OwnGold { file: gold.name.clone(), format: self.name }),
            None => Ok(()),
        }
    }

    /// Returns the first file, or the error that says what is wanted.
    pub(super) fn first<'a>(&self, input: &FormatInput<'a>) -> Result<&'a InputFile, FormatError> {
        input.files.first().ok_or(FormatError::NoFile { format: self.name, wants: self.wants })
    }

    /// Refuses a task that the format does not have.
    pub(super) fn check_task(&self, input: &FormatInput<'_>) -> Result<(), FormatError> {
        match input.task {
            Some(task) if !self.tasks.contains(&task) => {
                Err(FormatError::UnknownTask { task: task.to_owned(), format: self.name, tasks: self.tasks })
            }
            _ => Ok(()),
        }
    }

    /// The system that is meant: the one asked for, or the only one.
    pub(super) fn system(&self, input: &FormatInput<'_>) -> Result<String, FormatError> {
        let file = self.first(input)?.name.clone();
        let systems = (self.systems)(input);
        match (input.system, systems.as_slice()) {
            (Some(system), _) if systems.iter().any(|known| known == system) => Ok(system.to_owned()),
            (Some(system), _) => Err(FormatError::UnknownSystem { system: system.to_owned(), file, systems }),
            (None, [system]) => Ok(system.clone()),
            (None, []) => Err(FormatError::Unreadable {
                file,
                format: self.name,
                problem: "it holds no system's predictions".into(),
                wants: self.wants,
            }),
            (None, _) => Err(FormatError::WhichSystem { file, systems }),
        }
    }
}

/// Returns no systems, for formats whose files are about one system that has no name.
pub(super) fn no_systems(_: &FormatInput<'_>) -> Vec<String> {
    Vec::new()
}
