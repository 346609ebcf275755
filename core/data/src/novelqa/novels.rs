//! The novels with their questions, as the adapter reads them.

use super::questions::{ASPECTS, COMPLEXITIES, Question, questions};
use crate::source::collect::{Collector, base_name, by_name, has_extension, stem, words};
use crate::source::decoded::text_of;
use crate::{Adapter, Dataset, LabelValues, Texts};
use closeread_eval::InputFile;
use closeread_eval::rows::scalar;
use serde_json::Value;
use std::collections::HashMap;

/// Reads one `.txt` and one `.json` a novel, with the same name.
pub const ADAPTER: Adapter = Adapter {
    name: "novelqa",
    source: "Wang et al. 2024, NovelQA; github.com/NovelQA/novelqa.github.io, huggingface.co/datasets/NovelQA/NovelQA",
    wants: "the folders with <novel>.txt and <novel>.json, and bookmeta.json where there is one",
    texts: Texts::Files,
    task: None,
    labels: &[
        LabelValues { name: "aspect", values: &ASPECTS },
        LabelValues { name: "complexity", values: &COMPLEXITIES },
    ],
    in_parts: false,
    read,
};

/// Reads one document a novel that has questions. A question with options is a choice, one without is open.
///
/// Gold answers (`Golden`) and `Evidences` are published for the demonstration novels alone: elsewhere questions are
/// kept without gold, with one note a file.
///
/// A novel's title is its file's name, or, in the later layout whose files are named `B00` and so on (the data set's
/// card), what `bookmeta.json` says under that name: `{"B00": {"title": ...}, ...}`. Labels: `aspect` as published; `complexity`, with `mh`, `sh`, `dtl` written
/// out as `multi-hop`, `single-hop`, `detail`, from `Complexity` or `Complex`; `rights`, `public-domain` or `copyrighted`, from the published folders. Item ids are `<novel>/<QID>`.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    let is_book = |file: &&InputFile| has_extension(file, &["txt"]);
    let mut books = by_name(files.iter().filter(is_book), |file| words(stem(file)));
    let (about, files): (Vec<&InputFile>, Vec<&InputFile>) =
        files.iter().partition(|file| base_name(file) == "bookmeta.json");
    let titles = about.first().and_then(|file| titles(file, &mut out)).unwrap_or_default();
    for file in out.files_with(ADAPTER.name, ADAPTER.wants, files, &["json", "jsonl"], "Question") {
        let novel = stem(file);
        let questions: Vec<Question> =
            questions(file).into_iter().filter_map(|row| out.keep(row)).map(Question).collect();
        let Some(book) = books.get_mut(&words(novel)).and_then(|files| out.first(files)) else {
            let message = format!("no text for {} questions: expected {novel}.txt among the files", questions.len());
            out.dropped(file, None, Some(novel), message);
            continue;
        };
        let text = match text_of(book, &mut out) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("no text for {} questions: {error}", questions.len());
                out.dropped(book, None, Some(novel), message);
                continue;
            }
        };
        let title = titles.get(novel).cloned().unwrap_or_else(|| novel.replace('_', " "));
        let document = out.document(novel, &title, "en", text);
        let mut n_without_gold = 0;
        for question in questions {
            let line = question.0.line;
            let id = format!("{novel}/{}", question.0.text("QID").unwrap_or_else(|| format!("line-{line}")));
            match question.item(&id, &document) {
                Ok(item) => {
                    n_without_gold += usize::from(item.answers.is_empty());
                    out.item(file, Some(line), item.label("rights", rights(file).or(rights(book)).unwrap_or_default()));
                }
                Err(why) => out.dropped(file, Some(line), Some(&id), why),
            }
        }
        if n_without_gold > 0 {
            let message =
                format!("{n_without_gold} questions have no gold answer: asked, but scored on Codabench only");
            out.note(file, None, Some(novel), message);
        }
    }
    out.finish()
}

/// Returns who may print a novel, by the folders that the published files lie in.
fn rights(file: &InputFile) -> Option<&'static str> {
    file.name.split(['/', '\\']).find_map(|folder| match folder {
        "PublicDomain" => Some("public-domain"),
        "CopyrightProtected" => Some("copyrighted"),
        _ => None,
    })
}

/// Titles by the names of the novels' files.
fn titles(file: &InputFile, out: &mut Collector) -> Option<HashMap<String, String>> {
    let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file.bytes);
    let Ok(Value::Object(about)) = serde_json::from_slice(bytes) else {
        out.note(file, None, None, "expected an object with a `title` by book: the novels are called by their files");
        return None;
    };
    Some(about.into_iter().filter_map(|(novel, about)| Some((novel, scalar(about.get("title")?)?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, file};
    use closeread_eval::Task;

    const QUESTIONS: &str = r#"[
 {"QID": "Q1", "Aspect": "times", "Complex": "mh", "Question": "How often?", "Options": {"B": "Two", "A": "One", "C": "3", "D": "Four"}, "Golden": "C", "Evidences": ["Ana came.", "Bo left."]},
 {"QID": "Q2", "Aspect": "plot", "Complexity": "dtl", "Question": "Did she?", "Options": {"A": "Yes", "B": "No", "C": null}, "Golden": "No"},
 {"QID": "Q3", "Question": "Who?", "Options": {"A": "Ana", "B": "Bo"}},
 {"QID": "Q4", "Question": "Who?", "Golden": "Ana"},
 {"QID": "Q5", "Question": "Who?", "Options": {"A": "Ana", "B": "Bo"}, "Golden": "D"},
 {"QID": "Q6", "Question": "", "Options": {"A": "Ana", "B": "Bo"}},
 {"QID": "Q7", "Question": "Who?", "Options": {"A": "Ana", "B": " "}}
]"#;

    #[test]
    fn the_folders_say_who_may_print_a_novel() {
        let rights = |folder: &str| {
            let questions =
                file(&format!("Data/{folder}/mill.json"), r#"[{"QID": "1", "Question": "Who?", "Golden": "Ana"}]"#);
            let items = read(&[questions, file("Books/mill.txt", "Ana came.")]).items;
            items[0].labels.get("rights").cloned()
        };
        assert_eq!(rights("PublicDomain").as_deref(), Some("public-domain"));
        assert_eq!(rights("CopyrightProtected").as_deref(), Some("copyrighted"));
        assert_eq!(rights("Demonstration"), None);
    }

    #[test]
    fn questions_are_read_with_and_without_gold() {
        let dataset = read(&[file("d/The Mill.json", QUESTIONS), file("b/the_mill.txt", "Ana came. Bo left.")]);
        check(
            &dataset,
            4,
            &[
                "d/The Mill.json:6 (The Mill/Q5): gold `D`: expected one of the letters A, B, or the text of an option [left out]",
                "d/The Mill.json:7 (The Mill/Q6): no `Question`: expected text [left out]",
                "d/The Mill.json:8 (The Mill/Q7): one option: expected two to four, or none [left out]",
                "d/The Mill.json (The Mill): 1 questions have no gold answer: asked, but scored on Codabench only",
            ],
        );
        let gold: Vec<_> = dataset.items.iter().map(|item| (item.correct, item.answers.join("|"))).collect();
        assert_eq!(gold, [(Some(2), "3".into()), (Some(1), "No".into()), (None, String::new()), (None, "Ana".into())]);
        let item = &dataset.items[0];
        assert_eq!(item.options, ["One", "Two", "3", "Four"]);
        assert_eq!((item.labels["complexity"].as_str(), item.labels["aspect"].as_str()), ("multi-hop", "times"));
        assert_eq!(item.evidence[1].quote, "Bo left.");
        assert_eq!(dataset.items[1].labels["complexity"], "detail");
        assert_eq!(dataset.items[3].task, Task::Generative);
    }

    #[test]
    fn a_novel_has_the_title_that_bookmeta_gives_it() {
        let question = r#"{"Q0001": {"Question": "Who?", "Options": {"A": "Ana", "B": "Bo"}, "Gold": "B"}}"#;
        let mut files = vec![
            file("bookmeta.json", r#"{"B00": {"title": "The Mill", "author": "A"}, "B01": {}}"#),
            file("Data/PublicDomain/B00.json", question),
            file("Books/PublicDomain/B00.txt", "Bo came."),
        ];
        let dataset = read(&files);
        check(&dataset, 1, &[]);
        assert_eq!((dataset.documents[0].id.as_str(), dataset.documents[0].title.as_str()), ("B00", "The Mill"));
        assert_eq!((dataset.items[0].id.as_str(), dataset.items[0].correct), ("B00/Q0001", Some(1)));

        files[0] = file("bookmeta.json", "[]");
        let dataset = read(&files);
        let expected = "bookmeta.json: expected an object with a `title` by book: the novels are called by their files";
        check(&dataset, 1, &[expected]);
        assert_eq!(dataset.documents[0].title, "B00");
    }

    #[test]
    fn questions_may_be_keyed_by_id_and_need_their_novel() {
        let keyed = "{\n\"Q1\": {\"Question\": \"Who?\", \"Options\": {\"A\": \"a\", \"B\": \"b\"}, \"Golden\": \"A\"},\n\"Q2\": {\"Question\": 3, \"Golden\": \"x\", \"Options\": []},\n\"Q3\": {}}";
        let files = [file("mill.json", keyed), file("mill.txt", "Ana."), file("crow.json", QUESTIONS)];
        let dataset = read(&files);
        check(
            &dataset,
            2,
            &[
                "mill.json:4 (mill/Q3): no `Question`: expected text [left out]",
                "crow.json (crow): no text for 7 questions: expected crow.txt among the files [left out]",
            ],
        );
        assert_eq!(dataset.items[0].id, "mill/Q1");
    }
}
