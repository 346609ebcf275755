//! Completions that a shell offers for the value of an option: names that closeread knows, and runs and models that it
//! finds.

use crate::command::help::TOPICS;
use clap::{Arg, Command};
use clap_complete::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter};
use closeread_data::ADAPTERS;
use closeread_judges::Judge;
use closeread_methods::{METHODS, reader::EXTRACTIVE};
use closeread_metrics::Metric;
use closeread_runner::benchmark::SAMPLE;
use closeread_runner::finished::is_run_folder;
use closeread_runner::tokenizer::{self, FETCHED};
use closeread_runner::{models, pricing};
use std::path::{Path, PathBuf};

/// Names the shell that asks.
pub(crate) const VARIABLE: &str = "CLOSEREAD_COMPLETE";
/// Folder where runs lie if none was named.
const RUNS: &str = "runs";

/// The command with candidates for its values, by their options' names.
pub(crate) fn completed(command: Command) -> Command {
    let below = command.mut_subcommands(completed);
    let is_help = below.get_name() == "help";
    below.mut_args(|arg| match candidates(&arg, is_help) {
        Some(candidates) => arg.add(candidates),
        None if takes_folders(&arg) => arg.add(ArgValueCompleter::new(PathCompleter::dir())),
        None => arg,
    })
}

fn takes_folders(arg: &Arg) -> bool {
    arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "DIR"))
}

fn candidates(arg: &Arg, is_help: bool) -> Option<ArgValueCandidates> {
    let of_name = |name: &str| {
        Some(match name {
            "method" => ArgValueCandidates::new(methods),
            "model" | "judge-model" | "preparer" => ArgValueCandidates::new(chat_models),
            "embedder" => ArgValueCandidates::new(embedding_models),
            "benchmark" => ArgValueCandidates::new(benchmarks),
            "tokenizer" => ArgValueCandidates::new(tokenizers),
            "metric" => ArgValueCandidates::new(|| plain(Metric::ALL.map(Metric::name))),
            "judge" => ArgValueCandidates::new(|| plain(Judge::ALL.map(Judge::name))),
            _ => return None,
        })
    };
    let of_place = |name: &str| match name {
        "RUN" | "RUN[=NAME]" | "RUN_A" | "RUN_B" => Some(ArgValueCandidates::new(|| runs(Path::new(RUNS)))),
        "COMMAND|TOPIC" if is_help => Some(ArgValueCandidates::new(help_pages)),
        _ => None,
    };
    let place = arg.get_value_names().and_then(|names| names.first());
    arg.get_long().and_then(of_name).or_else(|| place.and_then(|place| of_place(place)))
}

fn plain<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<CompletionCandidate> {
    names.into_iter().map(|name| CompletionCandidate::new(name.to_owned())).collect()
}

fn methods() -> Vec<CompletionCandidate> {
    let described =
        |(name, summary): (&str, &str)| CompletionCandidate::new(name).help(Some(summary.to_owned().into()));
    METHODS
        .iter()
        .map(|entry| described((entry.name, entry.summary)))
        .chain([CompletionCandidate::new("all")])
        .collect()
}

fn benchmarks() -> Vec<CompletionCandidate> {
    plain([SAMPLE].into_iter().chain(ADAPTERS.iter().map(|adapter| adapter.name)))
}

/// Offers the chat models whose windows and prices are known.
fn chat_models() -> Vec<CompletionCandidate> {
    let known = pricing::load(None)
        .map(|list| list.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>())
        .unwrap_or_default();
    plain([EXTRACTIVE].into_iter().chain(known.iter().map(String::as_str)))
}

fn embedding_models() -> Vec<CompletionCandidate> {
    let installed = models::models_dir().and_then(|dir| models::installed(&dir)).unwrap_or_default();
    installed.into_iter().flatten().map(|model| CompletionCandidate::new(model.spec.name)).collect()
}

fn tokenizers() -> Vec<CompletionCandidate> {
    plain(tokenizer::OWN.into_iter().chain(FETCHED.map(|fetched| fetched.name)))
}

/// Run folders below a folder.
fn runs(folder: &Path) -> Vec<CompletionCandidate> {
    let there = closeread_files::entries(folder).unwrap_or_default();
    let runs = there.into_iter().filter(|path| is_run_folder(path));
    runs.map(|path: PathBuf| CompletionCandidate::new(path.into_os_string())).collect()
}

fn help_pages() -> Vec<CompletionCandidate> {
    let command = crate::command();
    let commands = command.get_subcommands().map(Command::get_name);
    plain(commands.chain(TOPICS.iter().map(|(topic, _)| *topic)))
}
