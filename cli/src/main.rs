//! closeread: how well do language models read whole books?

#![warn(clippy::print_stdout, clippy::print_stderr)]

/// `println!` that gives an error where nobody listens any more, as in `| head`, instead of ending in a panic, and whose words
/// do not steer the terminal.
macro_rules! outln {
    ($($argument:tt)*) => {
        ::std::io::Write::write_fmt(&mut closeread_terminal::stdout(), format_args!("{}\n", format_args!($($argument)*)))?
    };
}

/// `print!` that gives an error as `outln!` does.
macro_rules! out {
    ($($argument:tt)*) => {
        ::std::io::Write::write_fmt(&mut closeread_terminal::stdout(), format_args!($($argument)*))?
    };
}

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod command;
mod completion;
mod config;
mod environment;
mod headings;
mod help;
mod hint;
mod log;
mod ranges;
mod stores;
mod table;
mod tips;
mod values;
mod welcome;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::CompleteEnv;
use closeread_llm::provider::without_likely_keys;
use closeread_runner::interrupt;
use log::LogArgs;
use std::ffi::OsString;
use std::process::ExitCode;
use tracing::error;

/// How well do language models read whole books and whole document collections?
#[derive(Debug, Parser)]
#[command(name = "closeread", version, max_term_width = 120, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    log: LogArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<config::RunArgs>),
    /// Estimate a run's calls, tokens and cost, without a call
    Estimate(Box<config::RunArgs>),
    Methods(command::methods::MethodsArgs),
    Protocol(command::protocol::ProtocolArgs),
    Verify(command::verify::VerifyArgs),
    Merge(command::merge::MergeArgs),
    Submit(Box<command::submit::SubmitArgs>),
    Status(command::status::StatusArgs),
    Score(command::score::ScoreArgs),
    Chunk(command::chunk::ChunkArgs),
    Search(command::search::SearchArgs),
    Retrieve(Box<command::retrieve::RetrieveArgs>),
    Index(Box<command::index::IndexArgs>),
    Tree(Box<command::tree::TreeArgs>),
    Model(command::model::ModelArgs),
    Data(command::data::DataArgs),
    Build(command::build::BuildArgs),
    Judge(command::judge::JudgeArgs),
    Agreement(command::agreement::AgreementArgs),
    People(command::people::PeopleArgs),
    Compare(command::compare::CompareArgs),
    Report(command::report::ReportArgs),
    Leaderboard(command::leaderboard::LeaderboardArgs),
    Export(Box<command::export::ExportArgs>),
    Gate(Box<command::gate::GateArgs>),
    Serve(command::serve::ServeArgs),
    Providers(command::providers::ProvidersArgs),
    Cache(command::cache::CacheArgs),
    /// Print a run's options with their values and sources
    ///
    /// Takes the options of `closeread run`. The first that names a value wins: option, environment, --config, run.toml of the
    /// user's configuration folder, the paper, closeread. Keys are never shown.
    Config(Box<config::RunArgs>),
    Doctor(command::doctor::DoctorArgs),
    Completions(command::completions::CompletionsArgs),
    Man(command::man::ManArgs),
    Help(command::help::HelpArgs),
}

/// The command line: options within their ranges and under headings, with examples, what the environment gives of them,
/// and what completes them.
fn command() -> clap::Command {
    completion::completed(help::explained(headings::under(environment::read(ranges::within(Cli::command())))))
}

fn main() -> ExitCode {
    end_at_a_panic();
    if let Some(ended) = closeread_builder::pdf::begin() {
        return ended;
    }
    CompleteEnv::with_factory(command).var(completion::VARIABLE).bin("closeread").complete();
    let (cli, matches) = match parsed() {
        Ok(parsed) => parsed,
        Err(ended) => return ended,
    };
    environment::warn_of_unreadable();
    if let Some(name) = matches.subcommand_name() {
        environment::warn_of_unknown(&Cli::command(), name);
    }
    let Some(command) = cli.command else { return welcome::print() };
    // One thread drives all futures, which need not be Send; CPU work goes to threads of its own.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refused(&format!("cannot start: {error}")),
    };
    let result = runtime.block_on(async {
        interrupt::outlive_file_limits();
        run(command, &matches).await
    });
    result.unwrap_or_else(|error| if is_broken_pipe(&error) { ExitCode::SUCCESS } else { failed(&error) })
}

/// Makes a panic end a program that does not unwind by its exit code: an abort would leave a core file, with keys in it.
fn end_at_a_panic() {
    if cfg!(panic = "abort") {
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            told(panic);
            std::process::exit(101)
        }));
    }
}

/// The command line, parsed, with what it names in a store fetched; how the program ends if it cannot be.
fn parsed() -> Result<(Cli, ArgMatches), ExitCode> {
    // Elsewhere it limits responses: to take it for that, or to guess, would cost a run.
    if log::arguments().take_while(|given| given != "--").any(|given| given.split('=').next() == Some("--max-tokens")) {
        LogArgs::of_arguments().begin();
        let why = "there is no --max-tokens: --passage-tokens limits a passage, --max-output-tokens a response";
        return Err(refused(why));
    }
    let read = |arguments: &[OsString]| {
        let matches =
            command().color(log::color_of_arguments()).try_get_matches_from(arguments).map_err(tips::with_tip);
        matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)))
    };
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let (cli, matches) = read(&arguments).map_err(|error| not_parsed(&error))?;
    cli.log.begin();
    match matches.subcommand_name().filter(|_| stores::are_named(&arguments)) {
        None => Ok((cli, matches)),
        Some(name) => {
            let arguments = stores::fetched(name, arguments, takes_value).map_err(|error| failed(&error))?;
            Ok(read(&arguments).unwrap_or_else(|error| error.exit()))
        }
    }
}

/// Says what is wrong with a command line, without what looks like a key, or prints the help that it asks for.
fn not_parsed(error: &clap::Error) -> ExitCode {
    if let Some(told) = environment::not_utf8(&command(), error) {
        LogArgs::of_arguments().begin();
        return refused(&without_likely_keys(&told));
    }
    let told = error.render().to_string();
    let said = without_likely_keys(&told);
    if !error.use_stderr() || (said == told && !LogArgs::of_arguments().is_json()) {
        error.exit();
    }
    LogArgs::of_arguments().begin();
    refused(&within_message(&said))
}

async fn run(command: Command, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(args) => command::run::run(*args).await,
        Command::Estimate(args) => command::estimate::run(*args),
        Command::Methods(args) => command::methods::run(&args),
        Command::Protocol(args) => command::protocol::run(&args),
        Command::Verify(args) => command::verify::run(args).await,
        Command::Merge(args) => command::merge::run(args).await,
        Command::Submit(args) => command::submit::run(*args, run_arguments).await,
        Command::Status(args) => command::status::run(args).await,
        Command::Score(args) => command::score::run(&args),
        Command::Chunk(args) => command::chunk::run(&args),
        Command::Search(args) => command::search::run(&args),
        Command::Retrieve(args) => command::retrieve::run(*args).await,
        Command::Index(args) => command::index::run(*args).await,
        Command::Tree(args) => command::tree::run(*args).await,
        Command::Model(args) => command::model::run(args).await,
        Command::Data(args) => command::data::run(args),
        Command::Build(args) => command::build::run(args).await,
        Command::Judge(args) => command::judge::run(args).await,
        Command::Agreement(args) => command::agreement::run(&args),
        Command::People(args) => command::people::run(&args),
        Command::Compare(args) => command::compare::run(&args),
        Command::Report(args) => command::report::run(&args),
        Command::Leaderboard(args) => command::leaderboard::run(&args),
        Command::Gate(args) => command::gate::run(&args),
        Command::Export(args) => command::export::run(*args).await,
        Command::Serve(args) => command::serve::run(args).await,
        Command::Providers(args) => command::providers::run(args).await,
        Command::Cache(args) => command::cache::run(args),
        Command::Config(args) => command::config::run(*args, matches.subcommand().map(|(_, given)| given)),
        Command::Doctor(args) => command::doctor::run(&args).await,
        Command::Completions(args) => command::completions::run(args),
        Command::Man(args) => command::man::run(&args),
        Command::Help(args) => command::help::run(&args),
    }
}

/// Returns whether a value follows an option of some command.
fn takes_value(option: &str) -> bool {
    fn any(command: &clap::Command, option: &str) -> bool {
        let takes = |arg: &clap::Arg| arg.get_long() == Some(option) && arg.get_action().takes_values();
        command.get_arguments().any(takes) || command.get_subcommands().any(|command| any(command, option))
    }
    any(&Cli::command(), option.trim_start_matches('-'))
}

/// Says why, and how the program ends.
fn refused(why: &str) -> ExitCode {
    error!("{why}");
    ExitCode::from(2)
}

/// Says why, with a hint, and how the program ends.
fn failed(error: &anyhow::Error) -> ExitCode {
    let said = without_likely_keys(&format!("{error:#}"));
    let hint = hint::hint(error).or_else(|| environment::behind(&Cli::command(), &said));
    error!(hint = hint, "{said}");
    ExitCode::from(2)
}

/// Returns what clap says of a command line as a part of a message.
fn within_message(said: &str) -> String {
    said.trim_end().trim_start_matches("error: ").replace('\n', "\n  ")
}

/// The options of `closeread run` in a command line of its own, those that the environment gives among them or not.
fn run_arguments(line: Vec<String>, with_environment: bool) -> anyhow::Result<config::RunArgs> {
    let command = ranges::within(Cli::command());
    let command = if with_environment { environment::read(command) } else { command };
    let matches = command.try_get_matches_from(line).map_err(|error| match error.use_stderr() {
        true => match environment::not_utf8(&Cli::command(), &error) {
            Some(told) => anyhow::anyhow!(told),
            None => anyhow::anyhow!("after `--`: {}", within_message(&error.render().to_string())),
        },
        false => error.exit(),
    })?;
    match Cli::from_arg_matches(&matches)?.command {
        Some(Command::Run(args)) => Ok(*args),
        _ => anyhow::bail!("expected the options of `closeread run` after `--`"),
    }
}

/// True if the reader of our output went away, as `| head` does.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
