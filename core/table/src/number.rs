//! Numbers as people read them: percent, thousands, p-values.

use closeread_metrics::stats::{Estimate, IntervalMethod};
pub use closeread_text::{counted, thousands};

/// Text that stands for a number that is not available.
pub(super) const NOT_AVAILABLE: &str = "-";

/// A share in percent with one decimal, e.g. `54.1`; a number that is none gives `-`.
pub fn percent(share: f64) -> String {
    decimal(100.0 * share, 1)
}

/// A difference of shares in percent points with its sign, e.g. `+3.1`.
pub fn points(difference: f64) -> String {
    let text = percent(difference);
    if difference > 0.0 && text != NOT_AVAILABLE { format!("+{text}") } else { text }
}

/// A score with its 95% interval in percent, `54.1 [43.6, 64.3]`; marked with `*` where the interval is over items.
pub fn score(estimate: &Estimate) -> String {
    let mark = if is_over_items(estimate.interval) { "*" } else { "" };
    format!("{} [{}, {}]{mark}", percent(estimate.value), percent(estimate.low), percent(estimate.high))
}

/// True for intervals that ignore that the questions about a book belong together.
pub fn is_over_items(interval: IntervalMethod) -> bool {
    !matches!(interval, IntervalMethod::ClusteredByBook | IntervalMethod::BootstrapByBook)
}

/// A number with that many decimals; one without decimals has commas between its thousands. What is not zero is not
/// shown as zero (`<0.0001`), and what is no number is `-`.
pub fn number(value: f64, decimals: u8) -> String {
    if value != 0.0 && value.is_finite() && decimals > 0 {
        let smallest = libm::pow(10.0, -f64::from(decimals));
        if value.abs() < 0.5 * smallest {
            let sign = if value > 0.0 { "<" } else { ">-" };
            return format!("{sign}{}", decimal(smallest, decimals));
        }
    }
    if decimals == 0 && value.abs() < 1e15 && value.is_finite() {
        let rounded = value.round();
        let digits = thousands(rounded.abs() as u64);
        return if rounded < 0.0 { format!("-{digits}") } else { digits };
    }
    decimal(value, decimals)
}

/// A number as a paper prints it, and its deviation behind `sign` where it has one: with exactly that many decimals, without any
/// with commas between its thousands, and with an exponent if it is below the last of four decimals or more.
pub(super) fn with_deviation(value: f64, sd: Option<f64>, decimals: u8, sign: &str) -> String {
    let number = match (decimals, libm::pow(10.0, -f64::from(decimals))) {
        (0, _) => number(value, 0),
        // A p-value: the papers print an exponent where four digits would be zeros.
        (4.., smallest) if value != 0.0 && value.abs() < smallest => format!("{value:.*e}", usize::from(decimals)),
        _ => decimal(value, decimals),
    };
    sd.map_or(number.clone(), |sd| format!("{number}{sign}{}", decimal(sd, decimals)))
}

/// Returns a metric's name in a head: its name, the spelling of its field where that differs.
pub fn metric_label(metric: &str) -> String {
    match metric {
        "f1" => "F1".to_owned(),
        "f1_v2" => "F1 (v2)".to_owned(),
        "rouge1" => "ROUGE-1".to_owned(),
        "rouge2" => "ROUGE-2".to_owned(),
        "rougeL" => "ROUGE-L".to_owned(),
        "rougeLsum" => "ROUGE-Lsum".to_owned(),
        "meteor" => "METEOR".to_owned(),
        "infinitebench_en_f1" => "InfiniteBench F1 (en)".to_owned(),
        "infinitebench_zh_f1" => "InfiniteBench F1 (zh)".to_owned(),
        name => match name.strip_prefix("bleu_") {
            Some(order) => format!("BLEU-{order}"),
            None => name.replace('_', " "),
        },
    }
}

fn decimal(value: f64, decimals: u8) -> String {
    if !value.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    let text = format!("{value:.*}", usize::from(decimals));
    // A difference of -0.04 points is not a negative zero.
    let is_zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    text.strip_prefix('-').filter(|_| is_zero).map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_papers_print_them() {
        let plain = |value: f64, decimals: u8| with_deviation(value, None, decimals, " ± ");
        assert_eq!([plain(0.0879, 4), plain(3.069_61e-9, 4), plain(0.0, 4)], ["0.0879", "3.0696e-9", "0.0000"]);
        assert_eq!(
            [plain(28_980.4, 0), plain(0.04, 1), with_deviation(54.0, Some(0.5), 1, " ± ")],
            ["28,980", "0.0", "54.0 ± 0.5"]
        );
    }

    #[test]
    fn numbers_as_they_are_printed() {
        assert_eq!([percent(0.5412), percent(1.0), percent(-0.0001), percent(f64::NAN)], ["54.1", "100.0", "0.0", "-"]);
        assert_eq!([points(0.031), points(-0.031), points(0.0)], ["+3.1", "-3.1", "0.0"]);
        assert_eq!([thousands(0), thousands(999), thousands(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([number(29_604.6, 0), number(-1_200.0, 0), number(0.3, 0)], ["29,605", "-1,200", "0"]);
        assert_eq!([number(0.04321, 4), number(3e-24, 4), number(-3e-24, 2)], ["0.0432", "<0.0001", ">-0.01"]);
        assert_eq!([number(0.0, 4), number(f64::INFINITY, 2), number(f64::NAN, 0)], ["0.0000", "-", "-"]);
    }
}
