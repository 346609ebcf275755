//! Measurements as data, one file each in `docs/measurements`, and the tables drawn from them.

mod draw;

use super::Page;
use super::markdown::line_at;
use crate::process::root;
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Folder of the measurements: a folder a subject, in it a TOML file a measurement, named by its date.
const FOLDER: &str = "docs/measurements";
/// The page of all measurements that newer ones replaced; this program writes the whole page.
const HISTORY: &str = "docs/performance-history.md";
const BEGIN: &str = "<!-- measurement: ";
const END: &str = "<!-- end of measurement -->";

/// One measurement: a table of numbers, with the machine and its load.
struct Measurement {
    /// Name of its file without `.toml`: its date, and a letter where a day has several.
    id: String,
    title: String,
    command: String,
    machine: String,
    load: String,
    note: String,
    columns: Vec<Column>,
    rows: Vec<Row>,
}

/// A column of a measurement's table.
struct Column {
    id: String,
    name: String,
}

/// A row of a measurement's table.
struct Row {
    name: String,
    cells: BTreeMap<String, Cell>,
}

/// A number as its file has it, with its spread and its goal, or words in place of a number.
struct Cell {
    value: String,
    spread: Option<(String, String)>,
    goal: Option<Goal>,
}

/// A goal that was set before the work, and whether the number reaches it.
struct Goal {
    text: String,
    is_reached: bool,
}

/// Subjects by their folder's name, the measurements of each with the newest first.
type Subjects = BTreeMap<String, Vec<Measurement>>;

/// Returns the pages whose tables differ from the data, with the right tables.
fn outdated(pages: &[Page]) -> Result<Vec<Page>> {
    let subjects = read(&root().join(FOLDER))?;
    outdated_by(pages, &subjects)
}

fn outdated_by(pages: &[Page], subjects: &Subjects) -> Result<Vec<Page>> {
    let (mut drawn, mut found) = (vec![], vec![]);
    for page in pages.iter().filter(|page| page.text.starts_with(BEGIN) || page.text.contains(&format!("\n{BEGIN}"))) {
        drawn.push(Page { path: page.path.clone(), text: with_tables(page, subjects, &mut found)? });
    }
    for subject in subjects.keys() {
        let n = found.iter().filter(|(name, _)| name == subject).count();
        ensure!(
            n == 1,
            "{FOLDER}/{subject} is shown {n} times, expected once: write `{BEGIN}{subject} -->` and `{END}` there"
        );
    }
    let listed: Vec<&str> = found.iter().filter(|(_, is_list)| *is_list).map(|(name, _)| &**name).collect();
    drawn.push(Page { path: HISTORY.into(), text: draw::history(subjects, &listed)? });
    let text_now = |path: &Path| pages.iter().find(|page| page.path == path).map(|page| &page.text);
    drawn.retain(|page| text_now(&page.path) != Some(&page.text));
    Ok(drawn)
}

/// Returns every problem of the data and of the tables drawn from it, a line each.
pub(super) fn problems(pages: &[Page]) -> Vec<String> {
    match outdated(pages) {
        Ok(outdated) => {
            let differs = |page: &Page| {
                format!("{}: a table differs from {FOLDER}: run `cargo xtask docs --tables`", page.path.display())
            };
            outdated.iter().map(differs).collect()
        }
        Err(error) => vec![format!("{error:#}")],
    }
}

/// Draws the tables of all pages anew; returns the paths of those that changed.
pub(super) fn write(pages: &[Page]) -> Result<Vec<PathBuf>> {
    let outdated = outdated(pages)?;
    for page in &outdated {
        std::fs::write(root().join(&page.path), &page.text)
            .with_context(|| format!("cannot write {}", page.path.display()))?;
    }
    Ok(outdated.into_iter().map(|page| page.path).collect())
}

/// A page's text with each table drawn; names the subjects that it shows, and whether as a list of all measurements.
fn with_tables(page: &Page, subjects: &Subjects, shown: &mut Vec<(String, bool)>) -> Result<String> {
    let (mut text, mut rest) = (String::new(), page.text.as_str());
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let place = || format!("{}:{}", page.path.display(), line_at(&page.text, page.text.len() - after.len()));
        let (mark, after) = after.split_once(" -->").with_context(|| format!("{}: `{BEGIN}` does not end", place()))?;
        let (_, after) = after.split_once(END).with_context(|| format!("{}: `{END}` is missing", place()))?;
        let (subject, is_list) = mark.strip_suffix(", as a list").map_or((mark, false), |subject| (subject, true));
        let of = subjects.get(subject).with_context(|| format!("{}: {FOLDER} has no folder {subject}", place()))?;
        let table = if is_list { draw::list(of) } else { draw::newest(of, HISTORY, &page.path) };
        text += &format!("{before}{BEGIN}{mark} -->\n\n{table}\n\n{END}");
        shown.push((subject.to_owned(), is_list));
        rest = after;
    }
    Ok(text + rest)
}

fn read(folder: &Path) -> Result<Subjects> {
    let mut subjects = Subjects::new();
    for folder in listed(folder)? {
        let mut measured = vec![];
        for file in listed(&folder)? {
            let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let id = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            measured.push(parse(id, &text).with_context(|| format!("{}", file.display()))?);
        }
        measured.sort_by(|a, b| b.id.cmp(&a.id));
        subjects.insert(folder.file_name().unwrap_or_default().to_string_lossy().into_owned(), measured);
    }
    Ok(subjects)
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn parse(id: String, text: &str) -> Result<Measurement> {
    let file = DeTable::parse(text)?;
    let file = file.get_ref();
    known(file, &["title", "command", "machine", "load", "note", "columns", "rows"])?;
    let column = |table: &DeTable<'_>| {
        known(table, &["id", "name", "unit"])?;
        Ok(Column { id: words(table, "id")?, name: with_unit(table)? })
    };
    let columns: Vec<Column> = tables(file, "columns")?.into_iter().map(column).collect::<Result<_>>()?;
    let row = |table: &DeTable<'_>| {
        let name = with_unit(table)?;
        let ids: Vec<&str> = ["name", "unit"].into_iter().chain(columns.iter().map(|column| &*column.id)).collect();
        known(table, &ids).with_context(|| format!("row {name:?}"))?;
        let mut cells = BTreeMap::new();
        for column in &columns {
            if let Some(value) = table.get(&*column.id) {
                let cell = cell(value.get_ref()).with_context(|| format!("row {name:?}, {}", column.id))?;
                cells.insert(column.id.clone(), cell);
            }
        }
        Ok(Row { name, cells })
    };
    let rows = tables(file, "rows")?.into_iter().map(row).collect::<Result<_>>()?;
    draw::date(&id)?;
    let note = if file.contains_key("note") { words(file, "note")? } else { String::new() };
    let (title, command) = (words(file, "title")?, words(file, "command")?);
    Ok(Measurement {
        id,
        title,
        command,
        machine: words(file, "machine")?,
        load: words(file, "load")?,
        note,
        columns,
        rows,
    })
}

/// A number, words, or a table of `value`, `from`, `to`, and `at_least` or `at_most`.
fn cell(value: &DeValue<'_>) -> Result<Cell> {
    let DeValue::Table(table) = value else {
        return Ok(Cell { value: shown(value)?, spread: None, goal: None });
    };
    known(table, &["value", "from", "to", "at_least", "at_most"])?;
    let part = |name: &str| table.get(name).map(|part| shown(part.get_ref())).transpose();
    let value = part("value")?.context("`value` is missing")?;
    let number = |text: &str| text.replace(',', "").parse::<f64>().with_context(|| format!("{text:?} is not a number"));
    let goal = match (part("at_least")?, part("at_most")?) {
        (Some(least), None) => {
            Some(Goal { is_reached: number(&value)? >= number(&least)?, text: format!("≥ {least}") })
        }
        (None, Some(most)) => Some(Goal { is_reached: number(&value)? <= number(&most)?, text: format!("≤ {most}") }),
        (None, None) => None,
        (Some(_), Some(_)) => anyhow::bail!("both `at_least` and `at_most`, expected one"),
    };
    let spread = match (part("from")?, part("to")?) {
        (Some(from), Some(to)) => Some((from, to)),
        (None, None) => None,
        _ => anyhow::bail!("one of `from` and `to` is missing"),
    };
    Ok(Cell { value, spread, goal })
}

/// A number as its file has it, with commas between thousands: `2.20` stays `2.20`.
fn shown(value: &DeValue<'_>) -> Result<String> {
    let digits = match value {
        DeValue::Integer(number) => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        DeValue::String(words) => return Ok(words.to_string()),
        _ => anyhow::bail!("{} in place of a number or words", value.type_str()),
    };
    let (whole, fraction) = digits.find(['.', 'e']).map_or((digits, ""), |at| digits.split_at(at));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    Ok(grouped + fraction)
}

/// The name of a row or column, with its unit.
fn with_unit(table: &DeTable<'_>) -> Result<String> {
    let name = words(table, "name")?;
    Ok(if table.contains_key("unit") { format!("{name}, {}", words(table, "unit")?) } else { name })
}

fn words(table: &DeTable<'_>, key: &str) -> Result<String> {
    let value = table.get(key).with_context(|| format!("`{key}` is missing"))?;
    Ok(value.get_ref().as_str().with_context(|| format!("`{key}` is not a string"))?.to_owned())
}

fn tables<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Result<Vec<&'t DeTable<'i>>> {
    let array = table.get(key).and_then(|value| value.get_ref().as_array());
    let array = array.with_context(|| format!("`{key}` is missing, expected an array of tables"))?;
    let entry = |value: &'t toml::Spanned<DeValue<'i>>| value.get_ref().as_table();
    array
        .iter()
        .map(|value| entry(value).with_context(|| format!("`{key}` has an entry that is not a table")))
        .collect()
}

/// Refuses keys other than these.
fn known(table: &DeTable<'_>, keys: &[&str]) -> Result<()> {
    for key in table.keys() {
        let key = key.get_ref().as_ref();
        ensure!(keys.contains(&key), "`{key}` is not a known key, expected one of {}", keys.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
