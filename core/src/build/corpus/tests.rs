//! What a corpus promises, checked by a reader that knows nothing of how reports are written.

use super::*;
use crate::text::tokens::Tokenizer;
use proptest::prelude::*;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

fn spec(seed: u64, n_documents: usize, language: CorpusLanguage, tokens_per_document: usize) -> CorpusSpec {
    CorpusSpec { seed, n_documents, language, tokens_per_document }
}

/// Everything a corpus writes, as one text.
fn everything(spec: CorpusSpec) -> String {
    let corpus = Corpus::new(spec).expect("the spec is in range");
    let mut out: Vec<String> = vec![corpus.manifest().to_string()];
    out.extend(corpus.csv_lines());
    out.extend(corpus.json_lines().map(|row| Value::from(row).to_string()));
    for report in corpus.reports() {
        out.push(serde_json::to_string(&report.document).expect("documents serialise"));
        out.push(report.markdown);
    }
    out.extend(corpus.items().map(|item| serde_json::to_string(&item).expect("items serialise")));
    out.join("\n")
}

/// All amounts in a stretch of text in the units of the table: things, currency, hundredths of a per cent.
///
/// `unit` is that of a table's row or column, and empty in prose, where it stands beside the number.
fn amounts(text: &str, unit: &str) -> BTreeSet<u64> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        let units = "million euros|thousand euros|per cent|per thousand|亿元|万元|万|%";
        Regex::new(&format!(r"(千分之)?(\d[\d,]*)(?:\.(\d+))?(?: ?({units}))?")).expect("the pattern is valid")
    });
    let words = ["three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let lower = text.to_lowercase();
    let mut found: BTreeSet<u64> = words
        .iter()
        .zip(3..)
        .filter(|(word, _)| lower.split(|c: char| !c.is_alphabetic()).any(|part| part == **word))
        .map(|(_, n)| n)
        .collect();
    for hit in NUMBER.captures_iter(text) {
        let beside = if hit.get(1).is_some() { "‰" } else { hit.get(4).map_or(unit, |unit| unit.as_str()) };
        let factor: u64 = match beside {
            "million euros" | "EUR million" => 1_000_000,
            "thousand euros" | "EUR thousand" => 1_000,
            "per cent" | "%" => 100,
            "per thousand" | "‰" => 10,
            "亿元" => 100_000_000,
            "万元" | "万" => 10_000,
            _ => 1,
        };
        let whole: u64 = hit[2].replace(',', "").parse().expect("digits");
        let (fraction, places) = hit
            .get(3)
            .map_or((0, 0), |fraction| (fraction.as_str().parse().expect("digits"), fraction.as_str().len() as u32));
        found.insert(whole * factor + fraction * factor / 10u64.pow(places));
    }
    found
}

/// The value of a fact by the rule that the latest counts: a later note, or else the tables and the prose.
fn check_fact(markdown: &str, column: &Column, cell: &str, language: CorpusLanguage) -> Result<(), String> {
    let lost = |where_: &str| Err(format!("{} {cell} not in {where_} of:\n{markdown}", column.key));
    let digits = cell.replace('.', "");
    match column.value_type {
        ValueType::Name | ValueType::Category => {
            if markdown.contains(cell) {
                Ok(())
            } else {
                lost("the text")
            }
        }
        ValueType::YearMonth => {
            let (year, month) = cell.split_once('-').expect("YYYY-MM");
            let month: usize = month.parse().expect("a month");
            let names = "January February March April May June July August September October November December";
            let written = match language {
                CorpusLanguage::English => {
                    format!("{} {year}", names.split(' ').nth(month - 1).expect("a month of twelve"))
                }
                CorpusLanguage::Chinese => format!("{year}年{month}月"),
            };
            if markdown.contains(&written) { Ok(()) } else { lost("the text") }
        }
        ValueType::Count | ValueType::Money | ValueType::Number | ValueType::Percentage => {
            let truth: u64 = digits.parse().expect("digits");
            let about_2025 = |line: &&str| {
                line.starts_with("**")
                    && line.contains(column.title)
                    && !line.contains("for 2024")
                    && !line.contains("2024年")
            };
            if let Some(note) = markdown.lines().find(about_2025) {
                return if amounts(note, "").contains(&truth) { Ok(()) } else { lost("the note") };
            }
            let row = markdown.lines().find(|line| line.starts_with(&format!("| {} |", column.title)));
            if let Some(row) = row {
                let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
                let [_, unit, _, _, now] = cells[..] else { return lost("five cells") };
                return if amounts(now, unit).contains(&truth) { Ok(()) } else { lost("the table") };
            }
            let prose = markdown.lines().filter(|line| !line.starts_with('|') && !line.starts_with("**"));
            if prose.into_iter().any(|line| amounts(line, "").contains(&truth)) { Ok(()) } else { lost("the prose") }
        }
    }
}

fn languages() -> impl Strategy<Value = CorpusLanguage> {
    prop_oneof![Just(CorpusLanguage::English), Just(CorpusLanguage::Chinese)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn every_fact_can_be_read_in_its_report(
        seed: u64, n in 2usize..12, language in languages(), tokens in 1_000usize..5_000,
    ) {
        let corpus = Corpus::new(spec(seed, n, language, tokens)).expect("the spec is in range");
        for (row, report) in corpus.csv_lines().skip(1).zip(corpus.reports()) {
            for (column, cell) in corpus.columns().iter().zip(row.split(',')) {
                check_fact(&report.markdown, column, cell, language).map_err(TestCaseError::fail)?;
            }
            prop_assert!(!report.markdown.contains(['{', '}']), "an unfilled slot in {}", report.markdown);
        }
    }

    #[test]
    fn a_seed_decides_every_byte(seed: u64, n in 2usize..30, language in languages()) {
        let spec = spec(seed, n, language, 1_200);
        prop_assert_eq!(everything(spec), everything(spec));
        let other = CorpusSpec { seed: seed.wrapping_add(1), ..spec };
        prop_assert_ne!(everything(spec), everything(other));
    }
}

#[test]
fn reports_come_out_as_long_as_asked() {
    for (language, tokens) in [
        (CorpusLanguage::English, 1_200),
        (CorpusLanguage::English, 12_000),
        (CorpusLanguage::Chinese, 1_200),
        (CorpusLanguage::Chinese, 12_000),
    ] {
        let corpus = Corpus::new(spec(5, 8, language, tokens)).expect("the spec is in range");
        for report in corpus.reports() {
            let n = Tokenizer::cl100k().count(&report.markdown);
            assert!((tokens * 4 / 5..tokens * 5 / 4).contains(&n), "{n} tokens for {tokens} in {language:?}");
        }
    }
}

#[test]
fn ten_thousand_names_are_ten_thousand() {
    for language in [CorpusLanguage::English, CorpusLanguage::Chinese] {
        let corpus = Corpus::new(spec(1, 10_000, language, 1_000)).expect("the spec is in range");
        let names: BTreeSet<String> =
            corpus.csv_lines().skip(1).map(|row| row.split(',').next().expect("a first cell").to_owned()).collect();
        assert_eq!(names.len(), 10_000);
        assert!(corpus.items().len() >= 2 * QUESTIONS_EACH, "{} items", corpus.items().len());
    }
}

#[test]
fn all_three_difficulties_are_asked_even_of_two() {
    for seed in 0..20 {
        let corpus = Corpus::new(spec(seed, 2, CorpusLanguage::English, 1_000)).expect("the spec is in range");
        let levels: BTreeSet<String> = corpus.items().map(|item| item.labels["difficulty"].clone()).collect();
        assert_eq!(levels.len(), 3, "seed {seed} asks only {levels:?}");
    }
}

#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
    let error = Corpus::new(spec(1, 1, CorpusLanguage::English, 1_200)).err().expect("one is too few");
    assert!(error.to_string().contains("2 to 100000"), "{error}");
    let error = Corpus::new(spec(1, 2, CorpusLanguage::English, 10)).err().expect("ten tokens are too few");
    assert!(error.to_string().contains("1000 to 1000000"), "{error}");
}
