//! Tables, written and printed as users ask for them.

use anyhow::{Context, Result, bail};
use closeread_files::write_output;
use closeread_table::Table;
use closeread_table::number::counted;
use closeread_table::render::{csv, latex, text};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use tracing::info;

/// Writes the tables as text, a blank line between.
pub(super) fn as_text(tables: &[Table]) -> String {
    tables.iter().map(text::table).collect::<Vec<_>>().join("\n")
}

/// Writes the tables as LaTeX, with what they need above.
pub(super) fn as_latex(tables: &[Table]) -> String {
    let made: Vec<String> = tables.iter().map(latex::table).collect();
    format!("{}\n{}", latex::PREAMBLE, made.join("\n"))
}

/// Endings that are those of files, and not of a folder's name.
const OF_FILES: [&str; 14] =
    ["gz", "htm", "html", "json", "jsonl", "md", "ods", "parquet", "pdf", "tex", "tsv", "txt", "xls", "xlsx"];

/// Refuses to print the list of tables and something else at once, and a new folder that is called as a file is.
pub(super) fn check_csv(csv: Option<&Path>, prints_other: bool) -> Result<()> {
    let Some(path) = csv else { return Ok(()) };
    if prints_other && path == Path::new("-") {
        bail!("--csv - prints the list of tables: give --csv a file, or leave out --json and --latex");
    }
    let ending = path.extension().unwrap_or_default();
    if OF_FILES.iter().any(|known| ending.eq_ignore_ascii_case(known)) && !path.is_dir() {
        let path = path.display();
        bail!("--csv {path}: expected a file that ends in .csv, for one list, or a folder, for one file a table");
    }
    Ok(())
}

/// Writes the tables as one list (a file that ends in .csv, or `-`, standard output), or one file a table (a folder).
pub(super) fn write_csv(path: &Path, tables: &[Table], complete: bool) -> Result<()> {
    if path == Path::new("-") {
        out!("{}", csv::tidy(tables, complete));
        return Ok(());
    }
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        write_output(path, csv::tidy(tables, complete).as_bytes())?;
        info!("{}: {} as one list", path.display(), counted(tables.len(), "table"));
        return Ok(());
    }
    let named = named(path, tables);
    for (file, _) in &named {
        refuse_foreign(file)?;
    }
    std::fs::create_dir_all(path).with_context(|| format!("cannot create the folder {}", path.display()))?;
    for (file, table) in &named {
        write_output(file, csv::wide(table, complete).as_bytes())?;
    }
    info!("{}: {}, one file each", path.display(), counted(tables.len(), "table"));
    Ok(())
}

/// The tables with a file for each in a folder, whose names differ also where case counts for nothing.
fn named<'t>(folder: &Path, tables: &'t [Table]) -> Vec<(PathBuf, &'t Table)> {
    let mut taken = HashSet::new();
    let file = |table: &Table| {
        let plain = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
        let own: String = table.id.chars().map(plain).collect();
        let (mut name, mut n) = (own.clone(), 1);
        while !taken.insert(name.to_lowercase()) {
            n += 1;
            name = format!("{own}-{n}");
        }
        folder.join(format!("{name}.csv"))
    };
    tables.iter().map(file).zip(tables).collect()
}

/// Refuses a file that is no table of closeread's: its user named the folder alone.
fn refuse_foreign(file: &Path) -> Result<()> {
    let there = closeread_files::read(file)?.unwrap_or_default();
    let head = there.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if !there.is_empty() && !head.ends_with(b",complete\r") {
        bail!("{} is there and is no table that closeread wrote: name another folder by --csv", file.display());
    }
    Ok(())
}
