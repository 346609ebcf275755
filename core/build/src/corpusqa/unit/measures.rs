//! Names of physical units.

/// Kilograms of a pound, which is money as well.
pub(in crate::corpusqa) const POUND: f64 = 0.453_592_37;

/// Physical units: kind, factor, exact by definition, and their names; a plural's `s` is left out.
pub(super) const MEASURES: &[((&str, f64), &str)] = &[
    (("length", 0.001), "mm|millimetre|millimeter|公厘|毫米"),
    (("length", 0.01), "cm|centimetre|centimeter|公分|厘米"),
    (("length", 1.0), "m|metre|meter|米|公尺"),
    (("length", 1000.0), "km|kilometre|kilometer|公里|千米"),
    (("length", 1609.344), "英哩|英里|mi|mile"),
    (("length", 0.3048), "英呎|英尺|ft|foot|feet"),
    (("length", 0.0254), "英吋|英寸|inch|inches"),
    (("length", 1852.0), "海里|nmi|nautical mile"),
    (("length", 0.9144), "yd|yard"),
    (("area", 1.0), "sq m|sq. m|m²|m2|m^2|sqm|square metre|square meter|平方米|平方公尺"),
    (("area", 10_000.0), "ha|hectare|公顷|公頃"),
    (("area", 1_000_000.0), "平方千米|sq km|sq. km|km²|km2|km^2|square kilometre|square kilometer|平方公里"),
    (("area", 2_589_988.110_336), "平方英里|sq mi|sq. mi|square mile"),
    (("area", 0.092_903_04), "平方英尺|ft²|ft2|sqft|sq ft|sq. ft|square foot|square feet"),
    (("area", 4_046.856_422_4), "英亩|英畝|acre"),
    (("mass", 0.000_001), "mg|milligrams|毫克"),
    (("mass", 0.001), "g|gram|克"),
    (("mass", 1.0), "kg|kgs|kilogram|千克|公斤"),
    (("mass", 0.000_2), "克拉"),
    (("mass", POUND), "磅|lb|lbs"),
    (("mass", 1000.0), "噸|公噸|公吨|t|tonne|metric ton|吨"),
    (("mass", 0.028_349_523_125), "盎司|oz|ounce"),
];

/// A unit in the singular and in one of its spellings; a word that is not known stays as it is.
pub(super) fn in_one_spelling(word: &str) -> &str {
    match word {
        "hourly" => return "/hour",
        "daily" => return "/day",
        "weekly" => return "/week",
        "monthly" => return "/month",
        "yearly" | "annual" | "annually" | "p.a" => return "/year",
        "celsius" | "摄氏度" => return "°c",
        "ms" => return "msec",
        "s" => return "second",
        _ => {}
    }
    match word.strip_suffix('s').unwrap_or(word) {
        "bbl" => "barrel",
        "m3" | "cubic_metre" | "cubic_meter" => "m³",
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
        "立方米" | "立方公尺" => "m³",
        "桶" => "barrel",
        "加仑" | "加侖" => "gallon",
        "畝" => "亩",
        "兩" => "两",
        other => other,
    }
}
