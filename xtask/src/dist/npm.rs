//! The packages of npm: the modules, and the program by npx.

use super::build::Target;
use super::{REPOSITORY, VERSION, copy_program, write};
use crate::process::{emptied, program, root, stdout_of, target_dir};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The script that npx starts: it looks for the package with the machine's program.
const LAUNCHER: &str = r#"#!/usr/bin/env node
// Starts the program of the package for this machine, which npm has installed beside this one.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const name = `@closeread/cli-${process.platform}-${process.arch}`;
let program;
try {
    program = createRequire(import.meta.url).resolve(`${name}/closeread${process.platform === "win32" ? ".exe" : ""}`);
} catch {
    console.error(`closeread: ${name} is not installed. npm leaves it out with --no-optional; for a machine without such a ` +
        "package see docs/install.md.");
    process.exit(2);
}
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) console.error(`closeread: ${error.message}`);
if (signal) process.kill(process.pid, signal);
process.exit(status ?? 2);
"#;

fn about(name: &str, description: &str, more: Value) -> String {
    let mut about = json!({
        "name": name, "version": VERSION, "description": description, "license": "MIT OR Apache-2.0",
        "repository": {"type": "git", "url": format!("git+{REPOSITORY}.git")},
    });
    if let (Value::Object(about), Value::Object(more)) = (&mut about, more) {
        about.extend(more);
    }
    format!("{about:#}\n")
}

fn staged(name: &str) -> Result<PathBuf> {
    let folder = target_dir()?.join("dist-stage/npm").join(name);
    emptied(&folder)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root().join(licence), folder.join(licence)).with_context(|| format!("cannot copy {licence}"))?;
    }
    Ok(folder)
}

/// Runs `npm pack`; returns the archive.
fn packed(folder: &Path, out: &Path) -> Result<PathBuf> {
    let printed =
        stdout_of(program("npm").args(["pack", "--silent", "--pack-destination"]).arg(out).current_dir(folder))?;
    Ok(out.join(printed.trim()))
}

/// Packs the package with the program of one kind of machine.
pub(super) fn pack_program(target: Target, built: &Path, out: &Path) -> Result<PathBuf> {
    let (system, processor) = target.node();
    let folder = staged(&format!("cli-{system}-{processor}"))?;
    copy_program(built, &folder.join(target.program()))?;
    let more = json!({"os": [system], "cpu": [processor], "files": [target.program()], "preferUnplugged": true});
    let name = format!("@closeread/cli-{system}-{processor}");
    write(&folder.join("package.json"), about(&name, "closeread's program for one kind of machine.", more))?;
    packed(&folder, out)
}

/// Packs `closeread` for npx, `@closeread/score`, and `@closeread/page`, the modules of the page.
pub(super) fn pack_modules(page: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    let launcher = staged("closeread")?;
    write(&launcher.join("closeread.js"), LAUNCHER)?;
    let machines = Target::ALL.map(|target| {
        let (system, processor) = target.node();
        (format!("@closeread/cli-{system}-{processor}"), json!(VERSION))
    });
    let machines: serde_json::Map<String, Value> = machines.into_iter().collect();
    let more = json!({"type": "module", "bin": {"closeread": "closeread.js"}, "files": ["closeread.js"],
        "engines": {"node": ">=18"}, "optionalDependencies": machines});
    let says = "How well do language models read whole books? The command line, by npx.";
    write(&launcher.join("package.json"), about("closeread", says, more))?;

    let score = staged("score")?;
    let elements = page.join("elements");
    let mut files = Vec::new();
    for entry in fs::read_dir(&elements).with_context(|| format!("cannot read {}", elements.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() {
            fs::copy(&path, score.join(&name))?;
            files.push(name);
        }
    }
    files.sort();
    fs::copy(root().join("docs/elements.md"), score.join("README.md"))?;
    let more = json!({
        "type": "module", "files": files, "sideEffects": ["./closeread-scorer.js", "./closeread-leaderboard.js"],
        "exports": {
            ".": {"types": "./closeread_scorer.d.ts", "default": "./closeread_scorer.js"},
            "./scorer": "./closeread-scorer.js", "./leaderboard": "./closeread-leaderboard.js", "./*": "./*",
        },
    });
    let says = "Scores of predictions with intervals, and the elements <closeread-scorer> and <closeread-leaderboard>.";
    write(&score.join("package.json"), about("@closeread/score", says, more))?;

    // It has a package.json of its own.
    let printed = program("npm").args(["pack", "--silent", "--pack-destination"]).arg(out).arg(page).output()?;
    anyhow::ensure!(printed.status.success(), "npm pack {} failed", page.display());
    let modules = out.join(String::from_utf8_lossy(&printed.stdout).trim());
    Ok(vec![packed(&launcher, out)?, packed(&score, out)?, modules])
}
