//! `cargo xtask bench web`: the page's encoder and the page itself, in headless Chromium, against peers from npm.

use super::embed::{PACKAGES, WEIGHTS, WORK, f32_model};
use super::peers::{python_with, work_folder};
use crate::machine::CHROMIUM;
use crate::process::{program, root, run as run_program};
use anyhow::{Context as _, Result};
use std::path::PathBuf;

/// Arguments of `bench web`.
#[derive(Debug, clap::Args)]
pub(crate) struct WebArgs {
    /// English text that passages are cut from [default: the English story of the sample benchmark]
    #[arg(long)]
    text: Option<PathBuf>,
    /// Measure only these
    #[arg(long, value_delimiter = ',', value_parser = ["speed", "redraw", "page", "paint", "interaction", "memory"])]
    only: Vec<String>,
    /// Measure a development build: sooner done, slower in the page
    #[arg(long)]
    dev: bool,
}

/// Builds the optimised page, fetches the peers and measures all of them in one browser.
///
/// Each side embeds in one worker with one thread, in turns. `paint` is the first screen by Lighthouse; `interaction` and `memory` are
/// what a reader of a long novel waits for and what the tab holds. Needs npm and, the first time, the npm registry; what has peers also
/// python3 and PyPI.
pub(crate) fn run_with(args: &WebArgs) -> Result<bool> {
    let chromium = CHROMIUM.require()?;
    crate::web::build(args.dev)?;
    let bench = root().join("web/bench");
    println!("set-up: npm ci in web/bench");
    // The peers' install scripts fetch native builds, which a browser has no use for.
    run_program(
        program("npm").args(["ci", "--ignore-scripts"]).env("ONNXRUNTIME_NODE_INSTALL", "skip").current_dir(&bench),
    )?;
    let wants = |part: &&str| args.only.is_empty() || args.only.iter().any(|only| only == part);
    let script = |name: &str| {
        let mut node = program("node");
        node.arg(name).env("CLOSEREAD_CHROMIUM", &chromium).current_dir(&bench);
        node
    };
    let text = args.text.clone().unwrap_or_else(|| root().join("sample/the-loan-of-the-bell.txt"));
    let text = text.canonicalize().with_context(|| format!("{}", text.display()))?;
    if wants(&"paint") {
        run_program(&mut script("paint.js"))?;
    }
    let waits: Vec<&str> = ["interaction", "memory"].into_iter().filter(wants).collect();
    if !waits.is_empty() {
        run_program(script("waits.js").arg(&text).args(waits))?;
    }
    let with_peers: Vec<&str> = ["speed", "redraw", "page"].into_iter().filter(wants).collect();
    if !with_peers.is_empty() {
        let work = work_folder(WORK)?;
        let python = python_with(&PACKAGES, &work)?;
        let f32_folder = f32_model(&work, &python)?;
        run_program(script("bench.js").args([text, f32_folder, work.join(WEIGHTS)]).args(with_peers))?;
    }
    Ok(true)
}
