//! HAMLET: judged summaries, in a layout of closeread's own, for the paper publishes none.

mod judged;

use super::draft::{Draft, ended};
use super::layout::{Format, FormatError, FormatInput};
use crate::scoring::{Attempt, Submission};
use closeread_eval::Outcome;
use closeread_eval::hamlet::{FIFTHS, SummaryEvaluation, fifth_at, scores, scores_of_nothing};
use closeread_eval::{Item, Task};
use judged::Judged;
use std::collections::BTreeSet;

/// Reads judged summaries, one a line.
pub(super) const FORMAT: Format = Format {
    name: "hamlet",
    source: "HAMLET, sections 3 and 4, appendix E; the layout is closeread's own",
    wants: "JSON Lines with item, perspective, and either facts and sentences with their verdicts, or facts with the judge's alignment and verification",
    tasks: &[],
    systems,
    read,
};

/// Reads one item a query, labels `perspective` and, where the position is known, `position` in five bins; one
/// submission a model.
///
/// Scores are given, each where it has something to be taken over: `recall`, `recall_root`, `recall_branch`,
/// `recall_leaf`; `faithfulness`, `faithfulness_root`, `_branch`, `_leaf`, `_none` (sentences aligned with no key fact)
/// and `_aligned` (with some); and `recall_faithfulness`, the mean of the two. An empty summary has 0 in all. Queries
/// that another model has a summary for and this one has not are `missing`. Of a level without a key fact there is no score,
/// whatever came of the summary.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    FORMAT.check_without_gold(input)?;
    let mut draft = Draft::new(&[]);
    let mut judged = Vec::new();
    for file in input.files {
        for one in draft.keep(judged::read(file)) {
            judged.push((file, one));
        }
    }
    // Without a row there is no model to ask for: what is wrong with the rows says more.
    if judged.is_empty() && input.system.is_none() {
        return draft.finish(&FORMAT, input);
    }
    let system = FORMAT.system(input)?;
    for (_, Judged { evaluation, .. }) in &judged {
        if draft.item(item(evaluation)) {
            draft.inapplicable(
                &evaluation.item,
                scores_of_nothing(evaluation.verdicts.facts.as_deref().unwrap_or_default()),
            );
        }
    }
    for (file, Judged { line, summary, evaluation }) in judged {
        if evaluation.model == system {
            draft.attempt(file, Some(line), &evaluation.item, attempt(summary, &evaluation));
        }
    }
    draft.finish(&FORMAT, input)
}

/// The models, in the order of first use; a row without one is of the model without a name.
fn systems(input: &FormatInput<'_>) -> Vec<String> {
    let mut known = BTreeSet::new();
    let rows = input.files.iter().flat_map(judged::read).flatten();
    rows.map(|judged| judged.evaluation.model).filter(|model| known.insert(model.clone())).collect()
}

fn item(evaluation: &SummaryEvaluation) -> Item {
    let mut item = Item::new(&evaluation.item, &evaluation.book, "", Task::Summary)
        .label("perspective", evaluation.perspective.name());
    if evaluation.book.is_empty() {
        item.documents.clear();
    }
    if let Some(position) = evaluation.position {
        item = item.label("position", FIFTHS[fifth_at(position)]);
    }
    item
}

fn attempt(summary: Option<String>, evaluation: &SummaryEvaluation) -> Attempt {
    let answer = summary.unwrap_or_default();
    let is_empty = evaluation.verdicts.sentences.as_ref().is_some_and(Vec::is_empty);
    let mut attempt = ended(match is_empty {
        true => Outcome::Unparsed { response: answer },
        false => Outcome::Answered { answer, choice: None },
    });
    let given = scores(&evaluation.verdicts).into_iter();
    attempt.given =
        given.filter_map(|(metric, score)| Some((String::from(metric.clone()), score.value(&metric)?))).collect();
    attempt
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, read_system, read_with};
    use super::*;
    use crate::scoring::{Options, score};
    use closeread_eval::Evaluator;

    const ROWS: &str = r#"{"item": "q1", "book": "mill", "model": "a", "perspective": "analytical", "position": 0.5, "n_words": 9, "facts": [{"level": "root", "matched": true}, {"level": "leaf", "matched": false}], "sentences": [{"levels": ["root"], "category": "no_error"}, {"levels": [], "category": "entity"}]}
{"item": "q2", "book": "mill", "model": "b", "perspective": "narrative", "facts": [{"level": "root", "matched": false}], "sentences": []}
{"item": "q1", "book": "mill", "model": "b", "perspective": "analytical", "chunk": 3, "n_chunks": 5, "summary": "Ana came. She left.", "facts": [{"fact": "Ana came.", "level": "root"}, {"fact": "She left.", "level": "branch"}], "alignment": [{"key-fact": "Ana came.", "response": "Yes", "line number": [1]}, {"key-fact": "She left.", "response": "no", "line number": []}], "verification": [{"sentence": "Ana came.", "reason": "x", "category": "No error"}, {"sentence": "She left.", "reason": "x", "category": "Out-of-article Error"}]}
"#;

    #[test]
    fn each_model_has_its_scores() {
        let files = [file("h.jsonl", ROWS)];
        let error = read_with(&FORMAT, &files, &[]).unwrap_err().to_string();
        assert_eq!(error, "h.jsonl holds 2 systems: name one of a, b");
        let a = read_system(&FORMAT, &files, "a").unwrap();
        check(&a, &["q1", "q2"], &[]);
        let expected = [
            ("faithfulness", 0.5),
            ("faithfulness_aligned", 1.0),
            ("faithfulness_none", 0.0),
            ("faithfulness_root", 1.0),
            ("recall", 0.5),
            ("recall_faithfulness", 0.5),
            ("recall_leaf", 0.0),
            ("recall_root", 1.0),
        ];
        assert_eq!(a.attempts["q1"].given, expected.map(|(name, value)| (name.to_owned(), value)).into());
        assert_eq!(a.attempts.len(), 1);
        let b = read_system(&FORMAT, &files, "b").unwrap();
        assert_eq!(b.attempts["q2"].outcome, Outcome::Unparsed { response: String::new() });
        assert_eq!((b.attempts["q2"].given["recall"], b.attempts["q2"].given.get("faithfulness")), (0.0, None));
        let judged = &b.attempts["q1"];
        assert_eq!(judged.outcome, Outcome::Answered { answer: "Ana came. She left.".into(), choice: None });
        assert_eq!((judged.given["recall_root"], judged.given["recall_branch"]), (1.0, 0.0));
        assert_eq!((judged.given["faithfulness_root"], judged.given["faithfulness_none"]), (1.0, 0.0));
        assert_eq!(b.items[0].labels["position"], "40-60%");
    }

    #[test]
    fn an_empty_summary_is_no_zero_in_levels_that_its_query_has_no_fact_of() {
        let rows = ROWS
            .replace(r#""model": "b", "perspective": "narrative""#, r#""model": "a", "perspective": "narrative""#)
            .replace(r#""levels": ["root"]"#, r#""levels": ["root", "leaf"]"#);
        let submission = read_system(&FORMAT, &[file("h.jsonl", &rows)], "a").unwrap();
        let card = score(&submission, &Evaluator::default(), &Options::default()).unwrap();
        let of = |name: &str| (card.metrics[name].value, card.metrics[name].n);
        assert_eq!([of("recall"), of("recall_root"), of("recall_leaf")], [(0.25, 2), (0.5, 2), (0.0, 1)]);
        assert_eq!([of("faithfulness"), of("faithfulness_leaf")], [(0.25, 2), (1.0, 1)]);
    }

    #[test]
    fn one_model_need_not_be_named() {
        let row = ROWS.lines().nth(1).unwrap().replace("\"model\": \"b\", ", "");
        let submission = read_with(&FORMAT, &[file("h.jsonl", &format!("{row}\n{row}"))], &[]).unwrap();
        check(
            &submission,
            &["q2"],
            &["h.jsonl:2 (q2): a second prediction for this item: the first counts [left out]"],
        );
    }
}
