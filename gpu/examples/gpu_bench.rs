//! The side of closeread in `cargo xtask bench gpu`: embeds texts on a graphics processor when told to.
//!
//! `gpu_bench MODEL_FOLDER TEXTS PRECISION`: TEXTS has one text a line, PRECISION is `f32` or `f16`. It answers commands on
//! standard input: `tokens` with their number, `ids` with the nanoseconds from token ids to vectors of all texts, `texts` with those from the texts,
//! `vectors FILE` with 0 after it has written normalised vectors as little-endian f32.
#![allow(missing_docs, clippy::disallowed_methods, clippy::disallowed_types, reason = "a program, not the library")]

use closeread_embed::{Backend, EmbedError, ModelSpec, TextTokenizer, Unit, Vectors};
use closeread_gpu::{Adapter, GpuModel, Precision, Wanted};
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

type Anything = Box<dyn std::error::Error>;

/// Texts that a thread tokenizes at a time.
const CHUNK: usize = 64;

fn main() -> Result<(), Anything> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, texts, precision] = args.as_slice() else { return Err("MODEL_FOLDER TEXTS PRECISION".into()) };
    let precision = match precision.as_str() {
        "f32" => Precision::F32,
        "f16" => Precision::F16,
        other => return Err(format!("unknown precision {other}").into()),
    };
    let folder = Path::new(folder);
    let spec = ModelSpec::from_toml("model.toml", &std::fs::read_to_string(folder.join("model.toml"))?)?;
    let tokenizer = TextTokenizer::new(&spec.name, &std::fs::read(folder.join("tokenizer.json"))?, spec.max_tokens)?;
    let texts = std::fs::read_to_string(texts)?;
    let texts: Vec<&str> = texts.lines().collect();
    let wanted = std::env::var("CLOSEREAD_GPU").map_or(Wanted::Hardware, Wanted::Named);
    let adapter = pollster::block_on(Adapter::find(&wanted))?;
    let model =
        pollster::block_on(GpuModel::load(&adapter, &spec, &std::fs::read(folder.join("model.onnx"))?, precision))?;
    eprintln!("closeread: {model:?}");
    let ids = tokenized(&tokenizer, &texts)?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let start = Instant::now();
        match line.split_once(' ') {
            Some((_, file)) => {
                let bytes: Vec<u8> = embedded(&model, &ids)?.iter().flat_map(|x| x.to_le_bytes()).collect();
                std::fs::write(file, bytes)?;
                println!("0");
            }
            None if line == "tokens" => println!("{}", ids.iter().map(Vec::len).sum::<usize>()),
            None if line == "texts" => {
                embedded(&model, &tokenized(&tokenizer, &texts)?)?;
                println!("{}", start.elapsed().as_nanos());
            }
            None => {
                embedded(&model, &ids)?;
                println!("{}", start.elapsed().as_nanos());
            }
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn tokenized(tokenizer: &TextTokenizer, texts: &[&str]) -> Result<Vec<Vec<u32>>, EmbedError> {
    let chunks: Vec<&[&str]> = texts.chunks(CHUNK).collect();
    let ids = |text: &&str| tokenizer.tokenize(text).map(|tokens| tokens.ids).map_err(EmbedError::Load);
    let chunk = |at: usize| chunks[at].iter().map(ids).collect::<Result<Vec<_>, _>>();
    Ok(spread(chunks.len(), chunk)?.concat())
}

/// Normalised vectors of all texts, in their order.
fn embedded(model: &GpuModel, ids: &[Vec<u32>]) -> Result<Vec<f32>, EmbedError> {
    let units = model.plan(&ids.iter().map(Vec::len).collect::<Vec<_>>());
    let vectors = spread(units.len(), |at| {
        let batch: Vec<&[u32]> = units[at].texts.iter().map(|&text| ids[text].as_slice()).collect();
        pollster::block_on(model.forward(&batch))
    })?;
    let dimension = vectors.first().map_or(0, Vectors::dimension);
    let mut all = vec![0.0; ids.len() * dimension];
    for (Unit { texts, .. }, vectors) in units.iter().zip(&vectors) {
        for (&text, row) in texts.iter().zip(vectors.rows()) {
            let norm = row.iter().map(|&x| x * x).sum::<f32>().sqrt();
            all[text * dimension..][..dimension].iter_mut().zip(row).for_each(|(to, &x)| *to = x / norm);
        }
    }
    Ok(all)
}

/// Work `0..n` on all cores, as the command line spreads it; what came of it, in that order.
fn spread<T: Send>(n: usize, work: impl Fn(usize) -> Result<T, EmbedError> + Sync) -> Result<Vec<T>, EmbedError> {
    let next = AtomicUsize::new(0);
    let until_none_is_left = || -> Result<Vec<(usize, T)>, EmbedError> {
        let rest = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < n));
        rest.map(|at| Ok((at, work(at)?))).collect()
    };
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(until_none_is_left)).collect();
        threads.into_iter().map(|thread| thread.join().expect("ends")).collect::<Result<Vec<_>, _>>()
    })?
    .into_iter()
    .flatten()
    .collect();
    done.sort_unstable_by_key(|&(at, _)| at);
    Ok(done.into_iter().map(|(_, value)| value).collect())
}
