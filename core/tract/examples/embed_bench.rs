//! The side of closeread in `cargo xtask bench embed`: reads one command a line, answers with nanoseconds of CPU time.
//!
//! `embed_bench MODEL_FOLDER IDS BACKEND [INSTRUCTIONS]`: IDS is one text a line, its token ids separated by spaces;
//! BACKEND is `tract`, `f32`, `int16` or `int8`, the latter three by closeread's own encoder with INSTRUCTIONS (plain,
//! avx2, avx512; the fastest by default), `int8` with the folder's calibration. Commands are `B TOKENS`: run all texts
//! once in batches of B, sorted by length, cut to TOKENS; one thread; B = 0 for the batches that the command line makes.
//! `vectors FILE` writes the normalised vectors of all texts as little-endian f32; `multiply-adds N` does N and nothing
//! else, with INSTRUCTIONS.
#![allow(missing_docs, clippy::disallowed_methods, clippy::disallowed_types, reason = "a program, not the library")]

use closeread_embed::encoder::{BertBackend, Calibration, EncoderOptions, Instructions, Precision};
use closeread_embed::{Backend, ModelSpec, Unit};
use closeread_kernels::Kernels;
use closeread_tract::TractBackend;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

type Anything = Box<dyn std::error::Error>;

fn main() -> Result<(), Anything> {
    let mut args = std::env::args().skip(1);
    let (folder, ids) = (args.next().ok_or("MODEL_FOLDER")?, args.next().ok_or("IDS")?);
    let kind = args.next().ok_or("BACKEND")?;
    let instructions = args.next().map(|name| named(&name)).transpose()?;
    let spec = std::fs::read_to_string(Path::new(&folder).join("model.toml"))?;
    // The positions go further than the description for some models, and the 512-token case wants them.
    let spec = ModelSpec { max_tokens: 512, ..ModelSpec::from_toml("model.toml", &spec)? };
    let onnx = std::fs::read(Path::new(&folder).join("model.onnx"))?;
    let texts: Vec<Vec<u32>> = std::fs::read_to_string(ids)?
        .lines()
        .map(|line| line.split(' ').map(str::parse).collect())
        .collect::<Result<_, _>>()?;
    let precision = match kind.as_str() {
        "tract" => None,
        "f32" => Some(Precision::F32),
        "int16" => Some(Precision::Int16),
        "int8" => Some(Precision::Int8),
        other => return Err(format!("unknown backend {other}").into()),
    };

    match precision {
        Some(precision) => {
            let calibration = (precision == Precision::Int8).then(|| calibration(Path::new(&folder))).transpose()?;
            let options =
                EncoderOptions { precision: Some(precision), instructions, calibration: calibration.as_ref() };
            let backend = BertBackend::from_onnx(&spec, &onnx, options)?;
            pollster::block_on(answer(&backend, &texts, instructions))
        }
        None => pollster::block_on(answer(&TractBackend::new(&spec, &onnx)?, &texts, instructions)),
    }
}

/// Answers the request on standard input.
async fn answer(
    backend: &impl Backend,
    texts: &[Vec<u32>],
    instructions: Option<Instructions>,
) -> Result<(), Anything> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (first, second) = line.split_once(' ').ok_or("B TOKENS")?;
        if first == "vectors" {
            std::fs::write(second, vectors(backend, texts).await?)?;
            println!("0");
        } else if first == "multiply-adds" {
            let kernels = Kernels::new(instructions.unwrap_or_else(Instructions::fastest)).ok_or("instructions")?;
            let start = cpu_nanoseconds();
            std::hint::black_box(kernels.multiply_adds(second.parse()?));
            println!("{}", cpu_nanoseconds() - start);
        } else {
            let n_texts: usize = first.parse()?;
            let max_tokens: usize = second.parse()?;
            let cut: Vec<&[u32]> = texts.iter().map(|text| &text[..text.len().min(max_tokens)]).collect();
            let units = units(backend, &cut, n_texts);
            let start = cpu_nanoseconds();
            for unit in &units {
                backend.forward(&unit.texts.iter().map(|&text| cut[text]).collect::<Vec<_>>()).await?;
            }
            println!("{}", cpu_nanoseconds() - start);
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn named(name: &str) -> Result<Instructions, Anything> {
    let available = Instructions::available();
    Ok(available.into_iter().find(|set| set.name() == name).ok_or_else(|| format!("this processor has no {name}"))?)
}

/// Reads the calibration that `closeread model calibrate` left beside the model.
fn calibration(folder: &Path) -> Result<Calibration, Anything> {
    let file: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("calibration.json"))?)?;
    Ok(serde_json::from_value(file["layers"].clone())?)
}

/// The backend's own plan, or batches of `n_texts` sorted by length.
fn units(backend: &impl Backend, texts: &[&[u32]], n_texts: usize) -> Vec<Unit> {
    if n_texts == 0 {
        return backend.plan(&texts.iter().map(|text| text.len()).collect::<Vec<_>>());
    }
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&text| std::cmp::Reverse(texts[text].len()));
    order.chunks(n_texts).map(|texts| Unit { texts: texts.to_vec(), bucket: None }).collect()
}

async fn vectors(backend: &impl Backend, texts: &[Vec<u32>]) -> Result<Vec<u8>, Anything> {
    let mut bytes = Vec::new();
    for text in texts {
        let vector = backend.forward(&[text]).await?;
        let norm = vector.row(0).iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        bytes.extend(vector.row(0).iter().flat_map(|&x| ((f64::from(x) / norm) as f32).to_le_bytes()));
    }
    Ok(bytes)
}

/// Returns the processor time of this thread, where the system tells; wall time elsewhere.
fn cpu_nanoseconds() -> u128 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let wall = START.get_or_init(Instant::now).elapsed().as_nanos();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    told.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(wall)
}
