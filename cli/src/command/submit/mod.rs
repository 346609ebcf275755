//! `closeread submit`: a run in parts on a cluster. Writes the engine's script or manifest, and hands it in.

mod handed;
mod job;
mod kubernetes;
mod one_at_a_time;
mod place;
mod ray;
mod share;
mod slurm;

pub(crate) use job::SubmitArgs;

use super::status::{self, State};
use crate::config::RunArgs;
use crate::stores::is_address;
use anyhow::{Context as _, Result, bail, ensure};
use closeread_files::write_atomically;
use closeread_providers::without_credentials;
use handed::Handed;
use job::{Engine, Job};
use one_at_a_time::one_at_a_time;
use place::Place;
use share::shared;
use slurm::Queued;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;
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
    for (option, value) in [
        ("--partition", &args.partition),
        ("--account", &args.account),
        ("--image", &args.image),
        ("--claim", &args.claim),
        ("--secret", &args.secret),
    ] {
        value.iter().try_for_each(|value| one_line(Path::new(value), option).map(drop))?;
    }
    args.check()?;
    let logs = place.logs(&args)?;
    let logs_text = logs.as_deref().map(|logs| one_line(logs, "--logs")).transpose()?;
    let lock = match &logs {
        Some(logs) if !args.dry_run => one_at_a_time(args.engine, logs)?,
        _ => None,
    };
    let (mut wanted, running) = place.open_parts(&args)?;
    let queued = match (args.engine, &logs) {
        // Where Slurm is not, its script can still be read.
        (Engine::Slurm, Some(logs)) => match slurm::queued(logs, &out_text, &place.script(slurm::SCRIPT)?) {
            Err(_) if args.dry_run => Queued::default(),
            queued => queued?,
        },
        _ => Queued::default(),
    };
    wanted.retain(|part| !queued.parts.contains(part));
    let in_store = options.benchmark.as_ref().is_some_and(is_address);
    let expected = match (args.minutes, args.memory) {
        (Some(minutes), Some(_)) => Expected { minutes, memory: None },
        _ if args.dry_run && in_store => {
            info!("the benchmark is not fetched in a dry run: time and memory are not those that it takes");
            Expected { minutes: LEAST_MINUTES, memory: None }
        }
        _ => Expected::of(&run, args.parts)?,
    };
    let program = match args.engine {
        Engine::Kubernetes => "closeread".to_owned(),
        Engine::Slurm | Engine::Ray => one_line(&std::env::current_exe()?, "the path of this program")?,
    };
    let knows_memory = || args.engine != Engine::Slurm || slurm::knows_memory();
    let job = Job {
        args: &args,
        program,
        out: out_text,
        logs: logs_text,
        working_folder,
        run,
        shares,
        wanted,
        minutes: args.minutes.unwrap_or(expected.minutes),
        memory: args.memory.or_else(|| expected.memory.filter(|_| knows_memory())),
    };
    let (name, text) = match args.engine {
        Engine::Slurm => (slurm::SCRIPT, slurm::script(&job)?),
        Engine::Kubernetes => ("job.json", kubernetes::manifest(&job)?),
        Engine::Ray => ("submit.py", ray::script(&job)?),
    };
    if args.dry_run {
        out!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    let waiting = queued.parts.iter().filter(|part| !running.contains(part)).count();
    if job.wanted.is_empty() && running.is_empty() && waiting == 0 {
        info!("all {} parts are finished: {}", args.parts, job.merge_line()?);
        if !queued.joins && !is_joined(&job.out) {
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
        return match (args.follow, arrays.is_empty(), running.is_empty()) {
            (true, false, _) => {
                let mut handed = Handed::Arrays(arrays);
                status::follow(place.path(), || handed.goes_on()).await
            }
            (true, true, false) => status::follow(place.path(), || None).await,
            _ => Ok(ExitCode::SUCCESS),
        };
    }
    let file = place.script(name)?;
    place.make_folders(args.parts, logs.as_deref())?;
    refuse_foreign(&file)?;
    write_atomically(&file, text.as_bytes())?;
    info!("{}: parts {} of {}", file.display(), job.wanted.len(), args.parts);
    let mut handed = match args.engine {
        Engine::Slurm => Handed::Arrays([vec![slurm::hand_in(&job, &file, &queued)?], arrays].concat()),
        Engine::Kubernetes => match kubernetes::hand_in(&job, &file)? {
            Some(handed) => handed,
            None => return Ok(ExitCode::SUCCESS),
        },
        Engine::Ray => {
            let started = Command::new("python3").arg(&file).spawn();
            Handed::Script(started.context("cannot start python3, which runs Ray's script")?)
        }
    };
    let lock = lock.filter(|_| args.engine == Engine::Ray);
    let followed = match args.follow {
        true => Some(status::follow(place.path(), || handed.goes_on()).await?),
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

/// Returns whether the parts stand joined, so that nothing lacks.
fn is_joined(out: &str) -> bool {
    let whole = status::parts(Path::new(&format!("{out}/whole")));
    whole.is_ok_and(|parts| parts.iter().all(|part| part.state == State::Finished))
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
        let shown = url.as_deref().map(|url| (url, without_credentials(url)));
        // An address without a path gets one where it is read.
        let is_whole = shown.is_none_or(|(url, shown)| url.trim_end_matches('/') == shown.trim_end_matches('/'));
        ensure!(
            is_whole,
            "{option} holds what may be a key, which would stand in the script: set it in a file of --config"
        );
    }
    let args = args.with_files()?;
    args.extra_body()?;
    for (option, is_given) in
        [("--shard", args.shard.is_some()), ("--out", args.out.is_some()), ("--dry-run", args.dry_run)]
    {
        ensure!(!is_given, "{option} is submit's own here: give it before `--`, or leave it out");
    }
    Ok(args)
}

/// Least time of a part that is not given.
const LEAST_MINUTES: u32 = 60;

/// Memory is asked for in steps of this many MiB.
const STEP_MIB: u64 = 32;

/// What a part takes.
struct Expected {
    minutes: u32,
    /// Memory in MiB; `None` where nothing is known of it.
    memory: Option<u32>,
}

impl Expected {
    /// Returns what the estimate of a run with a part's share of the limits gives a part, with time for slower servers.
    fn of(run: &[String], parts: usize) -> Result<Self> {
        let program = std::env::current_exe()?;
        let said = Command::new(program).args(["estimate", "--json"]).args(run).output()?;
        if !matches!(said.status.code(), Some(0 | 1)) {
            bail!("cannot estimate the run: {}", String::from_utf8_lossy(&said.stderr).trim());
        }
        let estimate: serde_json::Value = serde_json::from_slice(&said.stdout).context("estimate prints JSON")?;
        let models = estimate["models"].as_array().map(Vec::as_slice).unwrap_or_default();
        let seconds = models.iter().filter_map(|model| model["seconds"][1].as_f64()).fold(0.0, f64::max);
        let a_part = Duration::from_secs_f64(3.0 * seconds / parts as f64);
        let minutes = u32::try_from(a_part.as_secs() / 60).unwrap_or(u32::MAX).max(LEAST_MINUTES);
        let of_memory = |name: &str| estimate["memory"][name].as_u64();
        let memory = of_memory("fixed").zip(of_memory("records")).map(|(fixed, records)| {
            let mebibytes = (fixed + records.div_ceil(parts as u64)).next_multiple_of(STEP_MIB);
            u32::try_from(mebibytes).unwrap_or(u32::MAX)
        });
        Ok(Self { minutes, memory })
    }
}
