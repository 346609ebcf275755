//! Which rule a case of a `paper_tables` file means: its words first, then the shape of its figures.

use super::numbers::{Numbers, brief, leaves, named_rows};
use super::rule::{Layout, Rule};
use super::{By, Figure};
use serde_json::Value;

/// Nothing here says how the figure follows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no rule is known for `{rule}` ({quantity}) over {inputs}")]
pub struct UnknownRule {
    /// The rule in the file's words.
    pub rule: String,
    /// What is recomputed.
    pub quantity: String,
    /// The beginning of the inputs.
    pub inputs: String,
}

/// The rule of a case.
///
/// # Errors
/// [`UnknownRule`] if its words name none, or the figures have a shape that the rule does not give.
pub(super) fn rule(case: &Figure) -> Result<Rule, UnknownRule> {
    let words = match &case.by {
        By::Rule(rule) => return Ok(rule.clone()),
        By::Words(words) => words.to_lowercase(),
    };
    let quantity = case.quantity.to_lowercase();
    let either = format!("{words} {quantity}");
    let says = |part: &str| words.contains(part);
    let n = leaves(&case.printed).len();
    let inputs = &case.inputs;
    let fields: Vec<&str> = inputs.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let found = if either.contains("rank correlation") || says("spearman") {
        Some(Rule::RankCorrelation)
    } else if ["a", "e", "max_retrievals"].iter().all(|name| fields.contains(name)) {
        Some(Rule::TheoryCurve)
    } else if says("count-weighted") || fields.iter().any(|name| name.starts_with("counts_")) {
        Some(Rule::CountWeighted)
    } else if says("edges") || (says("bin") && fields.contains(&"tokens") && fields.contains(&"questions")) {
        Some(Rule::LengthBins { edges: edges(&words) })
    } else if says("median") || (quantity.contains("median") && !says("mean")) {
        Some(Rule::Median { unit: unit(case) })
    } else if says("weighted by question") || says("question-weighted") {
        Some(Rule::QuestionWeighted { thresholds: thresholds(&quantity, case) })
    } else if says("max minus min") || says("highest minus lowest") || says("maximum minus minimum") {
        Some(Rule::Gap)
    } else if says("min / max") || says("min/max") || says("min and max") || says("minimum and maximum") {
        Some(Rule::Extremes { n })
    } else if says("ceil(z") || says("z^2") || says("z**2") {
        Some(Rule::SampleSize)
    } else if says("ceil(") || says("ceil ") {
        numbers_in(&words).first().map(|&size| Rule::CeilDivision { size })
    } else if says("nearest k") || says("twelfth") {
        Some(Rule::NearestFraction { n: numbers_in(&words).last().copied().unwrap_or(12.0) })
    } else if says("product") {
        Some(Rule::Products { factors: factors(&fields) })
    } else if says("share of") || says("count / ") || says("percent of") {
        Some(Rule::Share { total: numbers_in(&words).into_iter().rfind(|number| *number > 100.0) })
    } else if quantity.contains("claim") || says("1 = holds") || (says("number of") && says(" > ")) {
        claim(case, &words, &quantity)
    } else if says("identity") || says("same figure") {
        Some(Rule::Identity)
    } else if says("count") && fields.iter().any(|name| name.starts_with("tokens")) {
        Some(Rule::CountsAndSums)
    } else if says("(recall + faithfulness) / 2")
        || says("unweighted mean")
        || ((says("mean") || says("average")) && !says("weighted") && !says("difference"))
    {
        mean_or_sum(inputs, n, &words, Rule::Mean)
    } else if says("weighted") {
        Some(Rule::WeightedMean)
    } else if says("difference of the") && fields == ["means"] {
        Some(Rule::LastMinusOthers)
    } else if says("difference") || says("minus") || says(" - ") {
        Some(Rule::Difference { reversed: is_reversed(&words, &fields) || is_reversed(&quantity, &fields) })
    } else if says("ratio") || says("quotient") || says("divided by") || (says(" / ") && n == 1) {
        Some(Rule::Ratio)
    } else if says("root + branch + leaf") {
        Some(Rule::LevelTotals)
    } else if says("sum") || says("total") || says("add") || says(" + ") {
        mean_or_sum(inputs, n, &words, Rule::Sum)
    } else if says("max") || says("highest") {
        Some(Rule::Maximum)
    } else if says("min") || says("lowest") {
        Some(Rule::Minimum)
    } else {
        None
    };
    found.ok_or_else(|| UnknownRule { rule: words, quantity: case.quantity.clone(), inputs: brief(inputs) })
}

/// A mean or a sum over rows or over columns, as the number of figures asks for.
fn mean_or_sum(inputs: &Value, n: usize, words: &str, of: fn(Layout) -> Rule) -> Option<Rule> {
    let rows = match Numbers::of(inputs).ok()? {
        Numbers::One(_) => return None,
        Numbers::Row(_) => return (n == 1).then(|| of(Layout::All)),
        Numbers::Tables(_) => return Some(of(Layout::EachColumn)),
        Numbers::Rows(rows) => rows,
    };
    let height = rows.len();
    let width = rows.first().map_or(0, Vec::len);
    // Rows of different lengths have no columns.
    let has_columns = rows.iter().all(|row| row.len() == width);
    // "over the six models" and the like speak of the rows where these are single fields or lists of one shape.
    let over_rows = ["models", "bins", "aspects", "column", "books", "novels"].iter().any(|word| words.contains(word));
    let layout = match n {
        1 => Layout::All,
        _ if n == width && n == height && over_rows && has_columns => Layout::EachColumn,
        _ if n == height => Layout::EachRow,
        _ if n == width && has_columns => Layout::EachColumn,
        _ if n == width + 1 && n == height + 1 && !over_rows => Layout::EachRowAndAll,
        _ if n == width + 1 && has_columns => Layout::EachColumnAndAll,
        _ if n == height + 1 => Layout::EachRowAndAll,
        _ if n < width && has_columns && words.contains("sum") => {
            return Some(Rule::ColumnSumsFrom { first: width - n });
        }
        _ => return None,
    };
    Some(of(layout))
}

/// The numbers a text names, thousands separators undone; `K` behind a number stands for thousand.
pub(super) fn numbers_in(text: &str) -> Vec<f64> {
    let mut numbers = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        // A digit behind a letter belongs to a name, as in `table_2`.
        let in_word = text[..start].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == '_');
        if !c.is_ascii_digit() || in_word {
            continue;
        }
        let mut end = start + 1;
        while let Some(&(at, c)) = chars.peek() {
            let digit_follows = text[at + c.len_utf8()..].starts_with(|next: char| next.is_ascii_digit());
            if !(c.is_ascii_digit() || ((c == '.' || c == ',') && digit_follows)) {
                break;
            }
            end = at + c.len_utf8();
            chars.next();
        }
        let Ok(number) = text[start..end].replace(',', "").parse::<f64>() else { continue };
        let is_thousands =
            text[end..].starts_with(['k', 'K']) && !text[end + 1..].starts_with(|next: char| next.is_alphanumeric());
        numbers.push(if is_thousands { 1000.0 * number } else { number });
    }
    numbers
}

/// The edges that the words name, in tokens: "128, 256, 512 thousand with K = 1000".
fn edges(words: &str) -> Vec<f64> {
    let listed = words.split("with k").next().unwrap_or(words);
    let k = if words.contains("k = 1024") { 1024.0 } else { 1000.0 };
    let edges = numbers_in(listed).into_iter();
    edges.map(|edge| if edge < 10_000.0 { edge * k } else { edge / 1000.0 * k }).collect()
}

/// Thousands, where the printed figure counts in them.
fn unit(case: &Figure) -> f64 {
    let printed = leaves(&case.printed).into_iter().flatten().fold(0.0, f64::max);
    let greatest = leaves(&case.inputs).into_iter().flatten().fold(0.0, f64::max);
    if printed < 10_000.0 && greatest > 100_000.0 { 1000.0 } else { 1.0 }
}

/// What the means are held against, if the figures are 1 for yes.
fn thresholds(quantity: &str, case: &Figure) -> Vec<f64> {
    let is_answer = leaves(&case.printed).iter().all(|figure| matches!(figure, Some(0.0 | 1.0)));
    let listed = quantity.split('?').next().unwrap_or(quantity);
    if is_answer { numbers_in(listed) } else { Vec::new() }
}

/// The factors of each product, by the fields' names: queries = chunks x perspectives; summaries = queries x models.
fn factors(fields: &[&str]) -> Vec<Vec<String>> {
    let named = |names: &[&str]| -> Option<Vec<String>> {
        names.iter().all(|name| fields.contains(name)).then(|| names.iter().map(|&name| name.to_owned()).collect())
    };
    let known = [
        named(&["chunks", "perspectives"]),
        named(&["chunks", "perspectives", "summarizers"]),
        named(&["subset", "qwen_models"]),
    ];
    known.into_iter().flatten().collect()
}

/// True if the words name the second field before the first: "B minus A".
fn is_reversed(words: &str, fields: &[&str]) -> bool {
    let plain =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let words = plain(words);
    let places: Vec<Option<usize>> = fields.iter().map(|name| words.find(&plain(name))).collect();
    matches!(places[..], [Some(first), Some(second)] if second < first)
}

fn claim(case: &Figure, words: &str, quantity: &str) -> Option<Rule> {
    let rows = named_rows(&case.inputs);
    if rows.len() == 2 {
        let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
        let reversed = is_reversed(quantity, &names);
        let as_claim = leaves(&case.printed).iter().all(|figure| matches!(figure, Some(0.0 | 1.0)));
        return Some(Rule::CountAbove { reversed, as_claim });
    }
    let threshold = numbers_in(quantity).last().copied()?;
    let by_name = case.inputs.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_object()).flatten();
    let excluded = words.split("excluding").nth(1).unwrap_or_default().trim_start();
    // One name may begin another: the longest is meant.
    let named = by_name.map(|(name, _)| name).filter(|name| excluded.starts_with(&name.to_lowercase()));
    let except = named.max_by_key(|name| name.len()).into_iter().cloned().collect();
    Some(Rule::AllAbove { threshold, except })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(words: &str, quantity: &str, inputs: Value, printed: Value) -> Result<Rule, UnknownRule> {
        let by = By::Words(words.to_owned());
        let text = String::new;
        rule(&Figure {
            id: text(),
            paper: text(),
            table: text(),
            quantity: quantity.to_owned(),
            by,
            inputs,
            printed,
            tolerance: 0.0,
            note: text(),
        })
    }

    #[test]
    fn numbers_are_read_out_of_words() {
        assert_eq!(numbers_in("count / 3,532 of table_2 and k12"), [3532.0]);
        assert_eq!(numbers_in("over 250K, 64.8. Then 4000)"), [250_000.0, 64.8, 4000.0]);
        assert_eq!(edges("range edges at 128, 256 thousand with k = 1000"), [128_000.0, 256_000.0]);
    }

    #[test]
    fn the_shape_of_the_figures_tells_rows_from_columns() {
        let table = json!([[1, 2, 3], [4, 5, 6]]);
        let layout = |printed| read("means", "", table.clone(), printed);
        assert_eq!(layout(json!([2, 5])), Ok(Rule::Mean(Layout::EachRow)));
        assert_eq!(layout(json!([2, 3, 4])), Ok(Rule::Mean(Layout::EachColumn)));
        assert_eq!(layout(json!([2, 3, 4, 9])), Ok(Rule::Mean(Layout::EachColumnAndAll)));
        assert_eq!(layout(json!(3)), Ok(Rule::Mean(Layout::All)));
        assert!(layout(json!([1, 2, 3, 4, 5])).is_err());
        let square = json!([[1, 2], [3, 4]]);
        let over_models = read("mean of the two models", "", square.clone(), json!([2, 3]));
        assert_eq!(over_models, Ok(Rule::Mean(Layout::EachColumn)));
        assert_eq!(read("arithmetic mean", "", square, json!([1, 3])), Ok(Rule::Mean(Layout::EachRow)));
    }

    #[test]
    fn a_difference_goes_the_way_the_words_say() {
        let inputs = json!({"table_2": [1, 2], "closebook": [3, 4]});
        let difference = |words| read(words, "", inputs.clone(), json!([2, 2]));
        assert_eq!(difference("close-book minus Table 2"), Ok(Rule::Difference { reversed: true }));
        assert_eq!(difference("difference"), Ok(Rule::Difference { reversed: false }));
    }

    #[test]
    fn words_that_name_no_rule_are_refused() {
        let error = read("by inspection", "colour", json!([1]), json!(1)).unwrap_err();
        assert_eq!(error.to_string(), "no rule is known for `by inspection` (colour) over [1]");
    }
}
