//! `closeread config`: every option of a run with its value and where it comes from.

use crate::config::{RunArgs, user_file};
use crate::environment::{VARIABLES, of_keys, variable_of};
use anyhow::{Context as _, Result};
use clap::ArgMatches;
use clap::parser::ValueSource;
use closeread_methods::protocol::Protocol;
use closeread_providers::{Keys, keys, without_credentials};
use closeread_runner::{cache, models, pricing};
use closeread_table::render::text;
use closeread_table::{Table, Value as Cell};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Options whose values can hold a key: it is said that they are given, never what they are.
const SECRET: [&str; 2] = ["extra-body", "judge-extra-body"];
/// How the names of addresses end: they are shown without user, password and query.
const ADDRESS: &str = "base-url";

const PRECEDENCE: &str = "\
The first that names a value wins: option, environment, --config, run.toml of the configuration folder, the paper, closeread.";

/// An option in force.
struct Setting {
    option: String,
    value: String,
    from: String,
}

/// Prints the options, folders and variables.
pub(crate) fn run(args: RunArgs, given: Option<&ArgMatches>) -> Result<ExitCode> {
    let as_json = args.json;
    let files: Vec<PathBuf> = args.config.iter().cloned().chain(user_file()).collect();
    let tables = files.iter().map(|path| Ok((path.clone(), toml_of(path)?))).collect::<Result<Vec<_>>>()?;
    // Refuses what a run would refuse.
    let args = args.with_config_file()?;
    let command = crate::command();
    let options = command.find_subcommand("config").expect("it is a command").get_arguments();
    let options = options.filter_map(|arg| Some((arg.get_long()?, arg.get_long_help().or(arg.get_help()))));
    let settings: Vec<Setting> = options
        .filter(|(name, _)| !["help", "json", "config", "fresh", "extend"].contains(name))
        .map(|(name, help)| {
            let (value, from) = of_command_line(name, given)
                .or_else(|| of_files(name, &tables))
                .or_else(|| of_paper(name, args.protocol()))
                .unwrap_or_else(|| {
                    (default_of(&help.map(ToString::to_string).unwrap_or_default()), "default".to_owned())
                });
            Setting { option: name.to_owned(), value: shown(name, &value), from }
        })
        .collect();
    let keys = keys()?;
    if as_json {
        let options = settings.iter().map(|one| json!({"option": one.option, "value": one.value, "from": one.from}));
        let variables = VARIABLES.iter().map(|(name, _)| json!({"name": name, "value": value_of(name)}));
        let keys = of_keys().into_iter().map(|name| json!({"name": name, "set": keys.first_of(&[name]).is_some()}));
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        outln!(
            "{}",
            json!({
                "options": options.collect::<Vec<_>>(), "files": files, "folders": folders(),
                "variables": variables.collect::<Vec<_>>(), "keys": keys.collect::<Vec<_>>(),
            })
        );
        return Ok(ExitCode::SUCCESS);
    }
    outln!("{PRECEDENCE}\n");
    // The longest last, so that a narrow terminal breaks no column.
    let rows = settings.iter().map(|one| [format!("--{}", one.option), one.from.clone(), one.value.clone()]);
    print_rows(&["option", "from", "value"], rows)?;
    outln!("");
    print_rows(
        &["folder", "is"],
        folders().as_object().into_iter().flatten().map(|(name, path)| [name.clone(), in_words(path)]),
    )?;
    outln!("");
    let set = VARIABLES
        .iter()
        .map(|(name, what)| [(*name).to_owned(), value_of(name).unwrap_or_else(|| "-".to_owned()), (*what).to_owned()]);
    let of_keys =
        of_keys().into_iter().map(|name| [name.to_owned(), presence(&keys, name), "a key, never shown".to_owned()]);
    print_rows(&["variable", "value", "what it is"], set.chain(of_keys))?;
    Ok(ExitCode::SUCCESS)
}

/// The value of a variable as it may be shown; an empty one counts as none.
fn value_of(variable: &str) -> Option<String> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty())?;
    Some(place(&value.to_string_lossy()))
}

/// Says whether a key is there, and where it stands.
fn presence(keys: &Keys, variable: &'static str) -> String {
    let in_environment = std::env::var(variable).is_ok_and(|value| !value.trim().is_empty());
    match keys.first_of(&[variable]) {
        Some(_) if in_environment => "set".to_owned(),
        Some(_) => "set, in .env".to_owned(),
        None => "-".to_owned(),
    }
}

fn print_rows<const N: usize>(head: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> Result<()> {
    let mut table = Table::new("", "", head.iter().map(|name| (*name).to_owned()).collect());
    for row in rows {
        table.rows.push(row.into_iter().map(Cell::text).collect());
    }
    out!("{}", text::body(&table));
    Ok(())
}

/// The folders that closeread reads and writes without being told.
fn folders() -> Value {
    // Serde refuses paths that are not UTF-8.
    let shown = |folder: Option<PathBuf>| folder.map(|folder| folder.display().to_string());
    json!({
        "configuration": shown(pricing::config_folder()),
        "cache": shown(cache::cache_folder()),
        "models": shown(models::models_dir().ok()),
        "runs": shown(std::env::current_dir().ok().map(|folder| folder.join("runs"))),
    })
}

fn in_words(path: &Value) -> String {
    path.as_str().map_or_else(|| "nowhere: this system has no place for it".to_owned(), str::to_owned)
}

fn of_command_line(name: &str, given: Option<&ArgMatches>) -> Option<(String, String)> {
    let (given, id) = (given?, name.replace('-', "_"));
    // The field is called otherwise, for the name is a word of Rust.
    let id = if id == "where" { "only" } else { id.as_str() };
    let from = match given.value_source(id)? {
        ValueSource::CommandLine => "option".to_owned(),
        ValueSource::EnvVariable => variable_of(name),
        _ => return None,
    };
    let values = given.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy().into_owned());
    let value = values.collect::<Vec<_>>().join(",");
    Some((if value.is_empty() { "\"\"".to_owned() } else { value }, from))
}

pub(super) fn toml_of(path: &Path) -> Result<toml::Table> {
    let text = closeread_files::read_text_file(path);
    let text = text.with_context(|| format!("cannot read the config {}", path.display()))?;
    Ok(toml::from_str(&text).unwrap_or_default())
}

/// Returns what the first of these files says of an option, and which file that is.
pub(super) fn of_files(name: &str, files: &[(PathBuf, toml::Table)]) -> Option<(String, String)> {
    // Parameters and fields may stand in a table of their own.
    let names = match name {
        "param" => ["param", "params"],
        "extra-body" => ["extra-body", "extra-bodies"],
        other => [other, other],
    };
    files.iter().find_map(|(path, options)| {
        let value = names.iter().find_map(|name| options.get(*name))?;
        Some((of_toml(value), path.display().to_string()))
    })
}

fn of_toml(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Boolean(true) => "yes".to_owned(),
        toml::Value::Boolean(false) => "no".to_owned(),
        toml::Value::Array(values) => values.iter().map(of_toml).collect::<Vec<_>>().join(","),
        other => other.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// Returns what the paper of the benchmark has for an option.
fn of_paper(name: &str, protocol: &Protocol) -> Option<(String, String)> {
    if *protocol == Protocol::OWN {
        return None;
    }
    let value = match name {
        "method" => protocol.methods().iter().map(|entry| entry.name).collect::<Vec<_>>().join(","),
        "budget" => protocol.budgets.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
        "repeats" => protocol.repeats.to_string(),
        "max-output-tokens" => (*protocol.max_output_tokens)?.to_string(),
        "embedder" => (*protocol.embedder)?.to_owned(),
        _ => return None,
    };
    Some((value, protocol.source.to_owned()))
}

/// Returns what the help of an option says of its default.
fn default_of(help: &str) -> String {
    let said = help.rfind("[default: ").map(|at| help[at + 10..].trim_end_matches(']'));
    said.map_or_else(|| "-".to_owned(), |said| said.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A value as it may be shown.
fn shown(name: &str, value: &str) -> String {
    match name {
        _ if value == "-" => value.to_owned(),
        name if SECRET.contains(&name) => "given, not shown: it can hold a key".to_owned(),
        name if name.ends_with(ADDRESS) => place(value),
        _ => value.to_owned(),
    }
}

/// A folder or a name as it is; an address without user, password and query.
fn place(value: &str) -> String {
    if value.contains("://") { without_credentials(value) } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_hold_a_key_is_not_shown() {
        for name in ["base-url", "judge-base-url", "embedder-base-url", "reranker-base-url"] {
            assert_eq!(shown(name, "https://me:sk-1@host/v1?key=sk-1"), "https://host/v1", "{name}");
        }
        assert!(!shown("extra-body", r#"{"api_key": "sk-1"}"#).contains("sk-1"));
        assert_eq!(shown("budget", "500"), "500");
    }

    #[test]
    fn defaults_are_read_from_the_help() {
        assert_eq!(default_of("Votes of each judge [default: 1]"), "1");
        assert_eq!(default_of("Only these items"), "-");
    }
}
