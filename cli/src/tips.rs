//! Tips for a command line that cannot be parsed, where clap has none.

use crate::{command, environment, hint, log};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use closeread_data::adapter;
use closeread_methods::entry;
use closeread_runner::benchmark::SAMPLE;
use closeread_runner::finished::is_run_folder;
use closeread_text::names::nearest;
use std::path::Path;

/// The error, with what was likely meant.
pub(crate) fn with_tip(mut error: clap::Error) -> clap::Error {
    let tip = of_environment(&error).or_else(|| of_export(&error)).or_else(|| of_bare_word(&error));
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    } else if let Some(meant) = nearest_command(&error) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![meant]));
    }
    error
}

fn words(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(words)) => Some(words),
        _ => None,
    }
}

/// The variable that gave a value which the command line does not have.
fn of_environment(error: &clap::Error) -> Option<String> {
    let variable = environment::instead_of(words(error, ContextKind::InvalidArg)?)?;
    Some(format!("the value is that of the environment variable {variable}"))
}

/// The command that writes a format which `closeread export` does not.
fn of_export(error: &clap::Error) -> Option<String> {
    let is_export = log::arguments().any(|given| given == "export");
    let format = words(error, ContextKind::InvalidSubcommand).filter(|_| is_export);
    let format = format.or_else(|| words(error, ContextKind::InvalidArg).filter(|option| *option == "--junit"))?;
    command::export::written_elsewhere(format.trim_start_matches('-'))
}

/// The option for what stands without one.
fn of_bare_word(error: &clap::Error) -> Option<String> {
    let given = words(error, ContextKind::InvalidArg).filter(|given| !given.starts_with('-'))?;
    if error.kind() == ErrorKind::UnknownArgument { with_its_option(given) } else { None }
}

/// The nearest command where clap finds none, as for letters that changed places.
fn nearest_command(error: &clap::Error) -> Option<String> {
    let unknown = words(error, ContextKind::InvalidSubcommand)?;
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return None;
    }
    let all = command();
    let names = command_before(&all, unknown).get_subcommands().map(clap::Command::get_name);
    nearest(unknown, names).map(str::to_owned)
}

/// The command that stands before a word of the command line.
fn command_before<'a>(all: &'a clap::Command, word: &str) -> &'a clap::Command {
    let given = log::arguments().take_while(|given| given != word);
    given.fold(all, |above, given| above.find_subcommand(&given).unwrap_or(above))
}

/// How to give what stands without an option, where the command has one for it.
fn with_its_option(given: &str) -> Option<String> {
    let all = command();
    let command = command_before(&all, given);
    let before = log::arguments().take_while(|word| word != given).last().unwrap_or_default();
    let is_before = |arg: &&clap::Arg| arg.get_long().is_some_and(|name| before == format!("--{name}"));
    if command.get_arguments().find(is_before).is_some_and(clap::Arg::is_require_equals_set) {
        return Some(format!("use '{before}={}'", hint::typed(given)));
    }
    let path = Path::new(given);
    let options: &[&str] = if is_run_folder(path) {
        &["no-worse-than", "out"]
    } else if entry(given).is_some() {
        &["method"]
    } else if path.exists() || given == SAMPLE || adapter(given).is_some() {
        &["benchmark", "books", "documents"]
    } else {
        return None;
    };
    let has = |option: &str| command.get_arguments().any(|arg| arg.get_long() == Some(option));
    let option = options.iter().find(|option| has(option))?;
    Some(format!("use '--{option} {}'", hint::typed(given)))
}
