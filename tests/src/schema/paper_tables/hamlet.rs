//! HAMLET's tables and figures.

mod data;
mod input;
mod people;

use super::check::{find, number, place, same};
use crate::report::{FileReport, label, list};
use closeread_eval::observations::{Aggregation, Ending, Observations, Rows};
use closeread_report::paper;
use closeread_table::{Table, Value as Place};
use serde_json::{Value, json};

const LEVELS: [&str; 4] = ["root", "branch", "leaf", "all"];
const PERSPECTIVES: [(&str, &str); 2] = [("analytical", "Ana."), ("narrative", "Nar.")];
const FIFTHS: [&str; 5] = ["0-20%", "20-40%", "40-60%", "60-80%", "80-100%"];

pub(super) fn run(file: &Value, report: &mut FileReport, tolerance: f64) {
    for (position, case) in list(file, "cases").enumerate() {
        let table = case.get("table").and_then(Value::as_str).unwrap_or_default();
        report.case(&label(case, "cases", position), || {
            let expected = case.get("expected").ok_or("no field `expected`")?;
            let asked = case.get("input").ok_or("no field `input`")?;
            match table {
                "Table 2" => people::table_2(asked, expected, tolerance),
                "Table 3" => people::table_3(asked, expected, tolerance),
                _ => match data::check(table, file.get("inputs"), asked, expected, tolerance) {
                    Some(done) => done,
                    None => of_summaries(table, file.get("inputs"), asked, expected, tolerance),
                },
            }
        });
    }
}

/// The tables of one policy and what a case expects of them.
struct Case<'a> {
    tables: &'a [Table],
    suffix: &'static str,
    expected: &'a Value,
    tolerance: f64,
}

fn of_summaries(
    table: &str,
    inputs: Option<&Value>,
    asked: &Value,
    expected: &Value,
    tolerance: f64,
) -> Result<(), String> {
    let input = input::input(inputs, asked)?;
    let named = |name: &str| asked.get(name).and_then(Value::as_str);
    let models: Vec<&str> = match (named("base"), named("reasoning")) {
        (Some(base), Some(reasoning)) => vec![base, reasoning],
        _ => asked["models"].as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    };
    let trials = input.trials(&models, named("reasoning"))?;
    if table == "Ledger" {
        return ledger(&trials, &models, expected);
    }
    let tables = paper::hamlet::tables(&trials);
    let policies = [("wrong", ""), ("left_out", "-left-out")];
    let cases: Vec<Case<'_>> = match expected.get("wrong") {
        Some(_) => {
            policies.map(|(name, suffix)| Case { tables: &tables, suffix, expected: &expected[name], tolerance }).into()
        }
        None => vec![Case { tables: &tables, suffix: "", expected, tolerance }],
    };
    cases.iter().try_for_each(|case| match table {
        "Figure 3" => case.figure_3(),
        "Table 4" => case.by_model("hamlet-table-4", &LEVELS, |level| format!("{}-level Key-fact", capital(level))),
        "Table 5" => case.table_5(),
        "Table 6" => case.table_6(models[0], models[1]),
        "Table 7" => case.table_7(),
        "Table 13" => case.table_13(),
        "Table 14" => case.table_14(),
        "Section 5.2" => case.section_5_2(),
        other => Err(format!("no code for {other}")),
    })
}

fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn ledger(trials: &Observations, models: &[&str], expected: &Value) -> Result<(), String> {
    for ((cell, _), model) in trials.cells().zip(models) {
        let made = trials.aggregate(&Rows::of(cell), &Aggregation::new("recall"));
        let endings = Ending::ALL.map(|ending| (ending.name().to_owned(), made.ledger.of(ending).into()));
        let endings = Value::Object(endings.into_iter().collect());
        let got = json!({"planned": made.planned(), "endings": endings, "complete": made.is_complete()});
        if got != expected[*model] {
            return Err(format!("{model}: expected {}, got {got}", expected[*model]));
        }
    }
    Ok(())
}

/// The row that begins with these names.
fn found<'t>(table: &'t Table, names: &[&str]) -> Option<&'t [Place]> {
    let is = |place: &Place, name: &str| matches!(place, Place::Text { text } if text == name);
    let named = |row: &&Vec<Place>| names.iter().zip(row.iter()).all(|(name, place)| is(place, name));
    table.rows.iter().find(named).map(Vec::as_slice)
}

fn objects(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

impl Case<'_> {
    fn table(&self, id: &str) -> Table {
        find(self.tables, &format!("{id}{}", self.suffix))
    }

    /// Checks a cell: a share (`hit` of `of`) or a mean of `n` values, in the table's unit.
    fn place(&self, table: &Table, names: &[&str], column: &str, expected: &Value, unit: f64) -> Result<(), String> {
        let what = format!("{}, {names:?}, {column}", table.id);
        if expected.is_null() {
            return Err(format!("{what}: nothing is expected"));
        }
        let got = found(table, names).and_then(|row| place(table, row, column));
        let n = ["of", "n", "fifths", "queries"].iter().find_map(|name| expected.get(*name));
        let value = expected["value"].as_f64().map(|value| value * unit);
        same(&what, got, &json!({"value": value, "n": n}), self.tolerance * unit)?;
        let (value, n) = number(got);
        let hit = value.map_or(0.0, |value| value / unit * n as f64);
        match expected.get("hit").and_then(Value::as_f64) {
            Some(wanted) if (wanted - hit).abs() > 1e-6 => Err(format!("{what}: expected {wanted} hits, got {hit}")),
            _ => Ok(()),
        }
    }

    fn figure_3(&self) -> Result<(), String> {
        let table = self.table("hamlet-figure-3");
        for (perspective, levels) in objects(self.expected) {
            for (level, models) in objects(levels) {
                for (model, fifths) in objects(models) {
                    for (name, expected) in FIFTHS.iter().zip(fifths.as_array().ok_or("no list of fifths")?) {
                        self.place(&table, &[perspective, level, model], name, expected, 1.0)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks Tables 4 and 5: a row for each scope, columns for models and perspectives.
    fn by_model(&self, id: &str, scopes: &[&str], name: impl Fn(&str) -> String) -> Result<(), String> {
        let table = self.table(id);
        for scope in scopes {
            for (perspective, short) in PERSPECTIVES {
                let expected = &self.expected[*scope][perspective];
                let models = objects(&expected["models"]).map(|(model, expected)| (model.as_str(), expected));
                for (model, expected) in models.chain([("Total", &expected["total"])]) {
                    self.place(&table, &[&name(scope)], &format!("{model} {short}"), expected, 1.0)?;
                }
            }
        }
        Ok(())
    }

    fn table_5(&self) -> Result<(), String> {
        let scopes = ["root", "branch", "leaf", "none", "aligned", "all"];
        self.by_model("hamlet-table-5", &scopes, |scope| match scope {
            "aligned" => "All (aligned)".to_owned(),
            "all" => "all sentences".to_owned(),
            scope => capital(scope),
        })?;
        if !self.suffix.is_empty() {
            return Ok(());
        }
        let counts = self.table("hamlet-table-5-sentences");
        for (model, expected) in objects(&self.expected["aligned"]["analytical"]["models"]) {
            let of = expected["of"].as_u64().unwrap_or_default();
            let row = found(&counts, &["All (aligned)"]);
            let got = row.and_then(|row| place(&counts, row, &format!("{model} Ana.")));
            // Where no sentence was judged there is no table.
            if got.unwrap_or(&Place::Count { count: 0 }) != &(Place::Count { count: of }) {
                return Err(format!("{model}: expected {of} aligned sentences, got {got:?}"));
            }
        }
        Ok(())
    }

    fn table_6(&self, base: &str, reasoning: &str) -> Result<(), String> {
        let table = self.table("hamlet-table-6");
        let queries = &self.expected["queries"];
        let difference = format!("{reasoning} - {base}");
        for measure in ["recall", "faithfulness"] {
            for (scope, expected) in objects(&self.expected[measure]) {
                let column = format!("{} {scope}", capital(measure));
                let wanted = json!({"value": expected["value"], "n": queries});
                self.place(&table, &[&difference], &column, &wanted, 1.0)?;
                for (model, name) in [(reasoning, "reasoning"), (base, "base")] {
                    let got = found(&table, &[model]).and_then(|row| place(&table, row, &column));
                    let (got, wanted) = (number(got).0, expected[name].as_f64());
                    let equal = match (got, wanted) {
                        (Some(got), Some(wanted)) => (got - wanted).abs() <= self.tolerance,
                        (got, wanted) => got == wanted,
                    };
                    if !equal {
                        return Err(format!("{model}, {column}: expected {wanted:?}, got {got:?}"));
                    }
                }
            }
        }
        Ok(())
    }

    fn table_7(&self) -> Result<(), String> {
        let (table, summaries) = (self.table("hamlet-table-7"), self.table("hamlet-summaries"));
        for (model, expected) in objects(self.expected) {
            let mut n = u64::MAX;
            for (column, name) in [("Recall", "recall"), ("Faithfulness", "faithfulness")] {
                let expected = &expected[name];
                self.place(&table, &[model], column, expected, 1.0)?;
                n = n.min(expected["n"].as_u64().unwrap_or_default());
                let out = [("failure", "failed"), ("unjudged", "unjudged"), ("unscored", "not asked")];
                for (kind, column) in out.into_iter().chain([("not_applicable", "nothing to score")]) {
                    let wanted = expected["out"][kind].as_u64().unwrap_or(0);
                    let row = found(&summaries, &[model, name]).ok_or_else(|| format!("no summaries of {model}"))?;
                    if place(&summaries, row, column) != Some(&Place::Count { count: wanted }) {
                        return Err(format!("{model}, {name}: expected {wanted} {column}, got {row:?}"));
                    }
                }
            }
            let both = json!({"value": expected["mean"]["value"], "n": n});
            self.place(&table, &[model], "Mean", &both, 1.0)?;
        }
        Ok(())
    }

    fn table_13(&self) -> Result<(), String> {
        let (table, other) = (self.table("hamlet-table-13"), self.table("hamlet-table-13-mean-of-fifths"));
        let short = [("root", "Rt"), ("branch", "Br"), ("leaf", "Lf"), ("all", "W")];
        for (perspective, expected) in objects(self.expected) {
            let models = objects(&expected["models"]).map(|(model, expected)| (model.as_str(), expected));
            for (model, expected) in models.chain([("Average", &expected["average_over_models"])]) {
                let names = [perspective.as_str(), model];
                for (level, short) in short {
                    for (fifth, expected) in FIFTHS.iter().zip(expected["fifths"].as_array().ok_or("no fifths")?) {
                        self.place(&table, &names, &format!("{fifth} {short}"), &expected[level], 1.0)?;
                    }
                    self.place(&table, &names, &format!("Average {short}"), &expected["average"][level], 1.0)?;
                    if let Some(expected) = expected.get("mean_of_fifths") {
                        self.place(&other, &names, short, &expected[level], 1.0)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn table_14(&self) -> Result<(), String> {
        let table = self.table("hamlet-table-14");
        let kinds = [
            ("extrinsic", "(A) Extrinsic Error", "out_of_article"),
            ("intrinsic", "(B) Intrinsic Error", ""),
            ("relation", "Relation Error", "relation"),
            ("entity", "Entity Error", "entity"),
            ("sentence", "Sentence Error", "sentence"),
        ];
        for (kind, name, counted) in kinds {
            for (model, expected) in objects(&self.expected["models"]) {
                let hit = &expected[kind]["hit"];
                if !counted.is_empty() && *hit != expected["counts"][counted] {
                    return Err(format!("{model}: {hit} {kind} errors, but {}", expected["counts"]));
                }
                self.place(&table, &[name], model, &expected[kind], 100.0)?;
            }
            self.place(&table, &[name], "average", &self.expected["average"][kind], 100.0)?;
        }
        Ok(())
    }

    fn section_5_2(&self) -> Result<(), String> {
        let table = self.table("hamlet-length");
        LEVELS.iter().try_for_each(|level| self.place(&table, &["all models"], level, &self.expected[*level], 1.0))
    }
}
