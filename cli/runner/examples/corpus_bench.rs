//! closeread's side of `cargo xtask bench corpus`. Each command prints one line of JSON; texts and vectors are the other side's, too.
//!
//!     corpus_bench index FOLDER             # what `closeread index FOLDER --method dos-rag --retriever bm25` keeps
//!     corpus_bench passages FOLDER OUT      # its passages, a line each
//!     corpus_bench words PASSAGES           # the words of such lines, indexed in memory
//!     corpus_bench query FOLDER QUERIES OUT # a ranking for each line of QUERIES by the kept index; OUT gets the best
//!     corpus_bench keep-vectors RAW DIMENSION OUT
//!     corpus_bench query-vectors KEPT RAW OUT
//!
//! RAW is 32-bit floats, lowest byte first, row after row.
#![allow(missing_docs, reason = "a program, not the library")]

use anyhow::{Context, Result, bail};
use closeread_embed::Vectors;
use closeread_methods::reader::EXTRACTIVE;
use closeread_methods::{AnyMethod, Rag};
use closeread_report::Arm;
use closeread_retrieve::{Bm25, KeptBytes, KeptVectors, Ranking, Retriever, WordRule};
use closeread_runner::benchmark::{Benchmark, BenchmarkOptions};
use closeread_runner::engine::{PlannedCell, keep_indexes};
use closeread_runner::kept_index::{Cut, IndexKey, KeptIndexes};
use closeread_runner::tokenizer;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// As many passages as a run looks at that fills a budget of 5,000 tokens.
const BUDGET: usize = 5_001;
/// How many of the best are written down.
const BEST: usize = 10;
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
    let files = keep_indexes(&benchmark, &[cell], &tokenizer, Some(Retriever::Bm25), &KeptIndexes::of_user()).await?;
    Ok(json!(files))
}

fn kept(folder: &str) -> Result<(Benchmark, closeread_retrieve::PassageIndex)> {
    let benchmark = benchmark(folder)?;
    let books = benchmark.books_of(&benchmark.items[0].documents);
    let tokenizer = tokenizer::load(None, None)?;
    let cut = Cut { chunker: CHUNKER, max_tokens: MAX_TOKENS, tokenizer: &tokenizer };
    let key = IndexKey::of_words(&books, cut);
    let index = KeptIndexes::of_user().kept_words(&key, &books).context("nothing is kept for this folder")?;
    Ok((benchmark, index))
}

fn passages(folder: &str, out: &str) -> Result<Value> {
    let (benchmark, index) = kept(folder)?;
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
    let started = Instant::now();
    let bm25 = Bm25::new(WordRule::Letters, text.lines());
    Ok(json!({"seconds": started.elapsed().as_secs_f64(), "passages": bm25.len()}))
}

fn query(folder: &str, queries: &str, out: &str) -> Result<Value> {
    // Reading the benchmark is not a part of opening the index.
    drop(benchmark(folder)?);
    let started = Instant::now();
    let (_, index) = kept(folder)?;
    let opened = started.elapsed().as_secs_f64();
    let started = Instant::now();
    drop(benchmark(folder)?);
    let reading = started.elapsed().as_secs_f64();
    let queries = std::fs::read_to_string(queries)?;
    let (rankings, seconds) = timed(queries.lines(), |query| Ok(index.best(Retriever::Bm25, query, None, BUDGET)?))?;
    write(out, &rankings)?;
    Ok(json!({"open": opened - reading, "seconds": seconds}))
}

fn keep_vectors(raw: &str, dimension: usize, out: &str) -> Result<Value> {
    let vectors = Vectors::new(dimension, floats(raw)?);
    let started = Instant::now();
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
    Ok(json!({"seconds": started.elapsed().as_secs_f64(), "bytes": Path::new(out).metadata()?.len()}))
}

fn query_vectors(kept: &str, raw: &str, out: &str) -> Result<Value> {
    let started = Instant::now();
    let vectors = KeptVectors::of_bytes(KeptBytes::new(closeread_files::map(Path::new(kept))?))?;
    let opened = started.elapsed().as_secs_f64();
    let queries = Vectors::new(vectors.dimension(), floats(raw)?);
    let (rankings, seconds) = timed(queries.rows(), |query| Ok(vectors.best(query, BUDGET)?))?;
    write(out, &rankings)?;
    Ok(json!({"open": opened, "seconds": seconds}))
}

fn floats(path: &str) -> Result<Vec<f32>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

/// The best of each ranking, and the seconds that each took; the first is asked twice, because it reads pages that the others find.
fn timed<Q: Copy>(
    queries: impl IntoIterator<Item = Q>,
    rank: impl Fn(Q) -> Result<Ranking>,
) -> Result<(Vec<Ranking>, Vec<f64>)> {
    let (mut rankings, mut seconds) = (Vec::new(), Vec::new());
    for (n, query) in queries.into_iter().enumerate() {
        if n == 0 {
            rank(query)?;
        }
        let started = Instant::now();
        let mut ranking = rank(query)?;
        seconds.push(started.elapsed().as_secs_f64());
        ranking.truncate(BEST);
        rankings.push(ranking);
    }
    Ok((rankings, seconds))
}

fn write(out: &str, rankings: &[Ranking]) -> Result<()> {
    let pair = |ranking: &Ranking| ranking.iter().map(|ranked| json!([ranked.idx, ranked.score])).collect::<Value>();
    Ok(std::fs::write(out, rankings.iter().map(pair).collect::<Value>().to_string())?)
}
