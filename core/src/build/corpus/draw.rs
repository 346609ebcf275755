//! Draws questions whose answers are clear from a table.

use super::domain::Domain;
use super::question::{Answer, Difficulty, Query};
use super::rng::Rng;
use super::table::{Field, Month, Row};
use std::collections::BTreeSet;

/// Up to `each` questions of each difficulty, easy ones first, every kind of question in turn.
///
/// Fewer where the table is too small for more: two institutions cannot be compared in many ways.
pub(super) fn questions(domain: &Domain, rows: &[Row], rng: &mut Rng, each: usize) -> Vec<(Query, Answer)> {
    let mut found = Vec::new();
    let mut asked = BTreeSet::new();
    for difficulty in [Difficulty::Easy, Difficulty::Medium, Difficulty::Hard] {
        let mut n = 0;
        for attempt in 0..each * TRIES {
            if n == each {
                break;
            }
            let query = match difficulty {
                Difficulty::Easy => easy(rows, rng, attempt),
                Difficulty::Medium => medium(rows, rng, attempt),
                Difficulty::Hard => hard(rows, rng, attempt),
            };
            debug_assert_eq!(query.difficulty(), difficulty);
            let Some(answer) = query.answer(rows) else { continue };
            if asked.insert((domain.ask)(&query)) {
                found.push((query, answer));
                n += 1;
            }
        }
    }
    found
}

/// Draws for each question wanted, before giving up on it.
const TRIES: usize = 12;

/// Lists with a second condition are cut from the first so many ranks, so that they stay short in a large corpus.
const LONG_RANK: usize = 24;

const AMOUNTS: &[&Field] =
    &[&Field::Places, &Field::People, &Field::Staff, &Field::Income, &Field::Spending, &Field::Reserve];
const RATES: &[&Field] = &[&Field::FirstRate, &Field::SecondRate];
const CATEGORIES: &[&Field] = &[&Field::Region, &Field::Sort];
/// Quotients that mean something: money a place, money put by for money spent, places for each who works there.
const QUOTIENTS: &[&(Field, Field)] = &[
    &(Field::Income, Field::Places),
    &(Field::Spending, Field::Places),
    &(Field::Reserve, Field::Spending),
    &(Field::Places, Field::Staff),
    &(Field::Spending, Field::Income),
];

fn easy(rows: &[Row], rng: &mut Rng, attempt: usize) -> Query {
    let (category, value) = category(rows, rng);
    match attempt % 8 {
        0 => Query::Extreme { field: figure(rng), highest: rng.chance(60) },
        1 => Query::Total { field: *rng.pick(AMOUNTS) },
        2 => {
            let field = figure(rng);
            Query::Above { field, bound: bound(rows, field, rng, 6) }
        }
        3 => Query::Month { field: *rng.pick(&[&Field::Founded, &Field::Inspected]), earliest: rng.chance(50) },
        4 => Query::CountIn { category, value },
        5 => Query::Mean { field: figure(rng) },
        6 => Query::Top { field: figure(rng), n: rng.between(2, 4) as usize },
        _ => Query::Mean { field: *rng.pick(RATES) },
    }
}

fn medium(rows: &[Row], rng: &mut Rng, attempt: usize) -> Query {
    let (category, value) = category(rows, rng);
    let amount = *rng.pick(AMOUNTS);
    let field = figure(rng);
    match attempt % 6 {
        0 => Query::ShareOfTotal { field: amount, category, value },
        1 => Query::Filter { category, value, field, bound: bound(rows, field, rng, (rows.len() / 2).min(LONG_RANK)) },
        2 => Query::BestGroup { field, category },
        3 => Query::CountBoth { field, bound: bound(rows, field, rng, rows.len()), before: month(rng) },
        4 => Query::ShareAbove { field, bound: bound(rows, field, rng, rows.len()), category, value },
        _ => {
            let b = rows[rng.index(rows.len())].text(category).to_owned();
            Query::Gap { field, category, a: value, b }
        }
    }
}

fn hard(rows: &[Row], rng: &mut Rng, attempt: usize) -> Query {
    let category = *rng.pick(CATEGORIES);
    let (top, bottom) = *rng.pick(QUOTIENTS);
    match attempt % 7 {
        0 => Query::BestRatio { top, bottom },
        1 => {
            let weight = *rng.pick(&[&Field::Places, &Field::People]);
            Query::WeightedMean { rate: *rng.pick(RATES), weight }
        }
        2 => {
            let quotient = |row: &Row| row.number(top) * 100 / row.number(bottom).max(1);
            let mut quotients: Vec<u64> = rows.iter().map(quotient).collect();
            quotients.sort_unstable_by(|a, b| b.cmp(a));
            let hundredths = quotients[rng.index(rows.len().min(LONG_RANK))];
            Query::RatioList { top, bottom, hundredths: roundest(hundredths * 9 / 10, hundredths), before: month(rng) }
        }
        3 => Query::AboveOwnGroup { field: figure(rng), category },
        4 => Query::LowestInBest { total: *rng.pick(AMOUNTS), category, field: figure(rng) },
        5 => {
            let n = rng.between(2, 5) as usize;
            let first = rng.index(AMOUNTS.len());
            let second = (first + 1 + rng.index(AMOUNTS.len() - 1)) % AMOUNTS.len();
            Query::LargeAgainstRest { size: *AMOUNTS[first], n, field: *AMOUNTS[second] }
        }
        _ => Query::LatestAboveOverall { top, bottom },
    }
}

fn figure(rng: &mut Rng) -> Field {
    Field::FIGURES[rng.index(Field::FIGURES.len())]
}

fn category(rows: &[Row], rng: &mut Rng) -> (Field, String) {
    let category = *rng.pick(CATEGORIES);
    (category, rows[rng.index(rows.len())].text(category).to_owned())
}

fn month(rng: &mut Rng) -> u64 {
    let month = Month::draw(rng, Month::new(2022, 6), Month::new(2025, 9));
    super::table::Value::Month(month).number()
}

/// A round bound that at most about `most` rows lie above.
fn bound(rows: &[Row], field: Field, rng: &mut Rng, most: usize) -> u64 {
    let mut numbers: Vec<u64> = rows.iter().map(|row| row.number(field)).collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    let rank = rng.between(1, most.clamp(1, numbers.len() - 1) as u64) as usize;
    roundest(numbers[rank], numbers[rank - 1].saturating_sub(1))
}

/// The number with the most zeros from `low` to `high`; `low` if that range is empty.
fn roundest(low: u64, high: u64) -> u64 {
    let powers = (0..18).rev().map(|exponent| 10u64.pow(exponent));
    powers.map(|power| high / power * power).find(|number| *number >= low.max(1)).unwrap_or(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_round_and_within() {
        assert_eq!(roundest(4_318, 5_207), 5_000);
        assert_eq!(roundest(4_318, 4_377), 4_370);
        assert_eq!(roundest(731, 731), 731);
        assert_eq!(roundest(9, 8), 9);
    }
}
