//! Drawing queries: templates filled with columns, words and bounds of a set's rows.

use super::column::ValueType;
use super::global::{DOCUMENT_DATE, Row};
use super::gold::AnswerKind;
use super::infer::categories;
use super::query::{Drawing, Query, Slots};
use super::template::{Difficulty, Template};
use super::value::CellValue;
use closeread_metrics::random::SplitMix64;
use std::collections::{BTreeMap, BTreeSet};

/// Draws for each query that is wanted, before a set goes with fewer.
const TRIES: usize = 12;
/// Most rows that a list of the highest names.
const MOST_RANKS: usize = 10;
/// Margins above a mean, in percent or percentage points.
const MARGINS: [f64; 4] = [5.0, 10.0, 15.0, 25.0];
/// Weights of the two ratios that the slot `o` bounds.
const WEIGHTS: [f64; 2] = [0.6, 0.4];

/// Returns how many of `n` questions are of each difficulty: as in the paper (Table 2), by largest remainder.
pub fn shares(n: usize) -> [(Difficulty, usize); 3] {
    let total: usize = Difficulty::ALL.iter().map(|difficulty| difficulty.in_paper()).sum();
    let mut shares = Difficulty::ALL.map(|difficulty| (difficulty, n * difficulty.in_paper() / total));
    let mut rests: Vec<usize> = (0..shares.len()).collect();
    rests.sort_by_key(|&at| std::cmp::Reverse(n * shares[at].0.in_paper() % total));
    let missing = n - shares.iter().map(|(_, n)| n).sum::<usize>();
    for at in rests.into_iter().take(missing) {
        shares[at].1 += 1;
    }
    shares
}

/// Candidates for `n` questions on a set, of each difficulty several times as many as are wanted, every template in turn, no
/// question twice.
pub(super) fn candidates(drawing: &Drawing<'_>, templates: &[Template], n: usize, seed: u64) -> Vec<Query> {
    let mut random = SplitMix64(seed);
    let known = Known::of(drawing);
    let mut asked = BTreeSet::new();
    let mut found = Vec::new();
    for (difficulty, wanted) in shares(n) {
        let mut of: Vec<&Template> = templates.iter().filter(|template| template.difficulty == difficulty).collect();
        random.shuffle(&mut of);
        for template in of.iter().cycle().take(if of.is_empty() { 0 } else { wanted * TRIES }) {
            let Some(query) = known.fill(drawing, template, &mut random) else { continue };
            if asked.insert(query.question.clone()) {
                found.push(query);
            }
        }
    }
    found
}

/// The columns of a set and what they can be asked about. A column with a missing cell is not asked about.
struct Known<'a> {
    numbers: Vec<usize>,
    amounts: Vec<usize>,
    /// Amounts that are nowhere zero.
    divisors: Vec<usize>,
    /// Numbers of one type and unit, two columns at least.
    alike: Vec<Vec<usize>>,
    shares: Vec<usize>,
    words: Vec<(usize, Vec<&'a str>)>,
    dates: Vec<usize>,
}

impl<'a> Known<'a> {
    fn of(drawing: &Drawing<'a>) -> Self {
        let cells = |at: usize| drawing.rows.iter().map(move |row| &row.cells[at]);
        let whole = |at: &usize| cells(*at).all(|cell| *cell != CellValue::Missing);
        let of = |is: &dyn Fn(ValueType) -> bool| -> Vec<usize> {
            let columns = drawing.schema.columns.iter().enumerate().skip(1);
            let columns = columns.filter(|(_, column)| is(column.value_type) && column.key != DOCUMENT_DATE);
            columns.map(|(at, _)| at).filter(whole).collect()
        };
        use ValueType::{Category, Count, Money, Number, Percentage, YearMonth};
        let varied = |at: &usize| {
            cells(*at).filter_map(CellValue::number).any(|one| cells(*at).any(|c| c.number() != Some(one)))
        };
        let mut amounts = of(&|kind| matches!(kind, Count | Money | Number));
        let mut shares = of(&|kind| kind == Percentage);
        amounts.retain(varied);
        shares.retain(varied);
        let numbers: Vec<usize> = amounts.iter().chain(&shares).copied().collect();
        let is_divisor = |at: &usize| cells(*at).all(|cell| cell.number() != Some(0.0));
        let divisors = amounts.iter().copied().filter(is_divisor).collect();
        let mut by_unit: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for &at in &numbers {
            let column = &drawing.schema.columns[at];
            by_unit.entry(format!("{:?} {}", column.value_type, column.unit)).or_default().push(at);
        }
        let alike = by_unit.into_values().filter(|columns| columns.len() > 1).collect();
        let words = of(&|kind| kind == Category).into_iter().map(|at| (at, categories(cells(at))));
        let exact = |at: &usize| cells(*at).all(|cell| matches!(cell, CellValue::Date { month: Some(_), .. }));
        let dates = of(&|kind| kind == YearMonth).into_iter().filter(exact).collect();
        let words = words.filter(|(_, words)| !words.is_empty()).collect();
        Self { numbers, amounts, divisors, alike, shares, words, dates }
    }

    fn fill(&self, drawing: &Drawing<'_>, template: &Template, random: &mut SplitMix64) -> Option<Query> {
        let wants = template.slots();
        let mut slots = Slots::default();
        self.fill_columns(&wants, &mut slots, random)?;
        let most = if template.answer == AnswerKind::List { drawing.longest_list } else { drawing.rows.len() };
        fill_bounds(drawing, &wants, most, &mut slots, random)?;
        if wants.contains("z") {
            // So many percent above a mean is clear only where that is positive.
            let amounts = slots.columns.get("a").map(|&at| values(drawing, at)).unwrap_or_default();
            if amounts.last().is_some_and(|least| *least <= 0.0) {
                return None;
            }
            slots.numbers.insert("z", *pick(&MARGINS, random)?);
        }
        if wants.contains("k") {
            let ranked = values(drawing, *slots.columns.get("n").or(slots.columns.get("a"))?);
            let most = MOST_RANKS.min(drawing.longest_list).min(ranked.len().checked_sub(1)?);
            slots.count = 2 + random.below(most.checked_sub(1).filter(|n| *n > 0)?);
            let clear = ranked.windows(2).take(slots.count).all(|pair| pair[0] > pair[1]);
            if !clear {
                return None;
            }
        }
        if wants.contains("t") {
            let at = *slots.columns.get("d")?;
            let mut months: Vec<String> = drawing.rows.iter().map(|row| row.cells[at].to_string()).collect();
            months.sort();
            months.dedup();
            slots.words.insert("t", pick(months.get(1..)?, random)?.clone());
        }
        Some(slots.query(drawing, template))
    }

    /// Fills the slots of columns, and of words that stand in them.
    fn fill_columns(&self, wants: &BTreeSet<&str>, slots: &mut Slots, random: &mut SplitMix64) -> Option<()> {
        for (name, from) in [
            ("p", &self.shares),
            ("b", &self.divisors),
            ("a", &self.amounts),
            ("i", &self.amounts),
            ("n", &self.numbers),
            ("m", &self.numbers),
        ] {
            if wants.contains(name) {
                let free: Vec<usize> =
                    from.iter().copied().filter(|at| !slots.columns.values().any(|c| c == at)).collect();
                slots.columns.insert(name, *pick(&free, random)?);
            }
        }
        let compared = ["e", "f", "g", "h"].into_iter().filter(|slot| wants.contains(slot));
        let compared: Vec<&'static str> = compared.collect();
        if !compared.is_empty() {
            let enough: Vec<&Vec<usize>> =
                self.alike.iter().filter(|columns| columns.len() >= compared.len()).collect();
            let mut columns = (*pick(&enough, random)?).clone();
            random.shuffle(&mut columns);
            slots.columns.extend(compared.into_iter().zip(columns));
        }
        if wants.contains("d") {
            slots.columns.insert("d", *pick(&self.dates, random)?);
        }
        if wants.contains("c") {
            let (at, words) = pick(&self.words, random)?;
            slots.columns.insert("c", *at);
            let mut words = words.clone();
            random.shuffle(&mut words);
            slots.words.insert("v", words[0].to_owned());
            slots.words.insert("u", words[1].to_owned());
        }
        Some(())
    }
}

/// The numbers of a column, largest first.
fn values(drawing: &Drawing<'_>, at: usize) -> Vec<f64> {
    let mut values: Vec<f64> = drawing.rows.iter().filter_map(|row| row.cells[at].number()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// Fills the slots of bounds, each of which at most `most` rows exceed: of a column's numbers, or of a score that is a ratio
/// or a sum of weighted ratios.
fn fill_bounds(
    drawing: &Drawing<'_>,
    wants: &BTreeSet<&str>,
    most: usize,
    slots: &mut Slots,
    random: &mut SplitMix64,
) -> Option<()> {
    for (slot, of) in [("x", "n"), ("y", "m")] {
        if let Some(&at) = slots.columns.get(of).filter(|_| wants.contains(slot)) {
            slots.numbers.insert(slot, bound(&values(drawing, at), most, random)?);
        }
    }
    for (slot, parts) in [("q", &["a"][..]), ("o", &["a", "i"])] {
        if !wants.contains(slot) {
            continue;
        }
        let weights = if parts.len() == 1 { &[1.0][..] } else { &WEIGHTS };
        let columns: Option<Vec<usize>> = parts.iter().map(|part| slots.columns.get(part).copied()).collect();
        let (columns, divisor) = (columns?, *slots.columns.get("b")?);
        let score = |row: &&Row| {
            let ratio = |at: usize| Some(row.cells[at].number()? / row.cells[divisor].number()?);
            columns.iter().zip(weights).map(|(&at, weight)| Some(weight * ratio(at)?)).sum::<Option<f64>>()
        };
        let mut scores: Vec<f64> = drawing.rows.iter().filter_map(score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        slots.numbers.insert(slot, bound(&scores, most, random)?);
    }
    Some(())
}

fn pick<'t, T>(options: &'t [T], random: &mut SplitMix64) -> Option<&'t T> {
    if options.is_empty() { None } else { Some(&options[random.below(options.len())]) }
}

/// A round number that from one to `most` of the values, which fall, lie above; never all of them.
fn bound(values: &[f64], most: usize, random: &mut SplitMix64) -> Option<f64> {
    let ranks = values.len().checked_sub(1)?.min(most);
    if ranks == 0 {
        return None;
    }
    let rank = 1 + random.below(ranks);
    let (low, high) = (values[rank], values[rank - 1]);
    (low < high).then(|| roundest(low, high))
}

/// The number with the fewest digits from `low` on, below `high`.
fn roundest(low: f64, high: f64) -> f64 {
    for exponent in (-4..=18).rev() {
        let step: f64 = format!("1e{exponent}").parse().expect("a power of ten");
        let times = libm::ceil(high / step) - 1.0;
        let places = usize::try_from(-exponent).unwrap_or(0);
        let number: f64 = format!("{:.places$}", times * step).parse().unwrap_or(low);
        if (low..high).contains(&number) {
            return number;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::super::column::Schema;
    use super::super::query::grouped;
    use super::*;
    use closeread_text::Language;

    #[test]
    fn difficulties_are_shared_as_in_the_paper() {
        assert_eq!(shares(1_316).map(|(_, n)| n), [296, 648, 372]);
        assert_eq!(shares(24).map(|(_, n)| n), [5, 12, 7]);
        for n in 0..60 {
            assert_eq!(shares(n).iter().map(|(_, n)| n).sum::<usize>(), n);
        }
    }

    #[test]
    fn bounds_are_round_and_within() {
        assert_eq!(roundest(4_318.0, 5_207.0), 5_000.0);
        assert_eq!(roundest(4_318.0, 4_377.5), 4_370.0);
        assert_eq!(roundest(0.312, 0.3127), 0.312);
        assert_eq!(roundest(-12.0, -3.0), -10.0);
        assert_eq!(roundest(5.0, 6.0), 5.0);
        assert_eq!((grouped(1_234_567.5), grouped(-999.0)), ("1,234,567.5".to_owned(), "-999".to_owned()));
    }

    #[test]
    fn questions_name_columns_with_units_and_sql_names_keys() {
        let columns = vec![
            Column::new("name", ValueType::Name, ""),
            Column::new("income", ValueType::Money, "EUR million"),
            Column::new("wages", ValueType::Money, "EUR million"),
            Column::new("repairs", ValueType::Money, "EUR million"),
            Column::new("profit", ValueType::Money, "EUR million"),
            Column::new("beds", ValueType::Count, "beds"),
            Column::new("occupancy", ValueType::Percentage, "%"),
            Column::new("region", ValueType::Category, ""),
            Column::new("opened", ValueType::YearMonth, ""),
        ];
        let schema = Schema { columns, ..Schema::default() };
        let row = |n: u16| {
            let number = |value: f64| CellValue::Number { value };
            let text = |text: &str| CellValue::Text { text: text.to_owned() };
            let cells = vec![
                text(&format!("r{n}")),
                number(f64::from(n) * 1_250.0),
                number(f64::from(n) * 300.0),
                number(f64::from(n % 5) * 40.0),
                number(f64::from(n) * 70.0 + 3.0),
                number(f64::from(n % 4) * 10.0 + f64::from(n)),
                number(f64::from(n) + 0.5),
                text(if n.is_multiple_of(3) { "O'Brien" } else { "west" }),
                CellValue::Date { year: 1990 + n, month: Some(5) },
            ];
            Row { name: format!("r{n}"), cells, documents: vec![format!("d{n}")], conflicts: Vec::new() }
        };
        let rows: Vec<Row> = (1..=9).map(row).collect();
        let rows: Vec<&Row> = rows.iter().collect();
        let drawing =
            Drawing { set: "all", schema: &schema, rows: &rows, language: Language::ENGLISH, longest_list: 4 };
        let templates = Template::built_in();
        let drawn = candidates(&drawing, &templates, 60, 7);
        assert_eq!(drawn, candidates(&drawing, &templates, 60, 7));
        let ids: BTreeSet<&str> = drawn.iter().map(|query| query.template.as_str()).collect();
        assert_eq!(ids.len(), templates.len(), "every template can be asked about these columns");
        for query in &drawn {
            assert!(!query.question.contains('{') && !query.sql.as_ref().unwrap().contains('{'), "{query:?}");
            for literal in &query.literals {
                assert!(query.question.contains(literal), "{query:?}");
            }
        }
        let quoted = drawn.iter().find(|query| query.question.contains("O'Brien")).unwrap();
        assert!(quoted.sql.as_ref().unwrap().contains("'O''Brien'"), "{quoted:?}");
        let income = drawn.iter().find(|query| query.columns == ["income"] && query.template == "total").unwrap();
        assert_eq!(income.question, "What do all entities together reach in income (EUR million)?");
    }
}
