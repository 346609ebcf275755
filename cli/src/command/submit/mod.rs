//! `closeread submit`: a run in parts on a cluster. Writes the engine's script or manifest, and hands it in.

mod handed;
mod job;
mod kubernetes;
mod place;
mod ray;
mod share;
mod slurm;

pub(crate) use job::SubmitArgs;

use super::status;
use crate::config::RunArgs;
use anyhow::{Context as _, Result, bail, ensure};
use closeread_files::write_atomically;
use closeread_providers::without_credentials;
use handed::Handed;
use job::{Engine, Job, call};
use place::Place;
use share::shared;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;
use tracing::info;

/// Reader of a command line of `closeread run`.
type ReadRun = fn(Vec<String>) -> Result<RunArgs>;

/// Writes the script, hands it in, and follows it if told to.
pub(crate) async fn run(args: SubmitArgs, read_run: ReadRun) -> Result<ExitCode> {
    let options = read_options(&args.run, read_run)?;
    let (run, shares) = shared(&args.run, &options, args.parts)?;
    let place = Place::of(&args)?;
    let out_text = one_line(place.path(), "--out")?;
    let working_folder = one_line(&std::env::current_dir()?, "the working folder")?;
    for (option, value) in [
        ("--partition", &args.partition),
        ("--account", &args.account),
        ("--image", &args.image),
        ("--claim", &args.claim),
        ("--secret", &args.secret),
    ] {
        value.iter().try_for_each(|value| one_line(Path::new(value), option).map(drop))?;
    }
    let logs = place.logs(&args)?;
    let logs_text = logs.as_deref().map(|logs| one_line(logs, "--logs")).transpose()?;
    let (wanted, running) = place.open_parts(&args)?;
    let minutes = match args.minutes {
        Some(minutes) => minutes,
        None => expected_minutes(&args.run, args.parts)?,
    };
    let program = match args.engine {
        Engine::Kubernetes => "closeread".to_owned(),
        Engine::Slurm | Engine::Ray => one_line(&std::env::current_exe()?, "the path of this program")?,
    };
    let job =
        Job { args: &args, program, out: out_text, logs: logs_text, working_folder, run, shares, wanted, minutes };
    let (name, text) = match args.engine {
        Engine::Slurm => ("submit.sh", slurm::script(&job)?),
        Engine::Kubernetes => ("job.json", kubernetes::manifest(&job)?),
        Engine::Ray => ("submit.py", ray::script(&job)?),
    };
    if args.dry_run {
        out!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    match (job.wanted.len(), running.len()) {
        (0, 0) => info!("all {} parts are finished: {}", args.parts, job.merge_line()?),
        (_, 0) => {}
        (_, n) => info!("{n} parts are running and are not handed in again"),
    }
    if job.wanted.is_empty() {
        return match args.follow && !running.is_empty() {
            true => status::follow(place.path(), || None).await,
            false => Ok(ExitCode::SUCCESS),
        };
    }
    let file = place.script(name)?;
    place.make_folders(args.parts, logs.as_deref())?;
    refuse_foreign(&file)?;
    write_atomically(&file, text.as_bytes())?;
    info!("{}: parts {} of {}", file.display(), job.wanted.len(), args.parts);
    let mut handed = match args.engine {
        Engine::Slurm => Handed::Array(slurm::hand_in(&job, &file)?),
        Engine::Kubernetes => {
            call(Command::new("kubectl").args(["apply", "--filename"]).arg(&file))?;
            info!("when all parts have ended: {}", job.merge_line()?);
            Handed::Job(kubernetes::name(&job))
        }
        Engine::Ray => {
            let started = Command::new("python3").arg(&file).spawn();
            Handed::Script(started.context("cannot start python3, which runs Ray's script")?)
        }
    };
    let followed = match args.follow {
        true => Some(status::follow(place.path(), || handed.goes_on()).await?),
        false => None,
    };
    if let Handed::Script(mut script) = handed {
        let ended = script.wait()?;
        return Ok(if ended.success() { ExitCode::SUCCESS } else { ExitCode::from(1) });
    }
    if let Some(code) = followed {
        return Ok(code);
    }
    info!("{}", place.how_far());
    Ok(ExitCode::SUCCESS)
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

/// The options of the run, with its config file; those that belong to a part are refused, and those that hold a key, which
/// would stand in the script.
fn read_options(given: &[String], read_run: ReadRun) -> Result<RunArgs> {
    let line = ["closeread", "run"].into_iter().map(str::to_owned).chain(given.iter().cloned());
    let args = read_run(line.collect())?;
    for (option, url) in [
        ("--base-url", &args.base_url),
        ("--judge-base-url", &args.judge_base_url),
        ("--embedder-base-url", &args.embedder_base_url),
        ("--reranker-base-url", &args.reranker_base_url),
    ] {
        let shown = url.as_deref().map(|url| (url, without_credentials(url)));
        // An address without a path gets one where it is read.
        let is_whole = shown.is_none_or(|(url, shown)| url.trim_end_matches('/') == shown.trim_end_matches('/'));
        ensure!(
            is_whole,
            "{option} holds what may be a key, which would stand in the script: set it in a file of --config"
        );
    }
    let args = args.with_config_file()?;
    args.extra_body()?;
    for (option, is_given) in
        [("--shard", args.shard.is_some()), ("--out", args.out.is_some()), ("--dry-run", args.dry_run)]
    {
        ensure!(!is_given, "{option} is submit's own here: give it before `--`, or leave it out");
    }
    Ok(args)
}

/// Returns the minutes that the run's own estimate gives a part, with room for slower servers.
fn expected_minutes(run: &[String], parts: usize) -> Result<u32> {
    let program = std::env::current_exe()?;
    let said = Command::new(program).args(["estimate", "--json"]).args(run).output()?;
    if !matches!(said.status.code(), Some(0 | 1)) {
        bail!("cannot estimate the run: {}", String::from_utf8_lossy(&said.stderr).trim());
    }
    let estimate: serde_json::Value = serde_json::from_slice(&said.stdout).context("estimate prints JSON")?;
    let models = estimate["models"].as_array().map(Vec::as_slice).unwrap_or_default();
    let seconds = models.iter().filter_map(|model| model["seconds"][1].as_f64()).fold(0.0, f64::max);
    let a_part = Duration::from_secs_f64(3.0 * seconds / parts as f64);
    Ok(u32::try_from(a_part.as_secs() / 60).unwrap_or(u32::MAX).max(60))
}
