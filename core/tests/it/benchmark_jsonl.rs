//! closeread's own JSONL: what is read, what is named as wrong, and how documents become one book.

use closeread_data::{Dataset, JoinError, jsonl, resolve_chunk, resolve_evidence};
use closeread_eval::{ChunkPlace, Content, InputFile, Task};
use closeread_text::Locator;
use serde_json::json;

const DOCUMENTS: &str = r#"{"id": "one", "title": "One", "language": "en", "text": "Ana came. Bo\nleft.", "year": 1899}
{"id": "two", "text": "Cy slept. Ana came."}
{"id": "far", "path": "books/far.txt"}
"#;

fn read(documents: &str, items: &str) -> Dataset {
    let file = |name: &str, text: &str| InputFile { name: name.into(), bytes: text.as_bytes().to_vec() };
    jsonl::read(&[file("set/documents.jsonl", documents), file("set/items.jsonl", items), file("set/one.txt", "x")])
}

/// Reads the item that `fields` make of a valid one; checks whether it is used, and what is said about it.
fn check(fields: serde_json::Value, used: bool, expected: Option<&str>) {
    let mut row =
        json!({"id": "q", "documents": ["one"], "question": "Who?", "task": "generative", "answers": ["Ana"]});
    for (name, value) in fields.as_object().expect("fields are an object") {
        row[name] = value.clone();
    }
    let dataset = read(DOCUMENTS, &format!("\n{row}\n"));
    let problems: Vec<String> = dataset.problems.iter().map(ToString::to_string).collect();
    let ending = if used { "" } else { " [left out]" };
    let expected: Vec<String> = expected.iter().map(|why| format!("set/items.jsonl:2 (q): {why}{ending}")).collect();
    assert_eq!(problems, expected, "{row}");
    assert_eq!(dataset.items.len(), usize::from(used), "{row}");
}

#[test]
fn every_field_of_a_row_is_read_and_unknown_ones_are_kept() {
    let items = r#"{"id": "q1", "documents": ["one", "two"], "question": "Who slept?", "task": "choice", "options": ["Ana", "Cy"], "correct": 1, "evidence": [{"document": "two", "quote": "Cy slept."}, {"document": "one", "start": 0, "end": 9}], "key_facts": {"document": "one", "first": "Ana", "last": "left.", "roots": [{"fact": "Ana came.", "children": [{"fact": "Bo left."}]}]}, "labels": {"complexity": "detail", "chapter": 3}, "note": [1]}"#;
    let dataset = read(DOCUMENTS, items);
    assert!(dataset.problems.is_empty(), "{:?}", dataset.problems);
    assert_eq!(dataset.documents.len(), 3);
    assert_eq!(dataset.documents[0].other["year"], 1899);
    assert_eq!(dataset.documents[2].content, Content::Path("books/far.txt".into()));
    let item = &dataset.items[0];
    assert_eq!((item.task, item.correct), (Task::Choice, Some(1)));
    assert_eq!(item.labels["chapter"], "3");
    assert_eq!(item.other["note"], json!([1]));
    assert_eq!((item.evidence[0].quote.as_str(), item.evidence[0].start), ("Cy slept.", None));
    assert_eq!((item.evidence[1].start, item.evidence[1].end), (Some(0), Some(9)));
    let facts = item.key_facts.as_ref().expect("the row has key facts");
    assert_eq!(facts.chunk, ChunkPlace::Quotes { first: "Ana".into(), last: "left.".into() });
    assert_eq!(facts.roots[0].children[0].fact, "Bo left.");

    // What is written again reads the same.
    let line = serde_json::to_string(item).expect("an item has text keys only");
    assert_eq!(read(DOCUMENTS, &line).items, dataset.items);
    let line = serde_json::to_string(&dataset.documents[0]).expect("a document has text keys only");
    assert_eq!(read(&line, "").documents[0], dataset.documents[0]);
}

#[test]
fn wrong_rows_are_named_with_what_was_expected() {
    check(json!({}), true, None);
    check(json!({"question": "  "}), false, Some("`question` is empty: expected text"));
    check(json!({"question": null}), false, Some("no `question`: expected text"));
    check(json!({"question": 7}), false, Some("`question`: expected text in quotes, found a number"));
    check(json!({"task": "essay"}), false, Some("`task` is `essay`: expected generative, choice or summary"));
    let long = format!("`task` is `{}…`: expected generative, choice or summary", "z".repeat(40));
    check(json!({"task": "z".repeat(5_000)}), false, Some(&long));
    check(json!({"documents": "one"}), false, Some("`documents`: expected a list, found text"));
    check(json!({"documents": []}), false, Some("`documents`: expected the ids of one or more documents"));
    check(
        json!({"documents": ["one", "three"]}),
        false,
        Some("unknown document `three`: expected an id in documents.jsonl (3 in all): `one`, `two`, `far`"),
    );
    check(json!({"answers": ["Ana", 3]}), false, Some("`answers[1]`: expected text in quotes, found a number"));
    check(json!({"answers": []}), true, Some("no `answers`: the question is asked, but its answer cannot be scored"));
    check(
        json!({"answers": [], "answer": "Ana"}),
        true,
        Some(
            "no `answers` (`answer` is another field: they are a list): the question is asked, but its answer cannot be scored",
        ),
    );
    check(json!({"labels": {"a": "", "b": null, "c": " "}}), true, None);
    check(json!({"labels": {"a": [1]}}), false, Some("`labels.a`: expected text, found a list"));
}

#[test]
fn an_unknown_document_is_answered_with_known_ones() {
    let told = |n: usize| {
        let documents: String = (0..n).map(|n| format!("{{\"id\": \"d{n}\", \"text\": \"Ana.\"}}\n")).collect();
        let item = r#"{"id": "q", "documents": ["x"], "question": "Who?", "task": "generative", "answers": ["Ana"]}"#;
        read(&documents, item).problems.iter().map(ToString::to_string).collect::<String>()
    };
    for (n, some) in [(1, "`d0`"), (4, "`d0`, `d1`, `d2`")] {
        let words = format!("unknown document `x`: expected an id in documents.jsonl ({n} in all): {some} [left out]");
        assert!(told(n).contains(&words), "{}", told(n));
    }
}

#[test]
fn a_task_that_is_not_named_is_what_the_fields_are_for() {
    let task = |more: &str| {
        let item = format!(r#"{{"id": "q", "documents": ["one"], "question": "Who?", {more}}}"#);
        let dataset = read(DOCUMENTS, &item);
        assert!(dataset.problems.is_empty(), "{:?}", dataset.problems);
        dataset.items[0].task
    };
    assert_eq!(task(r#""answers": ["Ana"]"#), Task::Generative);
    assert_eq!(task(r#""answers": ["Ana"], "options": [], "key_facts": null"#), Task::Generative);
    assert_eq!(task(r#""options": ["Ana", "Bo"], "correct": 1"#), Task::Choice);
    assert_eq!(task(r#""key_facts": {"start": 0, "end": 5, "roots": [{"fact": "x"}]}"#), Task::Summary);
}

#[test]
fn a_choice_needs_options_and_its_correct_one_is_there_or_kept_by_others() {
    let choice = |more: serde_json::Value| {
        let mut fields = json!({"task": "choice", "options": ["Ana", "Bo"], "answers": []});
        fields.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        fields
    };
    check(choice(json!({"correct": 1})), true, None);
    let same = Some("options 0 and 2, counted from 0, are the same");
    check(choice(json!({"options": ["Ana", "Bo", "Ana ", "Bo"], "correct": 1})), true, same);
    check(choice(json!({"options": []})), false, Some("a choice with 0 `options`: expected two or more"));
    check(choice(json!({})), true, Some("no `correct`: the question is asked, but its answer cannot be scored"));
    for gold in [
        json!({"answers": ["Cy"]}),
        json!({"answer": "B"}),
        json!({"correct_option": 1}),
        json!({"label": 1}),
        json!({"answerKey": "B"}),
        json!({"gold_label": 2}),
        json!({"Answer_idx": 1}),
    ] {
        let why = "a choice without `correct`: expected the index of the right option, from 0";
        check(choice(gold), false, Some(why));
    }
    check(
        choice(json!({"correct": 2})),
        false,
        Some("`correct` is 2, but there are 2 options: expected 0 to 1, counted from 0"),
    );
    check(choice(json!({"correct": -1})), false, Some("`correct` is -1: expected a whole number from 0"));
    check(choice(json!({"correct": "1"})), false, Some("`correct` is \"1\": expected a whole number from 0"));
    check(
        choice(json!({"answers": ["Bo"]})),
        true,
        Some("`correct` is missing: 1 is taken, the option that `answers` gives"),
    );
    check(
        json!({"correct": 0}),
        false,
        Some("`correct` without `options`: expected task choice with its options, or no `correct`"),
    );
}

#[test]
fn a_language_that_is_no_code_is_named() {
    let said = "`language`: `Chinese` is not a language code: expected two letters as in ISO 639-1, e.g. `en` or `zh`; the \
                script of the gold answers decides";
    check(json!({"language": "Chinese"}), true, Some(said));
    check(json!({"labels": {"language": "Chinese"}}), true, Some(said));
    check(json!({"language": "zh-CN", "labels": {"language": "Chinese"}}), true, None);
}

#[test]
fn a_document_that_is_named_twice_is_read_once() {
    let evidence = json!([{"start": 0, "end": 9}]);
    let said = "`documents` names `one` twice: it is read once";
    check(json!({"documents": ["one", "one"], "evidence": evidence}), true, Some(said));
    let row = json!({"id": "q", "documents": ["two", "one", "two"], "question": "Who?", "answers": ["Ana"]});
    assert_eq!(read(DOCUMENTS, &row.to_string()).items[0].documents, ["two", "one"]);
}

#[test]
fn evidence_and_key_facts_say_where_they_stand() {
    let evidence = |value| json!({"evidence": [{"quote": "Ana"}, value]});
    let wrong = |why: &str| format!("`evidence[1]`: {why}");
    for (value, why) in [
        (json!("Ana"), "expected an object in braces, found text"),
        (json!({}), "expected a `quote`, or `start` and `end`"),
        (json!({"quote": "Ana", "start": 3}), "expected `start` and `end`, or neither"),
        (json!({"start": 3, "end": 2}), "start 3 lies behind end 2"),
        (json!({"document": "two", "quote": "Cy"}), "document `two` is none of the item's: expected `one`"),
    ] {
        check(evidence(value), false, Some(&wrong(why)));
    }
    let facts = |value| json!({"key_facts": value});
    let roots = json!([{"fact": "x"}]);
    check(facts(json!({"start": 0, "end": 5, "roots": roots})), true, None);
    check(
        facts(json!({"start": 0, "first": "a", "roots": roots})),
        false,
        Some("`key_facts`: expected `start` and `end`, or the chunk's `first` and `last` words"),
    );
    check(
        facts(json!({"start": 0, "end": 5, "roots": [{"fact": "x", "children": [{"fact": ""}]}]})),
        false,
        Some("`key_facts`: `roots[0]`: `children[0]`: `fact` is empty: expected text"),
    );
}

#[test]
fn ids_are_unique_and_wrong_lines_do_not_stop_the_rest() {
    let documents = "{\"id\": \"one\", \"text\": \"a\"}\n{\"id\": \"one\", \"text\": \"b\"}\n{\"id\": \"e\", \"text\": \" \"}\n{\"id\": \"n\"}\n";
    let row = r#"{"id": "q", "documents": ["one"], "question": "Who?", "task": "summary", "answers": ["A."]}"#;
    let dataset = read(documents, &format!("{row}\nnot json\n{row}\n"));
    let problems: Vec<String> = dataset.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "set/documents.jsonl:2 (one): a second document `one`: give every document an id of its own [left out]",
            "set/documents.jsonl:3 (e): `text` is empty: expected the document [left out]",
            "set/documents.jsonl:4 (n): neither `text` nor `path`: expected one of them [left out]",
            "set/items.jsonl:2: not valid JSON, column 2: expected ident: expected one object a line [left out]",
            "set/items.jsonl:3 (q): a second item `q`: give every item an id of its own [left out]",
        ]
    );
    assert_eq!((dataset.documents.len(), dataset.items.len()), (1, 1));
}

#[test]
fn missing_files_are_named() {
    let problems: Vec<String> = jsonl::read(&[]).problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "documents.jsonl: no file documents.jsonl: expected it in the data folder [left out]",
            "items.jsonl: no file items.jsonl: expected it in the data folder [left out]",
        ]
    );
}

#[test]
fn one_book_holds_all_documents_and_shifts_what_points_into_them() {
    let documents = "{\"id\": \"b\", \"language\": \"en\", \"text\": \"Ana came. Cy\\nslept.\"}\n{\"id\": \"a\", \"language\": \"en\", \"text\": \"Ana came.\"}\n";
    let items = r#"{"id": "q", "documents": ["b"], "question": "Who?", "task": "generative", "answers": ["Ana"], "evidence": [{"quote": "Ana came."}, {"start": 10, "end": 12}, {"quote": "Bo"}], "key_facts": {"first": "Cy", "last": "slept.", "roots": [{"fact": "x"}]}}"#;
    let book = read(documents, items).as_one_book("all").expect("both texts are in memory");
    let [document] = book.documents.as_slice() else { panic!("one document") };
    let Content::Text(text) = &document.content else { panic!("a text") };
    assert_eq!((text.as_str(), document.language.as_deref()), ("Ana came.\n\nAna came. Cy\nslept.", Some("en")));
    let item = &book.items[0];
    assert_eq!(item.documents, ["all"]);
    let spans: Vec<_> = item.evidence.iter().map(|quote| quote.start.zip(quote.end)).collect();
    // The first quote also stands in `a`, which comes first: its own document decides.
    assert_eq!(spans, [Some((11, 20)), Some((21, 23)), None]);
    let facts = item.key_facts.as_ref().expect("the row has key facts");
    assert_eq!(facts.chunk, ChunkPlace::Offsets { start: 21, end: 30 });
    assert_eq!(facts.document, "all");

    let far = read(DOCUMENTS, "").as_one_book("all").unwrap_err();
    assert_eq!(far, JoinError::NotLoaded { document: "far".into(), path: "books/far.txt".into() });
}

#[test]
fn the_examples_of_the_documentation_are_read_without_a_word() {
    let blocks: Vec<&str> = include_str!("../../../docs/data.md")
        .split("```json\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("split gives at least one part"))
        .collect();
    let [documents, items] = blocks.as_slice() else { panic!("one example of each file") };
    let dataset = read(documents, items);
    assert!(dataset.problems.is_empty(), "{:?}", dataset.problems);
    assert_eq!((dataset.documents.len(), dataset.items.len()), (2, 3));

    let Content::Text(text) = &dataset.documents[0].content else { panic!("the first example has its text") };
    let locator = Locator::new(text);
    for item in &dataset.items {
        let resolved = resolve_evidence(item, &[&locator]);
        assert_eq!((resolved.spans().len(), resolved.notes), (item.evidence.len(), vec![]), "{}", item.id);
    }
    let facts = dataset.items[2].key_facts.as_ref().expect("the third example has key facts");
    assert_eq!(resolve_chunk(facts, &locator).map(|span| span.len()), Ok(text.len()));
}
