//! `closeread people`: pages on which people answer, judge and label, and what their files say.

mod answer;
mod folder;
pub(super) mod labels;
mod rate;
mod read;
mod seen;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use closeread_eval::draw::{Draw, Where};
use std::process::ExitCode;

/// Ask people: answer, judge, label faults, check facts
#[derive(Debug, Args)]
pub(crate) struct PeopleArgs {
    #[command(subcommand)]
    command: PeopleCommand,
}

#[derive(Debug, Subcommand)]
enum PeopleCommand {
    Answer(answer::AnswerArgs),
    Rate(rate::RateArgs),
    Read(read::ReadArgs),
}

/// Makes a page or reads what people said.
pub(crate) fn run(args: &PeopleArgs) -> Result<ExitCode> {
    match &args.command {
        PeopleCommand::Answer(args) => answer::run(args),
        PeopleCommand::Rate(args) => rate::run(args),
        PeopleCommand::Read(args) => read::run(args),
    }
}

/// Which of all are asked.
#[derive(Debug, Args)]
struct Selection {
    /// Only items with this value of a label; repeatable: two values of one label mean either, two labels mean both
    #[arg(long = "where", value_name = "LABEL=VALUE")]
    only: Vec<Where>,
    /// Only a sample of N, the same for the same --seed
    #[arg(long, value_name = "N")]
    draw: Option<usize>,
    /// With --draw: draw from each value of this label in proportion to its share
    #[arg(long, value_name = "LABEL")]
    by: Option<String>,
    /// Seed of --draw
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl Selection {
    fn draw(&self) -> Result<Option<Draw>> {
        if self.by.is_some() && self.draw.is_none() {
            bail!("--by is for a sample: add --draw N");
        }
        Ok(self.draw.map(|n| Draw { n, by: self.by.clone(), seed: self.seed }))
    }
}
