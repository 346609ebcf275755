//! How each figure of a report appears: where, in which unit, and whether a second value meets it.

use super::domain::Scale;
use super::rng::Rng;
use super::table::{Field, Row, Value};

/// How one figure appears in the report.
pub(super) struct Plan {
    /// Values of 2023, 2024 and 2025 as they are printed in the body.
    pub(super) printed: [Value; 3],
    pub(super) in_table: bool,
    pub(super) in_prose: bool,
    pub(super) table_scale: Scale,
    pub(super) prose_scale: Scale,
    pub(super) flaw: Flaw,
}

/// Whether a second value for 2025 stands in the report.
pub(super) enum Flaw {
    None,
    /// The body is wrong; a note of a later month is right.
    Erratum,
    /// The body is right; an earlier estimate was not.
    Provisional(Value),
    /// The value of 2024 was wrong and is put right; that of 2025 is not touched.
    Restated(Value),
}

/// Decides for each of [`Field::FIGURES`] where and how it is printed; at most two of them are flawed.
pub(super) fn plan(row: &Row, rng: &mut Rng) -> Vec<(Field, Plan)> {
    let first_flaw = rng.index(Field::FIGURES.len());
    let second_flaw = rng.index(Field::FIGURES.len());
    Field::FIGURES
        .into_iter()
        .enumerate()
        .map(|(idx, field)| {
            let now = row.get(field).clone();
            let before = vary(&now, rng);
            let mut printed = [vary(&before, rng), before, now.clone()];
            let mut flaw = Flaw::None;
            if idx == first_flaw && rng.chance(70) {
                printed[2] = vary(&now, rng);
                flaw = Flaw::Erratum;
            } else if idx == second_flaw {
                flaw = match rng.below(2) {
                    0 => Flaw::Provisional(vary(&now, rng)),
                    _ => Flaw::Restated(vary(&printed[1], rng)),
                };
            }
            let (in_table, in_prose) = match (&flaw, rng.below(100)) {
                (Flaw::Provisional(_), roll) => (roll < 40, true),
                (_, 0..45) => (true, false),
                (_, 45..82) => (false, true),
                _ => (true, true),
            };
            (field, Plan { printed, in_table, in_prose, table_scale: scale(rng), prose_scale: scale(rng), flaw })
        })
        .collect()
}

fn scale(rng: &mut Rng) -> Scale {
    match rng.below(10) {
        0..5 => Scale::Whole,
        5..7 => Scale::Thousands,
        _ => Scale::Millions,
    }
}

/// Another plausible value of the same kind, up to an eighth away and never the same.
pub(super) fn vary(value: &Value, rng: &mut Rng) -> Value {
    let number = value.number();
    let grain = match value {
        Value::Money(n) if n.is_multiple_of(10_000) => 10_000,
        Value::Money(n) if n.is_multiple_of(1_000) => 1_000,
        _ => 1,
    };
    let mut varied = number * rng.between(880, 1_120) / 1_000 / grain * grain;
    if matches!(value, Value::Percentage(_)) {
        // A share stays below the whole: what would exceed it is reflected.
        if varied >= 10_000 {
            varied = 2 * number - varied;
        }
    }
    if varied == number {
        varied = if number > grain { number - grain } else { number + grain };
    }
    value.with_number(varied)
}
