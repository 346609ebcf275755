//! Packing of passages by RAPTOR's `split_text`, over its own delimiters and over Punkt sentences; and core's own packer,
//! which must give the same where no sentence is longer than a passage.

use super::compare;
use super::kind::Schema;
use super::tokenizer::tokenizer;
use crate::raptor::{Chunk, Units, split_text};
use crate::report::FileReport;
use closeread_books::chunk::Chunker;
use closeread_text::FlowSpan;
use closeread_text::sentence::punkt;
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "passages", version: "1", run };

#[derive(Deserialize)]
struct Case {
    text: String,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    splitter: String,
    tokenizer: String,
    max_tokens: usize,
    /// Chunks, in the order of the reference.
    chunks: Vec<Expected>,
    in_document_order: bool,
    empty_chunks: usize,
}

#[derive(Deserialize, Debug, PartialEq)]
struct Expected {
    text: String,
    tokens: usize,
    pieces_char: Vec<(usize, usize)>,
    /// Place of the chunk; `null`, like `byte`, for a chunk without pieces.
    char: Option<(usize, usize)>,
    byte: Option<(usize, usize)>,
}

fn run(file: &Value, report: &mut FileReport) {
    report.cases(file, "cases", |case| {
        let case: Case = compare::parse(case)?;
        if case.runs.is_empty() {
            return Err("case has no runs".to_owned());
        }
        for run in &case.runs {
            let label = format!("{} {} {}", run.splitter, run.tokenizer, run.max_tokens);
            check(&case.text, run).map_err(|why| format!("{label}: {why}"))?;
        }
        Ok(())
    });
}

fn check(text: &str, run: &Run) -> Result<(), String> {
    let sentences = punkt::sentences(text);
    let units = match run.splitter.as_str() {
        "raptor" => Units::Delimiters,
        "nltk_sentences" => Units::Sentences(&sentences),
        other => return Err(format!("splitter {other} has no code yet")),
    };
    let tokenizer = tokenizer(&run.tokenizer)?;
    let is_long = |sentence: &FlowSpan| tokenizer.count(&format!(" {}", &text[sentence.range()])) > run.max_tokens;
    if matches!(units, Units::Sentences(_)) && !sentences.iter().any(is_long) {
        let passages = Chunker::Dos.pieces(text, &sentences, tokenizer, run.max_tokens);
        let texts: Vec<_> = passages.iter().map(|passage| passage.joined(text)).collect();
        let expected: Vec<_> = run.chunks.iter().map(|chunk| chunk.text.clone()).collect();
        compare::same("passage of core", &texts, &expected)?;
    }
    let chunks = split_text(text, units, tokenizer, run.max_tokens);
    let got: Vec<_> = chunks.iter().map(|chunk| described(text, chunk)).collect();
    compare::same("chunk", &got, &run.chunks)?;

    let starts: Vec<_> = chunks.iter().filter_map(Chunk::cover).map(|cover| cover.start).collect();
    compare::same("in document order", &[starts.is_sorted()], &[run.in_document_order])?;
    let empty = chunks.iter().filter(|chunk| chunk.pieces.is_empty()).count();
    compare::same("number of empty chunks", &[empty], &[run.empty_chunks])
}

fn described(text: &str, chunk: &Chunk) -> Expected {
    let chars = |start, end| (compare::char_offset(text, start), compare::char_offset(text, end));
    Expected {
        text: chunk.text.clone(),
        tokens: chunk.n_tokens,
        pieces_char: chunk.pieces.iter().map(|piece| chars(piece.start, piece.end)).collect(),
        char: chunk.cover().map(|cover| chars(cover.start, cover.end)),
        byte: chunk.cover().map(|cover| (cover.start, cover.end)),
    }
}
