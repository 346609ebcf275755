//! Labels of people, as they are read.

use closeread_eval::InputFile;
use closeread_judges::{Part, human_labels};

fn read(text: &str) -> (Vec<(String, Part, &'static str)>, Vec<String>) {
    let file = InputFile { name: "l".into(), bytes: text.as_bytes().to_vec() };
    let (labels, problems) = human_labels(&file);
    let labels = labels.into_iter().map(|label| (label.item, label.part, label.label)).collect();
    (labels, problems.iter().map(ToString::to_string).collect())
}

#[test]
fn json_lines_and_csv_say_the_same() {
    let jsonl = r#"{"item": "a", "label": true}
{"item": "b", "label": "N", "method": "dos-rag", "budget": 500, "repeat": 0}
{"item": "c", "label": "Out-of-article", "sentence": 2}
{"item": "d", "label": "是", "fact": 1}
{"item": "e", "label": "location"}
"#;
    let csv = "\u{feff}Item,label,method,budget,repeat,sentence,fact\r\na,true,,,,,\nb,N,dos-rag,500,0,,\n\
               c,\"Out-of-article\",,,,2,\nd,是,,,,,1\ne,location\n";
    let (labels, problems) = read(jsonl);
    assert_eq!((labels.len(), problems.as_slice()), (5, &[][..]));
    assert_eq!(read(csv), (labels.clone(), problems));
    assert_eq!(labels[0], ("a".into(), Part::Answer, "correct"));
    assert_eq!(labels[2], ("c".into(), Part::Sentence(2), "Out-of-article error"));
    assert_eq!(labels[3], ("d".into(), Part::Fact(1), "yes"));
    assert_eq!(labels[4], ("e".into(), Part::Question, "Location"));
}

#[test]
fn no_of_a_sentence_is_the_opposite_of_no_error() {
    let (labels, problems) = read(
        "item,label,sentence\na,yes,1\na,no,2\na,No,3\na,\"[no]\",4\na,0.0,5\na,No error,6\na,no_error,7\na,Entity,8\n",
    );
    let said: Vec<&str> = labels.iter().map(|label| label.2).collect();
    assert_eq!((said, problems), (vec!["yes", "no", "no", "no", "no", "No error", "No error", "Entity error"], vec![]));
}

#[test]
fn faults_are_read_as_a_study_writes_them() {
    let (labels, problems) = read(
        "criterion,rater,label,item\nfault,ann,hallucination-setting,a\nfault,ann,hallucination-narration,b\n\
         fault,ann,other,c\nfault,ann,Miscounting,d\n,ann,other,e\n",
    );
    let said: Vec<(&str, Part)> = labels.iter().map(|label| (label.2, label.1)).collect();
    let fault = |name| (name, Part::Fault);
    let expected = ["hallucination on fictional setting", "hallucination on narration", "miscounting"].map(fault);
    assert_eq!(said, expected);
    assert_eq!(
        problems,
        ["l:6 (e): the label is `other`: expected correct or incorrect, or a kind of error [left out]"]
    );
}

#[test]
fn verdicts_may_be_in_traditional_characters() {
    let (labels, problems) = read("item,label\na,正確\nb,錯誤\nc,對\nd,錯\n");
    let said: Vec<&str> = labels.iter().map(|label| label.2).collect();
    assert_eq!((said, problems), (vec!["correct", "incorrect", "correct", "incorrect"], vec![]));
}

#[test]
fn tables_of_spreadsheets_are_read() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let files: [Vec<u8>; 4] = [
        b"sep=,\r\nitem,label,budget\r\na,C,500.0\r\n,,\r\n".to_vec(),
        b"item;label;budget\r\na;C;500\r\n;;\r\n".to_vec(),
        b"item\tlabel\tbudget\na\tC\t500\n".to_vec(),
        wide("\u{feff}item\tlabel\tbudget\r\na\tC\t500\r\n"),
    ];
    for bytes in files {
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let (labels, problems) = human_labels(&InputFile { name: "l".into(), bytes });
        assert_eq!(problems, [], "{shown}");
        let said: Vec<_> = labels.iter().map(|label| (label.item.as_str(), label.label, label.budget)).collect();
        assert_eq!(said, [("a", "correct", Some(500))], "{shown}");
    }
    let (_, problems) = human_labels(&InputFile { name: "l".into(), bytes: b"item,label\na,\xD5\xFD\n".to_vec() });
    assert_eq!(problems[0].to_string(), "l:2: invalid UTF-8: save the file as UTF-8 [left out]");
}

#[test]
fn rows_that_cannot_be_used_are_named() {
    let (labels, problems) = read(
        r#"{"label": "C"}
{"item": "a"}
{"item": "a", "label": "perhaps"}
{"item": "a", "label": ["C"]}
{"item": "a", "label": "perhaps", "sentence": 1}
{"item": "a", "label": "yes", "fact": 0}
{"item": "a", "label": "yes", "fact": 1, "sentence": 1}
{"item": "a", "label": "C", "budget": "much"}
not json
{"item": "a", "label": "C"}"#,
    );
    assert_eq!(labels, [("a".to_owned(), Part::Answer, "correct")]);
    assert_eq!(
        problems[..8],
        [
            "l:1: no `item`: expected the id of an item [left out]",
            "l:2 (a): no `label`: expected what a person said, such as correct or incorrect [left out]",
            "l:3 (a): the label is `perhaps`: expected correct or incorrect, or a kind of error [left out]",
            "l:4 (a): `label` is a list: expected a word [left out]",
            "l:5 (a): the label is `perhaps`: expected No error, Out-of-article error, Entity error, Relation error or Sentence error, or yes or no [left out]",
            "l:6 (a): sentences and facts count from 1 [left out]",
            "l:7 (a): both `sentence` and `fact`: expected one of them, or neither [left out]",
            "l:8 (a): `budget` is `much`: expected a whole number [left out]",
        ]
    );
    assert!(problems[8].starts_with("l:9:"), "{}", problems[8]);
    let (labels, problems) = read("question,mark\na,C\n");
    assert!(labels.is_empty() && problems[0].contains("expected columns `item` and `label`"), "{problems:?}");
    assert_eq!(read(""), (vec![], vec![]));
}

#[test]
fn a_row_of_too_many_cells_and_a_head_with_two_labels_are_named() {
    let (labels, problems) = read("item,label,why\na,C,,,\nb, or so,N,\"not, there\"\n");
    assert_eq!(labels, [("a".to_owned(), Part::Answer, "correct")]);
    let why = "l:3: 4 cells, and the head has 3: put what has a separator in it in quotation marks [left out]";
    assert_eq!(problems, [why]);
    let (labels, problems) = read("item,label,Label\na,C,N\n");
    assert!(labels.is_empty() && problems[0].contains("the head has `label` twice"), "{problems:?}");
}

#[test]
fn a_quotation_mark_that_nothing_closes_is_named_where_its_row_begins() {
    let (labels, problems) = read("item,label,why\na,C,\"clear\"\nb,N,\"not there\nc,C,\n");
    assert_eq!(labels, [("a".to_owned(), Part::Answer, "correct")]);
    assert_eq!(
        problems,
        ["l:3 (b): a quotation mark is not closed: all behind it is one cell, and left out [left out]"]
    );
    let (labels, problems) = read("item,label,why\na,C,\"on two\nlines\"\nb,N,5\" tall\n");
    assert_eq!((labels.len(), problems.len()), (2, 0));
}
