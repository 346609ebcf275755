//! Questions over the table, in the manner of CorpusQA: what is asked, its gold answer, the same as SQL.
//!
//! Difficulty follows CorpusQA's appendix B: easy is one aggregation, filter or ranking; medium a ratio, several
//! conditions or a comparison of groups; hard several steps or a metric of its own. All arithmetic is in integers;
//! decimals are rounded half up. A question whose answer is tied, empty or longer than [`LONGEST_LIST`] is not asked.

use super::table::{Field, Row};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

/// Most names in the answer to a question for a list.
pub(super) const LONGEST_LIST: usize = 12;

/// How hard a question is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Difficulty {
    Easy,
    Medium,
    Hard,
}

impl Difficulty {
    /// The label of the item.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Hard => "hard",
        }
    }
}

/// One question. Bounds are in the units of `Value::number`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Query {
    /// Who has the highest (or lowest) value?
    Extreme { field: Field, highest: bool },
    /// What is the sum?
    Total { field: Field },
    /// What is the mean?
    Mean { field: Field },
    /// How many are of this category?
    CountIn { category: Field, value: String },
    /// Who has more than this?
    Above { field: Field, bound: u64 },
    /// Who are the first `n`, highest first?
    Top { field: Field, n: usize },
    /// Which month is the earliest (or latest)?
    Month { field: Field, earliest: bool },
    /// Which share of the sum belongs to this category?
    ShareOfTotal { field: Field, category: Field, value: String },
    /// Which share of this category's institutions has more than this?
    ShareAbove { field: Field, bound: u64, category: Field, value: String },
    /// Who is of this category and has more than this?
    Filter { category: Field, value: String, field: Field, bound: u64 },
    /// How many have more than this and were inspected before this month?
    CountBoth { field: Field, bound: u64, before: u64 },
    /// Which category has the highest mean?
    BestGroup { field: Field, category: Field },
    /// By how much is the mean of category `a` above that of `b`?
    Gap { field: Field, category: Field, a: String, b: String },
    /// Who has the highest quotient?
    BestRatio { top: Field, bottom: Field },
    /// What is the mean of a rate, weighted by a count?
    WeightedMean { rate: Field, weight: Field },
    /// Whose quotient is at least `hundredths / 100`, inspected before this month, highest first?
    RatioList { top: Field, bottom: Field, hundredths: u64, before: u64 },
    /// How many lie above the mean of their own category?
    AboveOwnGroup { field: Field, category: Field },
    /// In the category with the highest total of one field, who has the lowest of another?
    LowestInBest { total: Field, category: Field, field: Field },
    /// How much higher is the mean of `field` among the `n` largest by `size` than among the others?
    LargeAgainstRest { size: Field, n: usize, field: Field },
    /// Of those whose quotient lies above that of all together, when was the last inspection?
    LatestAboveOverall { top: Field, bottom: Field },
}

/// A gold answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    List(Vec<String>),
    Text(String),
    /// A whole number.
    Integer(u64),
    /// A number in hundredths.
    Decimal(u64),
    /// A percentage in hundredths of a per cent.
    Percentage(u64),
    /// A month as in the table.
    Date(String),
}

impl Answer {
    /// The label of the item: CorpusQA's five kinds.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::List(_) => "list",
            Self::Text(_) => "string",
            Self::Integer(_) | Self::Decimal(_) => "number",
            Self::Percentage(_) => "percentage",
            Self::Date(_) => "date",
        }
    }

    /// As CorpusQA's prompt asks for it (appendix C): `["A", "B"]`, no unit, two decimals.
    pub(super) fn gold(&self) -> String {
        let decimal = |hundredths: &u64| format!("{}.{:02}", hundredths / 100, hundredths % 100);
        match self {
            Self::List(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                format!("[{}]", names.join(", "))
            }
            Self::Text(text) | Self::Date(text) => text.clone(),
            Self::Integer(number) => number.to_string(),
            Self::Decimal(hundredths) => decimal(hundredths),
            Self::Percentage(hundredths) => format!("{}%", decimal(hundredths)),
        }
    }
}

impl Query {
    /// How hard it is.
    pub(super) fn difficulty(&self) -> Difficulty {
        match self {
            Self::Extreme { .. }
            | Self::Total { .. }
            | Self::Mean { .. }
            | Self::CountIn { .. }
            | Self::Above { .. }
            | Self::Top { .. }
            | Self::Month { .. } => Difficulty::Easy,
            Self::ShareOfTotal { .. }
            | Self::ShareAbove { .. }
            | Self::Filter { .. }
            | Self::CountBoth { .. }
            | Self::BestGroup { .. }
            | Self::Gap { .. } => Difficulty::Medium,
            Self::BestRatio { .. }
            | Self::WeightedMean { .. }
            | Self::RatioList { .. }
            | Self::AboveOwnGroup { .. }
            | Self::LowestInBest { .. }
            | Self::LargeAgainstRest { .. }
            | Self::LatestAboveOverall { .. } => Difficulty::Hard,
        }
    }

    /// The gold answer; `None` if it is tied, empty or too long to be asked for.
    pub(super) fn answer(&self, rows: &[Row]) -> Option<Answer> {
        match self {
            Self::Extreme { field, highest } => {
                let sign = if *highest { 1 } else { -1 };
                best(rows.iter(), |row| Fraction::whole(sign * i128::from(row.number(*field)))).map(name)
            }
            Self::Total { field } => Some(Answer::Integer(sum(rows.iter(), *field))),
            Self::Mean { field } => Some(decimal(*field, mean(rows.iter(), *field)?)),
            Self::CountIn { category, value } => count(of(rows, *category, value).count()),
            Self::Above { field, bound } => list(rows.iter().filter(|row| row.number(*field) > *bound)),
            Self::Top { field, n } => {
                let sorted = ranked(rows, |row| Fraction::whole(row.number(*field).into()));
                let clear = sorted.windows(2).take(*n).all(|pair| pair[0].number(*field) > pair[1].number(*field));
                if clear && *n < rows.len() { list(sorted.into_iter().take(*n)) } else { None }
            }
            Self::Month { field, earliest } => {
                let by = |row: &&Row| row.number(*field);
                let row = if *earliest { rows.iter().min_by_key(by) } else { rows.iter().max_by_key(by) };
                row.map(|row| Answer::Date(row.get(*field).to_string()))
            }
            Self::ShareOfTotal { field, category, value } => {
                let part = sum(of(rows, *category, value), *field);
                share(part, sum(rows.iter(), *field))
            }
            Self::ShareAbove { field, bound, category, value } => {
                let above = of(rows, *category, value).filter(|row| row.number(*field) > *bound).count();
                share(above as u64, of(rows, *category, value).count() as u64)
            }
            Self::Filter { category, value, field, bound } => {
                list(of(rows, *category, value).filter(|row| row.number(*field) > *bound))
            }
            Self::CountBoth { field, bound, before } => {
                let early = rows.iter().filter(|row| row.number(Field::Inspected) < *before);
                count(early.filter(|row| row.number(*field) > *bound).count())
            }
            Self::BestGroup { field, category } => {
                let groups = groups(rows, *category);
                let means: Vec<_> = groups.iter().map(|(value, rows)| (value, mean_of(rows, *field))).collect();
                best(means.iter(), |(_, mean)| *mean).map(|(value, _)| Answer::Text((**value).to_owned()))
            }
            Self::Gap { field, category, a, b } => {
                let (a, b) = (mean(of(rows, *category, a), *field)?, mean(of(rows, *category, b), *field)?);
                (a > b).then(|| decimal(*field, a.minus(b)))
            }
            Self::BestRatio { top, bottom } => best(rows.iter(), |row| ratio(row, *top, *bottom)).map(name),
            Self::WeightedMean { rate, weight } => {
                let weighted = rows.iter().map(|row| i128::from(row.number(*rate)) * i128::from(row.number(*weight)));
                let mean = Fraction { top: weighted.sum(), bottom: sum(rows.iter(), *weight).into() };
                Some(Answer::Percentage(mean.rounded()))
            }
            Self::RatioList { top, bottom, hundredths, before } => {
                let least = Fraction { top: i128::from(*hundredths), bottom: 100 };
                let sorted = ranked(rows, |row| ratio(row, *top, *bottom));
                let early = sorted.into_iter().filter(|row| row.number(Field::Inspected) < *before);
                list(early.filter(|row| ratio(row, *top, *bottom) >= least))
            }
            Self::AboveOwnGroup { field, category } => {
                let groups = groups(rows, *category);
                let above = |rows: &&Vec<&Row>| {
                    let mean = mean_of(rows, *field);
                    rows.iter().filter(|row| Fraction::whole(row.number(*field).into()) > mean).count()
                };
                count(groups.values().map(|rows| above(&rows)).sum())
            }
            Self::LowestInBest { total, category, field } => {
                let groups = groups(rows, *category);
                let total = |rows: &Vec<&Row>| Fraction::whole(sum(rows.iter().copied(), *total).into());
                let (_, members) = best(groups.iter(), |(_, rows)| total(rows))?;
                let lowest = best(members.iter(), |row| Fraction::whole(-i128::from(row.number(*field))))?;
                (members.len() > 1).then(|| name(lowest))
            }
            Self::LargeAgainstRest { size, n, field } => {
                let sorted = ranked(rows, |row| Fraction::whole(row.number(*size).into()));
                let clear = *n < sorted.len() && sorted[*n - 1].number(*size) > sorted[*n].number(*size);
                let (large, rest) = clear.then(|| sorted.split_at(*n))?;
                let (large, rest) = (mean_of(large, *field), mean_of(rest, *field));
                (large > rest).then(|| decimal(*field, large.minus(rest)))
            }
            Self::LatestAboveOverall { top, bottom } => {
                let overall = Fraction { top: sum(rows.iter(), *top).into(), bottom: sum(rows.iter(), *bottom).into() };
                let above = rows.iter().filter(|row| ratio(row, *top, *bottom) > overall);
                let latest = above.max_by_key(|row| row.number(Field::Inspected))?;
                Some(Answer::Date(latest.get(Field::Inspected).to_string()))
            }
        }
    }
}

/// An exact quotient; `bottom` is positive.
#[derive(Debug, Clone, Copy)]
struct Fraction {
    top: i128,
    bottom: i128,
}

impl Fraction {
    fn whole(top: i128) -> Self {
        Self { top, bottom: 1 }
    }

    fn minus(self, other: Self) -> Self {
        Self { top: self.top * other.bottom - other.top * self.bottom, bottom: self.bottom * other.bottom }
    }

    /// The nearest whole number, half up; the fraction is not negative.
    fn rounded(self) -> u64 {
        ((2 * self.top + self.bottom) / (2 * self.bottom)) as u64
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.top * other.bottom).cmp(&(other.top * self.bottom))
    }
}

fn of<'a>(rows: &'a [Row], category: Field, value: &'a str) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(move |row| row.text(category) == value)
}

fn sum<'a>(rows: impl Iterator<Item = &'a Row>, field: Field) -> u64 {
    rows.map(|row| row.number(field)).sum()
}

fn mean<'a>(rows: impl Iterator<Item = &'a Row>, field: Field) -> Option<Fraction> {
    let rows: Vec<&Row> = rows.collect();
    (!rows.is_empty()).then(|| mean_of(&rows, field))
}

/// The mean over rows, of which there is at least one.
fn mean_of(rows: &[&Row], field: Field) -> Fraction {
    Fraction { top: sum(rows.iter().copied(), field).into(), bottom: rows.len() as i128 }
}

fn ratio(row: &Row, top: Field, bottom: Field) -> Fraction {
    Fraction { top: row.number(top).into(), bottom: row.number(bottom).max(1).into() }
}

fn groups(rows: &[Row], category: Field) -> BTreeMap<&str, Vec<&Row>> {
    let mut groups: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.text(category)).or_default().push(row);
    }
    groups
}

/// The one with the highest key, if there are two and no tie.
fn best<T: Copy>(options: impl Iterator<Item = T>, key: impl Fn(T) -> Fraction) -> Option<T> {
    let mut options: Vec<T> = options.collect();
    options.sort_by_key(|option| Reverse(key(*option)));
    match options[..] {
        [first, second, ..] if key(first) > key(second) => Some(first),
        _ => None,
    }
}

fn ranked(rows: &[Row], key: impl Fn(&Row) -> Fraction) -> Vec<&Row> {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by_key(|row| Reverse(key(row)));
    rows
}

fn name(row: &Row) -> Answer {
    Answer::Text(row.text(Field::Name).to_owned())
}

fn list<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<Answer> {
    let names: Vec<String> = rows.map(|row| row.text(Field::Name).to_owned()).take(LONGEST_LIST + 1).collect();
    (!names.is_empty() && names.len() <= LONGEST_LIST).then_some(Answer::List(names))
}

fn count(n: usize) -> Option<Answer> {
    (n > 0).then_some(Answer::Integer(n as u64))
}

fn share(part: u64, whole: u64) -> Option<Answer> {
    let share = Fraction { top: i128::from(part) * 10_000, bottom: whole.into() };
    (0 < part && part < whole).then(|| Answer::Percentage(share.rounded()))
}

/// A mean (or a difference of means) of a field as an answer: rates are in hundredths already.
fn decimal(field: Field, mean: Fraction) -> Answer {
    match field {
        Field::FirstRate | Field::SecondRate => Answer::Percentage(mean.rounded()),
        _ => Answer::Decimal(Fraction { top: mean.top * 100, bottom: mean.bottom }.rounded()),
    }
}
