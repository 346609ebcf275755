//! Questions to people about trees, queries and labels (section 3.2, Tables 2 and 3).

use super::chunks::chunk_text;
use super::{Criterion, Labels, Pruned, Question, Tree, Unit, numbered};
use closeread_books::{Book, TextError};
use closeread_eval::Item;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns every question that could be asked: of each label, of each tree and of each query.
pub(super) fn questions(
    trees: &[Unit<Tree>],
    passes: &[HashMap<String, Labels>],
    pruned: &[Unit<Pruned>],
    items: &[Item],
    books: &HashMap<&str, &Arc<Book>>,
) -> Result<Vec<Question>, TextError> {
    let mut questions = Vec::new();
    for Unit { id, input: tree } in trees {
        let context = chunk_text(books[tree.chunk.document.as_str()], &tree.chunk)?;
        let facts = numbered(&tree.roots);
        for (criterion, pass) in Criterion::ALL.into_iter().zip(passes) {
            let labels = pass.get(id).map(|labels| labels.labels.as_slice()).unwrap_or_default();
            for (fact, label) in facts.iter().zip(labels) {
                let Some(label) = label else { continue };
                questions.push(Question {
                    id: format!("{id}/{}/{}", fact.id, criterion.name()),
                    group: format!("{}, label {}", criterion.name(), u8::from(label.passes)),
                    about: id.clone(),
                    context: context.clone(),
                    shows: vec![fact.fact.clone()],
                    asks: asks(criterion).to_owned(),
                    expected: label.passes,
                });
            }
        }
        if let Some(left) = pruned.iter().find(|unit| unit.id == *id) {
            questions.push(Question {
                id: format!("{id}/tree"),
                group: "tree".to_owned(),
                about: id.clone(),
                context: context.clone(),
                shows: numbered(&left.input.roots).iter().map(|fact| format!("{} {}", fact.id, fact.fact)).collect(),
                asks: "Does every fact support the one above it?".to_owned(),
                expected: true,
            });
        }
        let Some(item) = items.iter().find(|item| item.id == *id) else { continue };
        for (criterion, asks) in [
            ("query naturalness", "Is this a natural query that a reader of the book could ask?"),
            ("query relevance", "Can the query be answered from the text?"),
        ] {
            questions.push(Question {
                id: format!("{id}/{criterion}"),
                group: criterion.to_owned(),
                about: id.clone(),
                context: context.clone(),
                shows: vec![item.question.clone()],
                asks: asks.to_owned(),
                expected: true,
            });
        }
    }
    Ok(questions)
}

const fn asks(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Faithfulness => {
            "Does the text state this explicitly, and is all of it accurate? What is only inferred, altered or expanded is a no."
        }
        Criterion::Objectivity => {
            "Is this purely factual, exactly what the text states? Opinion, assumption, interpretation, evaluative words, emotion or bias make it a no."
        }
        Criterion::Significance => {
            "Is this, on its own merit, essential to understand the text: does it drive the plot, develop a character or reveal a major conflict? Trivial or background matter is a no."
        }
    }
}
