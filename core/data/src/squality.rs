//! SQuALITY: summaries of short stories that answer a question, four references each.

use super::Dataset;
use super::source::collect::Collector;
#[cfg(feature = "data-sets")]
use super::{Adapter, Texts};
#[cfg(feature = "data-sets")]
use closeread_books::html;
use closeread_eval::rows::{Row, WrongRow, rows, scalar};
use closeread_eval::{InputFile, Item, Task};
use serde_json::Value;

const NAME: &str = "squality";
const WANTS: &str = "train.jsonl, dev.jsonl or test.jsonl from data/<version>/txt";

/// Reads `train.jsonl`, `dev.jsonl`, `test.jsonl` of any version.
#[cfg(feature = "data-sets")]
pub const ADAPTER: Adapter = Adapter {
    name: NAME,
    source: "Wang et al. 2022, SQuALITY; github.com/nyu-mll/SQuALITY",
    wants: WANTS,
    texts: Texts::Fields,
    task: Some(Task::Summary),
    labels: &[],
    in_parts: false,
    read,
};

/// Reads one document a story, markup removed where it is a web page; one item a question, all its references as
/// answers.
///
/// Label `query`: `plot` for the question that every story has first, `specific` for the others. Item ids are
/// `<passage_id>/<question_number>`.
#[cfg(feature = "data-sets")]
pub fn read(files: &[InputFile]) -> Dataset {
    collect(files, html::without_markup)
}

/// Reads only the questions, as [`read`] does: stories stay as the file has them.
pub fn read_questions(files: &[InputFile]) -> Dataset {
    collect(files, str::to_owned)
}

fn collect(files: &[InputFile], text_of: fn(&str) -> String) -> Dataset {
    let mut out = Collector::default();
    for file in out.files_with(NAME, WANTS, files, &["jsonl", "json"], "question_text") {
        for row in rows(file) {
            let Some(row) = out.keep(row) else { continue };
            let passage = row.fields.get("metadata").and_then(|metadata| metadata.get("passage_id")).and_then(scalar);
            if let Err(why) = add(&mut out, file, &row, passage.as_deref(), text_of) {
                out.dropped(file, Some(row.line), passage.as_deref(), why);
            }
        }
    }
    out.finish()
}

fn add(
    out: &mut Collector,
    file: &InputFile,
    row: &Row,
    passage: Option<&str>,
    text_of: fn(&str) -> String,
) -> Result<(), WrongRow> {
    let text = row.fields.get("document").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let text = text.ok_or("no `document`: expected the text of the story")?;
    let questions = row.fields.get("questions").and_then(Value::as_array);
    let questions = questions.ok_or("no list `questions`: expected the questions with their responses")?;
    let passage = passage.map_or_else(|| format!("story-{}", row.line), str::to_owned);
    let document = out.document(&passage, "", "en", text_of(text));
    for (n, question) in questions.iter().enumerate() {
        let field = |name: &str| question.get(name).and_then(scalar);
        let number = field("question_number").unwrap_or_else(|| (n + 1).to_string());
        let id = format!("{passage}/{number}");
        let Some(query) = field("question_text") else {
            out.dropped(file, Some(row.line), Some(&id), "no `question_text`: expected text");
            continue;
        };
        let responses = question.get("responses").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let answers: Vec<String> =
            responses.iter().filter_map(|response| response.get("response_text").and_then(scalar)).collect();
        if answers.is_empty() {
            out.dropped(
                file,
                Some(row.line),
                Some(&id),
                "no reference summary: expected `responses` with `response_text`",
            );
            continue;
        }
        if answers.len() < responses.len() {
            let n_empty = responses.len() - answers.len();
            out.note(file, Some(row.line), Some(&id), format!("{n_empty} of {} references are empty", responses.len()));
        }
        let is_plot = query.to_lowercase().starts_with("what is the plot");
        let mut item = Item::new(&id, &document, query, Task::Summary);
        item = item.label("query", if is_plot { "plot" } else { "specific" });
        item.answers = answers;
        out.item(file, Some(row.line), item);
    }
    Ok(())
}

#[cfg(all(test, feature = "data-sets"))]
mod tests {
    use super::super::testing::{check, file};
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_the_answers_and_wrong_rows_are_named() {
        let story = json!({"metadata": {"passage_id": 7}, "document": "Ana came.", "questions": [
            {"question_text": "What is the plot of the story?", "question_number": 1,
             "responses": [{"response_text": " Ana comes.\n"}, {"response_text": ""}, {"response_text": "She comes."}]},
            {"question_text": "Who?", "question_number": "2", "responses": []},
            {"question_text": "", "question_number": 3, "responses": [{"response_text": "x"}]},
            {"question_text": "Why?", "responses": [{"response_text": "x"}]},
        ]});
        let rows = format!("{story}\n{{\"metadata\": {{\"passage_id\": \"8\"}}, \"document\": \"Bo.\"}}\n");
        let dataset = read(&[file("dev.jsonl", &rows)]);
        check(
            &dataset,
            2,
            &[
                "dev.jsonl:1 (7/1): 1 of 3 references are empty",
                "dev.jsonl:1 (7/2): no reference summary: expected `responses` with `response_text` [left out]",
                "dev.jsonl:1 (7/3): no `question_text`: expected text [left out]",
                "dev.jsonl:2 (8): no list `questions`: expected the questions with their responses [left out]",
            ],
        );
        assert_eq!(dataset.items[0].answers, ["Ana comes.", "She comes."]);
        assert_eq!(dataset.items[0].labels["query"], "plot");
        assert_eq!((dataset.items[1].id.as_str(), dataset.items[1].labels["query"].as_str()), ("7/4", "specific"));
    }
}
