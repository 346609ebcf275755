//! The side of closeread in `cargo xtask bench embed`: reads one command a line, answers with nanoseconds of CPU time.
//!
//! `embed_bench MODEL_FOLDER IDS`: IDS is one text a line, its token ids separated by spaces. Commands are
//! `B TOKENS`: run all texts once in batches of B, sorted by length, cut to TOKENS; one thread.
#![allow(missing_docs, clippy::disallowed_methods, clippy::disallowed_types, reason = "a program, not the library")]

use closeread_core::embed::tract::TractBackend;
use closeread_core::embed::{Backend, Bucket, ModelSpec, plan};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (folder, ids) = (args.next().ok_or("MODEL_FOLDER")?, args.next().ok_or("IDS")?);
    let spec = std::fs::read_to_string(Path::new(&folder).join("model.toml"))?;
    // The positions go further than the description for some models, and the 512-token case wants them.
    let spec = ModelSpec { max_tokens: 512, ..ModelSpec::from_toml("model.toml", &spec)? };
    let onnx = std::fs::read(Path::new(&folder).join("model.onnx"))?;
    let texts: Vec<Vec<u32>> = std::fs::read_to_string(ids)?
        .lines()
        .map(|line| line.split(' ').map(str::parse).collect())
        .collect::<Result<_, _>>()?;

    let mut current: Option<(usize, TractBackend)> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (n_texts, max_tokens) = line.split_once(' ').ok_or("B TOKENS")?;
        let (n_texts, max_tokens): (usize, usize) = (n_texts.parse()?, max_tokens.parse()?);
        let backend = match current.take() {
            Some((same, backend)) if same == n_texts => backend,
            // 0: the shapes the command line uses.
            _ if n_texts == 0 => TractBackend::new(&spec, &onnx)?,
            _ => {
                let lengths = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512];
                let buckets = lengths.map(|n_tokens| Bucket { n_tokens, n_texts });
                TractBackend::with_buckets(&spec, &onnx, buckets.to_vec())?
            }
        };
        let cut: Vec<&[u32]> = texts.iter().map(|text| &text[..text.len().min(max_tokens)]).collect();
        let units = plan(&cut.iter().map(|text| text.len()).collect::<Vec<_>>(), backend.buckets());
        let start = cpu_nanoseconds();
        for unit in &units {
            backend.forward(&unit.texts.iter().map(|&text| cut[text]).collect::<Vec<_>>())?;
        }
        println!("{}", cpu_nanoseconds() - start);
        std::io::stdout().flush()?;
        current = Some((n_texts, backend));
    }
    Ok(())
}

/// Of this thread, where the system tells; wall time elsewhere.
fn cpu_nanoseconds() -> u128 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let wall = START.get_or_init(Instant::now).elapsed().as_nanos();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    told.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(wall)
}
