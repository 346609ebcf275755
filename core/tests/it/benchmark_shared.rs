//! The adapters over the real files of `CLOSEREAD_DATA`, held to counts that were taken independently of this code.

#![expect(clippy::disallowed_methods, reason = "a test reads the files that a host would hand in")]

use closeread_data::{Dataset, adapter, resolve_evidence};
use closeread_eval::evidence::{recall, recall_over};
use closeread_eval::{Content, InputFile, Item, Task};
use closeread_text::{Locator, Span};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Reads what lies at `paths` with an adapter.
fn read(name: &str, paths: &[&str]) -> Dataset {
    let root = PathBuf::from(std::env::var_os("CLOSEREAD_DATA").expect("CLOSEREAD_DATA is set"));
    let mut files = Vec::new();
    for path in paths {
        collect(&root, &root.join(path), &mut files);
    }
    (adapter(name).expect("the adapter is registered").read)(&files)
}

fn collect(root: &Path, path: &Path, files: &mut Vec<InputFile>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder can be listed");
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| collect(root, entry, files));
    } else {
        let name = path.strip_prefix(root).expect("the path is below the root").to_string_lossy().into_owned();
        files.push(InputFile { name, bytes: std::fs::read(path).expect("a file of the data can be read") });
    }
}

fn problems(dataset: &Dataset) -> Vec<String> {
    dataset.problems.iter().map(ToString::to_string).collect()
}

fn text(dataset: &Dataset, document: usize) -> &str {
    match &dataset.documents[document].content {
        Content::Text(text) => text,
        Content::Path(path) => panic!("{path} is not loaded"),
    }
}

fn count(items: &[Item], label: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item.labels.get(label).cloned().unwrap_or_default()).or_default() += 1;
    }
    counts
}

fn counts<const N: usize>(expected: [(&str, usize); N]) -> BTreeMap<String, usize> {
    expected.map(|(name, n)| (name.to_owned(), n)).into()
}

/// Items with evidence, and the visible characters of all their evidence, each item's union on its own.
fn evidence(dataset: &Dataset) -> (usize, usize) {
    let index: HashMap<&str, usize> =
        dataset.documents.iter().enumerate().map(|(n, document)| (document.id.as_str(), n)).collect();
    let locators: Vec<Locator<'_>> = (0..dataset.documents.len()).map(|n| Locator::new(text(dataset, n))).collect();
    let (mut n_items, mut n_chars) = (0, 0);
    for item in &dataset.items {
        let texts: Vec<&Locator<'_>> = item.documents.iter().map(|id| &locators[index[id.as_str()]]).collect();
        let resolved = resolve_evidence(item, &texts);
        assert_eq!(resolved.notes, Vec::<String>::new(), "{}", item.id);
        let raw: Vec<&str> = texts.iter().map(|locator| locator.text()).collect();
        let whole = [(0, Span::new(0, raw[0].len()))];
        let spans = resolved.spans();
        match recall_over(&spans, &whole, &raw) {
            Some(all) => assert_eq!(all, 1.0),
            None => assert!(item.evidence.is_empty()),
        }
        n_items += usize::from(!spans.is_empty());
        n_chars += spans.iter().map(|(_, span)| visible(&raw[0][span.range()])).sum::<usize>();
    }
    (n_items, n_chars)
}

fn visible(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_fairytaleqa() {
    let tales = read("fairytaleqa", &["qa/fairytaleqa"]);
    assert_eq!(problems(&tales), Vec::<String>::new());
    assert_eq!((tales.documents.len(), tales.items.len()), (23, 1_025));
    assert_eq!(evidence(&tales), (1_025, 772_782));
    assert_eq!(count(&tales.items, "local-or-sum"), counts([("local", 926), ("summary", 99)]));
    assert_eq!(count(&tales.items, "ex-or-im"), counts([("explicit", 750), ("implicit", 275)]));
    assert_eq!(tales.items.iter().filter(|item| item.evidence.len() > 1).count(), 95);
    assert!(tales.documents.iter().all(|document| matches!(&document.content, Content::Text(t) if !t.contains('\r'))));
    // Two annotators who agree to the letter count once.
    assert!(tales.items.iter().all(|item| (1..=6).contains(&item.answers.len())));

    let book = tales.as_one_book("fairytales").expect("the texts are in memory");
    assert_eq!((book.documents.len(), book.items.len()), (1, 1_025));
    assert_eq!((text(&book, 0).len(), visible(text(&book, 0))), (288_828, 232_307));
    assert_eq!(evidence(&book), (1_025, 772_782));
    let tale = "the-four-gifts/1";
    let item = book.items.iter().find(|item| item.id == tale).expect("the item is there");
    let section = &item.evidence[0];
    let span = Span::new(section.start.expect("found"), section.end.expect("found"));
    assert!(text(&book, 0)[..span.start].ends_with("\n\n"), "a section begins behind a blank line");
    assert_eq!(recall(&[span], &[Span::new(0, span.start)], text(&book, 0)), Some(0.0));
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_loogle() {
    let long = read("loogle", &["qa/loogle-longdep-qa.jsonl"]);
    let note = |located| format!("{located} evidence strings stand in their article; the others are no evidence");
    assert_eq!(problems(&long), [format!("qa/loogle-longdep-qa.jsonl: {}", note("44 of 75"))]);
    assert_eq!((long.documents.len(), long.items.len()), (3, 26));
    assert_eq!(evidence(&long), (21, 7_654));
    assert_eq!(long.items.iter().map(|item| item.evidence.len()).sum::<usize>(), 44);
    let types = counts([
        ("comprehension_and_reasoning", 9),
        ("computation", 5),
        ("multiple_information_retrieval", 9),
        ("timeline_reorder", 3),
    ]);
    assert_eq!(count(&long.items, "type"), types);
    assert_eq!(long.documents[0].title, "José Luis Picardo");
    // The options of a long question stay in its text, a line each.
    assert_eq!(long.items[0].question.lines().skip(1).filter(|line| line.starts_with(char::is_numeric)).count(), 4);

    let short = read("loogle", &["qa/loogle-shortdep-qa.jsonl"]);
    assert_eq!(problems(&short), [format!("qa/loogle-shortdep-qa.jsonl: {}", note("18 of 23"))]);
    assert_eq!((short.documents.len(), short.items.len()), (2, 23));
    assert_eq!(evidence(&short), (18, 2_778));

    // One article serves both, and a folder with other sets beside them is no trouble.
    let both = read("loogle", &["qa"]);
    assert_eq!((both.documents.len(), both.items.len()), (4, 49));
    assert!(both.problems.iter().all(|problem| !problem.dropped));
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_leval_quality() {
    let leval = read("leval-quality", &["qa/leval-quality.jsonl"]);
    assert_eq!(problems(&leval), Vec::<String>::new());
    assert_eq!((leval.documents.len(), leval.items.len()), (15, 202));
    let mut by_letter = [0; 4];
    for item in &leval.items {
        assert_eq!((item.task, item.options.len()), (Task::Choice, 4), "{}", item.id);
        by_letter[item.correct.expect("every question has its gold")] += 1;
    }
    assert_eq!(by_letter, [56, 52, 43, 51]);
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_quality() {
    let quality = read("quality", &["qa/quality-example.jsonl"]);
    assert_eq!((quality.documents.len(), quality.items.len()), (1, 10));
    let correct: Vec<_> = quality.items.iter().map(|item| item.correct.expect("gold is given") + 1).collect();
    assert_eq!(correct, [2, 3, 4, 1, 4, 2, 3, 4, 1, 4]);
    assert!(quality.items.iter().all(|item| item.options.len() == 4));
    // Both lines are one set with one id: the second line's items are renamed, which is said.
    assert_eq!(quality.problems.len(), 5);
    assert!(quality.problems.iter().all(|problem| problem.line == Some(2) && !problem.dropped));
    let story = text(&quality, 0);
    assert!(story.starts_with("THE GIRL IN HIS MIND\n\nBy ROBERT F. YOUNG\n\n"), "{}", &story[..80]);
    assert!(!story.contains(['<', '>']));
    assert!(story.split("\n\n").all(|paragraph| paragraph.lines().count() < 8), "wrapped lines are joined");
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_nocha() {
    let nocha = read("nocha", &["qa/nocha-claims.json", "novels/en"]);
    assert_eq!(problems(&nocha), Vec::<String>::new());
    assert_eq!((nocha.documents.len(), nocha.items.len()), (2, 66));
    let mut books: Vec<usize> = count(&nocha.items, "book").into_values().collect();
    books.sort_unstable();
    assert_eq!(books, [30, 36]);
    let pairs = count(&nocha.items, "pair");
    assert_eq!((pairs.len(), pairs.values().all(|n| *n == 2)), (33, true));
    assert_eq!(nocha.items.iter().filter(|item| item.correct == Some(0)).count(), 33);
    for (n, words) in ["Sherlock Holmes", "Anne"].iter().enumerate() {
        let holds = text(&nocha, n).contains(words);
        assert!(holds, "{} is the wrong book", nocha.documents[n].id);
    }

    let alone = read("nocha", &["qa/nocha-claims.json"]);
    assert_eq!((alone.items.len(), alone.problems.len()), (0, 2));
    assert!(alone.problems[0].message.contains("`the_adventures_of_sherlock_holmes_arthur_conan_doyle` for 36 claims"));
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_squality() {
    let squality = read("squality", &["qa/squality-v1-3.jsonl"]);
    assert_eq!(problems(&squality), Vec::<String>::new());
    assert_eq!((squality.documents.len(), squality.items.len()), (35, 175));
    assert_eq!(squality.items.iter().map(|item| item.answers.len()).sum::<usize>(), 700);
    assert_eq!(count(&squality.items, "query"), counts([("plot", 35), ("specific", 140)]));
    assert!(squality.items.iter().all(|item| item.task == Task::Summary));
}
