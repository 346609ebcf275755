//! L-Eval's predictions on QuALITY.

use super::choice::LETTERS;
use super::draft::{Draft, ended, share};
use super::layout::{Format, FormatError, FormatInput};
use super::leval;
use crate::scoring::format::choice;
use crate::scoring::{Attempt, Submission};
use closeread_eval::Outcome;
use closeread_eval::answer::infinitebench::strict_letter;
use closeread_eval::rows::WrongRow;
use closeread_eval::{Item, Task};
use closeread_metrics::Metric;

/// Reads `Predictions/exam_eval/<model>/quality.pred.jsonl`.
pub(super) const FORMAT: Format = Format {
    name: "leval-quality",
    source: "An et al. 2023, L-Eval; Predictions/exam_eval, Evaluation/auto_eval.py and em.py of github.com/OpenLMLab/LEval@cd34b0502691",
    wants: "quality.pred.jsonl with query, gt and <model>_pred a line; as gold, quality.jsonl of LEval-data/Closed-ended-tasks",
    tasks: &[],
    systems,
    read,
};

/// The task, as L-Eval's files are called.
const TASK: &str = "quality";

fn systems(input: &FormatInput<'_>) -> Vec<String> {
    leval::systems(input, TASK)
}

/// Reads one four-way choice a line, in file order; the ids are line numbers, for the files have none.
///
/// `accuracy` is given as L-Eval's script reads a response: its first character among A-D anywhere ("Based on" is B); a
/// response that is a part of "ABCD" is taken whole, so "AB" is wrong; one without any of the letters counts as A,
/// which the script calls a random guess, unless it is white space, which is wrong. Gold is cut to the letters A-D of
/// its first word. `accuracy_strict` is [`strict_letter`]: no guess, no letter within a word. A response without a
/// letter is
/// `unparsed`; where the guess is right, `accuracy` alone credits it.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    let mut draft = Draft::new(&[Metric::Accuracy]);
    leval::read(&FORMAT, TASK, input, &mut draft, item, attempt)?;
    draft.finish(&FORMAT, input)
}

fn item(id: String, query: &str, gold: &str) -> Result<Item, WrongRow> {
    let letters = gold_letters(gold)?;
    let mut item = Item::new(id, "", query.trim(), Task::Choice);
    item.documents.clear();
    item.options = LETTERS.map(String::from).to_vec();
    item.correct = choice::letter(&letters[..1]);
    item.answers = vec![letters];
    Ok(item)
}

/// The letters A-D of the first word of a gold answer: `(B) text` is `B`.
fn gold_letters(gold: &str) -> Result<String, WrongRow> {
    let first = gold.split_whitespace().next().unwrap_or_default();
    let letters: String = first.chars().filter(|c| LETTERS.contains(c)).collect();
    match letters.is_empty() {
        true => Err(format!("`gt` begins with `{first}`: expected a letter among A-D in its first word").into()),
        false => Ok(letters),
    }
}

fn attempt(response: String, item: &Item) -> Attempt {
    let gold = item.answers.first().map_or("", String::as_str);
    let read = cut(&response);
    let accuracy = match &read {
        None => 0.0,
        Some(read) if read == gold => 1.0,
        // The script's partial credit, made for questions with several right options.
        Some(read) if read.chars().all(|letter| gold.contains(letter)) => 0.25,
        Some(_) => 0.0,
    };
    let is_strictly_right = item.correct.is_some() && strict_letter(&response).answer() == item.correct;
    let has_letter = response.contains(LETTERS);
    let mut attempt = ended(match read.filter(|_| has_letter) {
        Some(read) => Outcome::Answered { answer: response, choice: choice::letter(&read) },
        None => Outcome::Unparsed { response },
    });
    attempt.given.insert("accuracy".into(), accuracy);
    attempt.given.insert("accuracy_strict".into(), share(is_strictly_right));
    attempt
}

/// The letters that the script cuts a response to; `None` for white space.
fn cut(response: &str) -> Option<String> {
    if response.trim().is_empty() {
        return None;
    }
    if "ABCD".contains(response) {
        return Some(response.to_owned());
    }
    Some(response.chars().find(|c| LETTERS.contains(c)).unwrap_or('A').to_string())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, read_system, read_with};
    use super::*;
    use serde_json::json;

    fn row(query: &str, gold: &str, response: &str) -> String {
        json!({"query": query, "gt": gold, "m-16k_pred": response, "prompt": "x", "evaluation": "exam"}).to_string()
    }

    #[test]
    fn responses_are_cut_to_their_first_letter() {
        let responses = ["(B)", "Based on it, C", "C", "AB", "  ", "no letter", "The answer is (B)."];
        let rows: Vec<String> =
            responses.iter().map(|response| row("Who?\n (A) Ana\n (B) Bo", "(B) Bo", response)).collect();
        let submission = read_with(&FORMAT, &[file("q.pred.jsonl", &rows.join("\n"))], &[]).unwrap();
        check(&submission, &["1", "2", "3", "4", "5", "6", "7"], &[]);
        let given = |name: &str| submission.attempts.values().map(|a| a.given[name]).collect::<Vec<_>>();
        assert_eq!(given("accuracy"), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(given("accuracy_strict"), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        assert!(matches!(submission.attempts["6"].outcome, Outcome::Unparsed { .. }));
        assert_eq!(attempt("no letter".into(), &item("1".into(), "x", "(A) y").unwrap()).given["accuracy"], 1.0);
        assert_eq!(submission.items[0].correct, Some(1));
    }

    #[test]
    fn bad_rows_are_counted_and_several_models_must_be_named() {
        let rows = [
            row("Who?", "(A) Ana", "A"),
            row("Who?", "none", "A"),
            json!({"query": "Who?", "gt": "A", "m-16k_pred": null}).to_string(),
            json!({"query": "Who?", "m-16k_pred": "A"}).to_string(),
            json!({"query": "Why?", "gt": "(C) x", "m-16k_pred": "C", "other_pred": "B"}).to_string(),
        ];
        let files = [file("q.jsonl", &rows.join("\n"))];
        let error = read_with(&FORMAT, &files, &[]).unwrap_err().to_string();
        assert_eq!(error, "q.jsonl holds 2 systems: name one of m-16k, other");
        let submission = read_system(&FORMAT, &files, "m-16k").unwrap();
        check(
            &submission,
            &["1", "3", "5"],
            &[
                "q.jsonl:2 (2): `gt` begins with `none`: expected a letter among A-D in its first word [left out]",
                "q.jsonl:3 (3): `m-16k_pred`: expected text, found null [left out]",
                "q.jsonl:4: no `gt`: expected text [left out]",
            ],
        );
    }

    #[test]
    fn a_model_has_the_files_that_name_it() {
        let other = row("Who?", "(A) Ana", "B").replace("m-16k_pred", "other_pred");
        let files = [file("other/quality.jsonl", &other), file("m-16k/quality.jsonl", &row("Who?", "(A) Ana", "A"))];
        for (system, accuracy) in [("other", 0.0), ("m-16k", 1.0)] {
            let submission = read_system(&FORMAT, &files, system).unwrap();
            check(&submission, &["1"], &[]);
            assert_eq!(submission.attempts["1"].given["accuracy"], accuracy, "{system}");
        }
    }

    #[test]
    fn the_data_set_gives_ids_and_missing_items() {
        let gold = json!({"instructions": ["Who?\n(A) a\n(B) b", "Why?", "Who?\n(A) a\n(B) b"],
            "outputs": ["(A) a", "(B) b", "(B) b"], "input": "Ana."});
        let rows = [
            row("Who?  (A) a\n(B) b", "(A) a", "A"),
            row("When?", "(A) a", "A"),
            row("Who? (A) a (B) b", "(B) b", "B"),
            row("Who? (A) a (B) b", "(B) b", "B"),
        ];
        let submission =
            read_with(&FORMAT, &[file("p.jsonl", &rows.join("\n"))], &[file("quality.jsonl", &gold.to_string())])
                .unwrap();
        check(
            &submission,
            &["1/1", "1/2", "1/3"],
            &[
                "p.jsonl:2 (2): the gold has no such item: expected one of its 3 ids [left out]",
                "p.jsonl:4 (4): a second prediction for this item: the first counts [left out]",
            ],
        );
        assert_eq!(submission.attempts.keys().collect::<Vec<_>>(), ["1/1", "1/3"]);
        assert_eq!(submission.items[0].documents, ["article-1"]);
    }
}
