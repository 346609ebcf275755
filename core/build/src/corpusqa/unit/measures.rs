//! Names of physical units.

use super::Unit;

/// Kilograms of a pound, which is money as well.
pub(in crate::corpusqa) const POUND: f64 = 0.453_592_37;

/// Names of physical units: kind, factor, exact by definition.
pub(super) const MEASURES: &[(&str, &str, f64)] = &[
    ("mm", "length", 0.001),
    ("millimetre", "length", 0.001),
    ("millimetres", "length", 0.001),
    ("millimeter", "length", 0.001),
    ("millimeters", "length", 0.001),
    ("cm", "length", 0.01),
    ("centimetre", "length", 0.01),
    ("centimetres", "length", 0.01),
    ("centimeter", "length", 0.01),
    ("centimeters", "length", 0.01),
    ("m", "length", 1.0),
    ("metre", "length", 1.0),
    ("metres", "length", 1.0),
    ("meter", "length", 1.0),
    ("meters", "length", 1.0),
    ("米", "length", 1.0),
    ("km", "length", 1000.0),
    ("kilometre", "length", 1000.0),
    ("kilometres", "length", 1000.0),
    ("kilometer", "length", 1000.0),
    ("kilometers", "length", 1000.0),
    ("公里", "length", 1000.0),
    ("千米", "length", 1000.0),
    ("公尺", "length", 1.0),
    ("公分", "length", 0.01),
    ("公厘", "length", 0.001),
    ("英哩", "length", 1609.344),
    ("英呎", "length", 0.3048),
    ("英吋", "length", 0.0254),
    ("厘米", "length", 0.01),
    ("毫米", "length", 0.001),
    ("英里", "length", 1609.344),
    ("英尺", "length", 0.3048),
    ("英寸", "length", 0.0254),
    ("海里", "length", 1852.0),
    ("nmi", "length", 1852.0),
    ("mi", "length", 1609.344),
    ("mile", "length", 1609.344),
    ("miles", "length", 1609.344),
    ("nautical mile", "length", 1852.0),
    ("nautical miles", "length", 1852.0),
    ("ft", "length", 0.3048),
    ("foot", "length", 0.3048),
    ("feet", "length", 0.3048),
    ("inch", "length", 0.0254),
    ("inches", "length", 0.0254),
    ("yd", "length", 0.9144),
    ("yard", "length", 0.9144),
    ("yards", "length", 0.9144),
    ("sq m", "area", 1.0),
    ("sq. m", "area", 1.0),
    ("m²", "area", 1.0),
    ("m2", "area", 1.0),
    ("m^2", "area", 1.0),
    ("sqm", "area", 1.0),
    ("square metre", "area", 1.0),
    ("square metres", "area", 1.0),
    ("square meter", "area", 1.0),
    ("square meters", "area", 1.0),
    ("平方米", "area", 1.0),
    ("ha", "area", 10_000.0),
    ("hectare", "area", 10_000.0),
    ("hectares", "area", 10_000.0),
    ("公顷", "area", 10_000.0),
    ("公頃", "area", 10_000.0),
    ("平方公尺", "area", 1.0),
    ("平方千米", "area", 1_000_000.0),
    ("平方英里", "area", 2_589_988.110_336),
    ("平方英尺", "area", 0.092_903_04),
    ("英亩", "area", 4_046.856_422_4),
    ("英畝", "area", 4_046.856_422_4),
    ("ft²", "area", 0.092_903_04),
    ("ft2", "area", 0.092_903_04),
    ("sqft", "area", 0.092_903_04),
    ("sq km", "area", 1_000_000.0),
    ("sq. km", "area", 1_000_000.0),
    ("km²", "area", 1_000_000.0),
    ("km2", "area", 1_000_000.0),
    ("km^2", "area", 1_000_000.0),
    ("square kilometre", "area", 1_000_000.0),
    ("square kilometres", "area", 1_000_000.0),
    ("square kilometer", "area", 1_000_000.0),
    ("square kilometers", "area", 1_000_000.0),
    ("平方公里", "area", 1_000_000.0),
    ("sq mi", "area", 2_589_988.110_336),
    ("sq. mi", "area", 2_589_988.110_336),
    ("square mile", "area", 2_589_988.110_336),
    ("square miles", "area", 2_589_988.110_336),
    ("sq ft", "area", 0.092_903_04),
    ("sq. ft", "area", 0.092_903_04),
    ("square foot", "area", 0.092_903_04),
    ("square feet", "area", 0.092_903_04),
    ("acre", "area", 4_046.856_422_4),
    ("acres", "area", 4_046.856_422_4),
    ("mg", "mass", 0.000_001),
    ("milligrams", "mass", 0.000_001),
    ("g", "mass", 0.001),
    ("gram", "mass", 0.001),
    ("grams", "mass", 0.001),
    ("kg", "mass", 1.0),
    ("kgs", "mass", 1.0),
    ("kilogram", "mass", 1.0),
    ("kilograms", "mass", 1.0),
    ("千克", "mass", 1.0),
    ("公斤", "mass", 1.0),
    ("毫克", "mass", 0.000_001),
    ("克", "mass", 0.001),
    ("克拉", "mass", 0.000_2),
    ("磅", "mass", POUND),
    ("噸", "mass", 1000.0),
    ("公噸", "mass", 1000.0),
    ("公吨", "mass", 1000.0),
    ("盎司", "mass", 0.028_349_523_125),
    ("t", "mass", 1000.0),
    ("tonne", "mass", 1000.0),
    ("tonnes", "mass", 1000.0),
    ("metric ton", "mass", 1000.0),
    ("metric tons", "mass", 1000.0),
    ("吨", "mass", 1000.0),
    ("lb", "mass", POUND),
    ("lbs", "mass", POUND),
    ("oz", "mass", 0.028_349_523_125),
    ("ounce", "mass", 0.028_349_523_125),
    ("ounces", "mass", 0.028_349_523_125),
];

/// True if words name a unit that does not convert, and that `held` does not name: one that is none of [`MEASURES`], or is of
/// several sizes. A `ton` is 907 kg, 1,000 kg or 1,016 kg.
pub(in crate::corpusqa) fn is_other_measure(words: &str, held: &str) -> bool {
    other_measure(words).is_some_and(|word| counted(held).all(|known| known != word))
}

/// Returns the first unit among words that does not convert, in one spelling; none behind `per`.
pub(in crate::corpusqa) fn other_measure(words: &str) -> Option<&str> {
    counted(words).find(|word| OTHERS.contains(word))
}

/// The words before `per` or a slash, each in one spelling.
fn counted(words: &str) -> impl Iterator<Item = &str> {
    let before_rate = words.split_whitespace().take_while(|word| !is_rate(word));
    before_rate.map(|word| in_one_spelling(word.split_once('/').map_or(word, |(before, _)| before)))
}

fn is_rate(word: &str) -> bool {
    matches!(word, "per" | "a" | "an")
}

/// A unit in the singular and in the spelling of [`OTHERS`].
fn in_one_spelling(word: &str) -> &str {
    match word {
        "celsius" | "摄氏度" => return "°c",
        "ms" => return "msec",
        "s" => return "second",
        _ => {}
    }
    match word.strip_suffix('s').unwrap_or(word) {
        "bbl" => "barrel",
        "m³" | "m3" => "cubic",
        "℃" => "°c",
        "℉" | "fahrenheit" => "°f",
        "gal" => "gallon",
        "gigabyte" => "gb",
        "gigawatt" => "gw",
        "h" | "hr" => "hour",
        "horsepower" => "hp",
        "kilobyte" => "kb",
        "kilowatt" => "kw",
        "l" | "liter" => "litre",
        "megabyte" => "mb",
        "megawatt" => "mw",
        "milliliter" | "millilitre" => "ml",
        "min" => "minute",
        "mo" => "month",
        "sec" => "second",
        "terabyte" => "tb",
        "watt" => "w",
        "wk" => "week",
        "annum" | "yr" => "year",
        "年" => "year",
        "个月" | "個月" | "月" => "month",
        "周" | "週" | "星期" => "week",
        "天" | "日" => "day",
        "小时" | "小時" => "hour",
        "分钟" | "分鐘" => "minute",
        "秒" => "second",
        "升" | "公升" => "litre",
        "毫升" => "ml",
        "立方米" | "立方公尺" => "cubic",
        "桶" => "barrel",
        "加仑" | "加侖" => "gallon",
        "畝" => "亩",
        "兩" => "两",
        other => other,
    }
}

/// The time that a rate is of, in one spelling: `month` of `per month`, `/month` and `monthly`.
pub(in crate::corpusqa) fn period(words: &str) -> Option<&str> {
    const PERIODS: [&str; 7] = ["second", "minute", "hour", "day", "week", "month", "year"];
    let last = words.rsplit([' ', '/']).next()?;
    let before = words[..words.len() - last.len()].trim_end();
    let of = match last {
        "hourly" => "hour",
        "daily" => "day",
        "weekly" => "week",
        "monthly" => "month",
        "yearly" | "annually" => "year",
        time if before.ends_with('/') || before.split_whitespace().next_back().is_some_and(is_rate) => {
            in_one_spelling(time)
        }
        _ => return None,
    };
    PERIODS.contains(&of).then_some(of)
}

/// True if an amount of money may be a larger one: `5 mil` are thousands or millions, `5 cr` crores or a credit, `5 T` trillions,
/// `5兆` trillions or millions. In a column of `USD mil`, which `held` is, `5 mil` is 5.
pub(in crate::corpusqa) fn may_be_more(own: &Unit, held: &Unit) -> bool {
    let is_known = |word: &str| held.rest.split_whitespace().any(|known| known == word);
    let is_vague = |word: &str| matches!(word, "mil" | "mill" | "cr" | "crs" | "兆") && !is_known(word);
    let mut words = own.rest.split_whitespace();
    words.clone().any(is_vague) || own.measure.is_some() && !words.next().is_some_and(is_rate)
}

/// Units that do not convert, as [`in_one_spelling`] gives them.
const OTHERS: [&str; 69] = [
    "barrel", "bushel", "carat", "cl", "cubic", "day", "fathom", "gallon", "gb", "gbit", "gbp", "ghz", "gw", "gwh",
    "hl", "hour", "hp", "hpa", "hz", "kb", "kbit", "kbp", "kcal", "khz", "kj", "knot", "kpa", "kt", "kv", "kw", "kwh",
    "litre", "mb", "mbit", "mbp", "mhz", "minute", "ml", "month", "mpa", "mph", "msec", "mt", "mw", "mwh", "nm", "psi",
    "quintal", "second", "stone", "tb", "ton", "tw", "twh", "w", "week", "wh", "year", "°c", "°f", "亩", "里", "尺",
    "寸", "斤", "两", "瓦", "瓦时", "坪",
];
