//! NovelQA's tables and figures.

use super::Case;
use super::check::{body, find, place, same};
use closeread_table::{Mark, Table, Value as Place};
use serde_json::{Value, json};

pub(super) fn check(tables: &[Table], case: &Case<'_>) -> Result<(), String> {
    let suffix = match case.input.get("failures").and_then(Value::as_str) {
        Some("left_out") => "-left-out",
        _ => "",
    };
    let relative = if case.input["axis"] == "relative" { "-relative" } else { "" };
    let of = |id: &str| find(tables, &format!("{id}{suffix}"));
    match case.table {
        "Table 2" => table_2([of("novelqa-table-2"), of("novelqa-table-2-public-domain")], case),
        "Table 3" | "Table 14" => {
            let table = of(if case.table == "Table 3" { "novelqa-table-3" } else { "novelqa-table-14" });
            let name = case.input["configuration"].as_str().unwrap_or_default();
            let average = case.expected.get("average").into_iter();
            rows(case.expected).iter().chain(average).try_for_each(|row| {
                let short = row["head"]["complexity"].as_str().unwrap_or_default();
                cells(&table, &[name, short], row, case)
            })
        }
        "Figure 4" => lines(&of(&format!("novelqa-figure-4{relative}")), case.expected, case),
        "Figure 6" => lines(&of(&format!("novelqa-figure-6{relative}")), case.expected, case),
        "Figure 7" => {
            let panels = case.expected["panels"].as_array().map_or(&[][..], Vec::as_slice);
            let ids = ["novelqa-figure-7-65k-100k", "novelqa-figure-7-above-100k"];
            panels.iter().zip(ids).try_for_each(|(panel, id)| lines(&of(id), panel, case))
        }
        "Table 4" => {
            let table = of("novelqa-table-4");
            lines(&table, case.expected, case)?;
            let average = case.expected.get("average");
            average.map_or(Ok(()), |average| cells(&table, &["Weighted Avg."], average, case))
        }
        "Table 5" => {
            let table = of("novelqa-table-5");
            lines(&table, case.expected, case)?;
            best(&table, &case.expected["best"])?;
            let left_out =
                rows(case.expected).first().and_then(|row| row["without_gold_evidence"].as_u64()).unwrap_or(0);
            let said = format!("{left_out} questions without gold evidence are left out");
            match left_out == 0 || table.rows.is_empty() || table.notes.contains(&said) {
                true => Ok(()),
                false => Err(format!("expected the note `{said}`, got {:?}", table.notes)),
            }
        }
        "Table 6" => table_6(&of("novelqa-table-6"), case),
        "Table 7" => {
            let table = find(tables, "novelqa-table-7");
            rows(case.expected).iter().try_for_each(|row| {
                cells(&table, &[row["head"]["configuration"].as_str().unwrap_or_default()], row, case)
            })?;
            cells(&table, &["Avg."], &case.expected["average"], case)
        }
        "Table 15" => lines(&of("novelqa-table-15"), case.expected, case),
        "Table 17" => table_17(tables, case),
        "Table 16" => table_16(&of("novelqa-table-16"), case),
        "Table 1" => table_1(&find(tables, "novelqa-table-1"), case),
        "Table 9" => {
            let table = find(tables, "novelqa-table-9");
            rows(case.expected).iter().try_for_each(|row| {
                let head = |name: &str| row["head"][name].as_str().unwrap_or_default();
                cells(&table, &[head("dimension"), head("type")], row, case)
            })
        }
        "Table 12" => pieces(&find(tables, "novelqa-table-12"), case),
        "Table 13" => pieces(&find(tables, "novelqa-table-13"), case),
        other => Err(format!("no code for {other}")),
    }
}

fn rows(expected: &Value) -> &[Value] {
    expected["rows"].as_array().map_or(&[], Vec::as_slice)
}

fn text(place: &Place) -> &str {
    if let Place::Text { text } = place { text } else { "" }
}

/// The row that begins with these names.
fn found<'t>(table: &'t Table, names: &[&str]) -> Option<&'t [Place]> {
    let named = |row: &&Vec<Place>| names.iter().zip(row.iter()).all(|(name, place)| text(place) == *name);
    table.rows.iter().find(named).map(Vec::as_slice)
}

/// Checks the cells of one row. A missing row has no number.
fn cells(table: &Table, names: &[&str], wanted: &Value, case: &Case<'_>) -> Result<(), String> {
    let got = found(table, names);
    let cells = wanted["cells"].as_object().ok_or("no field `cells`")?;
    cells.iter().try_for_each(|(column, expected)| {
        let found = got.and_then(|row| place(table, row, column));
        same(&format!("{names:?} {column}"), found, expected, case.tolerance)
    })
}

fn lines(table: &Table, expected: &Value, case: &Case<'_>) -> Result<(), String> {
    for row in rows(expected) {
        cells(table, &[row["head"]["configuration"].as_str().unwrap_or_default()], row, case)?;
    }
    if !table.rows.is_empty() && body(table).len() != rows(expected).len() {
        return Err(format!("expected {} rows, got {}", rows(expected).len(), body(table).len()));
    }
    Ok(())
}

/// Fails unless the rows with the best of each column are those named.
fn best(table: &Table, wanted: &Value) -> Result<(), String> {
    for (column, names) in wanted.as_object().into_iter().flatten() {
        let is_best = |row: &&Vec<Place>| {
            matches!(place(table, row, column), Some(Place::Printed { mark: Some(Mark::Best), .. }))
        };
        let got = Value::from(table.rows.iter().filter(is_best).map(|row| json!(text(&row[0]))).collect::<Vec<_>>());
        if got != *names {
            return Err(format!("best of {column}: expected {names}, got {got}"));
        }
    }
    Ok(())
}

fn table_2([all, public]: [Table; 2], case: &Case<'_>) -> Result<(), String> {
    for row in rows(case.expected) {
        let head = &row["head"];
        let table = if head["rights"] == "public-domain" { &public } else { &all };
        let name = head["configuration"].as_str().unwrap_or_default();
        cells(table, &[name], row, case)?;
        let window = found(table, &[name]).map(|row| &row[1]);
        match (window, head["max_length"].as_u64()) {
            (Some(Place::Count { count }), Some(wanted)) if *count == wanted => {}
            (Some(Place::Missing { .. }), None) | (None, _) => {}
            (got, wanted) => return Err(format!("{name}: expected Max Length {wanted:?}, got {got:?}")),
        }
    }
    match &case.expected["best"] {
        wanted if wanted.get("all").is_some() => {
            best(&all, &wanted["all"])?;
            best(&public, &wanted["public-domain"])
        }
        wanted => best(&all, wanted),
    }
}

fn table_6(table: &Table, case: &Case<'_>) -> Result<(), String> {
    for row in rows(case.expected) {
        let name = row["head"]["configuration"].as_str().unwrap_or_default();
        cells(table, &[name], row, case)?;
        for (column, expected) in row["cells"].as_object().ok_or("no field `cells`")? {
            let drop = json!({"value": expected["drop"], "n": expected["n"]});
            let got = found(table, &[name]).and_then(|row| place(table, row, &format!("{column} drop")));
            same(&format!("{name} {column} drop"), got, &drop, case.tolerance)?;
        }
    }
    Ok(())
}

fn table_16(table: &Table, case: &Case<'_>) -> Result<(), String> {
    for row in rows(case.expected) {
        let name = row["head"]["configuration"].as_str().unwrap_or_default();
        for (column, head) in [("pearson", "Pearson"), ("spearman", "Spearman"), ("kendall", "Kendall")] {
            let expected = &row["cells"][column];
            let got = |head: &str| found(table, &[name]).and_then(|row| place(table, row, head));
            same(&format!("{name} {column}"), got(head), expected, case.tolerance)?;
            let p = json!({"value": expected["p"], "n": expected["n"]});
            same(&format!("{name} {column} p"), got(&format!("{head} p")), &p, case.tolerance)?;
        }
    }
    Ok(())
}

fn table_1(table: &Table, case: &Case<'_>) -> Result<(), String> {
    for row in rows(case.expected).iter().chain(case.expected.get("average")) {
        let name = row["head"]["aspect"].as_str().unwrap_or_default();
        for (column, expected) in row["cells"].as_object().ok_or("no field `cells`")? {
            match found(table, &[name]).and_then(|row| place(table, row, column)) {
                Some(Place::Count { count }) if Some(*count) == expected["count"].as_u64() => {}
                got => return Err(format!("{name} {column}: expected {expected}, got {got:?}")),
            }
        }
    }
    Ok(())
}

/// Checks a row of counts and one of shares; the note says how many pieces there are, and how many without an exact match.
fn pieces(table: &Table, case: &Case<'_>) -> Result<(), String> {
    let [counts, shares] =
        ["Count", "Percentage"].map(|name| found(table, &[name]).ok_or(format!("there is no row {name}")));
    let (counts, shares) = (counts?, shares?);
    for (column, expected) in case.expected["rows"][0]["cells"].as_object().ok_or("no field `cells`")? {
        let wanted = json!({"value": expected["value"], "n": case.expected["placed"]});
        same(column, place(table, shares, column), &wanted, case.tolerance)?;
        match place(table, counts, column) {
            Some(Place::Count { count }) if Some(*count) == expected["count"].as_u64() => {}
            got => return Err(format!("{column}: expected {expected}, got {got:?}")),
        }
    }
    let (placed, unplaced) = (&case.expected["placed"], &case.expected["without_exact_match"]);
    let said = format!("{placed} pieces of gold evidence; {unplaced} more have no exact match in the book");
    match table.notes.contains(&said) {
        true => Ok(()),
        false => Err(format!("expected the note `{said}`, got {:?}", table.notes)),
    }
}

fn table_17(tables: &[Table], case: &Case<'_>) -> Result<(), String> {
    let [counts, shares] = ["novelqa-table-17", "novelqa-table-17-shares"].map(|id| find(tables, id));
    for row in rows(case.expected).iter().chain(case.expected.get("average")) {
        let head = |name: &str| row["head"][name].as_str().unwrap_or_default();
        let names = [head("fault"), head("subtype")];
        for (column, expected) in row["cells"].as_object().ok_or("no field `cells`")? {
            let wanted = json!({"value": expected["value"], "n": expected["count"]});
            let share = found(&shares, &names).and_then(|row| place(&shares, row, column));
            same(&format!("{names:?} {column}"), share, &wanted, case.tolerance)?;
            let count = match found(&counts, &names).and_then(|row| place(&counts, row, column)) {
                Some(Place::Count { count }) => *count,
                _ => 0,
            };
            if Some(count) != expected["count"].as_u64() {
                return Err(format!("{names:?} {column}: expected {expected}, got {count}"));
            }
        }
    }
    let left_out = case.expected["of_right_answers_left_out"].as_u64().unwrap_or(0);
    match left_out == 0 || counts.notes.iter().any(|note| note.contains(&format!("{left_out} labels on right answers")))
    {
        true => Ok(()),
        false => Err(format!("expected {left_out} labels on right answers, got {:?}", counts.notes)),
    }
}
