//! L-Eval's predictions on NarrativeQA.

use super::draft::{Draft, answered};
use super::layout::{Format, FormatError, FormatInput};
use super::leval;
use crate::scoring::Submission;
use closeread_eval::rows::WrongRow;
use closeread_eval::{Item, Task};
use closeread_metrics::Metric;

/// Reads `Predictions/ngram_eval/<model>/narrative_qa.pred.jsonl`.
pub(super) const FORMAT: Format = Format {
    name: "leval-narrativeqa",
    source: "An et al. 2023, L-Eval; Predictions/ngram_eval and Evaluation/auto_eval.py of github.com/OpenLMLab/LEval@cd34b0502691",
    wants: "narrative_qa.pred.jsonl with query, gt and <model>_pred a line; as gold, narrative_qa.jsonl of LEval-data/Open-ended-tasks",
    tasks: &[],
    systems,
    read,
};

/// The task, as L-Eval's files are called.
const TASK: &str = "narrative_qa";

fn systems(input: &FormatInput<'_>) -> Vec<String> {
    leval::systems(input, TASK)
}

/// Reads one question with one gold answer a line, in file order; the ids are line numbers, for the files have none.
///
/// L-Eval's script computes token F1 as SQuAD v1 does; the NarrativeQA columns of Stronger Baselines are beside it:
/// ROUGE-L, BLEU-1, BLEU-4. METEOR, which needs WordNet, is left to be asked for.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    let mut draft = Draft::new(&[Metric::F1, Metric::RougeL, Metric::Bleu1, Metric::Bleu4]);
    leval::read(&FORMAT, TASK, input, &mut draft, item, |response, _| answered(response))?;
    draft.finish(&FORMAT, input)
}

fn item(id: String, query: &str, gold: &str) -> Result<Item, WrongRow> {
    if gold.trim().is_empty() {
        return Err("`gt` is empty: expected the gold answer".into());
    }
    let mut item = Item::new(id, "", query.trim(), Task::Generative);
    item.documents.clear();
    item.answers = vec![gold.to_owned()];
    Ok(item)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, notes, read_with};
    use super::*;
    use closeread_eval::Outcome;
    use serde_json::json;

    #[test]
    fn every_line_is_a_question() {
        let rows = [
            json!({"query": "Who?", "gt": "Ana.", "m_pred": " Bo\n", "evaluation": "f1"}).to_string(),
            json!({"query": "Who?", "gt": " ", "m_pred": "Bo"}).to_string(),
            json!({"query": "Who?", "gt": 7, "m_pred": ""}).to_string(),
        ];
        let submission = read_with(&FORMAT, &[file("n.jsonl", &rows.join("\r\n"))], &[]).unwrap();
        check(&submission, &["1", "3"], &["n.jsonl:2 (2): `gt` is empty: expected the gold answer [left out]"]);
        assert_eq!(submission.attempts["1"].outcome, Outcome::Answered { answer: " Bo\n".into(), choice: None });
        assert_eq!(submission.attempts["3"].outcome, Outcome::Unparsed { response: String::new() });
        assert_eq!(submission.items[1].answers, ["7"]);
    }

    #[test]
    fn other_tasks_of_a_models_folder_are_not_read() {
        let row = |query: &str| json!({"query": query, "gt": "Ana", "m_pred": "Ana"}).to_string();
        let news = file("m/news_summ.pred.jsonl", &row("Sum up."));
        let gold = [file("d/narrative_qa.jsonl", &row("Who?")), file("d/news_summ.jsonl", &row("Sum up."))];
        let files = [news.clone(), file("m/narrative_qa.pred.jsonl", &row("Who?"))];
        let submission = read_with(&FORMAT, &files, &[]).unwrap();
        check(&submission, &["1"], &[]);
        assert_eq!(submission.items[0].question, "Who?");
        let note = "m/news_summ.pred.jsonl: not read: it is another task of L-Eval than narrative_qa";
        assert_eq!(notes(&submission), [note]);
        check(&read_with(&FORMAT, &files, &gold).unwrap(), &["1/1"], &[]);
        check(&read_with(&FORMAT, &[news], &[]).unwrap(), &["1"], &[]);
    }

    #[test]
    fn rows_without_a_prediction_are_no_predictions() {
        let error = read_with(&FORMAT, &[file("n.jsonl", "{\"a\": 1}")], &[]).unwrap_err().to_string();
        assert!(error.contains("line 1: no `query`: expected text"), "{error}");
        let submission = read_with(&FORMAT, &[file("n.jsonl", "[{\"query\": \"a\", \"gt\": \"b\"}]")], &[]).unwrap();
        check(&submission, &["1"], &["n.jsonl:1 (1): no `<model>_pred`: expected text [left out]"]);
    }
}
