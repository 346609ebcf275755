//! Words and letters of magnitudes.

use super::behind;

/// Words of magnitudes with the power of ten. `m` is one as well, where no length is meant.
pub(super) const MAGNITUDES: [(&str, i32); 56] = [
    ("hundred", 2),
    ("thousand", 3),
    ("thousands", 3),
    ("'000", 3),
    ("'000s", 3),
    ("000s", 3),
    ("k", 3),
    ("million", 6),
    ("millions", 6),
    ("mio", 6),
    ("mn", 6),
    ("mln", 6),
    ("mm", 6),
    ("billion", 9),
    ("billions", 9),
    ("bn", 9),
    ("bln", 9),
    ("bil", 9),
    ("b", 9),
    ("trillion", 12),
    ("trillions", 12),
    ("tn", 12),
    ("trn", 12),
    ("lakh", 5),
    ("lakhs", 5),
    ("crore", 7),
    ("crores", 7),
    ("千", 3),
    ("万", 4),
    ("百万", 6),
    ("千万", 7),
    ("亿", 8),
    ("十亿", 9),
    ("万亿", 12),
    ("萬", 4),
    ("百萬", 6),
    ("千萬", 7),
    ("億", 8),
    ("十億", 9),
    ("萬億", 12),
    (TRILLION_OF_MONEY, 12),
    ("만", 4),
    ("억", 8),
    ("tsd", 3),
    ("millionen", 6),
    ("mrd", 9),
    ("mld", 9),
    ("milliarden", 9),
    ("milliard", 9),
    ("milliards", 9),
    ("millones", 6),
    ("тыс", 3),
    ("млн", 6),
    ("млрд", 9),
    ("трлн", 12),
    ("billionen", 12),
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
