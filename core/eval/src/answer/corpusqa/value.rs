//! CorpusQA's typed answers, and whether two agree by rule.

use crate::answer::boxed::unmarked;
use crate::answer::parsed::Parsed;
use closeread_text::composed;
use closeread_text::pattern::pattern;
use regex_lite::Regex;
use std::sync::LazyLock;

/// The strictness of reading: how exactly an answer must keep to the form that the prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reading {
    /// The answer must keep to the form to the letter.
    Strict,
    /// The answer is read without regard to Markdown, quotes, TeX's `\boxed{}`, `\text{}` and `\$`, a closing full
    /// stop, full-width characters, thousands separators, currency signs, the notation of dates and of lists, case and
    /// white space.
    Tolerant,
}

/// An answer by its type (CorpusQA, appendix C).
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Texts, possibly none.
    List(Vec<String>),
    /// A number without unit.
    Number(f64),
    /// A percentage, as the number before the sign.
    Percent(f64),
    /// A month.
    Date {
        /// The year, from 0 to 9999.
        year: u16,
        /// The month, from 1 to 12.
        month: u8,
    },
    /// Any other text that is not empty.
    Text(String),
}

/// Reads an answer as extracted by [`answer`](super::answer) into its type; only an empty one is unparsed.
///
/// Strict: a list is JSON, all of it texts; a number is digits with an optional minus and a point; a percentage the
/// same with `%`; a date `YYYY-MM`. What looks otherwise is a text, so it does not agree with a gold answer of another
/// type. Tolerant: see [`Reading::Tolerant`]; lists may hold single quotes or numbers.
pub fn value(answer: &str, reading: Reading) -> Parsed<Value> {
    let text = match reading {
        Reading::Strict => answer.trim().to_owned(),
        Reading::Tolerant => bare(answer),
    };
    if text.is_empty() {
        return Parsed::Unparsed;
    }
    let typed =
        list(&text, reading).map(Value::List).or_else(|| date(&text, reading)).or_else(|| number(&text, reading));
    let unquoted = || text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text).to_owned();
    Parsed::Answer(typed.unwrap_or_else(|| Value::Text(unquoted())))
}

/// Returns whether an answer agrees with the gold answer by rule, for want of a judge; both as extracted by
/// [`answer`](super::answer). Unparsed if the answer is empty or of another type than the gold answer.
///
/// Strict: equal numbers, equal dates, equal texts, lists equal in order. Tolerant: numbers that agree when rounded to
/// two decimals (the form asks for two) and are not of two currencies, a percentage also without its sign, texts that are equal but for case and
/// white space, lists with the same elements in any order, written out with commas or one a line.
///
/// This is our rule: the paper scores by a judge alone, which also accepts paraphrases that no rule can.
pub fn agrees(answer: &str, gold: &str, reading: Reading) -> Parsed<bool> {
    let (answer, gold_text) = (&composed(answer), &composed(gold));
    let (Parsed::Answer(gold), Parsed::Answer(said)) = (value(gold_text, reading), value(answer, reading)) else {
        return Parsed::Unparsed;
    };
    let tolerant = reading == Reading::Tolerant;
    let agree = match (&said, &gold) {
        (Value::Number(_), Value::Number(_)) if tolerant && are_of_two_currencies(answer, gold_text) => false,
        (Value::Number(said), Value::Number(gold)) | (Value::Percent(said), Value::Percent(gold)) => {
            same_number(*said, *gold, reading)
        }
        (Value::Number(said), Value::Percent(gold)) | (Value::Percent(said), Value::Number(gold)) if tolerant => {
            same_number(*said, *gold, reading)
        }
        (Value::List(said), Value::List(gold)) if tolerant => same_elements(said.clone(), gold),
        (Value::Text(said), Value::List(gold)) if tolerant => same_elements(elements(said), gold),
        (Value::Number(_) | Value::Date { .. } | Value::Percent(_), Value::List(gold)) if tolerant => {
            same_elements(vec![bare(answer)], gold)
        }
        (Value::List(said), Value::Text(gold)) if tolerant && said.len() == 1 => folded(&said[0]) == folded(gold),
        (Value::Text(said), Value::Text(gold)) if tolerant => folded(said) == folded(gold),
        (said, gold) if std::mem::discriminant(said) == std::mem::discriminant(gold) => said == gold,
        _ => return Parsed::Unparsed,
    };
    Parsed::Answer(agree)
}

/// An answer without what models put around it.
fn bare(answer: &str) -> String {
    let narrow: String = answer
        .chars()
        .map(|c| match c {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).expect("full-width forms mirror ASCII"),
            '“' | '”' => '"',
            '−' => '-',
            _ => c,
        })
        .collect();
    let around = |c: char| c.is_whitespace() || matches!(c, '*' | '`' | '$' | '。');
    let mut text = narrow.trim_matches(around);
    loop {
        let inner = text.strip_prefix(r"\boxed{").and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        let inner = unmarked(inner.strip_suffix('.').unwrap_or(inner).trim_matches(around));
        if inner.len() == text.len() {
            return text.to_owned();
        }
        text = inner;
    }
}

fn list(text: &str, reading: Reading) -> Option<Vec<String>> {
    if !(text.starts_with('[') && text.ends_with(']')) {
        return None;
    }
    match (serde_json::from_str::<Vec<serde_json::Value>>(text), reading) {
        (Ok(values), Reading::Strict) => values.into_iter().map(|value| value.as_str().map(str::to_owned)).collect(),
        (Ok(values), Reading::Tolerant) => {
            let element = |value: serde_json::Value| match value {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            };
            Some(values.into_iter().map(element).collect())
        }
        (Err(_), Reading::Strict) => None,
        (Err(_), Reading::Tolerant) => Some(elements(&text[1..text.len() - 1])),
    }
}

/// The elements of a list that is written out: separated by commas, semicolons, the Chinese enumeration comma or line
/// ends outside quotes; bullets and quotes around an element left out.
fn elements(text: &str) -> Vec<String> {
    let mut elements = vec![];
    let (mut element, mut quote) = (String::new(), None);
    for c in text.chars().chain(['\n']) {
        match (c, quote) {
            ('"' | '\'', None) if element.trim().is_empty() => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            (',' | ';' | '、' | '\n', None) => {
                let trimmed = element.trim().trim_start_matches(['-', '•', '*']).trim();
                if !trimmed.is_empty() {
                    elements.push(trimmed.to_owned());
                }
                element.clear();
            }
            _ => element.push(c),
        }
    }
    // A quote that never closes: an apostrophe in front of a word.
    if quote.is_some() {
        let separators = |c: char| matches!(c, ',' | ';' | '、' | '\n');
        return text.split(separators).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect();
    }
    elements
}

fn date(text: &str, reading: Reading) -> Option<Value> {
    static STRICT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([0-9]{4})-([0-9]{2})$"));
    static TOLERANT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([0-9]{4})\s*[-/年]\s*([0-9]{1,2})\s*月?$"));
    static NAMED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)^([a-z]{3,9})\.?,?\s+([0-9]{4})$"));
    let valid = |year: &str, month: u8| {
        let year = year.parse().ok()?;
        (1..=12).contains(&month).then_some(Value::Date { year, month })
    };
    let numbers = if reading == Reading::Strict { &STRICT } else { &TOLERANT };
    if let Some(found) = numbers.captures(text) {
        return valid(&found[1], found[2].parse().ok()?);
    }
    let found = NAMED.captures(text).filter(|_| reading == Reading::Tolerant)?;
    valid(&found[2], month_of(&found[1])?)
}

/// The number of a month by its English name, whole or short, from 1.
pub fn month_of(name: &str) -> Option<u8> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let name = name.to_lowercase();
    let place =
        NAMES.iter().position(|month| *month == name || month[..3] == name || name == "sept" && *month == NAMES[8]);
    u8::try_from(place? + 1).ok()
}

fn number(text: &str, reading: Reading) -> Option<Value> {
    static STRICT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(-?[0-9]{1,300}(?:\.[0-9]+)?)(%?)$"));
    static TOLERANT: LazyLock<Regex> = LazyLock::new(|| {
        let digits = r"(?:[1-9][0-9]{0,2}(?:[, ][0-9]{3}){1,90}|[0-9]{1,300})(?:\.[0-9]+)?|\.[0-9]+";
        pattern(&format!(r"(?i)^\+?(-?)\s*(?:US)?\\?[$¥€£]?\s*(-?)({digits})\s*(%|\\%|percent|per cent|元)?$"))
    });
    if reading == Reading::Strict {
        let found = STRICT.captures(text)?;
        let number = found[1].parse().ok()?;
        return Some(if found[2].is_empty() { Value::Number(number) } else { Value::Percent(number) });
    }
    let found = TOLERANT.captures(text)?;
    let digits: String = found[3].chars().filter(|c| !matches!(c, ',' | ' ')).collect();
    let size: f64 = digits.parse().ok()?;
    let number = if found[1].is_empty() && found[2].is_empty() { size } else { -size };
    let percent = found.get(4).is_some_and(|unit| unit.as_str() != "元");
    Some(if percent { Value::Percent(number) } else { Value::Number(number) })
}

/// Whether two numbers have signs of two currencies before them.
fn are_of_two_currencies(said: &str, gold: &str) -> bool {
    let sign = |text: &str| {
        // A formula stands between two `$`.
        let is_formula = text.trim_end_matches(['.', '*', ' ']).ends_with('$');
        let before = text.chars().take_while(|c| !c.is_ascii_digit());
        let mut signs = before.filter(|c| matches!(c, '$' | '¥' | '€' | '£'));
        signs.find(|sign| *sign != '$' || !is_formula)
    };
    sign(said).zip(sign(gold)).is_some_and(|(said, gold)| said != gold)
}

fn same_number(said: f64, gold: f64, reading: Reading) -> bool {
    let cents = |number: f64| libm::round(number * 100.0);
    said == gold || reading == Reading::Tolerant && cents(said) == cents(gold)
}

fn same_elements(said: Vec<String>, gold: &[String]) -> bool {
    let sorted = |elements: &mut dyn Iterator<Item = String>| {
        let mut elements: Vec<String> = elements.map(|element| folded(&bare(&element))).collect();
        elements.sort();
        elements
    };
    sorted(&mut said.into_iter()) == sorted(&mut gold.iter().cloned())
}

fn folded(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_types() {
        let strict = |text| value(text, Reading::Strict).answer();
        assert_eq!(strict("[\"A, B\", \"C\"]"), Some(Value::List(vec!["A, B".into(), "C".into()])));
        assert_eq!(strict("[]"), Some(Value::List(vec![])));
        assert_eq!(strict("-3.10"), Some(Value::Number(-3.1)));
        assert_eq!(strict("45.20%"), Some(Value::Percent(45.2)));
        assert_eq!(strict("2024-05"), Some(Value::Date { year: 2024, month: 5 }));
        assert_eq!(strict("2024-13"), Some(Value::Text("2024-13".into())));
        assert_eq!(strict("\"South\""), Some(Value::Text("South".into())));
        assert_eq!(strict("1,234"), Some(Value::Text("1,234".into())));
        assert_eq!(strict(" "), None);
        let tolerant = |text| value(text, Reading::Tolerant).answer();
        assert_eq!(tolerant("**$1,234.50**."), Some(Value::Number(1234.5)));
        assert_eq!(tolerant("\\boxed{12 %}"), Some(Value::Percent(12.0)));
        assert_eq!(tolerant(r"\$1,234"), Some(Value::Number(1234.0)));
        assert_eq!(tolerant(r"$\boxed{\text{May 2024}}$"), Some(Value::Date { year: 2024, month: 5 }));
        assert_eq!(tolerant("2024年5月"), Some(Value::Date { year: 2024, month: 5 }));
        assert_eq!(tolerant("Sept. 2024"), Some(Value::Date { year: 2024, month: 9 }));
        assert_eq!(tolerant("['A, B', 'C']"), Some(Value::List(vec!["A, B".into(), "C".into()])));
    }

    #[test]
    fn agreement_is_by_type() {
        let check = |said, gold, strict: Option<bool>, tolerant: Option<bool>| {
            assert_eq!(agrees(said, gold, Reading::Strict).answer(), strict, "strict: {said} against {gold}");
            assert_eq!(agrees(said, gold, Reading::Tolerant).answer(), tolerant, "tolerant: {said} against {gold}");
        };
        check("3.1", "3.10", Some(true), Some(true));
        check("3.104", "3.10", Some(false), Some(true));
        check("1,234", "1234", None, Some(true));
        check("0,125", "125", None, None);
        check("€5", "$5", Some(false), Some(false));
        check("US$5", "£5", Some(false), Some(false));
        check("5", "$5.00", None, Some(true));
        check("$€5$", "€5", Some(false), Some(true));
        check("$5$", "€5", Some(false), Some(true));
        check("45.2", "45.20%", None, Some(true));
        check("[\"b\", \"a\"]", "[\"a\", \"b\"]", Some(false), Some(true));
        check("a, b", "[\"a\", \"b\"]", None, Some(true));
        check("[\"a\"]", "[\"a\", \"b\"]", Some(false), Some(false));
        check("SOUTH", "\"South\"", Some(false), Some(true));
        check("cafe\u{301}", "caf\u{e9}", Some(true), Some(true));
        check("May 2024", "2024-05", None, Some(true));
        check("north", "42", None, None);
        check("", "42", None, None);
    }
}
