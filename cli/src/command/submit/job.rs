//! Jobs that are handed in: the options of `submit`, and what a script is made of.

use crate::stores::is_address;
use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use std::path::PathBuf;
use std::process::Command;

/// Submit a run in parts to Slurm, Kubernetes or Ray
///
/// Parts are whole books where there are enough. Limits on cost and on requests a minute hold for all parts together:
/// each part gets its share. The same command again submits only unfinished parts. A job joins the parts in DIR/whole.
#[derive(Debug, clap::Args)]
pub(crate) struct SubmitArgs {
    /// What runs the parts
    #[arg(value_enum)]
    pub(super) engine: Engine,
    /// Number of parts
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(super) parts: usize,
    /// Folder for the parts and the joined run: on a disk that all machines share, or in an object store
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
    /// Slurm, Ray: folder for logs, on a disk that all machines share [default: `logs` in --out; with --out s3://BUCKET/NAME,
    /// Slurm writes into `NAME-logs` in the working folder, and Ray prints]
    #[arg(long, value_name = "DIR")]
    pub(super) logs: Option<PathBuf>,
    /// Print the script or manifest, and submit nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Then show the parts until all have ended, as `closeread status --follow` does
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) follow: bool,
    /// Maximum time of a part, at least 4 minutes; it is asked to stop two to three minutes before [default: what
    /// `closeread estimate` expects, times three, at least an hour]
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(4..))]
    pub(super) minutes: Option<u32>,
    /// Memory of a part, in MiB [default: by what runs were measured to take; with other models computed on its machine, what
    /// the cluster gives]
    #[arg(long, value_name = "MIB")]
    pub(super) memory: Option<u32>,
    /// Processors of a part
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) cpus: u16,
    /// Slurm: the partition
    #[arg(long, value_name = "NAME")]
    pub(super) partition: Option<String>,
    /// Slurm: the account
    #[arg(long, value_name = "NAME")]
    pub(super) account: Option<String>,
    /// Kubernetes: the container image
    #[arg(long, value_name = "IMAGE", required_if_eq("engine", "kubernetes"))]
    pub(super) image: Option<String>,
    /// Kubernetes: the volume claim, mounted at the folder of --out, where that is not in an object store
    #[arg(long, value_name = "CLAIM")]
    pub(super) claim: Option<String>,
    /// Kubernetes: the secret whose entries become variables, such as OPENAI_API_KEY
    #[arg(long, value_name = "NAME")]
    pub(super) secret: Option<String>,
    /// After `--`: the options of `closeread run`
    #[arg(last = true, value_name = "OPTION")]
    pub(super) run: Vec<String>,
}

impl SubmitArgs {
    /// Refuses options of another engine, and names that Kubernetes would refuse only when a pod starts.
    pub(super) fn check(&self) -> Result<()> {
        for (option, value, engine, its) in [
            ("--partition", &self.partition, Engine::Slurm, "Slurm"),
            ("--account", &self.account, Engine::Slurm, "Slurm"),
            ("--image", &self.image, Engine::Kubernetes, "Kubernetes"),
            ("--claim", &self.claim, Engine::Kubernetes, "Kubernetes"),
            ("--secret", &self.secret, Engine::Kubernetes, "Kubernetes"),
        ] {
            let Some(value) = value else { continue };
            ensure!(self.engine == engine, "{option} is for {its}: leave it out");
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
            let (is_right, expected) = match option {
                "--claim" | "--secret" => {
                    let is_right = value.starts_with(char::is_alphanumeric) && value.chars().all(is_name);
                    (is_right, "small letters, digits, `-` and `.`, as Kubernetes names them")
                }
                _ => (!value.is_empty() && !value.contains(char::is_whitespace), "a name without spaces"),
            };
            ensure!(is_right, "{option} is `{value}`: expected {expected}");
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Engine {
    /// A job array, and a job that joins its parts
    Slurm,
    /// An Indexed Job, and a job that joins its parts
    Kubernetes,
    /// Tasks of a Ray cluster
    Ray,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|parts| *parts > 0).ok_or_else(|| "expected a number from 1".to_owned())
}

/// The job that a script is made of.
pub(super) struct Job<'a> {
    pub(super) args: &'a SubmitArgs,
    /// The program that runs a part.
    pub(super) program: String,
    /// Folder of --out.
    pub(super) out: String,
    /// Folder of logs; `None` where the engine keeps or prints them.
    pub(super) logs: Option<String>,
    /// The folder in which relative paths hold.
    pub(super) working_folder: String,
    /// The options of `closeread run`, the shares of its limits at their end.
    pub(super) run: Vec<String>,
    /// Limits of each part, in words.
    pub(super) shares: Vec<String>,
    /// The parts to run, from 0.
    pub(super) wanted: Vec<usize>,
    /// Most minutes that a part may take.
    pub(super) minutes: u32,
    /// Memory of a part, in MiB; `None`: what the cluster gives.
    pub(super) memory: Option<u32>,
}

impl Job<'_> {
    /// The folder of a part, whose number, or the variable with it, is `id`.
    pub(super) fn part(&self, id: &str) -> String {
        format!("{}/parts/{id}", self.out)
    }

    /// Returns the command that joins the parts. A store has no folder of a part that has not begun.
    pub(super) fn merge(&self) -> Vec<String> {
        let parts: Vec<String> = match is_address(&self.out) {
            true => vec![self.part("*")],
            false => (0..self.args.parts).map(|id| self.part(&id.to_string())).collect(),
        };
        let ends = ["--fresh".to_owned(), "--out".to_owned(), format!("{}/whole", self.out)];
        [self.program.clone(), "merge".to_owned()].into_iter().chain(parts).chain(ends).collect()
    }

    /// Returns the same for a shell. It lists the folders: the names of a thousand are more than one argument may hold.
    pub(super) fn merge_line(&self) -> Result<String> {
        let parts = match is_address(&self.out) {
            true => quoted(&self.part("*"))?,
            false => quoted(&format!("{}/parts", self.out))? + "/*",
        };
        let (program, whole) = (quoted(&self.program)?, quoted(&format!("{}/whole", self.out))?);
        Ok(format!("{program} merge {parts} --fresh --out {whole}"))
    }
}

/// Runs a program of the engine to its end; gives what it printed.
pub(super) fn call(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let ended = command.output().with_context(|| format!("cannot start {name}: is this a machine of the cluster?"))?;
    ensure!(ended.status.success(), "{name}: {}", String::from_utf8_lossy(&ended.stderr).trim());
    Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned())
}

/// A value as a shell takes it.
pub(super) fn quoted(value: &str) -> Result<String> {
    Ok(shlex::try_quote(value).with_context(|| format!("{value:?} has a character that no shell takes"))?.into_owned())
}

/// A command as a shell takes it.
pub(super) fn shown(command: &[String]) -> String {
    shlex::try_join(command.iter().map(String::as_str)).unwrap_or_else(|_| command.join(" "))
}
