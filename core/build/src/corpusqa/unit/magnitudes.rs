//! Words and letters of magnitudes.

use super::behind;

/// Powers of ten with their words; a plural's `s` is left out. `m` is one as well, where no length is meant.
pub(super) const MAGNITUDES: &[(i32, &str)] = &[
    (2, "hundred"),
    (3, "thousand|'000|000s|k|千|tsd|тыс"),
    (4, "万|萬|만"),
    (5, "lakh"),
    (6, "million|mio|mn|mln|mm|百万|百萬|millionen|millones|млн"),
    (7, "crore|千万|千萬"),
    (8, "亿|億|억"),
    (9, "billion|bn|bln|bil|b|十亿|十億|mrd|mld|milliarden|milliard|млрд"),
    (12, "trillion|tn|trn|万亿|萬億|трлн|billionen|兆"),
];

/// A trillion before a currency; elsewhere also a million.
pub(super) const TRILLION_OF_MONEY: &str = "兆";

/// Prefixes of watts with the power of ten. 千瓦 begins with a magnitude.
pub(super) const WATTS: [(&str, i32); 3] = [("兆瓦", 6), ("吉瓦", 9), ("太瓦", 12)];

/// The power of ten of a letter before a currency, as in `TEUR`, `MSEK` and `T€`.
pub(super) fn before_currency(text: &str) -> Option<i32> {
    const CODES: [&str; 10] = ["€", "eur", "usd", "gbp", "chf", "sek", "nok", "dkk", "pln", "czk"];
    let power = match text.as_bytes().first()? {
        b'k' | b't' => 3,
        b'm' => 6,
        _ => return None,
    };
    CODES.iter().any(|code| behind(&text[1..], code).is_some()).then_some(power)
}
