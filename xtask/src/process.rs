//! Starts other programs, such as cargo, in the repository's root.

use anyhow::{Context as _, Result, ensure};
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository's root")
}

/// Features for tests, lints and packages: all that a plain build leaves out.
pub(crate) const FULL: &str = "--features=closeread/full";

/// Builds the programs of the tests, and the libraries, for that of Python. The example makes cargo choose the features of
/// other crates as it does for tests, so that nothing is compiled twice.
pub(crate) const BUILD_PROGRAMS: [&str; 10] =
    ["build", "--workspace", "--lib", "--bin", "closeread", "--bin", "conformance", "--example", "own_host", FULL];

/// Makes an empty folder, and empties it if it is there.
pub(crate) fn emptied(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// The cargo that started this program.
pub(crate) fn cargo() -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A program that will run in the repository's root, with the environment of the shell: build scripts that watch what `cargo run`
/// told xtask of its package, as ring's does, would run again, and all that depends on them would be compiled again.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let name = name.as_ref();
    // Node's tools are scripts on Windows, and its Python has no number.
    let there = match name.to_str() {
        Some("npm") if cfg!(windows) => "npm.cmd".as_ref(),
        Some("npx") if cfg!(windows) => "npx.cmd".as_ref(),
        Some("python3") if cfg!(windows) => "python".as_ref(),
        _ => name,
    };
    let mut command = Command::new(there);
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    command
}

/// Returns cargo's target folder.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = stdout_of(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).context("cargo metadata gives JSON")?;
    let dir = metadata["target_directory"].as_str().context("cargo metadata names a target_directory")?;
    Ok(dir.into())
}

/// The folder where a profile's builds lie.
pub(crate) fn built_dir(profile: &str) -> Result<PathBuf> {
    Ok(target_dir()?.join(if profile == "dev" { "debug" } else { profile }))
}

/// Runs a program to its end with its output on the screen.
///
/// # Errors
/// If it cannot be started or ends with another code than 0.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    ensure!(status.success(), "{} ended with {status}", shown(command));
    Ok(())
}

/// Runs a program to its end; returns its standard output. Standard error goes to the screen.
///
/// # Errors
/// As [`run`].
pub(crate) fn stdout_of(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start {}", shown(command)))?;
    ensure!(output.status.success(), "{} ended with {}", shown(command), output.status);
    String::from_utf8(output.stdout).with_context(|| format!("{} printed bytes that are no UTF-8", shown(command)))
}

/// The output of a program, line by line, and whether it ended with code 0.
pub(crate) struct Heard {
    pub(crate) lines: Vec<String>,
    pub(crate) success: bool,
}

/// Runs a program to its end with its output on the screen, and keeps the lines of both streams.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn listen(command: &mut Command) -> Result<Heard> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    let stdout = child.stdout.take().expect("standard output is piped");
    let stderr = child.stderr.take().expect("standard error is piped");
    let errors = std::thread::spawn(move || echo(stderr, |line| eprintln!("{line}")));
    let mut lines = echo(stdout, |line| println!("{line}"));
    lines.extend(errors.join().expect("echoing does not panic"));
    let status = child.wait().with_context(|| format!("cannot wait for {}", shown(command)))?;
    Ok(Heard { lines, success: status.success() })
}

fn echo(stream: impl Read, show: impl Fn(&str)) -> Vec<String> {
    let mut stream = BufReader::new(stream);
    let mut lines = vec![];
    let mut bytes = vec![];
    while stream.read_until(b'\n', &mut bytes).is_ok_and(|n| n > 0) {
        let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        show(&line);
        lines.push(line);
        bytes.clear();
    }
    lines
}

fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_cargo_tells_of_xtask_is_not_passed_on() {
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "cargo tells it to tests as well");
        let seen = stdout_of(&mut program("env")).unwrap();
        let passed_on = |line: &&str| line.starts_with("CARGO_PKG_") || line.starts_with("CARGO_MANIFEST_");
        assert_eq!(seen.lines().find(passed_on), None);
    }
}
