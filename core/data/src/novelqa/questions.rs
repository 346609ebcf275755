//! The questions of a novel, and what they are by aspect and complexity.

use crate::source::collect::stem;
use closeread_eval::rows::{Row, WrongRow, kind, rows, scalar, scalars};
use closeread_eval::{Evidence, InputFile, Item, Problem, Task};
use serde_json::Value;

/// Complexities in the order of the paper's tables.
pub const COMPLEXITIES: [&str; 3] = ["multi-hop", "single-hop", "detail"];
/// Aspects in the order of Table 1, as closeread's sample and the published files write them.
pub const ASPECTS: [&str; 11] =
    ["times", "meaning", "mean", "span", "setting", "settg", "relation", "relat", "character", "chara", "plot"];

/// The questions of one file as items about the novel of its name, with their lines; ids as in [`read`].
pub(crate) fn items(file: &InputFile) -> Vec<Result<(usize, Item), Problem>> {
    let novel = stem(file);
    let item = |row: Row| {
        let line = row.line;
        let id = format!("{novel}/{}", row.text("QID").unwrap_or_else(|| format!("line-{line}")));
        match Question(row).item(&id, novel) {
            Ok(item) => Ok((line, item)),
            Err(why) => Err(Problem::dropped(&file.name, Some(line), Some(&id), why)),
        }
    };
    questions(file).into_iter().map(|row| row.and_then(item)).collect()
}

/// The questions of a list, or of an object that has them by their QID.
pub(super) fn questions(file: &InputFile) -> Vec<Result<Row, Problem>> {
    let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file.bytes);
    let by_id = match serde_json::from_slice(bytes) {
        Ok(Value::Object(by_id)) if by_id.values().any(|value| value.get("Question").is_some()) => by_id,
        _ => return rows(file).collect(),
    };
    let question = |(id, question): (String, Value)| {
        let line = line_of(bytes, &id);
        let Value::Object(mut fields) = question else {
            let why = format!("expected an object with `Question`, found {}", kind(&question));
            return Err(Problem::dropped(&file.name, Some(line), Some(&id), why));
        };
        fields.entry("QID").or_insert_with(|| Value::String(id));
        Ok(Row { line, fields })
    };
    by_id.into_iter().map(question).collect()
}

/// The line in which the key `id` stands first.
fn line_of(bytes: &[u8], id: &str) -> usize {
    let key = format!("\"{id}\"");
    let at = bytes.windows(key.len()).position(|window| window == key.as_bytes()).unwrap_or(0);
    1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count()
}

pub(super) struct Question(pub(super) Row);

impl Question {
    pub(super) fn item(&self, id: &str, document: &str) -> Result<Item, WrongRow> {
        let row = &self.0;
        let question = row.text("Question").ok_or("no `Question`: expected text")?;
        let (letters, options): (Vec<String>, Vec<String>) = self.options()?.into_iter().unzip();
        let complexity = row.text("Complexity").or(row.text("Complex")).unwrap_or_default();
        let task = if options.is_empty() { Task::Generative } else { Task::Choice };
        let mut item = Item::new(id, document, question, task)
            .label("aspect", &row.text("Aspect").unwrap_or_default())
            .label("complexity", written_out(&complexity));
        let golden = ["Golden", "Gold", "Answer"].into_iter().map(|name| row.texts(name)).find(|gold| !gold.is_empty());
        match golden {
            Some(golden) if task == Task::Choice => {
                let correct = golden.iter().find_map(|gold| correct(gold, &letters, &options)).ok_or_else(|| {
                    format!(
                        "gold `{}`: expected one of the letters {}, or the text of an option",
                        golden.join("`, `"),
                        letters.join(", ")
                    )
                })?;
                item.correct = Some(correct);
                item.answers = vec![options[correct].clone()];
            }
            Some(golden) => item.answers = golden,
            None => {}
        }
        item.options = options;
        let quotes = row.fields.get("Evidences").or(row.fields.get("Evidence")).map(scalars).unwrap_or_default();
        item.evidence =
            quotes.into_iter().map(|quote| Evidence { document: None, quote, start: None, end: None }).collect();
        Ok(item)
    }

    /// Letters with their texts, in the order of the letters; those that are empty are left out.
    fn options(&self) -> Result<Vec<(String, String)>, WrongRow> {
        let mut options: Vec<(String, String)> = match self.0.fields.get("Options") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(options)) => options
                .iter()
                .filter_map(|(letter, text)| Some((letter.trim().to_uppercase(), scalar(text)?)))
                .collect(),
            Some(Value::Array(options)) => {
                let letters = ('A'..='Z').map(String::from);
                letters.zip(options.iter().map(scalar)).filter_map(|(letter, text)| Some((letter, text?))).collect()
            }
            Some(_) => return Err("`Options`: expected an object with the texts of A, B, C, D".into()),
        };
        options.sort();
        match options.len() {
            1 => Err("one option: expected two to four, or none".into()),
            _ => Ok(options),
        }
    }
}

fn correct(gold: &str, letters: &[String], options: &[String]) -> Option<usize> {
    let letter = gold.trim_end_matches(['.', ')']).to_uppercase();
    letters.iter().position(|known| *known == letter).or_else(|| options.iter().position(|option| option == gold))
}

fn written_out(complexity: &str) -> &str {
    match complexity {
        "mh" => "multi-hop",
        "sh" => "single-hop",
        "dtl" => "detail",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_question_of_an_object_costs_that_question() {
        let text = r#"{"Q1": {"Question": "Who?"},
            "Q2": "lost", "Q3": {"Question": "When?"}}"#;
        let found = items(&InputFile { name: "B00.json".into(), bytes: text.into() });
        let ids: Vec<&str> = found.iter().flatten().map(|(_, item)| item.id.as_str()).collect();
        assert_eq!(ids, ["B00/Q1", "B00/Q3"]);
        let wrong = "B00.json:2 (Q2): expected an object with `Question`, found text [left out]";
        assert_eq!(found[1].as_ref().unwrap_err().to_string(), wrong);
    }

    #[test]
    fn every_published_aspect_is_known() {
        let aspects = ["times", "mean", "span", "settg", "relat", "chara", "plot"];
        assert!(aspects.iter().all(|aspect| ASPECTS.contains(aspect)));
    }
}
