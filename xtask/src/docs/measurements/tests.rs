use super::*;

const NEWER: &str = r#"
title = "Words"
command = "cargo xtask bench words"
machine = "a machine"
load = "nothing else running"
note = "Both read the same file."
columns = [{ id = "ours", name = "closeread", unit = "s" }, { id = "ratio", name = "ratio" }]

[[rows]]
name = "a book"
ours = 1234.50
ratio = { value = 2.20, from = 2.1, to = 2.3, at_least = 2.0 }

[[rows]]
name = "memory"
unit = "MB"
ours = { value = 38, at_most = 30 }
"#;

fn subjects() -> Subjects {
    let measured = |id: &str, text: &str| parse(id.to_owned(), text).unwrap();
    let older = NEWER.replace("1234.50", "2000").replace("memory", "on disk");
    Subjects::from([("words".to_owned(), vec![measured("2026-11-23", NEWER), measured("2026-11-21", &older)])])
}

fn page(text: &str) -> Page {
    Page { path: "docs/performance.md".into(), text: text.to_owned() }
}

#[test]
fn a_page_shows_the_newest_measurement_and_links_to_the_earlier_ones() {
    let mut shown = vec![];
    let before = page("# A\n\n<!-- measurement: words -->\nold\n<!-- end of measurement -->\n\nend\n");
    let text = with_tables(&before, &subjects(), &mut shown).unwrap();
    let expected = "# A\n\n<!-- measurement: words -->\n
| | closeread, s | goal | ratio | goal |
| --- | --- | --- | --- | --- |
| a book | 1,234.50 | | 2.20 (2.1 to 2.3) | ≥ 2.0 |
| on disk, MB (21 November 2026) | 38 | **≤ 30, not reached** | | |
| memory, MB | 38 | **≤ 30, not reached** | | |

Measured 23 November 2026 on a machine, load: nothing else running, by `cargo xtask bench words`. Both read the same file.

Measured 21 November 2026 on a machine, load: nothing else running, by `cargo xtask bench words`. Both read the same file. Earlier: \
[21 November 2026](performance-history.md#words).

<!-- end of measurement -->\n\nend\n";
    assert_eq!(text, expected);
    assert_eq!(shown, [("words".to_owned(), false)]);
    assert_eq!(with_tables(&page(&text), &subjects(), &mut shown).unwrap(), text, "drawn twice, it stays");
}

#[test]
fn a_list_has_all_measurements_of_a_subject() {
    let before = page("<!-- measurement: words, as a list -->\n<!-- end of measurement -->\n");
    let text = with_tables(&before, &subjects(), &mut vec![]).unwrap();
    assert!(
        text.contains("| 23 November 2026 | a book | a machine; load: nothing else running | 1,234.50 | |"),
        "{text}"
    );
    assert!(text.contains("| 21 November 2026 | a book | a machine; load: nothing else running | 2,000 | |"), "{text}");
}

#[test]
fn a_table_that_differs_from_the_data_is_named() {
    let text = "<!-- measurement: words -->\n1,234.5 s\n<!-- end of measurement -->\n";
    let outdated = outdated_by(&[page(text)], &subjects()).unwrap();
    let paths: Vec<String> = outdated.iter().map(|page| page.path.display().to_string()).collect();
    assert_eq!(paths, ["docs/performance.md", HISTORY]);
    assert!(outdated_by(&outdated, &subjects()).unwrap().is_empty());
}

#[test]
fn a_subject_without_a_page_is_an_error() {
    let error = outdated_by(&[page("# A\n")], &subjects()).err().unwrap();
    assert!(format!("{error:#}").starts_with("docs/measurements/words is shown 0 times, expected once"), "{error:#}");
}

#[test]
fn mistakes_in_a_file_are_named() {
    let error =
        |from: &str, to: &str| format!("{:#}", parse("2026-11-23".to_owned(), &NEWER.replace(from, to)).err().unwrap());
    assert_eq!(
        error("ratio = {", "ration = {"),
        "row \"a book\": `ration` is not a known key, expected one of name, unit, ours, ratio"
    );
    assert_eq!(error("value = 38, ", ""), "row \"memory, MB\", ours: `value` is missing");
    assert_eq!(error("from = 2.1, ", ""), "row \"a book\", ratio: one of `from` and `to` is missing");
    assert_eq!(error("machine = \"a machine\"", ""), "`machine` is missing");
    let name = format!("{:#}", parse("november".to_owned(), NEWER).err().unwrap());
    assert_eq!(name, "the name \"november\" is not a date, expected such as 2026-11-23 or 2026-11-23-b");
}

#[test]
fn the_tables_of_the_documentation_are_those_of_the_data() {
    let problems = problems(&crate::docs::read_pages().unwrap());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
