//! The questions as SQL, for those who keep the table in a database.

use super::question::Query;
use super::table::{Column, Field};

impl Query {
    /// The same question as SQL over the table `corpus`.
    pub(super) fn sql(&self, columns: &[Column]) -> String {
        let key = |field: &Field| columns[*field as usize].key;
        let bound = |field: &Field, bound: u64| match field {
            Field::FirstRate | Field::SecondRate => format!("{}.{:02}", bound / 100, bound % 100),
            _ => bound.to_string(),
        };
        let month = |before: &u64| format!("'{:04}-{:02}'", before / 12, before % 12 + 1);
        let order = |highest: &bool| if *highest { "DESC" } else { "ASC" };
        let inspected = key(&Field::Inspected);
        match self {
            Self::Extreme { field, highest } => {
                format!("SELECT name FROM corpus ORDER BY {} {} LIMIT 1", key(field), order(highest))
            }
            Self::Total { field } => format!("SELECT SUM({}) FROM corpus", key(field)),
            Self::Mean { field } => format!("SELECT AVG({}) FROM corpus", key(field)),
            Self::CountIn { category, value } => {
                format!("SELECT COUNT(*) FROM corpus WHERE {} = '{value}'", key(category))
            }
            Self::Above { field, bound: b } => {
                format!("SELECT name FROM corpus WHERE {} > {}", key(field), bound(field, *b))
            }
            Self::Top { field, n } => format!("SELECT name FROM corpus ORDER BY {} DESC LIMIT {n}", key(field)),
            Self::Month { field, earliest } => {
                let function = if *earliest { "MIN" } else { "MAX" };
                format!("SELECT {function}({}) FROM corpus", key(field))
            }
            Self::ShareOfTotal { field, category, value } => format!(
                "SELECT 100.0 * SUM(CASE WHEN {} = '{value}' THEN {f} END) / SUM({f}) FROM corpus",
                key(category),
                f = key(field)
            ),
            Self::ShareAbove { field, bound: b, category, value } => format!(
                "SELECT 100.0 * SUM({} > {}) / COUNT(*) FROM corpus WHERE {} = '{value}'",
                key(field),
                bound(field, *b),
                key(category)
            ),
            Self::Filter { category, value, field, bound: b } => format!(
                "SELECT name FROM corpus WHERE {} = '{value}' AND {} > {}",
                key(category),
                key(field),
                bound(field, *b)
            ),
            Self::CountBoth { field, bound: b, before } => format!(
                "SELECT COUNT(*) FROM corpus WHERE {} > {} AND {inspected} < {}",
                key(field),
                bound(field, *b),
                month(before)
            ),
            Self::BestGroup { field, category } => format!(
                "SELECT {c} FROM corpus GROUP BY {c} ORDER BY AVG({}) DESC LIMIT 1",
                key(field),
                c = key(category)
            ),
            Self::Gap { field, category, a, b } => format!(
                "SELECT (SELECT AVG({f}) FROM corpus WHERE {c} = '{a}') - (SELECT AVG({f}) FROM corpus WHERE {c} = '{b}')",
                f = key(field),
                c = key(category)
            ),
            Self::BestRatio { top, bottom } => {
                format!("SELECT name FROM corpus ORDER BY 1.0 * {} / {} DESC LIMIT 1", key(top), key(bottom))
            }
            Self::WeightedMean { rate, weight } => {
                format!("SELECT SUM({} * {w}) / SUM({w}) FROM corpus", key(rate), w = key(weight))
            }
            Self::RatioList { top, bottom, hundredths, before } => format!(
                "SELECT name FROM corpus WHERE 100.0 * {t} / {b} >= {hundredths} AND {inspected} < {} ORDER BY 1.0 * {t} / {b} DESC",
                month(before),
                t = key(top),
                b = key(bottom)
            ),
            Self::AboveOwnGroup { field, category } => format!(
                "SELECT COUNT(*) FROM corpus AS c WHERE {f} > (SELECT AVG({f}) FROM corpus WHERE {g} = c.{g})",
                f = key(field),
                g = key(category)
            ),
            Self::LowestInBest { total, category, field } => format!(
                "SELECT name FROM corpus WHERE {c} = (SELECT {c} FROM corpus GROUP BY {c} ORDER BY SUM({}) DESC LIMIT 1) ORDER BY {} LIMIT 1",
                key(total),
                key(field),
                c = key(category)
            ),
            Self::LargeAgainstRest { size, n, field } => format!(
                "WITH large AS (SELECT name FROM corpus ORDER BY {} DESC LIMIT {n}) SELECT AVG(CASE WHEN name IN large THEN {f} END) - AVG(CASE WHEN name NOT IN large THEN {f} END) FROM corpus",
                key(size),
                f = key(field)
            ),
            Self::LatestAboveOverall { top, bottom } => format!(
                "SELECT MAX({inspected}) FROM corpus WHERE 1.0 * {t} / {b} > (SELECT 1.0 * SUM({t}) / SUM({b}) FROM corpus)",
                t = key(top),
                b = key(bottom)
            ),
        }
    }
}
