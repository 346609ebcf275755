//! What is on this machine alone: pods know neither its environment, its run.toml nor its files.

use super::job::{Engine, SubmitArgs};
use crate::command::config::{of_files, toml_of};
use crate::config::{RunArgs, user_file};
use crate::environment::variable_of;
use anyhow::{Result, ensure};
use closeread_data::adapter;
use closeread_runner::benchmark::SAMPLE;
use std::path::PathBuf;
use toml::{Table, Value};
use tracing::warn;

/// Options that each part has in its command: its share of a limit, its items, its folder.
const OF_PARTS: [&str; 5] = ["max-cost", "out", "rpm", "shard", "tpm"];

/// Options that both files add something to.
const ADDED: [&str; 3] = ["extra-body", "judge-extra-body", "param"];

/// Refuses options that the parts would run without, unless the command names them; `read` are those that hold for it. The nodes of
/// a Ray cluster may share this machine's files: there they are named.
pub(super) fn refuse_what_pods_lack(args: &SubmitArgs, read: &RunArgs) -> Result<()> {
    let has_cluster =
        || std::env::var_os("RAY_ADDRESS").is_some_and(|address| !address.is_empty() && address != "local");
    match args.engine {
        Engine::Kubernetes => warn_of_files(args, read),
        Engine::Ray if has_cluster() => {}
        Engine::Ray | Engine::Slurm => return Ok(()),
    }
    let (own, config) = (read_files(user_file())?, read_files(read.config.clone())?);
    let is_set = |option: &str| {
        let variable = std::env::var_os(variable_of(option)).is_some_and(|value| !value.is_empty());
        // What the file of --config says wins over run.toml.
        let wins = || !ADDED.contains(&option) && of_files(option, &config).is_some();
        variable || of_files(option, &own).is_some() && !wins()
    };
    let is_given = |option: &str| {
        let mut names = args.run.iter().filter_map(|argument| argument.strip_prefix("--")?.split('=').next());
        names.any(|name| name == option)
    };
    let command = crate::command();
    let options = command.find_subcommand("run").into_iter().flat_map(clap::Command::get_arguments);
    let lost = options.filter_map(clap::Arg::get_long).filter(|option| !OF_PARTS.contains(option));
    // Files of another benchmark than the command's are not read.
    let lost = lost.filter(|option| *option != "data" || !read.data.is_empty());
    let lost: Vec<String> =
        lost.filter(|option| is_set(option) && !is_given(option)).map(|option| format!("--{option}")).collect();
    if args.engine == Engine::Ray && !lost.is_empty() {
        let lost = lost.join(", ");
        warn!(
            "{lost}: set by the environment or by run.toml of this machine, which other nodes may lack: give it after `--`"
        );
        return Ok(());
    }
    ensure!(
        lost.is_empty(),
        "{}: set by the environment or by run.toml of this machine, which the pods do not have: give it after `--`",
        lost.join(", ")
    );
    Ok(())
}

/// Warns of files and folders of this machine: pods look for them in their image and in the volume.
fn warn_of_files(args: &SubmitArgs, read: &RunArgs) {
    let is_own = |name: &&String| *name != SAMPLE && adapter(name).is_none();
    let benchmark = read.benchmark.as_ref().filter(is_own).map(PathBuf::from);
    let one = [
        ("--benchmark", &benchmark),
        ("--config", &read.config),
        ("--embedder-spec", &read.embedder_spec),
        ("--model-info", &read.model_info),
        ("--prompts", &read.prompts),
    ];
    let one = one.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
    for (option, path) in one.chain(read.data.iter().map(|path| ("--data", path))) {
        if path.exists() && !(args.claim.is_some() && path.starts_with(&args.out)) {
            warn!(
                "{option} {} is on this machine, and a pod looks for it in its image: name what is in the volume, below --out, or in \
                 an object store",
                path.display()
            );
        }
    }
}

/// The file that an option of a run stands in: that of --config, or the user's own.
pub(super) fn named_in(option: &str, config: Option<PathBuf>) -> Result<String> {
    let files = read_files(config.into_iter().chain(user_file()))?;
    Ok(of_files(option, &files).map_or_else(|| "a file of options".to_owned(), |(_, file)| file))
}

/// The options of files that say something: a switch that is off says nothing.
fn read_files(paths: impl IntoIterator<Item = PathBuf>) -> Result<Vec<(PathBuf, Table)>> {
    let read = |path: PathBuf| {
        let options = toml_of(&path)?.into_iter().filter(|(_, value)| *value != Value::Boolean(false));
        Ok((path, options.collect()))
    };
    paths.into_iter().map(read).collect()
}
