//! Tables, written and printed as users ask for them.

use anyhow::{Context, Result};
use closeread_files::write_output;
use closeread_table::Table;
use closeread_table::number::counted;
use closeread_table::render::{csv, latex, text};
use std::path::Path;
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

/// Writes the tables as one list (a file that ends in .csv), or one file a table (a folder).
pub(super) fn write_csv(path: &Path, tables: &[Table], complete: bool) -> Result<()> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        write_output(path, csv::tidy(tables, complete).as_bytes())?;
        info!("{}: {} as one list", path.display(), counted(tables.len(), "table"));
        return Ok(());
    }
    std::fs::create_dir_all(path).with_context(|| format!("cannot create the folder {}", path.display()))?;
    for table in tables {
        let name: String = table.id.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
        write_output(&path.join(format!("{name}.csv")), csv::wide(table, complete).as_bytes())?;
    }
    info!("{}: {}, one file each", path.display(), counted(tables.len(), "table"));
    Ok(())
}
