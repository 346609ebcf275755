//! InfiniteBench's questions on books: En.MC, En.QA and Zh.QA.

use super::source::collect::{Collector, base_name, language_of, push_new};
use super::{Adapter, Dataset, Texts};
use closeread_eval::rows::{Row, WrongRow, rows};
use closeread_eval::{InputFile, Item, Task};
use closeread_text::hash::name_hash;
use serde_json::Value;

/// Reads the three question files on books.
pub const ADAPTER: Adapter = Adapter {
    name: "infinitebench",
    source: "Zhang et al. 2024, InfiniteBench; github.com/OpenBMB/InfiniteBench",
    wants: "longbook_choice_eng.jsonl (En.MC), longbook_qa_eng.jsonl (En.QA) or longbook_qa_chn.jsonl (Zh.QA)",
    texts: Texts::Fields,
    task: None,
    labels: &[],
    in_parts: false,
    read,
};

/// Beginnings of the names of its other tasks; their files often lie in the same folder.
const OTHER_TASKS: [&str; 9] = [
    "longbook_sum",
    "longdialogue",
    "passkey",
    "number_string",
    "kv_retrieval",
    "math_",
    "code_",
    "construct",
    "preds_",
];

/// Reads one line a question with the whole book in it: each book is stored once, by content, under the id
/// `book-<hash>`.
///
/// A row with options is En.MC; its gold is an option's text, with or without the letter behind it. Other rows are
/// En.QA or Zh.QA by the script of the book. Label `task`: `En.MC`, `En.QA`, `Zh.QA`. Item ids are `<task>/<id>`.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    for file in out.files_with(ADAPTER.name, ADAPTER.wants, files, &["jsonl", "json"], "context") {
        if OTHER_TASKS.iter().any(|task| base_name(file).starts_with(task)) {
            out.note(file, None, None, "not read: it is another task of InfiniteBench");
            continue;
        }
        for row in rows(file) {
            let Some(row) = out.keep(row) else { continue };
            let id = row.text("id").unwrap_or_else(|| format!("line-{}", row.line));
            let line = row.line;
            if let Err(why) = add(&mut out, file, &id, row) {
                out.dropped(file, Some(line), Some(&id), why);
            }
        }
    }
    out.finish()
}

fn add(out: &mut Collector, file: &InputFile, id: &str, mut row: Row) -> Result<(), WrongRow> {
    let book = match row.fields.shift_remove("context") {
        Some(Value::String(book)) if !book.trim().is_empty() => book,
        _ => return Err("no `context`: expected the text of the book".into()),
    };
    let question = row.text("input").ok_or("no `input`: expected the question")?;
    let options = row.texts("options");
    let mut answers = Vec::new();
    row.texts("answer").iter().for_each(|answer| push_new(&mut answers, answer));
    if answers.is_empty() {
        return Err("no `answer`: expected a text or a list of texts".into());
    }
    let language = language_of(&book);
    let (name, task) = match (options.is_empty(), language) {
        (false, _) => ("En.MC", Task::Choice),
        (true, "zh") => ("Zh.QA", Task::Generative),
        (true, _) => ("En.QA", Task::Generative),
    };
    let correct = match task {
        Task::Choice => Some(correct(&options, &answers)?),
        _ => None,
    };
    let document = format!("book-{}", name_hash(&book));
    let document = out.document(&document, "", language, book);
    let mut item = Item::new(format!("{name}/{id}"), document, question, task).label("task", name);
    item.answers = match correct {
        Some(correct) => vec![options[correct].clone()],
        None => answers,
    };
    (item.options, item.correct) = (options, correct);
    out.item(file, Some(row.line), item);
    Ok(())
}

/// The option whose text is a gold answer, else the one whose letter is.
fn correct(options: &[String], answers: &[String]) -> Result<usize, WrongRow> {
    let by_text = options.iter().position(|option| answers.iter().any(|answer| answer == option));
    let letter = |answer: &String| match answer.as_bytes() {
        [letter @ b'A'..=b'Z'] => Some(usize::from(letter - b'A')).filter(|n| *n < options.len()),
        _ => None,
    };
    by_text.or_else(|| answers.iter().find_map(letter)).ok_or_else(|| {
        format!(
            "gold `{}` is none of the {} options: expected the text of one, or its letter",
            answers.join("`, `"),
            options.len()
        )
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file};
    use super::*;
    use serde_json::json;

    #[test]
    fn a_book_is_stored_once_and_tasks_are_told_apart() {
        let row = |id: u32, book: &str, answer: Value, options: Value| {
            json!({"id": id, "context": book, "input": "Who?", "answer": answer, "options": options}).to_string()
        };
        let choice = [
            row(0, "Ana came.", json!(["Bo"]), json!(["Ana", "Bo"])),
            row(3, "Ana came.", json!(["Anna", "A"]), json!(["Ana", "Bo"])),
            row(4, "Ana came.", json!("Cy"), json!(["Ana", "Bo"])),
        ];
        let open = [
            row(0, "Ana came.", json!(["Ana", "Ana", "she"]), json!([])),
            row(1, "老残游记。", json!(["老残"]), json!([])),
        ];
        let dataset = read(&[
            file("longbook_choice_eng.jsonl", &choice.join("\n")),
            file("mixed.jsonl", &open.join("\n")),
            file("passkey.jsonl", &row(0, "1", json!("2"), json!([]))),
        ]);
        check(
            &dataset,
            4,
            &[
                "longbook_choice_eng.jsonl:3 (4): gold `Cy` is none of the 2 options: expected the text of one, or its letter [left out]",
                "passkey.jsonl: not read: it is another task of InfiniteBench",
            ],
        );
        let ids: Vec<_> = dataset.items.iter().map(|item| (item.id.as_str(), item.correct)).collect();
        assert_eq!(ids, [("En.MC/0", Some(1)), ("En.MC/3", Some(0)), ("En.QA/0", None), ("Zh.QA/1", None)]);
        assert_eq!(dataset.documents.len(), 2);
        assert_eq!(dataset.documents[1].language.as_deref(), Some("zh"));
        assert_eq!(dataset.items[2].answers, ["Ana", "she"]);
    }

    #[test]
    fn wrong_rows_are_named() {
        let rows = [
            json!({"id": 1, "context": " ", "input": "Who?", "answer": ["a"]}),
            json!({"id": 2, "context": "a", "input": "", "answer": ["a"]}),
            json!({"context": "a", "input": "Who?", "answer": []}),
        ];
        check(
            &read(&[file("longbook_qa_eng.jsonl", &rows.map(|row| row.to_string()).join("\n"))]),
            0,
            &[
                "longbook_qa_eng.jsonl:1 (1): no `context`: expected the text of the book [left out]",
                "longbook_qa_eng.jsonl:2 (2): no `input`: expected the question [left out]",
                "longbook_qa_eng.jsonl:3 (line-3): no `answer`: expected a text or a list of texts [left out]",
            ],
        );
    }
}
