//! Units as people write them behind numbers and over columns: magnitudes, currencies, measures.

mod magnitudes;
mod measures;

use magnitudes::{MAGNITUDES, TRILLION_OF_MONEY, WATTS, before_currency};
use measures::MEASURES;
pub(super) use measures::{POUND, is_other_measure, may_be_more, other_measure, period};

/// The unit of a number, as its words say it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Unit {
    /// Power of ten: 6 for `million`; `None` where none is named.
    pub(super) exponent: Option<i32>,
    /// Currency of the unit, as ISO 4217 code, or a name that several have.
    pub(super) currency: Option<&'static str>,
    /// A length, an area or a mass.
    pub(super) measure: Option<Measure>,
    /// A share: percent points a unit, 1 for percent, 0.1 for per mille, 0.01 for basis points.
    pub(super) share: Option<f64>,
    /// Words that are none of these, in lower case.
    pub(super) rest: String,
}

/// A physical unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measure {
    /// Kind of what the unit measures: units of different kinds do not convert.
    pub(super) kind: &'static str,
    /// Factor to the kind's base unit (metre, square metre, kilogram).
    pub(super) factor: f64,
}

/// Signs, codes and names of currencies; longer ones first where one begins another.
const CURRENCIES: &[(&str, &str)] = &[
    ("us$", "USD"),
    ("hk$", "HKD"),
    ("c$", "CAD"),
    ("a$", "AUD"),
    ("s$", "SGD"),
    ("nt$", "TWD"),
    ("$", "USD"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("¥", "CNY"),
    ("￥", "CNY"),
    ("₹", "INR"),
    ("usd", "USD"),
    ("eur", "EUR"),
    ("gbp", "GBP"),
    ("cny", "CNY"),
    ("rmb", "CNY"),
    ("jpy", "JPY"),
    ("hkd", "HKD"),
    ("cad", "CAD"),
    ("aud", "AUD"),
    ("sgd", "SGD"),
    ("chf", "CHF"),
    ("inr", "INR"),
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("sterling", "GBP"),
    ("yuan", "CNY"),
    ("renminbi", "CNY"),
    ("yen", "JPY"),
    ("人民币元", "CNY"),
    ("人民币", "CNY"),
    ("美元", "USD"),
    ("港元", "HKD"),
    ("港币", "HKD"),
    ("欧元", "EUR"),
    ("英镑", "GBP"),
    ("日元", "JPY"),
    ("日圓", "JPY"),
    ("円", "JPY"),
    ("克朗", "krone"),
    ("元", "CNY"),
    ("u.s. dollars", "USD"),
    ("us dollars", "USD"),
    ("hong kong dollars", "HKD"),
    ("nz$", "NZD"),
    ("r$", "BRL"),
    ("₩", "KRW"),
    ("₽", "RUB"),
    ("₺", "TRY"),
    ("₫", "VND"),
    ("฿", "THB"),
    ("₪", "ILS"),
    ("₱", "PHP"),
    ("₦", "NGN"),
    ("¢", "cent"),
    ("zł", "PLN"),
    ("kč", "CZK"),
    ("kr", "krone"),
    ("sek", "SEK"),
    ("nok", "NOK"),
    ("dkk", "DKK"),
    ("isk", "ISK"),
    ("pln", "PLN"),
    ("czk", "CZK"),
    ("huf", "HUF"),
    ("ron", "RON"),
    ("bgn", "BGN"),
    ("rub", "RUB"),
    ("uah", "UAH"),
    ("brl", "BRL"),
    ("mxn", "MXN"),
    ("ars", "ARS"),
    ("clp", "CLP"),
    ("krw", "KRW"),
    ("twd", "TWD"),
    ("thb", "THB"),
    ("idr", "IDR"),
    ("myr", "MYR"),
    ("php", "PHP"),
    ("vnd", "VND"),
    ("pkr", "PKR"),
    ("bdt", "BDT"),
    ("lkr", "LKR"),
    ("egp", "EGP"),
    ("ngn", "NGN"),
    ("kes", "KES"),
    ("zar", "ZAR"),
    ("ils", "ILS"),
    ("sar", "SAR"),
    ("aed", "AED"),
    ("qar", "QAR"),
    ("kwd", "KWD"),
    ("nzd", "NZD"),
    ("pound", "pound"),
    ("pounds", "pound"),
    ("pounds sterling", "GBP"),
    ("pence", "penny"),
    ("cent", "cent"),
    ("cents", "cent"),
    ("franc", "franc"),
    ("francs", "franc"),
    ("swiss francs", "CHF"),
    ("rupee", "rupee"),
    ("rupees", "rupee"),
    ("rouble", "RUB"),
    ("roubles", "RUB"),
    ("rubles", "RUB"),
    ("peso", "peso"),
    ("pesos", "peso"),
    ("reais", "BRL"),
    ("zloty", "PLN"),
    ("krona", "krone"),
    ("kronor", "krone"),
    ("krone", "krone"),
    ("kroner", "krone"),
    ("lira", "TRY"),
    ("lire", "ITL"),
    ("dm", "DEM"),
    ("canadian dollars", "CAD"),
    ("australian dollars", "AUD"),
    ("new zealand dollars", "NZD"),
    ("singapore dollars", "SGD"),
    ("ca$", "CAD"),
    ("au$", "AUD"),
    ("mx$", "MXN"),
    ("taiwan dollars", "TWD"),
    ("rs", "rupee"),
    ("rs.", "rupee"),
    ("baht", "THB"),
    ("ringgit", "MYR"),
    ("rand", "ZAR"),
    ("shekel", "ILS"),
    ("shekels", "ILS"),
    ("naira", "NGN"),
    ("taka", "BDT"),
    ("rupiah", "IDR"),
    ("forint", "HUF"),
    ("hryvnia", "UAH"),
    ("人民幣", "CNY"),
    ("美金", "USD"),
    ("港幣", "HKD"),
    ("歐元", "EUR"),
    ("英鎊", "GBP"),
    ("澳元", "AUD"),
    ("加元", "CAD"),
    ("新加坡元", "SGD"),
    ("新元", "SGD"),
    ("台币", "TWD"),
    ("台幣", "TWD"),
    ("新台币", "TWD"),
    ("新台幣", "TWD"),
    ("韩元", "KRW"),
    ("韓元", "KRW"),
    ("卢布", "RUB"),
    ("瑞士法郎", "CHF"),
    ("法郎", "franc"),
    ("卢比", "rupee"),
    ("比索", "peso"),
    ("泰铢", "THB"),
    ("林吉特", "MYR"),
    ("兰特", "ZAR"),
    ("越南盾", "VND"),
    ("印尼盾", "IDR"),
];

impl Unit {
    /// Reads a unit: `USD million`, `in thousands of euros`, `sq km`, `%`, `亿元`, `dwellings`.
    pub(super) fn read(text: &str) -> Self {
        let mut unit = Self::default();
        let lower = text.to_lowercase();
        let mut rest = lower.trim().trim_matches(['(', ')', '（', '）', '.', ',', ':']).trim();
        while !rest.is_empty() {
            rest = unit.one(rest).trim_start();
        }
        unit.rest = unit.rest.trim().to_owned();
        unit.of_money(false)
    }

    /// Takes millimetres for millions where the amount is money.
    pub(super) fn of_money(mut self, is_money: bool) -> Self {
        let is_mm = self.measure.is_some_and(|measure| measure.kind == "length" && measure.factor == 0.001);
        if is_mm && (is_money || self.currency.is_some()) {
            (self.measure, self.exponent) = (None, Some(self.exponent.unwrap_or(0) + 6));
        }
        self
    }

    /// Reads what stands first and gives what follows.
    fn one<'t>(&mut self, text: &'t str) -> &'t str {
        for (name, percent_points) in [
            ("%", 1.0),
            ("％", 1.0),
            ("percent", 1.0),
            ("per cent", 1.0),
            ("‰", 0.1),
            ("basis points", 0.01),
            ("bps", 0.01),
        ] {
            if let Some(rest) = behind(text, name) {
                self.share = Some(percent_points);
                return rest;
            }
        }
        // A tenth, as in `3成`.
        if text == "成" {
            self.share = Some(10.0);
            return "";
        }
        if let Some((prefix, power)) = WATTS.iter().find(|(name, _)| text.starts_with(name)) {
            self.exponent = Some(self.exponent.unwrap_or(0) + power);
            return &text[prefix.len() - "瓦".len()..];
        }
        if let Some(power) = before_currency(text) {
            self.exponent = Some(self.exponent.unwrap_or(0) + power);
            return &text[1..];
        }
        let measure = longest(text, MEASURES.iter().map(|(name, ..)| *name));
        let currency = longest(text, CURRENCIES.iter().map(|(name, _)| *name)).or_else(|| glued(text));
        let is_of_money = |name: &&str| {
            *name != TRILLION_OF_MONEY
                || text[name.len()..].starts_with(['元', '円', '圓', '日', '美', '港', '韓', '韩'])
        };
        let magnitude = longest(text, MAGNITUDES.iter().map(|(name, _)| *name)).filter(is_of_money);
        let (n_measure, n_magnitude) = (measure.map_or(0, str::len), magnitude.map_or(0, str::len));
        if let Some(name) = currency.filter(|name| name.len() >= n_magnitude) {
            // 新台币元 is all one currency.
            if name != "元" || self.currency.is_none() {
                self.currency = CURRENCIES.iter().find(|(known, _)| *known == name).map(|(_, code)| *code);
            }
            return &text[name.len()..];
        }
        // `mm` are millions of money alone, and else millimetres.
        if let Some(name) =
            magnitude.filter(|name| n_magnitude >= n_measure && (*name != "mm" || self.currency.is_some()))
        {
            let power = MAGNITUDES.iter().find(|(known, _)| *known == name).map_or(0, |(_, power)| *power);
            self.exponent = Some(self.exponent.unwrap_or(0) + power);
            return &text[name.len()..];
        }
        // Behind money, or before nothing else that is measured, `m` is a million; a column in metres names them.
        if let Some(rest) = behind(text, "m").filter(|_| self.currency.is_some()) {
            self.exponent = Some(self.exponent.unwrap_or(0) + 6);
            return rest;
        }
        if let Some(name) = measure.filter(|_| self.measure.is_none()) {
            let known = MEASURES.iter().find(|(known, ..)| *known == name);
            self.measure = known.map(|(_, kind, factor)| Measure { kind, factor: *factor });
            return &text[name.len()..];
        }
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let word = text[..end].trim_matches([',', '.', ';']);
        if !matches!(word, "in" | "of" | "the" | "") {
            self.rest.push_str(word);
            self.rest.push(' ');
        }
        &text[end..]
    }
}

/// Whether an amount of one currency can stand in a column of another: `kr` where it is in SEK.
pub(super) fn may_be(own: &str, held: &str) -> bool {
    const SEVERAL: [(&str, &[&str]); 5] = [
        ("franc", &["CHF", "FRF", "XOF"]),
        ("krone", &["DKK", "ISK", "NOK", "SEK"]),
        ("peso", &["ARS", "CLP", "COP", "MXN", "PHP"]),
        ("pound", &["EGP", "GBP"]),
        ("rupee", &["INR", "LKR", "PKR"]),
    ];
    let is_one = |name: &str, code: &str| SEVERAL.iter().any(|(known, codes)| *known == name && codes.contains(&code));
    own == held || is_one(own, held) || is_one(held, own)
}

/// The longest of these names that the text begins with, as a word of its own.
fn longest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names.filter(|name| behind(text, name).is_some()).max_by_key(|name| name.len())
}

/// The code of a currency to which a magnitude is glued: `EURm`.
fn glued(text: &str) -> Option<&'static str> {
    let is_magnitude =
        |rest: &str| ["k", "m", "mio", "mn", "mln", "bn"].iter().any(|name| behind(rest, name).is_some());
    let codes =
        CURRENCIES.iter().map(|(name, _)| *name).filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase()));
    codes.filter(|name| name.len() == 3).find(|name| text.strip_prefix(name).is_some_and(is_magnitude))
}

/// Returns what follows `name`, if the text begins with it and no letter of a longer word follows: Chinese is written
/// without gaps.
fn behind<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(name)?;
    let latin = name.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
    let goes_on = rest.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '²' | '³'));
    (!latin || !goes_on).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_a_magnitude_of_something() {
        let of = |text: &str| {
            let unit = Unit::read(text);
            (unit.exponent, unit.currency, unit.measure.map(|measure| measure.kind), unit.rest)
        };
        let none = String::new;
        assert_eq!(of("USD million"), (Some(6), Some("USD"), None, none()));
        assert_eq!(of("in thousands of euros"), (Some(3), Some("EUR"), None, none()));
        assert_eq!(of("€m"), (Some(6), Some("EUR"), None, none()));
        assert_eq!(of("US$ bn"), (Some(9), Some("USD"), None, none()));
        assert_eq!(of("亿元"), (Some(8), Some("CNY"), None, none()));
        assert_eq!(of("万美元"), (Some(4), Some("USD"), None, none()));
        assert_eq!(of("億円"), (Some(8), Some("JPY"), None, none()));
        assert_eq!(of("新台幣千元"), (Some(3), Some("TWD"), None, none()));
        assert_eq!(of("兆円"), (Some(12), Some("JPY"), None, none()));
        assert_eq!(of("兆瓦"), (Some(6), None, None, "瓦".to_owned()));
        assert_eq!(of("TEUR"), (Some(3), Some("EUR"), None, none()));
        assert_eq!(of("MSEK"), (Some(6), Some("SEK"), None, none()));
        assert_eq!(of("T€"), (Some(3), Some("EUR"), None, none()));
        assert_eq!(of("Mrd. €"), (Some(9), Some("EUR"), None, none()));
        assert_eq!(of("млн"), (Some(6), None, None, none()));
        assert_eq!(of("sq km"), (None, None, Some("area"), none()));
        assert_eq!(of("m"), (None, None, Some("length"), none()));
        assert_eq!(of("million sq km"), (Some(6), None, Some("area"), none()));
        assert_eq!(of("dwellings"), (None, None, None, "dwellings".to_owned()));
        assert_eq!(of("thousand members"), (Some(3), None, None, "members".to_owned()));
        assert_eq!(of("SEKm"), (Some(6), Some("SEK"), None, none()));
        assert_eq!(of("Swiss francs"), (None, Some("CHF"), None, none()));
        assert_eq!(of("mm USD"), (Some(6), Some("USD"), None, none()));
        assert_eq!(of("mm"), (None, None, Some("length"), none()));
        assert_eq!(of("people"), (None, None, None, "people".to_owned()));
        assert_eq!(Unit::read("%").share, Some(1.0));
        assert_eq!(Unit::read("basis points").share, Some(0.01));
    }
}
