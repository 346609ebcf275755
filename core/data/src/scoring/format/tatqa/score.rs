//! TAT-QA's exact match and numeracy-focused F1, as `tatqa_metric.py` computes them.

use super::number::{Number, is_number, rounded, scale_factor, to_number};
use closeread_eval::rows::{WrongRow, kind};
use closeread_metrics::split_at_articles;
use serde_json::Value;
use std::collections::BTreeSet;

/// A gold answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gold {
    /// Answers as text; several only for questions that ask for several spans.
    pub(super) answers: Vec<String>,
    /// Scale of the answer: `thousand`, `million`, `billion`, `percent` or nothing.
    pub(super) scale: String,
    /// True for `arithmetic` and `count`: there is no half right.
    is_numeric: bool,
}

impl Gold {
    /// Reads `answer`, `answer_type` and `scale` of a question.
    ///
    /// # Errors
    /// What is wrong with its answer.
    pub(super) fn new(question: &Value) -> Result<Self, WrongRow> {
        let text = |name: &str| question.get(name).and_then(Value::as_str).unwrap_or_default();
        let answer = question.get("answer").ok_or("no `answer`")?;
        let answers = match (text("answer_type"), answer) {
            ("span" | "multi-span", Value::Array(spans)) => spans.iter().map(python_text).collect(),
            ("span" | "multi-span", other) => {
                return Err(format!("the answer of a span question: expected a list, found {}", kind(other)).into());
            }
            ("count", answer) => {
                let text = python_text(answer);
                vec![text.trim().parse::<f64>().map_or(text, |count| Number::Whole(count as i128).text())]
            }
            (_, answer) => vec![python_text(answer)],
        };
        let is_numeric = matches!(text("answer_type"), "arithmetic" | "count");
        Ok(Self { answers, scale: text("scale").to_owned(), is_numeric })
    }
}

/// The scores of a prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scores {
    /// Exact match, 0 or 1.
    pub(super) exact_match: f64,
    /// F1 in 0..=1, two digits.
    pub(super) f1: f64,
    /// True if answer and scale are there and the scale is the gold's.
    pub(super) is_scale_right: bool,
}

/// The predicted answers; empty for what Python takes for false: null, nothing, 0.
///
/// # Errors
/// What is wrong with a value that is no text, number or list of these.
pub(super) fn predicted(answer: &Value) -> Result<Vec<Value>, WrongRow> {
    let wrong =
        |value: &Value| format!("the answer is {}: expected text, a number or a list of these", kind(value)).into();
    match answer {
        Value::Array(answers) => match answers.iter().find(|answer| answer.is_array() || answer.is_object()) {
            Some(nested) => Err(wrong(nested)),
            None => Ok(answers.clone()),
        },
        Value::Object(_) => Err(wrong(answer)),
        Value::Null | Value::Bool(false) => Ok(Vec::new()),
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::Number(number) if number.as_f64() == Some(0.0) => Ok(Vec::new()),
        answer => Ok(vec![answer.clone()]),
    }
}

/// Scores a prediction: the best over its readings of exact match, then of F1.
///
/// Answers of either side are sorted, each number multiplied by its scale and written with four digits, each other
/// answer followed by the scale's name, all joined by spaces. A single predicted number without scale and percent sign
/// is read a second time as it is, so that 0.2342 agrees with 23.42 percent. Both texts are then normalised (lower case,
/// no punctuation, no articles; word by word, numbers rewritten); exact match compares the texts, F1 the sets of words,
/// rounded to two digits. For arithmetic and counts F1 is exact match.
pub(super) fn score(gold: &Gold, predicted: &[Value], scale: &str) -> Scores {
    if predicted.is_empty() || gold.answers.is_empty() {
        return Scores { exact_match: 0.0, f1: 0.0, is_scale_right: false };
    }
    let mut gold_answers = gold.answers.clone();
    gold_answers.sort_unstable();
    let expected = normalised(&joined(&gold_answers, &gold.scale));
    let mut readings = vec![joined(&sorted(predicted), scale)];
    readings.extend(plain_number(predicted, scale));
    let compare = |reading: &String| {
        let found = normalised(reading);
        (f64::from(u8::from(found == expected)), set_f1(&found, &expected))
    };
    let best = readings.iter().map(compare).max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (exact_match, f1) = best.unwrap_or((0.0, 0.0));
    let f1 = if gold.is_numeric { exact_match } else { f1 };
    Scores { exact_match, f1, is_scale_right: gold.scale == scale }
}

/// Sorts as Python's `sorted`, then `str`: numbers by size, text by code point; a mixture, on which Python fails, as
/// text.
fn sorted(answers: &[Value]) -> Vec<String> {
    if answers.iter().all(Value::is_number) {
        let mut numbers: Vec<&Value> = answers.iter().collect();
        numbers.sort_by(|a, b| a.as_f64().unwrap_or(0.0).total_cmp(&b.as_f64().unwrap_or(0.0)));
        return numbers.into_iter().map(python_text).collect();
    }
    let mut texts: Vec<String> = answers.iter().map(python_text).collect();
    texts.sort_unstable();
    texts
}

/// Joins answers as the script's `get_answer_str` does.
fn joined(answers: &[String], scale: &str) -> String {
    let one = |answer: &String| {
        let number = if is_number(answer) { to_number(answer) } else { None };
        match number {
            Some(number) if answer.contains('%') => format!("{:.4}", number.value()),
            Some(Number::Whole(number)) => format!("{:.4}", number as f64 * scale_factor(scale).value()),
            Some(Number::Real(number)) => format!("{:.4}", rounded(number, 2) * scale_factor(scale).value()),
            None if scale.is_empty() => answer.clone(),
            None => format!("{answer} {scale}"),
        }
    };
    answers.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Returns the number of a prediction as the script's `add_percent_pred` does.
fn plain_number(predicted: &[Value], scale: &str) -> Option<String> {
    let [answer] = predicted else { return None };
    let text = python_text(answer);
    if !scale.is_empty() || text.contains('%') || !is_number(&text) {
        return None;
    }
    to_number(&text).map(|number| format!("{:.4}", number.value()))
}

/// Normalises a text as the script's `normalize_answer` does, word by word: only a blank parts words here.
fn normalised(text: &str) -> String {
    let mut parts = Vec::new();
    for word in text.split(' ') {
        let mut word = word.to_lowercase();
        if !is_number(&word) {
            word.retain(|c| !c.is_ascii_punctuation());
        }
        if is_number(&word) {
            word = to_number(&word).map_or_else(|| "None".to_owned(), Number::text);
        }
        split_at_articles(&word, |from, to| {
            parts.extend(word[from..to].split_whitespace().map(str::to_owned));
        });
    }
    parts.join(" ")
}

/// F1 of two sets of words, rounded to two digits as numpy rounds; two empty sets agree.
fn set_f1(predicted: &str, gold: &str) -> f64 {
    let predicted: BTreeSet<&str> = predicted.split_whitespace().collect();
    let gold: BTreeSet<&str> = gold.split_whitespace().collect();
    let n_common = predicted.intersection(&gold).count() as f64;
    let share = |words: &BTreeSet<&str>| if words.is_empty() { 1.0 } else { n_common / words.len() as f64 };
    let (precision, recall) = (share(&predicted), share(&gold));
    if precision == 0.0 && recall == 0.0 {
        return 0.0;
    }
    let f1 = 2.0 * precision * recall / (precision + recall);
    libm::rint(f1 * 100.0) / 100.0
}

/// Writes what `json.load` makes of a scalar as Python's `str(value)` does.
fn python_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), _, _) => whole.to_string(),
            (_, Some(whole), _) => whole.to_string(),
            (_, _, Some(real)) => Number::Real(real).text(),
            _ => number.to_string(),
        },
        nested => nested.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(gold: (Value, &str, &str), prediction: (Value, &str), expected: (f64, f64)) {
        let gold = Gold::new(&json!({"answer": gold.0, "answer_type": gold.1, "scale": gold.2})).unwrap();
        let scores = score(&gold, &predicted(&prediction.0).unwrap(), prediction.1);
        assert_eq!((scores.exact_match, scores.f1), expected);
    }

    #[test]
    fn numbers_agree_over_their_scales() {
        check((json!(-12.6), "arithmetic", "million"), (json!(-12.6), "million"), (1.0, 1.0));
        check((json!(-12.6), "arithmetic", "million"), (json!("-12,600,000"), ""), (1.0, 1.0));
        check((json!(-12.6), "arithmetic", "million"), (json!(-12.6), "thousand"), (0.0, 0.0));
        check((json!(23.42), "arithmetic", "percent"), (json!(0.2342), ""), (1.0, 1.0));
        check((json!(23.42), "arithmetic", "percent"), (json!("23.42%"), ""), (1.0, 1.0));
        check((json!(0), "arithmetic", ""), (json!(0), ""), (0.0, 0.0));
        check((json!("3"), "count", ""), (json!("3.0"), ""), (1.0, 1.0));
        check((json!("3"), "count", ""), (json!(["3"]), ""), (1.0, 1.0));
    }

    #[test]
    fn spans_are_sets_of_words() {
        check((json!(["the Red Mill"]), "span", ""), (json!("red mill."), ""), (1.0, 1.0));
        check((json!(["2018", "2019"]), "multi-span", ""), (json!(["2019", "2018"]), ""), (1.0, 1.0));
        check((json!(["red mill"]), "span", ""), (json!(["red house"]), ""), (0.0, 0.5));
        check((json!(["$1,496.5"]), "span", "million"), (json!(["1496.5"]), "million"), (1.0, 1.0));
        check((json!(["$1,496.5"]), "span", "million"), (json!(["1496.5"]), ""), (0.0, 0.0));
        check((json!([]), "span", ""), (json!(["x"]), ""), (0.0, 0.0));
        check((json!(["x"]), "span", ""), (json!([]), ""), (0.0, 0.0));
        check((json!(["the"]), "span", ""), (json!(["a"]), ""), (1.0, 1.0));
    }

    #[test]
    fn mixtures_that_fail_in_python_are_defined() {
        check((json!(["1", "a"]), "multi-span", ""), (json!(["a", 1]), ""), (1.0, 1.0));
        check((json!(["None"]), "span", ""), (json!([null]), ""), (1.0, 1.0));
        assert!(predicted(&json!([["x"]])).is_err() && predicted(&json!({})).is_err());
    }
}
