use super::*;
use crate::LISTED;

fn check(bytes: &[u8], expected: &[&str]) {
    let file = InputFile { name: "f".into(), bytes: bytes.to_vec() };
    let found: Vec<String> = rows(&file)
        .map(|row| match row {
            Ok(row) => format!("{} {}", row.line, Value::Object(row.fields)),
            Err(problem) => problem.to_string(),
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_wrong_line_costs_that_line_alone() {
    check(
        b"\xef\xbb\xbf{\"a\":1}\r\n\n{\"a\":\n{\"a\":2} gi\n[3]\n{\"a\":\"\xff\"}\n{\"a\":3}{\"a\":4}",
        &[
            r#"1 {"a":1}"#,
            "f:3: not valid JSON, column 5: EOF while parsing a value: expected one object a line [left out]",
            r#"4 {"a":2}"#,
            "f:4: text after the JSON object is ignored: `gi`",
            "f:5: expected a JSON object in braces, found a list [left out]",
            "f:6: invalid UTF-8: save the file as UTF-8 [left out]",
            r#"7 {"a":3}"#,
            r#"7 {"a":4}"#,
        ],
    );
    check(b"", &[]);
    check(b" \n\n", &[]);
}

#[test]
fn a_packed_file_is_said_once() {
    let said = "f:1: a packed file, none of which is read: unpack it first [left out]";
    check(b"\x1f\x8b\x08\n\xff\n\xfe", &[said]);
    check(b"PK\x03\x04\xff\n\xfe", &[said]);
}

#[test]
fn what_powershell_writes_is_read() {
    let text = "\u{feff}{\"a\":\"é\"}\r\n[3]\r\n{\"a\":3}\r\n";
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wrong = "f:2: expected a JSON object in braces, found a list [left out]";
    check(&bytes, &[r#"1 {"a":"é"}"#, wrong, r#"3 {"a":3}"#]);
}

#[test]
fn objects_on_one_line_are_read_whatever_lies_between_them() {
    for between in ["", " ", "\r", ",", " ,\t", "\u{2028}", "\u{85}"] {
        let line = ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"].join(between);
        check(line.as_bytes(), &[r#"1 {"a":1}"#, r#"1 {"a":2}"#, r#"1 {"a":3}"#]);
    }
    check(b"{\"a\":1},\n", &[r#"1 {"a":1}"#, "f:1: text after the JSON object is ignored: `,`"]);
    check(
        b"{\"a\":1},{\"a\":\n{\"a\":3}\n",
        &[r#"1 {"a":1}"#, "f:1: a further object is not valid JSON: `{\"a\":` [left out]", r#"2 {"a":3}"#],
    );
}

#[test]
fn a_key_that_an_object_holds_twice_is_named() {
    let told = "f:2: `a` is twice in the object, and the last one counts";
    for text in
        ["{\"a\": 1}\n{\"a\": 1, \"b\": 2, \"a\": 3, \"b\": 4}", "[{\"a\": 1},\n{\"a\": 1, \"b\": 4, \"a\": 3}]"]
    {
        check(text.as_bytes(), &[r#"1 {"a":1}"#, told, r#"2 {"a":3,"b":4}"#]);
    }
    check(br#"{"a": [1.5, {"x": null}], "b": {"a": true}}"#, &[r#"1 {"a":[1.5,{"x":null}],"b":{"a":true}}"#]);
}

#[test]
fn the_elements_of_an_array_know_their_lines() {
    check(
        b"[\n  {\"a\": 1},\n  {\n   \"a\": 2\n  }, 7,\n {\"a\":3}]\n",
        &[
            r#"2 {"a":1}"#,
            r#"3 {"a":2}"#,
            "f:5: expected a JSON object in braces, found a number [left out]",
            r#"6 {"a":3}"#,
        ],
    );
    check(
        b"[{\"a\":1},\n{\"a\":\n!}, {\"a\":2}]",
        &[
            r#"1 {"a":1}"#,
            "f:3: not valid JSON, column 1: expected value: this element of the list, begun in line 2, and all after it are unread [left out]",
        ],
    );
    check(b"[{\"a\":1},", &[r#"1 {"a":1}"#, "f:1: the list has no `]` at its end: the file is cut off [left out]"]);
}

#[test]
fn what_follows_an_array_or_a_wrong_element_is_read() {
    check(b"[3]\n{\"a\":1}\n", &["f:1: expected a JSON object in braces, found a number [left out]", r#"2 {"a":1}"#]);
    check(b"[{\"a\":1}] gi\n", &[r#"1 {"a":1}"#, "f:1: text after the JSON list is ignored: `gi`"]);
    check(
        b"[{\"a\":1},\n{\"a\":NaN},\n{\"a\":\"\xff\"},\n {\"a\":2},\n{\"a\":3}\n]\n",
        &[
            r#"1 {"a":1}"#,
            "f:2: not valid JSON, column 6: expected value: expected one object a line [left out]",
            "f:3: invalid UTF-8: save the file as UTF-8 [left out]",
            r#"4 {"a":2}"#,
            r#"5 {"a":3}"#,
        ],
    );
}

#[test]
fn a_table_is_one_problem() {
    let table = |name: &str, text: &str| {
        let file = InputFile { name: name.into(), bytes: text.into() };
        rows(&file).map(|row| row.map(|row| row.line).map_err(|problem| problem.to_string())).collect::<Vec<_>>()
    };
    let wrong = "p.CSV:1: a table, such as CSV, cannot be read here: expected JSON Lines, one object a line [left out]";
    assert_eq!(table("p.CSV", "item,answer\nq1,Ann\nq2,Ben\n"), [Err(wrong.to_owned())]);
    assert_eq!(table("p.csv", "{}\n{}\n"), [Ok(1), Ok(2)], "the content decides");
}

#[test]
fn finding_09_a_file_of_wrong_lines_has_few_problems() {
    let file = InputFile { name: "f".into(), bytes: b"x\n".repeat(100_000) };
    let mut problems: Vec<Problem> = rows(&file).map(Result::unwrap_err).collect();
    assert_eq!((problems.len(), problems.pop().unwrap().more), (LISTED + 1, 100_000 - LISTED));
}

#[test]
fn scalars_become_text() {
    let row = Row {
        line: 1,
        fields: serde_json::from_str(r#"{"n": 3, "s": " x ", "e": " ", "l": ["a", 2, null, [1]], "t": true}"#).unwrap(),
    };
    assert_eq!(row.text("n").as_deref(), Some("3"));
    assert_eq!(row.text("s").as_deref(), Some("x"));
    assert_eq!(row.text("e"), None);
    assert_eq!(row.text("l"), None);
    assert_eq!(row.text("t").as_deref(), Some("true"));
    assert_eq!(row.texts("l"), ["a", "2"]);
    assert_eq!(row.texts("s"), ["x"]);
    assert_eq!(row.texts("none"), Vec::<String>::new());
}
