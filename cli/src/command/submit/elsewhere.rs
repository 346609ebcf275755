//! Options that hold on this machine alone: pods know neither its environment nor its run.toml.

use super::job::{Engine, SubmitArgs};
use crate::command::config::{of_files, toml_of};
use crate::config::user_file;
use crate::environment::variable_of;
use anyhow::{Result, ensure};
use std::path::PathBuf;

/// Options that each part has in its command: its share of a limit, its items, its folder.
const OF_PARTS: [&str; 5] = ["max-cost", "out", "rpm", "shard", "tpm"];

/// Refuses options that the parts would run without, unless the command names them.
pub(super) fn refuse_what_pods_lack(args: &SubmitArgs) -> Result<()> {
    if args.engine != Engine::Kubernetes {
        return Ok(());
    }
    let files = read_files(user_file())?;
    let is_set = |option: &str| {
        let variable = std::env::var_os(variable_of(option)).is_some_and(|value| !value.is_empty());
        variable || of_files(option, &files).is_some()
    };
    let is_given = |option: &str| {
        let mut names = args.run.iter().filter_map(|argument| argument.strip_prefix("--")?.split('=').next());
        names.any(|name| name == option)
    };
    let command = crate::command();
    let options = command.find_subcommand("run").into_iter().flat_map(clap::Command::get_arguments);
    let lost = options.filter_map(clap::Arg::get_long).filter(|option| !OF_PARTS.contains(option));
    let lost: Vec<String> =
        lost.filter(|option| is_set(option) && !is_given(option)).map(|option| format!("--{option}")).collect();
    ensure!(
        lost.is_empty(),
        "{}: set by the environment or by run.toml of this machine, which the pods do not have: give it after `--`",
        lost.join(", ")
    );
    Ok(())
}

/// The file that an option of a run stands in: that of --config, or the user's own.
pub(super) fn named_in(option: &str, config: Option<PathBuf>) -> Result<String> {
    let files = read_files(config.into_iter().chain(user_file()))?;
    Ok(of_files(option, &files).map_or_else(|| "a file of options".to_owned(), |(_, file)| file))
}

fn read_files(paths: impl IntoIterator<Item = PathBuf>) -> Result<Vec<(PathBuf, toml::Table)>> {
    let read = |path: PathBuf| toml_of(&path).map(|options| (path, options));
    paths.into_iter().map(read).collect()
}
