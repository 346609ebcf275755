//! QuALITY in its own format: articles as web pages, four options, gold labels from 1.

use super::Dataset;
use super::source::collect::Collector;
#[cfg(feature = "data-sets")]
use super::{Adapter, Texts};
#[cfg(feature = "data-sets")]
use closeread_books::html;
use closeread_eval::rows::{Row, WrongRow, rows, scalar};
use closeread_eval::{InputFile, Item, Task};
use serde_json::{Map, Value};

const NAME: &str = "quality";
const WANTS: &str = "the QuALITY.v*.train, .dev or .test files, or JSON Lines of the same layout";

/// Reads `QuALITY.*.{train,dev,test}` and the example lines of its baselines.
#[cfg(feature = "data-sets")]
pub const ADAPTER: Adapter = Adapter {
    name: NAME,
    source: "Pang et al. 2022, QuALITY; github.com/nyu-mll/quality",
    wants: WANTS,
    texts: Texts::Fields,
    task: Some(Task::Choice),
    labels: &[],
    in_parts: false,
    read,
};

/// Reads one document an article, markup removed where it is a web page; the two question sets of one article share it.
///
/// Both published layouts are read: a list `questions` of objects, and fields `question1`, `question1option1`, ... The
/// gold label counts from 1. A question without one (the test set) is kept without `correct`, with one note a file.
/// Labels: `difficulty` (hard or not hard, where given) and `source`. Item ids are the question's own, or
/// `<unique_id>/<number>`.
#[cfg(feature = "data-sets")]
pub fn read(files: &[InputFile]) -> Dataset {
    collect(files, html::without_markup)
}

/// Reads only the questions, as [`read`] does: articles stay as the file has them.
pub fn read_questions(files: &[InputFile]) -> Dataset {
    collect(files, str::to_owned)
}

fn collect(files: &[InputFile], text_of: fn(&str) -> String) -> Dataset {
    let mut out = Collector::default();
    let extensions = ["jsonl", "json", "train", "dev", "test", "htmlstripped"];
    for file in out.files_with(NAME, WANTS, files, &extensions, "article_id") {
        let mut n_without_gold = 0;
        for row in rows(file) {
            let Some(row) = out.keep(row) else { continue };
            match add(&mut out, file, &row, text_of) {
                Ok(n) => n_without_gold += n,
                Err(why) => out.dropped(file, Some(row.line), row.text("article_id").as_deref(), why),
            }
        }
        if n_without_gold > 0 {
            out.note(file, None, None, format!("{n_without_gold} questions have no gold label: asked, but not scored"));
        }
    }
    out.finish()
}

/// Returns how many questions have no gold label.
fn add(out: &mut Collector, file: &InputFile, row: &Row, text_of: fn(&str) -> String) -> Result<usize, WrongRow> {
    let text = article(row).map(|article| text_of(&article)).filter(|text| !text.trim().is_empty());
    let text = text.ok_or("no `article`: expected its text, or a list of its lines")?;
    let set = row.text("set_unique_id").or(row.text("unique_id"));
    let article = row.text("article_id").or(set.clone()).unwrap_or_else(|| format!("article-{}", row.line));
    let set = set.unwrap_or_else(|| article.clone());
    let document = out.document(&article, &row.text("title").unwrap_or_default(), "en", text);
    let questions = questions(row);
    if questions.is_empty() {
        return Err("no questions: expected a list `questions`, or fields `question1`, `question1option1`, ...".into());
    }
    let mut n_without_gold = 0;
    for (n, question) in questions {
        let id = question.id.clone().unwrap_or_else(|| format!("{set}/{n}"));
        match question.item(&id, &document) {
            Ok(item) => {
                n_without_gold += usize::from(item.correct.is_none());
                out.item(file, Some(row.line), item.label("source", &row.text("source").unwrap_or_default()));
            }
            Err(why) => out.dropped(file, Some(row.line), Some(&id), why),
        }
    }
    Ok(n_without_gold)
}

fn article(row: &Row) -> Option<String> {
    match row.fields.get("article")? {
        Value::String(text) => Some(text.clone()),
        // The lines keep their line ends.
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

struct Question {
    id: Option<String>,
    text: Option<String>,
    options: Vec<Option<String>>,
    gold: Option<String>,
    difficult: Option<String>,
}

fn questions(row: &Row) -> Vec<(usize, Question)> {
    if let Some(Value::Array(questions)) = row.fields.get("questions") {
        return questions.iter().enumerate().map(|(n, question)| (n + 1, Question::from_object(question))).collect();
    }
    let number = |name: &String| name.strip_prefix("question")?.parse::<usize>().ok();
    let mut numbers: Vec<usize> = row.fields.keys().filter_map(number).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|n| (n, Question::from_fields(&row.fields, n))).collect()
}

impl Question {
    fn from_object(question: &Value) -> Self {
        let field = |name: &str| question.get(name).and_then(scalar);
        let options = question.get("options").and_then(Value::as_array);
        Self {
            id: field("question_unique_id"),
            text: field("question"),
            options: options.map(|options| options.iter().map(scalar).collect()).unwrap_or_default(),
            gold: field("gold_label"),
            difficult: field("difficult"),
        }
    }

    fn from_fields(fields: &Map<String, Value>, n: usize) -> Self {
        let field = |name: String| fields.get(&name).and_then(scalar);
        let n_options = (1..).take_while(|o| fields.contains_key(&format!("question{n}option{o}"))).count();
        Self {
            id: None,
            text: field(format!("question{n}")),
            options: (1..=n_options).map(|option| field(format!("question{n}option{option}"))).collect(),
            gold: field(format!("question{n}_gold_label")),
            difficult: field(format!("question{n}_difficult")),
        }
    }

    fn item(self, id: &str, document: &str) -> Result<Item, WrongRow> {
        let question = self.text.ok_or("the question is empty: expected text")?;
        if self.options.len() < 2 {
            return Err(format!("{} options: expected four", self.options.len()).into());
        }
        let empty = self.options.iter().position(Option::is_none);
        if let Some(n) = empty {
            return Err(format!("option {} is empty: expected text", n + 1).into());
        }
        let difficulty = match self.difficult.as_deref() {
            Some("1" | "true") => "hard",
            Some("0" | "false") => "not hard",
            _ => "",
        };
        let mut item = Item::new(id, document, question, Task::Choice).label("difficulty", difficulty);
        item.options = self.options.into_iter().flatten().collect();
        if let Some(gold) = self.gold {
            let n = item.options.len();
            let label = gold.strip_suffix(".0").unwrap_or(&gold).parse().ok().filter(|label| (1..=n).contains(label));
            let label = label.ok_or_else(|| format!("gold label `{gold}`: expected a number from 1 to {n}"))?;
            item.answers = vec![item.options[label - 1].clone()];
            item.correct = Some(label - 1);
        }
        Ok(item)
    }
}

#[cfg(all(test, feature = "data-sets"))]
mod tests {
    use super::super::testing::{check, file, text};
    use super::*;

    #[test]
    fn both_layouts_are_read() {
        let flat = r#"{"article_id": 7, "unique_id": "7_X", "title": "The Mill", "source": "Gutenberg", "article": ["<html>\n", "<p>Ana\n", "came.</p>"], "question1": "Who?", "question1option1": "Ana ", "question1option2": "Bo", "question1_gold_label": 1}"#;
        let nested = r#"{"article_id": "7", "set_unique_id": "7_Y", "article": "<html><p>Ana came.</p>", "questions": [{"question": "Who?", "question_unique_id": "7_Y_1", "options": ["Ana", "Bo"], "gold_label": 2, "difficult": 1}, {"question": "Why?", "options": ["Ana", 3], "difficult": 0}]}"#;
        let dataset = read(&[file("QuALITY.v1.0.1.dev", &format!("{flat}\n{nested}\n"))]);
        check(&dataset, 3, &["QuALITY.v1.0.1.dev: 1 questions have no gold label: asked, but not scored"]);
        assert_eq!(dataset.documents.len(), 1);
        assert_eq!((text(&dataset, 0), dataset.documents[0].title.as_str()), ("Ana came.", "The Mill"));
        let ids: Vec<_> = dataset.items.iter().map(|item| (item.id.as_str(), item.correct)).collect();
        assert_eq!(ids, [("7_X/1", Some(0)), ("7_Y_1", Some(1)), ("7_Y/2", None)]);
        assert_eq!(dataset.items[0].options, ["Ana", "Bo"]);
        assert_eq!(dataset.items[0].labels["source"], "Gutenberg");
        let difficulty = |item: usize| dataset.items[item].labels["difficulty"].as_str();
        assert_eq!([difficulty(1), difficulty(2)], ["hard", "not hard"]);
        assert_eq!(dataset.items[2].options, ["Ana", "3"]);
    }

    #[test]
    fn wrong_rows_are_named() {
        let rows = [
            r#"{"article_id": 7, "article": "Ana.", "questions": [{"question": "Who?", "options": ["a", "b"], "gold_label": 0}, {"question": "Who?", "options": ["a", ""], "gold_label": 1}, {"options": ["a", "b"]}, {"question": "Who?", "options": ["a"]}]}"#,
            r#"{"article_id": 8, "article": []}"#,
            r#"{"article_id": 9, "article": "Bo."}"#,
        ];
        check(
            &read(&[file("q.jsonl", &rows.join("\n"))]),
            0,
            &[
                "q.jsonl:1 (7/1): gold label `0`: expected a number from 1 to 2 [left out]",
                "q.jsonl:1 (7/2): option 2 is empty: expected text [left out]",
                "q.jsonl:1 (7/3): the question is empty: expected text [left out]",
                "q.jsonl:1 (7/4): 1 options: expected four [left out]",
                "q.jsonl:2 (8): no `article`: expected its text, or a list of its lines [left out]",
                "q.jsonl:3 (9): no questions: expected a list `questions`, or fields `question1`, `question1option1`, ... [left out]",
            ],
        );
    }
}
