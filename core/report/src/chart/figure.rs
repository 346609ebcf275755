//! The papers' figures, drawn from the tables that hold their numbers: a figure's data are its table, cell by cell.

use super::plot::{Chart, Place, Point, Series, Shape, Unit};
use closeread_table::number::thousands;
use closeread_table::{Table, Value};

/// The way to draw a table.
enum Layout {
    /// Rows as series over the columns behind the first `heads` ones. The first heads, `panels` of them, name the chart
    /// that a row stands in.
    Rows { heads: usize, panels: usize, shape: Shape },
    /// Columns behind the first as series over the rows.
    Columns { shape: Shape },
    /// Rows of each method as a curve of the fourth column over the third: tokens spent.
    Spent,
    /// Rows as medians with their quarters.
    Quarters,
}

/// The charts of the figures whose tables are among these.
pub fn figures(tables: &[Table]) -> Vec<Chart> {
    tables
        .iter()
        .filter_map(|table| Some((table, layout(table)?)))
        .flat_map(|(table, layout)| drawn(table, &layout))
        .collect()
}

/// Returns how to draw a table; `None` of a table that is no figure's, and of one under the other failure policy.
fn layout(table: &Table) -> Option<(Layout, Unit, &'static str)> {
    const OF_BOOK: &str = "percent of the book before the evidence";
    const UP_TO: &str = "tokens of the longest book";
    let id = table.id.as_str();
    let rows = |heads, panels| Layout::Rows { heads, panels, shape: Shape::Lines };
    let bars = Layout::Rows { heads: 1, panels: 0, shape: Shape::Bars };
    let curves = || Layout::Columns { shape: Shape::Curves };
    Some(match id {
        "sagascale-figure-2" => (Layout::Columns { shape: Shape::Bars }, Unit::Percent, "type of question"),
        "sagascale-figure-3a-curve" | "sagascale-figure-3b" => (curves(), Unit::Percent, UP_TO),
        "sagascale-figure-4" => (rows(2, 0), Unit::Percent, "searches"),
        "novelqa-figure-4" | "novelqa-figure-6" => (rows(1, 1), Unit::Percent, "tokens before the evidence"),
        "novelqa-figure-4-relative" | "novelqa-figure-6-relative" => (rows(1, 1), Unit::Percent, OF_BOOK),
        "novelqa-figure-7-65k-100k" | "novelqa-figure-7-above-100k" => (rows(1, 0), Unit::Percent, OF_BOOK),
        "data-with-questions" => (Layout::Quarters, Unit::Tokens, "who may print the novel"),
        "data-languages" => (Layout::Quarters, Unit::Tokens, "language"),
        "corpusqa-figure-3" => (bars, Unit::Percent, "benchmark"),
        "corpusqa-figure-4" => (bars, Unit::Percent, "kind of model"),
        "hamlet-figure-3" => (rows(3, 2), Unit::Share, "percent of the book"),
        id if id.starts_with("stronger-baselines-tokens") && !id.contains("-wrong") => {
            (Layout::Spent, Unit::Percent, "tokens spent on a question")
        }
        _ => return None,
    })
}

fn drawn(table: &Table, (layout, unit, axis): &(Layout, Unit, &'static str)) -> Vec<Chart> {
    let chart = |panel: &[String], shape, places, series: Vec<Series>| {
        let names = |between: &str| panel.join(between);
        let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
        let (id, title) = match panel {
            [] => (table.id.clone(), table.title.clone()),
            _ => (
                format!("{}-{}", table.id, names("-").chars().map(plain).collect::<String>()),
                format!("{}: {}", table.title, names(", ")),
            ),
        };
        let drawn = series.into_iter().filter(|series| series.points.iter().any(Option::is_some));
        Chart {
            id,
            title,
            note: table.source.clone(),
            axis: (*axis).to_owned(),
            unit: *unit,
            numbers: numbers(table, layout, *unit),
            shape,
            places,
            series: drawn.collect(),
        }
    };
    let charts = match layout {
        Layout::Rows { heads, panels, shape } => {
            let places = places(table.columns[*heads..].iter().map(String::as_str));
            let mut made: Vec<(Vec<String>, Vec<Series>)> = Vec::new();
            for row in table.rows.iter().take(table.rows.len() - table.summary_rows) {
                let panel: Vec<String> = row[..*panels].iter().map(Value::shown).collect();
                let name = row[(*panels).min(heads - 1)].shown();
                let series = Series { name, points: row[*heads..].iter().map(point).collect(), level: false };
                match made.iter_mut().find(|(known, _)| *known == panel) {
                    Some((_, all)) => all.push(series),
                    None => made.push((panel, vec![series])),
                }
            }
            made.into_iter().map(|(panel, series)| chart(&panel, *shape, places.clone(), series)).collect()
        }
        Layout::Columns { shape } => {
            let at = |(n, row): (usize, &Vec<Value>)| match &row[0] {
                Value::Count { count } => Place { label: thousands(*count), at: *count as f64 },
                name => Place { label: name.shown(), at: n as f64 },
            };
            let series = table.columns.iter().enumerate().skip(1).map(|(column, name)| Series {
                name: name.clone(),
                points: table.rows.iter().map(|row| point(&row[column])).collect(),
                level: false,
            });
            vec![chart(&[], *shape, table.rows.iter().enumerate().map(at).collect(), series.collect())]
        }
        Layout::Spent => vec![spent(table, |places, series| chart(&[], Shape::Curves, places, series))],
        Layout::Quarters => {
            let number = |value: &Value| if let Value::Number { value, .. } = value { Some(*value) } else { None };
            let point = |row: &Vec<Value>| {
                let n = if let Value::Count { count } = row[1] { count as usize } else { 0 };
                let (low, value, high) = (number(&row[3])?, number(&row[4])?, number(&row[5])?);
                let shown = format!("{} [{}, {}]", row[4].shown(), row[3].shown(), row[5].shown());
                Some(Point { value, low, high, n, shown })
            };
            let name = "median, and where the middle half lies".to_owned();
            let series = Series { name, points: table.rows.iter().map(point).collect(), level: false };
            let names: Vec<String> = table.rows.iter().map(|row| row[0].shown()).collect();
            vec![chart(&[], Shape::Dots, places(names.iter().map(String::as_str)), vec![series])]
        }
    };
    charts.into_iter().filter(|chart: &Chart| !chart.series.is_empty()).collect()
}

fn numbers(table: &Table, layout: &Layout, unit: Unit) -> String {
    let has_sd = table.rows.iter().flatten().any(|value| matches!(value, Value::Printed { sd: Some(_), .. }));
    match (layout, unit) {
        (Layout::Quarters, _) => "Tokens, median and quarters",
        (_, Unit::Share) => "Shares",
        (_, _) if has_sd => "Percent, mean ± deviation over repeats",
        (_, _) => "Percent",
    }
    .to_owned()
}

fn places<'n>(names: impl Iterator<Item = &'n str>) -> Vec<Place> {
    names.enumerate().map(|(at, name)| Place { label: name.to_owned(), at: at as f64 }).collect()
}

/// A cell's number with its deviation; `None` where it has none.
fn point(cell: &Value) -> Option<Point> {
    let Value::Printed { value, decimals, sd, n, .. } = cell else { return None };
    let plain = Value::Printed {
        value: *value,
        decimals: *decimals,
        sd: *sd,
        n: *n,
        mark: None,
        sign: String::new(),
        aside: String::new(),
    };
    let aside = sd.unwrap_or(0.0);
    Some(Point { value: *value, low: value - aside, high: value + aside, n: *n, shown: plain.shown() })
}

/// Scores over the tokens spent: every row has a place of its own along the axis.
fn spent(table: &Table, chart: impl Fn(Vec<Place>, Vec<Series>) -> Chart) -> Chart {
    let mut rows: Vec<(&Vec<Value>, f64)> =
        table.rows.iter().filter_map(|row| Some((row, point(&row[2])?.value))).collect();
    rows.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let place = |(row, at): &(&Vec<Value>, f64)| {
        let budget = if let Value::Count { .. } = row[1] { format!(" of {}", row[1].shown()) } else { String::new() };
        Place { label: format!("{}{budget}", thousands(at.round() as u64)), at: *at }
    };
    let mut methods: Vec<String> = table.rows.iter().map(|row| row[0].shown()).collect();
    methods.dedup();
    let series = methods.into_iter().map(|name| {
        let own = |(row, _): &(&Vec<Value>, f64)| if row[0].shown() == name { point(&row[3]) } else { None };
        let points = rows.iter().map(own).collect();
        Series { points, name, level: false }
    });
    let series = series.collect();
    chart(rows.iter().map(place).collect(), series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_table::Mark;

    fn table(id: &str, columns: &[&str], rows: Vec<Vec<Value>>) -> Table {
        Table { rows, ..Table::new(id, "T", columns.iter().map(|name| (*name).to_owned()).collect()) }
    }

    fn values(series: &Series) -> Vec<Option<f64>> {
        series.points.iter().map(|point| point.as_ref().map(|point| point.value)).collect()
    }

    #[test]
    fn the_numbers_of_a_figure_are_the_cells_of_its_table() {
        let [text, printed] = [|n: f64| Value::text(n.to_string()), |n: f64| Value::printed(n, 1, 7)];
        let best = Value::Printed {
            value: 62.5,
            decimals: 1,
            sd: Some(2.0),
            n: 5,
            mark: Some(Mark::Best),
            sign: "†".into(),
            aside: String::new(),
        };
        let rows = vec![
            vec![Value::text("m"), Value::missing("not known"), best, Value::missing("none")],
            vec![Value::text("k"), Value::count(5), printed(1.0), printed(2.0)],
        ];
        let made = figures(&[table("sagascale-figure-4", &["Model", "Max Len", "1", "2"], rows)]);
        assert_eq!((made.len(), made[0].series[0].name.as_str()), (1, "m"));
        assert_eq!(values(&made[0].series[0]), [Some(62.5), None]);
        assert_eq!(made[0].series[0].points[0].as_ref().unwrap().shown, "62.5 ± 2.0");
        assert_eq!(values(&made[0].series[1]), [Some(1.0), Some(2.0)]);
        let heads = ["Perspective", "Level", "Model", "0-20%"];
        let row =
            |level: &str, model: f64| vec![Value::text("analytical"), Value::text(level), text(model), printed(0.5)];
        let made =
            figures(&[table("hamlet-figure-3", &heads, vec![row("root", 1.0), row("root", 2.0), row("leaf", 1.0)])]);
        let ids: Vec<&str> = made.iter().map(|chart| chart.id.as_str()).collect();
        assert_eq!(ids, ["hamlet-figure-3-analytical-root", "hamlet-figure-3-analytical-leaf"]);
        assert_eq!((made[0].series.len(), made[0].unit), (2, Unit::Share));
        assert!(figures(&[table("sagascale-table-3", &["Model"], vec![])]).is_empty());
    }

    #[test]
    fn a_curve_over_tokens_has_a_place_for_each_row() {
        let row = |method: &str, budget: usize, tokens: f64, score: f64| {
            vec![Value::text(method), Value::count(budget), Value::printed(tokens, 1, 9), Value::printed(score, 1, 5)]
        };
        let rows = vec![row("a", 500, 490.0, 50.0), row("a", 5_000, 4_900.0, 60.0), row("b", 500, 480.0, 40.0)];
        let made =
            figures(&[table("stronger-baselines-tokens", &["Method", "Budget", "mean tokens", "accuracy"], rows)]);
        let places: Vec<f64> = made[0].places.iter().map(|place| place.at).collect();
        assert_eq!(places, [480.0, 490.0, 4_900.0]);
        assert_eq!(values(&made[0].series[0]), [None, Some(50.0), Some(60.0)]);
        assert_eq!(values(&made[0].series[1]), [Some(40.0), None, None]);
    }
}
