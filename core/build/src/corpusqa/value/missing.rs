//! Cells without a value.

/// True of a cell without a value: empty, `n/a`, a dash.
pub(in crate::corpusqa) fn is_nothing(text: &str) -> bool {
    const WORDS: [&str; 23] = [
        "",
        "-",
        "--",
        "–",
        "—",
        "n/a",
        "na",
        "n.a.",
        "none",
        "null",
        "nil",
        "nan",
        "not available",
        "not stated",
        "not applicable",
        "unknown",
        "?",
        "无",
        "暂无",
        "不适用",
        "無",
        "暫無",
        "不適用",
    ];
    WORDS.contains(&text.to_lowercase().as_str())
}
