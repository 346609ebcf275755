//! The sample benchmark is what it says it is.

#![allow(clippy::disallowed_methods, reason = "a test reads files; the core it tests does not")]

use closeread_data::{jsonl, resolve_chunk, resolve_evidence};
use closeread_eval::{Content, InputFile, Item, KeyFact};
use closeread_text::{Folding, Located, Locator};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../sample"))
}

fn load(items: &str) -> (HashMap<String, String>, Vec<Item>) {
    let read = |name: &str| std::fs::read(folder().join(name)).unwrap();
    let dataset = jsonl::read(&[
        InputFile { name: "documents.jsonl".into(), bytes: read("documents.jsonl") },
        InputFile { name: "items.jsonl".into(), bytes: read(items) },
    ]);
    assert!(dataset.problems.is_empty(), "every row is well formed");
    let text = |content: &Content| match content {
        Content::Path(path) => String::from_utf8(read(path)).unwrap(),
        Content::Text(text) => text.clone(),
    };
    (dataset.documents.iter().map(|d| (d.id.clone(), text(&d.content))).collect(), dataset.items)
}

#[test]
fn the_stories_are_as_long_as_promised() {
    let (texts, _) = load("items.jsonl");
    let words = texts["the-loan-of-the-bell"].split_whitespace().count();
    assert!(words >= 20_000, "{words} words");
    let characters = texts["shedu-bu"].chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
    assert!(characters >= 12_000, "{characters} characters");
}

#[test]
fn every_quote_stands_in_its_story_exactly_once() {
    let (texts, items) = load("items.jsonl");
    for item in &items {
        assert!(!item.evidence.is_empty(), "{} has evidence", item.id);
        let locator = Locator::new(&texts[&item.documents[0]]);
        for evidence in &item.evidence {
            let found = locator.locate(&evidence.quote, Folding::Space);
            assert!(
                matches!(found, Located::Exact { occurrences: 1, .. }),
                "{}: {found:?} {}",
                item.id,
                evidence.quote
            );
        }
        assert_eq!(resolve_evidence(item, &[&locator]).notes, Vec::<String>::new(), "{}", item.id);
    }
}

#[test]
fn every_question_has_a_gold_answer_among_four_options() {
    let (_, items) = load("items.jsonl");
    let mut places = BTreeMap::new();
    for item in &items {
        assert_eq!(item.options.iter().collect::<BTreeSet<_>>().len(), 4, "{}: four different options", item.id);
        let correct = item.correct.unwrap();
        assert!(item.answers.contains(&item.options[correct]), "{}: the correct option is a gold answer", item.id);
        *places.entry(correct).or_insert(0) += 1;
    }
    assert!(places.values().all(|n| n * 5 > items.len()), "no place is favoured: {places:?}");
}

#[test]
fn all_aspects_and_complexities_are_asked_about_in_both_languages() {
    let (_, items) = load("items.jsonl");
    for (document, at_least) in [("the-loan-of-the-bell", 60), ("shedu-bu", 30)] {
        let items: Vec<&Item> = items.iter().filter(|i| i.documents == [document]).collect();
        assert!(items.len() >= at_least);
        for (label, values) in [
            ("complexity", &["multi-hop", "single-hop", "detail"][..]),
            ("aspect", &["times", "meaning", "span", "setting", "relation", "character", "plot"]),
        ] {
            let found: BTreeSet<&str> = items.iter().map(|i| i.labels[label].as_str()).collect();
            assert_eq!(found, values.iter().copied().collect(), "{document}: {label}");
        }
    }
}

#[test]
fn key_fact_trees_have_three_levels_over_chunks_of_the_story() {
    let (texts, items) = load("key_facts.jsonl");
    let mut chunks = BTreeSet::new();
    for item in &items {
        let facts = item.key_facts.as_ref().unwrap();
        let span = resolve_chunk(facts, &Locator::new(&texts[&facts.document])).unwrap();
        assert!(span.len() > 5_000, "{}: a chunk of about 4,000 tokens, not {} bytes", item.id, span.len());
        chunks.insert((facts.document.clone(), span.start));
        assert!(!facts.roots.is_empty() && facts.roots.iter().all(|root| depth(root) == 3), "{}", item.id);
    }
    assert!(chunks.len() >= 6, "{chunks:?}");
}

fn depth(fact: &KeyFact) -> usize {
    1 + fact.children.iter().map(depth).max().unwrap_or(0)
}
