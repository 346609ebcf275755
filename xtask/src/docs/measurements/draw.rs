//! Tables of measurements as Markdown.

use super::{Cell, Column, Measurement, Row, Subjects};
use crate::docs::markdown::slug;
use anyhow::{Context as _, Result, ensure};
use chrono::NaiveDate;
use std::collections::BTreeSet;
use std::path::Path;

/// The newest number of each row of a subject. A row that the newest measurement lacks has the date of its own.
pub(super) fn newest(measured: &[Measurement], history: &str, page: &Path) -> String {
    let Some(newest) = measured.first() else { return String::new() };
    let mut rows: Vec<(&Measurement, &Row)> = vec![];
    for (of, row) in measured.iter().rev().flat_map(|of| of.rows.iter().map(move |row| (of, row))) {
        match rows.iter_mut().find(|(_, other)| other.name == row.name) {
            Some(shown) => *shown = (of, row),
            None => rows.push((of, row)),
        }
    }
    if rows.len() == newest.rows.len() {
        rows = newest.rows.iter().map(|row| (newest, row)).collect();
    }
    let first = |(of, row): &(&Measurement, &Row)| {
        if of.id == newest.id { row.name.clone() } else { format!("{} ({})", row.name, day(of)) }
    };
    let carried = |of: &&Measurement| rows.iter().any(|(other, _)| other.id == of.id);
    let captions: Vec<String> = measured.iter().filter(carried).map(caption).collect();
    let rows = rows.iter().map(|row| (vec![first(row)], row.1));
    let mut text = format!("{}\n{}", table(&[""], &newest.columns, rows), captions.join("\n\n"));
    let replaced = replaced(measured);
    if !replaced.is_empty() {
        let depth = page.components().count().saturating_sub(2);
        let link = format!("{}{}", "../".repeat(depth), history.trim_start_matches("docs/"));
        let days: Vec<String> = replaced.iter().map(|of| day(of)).collect();
        text += &format!(" Earlier: [{}]({link}#{}).", days.join(", "), slug(&newest.title));
    }
    text
}

/// The measurements of a subject of which a newer one has a row, the newest first.
fn replaced(measured: &[Measurement]) -> Vec<&Measurement> {
    let mut names = BTreeSet::new();
    let mut replaced = vec![];
    for of in measured {
        if of.rows.iter().any(|row| names.contains(&*row.name)) {
            replaced.push(of);
        }
        names.extend(of.rows.iter().map(|row| &*row.name));
    }
    replaced
}

/// All measurements of a subject in one table, the newest first.
pub(super) fn list(measured: &[Measurement]) -> String {
    let Some(newest) = measured.first() else { return String::new() };
    let rows = measured.iter().flat_map(|of| {
        let first = move |row: &Row| vec![day(of), row.name.clone(), format!("{}; load: {}", of.machine, of.load)];
        of.rows.iter().map(move |row| (first(row), row))
    });
    let heads = ["date", "what", "machine"];
    let mut text = format!("{}\nMeasured by `{}`.", table(&heads, &newest.columns, rows), newest.command);
    let notes: Vec<_> = measured.iter().filter(|of| !of.note.is_empty()).collect();
    for of in notes {
        text += &format!("\n\n{}: {}", of.rows.first().map_or(day(of), |row| row.name.clone()), of.note);
    }
    text
}

/// The page of all measurements that newer ones replaced, without subjects that their page lists as a whole.
pub(super) fn history(subjects: &Subjects, listed: &[&str]) -> Result<String> {
    let mut text = "# Earlier measurements\n\nMeasurements that newer ones replaced. The newest are in [Performance](performance.md) and \
        [How far it scales](scale.md).\nThis page is written from `docs/measurements` by `cargo xtask docs --tables`.\n"
        .to_owned();
    let mut titles = BTreeSet::new();
    for (name, measured) in subjects {
        let (Some(newest), replaced) = (measured.first(), replaced(measured)) else { continue };
        ensure!(titles.insert(slug(&newest.title)), "two subjects have the title {:?}", newest.title);
        if replaced.is_empty() || listed.contains(&&**name) {
            continue;
        }
        text += &format!("\n## {}\n", newest.title);
        for of in replaced {
            let rows = of.rows.iter().map(|row| (vec![row.name.clone()], row));
            text += &format!("\n{}\n{}\n", table(&[""], &of.columns, rows), caption(of));
        }
    }
    Ok(text)
}

/// A table; each row has its first cells, which `heads` names. A column with goals has them in a column beside it.
fn table<'m>(heads: &[&str], columns: &[Column], rows: impl Iterator<Item = (Vec<String>, &'m Row)>) -> String {
    let rows: Vec<(Vec<String>, &Row)> = rows.collect();
    let has_goals =
        |column: &Column| rows.iter().any(|(_, row)| row.cells.get(&column.id).is_some_and(|cell| cell.goal.is_some()));
    let mut lines = vec![heads.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|(first, _)| first.clone()));
    for column in columns {
        let goals = has_goals(column);
        for (i, line) in lines.iter_mut().enumerate() {
            let cell = i.checked_sub(1).and_then(|at| rows[at].1.cells.get(&column.id));
            line.push(if i == 0 { column.name.clone() } else { cell.map_or(String::new(), value) });
            if goals {
                line.push(if i == 0 { "goal".to_owned() } else { cell.map_or(String::new(), goal) });
            }
        }
    }
    lines.insert(1, vec!["---".to_owned(); lines[0].len()]);
    lines
        .into_iter()
        .map(|line| format!("| {} |\n", line.join(" | ")).replace("|  |", "| |").replace("|  |", "| |"))
        .collect()
}

fn value(cell: &Cell) -> String {
    match &cell.spread {
        Some((from, to)) => format!("{} ({from} to {to})", cell.value),
        None => cell.value.clone(),
    }
}

fn goal(cell: &Cell) -> String {
    match &cell.goal {
        Some(goal) if goal.is_reached => goal.text.clone(),
        Some(goal) => format!("**{}, not reached**", goal.text),
        None => String::new(),
    }
}

fn caption(of: &Measurement) -> String {
    let note = if of.note.is_empty() { String::new() } else { format!(" {}", of.note) };
    format!("Measured {} on {}, load: {}, by `{}`.{note}", day(of), of.machine, of.load, of.command)
}

fn day(of: &Measurement) -> String {
    date(&of.id).unwrap_or_default()
}

/// The date that a file's name gives, in words.
pub(super) fn date(id: &str) -> Result<String> {
    let date = id.get(..10).and_then(|date| NaiveDate::parse_from_str(date, "%Y-%m-%d").ok());
    let date =
        date.with_context(|| format!("the name {id:?} is not a date, expected such as 2026-11-23 or 2026-11-23-b"))?;
    Ok(date.format("%-d %B %Y").to_string())
}
