//! `closeread model calibrate`: what a model needs to be computed in 8-bit integers.

use anyhow::{Context, bail};
use closeread_books::Book;
use closeread_books::chunk::Chunker;
use closeread_books::tokens::Tokenizer;
use closeread_embed::encoder::{BertBackend, Calibration, EncoderOptions, Precision};
use closeread_embed::{EmbeddingModel, Role};
use closeread_files as files;
use closeread_retrieve::PassageIndex;
use closeread_runner::benchmark::sample_story;
use closeread_runner::input::{InputOptions, read_books};
use closeread_runner::models::calibration::{CALIBRATION, CalibrationFile};
use closeread_runner::models::{ONNX, TOKENIZER, find};
use closeread_text::hash::sha256;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tracing::info;

/// Passages of a text, spread over it: more change the largest magnitudes little.
const N_PASSAGES: usize = 512;

pub(super) fn run(name: &str, texts: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let model = find(name)?;
    let Some(folder) = model.folder.clone() else {
        bail!("`{name}` is inside the program, and its calibration too; to make another one, name a model's folder");
    };
    let onnx = model.file(ONNX)?;
    let options = EncoderOptions { precision: Some(Precision::F32), ..EncoderOptions::default() };
    let backend = BertBackend::from_onnx(&model.spec, &onnx, options);
    let backend = backend.with_context(|| format!("embedding model `{}` ({})", model.spec.name, model.place()))?;
    let encoder = EmbeddingModel::new(model.spec.clone(), &model.file(TOKENIZER)?, backend)?;

    let (mut seen, mut n_passages, mut names) = (None, 0, BTreeMap::new());
    for book in books(texts)? {
        let max_tokens = Chunker::Dos.default_max_tokens();
        let passage_index =
            PassageIndex::new(vec![Arc::new(book)], Chunker::Dos, max_tokens, &Tokenizer::cl100k(), Book::text)?;
        let book = &passage_index.books()[0];
        if !model.spec.speaks(book.language.code()) {
            info!("{}: `{}` is not meant for {}; it counts all the same", book.id, model.spec.name, book.language);
        }
        let every = passage_index.passages().len().div_ceil(N_PASSAGES);
        let passages = passage_index.texts((0..passage_index.passages().len()).step_by(every), Book::text)?;
        widen(&mut seen, calibrated(&encoder, &passages)?);
        n_passages += passages.len();
        names.insert(book.id.clone(), book.hash().to_owned());
    }
    let layers = rounded(seen.context("there is no text to calibrate on")?);
    let file = CalibrationFile { version: 1, weights: sha256(&onnx), texts: names, n_passages, layers };
    let path = folder.join(CALIBRATION);
    files::write_atomically(&path, format!("{}\n", serde_json::to_string(&file)?).as_bytes())?;
    info!("wrote {} from {n_passages} passages; --backend encoder-int8 uses it", path.display());
    Ok(ExitCode::SUCCESS)
}

/// The texts named, or the English story of the sample benchmark.
fn books(texts: &[PathBuf]) -> anyhow::Result<Vec<Book>> {
    if texts.is_empty() {
        return Ok(vec![sample_story()?]);
    }
    let mut books = Vec::new();
    for path in texts {
        // Nothing of it is sent anywhere.
        let (read, problems) = read_books(path, &InputOptions { allow_outside: true, ..InputOptions::default() });
        if let Some(problem) = problems.first() {
            bail!("{problem}");
        }
        books.extend(read.into_iter().map(|(book, _)| book));
    }
    Ok(books)
}

/// The largest magnitudes over some passages.
fn calibrated(encoder: &EmbeddingModel<BertBackend>, passages: &[String]) -> anyhow::Result<Calibration> {
    let tokens = passages.iter().enumerate().map(|(idx, text)| encoder.tokenize(Role::Passage, idx, text));
    let tokens = tokens.collect::<Result<Vec<_>, _>>()?;
    let mut seen = None;
    for unit in encoder.plan(&tokens) {
        let batch: Vec<&[u32]> = unit.texts.iter().map(|&text| &*tokens[text].ids).collect();
        widen(&mut seen, encoder.backend().calibrate(&batch)?);
    }
    seen.context("a text has passages")
}

fn widen(seen: &mut Option<Calibration>, more: Calibration) {
    match seen {
        Some(seen) => seen.widen(&more),
        None => *seen = Some(more),
    }
}

/// Rounds to four digits, which are more than calibration is exact to, and give a small file.
fn rounded(mut calibration: Calibration) -> Calibration {
    for ranges in &mut calibration.layers {
        for magnitude in ranges.projections.iter_mut().chain(&mut ranges.output).chain(&mut ranges.up) {
            *magnitude = format!("{magnitude:.3e}").parse().expect("a number");
        }
    }
    calibration
}
