//! HAMLET: query-focused summaries of whole novels, judged against the key facts of one chunk.

use super::{Adapter, Dataset, InputFile, LabelValues, Problem, Task, Texts, own};

/// Reads closeread's own format: the repository that the paper names, DISL-Lab/HAMLET, could not be looked up.
pub const ADAPTER: Adapter = Adapter {
    name: "hamlet",
    source: "Deng et al. 2025, HAMLET; arXiv 2508.19578; the layout is closeread's own",
    wants: "a folder with documents.jsonl and items.jsonl; each item a summary with key_facts and the label perspective",
    texts: Texts::Files,
    labels: &[LabelValues { name: "perspective", values: &PERSPECTIVES }],
    read,
};

/// The two perspectives of queries and key facts (section 3), as the label `perspective` has them.
pub const PERSPECTIVES: [&str; 2] = ["analytical", "narrative"];

/// One document a novel; one query an item, of task `summary`, with the key-fact trees of the chunk it was made from.
///
/// Items of other tasks are left out: no query-focused summary answers them. A summary without key facts is asked, but
/// no judge can align it, which is noted.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut dataset = own::read(files);
    let Dataset { items, problems, .. } = &mut dataset;
    items.retain(|item| {
        let is_summary = item.task == Task::Summary;
        if !is_summary {
            let message = "not a summary: expected task summary, with the query as its question";
            problems.push(Problem::dropped(ADAPTER.name, None, Some(&item.id), message));
        } else if item.key_facts.is_none() {
            let message = "no `key_facts`: the summary is asked, but its recall cannot be judged";
            problems.push(Problem::note(ADAPTER.name, None, Some(&item.id), message));
        }
        is_summary
    });
    dataset
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
                "hamlet (q2): no `key_facts`: the summary is asked, but its recall cannot be judged",
                "hamlet (q3): not a summary: expected task summary, with the query as its question [left out]",
            ],
        );
        let notes: Vec<String> = ADAPTER.check_labels(&dataset.items).iter().map(ToString::to_string).collect();
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("(q2): 1 of 2 items") && notes[0].contains("`dramatic`"), "{}", notes[0]);
    }
}
