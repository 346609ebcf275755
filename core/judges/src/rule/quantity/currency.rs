//! Currencies of numbers: the sign before one, the word behind it.

/// Signs of currencies before a number, with the words that each may stand for; a plural has an `s` more.
const SIGNS: [(char, &[&str]); 4] = [
    ('$', &["dollar", "usd", "peso", "美元", "美金"]),
    ('£', &["pound", "gbp", "sterling", "lira", "lire", "英镑", "英鎊"]),
    ('€', &["euro", "eur", "欧元", "歐元"]),
    ('¥', &["yuan", "rmb", "cny", "yen", "jpy", "人民币", "人民幣", "日元", "日圆", "円"]),
];
/// Further currencies behind a number. `元` is none of them: in Hong Kong and Taiwan it is a dollar.
const OTHERS: [&str; 18] = [
    "won", "krw", "rupee", "inr", "franc", "chf", "rouble", "ruble", "rub", "reai", "krone", "kroner", "krona",
    "kronor", "韩元", "韓元", "卢布", "法郎",
];

/// True for the sign of a currency.
pub(super) fn is_sign(c: char) -> bool {
    SIGNS.iter().any(|(sign, _)| *sign == c)
}

/// True for a word that names a currency.
pub(super) fn is_name(word: &str) -> bool {
    let one = word.strip_suffix('s').unwrap_or(word);
    OTHERS.contains(&one) || SIGNS.iter().any(|(_, names)| names.contains(&one))
}

/// Whether a number with this sign may be one of this unit: not if the unit is another currency.
pub(super) fn fits(sign: char, unit: &str) -> bool {
    let word = unit.rsplit(' ').next().unwrap_or(unit);
    let is_of_sign = |(of, names): &(char, &[&str])| *of == sign && names.contains(&word);
    !is_name(word) || SIGNS.iter().any(is_of_sign)
}
