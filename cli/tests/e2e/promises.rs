//! Promises of docs/security.md: every one names tests that are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The names of the tests in the Rust files below a folder.
fn tests_below(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
            tests_below(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let after = text.split("test]\n").skip(1).filter_map(|after| after.split_once("fn "));
            names.extend(after.filter_map(|(_, name)| Some(name.split_once('(')?.0.to_owned())));
        }
    }
}

#[test]
fn every_promise_names_tests_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut names = BTreeSet::new();
    ["cli", "core", "tests"].iter().for_each(|folder| tests_below(&root.join(folder), &mut names));
    let page = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let is_name = |name: &&str| {
        let is_of_names = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_*".contains(c);
        name.matches('_').count() > 1 && name.chars().all(is_of_names)
    };
    let named: Vec<&str> = page.split('`').skip(1).step_by(2).filter(is_name).collect();
    assert!(named.len() > 30, "{named:?}");
    for name in named {
        let is_there = match name.strip_suffix('*') {
            Some(begin) => names.range(begin.to_owned()..).next().is_some_and(|first| first.starts_with(begin)),
            None => names.contains(name),
        };
        assert!(is_there, "docs/security.md names the test `{name}`, which is nowhere");
    }
    // Each promise of a table is held by one.
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---")) {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default().trim();
        assert!(last == "tests" || last == "the same" || last.starts_with('`'), "{row}");
    }
}
