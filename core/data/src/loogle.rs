//! LooGLE: questions on long Wikipedia articles with their evidence sentences.

use super::source::collect::{Collector, base_name, words};
use super::source::literal;
use super::{Adapter, Dataset, Texts};
use closeread_eval::rows::{Row, WrongRow, rows, scalars};
use closeread_eval::{Evidence, InputFile, Item, Task};
use closeread_text::{Folding, Locator};
use serde_json::{Map, Value, json};

/// Reads the long- and short-dependency question files.
pub const ADAPTER: Adapter = Adapter {
    name: "loogle",
    source: "Li et al. 2023, LooGLE; github.com/bigai-nlco/LooGLE",
    wants: "longdep_qa.jsonl or shortdep_qa.jsonl, or the folder with them",
    texts: Texts::Fields,
    task: Some(Task::Generative),
    labels: &[],
    in_parts: false,
    read,
};

/// What the names of its other tasks' files hold; they lie in the same folder, with the same fields.
const OTHER_TASKS: [&str; 2] = ["cloze", "summarization"];

/// Field of [`Item::other`] that keeps quotes that do not stand in the article.
const UNLOCATED: &str = "unlocated_evidence";

/// Reads one document an article: `input` as it is. `qa_pairs` is the `repr` of a Python list.
///
/// Evidence strings are located after folding white space; those that are found are the evidence. The others
/// (paraphrases, spliced sentences, lost characters) stay as quotes in the item's field `unlocated_evidence`, and are
/// counted in one note a file. Labels: `dependency` (long or short) and, in the long set, `type`. Item ids are
/// `<long or short>/<title>/<pair, from 1>`.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    for file in out.files_with(ADAPTER.name, ADAPTER.wants, files, &["jsonl", "json"], "qa_pairs") {
        if OTHER_TASKS.iter().any(|task| base_name(file).contains(task)) {
            out.note(file, None, None, "not read: it is another task of LooGLE");
            continue;
        }
        let (mut n_strings, mut n_located) = (0, 0);
        for row in rows(file) {
            let Some(row) = out.keep(row) else { continue };
            match article(&row) {
                Ok(article) => {
                    let counts = article.add(&mut out, file, row.line);
                    (n_strings, n_located) = (n_strings + counts.0, n_located + counts.1);
                }
                Err(why) => out.dropped(file, Some(row.line), row.text("title").as_deref(), why),
            }
        }
        if n_located < n_strings {
            out.note(
                file,
                None,
                None,
                format!(
                    "{n_located} of {n_strings} evidence strings stand in their article; the others are no evidence"
                ),
            );
        }
    }
    out.finish()
}

struct Article {
    title: String,
    text: String,
    pairs: Vec<Value>,
}

fn article(row: &Row) -> Result<Article, WrongRow> {
    let text = row.fields.get("input").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let text = text.ok_or("no `input`: expected the text of the article")?.to_owned();
    let title = row.text("title").unwrap_or_else(|| format!("article {}", row.line));
    let pairs = match row.fields.get("qa_pairs") {
        Some(Value::String(pairs)) => {
            literal::parse(pairs).map_err(|why| format!("`qa_pairs` is no list of questions: {why}"))?
        }
        Some(Value::Array(pairs)) => Value::Array(pairs.clone()),
        _ => return Err("no `qa_pairs`: expected the questions of the article".into()),
    };
    match pairs {
        Value::Array(pairs) => Ok(Article { title, text, pairs }),
        _ => Err("`qa_pairs`: expected a list of questions".into()),
    }
}

impl Article {
    /// Returns how many evidence strings there are and how many of them were located.
    fn add(self, out: &mut Collector, file: &InputFile, line: usize) -> (usize, usize) {
        let document = out.document(&slug(&self.title), &self.title, "en", self.text.clone());
        let locator = Locator::new(&self.text);
        let (mut n_strings, mut n_located) = (0, 0);
        for (n, pair) in self.pairs.iter().enumerate() {
            let dependency = dependency(file, pair);
            let id = format!("{dependency}/{}/{}", slug(&self.title), n + 1);
            let field = |name| pair.get(name).map(scalars).unwrap_or_default();
            let (questions, answers) = (field("Q"), field("A"));
            let [question] = questions.as_slice() else {
                out.dropped(file, Some(line), Some(&id), "no question: expected text under `Q` in `qa_pairs`");
                continue;
            };
            if answers.is_empty() {
                out.dropped(file, Some(line), Some(&id), "no gold answer: expected text under `A` in `qa_pairs`");
                continue;
            }
            let kind = field("type").join(" ");
            let mut item = Item::new(&id, &document, question, Task::Generative)
                .label("dependency", dependency)
                .label("type", &kind);
            item.answers = answers;
            let mut unlocated = Vec::new();
            for quote in field("S") {
                n_strings += 1;
                match locator.locate(&quote, Folding::Space).span() {
                    Some(span) => {
                        n_located += 1;
                        let (start, end) = (Some(span.start), Some(span.end));
                        item.evidence.push(Evidence { document: None, quote, start, end });
                    }
                    None => unlocated.push(quote),
                }
            }
            if !unlocated.is_empty() {
                item.other = Map::from_iter([(UNLOCATED.to_owned(), json!(unlocated))]);
            }
            out.item(file, Some(line), item);
        }
        (n_strings, n_located)
    }
}

/// Returns the dependency of a pair: the published files say it in their name; in others the long set is the one whose
/// pairs have a type.
fn dependency(file: &InputFile, pair: &Value) -> &'static str {
    let name = base_name(file).to_lowercase();
    match (name.contains("long"), name.contains("short")) {
        (true, false) => "long",
        (false, true) => "short",
        _ if pair.get("type").is_some() => "long",
        _ => "short",
    }
}

/// The letters and digits of a title in lower case, words joined by hyphens.
fn slug(title: &str) -> String {
    words(title).join("-")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file};
    use super::*;

    fn line(pairs: &str) -> String {
        json!({"input": "Ana built\na mill. “Why?” It stands.", "title": "The Mill", "qa_pairs": pairs, "output": "None"})
            .to_string()
    }

    #[test]
    fn pairs_are_read_and_evidence_is_located_by_white_space_alone() {
        let pairs = r#"[{'Q': "Who?\n1. Ana\n2. Bo", 'A': 1, 'type': 'computation', 'S': ['Ana built a  mill.', '"Why?"', None]}, {'S': 'It stands.', 'Q': 'What?', 'A': 'It stands.'}]"#;
        let dataset = read(&[file("longdep_qa.jsonl", &line(pairs))]);
        check(
            &dataset,
            2,
            &["longdep_qa.jsonl: 2 of 3 evidence strings stand in their article; the others are no evidence"],
        );
        let item = &dataset.items[0];
        assert_eq!((item.id.as_str(), item.question.as_str()), ("long/the-mill/1", "Who?\n1. Ana\n2. Bo"));
        assert_eq!(
            (item.answers.as_slice(), item.labels["type"].as_str()),
            (["1".to_owned()].as_slice(), "computation")
        );
        assert_eq!(item.evidence.len(), 1);
        assert_eq!((item.evidence[0].start, item.evidence[0].end), (Some(0), Some(17)));
        assert_eq!(item.other[UNLOCATED], json!(["\"Why?\""]));
    }

    #[test]
    fn other_tasks_of_the_folder_are_not_read() {
        let cloze = line("[{'Q': '<mask-0> built it.', 'A': {'<mask-0>': 'Ana'}, 'S': 'Ana built it.'}]");
        let files = [
            file("shortdep_qa.jsonl", &line("[{'Q': 'a?', 'A': 'b', 'S': 'It stands.'}]")),
            file("d/shortdep_cloze.jsonl", &cloze),
            file("d/longdep_summarization.jsonl", &line("none")),
        ];
        let not_read = |file: &str| format!("{file}: not read: it is another task of LooGLE");
        let notes = [not_read("d/shortdep_cloze.jsonl"), not_read("d/longdep_summarization.jsonl")];
        check(&read(&files), 1, &notes.each_ref().map(String::as_str));
    }

    #[test]
    fn one_article_serves_both_sets() {
        let long = line("[{'Q': 'a?', 'A': 'b', 'type': 'x', 'S': []}]");
        let short = line("[{'Q': 'a?', 'A': 'b', 'S': 'It stands.'}]");
        let dataset = read(&[file("longdep_qa.jsonl", &long), file("shortdep_qa.jsonl", &short)]);
        check(&dataset, 2, &[]);
        assert_eq!(dataset.documents.len(), 1);
        assert_eq!(dataset.items[1].labels["dependency"], "short");
    }

    #[test]
    fn wrong_rows_are_named() {
        let rows = [
            line("none"),
            line("{'Q': 'a'}"),
            line("[{'Q': '', 'A': 'b'}, {'Q': 'a?', 'A': None}]"),
            "{\"title\": \"T\"}".into(),
        ];
        check(
            &read(&[file("x.jsonl", &rows.join("\n"))]),
            0,
            &[
                "x.jsonl:1 (The Mill): `qa_pairs` is no list of questions: expected a value at character 1, found `n` [left out]",
                "x.jsonl:2 (The Mill): `qa_pairs`: expected a list of questions [left out]",
                "x.jsonl:3 (short/the-mill/1): no question: expected text under `Q` in `qa_pairs` [left out]",
                "x.jsonl:3 (short/the-mill/2): no gold answer: expected text under `A` in `qa_pairs` [left out]",
                "x.jsonl:4 (T): no `input`: expected the text of the article [left out]",
            ],
        );
    }
}
