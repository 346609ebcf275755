//! The side of closeread in `cargo xtask bench metrics`: reads one command a line, answers with nanoseconds of CPU time
//! or with scores.
//!
//! `metrics_bench PAIRS`: PAIRS is JSON, a list of `[prediction, reference]`. Commands are `METRIC REPEATS`: score all
//! pairs so many times, on one thread; and `METRIC scores`: the score of each pair as a JSON list, for `bleu_4` the one
//! of the corpus.
#![allow(missing_docs, clippy::disallowed_methods, clippy::disallowed_types, reason = "a program, not the library")]

use closeread_metrics::bleu::{BleuOrder, BleuSmoothing, BleuStatistics};
use closeread_metrics::meteor::{Meteor, WordNet};
use closeread_metrics::rouge::{Rouge, rouge};
use closeread_metrics::{Words, squad_v2};
use std::io::{BufRead, Write};
use std::time::Instant;

type Pairs = [(String, String)];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("PAIRS")?;
    let pairs: Vec<(String, String)> = serde_json::from_slice(&std::fs::read(path)?)?;
    let meteor = Meteor::new(WordNet::built_in());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (metric, what) = line.split_once(' ').ok_or("METRIC REPEATS|scores")?;
        if what == "scores" {
            println!("{}", serde_json::to_string(&scores(metric, &pairs, &meteor)?)?);
        } else {
            let repeats: u32 = what.parse()?;
            let start = cpu_nanoseconds();
            for _ in 0..repeats {
                std::hint::black_box(scores(metric, std::hint::black_box(&pairs), &meteor)?);
            }
            println!("{}", cpu_nanoseconds() - start);
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn scores(metric: &str, pairs: &Pairs, meteor: &Meteor) -> Result<Vec<f64>, String> {
    let words = Words::Reference;
    let each = |score: &dyn Fn(&str, &str) -> f64| pairs.iter().map(|(p, r)| score(p, r)).collect();
    Ok(match metric {
        "rouge1" => each(&|p, r| rouge(Rouge::One, p, r, words).f1),
        "rouge2" => each(&|p, r| rouge(Rouge::Two, p, r, words).f1),
        "rougeL" => each(&|p, r| rouge(Rouge::L, p, r, words).f1),
        "rougeLsum" => each(&|p, r| rouge(Rouge::Lsum, p, r, words).f1),
        "f1" => each(&|p, r| squad_v2(p, &[r], words).f1),
        // One scorer for all passes, as NLTK's reader remembers the synsets it has seen.
        "meteor" => each(&|p, r| meteor.score(p, &[r])),
        "meteor_new" => {
            let meteor = Meteor::new(WordNet::built_in());
            each(&|p, r| meteor.score(p, &[r]))
        }
        "bleu_4" => {
            let corpus: BleuStatistics = pairs.iter().map(|(p, r)| BleuStatistics::new(p, &[r], words)).sum();
            vec![corpus.score(BleuOrder::Four, BleuSmoothing::None).bleu]
        }
        other => return Err(format!("no metric {other}")),
    })
}

/// Returns the processor time of this thread, where the system tells; wall time elsewhere.
fn cpu_nanoseconds() -> u128 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let wall = START.get_or_init(Instant::now).elapsed().as_nanos();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    told.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(wall)
}
