//! `closeread submit`: a run in parts on a cluster. Writes the engine's script or manifest, and hands it in.

mod elsewhere;
mod expected;
mod handed;
mod job;
mod kubernetes;
mod one_at_a_time;
mod place;
mod ray;
mod share;
mod slurm;
pub(super) mod watch;

pub(crate) use job::SubmitArgs;

use crate::config::RunArgs;
use crate::stores::is_address;
use anyhow::{Context as _, Result, bail, ensure};
use closeread_files::write_atomically;
use closeread_providers::{with_one_slash, without_credentials};
use elsewhere::{named_in, refuse_what_pods_lack};
use expected::Expected;
use handed::Handed;
use job::{Engine, Job};
use one_at_a_time::one_at_a_time;
use place::Place;
use share::shared;
use slurm::Queued;
use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitCode};
use tracing::info;

/// Reader of a command line of `closeread run`, with what the environment says or without.
type ReadRun = fn(Vec<String>, bool) -> Result<RunArgs>;

/// Writes the script, hands it in, and follows it if told to.
pub(crate) async fn run(args: SubmitArgs, read_run: ReadRun) -> Result<ExitCode> {
    let options = read_options(&args.run, read_run)?;
    let limits = read_run(line(&args.run), true)?.with_files()?;
    let (run, shares) = shared(&args.run, &limits, args.parts)?;
    let place = Place::of(&args)?;
    let out_text = one_line(place.path(), "--out")?;
    let working_folder = one_line(&std::env::current_dir()?, "the working folder")?;
    check_lines(&args)?;
    args.check()?;
    refuse_what_pods_lack(&args, &options)?;
    let logs = place.logs(&args)?;
    let logs_text = logs.as_deref().map(|logs| one_line(logs, "--logs")).transpose()?;
    let lock = match &logs {
        Some(logs) if !args.dry_run => one_at_a_time(args.engine, logs)?,
        _ => None,
    };
    let (mut wanted, running) = place.open_parts(&args)?;
    let queued = queued(&args, &place, logs.as_deref(), &out_text)?;
    wanted.retain(|part| !queued.parts.contains(part));
    let in_store = options.benchmark.as_ref().is_some_and(is_address);
    let expected = Expected::of(&args, &run, in_store)?;
    let knows_memory = || args.engine != Engine::Slurm || slurm::knows_memory();
    let job = Job {
        args: &args,
        program: program(args.engine)?,
        out: out_text,
        logs: logs_text,
        working_folder,
        run,
        shares,
        wanted,
        minutes: args.minutes.unwrap_or(expected.minutes),
        memory: args.memory.or_else(|| expected.memory.filter(|_| knows_memory())),
    };
    let (name, text) = script(&job)?;
    if args.dry_run {
        out!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    let waiting = queued.parts.iter().filter(|part| !running.contains(part)).count();
    if job.wanted.is_empty() && running.is_empty() && waiting == 0 {
        info!("all {} parts are finished: {}", args.parts, job.merge_line()?);
        if !queued.joins && !watch::is_joined(&job.out) {
            return join(&job, &queued);
        }
    }
    for (n, what) in [(running.len(), "running"), (waiting, "in Slurm's queue")] {
        if n > 0 {
            info!("parts {what}, which are not handed in again: {n}");
        }
    }
    let arrays: Vec<String> = queued.arrays.iter().cloned().collect();
    if job.wanted.is_empty() {
        if queued.lacks_merge {
            slurm::hand_in_merge(&job, None, &queued)?;
        }
        drop(lock);
        return follow_others(&args, &place, arrays, !running.is_empty()).await;
    }
    let file = place.script(name)?;
    place.make_folders(args.parts, logs.as_deref())?;
    refuse_foreign(&file)?;
    write_atomically(&file, text.as_bytes())?;
    info!("{}: parts {} of {}", file.display(), job.wanted.len(), args.parts);
    let Some(handed) = hand_in(&job, &file, &queued, arrays)? else { return Ok(ExitCode::SUCCESS) };
    follow(&args, &place, handed, lock).await
}

/// The program that a part calls.
fn program(engine: Engine) -> Result<String> {
    match engine {
        Engine::Kubernetes => Ok("closeread".to_owned()),
        Engine::Slurm | Engine::Ray => one_line(&std::env::current_exe()?, "the path of this program"),
    }
}

/// The engine's script or manifest, and the name of its file.
fn script(job: &Job<'_>) -> Result<(&'static str, String)> {
    Ok(match job.args.engine {
        Engine::Slurm => (slurm::SCRIPT, slurm::script(job)?),
        Engine::Kubernetes => ("job.json", kubernetes::manifest(job)?),
        Engine::Ray => ("submit.py", ray::script(job)?),
    })
}

/// Refuses options that would begin a line of their own in a script.
fn check_lines(args: &SubmitArgs) -> Result<()> {
    for (option, value) in [
        ("--partition", &args.partition),
        ("--account", &args.account),
        ("--image", &args.image),
        ("--claim", &args.claim),
        ("--secret", &args.secret),
    ] {
        value.iter().try_for_each(|value| one_line(Path::new(value), option).map(drop))?;
    }
    Ok(())
}

/// What the engine's queue has of earlier submissions.
fn queued(args: &SubmitArgs, place: &Place, logs: Option<&Path>, out: &str) -> Result<Queued> {
    match (args.engine, logs) {
        // Where Slurm is not, its script can still be read.
        (Engine::Slurm, Some(logs)) => match slurm::queued(logs, out, &place.script(slurm::SCRIPT)?) {
            Err(_) if args.dry_run => Ok(Queued::default()),
            queued => queued,
        },
        _ => Ok(Queued::default()),
    }
}

/// Follows parts that are handed in, if told to; waits for the end of Ray's script, and holds `lock` until then.
async fn follow(args: &SubmitArgs, place: &Place, mut handed: Handed, lock: Option<File>) -> Result<ExitCode> {
    let lock = lock.filter(|_| args.engine == Engine::Ray);
    let followed = match args.follow {
        true => Some(watch::follow(place.path(), || handed.goes_on()).await?),
        false => None,
    };
    if let Handed::Script(mut script) = handed {
        let ended = script.wait()?;
        drop(lock);
        return Ok(if ended.success() { ExitCode::SUCCESS } else { ExitCode::from(1) });
    }
    if let Some(code) = followed {
        return Ok(code);
    }
    info!("{}", place.how_far());
    Ok(ExitCode::SUCCESS)
}

/// Follows parts that were handed in before, if told to.
async fn follow_others(args: &SubmitArgs, place: &Place, arrays: Vec<String>, running: bool) -> Result<ExitCode> {
    match (args.follow, arrays.is_empty()) {
        (true, false) => {
            let mut handed = Handed::Arrays(arrays);
            watch::follow(place.path(), || handed.goes_on()).await
        }
        (true, true) if running => watch::follow(place.path(), || None).await,
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Hands the script in; `None` if an earlier job has not ended.
fn hand_in(job: &Job<'_>, file: &Path, queued: &Queued, arrays: Vec<String>) -> Result<Option<Handed>> {
    Ok(match job.args.engine {
        Engine::Slurm => Some(Handed::Arrays([vec![slurm::hand_in(job, file, queued)?], arrays].concat())),
        Engine::Kubernetes => kubernetes::hand_in(job, file)?,
        Engine::Ray => {
            let started = Command::new("python3").arg(file).spawn();
            Some(Handed::Script(started.context("cannot start python3, which runs Ray's script")?))
        }
    })
}

/// Joins parts that are all finished, where the job that was to do it failed or was cancelled.
fn join(job: &Job<'_>, queued: &Queued) -> Result<ExitCode> {
    info!("{}/whole has not all of them: they are joined now", job.out);
    if job.args.engine == Engine::Slurm {
        slurm::hand_in_merge(job, None, queued)?;
        return Ok(ExitCode::SUCCESS);
    }
    let merge = job.merge();
    let ended = Command::new(&merge[0]).args(&merge[1..]).status().context("cannot start closeread merge")?;
    Ok(if ended.success() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A value that stands in a script or manifest: a line break would begin a line of its own there.
fn one_line(value: &Path, what: &str) -> Result<String> {
    let text = value.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.with_context(|| {
        format!("{what} is {value:?}: a script takes no line break or control character and no name that is not UTF-8; use another")
    })?;
    Ok(text.to_owned())
}

/// Texts that each engine's script has, and no script of a person's.
const MARKS: [&str; 3] =
    ["#SBATCH --job-name=closeread\n", "\"closeread/limits\"", "# Runs closeread in parts on a Ray cluster"];

/// Refuses to write over a script that is not ours.
fn refuse_foreign(script: &Path) -> Result<()> {
    match closeread_files::read_text(script)? {
        Some(text) if !MARKS.iter().any(|mark| text.contains(mark)) => {
            bail!("{} is not closeread's: name an empty or a new folder by --out", script.display())
        }
        _ => Ok(()),
    }
}

/// The command line of a run.
fn line(given: &[String]) -> Vec<String> {
    ["closeread", "run"].into_iter().map(str::to_owned).chain(given.iter().cloned()).collect()
}

/// The options of the run, with its config file; those that belong to a part are refused, and those that hold a key, which
/// would stand in the script.
fn read_options(given: &[String], read_run: ReadRun) -> Result<RunArgs> {
    let args = read_run(line(given), false)?;
    for (option, url) in [
        ("--base-url", &args.base_url),
        ("--judge-base-url", &args.judge_base_url),
        ("--embedder-base-url", &args.embedder_base_url),
        ("--reranker-base-url", &args.reranker_base_url),
    ] {
        let shown = url.as_deref().map(|url| (with_one_slash(url), without_credentials(url)));
        // An address without a path gets one where it is read.
        let is_whole = shown.is_none_or(|(url, shown)| url.trim_end_matches('/') == shown.trim_end_matches('/'));
        ensure!(
            is_whole,
            "{option} holds what may be a key, which would stand in the script: set it in a file of --config"
        );
    }
    if let Some(option) = of_submit(&args) {
        bail!("--{option} is submit's own here: give it before `--`, or leave it out");
    }
    let args = args.with_files()?;
    args.extra_body()?;
    if let Some(option) = of_submit(&args) {
        let file = named_in(option, args.config)?;
        bail!("`{option}` stands in {file}, and is submit's own here: take it out there");
    }
    Ok(args)
}

/// The first option there that a submission gives each part itself.
fn of_submit(args: &RunArgs) -> Option<&'static str> {
    let own = [("shard", args.shard.is_some()), ("out", args.out.is_some()), ("dry-run", args.dry_run)];
    own.into_iter().find(|(_, is_set)| *is_set).map(|(option, _)| option)
}
