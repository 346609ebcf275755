//! `closeread protocol`: what a paper's protocol is, line by line with its source, and what a run changed of it.

use anyhow::{Context, Result, bail};
use closeread_eval::Paper;
use closeread_methods::protocol::{Change, KeptProtocol, Line, PROTOCOLS, Protocol};
use closeread_runner::finished::is_run_folder;
use closeread_runner::judging::JUDGING;
use closeread_runner::run_folder::MANIFEST;
use closeread_text::names::meant;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use tracing::info;

/// Print a paper's protocol with sources, or what a run changed
#[derive(Debug, clap::Args)]
pub(crate) struct ProtocolArgs {
    /// A benchmark or a paper, as sagascale or stronger-baselines; or a run folder, for what it changed
    #[arg(value_name = "NAME|RUN")]
    name: String,
    /// Print [{"benchmark", "source", "lines"}], of a run {"benchmark", "source", "lines", "changes"}
    #[arg(long)]
    json: bool,
}

/// Prints the protocol, or the changes.
pub(crate) fn run(args: &ProtocolArgs) -> Result<ExitCode> {
    if is_run_folder(Path::new(&args.name)) {
        return of_run(Path::new(&args.name), args.json);
    }
    let protocols = named(&args.name)?;
    if args.json {
        let all: Vec<Value> = protocols.iter().map(|protocol| of_protocol(protocol)).collect();
        outln!("{}", json!(all));
        return Ok(ExitCode::SUCCESS);
    }
    for (idx, protocol) in protocols.iter().enumerate() {
        let gap = if idx > 0 { "\n" } else { "" };
        outln!("{gap}{} ({})\n", protocol.benchmark, protocol.source);
        print(&protocol.lines())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn of_protocol(protocol: &Protocol) -> Value {
    json!({"benchmark": protocol.benchmark, "source": protocol.source, "lines": protocol.lines()})
}

/// The protocols of a benchmark or of a paper.
fn named(name: &str) -> Result<Vec<&'static Protocol>> {
    let paper = Paper::named(name);
    let is = |protocol: &&Protocol| protocol.benchmark == name || (paper.is_some() && protocol.paper() == paper);
    let found: Vec<&Protocol> = PROTOCOLS.iter().filter(is).collect();
    if found.is_empty() {
        let names: Vec<&str> =
            PROTOCOLS.iter().map(|protocol| protocol.benchmark).chain([Paper::DosRag.name()]).collect();
        bail!(
            "there is no protocol and no run folder `{name}`{}: expected one of {}",
            meant(name, names.iter().copied()),
            names.join(", ")
        );
    }
    Ok(found)
}

/// The models that judged a run, where they are not the protocol's.
fn other_judges(folder: &Path, protocol: &Protocol) -> Result<Option<Change>> {
    let Some(bytes) = closeread_files::read(&folder.join(JUDGING))? else { return Ok(None) };
    let judging: Value = serde_json::from_slice(&bytes).with_context(|| format!("{}/{JUDGING}", folder.display()))?;
    let panels = judging.get("panels").and_then(Value::as_array).into_iter().flatten();
    let models = panels.flat_map(|panel| panel.get("models").and_then(Value::as_array).into_iter().flatten());
    let mut names: Vec<&str> = models.filter_map(Value::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let of_protocol = (*protocol.judge_model).unwrap_or("none");
    let is_same = |name: &&str| name.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(of_protocol));
    Ok((!names.iter().all(is_same)).then(|| Change {
        name: "judging model".to_owned(),
        protocol: of_protocol.to_owned(),
        run: names.join(", "),
    }))
}

fn of_run(folder: &Path, as_json: bool) -> Result<ExitCode> {
    let file = folder.join(MANIFEST);
    let bytes = closeread_files::read_file(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let manifest: Value =
        serde_json::from_slice(&bytes).with_context(|| format!("{} is no manifest", file.display()))?;
    let Some(configuration) = manifest.get("configuration") else {
        bail!("{} has no `configuration`: expected the manifest that `closeread run` writes", file.display());
    };
    let benchmark = configuration.get("benchmark").and_then(Value::as_str).unwrap_or_default();
    let protocol = Protocol::of_run(configuration);
    let mut kept = match manifest.get("protocol") {
        Some(kept) => KeptProtocol::deserialize(kept).with_context(|| {
            format!("{}: expected the field `protocol` as `closeread run` writes it", file.display())
        })?,
        None => {
            info!("{} keeps no protocol: these are the lines that this closeread has", file.display());
            protocol.kept(configuration)
        }
    };
    kept.changes.extend(other_judges(folder, protocol)?);
    let KeptProtocol { source, lines, changes } = &kept;
    if as_json {
        outln!("{}", json!({"benchmark": benchmark, "source": source, "lines": lines, "changes": changes}));
        return Ok(ExitCode::SUCCESS);
    }
    let follows = if *protocol == Protocol::OWN { "no paper's; closeread's own" } else { source.as_str() };
    outln!("{} is a run of {benchmark} (protocol: {follows})", folder.display());
    for Change { name, protocol, run } in changes {
        outln!("{name}: {run}\n    in the protocol: {protocol}");
    }
    if changes.is_empty() {
        outln!("It changed nothing.");
    }
    outln!("\nThe protocol, as its manifest keeps it:\n");
    print(lines)?;
    Ok(ExitCode::SUCCESS)
}

fn print(lines: &[Line]) -> Result<()> {
    for Line { name, value, source, differs } in lines {
        outln!("{name}: {value}\n    {source}");
        if let Some(differs) = differs {
            outln!("    otherwise there: {differs}");
        }
    }
    Ok(())
}
