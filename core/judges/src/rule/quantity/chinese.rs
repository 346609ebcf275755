//! Numbers as Chinese writes them: characters, magnitudes, percentages, units.

use super::{Quantity, Unit, digits};
use crate::simplified::simplified;

/// Longest unit in characters.
const MAX_UNIT_CHARS: usize = 4;
/// Numerals of cheques, and the plain ones that they are.
const FORMAL: [char; 13] = ['壹', '贰', '叁', '參', '肆', '伍', '陆', '柒', '捌', '玖', '拾', '佰', '仟'];
const PLAIN: [char; 13] = ['一', '二', '三', '三', '四', '五', '六', '七', '八', '九', '十', '百', '千'];

/// The quantity that a Chinese text is, whole.
pub(super) fn chinese(text: &str) -> Option<Quantity> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let text = plain_numerals(&text);
    if let Some(rest) = text.strip_prefix("百分之") {
        let (value, rest) = chinese_number(rest)?;
        return rest.is_empty().then_some(Quantity { value, unit: Unit::Percent, sign: None });
    }
    let (value, rest) = chinese_number(&text)?;
    let unit = match rest {
        "" => Unit::None,
        "%" => Unit::Percent,
        "成" => return Some(Quantity { value: 10.0 * value, unit: Unit::Percent, sign: None }),
        unit if unit.chars().count() <= MAX_UNIT_CHARS && is_of_chinese_unit(unit) => Unit::Named(unit.to_owned()),
        _ => return None,
    };
    Some(Quantity { value, unit, sign: None })
}

/// True for what was counted. In `三分之一`, `三点五`, `一个半` and `十几个` the number goes on; in `20两银子` it does not.
fn is_of_chinese_unit(unit: &str) -> bool {
    let goes_on =
        |c: char| "半几多余".contains(simplified(c)) || chinese_digit(c).is_some() || chinese_unit(c).is_some();
    !unit.starts_with(|c: char| simplified(c) == '来')
        && unit
            .strip_prefix(|c: char| simplified(c) == '两')
            .unwrap_or(unit)
            .chars()
            .all(|c| c.is_alphabetic() && !goes_on(c))
}

/// The number at the start, in digits or characters, with 万 and 亿 behind it, and what follows.
fn chinese_number(text: &str) -> Option<(f64, &str)> {
    if let Some(found) = in_digits(text) {
        return Some(found);
    }
    let (mut total, mut group, mut digit) = (0.0, 0.0, None::<f64>);
    let (mut end, mut last_scale, mut last_large) = (0, 10.0, 0.0);
    // Digits one by one, as in 二〇二四.
    let mut in_a_row = 0;
    for (at, c) in text.char_indices() {
        let behind = &text[at + c.len_utf8()..];
        // Behind 十, 百 and 千 it is the weight, but for 一万两千.
        if simplified(c) == '两' && end > 0 && digit.is_none() && chinese_scale(behind).is_none() {
            break;
        }
        if let Some(value) = chinese_digit(c) {
            digit = Some(match digit {
                Some(before) if in_a_row > 0 => before * 10.0 + value,
                _ => value,
            });
            in_a_row += 1;
        } else if let Some(scale) = chinese_unit(c) {
            // 百 and 千 alone are words; 十 alone is ten.
            if digit.is_none() && group == 0.0 && total == 0.0 && scale > 10.0 {
                return None;
            }
            // `三四十` is two numbers.
            if digit.is_some_and(|digit| digit >= 10.0) {
                return None;
            }
            if scale < 1e4 {
                group += digit.take().unwrap_or(1.0) * scale;
            } else {
                let own = group + digit.take().unwrap_or(0.0);
                // 一万亿 and 四万万 are products, 一亿五千万 is a sum, and 三万五万 are two numbers.
                let is_again = scale == last_large;
                if is_again && own > 0.0 {
                    return None;
                }
                total = if scale < last_large { total + own * scale } else { (total + own) * scale };
                (group, last_large) = (0.0, if is_again { scale * scale } else { scale });
            }
            (in_a_row, last_scale) = (0, scale);
        } else if let Some(tens) = tens_of(c) {
            if digit.is_some() || group % 100.0 != 0.0 {
                return None;
            }
            group += tens;
            last_scale = 10.0;
        } else {
            break;
        }
        end = at + c.len_utf8();
    }
    // `两三` and `十二三` are two numbers, where `二〇` and `一九八四` are one.
    let ones = digit.unwrap_or(0.0);
    // The last unit may be left out: 三万五 is 35,000, and 一百零五 is 105.
    let scale = if in_a_row == 1 { last_scale / 10.0 } else { 1.0 };
    let is_two = ones >= 10.0 && (total + group > 0.0 || in_a_row == 2 && ones % 10.0 != 0.0);
    (end > 0 && !is_two).then(|| (total + group + ones * scale, &text[end..]))
}

/// The number in digits at the start, and what follows: 1亿5000万 goes on with less.
fn in_digits(text: &str) -> Option<(f64, &str)> {
    let (mut total, mut last_scale, mut rest) = scaled(text)?;
    loop {
        let lower = scaled(rest.strip_prefix('零').unwrap_or(rest));
        let Some((value, scale, behind)) = lower.filter(|(value, scale, _)| *scale > 1.0 && *value < last_scale) else {
            return Some((total, rest));
        };
        (total, last_scale, rest) = (total + value, scale, behind);
    }
}

/// Digits with the 千, 万 and 亿 behind them, what these multiply by, and what follows.
fn scaled(text: &str) -> Option<(f64, f64, &str)> {
    let (value, mut rest) = digits(text)?;
    let mut scale = 1.0;
    while let Some((own, behind)) = chinese_scale(rest) {
        scale *= own;
        rest = behind;
    }
    Some((value * scale, scale, rest))
}

fn chinese_scale(text: &str) -> Option<(f64, &str)> {
    let c = text.chars().next()?;
    let scale = chinese_unit(c)?;
    Some((scale, &text[c.len_utf8()..]))
}

/// A text with the numerals of cheques at its start as plain ones: 贰拾 is 二十. 陆军 and 二十万陆军 begin with none.
fn plain_numerals(text: &str) -> String {
    let place = |c: char| FORMAL.iter().position(|formal| *formal == simplified(c));
    let plain = |c: char| place(c).map_or(c, |place| PLAIN[place]);
    let is_scale = |c: char| chinese_unit(plain(c)).is_some();
    let is_of_cheques = |c: char| place(c).is_some() || matches!(simplified(c), '零' | '〇' | '万' | '亿');
    let (run, rest) = text.split_at(text.find(|c: char| !is_of_cheques(c)).unwrap_or(text.len()));
    match run.chars().any(is_scale) {
        true => run.chars().map(plain).chain(rest.chars()).collect(),
        false => text.to_owned(),
    }
}

/// Twenty, thirty and forty in one character.
fn tens_of(c: char) -> Option<f64> {
    match c {
        '廿' => Some(20.0),
        '卅' => Some(30.0),
        '卌' => Some(40.0),
        _ => None,
    }
}

fn chinese_digit(c: char) -> Option<f64> {
    if simplified(c) == '两' {
        return Some(2.0);
    }
    "〇一二三四五六七八九".chars().position(|digit| digit == c).or((c == '零').then_some(0)).map(|n| n as f64)
}

fn chinese_unit(c: char) -> Option<f64> {
    match simplified(c) {
        '十' => Some(10.0),
        '百' => Some(1e2),
        '千' => Some(1e3),
        '万' => Some(1e4),
        '亿' => Some(1e8),
        _ => None,
    }
}
