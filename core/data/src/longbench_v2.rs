//! LongBench v2: questions with four options on contexts of 8K to 2M words.

use super::source::collect::{Collector, language_of};
use super::{Adapter, Dataset, Texts};
use closeread_eval::rows::{Row, WrongRow, rows};
use closeread_eval::{InputFile, Item, Task};
use closeread_text::hash::name_hash;
use serde_json::Value;

/// Reads `data.json`, or JSON Lines with the same fields.
pub const ADAPTER: Adapter = Adapter {
    name: "longbench-v2",
    source: "Bai et al. 2024, LongBench v2; huggingface.co/datasets/THUDM/LongBench-v2",
    wants: "data.json of LongBench v2, or JSON Lines with the same fields",
    texts: Texts::Fields,
    task: Some(Task::Choice),
    labels: &[],
    in_parts: true,
    read,
};

/// The letters of the options, in their order.
const LETTERS: [&str; 4] = ["A", "B", "C", "D"];
/// Labels that the published tables go by.
const LABELS: [&str; 4] = ["domain", "sub_domain", "difficulty", "length"];

/// Reads one question a row with its whole context, which is stored once, by content, under the id `context-<hash>`.
/// `answer` is the letter of an option. Item ids are `_id`, else `line-<line>`; labels `domain`, `sub_domain`,
/// `difficulty` and `length`.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    for file in out.files_with(ADAPTER.name, ADAPTER.wants, files, &["json", "jsonl"], "choice_A") {
        for row in rows(file) {
            let Some(row) = out.keep(row) else { continue };
            let (line, id) = (row.line, row.text("_id").unwrap_or_else(|| format!("line-{}", row.line)));
            match add(&mut out, &id, row) {
                Ok(item) => out.item(file, Some(line), item),
                Err(why) => out.dropped(file, Some(line), Some(&id), why),
            }
        }
    }
    out.finish()
}

fn add(out: &mut Collector, id: &str, mut row: Row) -> Result<Item, WrongRow> {
    let context = match row.fields.shift_remove("context") {
        Some(Value::String(context)) if !context.trim().is_empty() => context,
        _ => return Err("no `context`: expected its text".into()),
    };
    let question = row.text("question").ok_or("no `question`: expected text")?;
    let option = |letter: &&str| {
        let name = format!("choice_{letter}");
        row.text(&name).ok_or_else(|| format!("no `{name}`: expected the text of the option").into())
    };
    let options = LETTERS.iter().map(option).collect::<Result<Vec<String>, WrongRow>>()?;
    let answer = row.text("answer").unwrap_or_default();
    let correct = LETTERS.iter().position(|letter| *letter == answer);
    let correct = correct.ok_or_else(|| format!("answer `{answer}`: expected one of {}", LETTERS.join(", ")))?;
    let language = language_of(&context);
    let document = out.document(&format!("context-{}", name_hash(&context)), "", language, context);
    let mut item = Item::new(id, document, question, Task::Choice);
    for label in LABELS {
        item = item.label(label, &row.text(label).unwrap_or_default());
    }
    item.answers = vec![options[correct].clone()];
    (item.options, item.correct) = (options, Some(correct));
    Ok(item)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, text};
    use super::*;
    use serde_json::json;

    fn row(answer: &str) -> Value {
        json!({
            "_id": "66f3", "domain": "Single-Document QA", "sub_domain": "Detective", "difficulty": "hard",
            "length": "short", "question": "Who came?", "choice_A": "Ana", "choice_B": "Bo", "choice_C": "Cy",
            "choice_D": "Di", "answer": answer, "context": "Bo came\nto the mill.",
        })
    }

    #[test]
    fn a_list_and_lines_are_read_and_a_context_is_stored_once() {
        let mut second = row("D");
        second["_id"] = json!("66f4");
        let lines = format!("{}\n{second}", row("B"));
        for (name, text) in [("data.json", json!([row("B"), second]).to_string()), ("data.jsonl", lines)] {
            let dataset = read(&[file(name, &text)]);
            check(&dataset, 2, &[]);
            assert_eq!(dataset.documents.len(), 1);
            let item = &dataset.items[0];
            assert_eq!((item.id.as_str(), item.correct, item.options.len()), ("66f3", Some(1), 4));
            assert_eq!(item.answers, ["Bo"]);
            assert_eq!((item.labels["sub_domain"].as_str(), item.labels["length"].as_str()), ("Detective", "short"));
        }
        assert_eq!(text(&read(&[file("data.json", &json!([row("A")]).to_string())]), 0), "Bo came\nto the mill.");
    }

    #[test]
    fn wrong_rows_are_named() {
        let without = |name: &str| {
            let mut row = row("A");
            row.as_object_mut().unwrap().shift_remove(name);
            row.to_string()
        };
        let rows = [row("E").to_string(), without("choice_C"), without("context")];
        check(
            &read(&[file("x.jsonl", &rows.join("\n"))]),
            0,
            &[
                "x.jsonl:1 (66f3): answer `E`: expected one of A, B, C, D [left out]",
                "x.jsonl:2 (66f3): no `choice_C`: expected the text of the option [left out]",
                "x.jsonl:3 (66f3): no `context`: expected its text [left out]",
            ],
        );
    }
}
