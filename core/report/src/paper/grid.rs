//! A table as papers print it: names at the left, numbers in the paper's unit, the best marked, an average below.

use closeread_table::{Group, Mark, Table, Value};

/// Numbers closer than this are equal when the best are marked.
const EQUAL: f64 = 1e-9;

/// Reason of a place that has no number because another number reaches over it.
const SPANNED: &str = "the number at its left reaches over it";

/// A number of a paper's table, in the unit of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    /// The number of the place, unrounded.
    pub(super) value: f64,
    /// Standard deviation over repeats.
    pub(super) sd: Option<f64>,
    /// Number of things that the number is taken over.
    pub(super) n: usize,
}

impl Number {
    /// A number without a deviation.
    pub(super) fn new(value: f64, n: usize) -> Self {
        Self { value, sd: None, n }
    }
}

/// A number, or why there is none.
pub(super) type Place = Result<Number, &'static str>;

/// The better end of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
}

/// A table under construction.
pub(super) struct Grid {
    table: Table,
    n_heads: usize,
    decimals: u8,
    places: Vec<Vec<Place>>,
}

/// Returns the mean of the numbers that are there, with the number of things that it is taken over.
pub(super) fn average(places: impl Iterator<Item = Place>) -> Place {
    let values: Vec<f64> = places.filter_map(|place| Some(place.ok()?.value)).collect();
    match values.len() {
        0 => Err("no row has a value"),
        n => Ok(Number::new(values.iter().sum::<f64>() / n as f64, n)),
    }
}

/// The best of some places and the second best, all equal ones alike; there is no second if all are equal.
fn marks(places: &[Place], better: Better) -> Vec<Option<Mark>> {
    let rank = |place: &Place| match better {
        Better::Higher => place.ok().map(|number| number.value),
        Better::Lower => place.ok().map(|number| -number.value),
    };
    let highest = |below: f64| {
        let ranks = places.iter().filter_map(rank).filter(|rank| *rank < below - EQUAL);
        ranks.fold(f64::NEG_INFINITY, f64::max)
    };
    let best = highest(f64::INFINITY);
    let second = highest(best);
    let mark = |place: &Place| {
        let rank = rank(place)?;
        let is = |other: f64| (rank - other).abs() <= EQUAL;
        if is(best) { Some(Mark::Best) } else { is(second).then_some(Mark::Second) }
    };
    places.iter().map(mark).collect()
}

impl Grid {
    /// A table with these heads: first those of the names, then those of the numbers.
    pub(super) fn new(
        id: &str,
        title: &str,
        source: &str,
        heads: &[&str],
        columns: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let names = heads.iter().map(|head| (*head).to_owned());
        let columns = names.chain(columns.into_iter().map(Into::into)).collect();
        let table = Table { source: source.to_owned(), ..Table::new(id, title, columns) };
        Self { table, n_heads: heads.len(), decimals: 1, places: Vec::new() }
    }

    /// Digits behind the point; one where nothing is said.
    pub(super) fn decimals(self, decimals: u8) -> Self {
        Self { decimals, ..self }
    }

    /// Adds a row of names and numbers.
    pub(super) fn row(&mut self, heads: impl IntoIterator<Item = Value>, places: impl IntoIterator<Item = Place>) {
        self.places.push(places.into_iter().collect());
        let places = self.places.last().into_iter().flatten();
        let values = places.map(|place| match place {
            Ok(Number { value, sd, n }) => {
                let (decimals, mark, sign) = (self.decimals, None, String::new());
                Value::Printed { value: *value, decimals, sd: *sd, n: *n, mark, sign, aside: String::new() }
            }
            Err(reason) => Value::missing(*reason),
        });
        self.table.rows.push(heads.into_iter().chain(values).collect());
    }

    /// Adds a row of whole numbers, which take no part in marks and averages.
    pub(super) fn counts(&mut self, heads: impl IntoIterator<Item = Value>, counts: impl IntoIterator<Item = usize>) {
        let counts: Vec<Value> = counts.into_iter().map(Value::count).collect();
        self.places.push(vec![Err("a count"); counts.len()]);
        self.table.rows.push(heads.into_iter().chain(counts).collect());
    }

    /// Adds a row whose one number reaches over all columns, with what stands in brackets behind it.
    pub(super) fn spanning_row(&mut self, heads: impl IntoIterator<Item = Value>, place: Place, behind: String) {
        let width = self.table.columns.len() - self.n_heads;
        self.row(heads, [place].into_iter().chain((1..width).map(|_| Err(SPANNED))));
        let Some(row) = self.table.rows.last_mut() else { return };
        row[self.n_heads + 1..].fill(Value::Spanned);
        if let Value::Printed { aside, .. } = &mut row[self.n_heads] {
            *aside = behind;
        }
    }

    /// Puts heads over the columns of numbers, each over `n` of them.
    pub(super) fn grouped<S: Into<String>>(mut self, heads: impl IntoIterator<Item = S>, n: usize) -> Self {
        let n_heads = self.n_heads;
        let group = |(at, head): (usize, S)| Group { head: head.into(), first: n_heads + at * n, n };
        self.table.groups = heads.into_iter().enumerate().map(group).collect();
        self
    }

    /// Puts a footnote's sign behind a number of the last row.
    pub(super) fn sign_last(&mut self, column: usize, footnote: &str) {
        let last = self.table.rows.last_mut().and_then(|row| row.get_mut(self.n_heads + column));
        if let Some(Value::Printed { sign, .. }) = last {
            footnote.clone_into(sign);
        }
    }

    /// Marks the best of each column, and the second best if `second`.
    pub(super) fn mark_columns(self, better: Better, second: bool) -> Self {
        self.mark_columns_from(0, better, second)
    }

    /// Marks the best of each column from number `first` on, and the second best if `second`.
    pub(super) fn mark_columns_from(mut self, first: usize, better: Better, second: bool) -> Self {
        for column in first..self.places.first().map_or(0, Vec::len) {
            let places: Vec<Place> = self.places.iter().map(|row| row[column]).collect();
            for (row, mark) in marks(&places, better).into_iter().enumerate() {
                self.mark(row, column, mark.filter(|mark| second || *mark == Mark::Best));
            }
        }
        self
    }

    /// Marks the best of each row.
    pub(super) fn mark_rows(mut self, better: Better) -> Self {
        for row in 0..self.places.len() {
            for (column, mark) in marks(&self.places[row], better).into_iter().enumerate() {
                self.mark(row, column, mark.filter(|mark| *mark == Mark::Best));
            }
        }
        self
    }

    /// Marks the highest of the whole table.
    pub(super) fn mark_best(mut self) -> Self {
        let all: Vec<Place> = self.places.iter().flatten().copied().collect();
        let width = self.places.first().map_or(1, Vec::len);
        for (place, mark) in marks(&all, Better::Higher).into_iter().enumerate() {
            self.mark(place / width, place % width, mark.filter(|mark| *mark == Mark::Best));
        }
        self
    }

    fn mark(&mut self, row: usize, column: usize, is: Option<Mark>) {
        if let Value::Printed { mark, .. } = &mut self.table.rows[row][self.n_heads + column] {
            *mark = is;
        }
    }

    /// Adds a row with the unweighted mean of each column over the rows that have a value.
    pub(super) fn averaged(self, name: &str) -> Self {
        if self.places.is_empty() {
            return self;
        }
        let columns = self.places[0].len();
        let means = (0..columns).map(|column| average(self.places.iter().map(|row| row[column]))).collect();
        let names = std::iter::once(Value::text(name)).chain((1..self.n_heads).map(|_| Value::text("")));
        self.with_summary(names.collect::<Vec<_>>(), means)
    }

    /// Adds a row that sums up those above it; there is none without them.
    pub(super) fn with_summary(mut self, heads: impl IntoIterator<Item = Value>, places: Vec<Place>) -> Self {
        if !self.places.is_empty() {
            self.row(heads, places);
            self.places.pop();
            self.table.summary_rows = 1;
        }
        self
    }

    /// Adds a column with the number of things that each row's numbers are taken over, where that is the same for all
    /// of a row.
    pub(super) fn with_n(mut self) -> Self {
        self.table.columns.push("n".to_owned());
        for (row, places) in self.table.rows.iter_mut().zip(&self.places) {
            let n = places.iter().find_map(|place| place.ok().map(|number| number.n));
            row.push(n.map_or_else(|| Value::missing("no number in this row"), Value::count));
        }
        self
    }

    /// The table, and behind it one of the same form with what each number is taken over.
    pub(super) fn finished_with_ns(self, title: &str) -> Vec<Table> {
        let mut ns = Table { id: format!("{}-n", self.table.id), title: title.to_owned(), ..self.table.clone() };
        ns.notes.clear();
        for value in ns.rows.iter_mut().flatten() {
            if let Value::Printed { n, .. } = value {
                *value = Value::count(*n);
            }
        }
        self.finished().into_iter().flat_map(|table| [table, ns.clone()]).collect()
    }

    /// Says below the table what must be known to read it.
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.table.notes.push(note.into());
        self
    }

    /// The table; `None` if no place has a number.
    pub(super) fn finished(self) -> Option<Table> {
        let is_number = |value: &Value| matches!(value, Value::Printed { .. });
        self.table.rows.iter().flatten().any(is_number).then_some(self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(values: &[Option<f64>]) -> Vec<Place> {
        values.iter().map(|value| value.map(|value| Number::new(value, 1)).ok_or("nothing")).collect()
    }

    #[test]
    fn equal_numbers_share_a_mark_and_without_two_values_there_is_no_second() {
        let (best, second) = (Some(Mark::Best), Some(Mark::Second));
        assert_eq!(
            marks(&places(&[Some(2.0), Some(1.0), None, Some(2.0)]), Better::Higher),
            [best, second, None, best]
        );
        assert_eq!(marks(&places(&[Some(2.0), Some(1.0), Some(3.0)]), Better::Lower), [second, best, None]);
        assert_eq!(marks(&places(&[Some(1.0), Some(1.0)]), Better::Higher), [best, best]);
        assert_eq!(marks(&places(&[None, None]), Better::Higher), [None, None]);
    }

    #[test]
    fn an_average_is_over_the_rows_that_have_a_value() {
        let mut grid = Grid::new("t", "T", "", &["Model"], ["A", "B"]);
        grid.row([Value::text("x")], places(&[Some(1.0), None]));
        grid.row([Value::text("y")], places(&[Some(2.0), None]));
        let table = grid.averaged("Average").finished().unwrap();
        assert_eq!(table.rows[2][1], Value::printed(1.5, 1, 2));
        assert_eq!(table.rows[2][2], Value::missing("no row has a value"));
        assert_eq!(table.summary_rows, 1);
    }
}
