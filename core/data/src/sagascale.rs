//! SagaScale: questions on whole novels, English and Chinese.

use super::{Adapter, Dataset, LabelValues, Texts, own};
use closeread_eval::{InputFile, Task};

/// Reads closeread's own format: the layout of the published files was found neither in a repository nor on a page.
pub const ADAPTER: Adapter = Adapter {
    name: "sagascale",
    source: "Du et al. 2025, SagaScale; arXiv 2601.09723; the layout is closeread's own",
    wants: "a folder with documents.jsonl and items.jsonl; each item with the label question_type",
    texts: Texts::Files,
    task: Some(Task::Generative),
    labels: &[LabelValues { name: "question_type", values: &QUESTION_TYPES }],
    in_parts: false,
    read,
};

/// The ten types of questions (A.3, figure 8), as the label `question_type` has them.
pub const QUESTION_TYPES: [&str; 10] = [
    "Location",
    "Character",
    "Reason",
    "Method",
    "Event",
    "Entity",
    "Quantity",
    "Temporal",
    "Quotation",
    "Miscellaneous",
];

/// Reads one document a novel with its language, which is the language of the answers; one open question an item.
pub fn read(files: &[InputFile]) -> Dataset {
    own::read(&ADAPTER, files)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file};
    use super::*;

    #[test]
    fn novels_and_questions_of_both_languages_are_read_and_wrong_rows_are_named() {
        let documents = r#"{"id": "mill", "title": "The Mill", "language": "en", "path": "mill.txt"}
{"id": "du", "title": "渡", "language": "zh", "text": "阿安走了。"}"#;
        let items = r#"{"id": "mill-1", "documents": ["mill"], "question": "Who left?", "task": "generative", "answers": ["Bo"], "labels": {"question_type": "Character"}}
{"id": "du-1", "documents": ["du"], "question": "谁走了？", "task": "generative", "answers": ["阿安"], "labels": {"question_type": "Character"}}
{"id": "du-2", "documents": ["du"], "task": "generative", "answers": ["阿安"]}"#;
        let files = [file("documents.jsonl", documents), file("items.jsonl", items), file("mill.txt", "Bo left.")];
        let dataset = read(&files);
        check(&dataset, 2, &["items.jsonl:3 (du-2): no `question`: expected text [left out]"]);
        assert_eq!(dataset.documents[1].language.as_deref(), Some("zh"));
    }
}
