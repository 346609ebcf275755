//! QuALITY as L-Eval republished it: options inside the instruction, gold as the option's text with its letter.

use super::source::collect::Collector;
use super::{Adapter, Dataset, Texts};
use closeread_eval::rows::{Row, WrongRow, rows};
use closeread_eval::{InputFile, Item, Task};
use closeread_text::pattern::pattern;
use regex_lite::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Reads L-Eval's `quality.jsonl`.
pub const ADAPTER: Adapter = Adapter {
    name: "leval-quality",
    source: "An et al. 2023, L-Eval; github.com/OpenLMLab/LEval, LEval-data/Closed-ended-tasks/quality.jsonl",
    wants: "quality.jsonl of L-Eval's closed-ended tasks",
    texts: Texts::Fields,
    task: Some(Task::Choice),
    labels: &[],
    in_parts: false,
    read,
};

/// Reads one document a line: `input` as it is, markup included. Item ids are `<line>/<question, from 1>`.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    for file in out.files_with(ADAPTER.name, ADAPTER.wants, files, &["jsonl", "json"], "instructions") {
        for row in rows(file) {
            let Some(row) = out.keep(row) else { continue };
            if let Err(why) = add(&mut out, file, &row) {
                out.dropped(file, Some(row.line), None, why);
            }
        }
    }
    out.finish()
}

fn add(out: &mut Collector, file: &InputFile, row: &Row) -> Result<(), WrongRow> {
    let text = row.fields.get("input").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let text = text.ok_or("no `input`: expected the text of the article")?;
    let list = |name: &str| row.fields.get(name).and_then(Value::as_array).ok_or(format!("no list `{name}`"));
    let (questions, gold) = (list("instructions")?, list("outputs")?);
    let document = out.document(&format!("article-{}", row.line), "", "en", text.to_owned());
    for n in 0..questions.len().max(gold.len()) {
        let id = format!("{}/{}", row.line, n + 1);
        let texts = (questions.get(n).and_then(Value::as_str), gold.get(n).and_then(Value::as_str));
        let (Some(question), Some(gold)) = texts else {
            let counts = format!("{} instructions, {} outputs", questions.len(), gold.len());
            out.dropped(
                file,
                Some(row.line),
                Some(&id),
                format!("{counts}: expected a text in both for every question"),
            );
            continue;
        };
        match item(&id, &document, question, gold) {
            Ok((item, note)) => {
                if let Some(note) = note {
                    out.note(file, Some(row.line), Some(&id), note);
                }
                out.item(file, Some(row.line), item);
            }
            Err(why) => out.dropped(file, Some(row.line), Some(&id), why),
        }
    }
    Ok(())
}

fn item(id: &str, document: &str, instruction: &str, gold: &str) -> Result<(Item, Option<String>), WrongRow> {
    let (question, options) = split_options(instruction);
    if question.is_empty() {
        return Err("no question: expected one before the option (A)".into());
    }
    if options.len() < 2 {
        return Err(format!("{} options: expected lines that begin with (A), (B), ...", options.len()).into());
    }
    let (letter, gold_text) = letter_and_text(gold);
    let same = |option: &String| fold(option) == fold(gold_text);
    let by_text = options.iter().position(same).filter(|_| !gold_text.is_empty());
    let by_letter = letter.filter(|letter| *letter < options.len());
    let (correct, note) = match (by_letter, by_text) {
        // Two options may read the same: the letter then tells which is meant.
        (Some(letter), Some(_)) if same(&options[letter]) => (letter, None),
        (Some(letter), _) if gold_text.is_empty() => (letter, None),
        (Some(letter), _) => {
            let name = char::from(b'A' + letter as u8);
            (letter, Some(format!("the gold text is not that of option ({name}), which it names: the letter counts")))
        }
        (None, Some(n)) => (n, None),
        (None, None) => {
            return Err(format!("gold `{}`: expected a letter of an option, or its text", gold.trim()).into());
        }
    };
    let mut item = Item::new(id, document, question, Task::Choice);
    item.answers = vec![options[correct].clone()];
    item.options = options;
    item.correct = Some(correct);
    Ok((item, note))
}

/// Question and options of an instruction; the options are lettered in order, each beginning a line.
fn split_options(instruction: &str) -> (String, Vec<String>) {
    static MARK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^[ \t]*\(([A-Z])\)"));
    let mut marks = Vec::new();
    for found in MARK.captures_iter(instruction) {
        let (mark, letter) = (found.get(0).expect("group 0 is the match"), &found[1]);
        if letter.as_bytes()[0] == b'A' + marks.len() as u8 {
            marks.push(mark.range());
        }
    }
    let question = &instruction[..marks.first().map_or(instruction.len(), |mark| mark.start)];
    let ends = marks.iter().skip(1).map(|mark| mark.start).chain([instruction.len()]);
    let options = marks.iter().zip(ends).map(|(mark, end)| fold(&instruction[mark.end..end])).collect();
    (question.trim().to_owned(), options)
}

/// Splits `(B) text` into index 1 and `text`; also `B. text` and a bare `B`.
fn letter_and_text(gold: &str) -> (Option<usize>, &str) {
    static LETTER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?:\(([A-Z])\)|([A-Z])(?:[.):]|\s*$))"));
    let Some(found) = LETTER.captures(gold) else { return (None, gold.trim()) };
    let letter = found.get(1).or(found.get(2)).map(|letter| usize::from(letter.as_str().as_bytes()[0] - b'A'));
    (letter, gold[found[0].len()..].trim())
}

fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file};
    use super::*;
    use serde_json::json;

    const QUESTION: &str = "Who (A) or\nwhat?\n\n (A) Ana\n (B) Bo  and\n (C)\n (C) Cy";

    fn line(instructions: &[&str], outputs: &[&str]) -> String {
        json!({"instructions": instructions, "outputs": outputs, "input": "Ana.", "evaluation": "exam"}).to_string()
    }

    #[test]
    fn options_are_split_from_the_question_and_gold_is_matched() {
        let golds = ["(B) Bo and", "B", "Ana", "C. Cy"];
        let dataset = read(&[file("quality.jsonl", &line(&["Who?\n (A) Ana\n (B) Bo  and\n (C) Cy"; 4], &golds))]);
        check(&dataset, 4, &[]);
        assert_eq!(dataset.items.iter().map(|item| item.correct.unwrap()).collect::<Vec<_>>(), [1, 1, 0, 2]);
        assert_eq!((dataset.items[0].question.as_str(), dataset.items[0].id.as_str()), ("Who?", "1/1"));
        assert_eq!(dataset.items[0].options, ["Ana", "Bo and", "Cy"]);
        let (question, options) = split_options(QUESTION);
        assert_eq!((question.as_str(), options.len()), ("Who (A) or\nwhat?", 3), "{options:?}");
    }

    #[test]
    fn wrong_rows_are_named() {
        let rows = [
            line(
                &["Who?\n(A) Ana\n(B) Bo", "Who?", "(A) a\n(B) b", "x\n(A) a\n(B) b"],
                &["(B) Ana", "(A) x", "(A) a", "(C) c"],
            ),
            line(&["x\n(A) a\n(B) b", "y"], &["(A) a"]),
            "{\"input\": \"a\"}".into(),
        ];
        check(
            &read(&[file("q.jsonl", &rows.join("\n"))]),
            2,
            &[
                "q.jsonl:1 (1/1): the gold text is not that of option (B), which it names: the letter counts",
                "q.jsonl:1 (1/2): 0 options: expected lines that begin with (A), (B), ... [left out]",
                "q.jsonl:1 (1/3): no question: expected one before the option (A) [left out]",
                "q.jsonl:1 (1/4): gold `(C) c`: expected a letter of an option, or its text [left out]",
                "q.jsonl:2 (2/2): 2 instructions, 1 outputs: expected a text in both for every question [left out]",
                "q.jsonl:3: no list `instructions` [left out]",
            ],
        );
    }
}
