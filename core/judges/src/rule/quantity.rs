//! Numbers as people write them, in English and Chinese: digits, words, magnitudes, percentages, units.

mod chinese;
mod currency;

use crate::simplified::simplified;
use chinese::chinese;
use closeread_text::numbers::{ONES, TENS};

/// A number with what it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The number; of a percentage what stands before its sign.
    pub value: f64,
    unit: Unit,
    /// The sign of a currency before it.
    sign: Option<char>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Unit {
    None,
    Percent,
    /// The unit's name in lower case, without a plural's `s`.
    Named(String),
}

/// Longest unit in words (English) that still reads as a quantity: "12 old men", not a sentence that begins with one.
const MAX_UNIT_WORDS: usize = 3;
impl Quantity {
    /// True if the quantity is written with a percent sign or its words.
    pub fn is_percentage(&self) -> bool {
        self.unit == Unit::Percent
    }

    /// What is counted, in lower case and without a plural's `s`; empty if nothing is named.
    pub fn unit(&self) -> &str {
        match &self.unit {
            Unit::Named(name) => name,
            Unit::None | Unit::Percent => "",
        }
    }

    /// True if both are equal to two decimals, and not of different units or currencies; a number without one agrees with any.
    pub fn agrees(&self, other: &Self) -> bool {
        let cents = |value: f64| libm::round(value * 100.0);
        let units = self.unit == other.unit || self.unit == Unit::None || other.unit == Unit::None;
        units && self.may_be_money_of(other) && (self.value == other.value || cents(self.value) == cents(other.value))
    }

    fn may_be_money_of(&self, other: &Self) -> bool {
        match (self.sign, other.sign) {
            (Some(sign), Some(other)) => sign == other,
            (Some(sign), None) => currency::fits(sign, other.unit()),
            (None, Some(sign)) => currency::fits(sign, self.unit()),
            (None, None) => true,
        }
    }
}

/// The quantity that a text is, whole: `1,200 marks`, `twenty-three`, `3.5 million`, `45 percent`, `三百二十一`, `1.2亿元`,
/// `百分之四十五`, `三成`. `None` for anything else, a sentence with a number in it included.
pub fn quantity(text: &str) -> Option<Quantity> {
    let text: String = text.chars().map(narrow).collect();
    let text = text.trim().trim_end_matches(['.', '。']).trim();
    let (negative, text) = match text.strip_prefix(|c: char| matches!(simplified(c), '-' | '−' | '负')) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let number = text.trim_start_matches(|c: char| c == '+' || currency::is_sign(c));
    let sign = text[..text.len() - number.len()].chars().find(|c| currency::is_sign(*c));
    let number = number.trim_start();
    let found = if number.chars().any(is_chinese) { chinese(number) } else { english(number, sign.is_some()) }?;
    let value = if negative { -found.value } else { found.value };
    Some(Quantity { value, sign, ..found })
}

/// The figures of a text as they are written, with the signs and points that
/// [`squad_normalize`](closeread_metrics::squad_normalize) deletes; without commas between thousands.
pub(super) fn figures(text: &str) -> Vec<String> {
    let is_mark = |c: char| matches!(c, '-' | '.' | ',' | ':' | '/');
    let mut before = ' ';
    let kept = |c: char| {
        let c = if c == '−' { '-' } else { narrow(c) };
        // Behind a letter a mark joins words.
        let is_kept = c.is_ascii_digit() || is_mark(c) && !before.is_alphabetic();
        before = c;
        if is_kept { c } else { ' ' }
    };
    let marked: String = text.chars().map(kept).collect();
    let figures = marked.split(' ').map(|figure| figure.trim_start_matches([',', ':', '/']).trim_end_matches(is_mark));
    let plain = |figure: &str| match figure.rsplit_once(',') {
        Some((whole, thousand)) if !whole.starts_with('0') && has_three_digits(thousand.as_bytes()) => {
            figure.replace(',', "")
        }
        _ => figure.to_owned(),
    };
    figures.filter(|figure| !figure.is_empty()).map(plain).collect()
}

fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        '￥' => '¥',
        _ => c,
    }
}

fn is_chinese(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '〇')
}

/// The digits at the start of a text, thousands separated or not, and what follows.
fn digits(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let next_is_digit = bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        match bytes[end] {
            b'0'..=b'9' => end += 1,
            // No thousands begin with a nought: `0,125` has a decimal comma.
            b',' if end > 0 && bytes[0] != b'0' && next_is_digit && has_three_digits(&bytes[end + 1..]) => end += 1,
            b'.' if next_is_digit && !text[..end].contains('.') => end += 1,
            _ => break,
        }
    }
    let value = text[..end].replace(',', "").parse().ok()?;
    Some((value, &text[end..]))
}

/// True if exactly three digits stand here: a comma before them separates thousands.
fn has_three_digits(bytes: &[u8]) -> bool {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count() == 3
}

fn english(text: &str, is_money: bool) -> Option<Quantity> {
    let lower = text.to_lowercase().replace('-', " ");
    if let Some((value, rest)) = digits(&lower) {
        let mut words = rest.split_whitespace().peekable();
        let is_money = is_money || rest.split_whitespace().any(currency::is_name);
        // Elsewhere `m` is metres as well.
        let scale = words.peek().filter(|word| is_money || **word != "m").and_then(|word| magnitude(word));
        if scale.is_some() {
            words.next();
        }
        return with_english_unit(value * scale.unwrap_or(1.0), &words.collect::<Vec<_>>());
    }
    let words: Vec<&str> = lower.split_whitespace().map(without_comma).collect();
    let (value, n_words) = english_words(&words)?;
    with_english_unit(value, &words[n_words..])
}

/// `thousand,` of `nine thousand, seven hundred and nine`.
fn without_comma(word: &str) -> &str {
    let is_scale = |word: &&str| word.len() > 2 && magnitude(word).is_some_and(|scale| scale >= 1e3);
    word.strip_suffix(',').filter(is_scale).unwrap_or(word)
}

fn with_english_unit(value: f64, words: &[&str]) -> Option<Quantity> {
    let unit = match words {
        [] => Unit::None,
        ["%" | "\\%" | "percent"] | ["per", "cent"] => Unit::Percent,
        ["and", ..] => return None,
        words if words.len() <= MAX_UNIT_WORDS && words.iter().all(|word| is_of_unit(word)) => {
            let unit = words.join(" ");
            Unit::Named(unit.strip_suffix('s').unwrap_or(&unit).to_owned())
        }
        _ => return None,
    };
    Some(Quantity { value, unit, sign: None })
}

/// True for a word of what was counted. In `two thirds`, `twenty-first` and `two or three` the number goes on.
fn is_of_unit(word: &str) -> bool {
    let is_part = |word| {
        matches!(word, "half" | "halve" | "third" | "quarter" | "fourth" | "fifth" | "sixth" | "seventh" | "eighth")
            || matches!(word, "ninth" | "tenth" | "hundredth" | "first" | "or")
    };
    let goes_on = is_part(word.strip_suffix('s').unwrap_or(word)) || small_number(word).is_some();
    !goes_on && magnitude(word).is_none_or(|_| word.len() < 3) && word.chars().all(char::is_alphabetic)
}

fn magnitude(word: &str) -> Option<f64> {
    match word {
        "dozen" => Some(12.0),
        "hundred" => Some(1e2),
        "thousand" | "k" => Some(1e3),
        "million" | "m" | "mn" => Some(1e6),
        "billion" | "bn" => Some(1e9),
        "trillion" => Some(1e12),
        _ => None,
    }
}

fn small_number(word: &str) -> Option<f64> {
    let ones = ONES.iter().position(|name| *name == word).map(|n| n as f64);
    let tens = || TENS.iter().position(|name| *name == word).map(|n| 10.0 * (n as f64 + 2.0));
    ones.or_else(tens)
}

/// The number that the first words say, and how many they are: "three hundred and four", "a dozen", "two million".
fn english_words(words: &[&str]) -> Option<(f64, usize)> {
    let (mut total, mut group, mut n_words, mut seen) = (0.0, 0.0, 0, false);
    let mut last_scale = f64::INFINITY;
    for (at, word) in words.iter().enumerate() {
        if let Some(small) = small_number(word) {
            // "nineteen four" is no sum; "twenty four" is.
            let fits = group == 0.0 || group % 100.0 == 0.0 || group % 10.0 == 0.0 && small < 10.0;
            if seen && !fits {
                return None;
            }
            group += small;
        } else if let Some(scale) = magnitude(word).filter(|_| *word == "dozen" || word.len() > 2 && (seen || at > 0)) {
            // "two thousand million" is no sum.
            if seen && group == 0.0 || scale >= last_scale {
                return None;
            }
            let base = if group == 0.0 { 1.0 } else { group };
            if scale == 1e2 {
                group = base * scale;
            } else {
                total += base * scale;
                (group, last_scale) = (0.0, scale);
            }
        } else if matches!(*word, "a" | "an") && at == 0 {
            let next = words.get(1)?;
            if magnitude(next).is_none_or(|_| next.len() < 3) {
                return None;
            }
            continue;
        } else if *word == "and" && seen && words.get(at + 1).is_some_and(|next| small_number(next).is_some()) {
            continue;
        } else {
            break;
        }
        seen = true;
        n_words = at + 1;
    }
    seen.then_some((total + group, n_words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        quantity(text).map(|quantity| quantity.value)
    }

    #[test]
    fn english_numbers() {
        for (text, expected) in [
            ("1,200 marks", 1200.0),
            ("12", 12.0),
            ("-3.5", -3.5),
            ("twenty-three", 23.0),
            ("Three hundred and four days", 304.0),
            ("one thousand eight hundred and twenty-six", 1826.0),
            ("two million", 2e6),
            ("nine thousand, seven hundred and nine", 9709.0),
            ("Two million, forty thousand, four hundred marks", 2_040_400.0),
            ("3.5 million", 3.5e6),
            ("a hundred", 100.0),
            ("a dozen eggs", 12.0),
            ("two dozen", 24.0),
            ("2 dozen eggs", 24.0),
            ("5 points", 5.0),
            ("25 basis points", 25.0),
            ("11 men and women", 11.0),
            ("$5", 5.0),
            ("45 per cent", 45.0),
            ("$5m", 5e6),
            ("5m euros", 5e6),
            ("5m yen", 5e6),
            ("5 m rupees", 5e6),
            ("5 mn", 5e6),
            ("5 m", 5.0),
            ("two million two hundred thousand and six", 2_200_006.0),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "a goat",
            "Port Emery",
            "nineteen four",
            "12 men went to mow that day",
            "the third stair",
            "4,5",
            "0,125",
            "two or three",
            "two and a half",
            "2 and a half",
            "two thirds",
            "one half",
            "twenty-first",
            "two point five",
            "ten to twelve",
            "one in five",
            "two, three",
            "thousand, five",
            "two thousand million",
            "two thousand three million",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn chinese_numbers() {
        for (text, expected) in [
            ("三百二十一", 321.0),
            ("十二天", 12.0),
            ("一千零五", 1005.0),
            ("二〇二四年", 2024.0),
            ("三万五千", 35_000.0),
            ("1.2亿元", 1.2e8),
            ("３４", 34.0),
            ("两个", 2.0),
            ("百分之四十五", 45.0),
            ("三成", 30.0),
            ("45%", 45.0),
            ("一百零五", 105.0),
            ("二〇", 20.0),
            ("五千克", 5000.0),
            ("二百五", 250.0),
            ("三万五", 35_000.0),
            ("三万五千二", 35_200.0),
            ("一百零五人", 105.0),
            ("一亿五元", 1.5e8),
            ("廿五", 25.0),
            ("卅人", 30.0),
            ("一百廿", 120.0),
            ("贰拾元", 20.0),
            ("壹仟零伍元", 1005.0),
            ("陆万", 60_000.0),
            ("二十万陆军", 200_000.0),
            ("二十两银子", 20.0),
            ("三百两", 300.0),
            ("20两", 20.0),
            ("一万两千两", 12_000.0),
            ("三百兩", 300.0),
            ("一亿五千万", 1.5e8),
            ("三亿二千万元", 3.2e8),
            ("一亿二千三百四十五万六千七百八十九", 123_456_789.0),
            ("壹亿贰仟万元", 1.2e8),
            ("一万亿", 1e12),
            ("四万万人", 4e8),
            ("四万万五千万人", 4.5e8),
            ("一万二千亿元", 1.2e12),
            ("三萬五千", 35_000.0),
            ("五億元", 5e8),
            ("兩萬人", 20_000.0),
            ("貳拾萬元", 200_000.0),
            ("3萬", 30_000.0),
            ("負三萬", -30_000.0),
            ("1.2億円", 1.2e8),
            ("1亿5000万", 1.5e8),
            ("1亿零500万元", 1.05e8),
            ("3万5千", 35_000.0),
            ("2千3百人", 2_300.0),
            ("1亿5000万3千", 150_003_000.0),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
        let in_digits = ["3万5万", "3万2"];
        let traditional = ["十幾個", "十來個", "三十餘人"];
        let taels = ["一两个", "十两三钱"];
        let two = ["三分之一", "两三个", "十二三岁", "三四十", "三点五", "一个半", "十几个", "十来个", "三十多岁"];
        for text in ["陆军", "伍先生", "三廿", "三万五万", "百货公司", "孔乙己", "税如数", "万岁", "十二个人一起过了河"]
            .into_iter()
            .chain(two)
            .chain(in_digits)
            .chain(traditional)
            .chain(taels)
        {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn units_must_not_differ() {
        let agrees = |a: &str, b: &str| quantity(a).unwrap().agrees(&quantity(b).unwrap());
        assert!(agrees("12 days", "12") && agrees("one day", "1 days") && agrees("45%", "45 percent"));
        assert!(!agrees("12 days", "12 years") && !agrees("45%", "45 days") && !agrees("12", "13"));
        assert!(agrees("5 m", "5m") && !agrees("5 m", "5 million") && agrees("€5m", "5 million"));
        assert!(!agrees("$5", "€5") && !agrees("5 euros", "$5") && !agrees("€5", "5 francs") && !agrees("£5", "5美元"));
        assert!(agrees("$5", "5 US dollars") && agrees("¥5", "5 yen") && agrees("5 RMB", "￥5") && agrees("$5", "5元"));
        assert!(agrees("£5", "5 pounds") && agrees("€5", "5") && agrees("$5", "5 marks"));
        assert!(agrees("3.104", "3.10") && agrees("十二天", "12天") && agrees("￥500", "500"));
    }
}
