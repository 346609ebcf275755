//! Runs a program with nothing but the files of its package.

use super::image::USER;
use crate::machine::is_root;
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// closeread in its own root file system, as a user without rights; only root can enter it.
pub(super) fn inside(root: &Path) -> Result<Command> {
    ensure!(
        is_root(),
        "entering {} needs root: run this as root, or leave the checks out by --no-check",
        root.display()
    );
    let mut command = Command::new("chroot");
    command.arg(format!("--userspec={USER}:{USER}")).arg(root).arg("/usr/bin/closeread");
    command
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", "/work")
        .env("CLOSEREAD_CACHE", "/tmp/closeread");
    Ok(command)
}

/// Runs a command; returns what it printed as JSON.
pub(super) fn json(command: &mut Command) -> Result<Value> {
    let printed = command.output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(
        printed.status.success(),
        "{command:?} ended with {}:\n{}",
        printed.status,
        String::from_utf8_lossy(&printed.stderr)
    );
    serde_json::from_slice(&printed.stdout).with_context(|| format!("{command:?} printed no JSON"))
}

/// Runs a command; returns what it printed as JSON, and the seconds that it took.
pub(super) fn timed(command: &mut Command) -> Result<(Value, f64)> {
    let started = Instant::now();
    Ok((json(command)?, started.elapsed().as_secs_f64()))
}

/// Options of a short run over the sample, with an embedding model.
pub(super) const RUN: [&str; 7] = ["run", "--method", "closed-book,dos-rag", "--budget", "500", "--json", "--no-cache"];

/// The scores of a run by method and metric.
pub(super) fn scores(report: &Value) -> Result<Vec<(String, Value)>> {
    let cells = report["cells"].as_array().context("a report has cells")?;
    let scores: Vec<(String, Value)> =
        cells.iter().map(|cell| (cell["method"].to_string(), cell["metrics"].clone())).collect();
    ensure!(
        scores.len() == 2 && scores.iter().all(|(_, metrics)| metrics["accuracy"]["n"].as_u64() > Some(0)),
        "{report}"
    );
    Ok(scores)
}

/// Starts `closeread serve`, and asks for the page, its largest module and the model's weights; gives the seconds until the
/// page had come.
pub(super) fn page_is_served(serve: &mut Command) -> Result<f64> {
    let started = Instant::now();
    let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let looked: Result<f64> = (|| {
        let mut until_page = 0.0;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it is piped")?).read_line(&mut line)?;
        let host = line.trim().trim_start_matches("http://").split('/').next().unwrap_or_default().to_owned();
        for (path, least) in
            [("/", 500), ("/closeread_wasm_bg.wasm", 100_000), ("/models/all-MiniLM-L6-v2/model.onnx", 22_000_000)]
        {
            let mut stream = TcpStream::connect(&host).with_context(|| format!("nobody listens at {host:?}"))?;
            write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer)?;
            let status = String::from_utf8_lossy(&answer[..answer.len().min(15)]).into_owned();
            if !status.starts_with("HTTP/1.1 200") || answer.len() < least {
                bail!("{path}: {status}, {} bytes", answer.len());
            }
            if path == "/" {
                until_page = started.elapsed().as_secs_f64();
            }
        }
        Ok(until_page)
    })();
    child.kill()?;
    child.wait()?;
    looked.context("closeread serve")
}
