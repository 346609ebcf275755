//! The table that is the truth of a corpus: one row an institution, one column a fact.

use super::domain::Domain;
use super::rng::Rng;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::fmt;

/// The columns in the order of the table, by the part they play; a [`Domain`] says what each means (dwellings or beds).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Field {
    /// What the institution is called; unique.
    Name,
    /// Where it is, one of a few regions.
    Region,
    /// Which sort it is, one of a few.
    Sort,
    /// When it was founded.
    Founded,
    /// How large it is: dwellings, beds.
    Places,
    /// Whom it serves: members, patients.
    People,
    /// Who works there.
    Staff,
    /// Money taken in over the year.
    Income,
    /// Money spent on one purpose over the year.
    Spending,
    /// Money put by at the end of the year.
    Reserve,
    /// A first rate: arrears, occupancy.
    FirstRate,
    /// A second rate: turnover, satisfaction.
    SecondRate,
    /// When it was last inspected.
    Inspected,
}

impl Field {
    /// The columns that hold a number of the reporting year.
    pub(super) const FIGURES: [Self; 8] = [
        Self::Places,
        Self::People,
        Self::Staff,
        Self::Income,
        Self::Spending,
        Self::Reserve,
        Self::FirstRate,
        Self::SecondRate,
    ];
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueType {
    /// A name; unique in the table.
    Name,
    /// One of a few words.
    Category,
    /// A whole number of things.
    Count,
    /// A whole amount of the unit's currency.
    Money,
    /// Any other number, in the column's unit.
    Number,
    /// A share in percent.
    Percentage,
    /// A month, `YYYY-MM`.
    YearMonth,
}

/// One column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Column {
    /// Name in `table.csv` and `table.jsonl`.
    pub key: &'static str,
    /// Name in the reports and the questions.
    pub title: &'static str,
    /// What the cells are.
    #[serde(rename = "type")]
    pub value_type: ValueType,
    /// Unit of a cell; empty where there is none.
    pub unit: &'static str,
}

/// A month of a year, counted from January of the year 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Month(u32);

impl Month {
    /// `month` from 1 to 12.
    pub(super) const fn new(year: u32, month: u32) -> Self {
        Self(year * 12 + month - 1)
    }

    pub(super) fn year(self) -> u32 {
        self.0 / 12
    }

    /// From 1 to 12.
    pub(super) fn month(self) -> u32 {
        self.0 % 12 + 1
    }

    /// A month from `first` to `last`, both included.
    pub(super) fn draw(rng: &mut Rng, first: Self, last: Self) -> Self {
        Self(rng.between(u64::from(first.0), u64::from(last.0)) as u32)
    }

    /// The month `months` later.
    pub(super) fn plus(self, months: u32) -> Self {
        Self(self.0 + months)
    }

    /// The month `months` earlier.
    pub(super) fn minus(self, months: u32) -> Self {
        Self(self.0 - months)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year(), self.month())
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    Count(u64),
    /// Whole units of the currency.
    Money(u64),
    /// Hundredths of a per cent.
    Percentage(u64),
    Month(Month),
}

impl Value {
    /// The number in its smallest unit (things, currency units, hundredths of a per cent, months); 0 for text.
    pub(super) fn number(&self) -> u64 {
        match self {
            Self::Text(_) => 0,
            Self::Count(n) | Self::Money(n) | Self::Percentage(n) => *n,
            Self::Month(month) => u64::from(month.0),
        }
    }

    /// The same kind of cell with another number; text and months stay as they are.
    pub(super) fn with_number(&self, number: u64) -> Self {
        match self {
            Self::Count(_) => Self::Count(number),
            Self::Money(_) => Self::Money(number),
            Self::Percentage(_) => Self::Percentage(number),
            Self::Text(_) | Self::Month(_) => self.clone(),
        }
    }
}

/// As it stands in `table.csv`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Count(n) | Self::Money(n) => write!(f, "{n}"),
            Self::Percentage(n) => write!(f, "{}.{:02}", n / 100, n % 100),
            Self::Month(month) => month.fmt(f),
        }
    }
}

/// One institution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// Its name without the kind of institution, as prose may shorten it.
    pub(super) short_name: String,
    values: Vec<Value>,
}

impl Row {
    /// The cell of a column.
    pub(super) fn get(&self, field: Field) -> &Value {
        &self.values[field as usize]
    }

    /// The number of a cell, see [`Value::number`].
    pub(super) fn number(&self, field: Field) -> u64 {
        self.get(field).number()
    }

    /// The words of a cell; empty for a number.
    pub(super) fn text(&self, field: Field) -> &str {
        match self.get(field) {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// The line of `table.csv`, without its end. No invented name holds a comma or a quote.
    pub(super) fn csv(&self) -> String {
        self.values.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
    }

    /// The line of `table.jsonl`, numbers as numbers.
    pub(super) fn json(&self, columns: &[Column]) -> Map<String, Json> {
        let cell = |value: &Value| match value {
            Value::Count(n) | Value::Money(n) => Json::from(*n),
            // A hundredth has no exact binary form; the shortest decimal of the nearest one prints as meant.
            Value::Percentage(n) => Json::from(*n as f64 / 100.0),
            Value::Text(_) | Value::Month(_) => Json::from(value.to_string()),
        };
        columns.iter().zip(&self.values).map(|(column, value)| (column.key.to_owned(), cell(value))).collect()
    }
}

/// The figures of one institution, in the units of [`Value::number`].
pub(super) struct Figures {
    pub(super) places: u64,
    pub(super) people: u64,
    pub(super) staff: u64,
    pub(super) income: u64,
    pub(super) spending: u64,
    pub(super) reserve: u64,
    pub(super) first_rate: u64,
    pub(super) second_rate: u64,
}

/// Invents `n` institutions.
pub(super) fn invent(domain: &Domain, rng: &mut Rng, n: usize) -> Vec<Row> {
    let mut taken = BTreeSet::new();
    let mut regions = domain.regions.to_vec();
    rng.shuffle(&mut regions);
    regions.truncate(REGIONS);
    (0..n)
        .map(|_| {
            let short_name = fresh_name(domain, rng, &mut taken);
            let figures = (domain.draw)(rng);
            let inspected = Month::draw(rng, Month::new(2021, 1), Month::new(2025, 12));
            let founded = Month::draw(rng, Month::new(1904, 1), Month::new(2009, 12));
            let name = rng.pick(domain.full_names).replace("{n}", &short_name);
            let values = vec![
                Value::Text(name),
                Value::Text(rng.pick(&regions).to_owned()),
                Value::Text(rng.pick(domain.sorts).to_owned()),
                Value::Month(founded),
                Value::Count(figures.places),
                Value::Count(figures.people),
                Value::Count(figures.staff),
                Value::Money(figures.income),
                Value::Money(figures.spending),
                Value::Money(figures.reserve),
                Value::Percentage(figures.first_rate),
                Value::Percentage(figures.second_rate),
                Value::Month(inspected),
            ];
            Row { short_name, values }
        })
        .collect()
}

/// Regions of one corpus: enough to compare, few enough that each has several institutions.
const REGIONS: usize = 5;

/// A name that no earlier row has; longer names once the short ones run out.
fn fresh_name(domain: &Domain, rng: &mut Rng, taken: &mut BTreeSet<String>) -> String {
    for tries in 0u32.. {
        let name = (domain.place_name)(rng, (tries / 8) as usize);
        if taken.insert(name.clone()) {
            return name;
        }
    }
    unreachable!("longer names never run out")
}
