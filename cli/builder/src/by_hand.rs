//! Cells of `build corpusqa` that people read: a file to fill in, and how often the extraction agrees with it.

use crate::folder::BuildFolder;
use crate::global_table::stored_schema;
use anyhow::{Context, Result, bail};
use closeread_books::decode;
use closeread_build::corpusqa::{
    Adjudicated, Agreed, Corpus, DISPUTE_COLUMNS, Dispute, FirstAgreement, HAND_COLUMNS, STAGES, adjudicated,
    dispute_rows, drawn_cells, first_agreement, hand_rows, read_hand,
};
use closeread_build::{End, Line, Unit};
use closeread_files::{read_lines, write_atomically};
use serde_json::Value;
use std::path::Path;

/// The cells that people are to read, beside the page for people.
const CELLS: &str = "check/cells.csv";

/// Writes a sample of the extracted cells without their values. What a person has filled in is not written over.
pub fn write_cells(out: &Path, corpus: &Corpus, n: usize, seed: u64) -> Result<()> {
    let path = out.join(CELLS);
    if corpus.agreed.is_empty() || path.exists() {
        return Ok(());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HAND_COLUMNS)?;
    for row in hand_rows(&drawn_cells(&corpus.agreed, &corpus.schema, n, seed), &corpus.schema) {
        writer.write_record(row)?;
    }
    write_atomically(&path, &writer.into_inner().context("cannot write the cells as CSV")?)
}

/// Returns how often the extracted values agree with those in `file`, which a person wrote, and how many lines that
/// has.
pub fn hand_checked(out: &Path, file: &Path) -> Result<(FirstAgreement, usize)> {
    let schema = stored_schema(out)?;
    let path = BuildFolder::file_of(out, &STAGES, "consensus");
    if !path.is_file() {
        bail!("{} is not there: a build from a ready table extracts nothing that could be checked", path.display());
    }
    let lines: Vec<Line<Agreed>> = read_lines(&path, "a line of the stage consensus")?;
    let kept = lines.into_iter().filter_map(|Line { id, end, .. }| match end {
        End::Kept { value } => Some(Unit { id, input: value }),
        _ => None,
    });
    let agreed: Vec<Unit<Agreed>> = kept.collect();
    let named = || format!("cannot use --hand-checked {}", file.display());
    let bytes = closeread_files::read_file(file).with_context(named)?;
    let read = decode(&bytes, None).with_context(named)?.text;
    let by_hand = read_hand(&read).map_err(anyhow::Error::msg).with_context(named)?;
    Ok((first_agreement(&agreed, &schema, &by_hand, &domain(out)), by_hand.len()))
}

/// Path of the file with the cells on which extraction and first reader differ.
pub const DISPUTES: &str = "check/disputes.csv";

/// Writes the disputes for a second person; what one has filled in is not written over. True if the file is new.
pub fn write_disputes(out: &Path, disputes: &[Dispute]) -> Result<bool> {
    let path = out.join(DISPUTES);
    if disputes.is_empty() || path.exists() {
        return Ok(false);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(DISPUTE_COLUMNS)?;
    for row in dispute_rows(disputes) {
        writer.write_record(row)?;
    }
    write_atomically(&path, &writer.into_inner().context("cannot write the disputes as CSV")?)?;
    Ok(true)
}

/// Returns what the second person says in `file` of the cells that `found` says differ.
pub fn second_round(found: &FirstAgreement, checked: usize, file: &Path) -> Result<Adjudicated> {
    let named = || format!("cannot use --adjudicated {}", file.display());
    let bytes = closeread_files::read_file(file).with_context(named)?;
    let read = decode(&bytes, None).with_context(named)?.text;
    adjudicated(&found.disputes, checked, &read).map_err(anyhow::Error::msg).with_context(named)
}

/// Returns the name of the build's domain.
fn domain(out: &Path) -> String {
    let manifest = closeread_files::read_file(out.join(BuildFolder::MANIFEST)).ok();
    let manifest: Option<Value> = manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let domain = manifest.as_ref().and_then(|manifest| manifest.pointer("/configuration/parameters/domain")?.as_str());
    domain.unwrap_or("of one domain").to_owned()
}
