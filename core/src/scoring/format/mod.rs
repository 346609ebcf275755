//! Published prediction files, as they are: every format is read into a [`Submission`].

mod choice;
mod corpusqa;
mod draft;
mod hamlet;
mod infinitebench;
mod leval;
mod leval_narrativeqa;
mod leval_quality;
mod nocha;
mod novelqa;
mod quality;
mod read;
mod squad;
mod squality;
mod tatqa;
#[cfg(test)]
mod testing;

pub use hamlet::evaluations as hamlet_evaluations;
pub use novelqa::codabench::{CodabenchError, Setting, check_codabench, write_codabench};

use super::Submission;
use crate::benchmark::InputFile;

/// A published layout of predictions.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The name a user asks for.
    pub name: &'static str,
    /// The paper, and the repository at the commit whose files or script it follows.
    pub source: &'static str,
    /// What to pass, to be shown where it is missing.
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

/// What a format is read from.
#[derive(Debug, Clone, Copy, Default)]
pub struct FormatInput<'a> {
    /// Files with predictions.
    pub files: &'a [InputFile],
    /// Files with gold answers; empty where the predictions carry their own.
    pub gold: &'a [InputFile],
    /// One of [`Format::tasks`]; `None` asks the file names.
    pub task: Option<&'a str>,
    /// One of [`Format::systems`]; `None` is enough where there is one.
    pub system: Option<&'a str>,
}

/// Why a file could not be read as the format that was named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// No file was given.
    #[error("no file to read: {format} wants {wants}")]
    NoFile {
        /// Name of the format.
        format: &'static str,
        /// What it wants.
        wants: &'static str,
    },
    /// The predictions carry no gold answers and none were given.
    #[error("{format} predictions carry no gold answers: pass {wants} by --gold")]
    NoGold {
        /// Name of the format.
        format: &'static str,
        /// What holds them.
        wants: &'static str,
    },
    /// Not one row could be used.
    #[error("{file}: nothing in it could be read as {format} ({problem}): pass {wants}")]
    Unreadable {
        /// The file, as named by the user.
        file: String,
        /// Name of the format.
        format: &'static str,
        /// The first thing that was wrong.
        problem: String,
        /// What the format wants.
        wants: &'static str,
    },
    /// No task was named, and the file names do not show it.
    #[error("{file}: the name does not show its task: pass --task with one of {}", tasks.join(", "))]
    NoTask {
        /// The file, as named by the user.
        file: String,
        /// The tasks.
        tasks: &'static [&'static str],
    },
    /// The format has no such task.
    #[error("unknown task `{task}`: {format} has {}", if tasks.is_empty() { "one task, leave --task away".into() } else { tasks.join(", ") })]
    UnknownTask {
        /// What was asked for.
        task: String,
        /// Name of the format.
        format: &'static str,
        /// The tasks.
        tasks: &'static [&'static str],
    },
    /// Several systems and none was named.
    #[error("{file} holds {} systems: pass --system with one of {}", systems.len(), systems.join(", "))]
    WhichSystem {
        /// The file, as named by the user.
        file: String,
        /// Their names.
        systems: Vec<String>,
    },
    /// The files hold no such system.
    #[error("{file} holds no system `{system}`: it has {}", systems.join(", "))]
    UnknownSystem {
        /// What was asked for.
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

/// Every format, in the order in which help lists them.
pub static FORMATS: [Format; 11] = [
    infinitebench::FORMAT,
    leval_quality::FORMAT,
    leval_narrativeqa::FORMAT,
    nocha::FORMAT,
    novelqa::FORMAT,
    quality::FORMAT,
    squality::FORMAT,
    squad::FORMAT,
    tatqa::FORMAT,
    corpusqa::FORMAT,
    hamlet::FORMAT,
];

/// The format of that name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

impl Format {
    /// The first file, or the error that says what is wanted.
    fn first<'a>(&self, input: &FormatInput<'a>) -> Result<&'a InputFile, FormatError> {
        input.files.first().ok_or(FormatError::NoFile { format: self.name, wants: self.wants })
    }

    /// Refuses a task that the format does not have.
    fn check_task(&self, input: &FormatInput<'_>) -> Result<(), FormatError> {
        match input.task {
            Some(task) if !self.tasks.contains(&task) => {
                Err(FormatError::UnknownTask { task: task.to_owned(), format: self.name, tasks: self.tasks })
            }
            _ => Ok(()),
        }
    }

    /// The system that is meant: the one asked for, or the only one.
    fn system(&self, input: &FormatInput<'_>) -> Result<String, FormatError> {
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

/// For formats whose files are about one system that has no name.
fn no_systems(_: &FormatInput<'_>) -> Vec<String> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_their_names() {
        for known in &FORMATS {
            assert_eq!(format(known.name).map(|found| found.name), Some(known.name));
            let error = (known.read)(&FormatInput::default()).expect_err("no file was given");
            assert!(error.to_string().contains(known.name), "{error}");
        }
        assert!(format("none").is_none());
    }

    #[test]
    fn a_format_without_tasks_says_so() {
        let error = FORMATS[1].check_task(&FormatInput { task: Some("x"), ..FormatInput::default() });
        let message = error.expect_err("leval-quality has no tasks").to_string();
        assert_eq!(message, "unknown task `x`: leval-quality has one task, leave --task away");
    }
}
