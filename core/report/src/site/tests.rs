use super::*;
use crate::testing::{answered, item, key, record};
use closeread_data::scoring::{Options, prediction, score};
use closeread_eval::Evaluator;
use closeread_eval::Outcome;
use closeread_eval::{Evidence, InputFile};
use closeread_llm::price::PriceList;
use closeread_methods::record::CallTrace;
use std::collections::{BTreeMap, BTreeSet};

const HOSTILE: &str =
    "</td></article><script>alert('1')</script><img src=x onerror=alert(1)>\u{202e}\u{2069}&amp;\"'\u{0}\u{1b}[31m";

/// A run in which every text that comes from outside is hostile, one item is missing and one failed.
fn hostile_run() -> Run {
    let mut items = vec![item(HOSTILE, HOSTILE), item("b", HOSTILE), item("c", "plain")];
    for (idx, item) in items.iter_mut().enumerate() {
        item.question = HOSTILE.to_owned();
        item.options = vec![HOSTILE.to_owned(), "x".to_owned()];
        item.answers = vec![HOSTILE.to_owned()];
        item.labels = BTreeMap::from([(HOSTILE.to_owned(), format!("{HOSTILE}{}", idx % 2))]);
        let document = Some(item.documents[0].clone());
        item.evidence = vec![Evidence { document, quote: HOSTILE.to_owned(), start: Some(1), end: Some(2) }];
    }
    let mut plan = vec![key("closed-book", None), key("dos-rag", Some(500)), key("dos-rag", Some(1000))];
    plan[2].method = HOSTILE.to_owned();
    let mut records = Vec::new();
    for key in &plan {
        let mut one = record(key, HOSTILE, answered(), &[("accuracy", 1.0), (HOSTILE, 0.5)]);
        one.calls.push(CallTrace {
            prompt: HOSTILE.to_owned(),
            sha256: HOSTILE.to_owned(),
            response: HOSTILE.repeat(40),
            ..CallTrace::default()
        });
        records.push(one);
        records.push(record(key, "b", Outcome::Failed { error: HOSTILE.to_owned() }, &[("accuracy", 0.0)]));
    }
    Run {
        name: HOSTILE.to_owned(),
        benchmark: HOSTILE.to_owned(),
        plan,
        items,
        records,
        repeats: 1,
        books: BTreeMap::new(),
        texts: BTreeMap::new(),
        data: Vec::new(),
        asked: crate::HowAsked::default(),
        judging: closeread_judges::Judging::default(),
        facts: vec![("retriever".to_owned(), HOSTILE.to_owned())],
        preparations: Vec::new(),
        prices: PriceList::default(),
        served: Vec::new(),
        is_log: false,
        gaps: Vec::new(),
    }
}

fn pages() -> Vec<SiteFile> {
    let runs = [hostile_run()];
    site(&crate::report(&runs).unwrap(), &runs)
}

#[test]
fn no_text_becomes_markup() {
    let is_shown = |file: &SiteFile| !file.path.ends_with(".json") && !file.path.ends_with(".jsonl");
    for file in pages().into_iter().filter(is_shown) {
        let own = "<script defer src=\"elements/closeread-site.js\"></script>";
        let text = match file.path.as_str() {
            "leaderboard.html" => &file.content.replacen(own, "", 1),
            _ => &file.content,
        };
        for forbidden in ["<script", "<img", "\u{202e}", "\u{2069}", "\u{0}", "\u{1b}", "onerror=alert(1)>"] {
            assert!(!text.contains(forbidden), "{}: {forbidden:?}", file.path);
        }
        assert!(!text.contains("http://") || file.path.contains(".svg") || text.contains("xmlns"), "{}", file.path);
    }
}

#[test]
fn every_link_leads_somewhere_inside() {
    let files = pages();
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    for file in files.iter().filter(|file| file.path.ends_with(".html")) {
        for rest in file.content.split(" href=\"").skip(1) {
            let address = rest.split('"').next().unwrap();
            let (path, anchor) = address.split_once('#').unwrap_or((address, ""));
            let target = if path.is_empty() { &file.path } else { path };
            assert!(paths.contains(target), "{}: {address}", file.path);
            let there = files.iter().find(|f| f.path == *target).unwrap();
            assert!(anchor.is_empty() || there.content.contains(&format!("id=\"{anchor}\"")), "{address}");
        }
    }
}

#[test]
fn ids_are_unique_and_elements_are_closed() {
    for file in pages().iter().filter(|file| file.path.ends_with(".html")) {
        let mut ids = BTreeSet::new();
        for rest in file.content.split(" id=\"").skip(1) {
            let id = rest.split('"').next().unwrap();
            assert!(ids.insert(id), "{}: id {id} twice", file.path);
        }
        for tag in
            ["table", "div", "article", "bdi", "dl", "dd", "details", "svg", "main", "figure", "g", "tr", "td", "th"]
        {
            let opened =
                file.content.matches(&format!("<{tag}>")).count() + file.content.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, file.content.matches(&format!("</{tag}>")).count(), "{}: <{tag}>", file.path);
        }
    }
}

#[test]
fn a_run_that_did_not_end_says_so_on_every_page() {
    for file in pages() {
        if file.path.ends_with(".html") {
            assert!(file.content.contains("(incomplete)</title>"), "{}", file.path);
            assert!(file.content.contains("INCOMPLETE: 3 of 9 trials"), "{}", file.path);
        } else if file.path.ends_with(".svg") {
            assert!(file.content.contains("(incomplete)</title>"), "{}", file.path);
        }
    }
}

#[test]
fn a_leaderboard_is_scored_from_the_files_beside_it() {
    let files = pages();
    let content = |path: &str| &files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path}")).content;
    let results: serde_json::Value = serde_json::from_str(content("results.json")).unwrap();
    let rows = results["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let file = |name: &str, text: &str| InputFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() };
        let predictions = content(row["predictions"].as_str().unwrap());
        let submission =
            prediction::read(&file("items.jsonl", content("items.jsonl")), &file("p", predictions)).unwrap();
        let options = Options::default();
        let evaluator = Evaluator::new(&[], options.chinese, None).unwrap();
        let card = serde_json::json!(score(&submission, &evaluator, &options).unwrap());
        assert_eq!((&card["metrics"], &card["ledger"]), (&row["scorecard"]["metrics"], &row["scorecard"]["ledger"]));
        assert_eq!(row["scorecard"]["complete"], false, "an item has no record");
    }
    let page = content("leaderboard.html");
    let inside = page.split("<closeread-leaderboard src=\"results.json\">").nth(1).unwrap();
    assert!(inside.split("</closeread-leaderboard>").next().unwrap().contains("<table"), "reads without JavaScript");
    assert!(page.contains("script-src 'self' 'wasm-unsafe-eval'") && !page.contains("unsafe-inline"));
}

#[test]
fn a_run_with_the_items_in_another_order_is_on_the_board() {
    let mut other = hostile_run();
    other.name = "other".to_owned();
    other.items.reverse();
    let mut fewer = other.clone();
    fewer.name = "fewer".to_owned();
    fewer.items.remove(0);
    let runs = [hostile_run(), other, fewer];
    let files = site(&crate::report(&runs).unwrap(), &runs);
    let page = &files.iter().find(|file| file.path == "leaderboard.html").unwrap().content;
    assert!(page.contains("fewer is on other items") && !page.contains("other is on other items"));
}

#[test]
fn a_published_report_holds_no_text_of_a_book() {
    const BOOK: &str = "Ana came to the mill at dusk. ";
    let mut run = hostile_run();
    for item in &mut run.items {
        item.evidence[0].quote = BOOK.repeat(200);
        item.other.insert("context".to_owned(), BOOK.repeat(200).into());
        item.other.insert("canary".to_owned(), "guid".into());
    }
    let unparsed = Outcome::Unparsed { response: BOOK.repeat(200) };
    run.records.push(record(&run.plan[0], "c", unparsed, &[("accuracy", 0.0)]));
    let runs = [run];
    let report = crate::report(&runs).unwrap();
    for file in site(&report, &runs) {
        assert!(!file.content.contains(&BOOK.repeat(51)), "more than 1,500 characters: {}", file.path);
        if file.path == "items.jsonl" {
            assert!(!file.content.contains("mill") && file.content.contains("guid"), "{}", file.content);
        }
    }
}
