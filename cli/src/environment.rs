//! Environment variables: options of a run, folders, keys.

use clap::Command;
use clap::error::ErrorKind;
use closeread_providers::{EMBEDDING_PROVIDERS, PROVIDERS, RERANK_PROVIDERS};
use closeread_text::names::nearest;
use std::any::TypeId;
use std::env::VarError;
use std::path::PathBuf;
use tracing::warn;

/// Begins the name of the variable of an option of a run: `CLOSEREAD_RUN_BASE_URL` is `--base-url`.
const PREFIX: &str = "CLOSEREAD_RUN_";
/// Commands that take the options of a run.
const OF_RUNS: [&str; 4] = ["config", "estimate", "index", "run"];
/// Other commands that pay for calls.
const PAYING: [&str; 5] = ["build", "judge", "retrieve", "search", "tree"];
/// The options of a run that limit what these pay.
const OF_COSTS: [&str; 3] = ["allow-unknown-price", "max-cost", "model-info"];

/// Variables besides those of options and keys, and what each is for.
pub(crate) const VARIABLES: [(&str, &str); 10] = [
    ("CLOSEREAD_CACHE", "folder of remembered responses and vectors, and of indexes"),
    ("CLOSEREAD_CONFIG", "folder of run.toml and models.toml"),
    ("CLOSEREAD_MODELS", "folder of installed embedding models"),
    ("CLOSEREAD_PAGE", "folder of the built page"),
    ("CLOSEREAD_GPU", "part of the name of the graphics processor that computes"),
    ("CLOSEREAD_RELEASES", "address that the embedding model of closeread's releases is fetched from"),
    ("CLOSEREAD_PDF_MEMORY", "MiB of memory that reading one PDF may take, 64 to 1048576, 4096 without it"),
    ("CLOSEREAD_PDF_SECONDS", "seconds that one PDF may take to read, 1 to 86400, 300 without it"),
    (crate::stores::EVERY, "seconds between sending what is new of a run in an object store, 1 to 3600, 10 without it"),
    ("HF_ENDPOINT", "address of the hub that other models are fetched from"),
];

/// Those of them that name folders, whose paths need not be UTF-8.
const FOLDERS: [&str; 4] = ["CLOSEREAD_CACHE", "CLOSEREAD_CONFIG", "CLOSEREAD_MODELS", "CLOSEREAD_PAGE"];

/// The variable of an option of a run.
pub(crate) fn variable_of(option: &str) -> String {
    format!("{PREFIX}{}", option.to_uppercase().replace('-', "_"))
}

/// The variables in which keys are looked for, each once.
pub(crate) fn of_keys() -> Vec<&'static str> {
    let embedding = EMBEDDING_PROVIDERS.iter().flat_map(|provider| provider.variables);
    let reranking = RERANK_PROVIDERS.iter().flat_map(|provider| provider.variables);
    let chat = PROVIDERS.iter().flat_map(|provider| provider.variables);
    let mut variables: Vec<&str> = chat.chain(embedding).chain(reranking).copied().collect();
    variables.sort_unstable();
    variables.dedup();
    variables
}

/// The command whose options of a run may also stand in the environment.
pub(crate) fn read(command: Command) -> Command {
    let command =
        OF_RUNS.iter().fold(command, |all, name| all.mut_subcommand(name, |of_runs| with_variables(of_runs, |_| true)));
    let is_of_costs = |option: &str| OF_COSTS.contains(&option);
    PAYING.iter().fold(command, |all, name| all.mut_subcommand(name, |paying| with_variables(paying, is_of_costs)))
}

/// A command, and those below it, whose chosen options may also stand in the environment.
fn with_variables(command: Command, is_chosen: fn(&str) -> bool) -> Command {
    let command = command.mut_subcommands(|below| with_variables(below, is_chosen));
    command.mut_args(|arg| match arg.get_long().filter(|option| is_chosen(option)).map(variable_of) {
        Some(variable) => arg.env(variable).hide_env(true),
        None => arg,
    })
}

/// Names the variables of options, or else the arguments, that an error of the command line calls no UTF-8; `None` if it is about something else.
pub(crate) fn not_utf8(all: &Command, error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::InvalidUtf8 {
        return None;
    }
    let of_texts = all.find_subcommand("config")?.get_arguments();
    let of_texts = of_texts.filter(|arg| arg.get_value_parser().type_id() != TypeId::of::<PathBuf>());
    let variables = of_texts.filter_map(|arg| arg.get_long().map(variable_of));
    let variables: Vec<String> = variables.filter(|variable| is_not_utf8(variable)).collect();
    if !variables.is_empty() {
        return Some(format!("{}: the value is not UTF-8", variables.join(", ")));
    }
    let given = std::env::args_os().skip(1).filter(|given| given.to_str().is_none());
    let given: Vec<String> = given.map(|given| format!("`{}`", given.to_string_lossy())).collect();
    (!given.is_empty()).then(|| format!("not UTF-8: {}; expected text in UTF-8 in the place of each", given.join(", ")))
}

/// Warns of variables whose values cannot be read: a key would be missed only by the first call.
pub(crate) fn warn_of_unreadable() {
    let of_texts = VARIABLES.iter().map(|(name, _)| *name).filter(|name| !FOLDERS.contains(name));
    for variable in of_texts.chain(of_keys()).filter(|variable| is_not_utf8(variable)) {
        warn!("{variable} is ignored: its value is not UTF-8");
    }
}

/// The variable that gives the value of an option, as an error shows the option, where the command line does not.
pub(crate) fn instead_of(shown: &str) -> Option<String> {
    let option = shown.split([' ', '=', '[']).next().filter(|option| option.starts_with("--"))?;
    let variable = variable_of(option.trim_start_matches('-'));
    let is_given = crate::log::arguments().any(|given| given.split('=').next() == Some(option));
    (!is_given && std::env::var_os(&variable).is_some()).then_some(variable)
}

/// Says which variable gives an option that an error names, or a value that it quotes; `None` if the command line does.
pub(crate) fn behind(all: &Command, said: &str) -> Option<String> {
    let command = crate::log::arguments().find_map(|given| all.find_subcommand(given))?;
    let read: Vec<&str> = match command.get_name() {
        name if OF_RUNS.contains(&name) => command.get_arguments().filter_map(clap::Arg::get_long).collect(),
        name if PAYING.contains(&name) => OF_COSTS.to_vec(),
        _ => return None,
    };
    let names = |option: &str| said.split(|c: char| !c.is_ascii_lowercase() && c != '-').any(|word| word == option);
    let quotes = |value: &str| value.contains(char::is_alphabetic) && said.contains(&format!("`{value}`"));
    read.into_iter().find_map(|option| {
        let option = format!("--{option}");
        let variable = instead_of(&option)?;
        let is_it = names(&option) || quotes(&std::env::var(&variable).unwrap_or_default());
        is_it.then(|| format!("{option} comes from the environment variable {variable}"))
    })
}

fn is_not_utf8(variable: &str) -> bool {
    matches!(std::env::var(variable), Err(VarError::NotUnicode(_)))
}

/// Warns of variables that begin as those of a run's options and are none, where the named command reads these: a mistyped
/// limit would be found out by the bill.
pub(crate) fn warn_of_unknown(all: &Command, name: &str) {
    if !OF_RUNS.contains(&name) && !PAYING.contains(&name) {
        return;
    }
    let of_runs = OF_RUNS.iter().filter_map(|name| all.find_subcommand(name));
    let known: Vec<String> =
        of_runs.flat_map(|command| command.get_arguments()).filter_map(|arg| arg.get_long().map(variable_of)).collect();
    for (variable, _) in std::env::vars_os() {
        let variable = variable.to_string_lossy();
        let Some(rest) = variable.strip_prefix(PREFIX).filter(|_| known.iter().all(|known| *known != variable)) else {
            continue;
        };
        let meant = nearest(rest, known.iter().filter_map(|known| known.strip_prefix(PREFIX)));
        let meant = meant.map_or_else(String::new, |meant| format!(" (did you mean {PREFIX}{meant}?)"));
        warn!("{variable} is ignored: no option of a run has this name{meant}");
    }
}
