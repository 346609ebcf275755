//! HAMLET: query-focused summaries of whole novels, judged against the key facts of one chunk.

use super::{Adapter, Dataset, LabelValues, Texts, own};
use closeread_eval::{InputFile, Task};

/// Reads closeread's own format: the repository that the paper names, DISL-Lab/HAMLET, could not be looked up.
pub const ADAPTER: Adapter = Adapter {
    name: "hamlet",
    source: "Deng et al. 2025, HAMLET; arXiv 2508.19578; the layout is closeread's own",
    wants: "a folder with documents.jsonl and items.jsonl; each item a summary with key_facts and the label perspective",
    texts: Texts::Files,
    task: Some(Task::Summary),
    labels: &[LabelValues { name: "perspective", values: &PERSPECTIVES }],
    in_parts: false,
    read,
};

/// The two perspectives of queries and key facts (section 3), as the label `perspective` has them.
pub const PERSPECTIVES: [&str; 2] = ["analytical", "narrative"];

/// Reads one document a novel; one query an item, of task `summary`, with the key-fact trees of the chunk it was made
/// from; items of other tasks are left out.
pub fn read(files: &[InputFile]) -> Dataset {
    own::read(&ADAPTER, files)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file};
    use super::*;

    #[test]
    fn queries_with_their_key_facts_are_read_and_others_are_named() {
        let documents = r#"{"id": "mill", "language": "en", "text": "Ana came to the mill. The lamp went out."}"#;
        let items = r#"{"id": "q1", "documents": ["mill"], "question": "What happens at the mill?", "task": "summary", "key_facts": {"document": "mill", "first": "Ana came", "last": "went out.", "roots": [{"fact": "Ana waited.", "children": [{"fact": "The lamp went out."}]}]}, "labels": {"perspective": "narrative"}}
{"id": "q2", "documents": ["mill"], "question": "What is it about?", "task": "summary", "answers": ["A mill."], "labels": {"perspective": "dramatic"}}
{"id": "q3", "documents": ["mill"], "question": "Who came?", "task": "generative", "answers": ["Ana"]}"#;
        let dataset = read(&[file("documents.jsonl", documents), file("items.jsonl", items)]);
        check(
            &dataset,
            2,
            &[
                "hamlet (q3): the task is generative: expected summary, the only one of this benchmark [left out]",
                "hamlet (q2): 1 of 2 items stand in no row of the paper's table by `perspective`: here it has `dramatic`, expected one of analytical, narrative",
            ],
        );
    }
}
