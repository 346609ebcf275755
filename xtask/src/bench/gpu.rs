//! `cargo xtask bench gpu`: closeread's vectors on a graphics processor against sentence-transformers' on the same one.

use super::embed::{Side, median, ratios};
use super::peers::{python_with, work_folder};
use crate::process::{built_dir, cargo, root, run};
use std::path::PathBuf;
use std::process::Command;

/// Packages of the peer and of its script.
const PACKAGES: [&str; 4] = ["sentence-transformers==6.0.1", "torch==2.11.0", "onnx", "numpy"];
/// Turns of each side; the medians of their ratios are printed.
const N_TURNS: usize = 7;
/// Tokens of a passage at most, without special ones.
const PASSAGE_TOKENS: usize = 83;

/// Arguments of `bench gpu`.
#[derive(Debug, clap::Args)]
pub(crate) struct GpuArgs {
    /// Text to cut passages from; a short one is repeated [default: the English story of the sample benchmark]
    #[arg(long)]
    text: Option<PathBuf>,
    /// Number of passages: 4,200 of a novel have 300,000 tokens
    #[arg(long, default_value_t = 4200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    passages: u32,
    /// Python that has the peer's packages [default: one with those of PyPI, made for it]
    #[arg(long)]
    python: Option<PathBuf>,
    /// Closeread's side, compiled before, for a machine without Cargo [default: compiled now]
    #[arg(long)]
    program: Option<PathBuf>,
}

/// Measures in both precisions, from token ids and from texts, in turns. Needs a graphics processor that CUDA and Vulkan know.
pub(crate) fn run_with(args: &GpuArgs) -> anyhow::Result<()> {
    let root = root();
    let work = work_folder("gpu")?;
    let python = args.python.clone().map_or_else(|| python_with(&PACKAGES, &work), Ok)?;
    let program = match &args.program {
        Some(program) => program.clone(),
        None => {
            let example = ["build", "--release", "-p", "closeread-gpu", "--example", "gpu_bench"];
            run(cargo().args(example))?;
            built_dir("release")?.join("examples/gpu_bench")
        }
    };
    let (model, peer) = (root.join("models/all-MiniLM-L6-v2"), root.join("xtask/bench/gpu_peer.py"));
    let text = args.text.clone().unwrap_or_else(|| root.join("sample/the-loan-of-the-bell.txt"));
    let texts = work.join("texts.txt");
    let numbers = [PASSAGE_TOKENS.to_string(), args.passages.to_string()];
    let mut cut = Command::new(&python);
    run(cut.arg(&peer).arg("--cut").args([&text, &model.join("tokenizer.json"), &texts]).args(&numbers))?;
    let start = |command: &mut Command, precision: &str| Side::start(command.args([&model, &texts]).arg(precision), 0);
    println!(
        "tokens a second, medians of {N_TURNS} turns; ratio to sentence-transformers: median over pairs (smallest to largest)"
    );
    for precision in ["f32", "f16"] {
        let mut ours = start(&mut Command::new(&program), precision)?;
        let mut theirs = start(Command::new(&python).arg(&peer), precision)?;
        let n_tokens = ours.command("tokens")?;
        for (from, label) in [("ids", "token ids"), ("texts", "texts")] {
            let mut seconds: [Vec<f64>; 2] = Default::default();
            // The first turn prepares both sides and is thrown away.
            for turn in 0..=N_TURNS {
                for (side, seconds) in [&mut theirs, &mut ours].into_iter().zip(&mut seconds) {
                    let taken = side.command(from)? / 1e9;
                    if turn > 0 {
                        seconds.push(taken);
                    }
                }
            }
            let [theirs, ours] = &seconds;
            let speed = |side: &[f64]| n_tokens / median(side.to_vec());
            let (low, middle, high) = ratios(theirs, ours);
            println!(
                "{precision} from {label:<9}: closeread {:>10.0}, sentence-transformers {:>10.0}; {middle:.2} ({low:.2} to {high:.2}); \
                 {n_tokens} tokens in {:.3} s",
                speed(ours),
                speed(theirs),
                median(ours.clone()),
            );
        }
        for (side, name) in [(&mut ours, "closeread"), (&mut theirs, "peer")] {
            side.command(&format!("vectors {}", work.join(format!("{name}-{precision}.bin")).display()))?;
        }
    }
    println!("1 - cosine to sentence-transformers in f32, on the same weights:");
    for name in ["closeread-f32", "closeread-f16", "peer-f16"] {
        println!("{name}:");
        let path = |name: &str| work.join(format!("{name}.bin"));
        let mut compare = Command::new(&python);
        run(compare.arg(&peer).arg("--compare").args([path("peer-f32"), path(name)]))?;
    }
    Ok(())
}
