//! Evidence recall on real questions against `reference-retrieval.md` of the shared data, which was computed
//! independently, in Python, by the same rules.

use crate::support::{Sandbox, shared_data};
use serde_json::Value;
use std::path::Path;

const BUDGETS: [usize; 4] = [500, 1000, 1500, 5000];
/// Our retrievers with neighbours on each side, and the reference's rows.
const ROWS: [(&str, usize, &str); 6] = [
    ("dense", 0, "dense-w8"),
    ("bm25", 0, "bm25-lucene"),
    ("hybrid", 0, "rrf(bm25,dense)"),
    ("dense", 1, "dense+nb"),
    ("bm25", 1, "bm25-lucene+nb"),
    ("hybrid", 1, "rrf(bm25,dense)+nb"),
];

/// Returns the first numbers of a row's cells in the section whose heading starts with `heading`, in percent.
fn reference(markdown: &str, heading: &str, row: &str) -> Vec<f64> {
    let section = markdown.split("\n## ").find(|s| s.starts_with(heading)).unwrap_or_else(|| panic!("no {heading}"));
    let line = section.lines().find(|line| line.starts_with(&format!("| {row} |"))).expect("the row is there");
    let cells = line.split('|').skip(2).map(str::trim).filter(|cell| !cell.is_empty());
    cells.map(|cell| cell.split([' ', '/']).next().unwrap().parse().unwrap()).collect()
}

/// Evidence recall in percent at each budget, with the number of items it covers.
fn recall(
    sandbox: &Sandbox,
    benchmark: &str,
    data: &Path,
    (retriever, neighbours): (&str, usize),
    one_book: bool,
) -> Vec<(f64, u64)> {
    let stem = data.file_stem().unwrap().to_string_lossy();
    let out = format!("{benchmark}-{retriever}-{neighbours}-{one_book}-{stem}");
    let neighbours = neighbours.to_string();
    let mut args = vec!["run", "--benchmark", benchmark, "--data", data.to_str().unwrap(), "--method", "dos-rag"];
    args.extend(["--retriever", retriever, "--budget", "500,1000,1500,5000", "--out", &out, "--json"]);
    args.extend(["--neighbours", &neighbours]);
    if one_book {
        args.push("--one-book");
    }
    let report = sandbox.run(&args).exits(0).json();
    let cells = report["cells"].as_array().unwrap();
    let of = |budget: usize| {
        let cell: &Value = cells.iter().find(|c| c["budget"] == budget).unwrap();
        let metric = &cell["metrics"]["evidence_recall"];
        (100.0 * metric["value"].as_f64().unwrap(), metric["n"].as_u64().unwrap())
    };
    BUDGETS.map(of).to_vec()
}

/// Points that a row may lie away: more with neighbours, which passages that are not quite ours make differ more. With BM25
/// four other readings of the rule were tried (the later neighbour first, the earlier one first of all, none for passages
/// already taken, filling that skips): none is nearer at all four budgets.
fn tolerance(neighbours: usize) -> f64 {
    if neighbours == 0 { 0.3 } else { 1.1 }
}

/// Compares the rows with so many neighbours.
fn compare_fairytaleqa(neighbours: usize) {
    let data = shared_data();
    let markdown = std::fs::read_to_string(data.join("reference-retrieval.md")).unwrap();
    let sandbox = Sandbox::new();
    let mut wrong = Vec::new();
    for (one_book, heading) in [(false, "FairytaleQA, each question"), (true, "FairytaleQA, all tales")] {
        for (ours, _, row) in ROWS.into_iter().filter(|row| row.1 == neighbours) {
            let expected = reference(&markdown, heading, row);
            let found = recall(&sandbox, "fairytaleqa", &data.join("qa/fairytaleqa"), (ours, neighbours), one_book);
            eprintln!("{heading}: {ours} + {neighbours} {found:.2?}, reference {expected:?}");
            for ((recall, n), expected) in found.iter().zip(&expected) {
                assert_eq!(*n, 1025);
                if (recall - expected).abs() > tolerance(neighbours) + 0.05 {
                    wrong.push(format!("{heading}, {row}: {recall:.2} instead of {expected}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs minutes, and CLOSEREAD_DATA"]
fn needs_time_needs_data_fairytaleqa_agrees_within_three_tenths_of_a_point() {
    compare_fairytaleqa(0);
}

#[test]
#[ignore = "needs minutes, and CLOSEREAD_DATA"]
fn needs_time_needs_data_fairytaleqa_agrees_with_neighbours_too() {
    compare_fairytaleqa(1);
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_loogle_agrees_within_one_question() {
    let data = shared_data();
    let markdown = std::fs::read_to_string(data.join("reference-retrieval.md")).unwrap();
    let sandbox = Sandbox::new();
    let mut wrong = Vec::new();
    for (ours, row) in [("dense", "dense"), ("bm25", "bm25-lucene"), ("hybrid", "rrf(bm25,dense)")] {
        // Eight cells: the four budgets on the long questions, then on the short ones.
        let expected = reference(&markdown, "LooGLE", row);
        for (part, (file, n)) in [("loogle-longdep-qa.jsonl", 21), ("loogle-shortdep-qa.jsonl", 18)].iter().enumerate()
        {
            let found = recall(&sandbox, "loogle", &data.join("qa").join(file), (ours, 0), false);
            eprintln!("{file}: {ours} {found:.2?}, reference {:?}", &expected[4 * part..4 * part + 4]);
            for ((recall, items), expected) in found.iter().zip(&expected[4 * part..]) {
                assert_eq!(items, n);
                if (recall - expected).abs() > 100.0 / *n as f64 + 0.05 {
                    wrong.push(format!("{file}, {ours}: {recall:.2} instead of {expected}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
