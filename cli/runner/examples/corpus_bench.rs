//! closeread's side of `cargo xtask bench corpus`. Each command prints one line of JSON; texts and vectors are the other side's, too.
//!
//!     corpus_bench index FOLDER             # what `closeread index FOLDER --method dos-rag --retriever bm25` keeps
//!     corpus_bench passages FOLDER OUT      # its passages, a line each
//!     corpus_bench words PASSAGES           # the words of such lines, indexed in memory
//!     corpus_bench query FOLDER QUERIES OUT # a ranking for each line of QUERIES by the kept index; OUT gets the best
//!     corpus_bench keep-vectors RAW DIMENSION OUT
//!     corpus_bench query-vectors KEPT RAW OUT
//!
//! RAW is 32-bit floats, lowest byte first, row after row. `seconds` are of CPU time, of a query their mean; queries are ranked for the
//! best ten, and again for as many as a run looks at that fills a budget of 5,000 tokens.
#![allow(missing_docs, reason = "a program, not the library")]

use anyhow::{Context, Result, bail};
use closeread_embed::Vectors;
use closeread_methods::reader::EXTRACTIVE;
use closeread_methods::{AnyMethod, Rag};
use closeread_report::Arm;
use closeread_retrieve::{Bm25, KeptBytes, KeptVectors, PassageIndex, Ranking, Retriever, WordRule};
use closeread_runner::benchmark::{Benchmark, BenchmarkOptions};
use closeread_runner::engine::{PlannedCell, keep_indexes};
use closeread_runner::kept_index::{Cut, IndexKey, KeptIndexes};
use closeread_runner::tokenizer;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// Number of the best passages that are written down.
const BEST: usize = 10;
const FOR_BUDGET: usize = 5_001;
const CHUNKER: closeread_books::chunk::Chunker = closeread_books::chunk::Chunker::Dos;
const MAX_TOKENS: usize = 100;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let told = match *arguments {
        ["index", folder] => pollster::block_on(index(folder))?,
        ["passages", folder, out] => passages(folder, out)?,
        ["words", passages] => words(passages)?,
        ["query", folder, queries, out] => query(folder, queries, out)?,
        ["keep-vectors", raw, dimension, out] => keep_vectors(raw, dimension.parse()?, out)?,
        ["query-vectors", kept, raw, out] => query_vectors(kept, raw, out)?,
        _ => bail!("expected one of the commands that this program's source names"),
    };
    println!("{told}");
    Ok(())
}

fn benchmark(folder: &str) -> Result<Benchmark> {
    Benchmark::load(&BenchmarkOptions { name: Some(folder.to_owned()), ..BenchmarkOptions::default() })
}

async fn index(folder: &str) -> Result<Value> {
    let benchmark = benchmark(folder)?;
    let key = Arm { method: "dos-rag".to_owned(), model: EXTRACTIVE.to_owned(), budget: Some(500) };
    let cell = PlannedCell { key, method: AnyMethod::Rag(Rag::dos()), encoder: None, reranking: None };
    let tokenizer = tokenizer::load(None, None)?;
    let before = cpu_seconds();
    let files = keep_indexes(&benchmark, &[cell], &tokenizer, Some(Retriever::Bm25), &KeptIndexes::of_user()).await?;
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    Ok(json!({"seconds": cpu_seconds() - before, "bytes": bytes}))
}

/// The index of the folder's books, and the seconds in which it was opened.
fn kept(folder: &str) -> Result<(Benchmark, PassageIndex, f64)> {
    let benchmark = benchmark(folder)?;
    let books = benchmark.books_of(&benchmark.items[0].documents);
    let tokenizer = tokenizer::load(None, None)?;
    let cut = Cut { chunker: CHUNKER, max_tokens: MAX_TOKENS, tokenizer: &tokenizer };
    let key = IndexKey::of_words(&books, cut);
    let started = Instant::now();
    let index = KeptIndexes::of_user().kept_words(&key, &books).context("nothing is kept for this folder")?;
    Ok((benchmark, index, started.elapsed().as_secs_f64()))
}

fn passages(folder: &str, out: &str) -> Result<Value> {
    let (benchmark, index, _) = kept(folder)?;
    let mut file = BufWriter::new(File::create(out)?);
    for book in 0..index.books().len() {
        for text in index.texts(index.passages_of(book), |book| benchmark.texts.open(book))? {
            writeln!(file, "{}", text.replace(['\n', '\r'], " "))?;
        }
    }
    file.flush()?;
    Ok(json!({"passages": index.passages().len(), "tokens": index.n_tokens().iter().sum::<usize>()}))
}

fn words(passages: &str) -> Result<Value> {
    let text = std::fs::read_to_string(passages)?;
    let before = cpu_seconds();
    let bm25 = Bm25::new(WordRule::Letters, text.lines());
    Ok(json!({"seconds": cpu_seconds() - before, "passages": bm25.len()}))
}

fn query(folder: &str, queries: &str, out: &str) -> Result<Value> {
    let (benchmark, index, open) = kept(folder)?;
    drop(benchmark);
    let queries = std::fs::read_to_string(queries)?;
    let queries: Vec<&str> = queries.lines().collect();
    timed(&queries, out, open, |query, n| Ok(index.best(Retriever::Bm25, query, None, n)?))
}

fn keep_vectors(raw: &str, dimension: usize, out: &str) -> Result<Value> {
    let vectors = Vectors::new(dimension, floats(raw)?);
    let before = cpu_seconds();
    let mut file = BufWriter::new(File::create(out)?);
    let mut written = Ok(());
    KeptVectors::write(dimension, &vectors, 0, &mut |bytes| {
        if written.is_ok() {
            written = file.write_all(bytes);
        }
    })
    .map_err(anyhow::Error::msg)?;
    written?;
    file.flush()?;
    Ok(json!({"seconds": cpu_seconds() - before, "bytes": Path::new(out).metadata()?.len()}))
}

fn query_vectors(kept: &str, raw: &str, out: &str) -> Result<Value> {
    let started = Instant::now();
    let vectors = KeptVectors::of_bytes(KeptBytes::new(closeread_files::map(Path::new(kept))?))?;
    let open = started.elapsed().as_secs_f64();
    let queries = Vectors::new(vectors.dimension(), floats(raw)?);
    let queries: Vec<&[f32]> = queries.rows().collect();
    timed(&queries, out, open, |query, n| Ok(vectors.best(query, n)?))
}

fn floats(path: &str) -> Result<Vec<f32>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

/// Ranks each query, writes down the best, and says what it took. All are ranked twice, because the first time reads pages that the second
/// time finds.
fn timed<Q: Copy>(queries: &[Q], out: &str, open: f64, rank: impl Fn(Q, usize) -> Result<Ranking>) -> Result<Value> {
    let best = |ranking: Ranking| ranking.iter().map(|ranked| json!([ranked.idx, ranked.score])).collect::<Value>();
    let first: Vec<Value> = queries.iter().map(|&query| Ok(best(rank(query, BEST)?))).collect::<Result<_>>()?;
    std::fs::write(out, json!(first).to_string())?;
    let [seconds, for_budget] = [BEST, FOR_BUDGET].map(|n| -> Result<f64> {
        let before = cpu_seconds();
        for &query in queries {
            std::hint::black_box(rank(query, n)?);
        }
        Ok((cpu_seconds() - before) / queries.len() as f64)
    });
    Ok(json!({"open": open, "seconds": seconds?, "for_budget": for_budget?}))
}

/// CPU time of this thread.
fn cpu_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}
