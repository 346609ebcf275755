//! `closeread help`: commands, and topics that concern several of them.

use crate::help::PAGES;
use anyhow::{Result, bail};
use clap::Command;
use closeread_text::names::meant;
use std::process::ExitCode;

/// Topics with what each says.
pub(crate) const TOPICS: [(&str, &str); 5] = [
    ("budgets", include_str!("../../help/budgets.txt")),
    ("config", include_str!("../../help/config.txt")),
    ("exit-codes", include_str!("../../help/exit-codes.txt")),
    ("formats", include_str!("../../help/formats.txt")),
    ("providers", include_str!("../../help/providers.txt")),
];

/// Explain a command, or a topic such as budgets
#[derive(Debug, clap::Args)]
pub(crate) struct HelpArgs {
    /// A command, such as run or build hamlet, or a topic
    #[arg(value_name = "COMMAND|TOPIC")]
    about: Vec<String>,
}

/// Prints the long help of a command, or a topic.
pub(crate) fn run(args: &HelpArgs) -> Result<ExitCode> {
    if let [name] = &args.about[..]
        && let Some((_, text)) = TOPICS.iter().find(|(topic, _)| topic == name)
    {
        out!("{text}");
        if text.contains("docs/") {
            outln!("\n{PAGES}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = crate::command();
    command.build();
    let mut about = &mut command;
    for name in &args.about {
        if about.find_subcommand(name).is_none() {
            bail!("{}", unknown(about, name, args.about.len() == 1));
        }
        about = about.find_subcommand_mut(name).expect("it was found");
    }
    if args.about.is_empty() {
        about.print_help()?;
        outln!("\nTopics of `closeread help TOPIC`: {}", TOPICS.map(|(topic, _)| topic).join(", "));
    } else {
        about.print_long_help()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown(below: &Command, name: &str, is_first: bool) -> String {
    let commands = below.get_subcommands().map(Command::get_name);
    let topics = TOPICS.iter().map(|(topic, _)| *topic);
    let topics = topics.filter(|topic| is_first && below.find_subcommand(topic).is_none());
    let known: Vec<&str> = commands.chain(topics).collect();
    match &known[..] {
        [] => format!("`{}` has no commands below it", below.get_name()),
        _ => format!(
            "there is no help about `{name}`{}: expected {}",
            meant(name, known.iter().copied()),
            known.join(", ")
        ),
    }
}
