//! QuALITY: submissions to its leaderboard.

use super::draft::{Draft, ended};
use super::layout::{Format, FormatError, FormatInput, no_systems};
use crate::quality;
use crate::scoring::Submission;
use closeread_eval::Outcome;
use closeread_eval::{InputFile, Problem};
use closeread_metrics::Metric;
use std::collections::BTreeMap;

/// Reads the prediction file of `leaderboard/submission.md`.
pub(super) const FORMAT: Format = Format {
    name: "quality",
    source: "Pang et al. 2022, QuALITY; leaderboard/submission.md of github.com/nyu-mll/quality@40a01ec61928",
    wants: "a text file with <question id>,<option from 1> a line; as gold, QuALITY.v*.dev or files of its layout",
    tasks: &[],
    systems: no_systems,
    read,
};

/// A question id, a comma and the option, which counts from 1, a line: `52845_75VB1ISR_1,3`.
///
/// The gold file decides which options there are; ids match whether their parts are joined by `_` or `/`, as the
/// adapter `quality` joins those of files that give questions no id of their own. A first line whose second column is no
/// number is a header, which is noted. The leaderboard reports accuracy, and again on the label `difficulty: hard`.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    FORMAT.check_with_gold(input, "QuALITY.v*.dev or files of its layout")?;
    let mut draft = Draft::new(&[Metric::Accuracy]);
    let dataset = quality::read_questions(input.gold);
    draft.keep_gold(dataset.problems.into_iter().map(Err).collect());
    let mut ids = BTreeMap::new();
    for item in dataset.items {
        ids.insert(item.id.replace('/', "_"), item.id.clone());
        draft.gold_item(&input.gold[0].name, None, item);
    }
    for file in input.files {
        let lines = draft.keep(lines(file));
        for (line, id, option) in lines {
            let (id, known) = match ids.get(&id.replace('/', "_")) {
                Some(known) => (known.clone(), true),
                None => (id, false),
            };
            let Ok(number) = option.parse::<usize>() else {
                match (known, line) {
                    (false, 1) => draft.note(file, Some(1), None, "the first line is taken for a header"),
                    _ => draft.malformed(file, Some(line), Some(&id), wrong(&option, 4)),
                }
                continue;
            };
            let options = draft.item_of(&id).map(|item| item.options.clone()).unwrap_or_default();
            let chosen = number.checked_sub(1).and_then(|index| Some((index, options.get(index)?)));
            match (known, chosen) {
                (true, Some((index, text))) => {
                    let outcome = Outcome::Answered { answer: text.clone(), choice: Some(index) };
                    draft.attempt(file, Some(line), &id, ended(outcome));
                }
                (true, None) => draft.malformed(file, Some(line), Some(&id), wrong(&option, options.len())),
                (false, _) => draft.unknown(file, Some(line), &id),
            }
        }
    }
    draft.finish(&FORMAT, input)
}

fn wrong(option: &str, n_options: usize) -> String {
    format!("option `{option}`: expected a whole number from 1 to {n_options}")
}

/// Line number, id and option of each line that has both.
fn lines(file: &InputFile) -> Vec<Result<(usize, String, String), Problem>> {
    let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file.bytes);
    let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
    let mut found = Vec::new();
    for (line, bytes) in (1..).zip(bytes.split(|byte| *byte == end)) {
        let problem = |message: &str| Err(Problem::dropped(&file.name, Some(line), None, message));
        let Ok(text) = std::str::from_utf8(bytes) else {
            found.push(problem("invalid UTF-8: save the file as UTF-8"));
            continue;
        };
        let bare = |text: &str| text.trim().trim_matches('"').trim().to_owned();
        match text.trim().rsplit_once([',', '\t']) {
            _ if text.trim().is_empty() => {}
            Some((id, option)) if !bare(id).is_empty() => found.push(Ok((line, bare(id), bare(option)))),
            _ => found.push(problem("expected a question id, a comma and the option, as in `52845_75VB1ISR_1,3`")),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, notes, read_with};
    use super::*;
    use serde_json::json;

    fn gold() -> [InputFile; 1] {
        let row = json!({"article_id": "5", "set_unique_id": "5_X", "article": "Ana came.", "questions": [
            {"question_unique_id": "5_X_1", "question": "Who?", "options": ["a", "b", "c", "d"], "gold_label": 2, "difficult": 1},
            {"question": "Why?", "options": ["a", "b", "c", "d"], "gold_label": 4},
            {"question_unique_id": "5_X_3", "question": "When?", "options": ["a", "b", "c", "d"], "gold_label": 1}]});
        [file("QuALITY.dev", &row.to_string())]
    }

    #[test]
    fn options_count_from_one() {
        let predictions =
            "id,prediction\r\n5_X_1,2\n\"5_X_2\", 1\n5_X_3,5\n5_X_3,two\n9_Z_1,1\n5_X_1,3\nnothing\n5_X_3,0";
        let submission = read_with(&FORMAT, &[file("p.csv", predictions)], &gold()).unwrap();
        check(
            &submission,
            &["5_X_1", "5_X/2", "5_X_3"],
            &[
                "p.csv:8: expected a question id, a comma and the option, as in `52845_75VB1ISR_1,3` [left out]",
                "p.csv:4 (5_X_3): option `5`: expected a whole number from 1 to 4 [left out]",
                "p.csv:5 (5_X_3): option `two`: expected a whole number from 1 to 4 [left out]",
                "p.csv:9 (5_X_3): option `0`: expected a whole number from 1 to 4 [left out]",
                "p.csv:6 (9_Z_1): the gold has no such item: expected one of its 3 ids [left out]",
                "p.csv:7 (5_X_1): a second prediction for this item: the first counts [left out]",
            ],
        );
        assert_eq!(notes(&submission), ["p.csv:1: the first line is taken for a header"]);
        assert_eq!(submission.attempts["5_X_1"].outcome, Outcome::Answered { answer: "b".into(), choice: Some(1) });
        assert_eq!(submission.items[0].correct, Some(1));
        assert_eq!(submission.attempts.keys().collect::<Vec<_>>(), ["5_X/2", "5_X_1"]);
    }

    #[test]
    fn lines_may_end_in_carriage_returns_alone() {
        let submission = read_with(&FORMAT, &[file("p.csv", "5_X_1,2\r5_X_3,1\r")], &gold()).unwrap();
        check(&submission, &["5_X_1", "5_X/2", "5_X_3"], &[]);
        assert_eq!(submission.attempts.keys().collect::<Vec<_>>(), ["5_X_1", "5_X_3"]);
    }

    #[test]
    fn gold_is_needed_and_an_empty_file_is_missing_items() {
        let error = read_with(&FORMAT, &[file("p.csv", "5_X_1,2")], &[]).unwrap_err().to_string();
        assert_eq!(
            error,
            "quality predictions carry no gold answers: name QuALITY.v*.dev or files of its layout as the gold file"
        );
        let submission = read_with(&FORMAT, &[file("p.csv", "\n")], &gold()).unwrap();
        assert!(submission.attempts.is_empty() && submission.problems.is_empty());
        assert_eq!(submission.items.len(), 3);
    }
}
