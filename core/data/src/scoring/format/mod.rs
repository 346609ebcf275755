//! Published prediction files, as they are: every format is read into a [`Submission`](super::Submission).

mod choice;
mod corpusqa;
mod draft;
#[cfg(feature = "other-formats")]
mod foreign;
mod hamlet;
mod infinitebench;
mod layout;
#[cfg(feature = "other-formats")]
mod leval;
#[cfg(feature = "other-formats")]
mod leval_narrativeqa;
#[cfg(feature = "other-formats")]
mod leval_quality;
mod nocha;
mod novelqa;
mod quality;
mod read;
#[cfg(feature = "other-formats")]
mod squad;
#[cfg(feature = "other-formats")]
mod squality;
#[cfg(feature = "other-formats")]
mod tatqa;
#[cfg(test)]
mod testing;

pub use layout::{Format, FormatError, FormatInput};
pub use novelqa::codabench::{CodabenchError, check_codabench, write_codabench};
pub use novelqa::setting::Setting;

/// Every format, in the order in which help lists them.
pub static FORMATS: &[Format] = &[
    infinitebench::FORMAT,
    #[cfg(feature = "other-formats")]
    leval_quality::FORMAT,
    #[cfg(feature = "other-formats")]
    leval_narrativeqa::FORMAT,
    nocha::FORMAT,
    novelqa::FORMAT,
    quality::FORMAT,
    #[cfg(feature = "other-formats")]
    squality::FORMAT,
    #[cfg(feature = "other-formats")]
    squad::FORMAT,
    #[cfg(feature = "other-formats")]
    tatqa::FORMAT,
    corpusqa::FORMAT,
    hamlet::FORMAT,
    #[cfg(feature = "other-formats")]
    foreign::INSPECT,
    #[cfg(feature = "other-formats")]
    foreign::LM_EVAL,
];

/// The format of that name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::InputFile;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Words that the formats look for, and values that stand where they should not.
    const PIECES: [&str; 66] = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\n",
        "\"",
        "\\",
        " ",
        "\r\n",
        "\u{feff}",
        "null",
        "true",
        "NaN",
        "-Infinity",
        "1e999",
        "-0",
        "7",
        "\"7\"",
        "\"\"",
        "\"A\"",
        "\"a/1\"",
        "\"\\ud83d\"",
        "[\"A\", \"B\"]",
        "[[\"A\"], \"\"]",
        "{\"id\": 7}",
        "\"id\":",
        "\"prediction\":",
        "\"pred\":",
        "\"ground_truth\":",
        "\"label\":",
        "\"query\":",
        "\"gt\":",
        "\"m_pred\":",
        "\"response-m\":",
        "\"claim\":",
        "\"index\":",
        "\"type\":",
        "\"book_title\":",
        "\"QID\":",
        "\"novel\":",
        "\"Question\":",
        "\"Options\":",
        "\"questions\":",
        "\"passage-id\":",
        "\"question_n\":",
        "\"reviews\":",
        "\"overall\":",
        "\"data\":",
        "\"paragraphs\":",
        "\"qas\":",
        "\"uid\":",
        "\"answer\":",
        "\"answer_type\":",
        "\"scale\":",
        "\"response\":",
        "\"correct\":",
        "\"item\":",
        "\"perspective\":",
        "\"facts\":",
        "\"sentences\":",
        "5_X_1,2",
        "Answer0: B",
        "{\"QID\": \"Q1\", \"Question\": \"x\", \"Options\": {\"A\": \"a\", \"B\": \"b\"}}",
        "{\"id\": \"7\", \"prediction\": \"A\", \"ground_truth\": [\"x\", \"A\"], \"query\": \"q\", \"gt\": \"A\", \"m_pred\": \"A\"}",
    ];

    /// Rows that each format can use, one a format, for the others to be noise.
    const ROWS: [&str; 8] = [
        r#"{"id": "7", "prediction": "A", "ground_truth": ["x", "A"], "question": "q", "answer": "x", "response": "The answer is: x"}"#,
        r#"{"query": "q", "gt": "(A) x", "m_pred": "B", "evaluation": "exam"}"#,
        r#"{"book_title": "b", "claim": "c", "type": true, "index": 7, "response-m": "<answer>true</answer>"}"#,
        r#"{"QID": "Q1", "novel": "f", "Question": "x", "Options": {"A": "a", "B": "b"}, "Golden": "A", "prediction": "A"}"#,
        r#"{"passage-id": 7, "questions": {"0": {"m": {"response": "x", "overall": {"correctness-rating": 1, "selection-rating": 2, "overall-rating": 3}}}}}"#,
        r#"{"item": "q", "model": "m", "perspective": "narrative", "facts": [{"level": "root", "matched": true}], "sentences": []}"#,
        r#"{"table": {"uid": "t"}, "questions": [{"uid": "7", "answer": ["x"], "answer_type": "span", "scale": ""}], "7": [["x"], ""]}"#,
        r#"{"article_id": 5, "article": "x", "questions": [{"question_unique_id": "5_X_1", "question": "q", "options": ["a", "b"], "gold_label": 2}]}"#,
    ];

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let pieces = prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40).prop_map(|p| p.concat());
        let rows = prop::collection::vec(prop::sample::select(ROWS.to_vec()), 1..5).prop_map(|rows| rows.join("\n"));
        // A row with some of its bytes overwritten.
        let damaged = (rows, prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6)).prop_map(
            |(rows, damages)| {
                let mut bytes = rows.into_bytes();
                for (at, byte) in damages {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
                bytes
            },
        );
        prop_oneof![
            2 => pieces.prop_map(String::into_bytes),
            4 => damaged,
            1 => prop::collection::vec(any::<u8>(), 0..200),
        ]
    }

    proptest! {
        #[test]
        fn whatever_a_file_holds_a_submission_is_sound(bytes in text(), gold in prop::option::of(text()), name in "(f|longbook_(choice|qa)_eng|res_mc/res_mc|a/res_gen|bookmeta)\\.json") {
            let files = [InputFile { name: name.clone(), bytes }];
            let gold: Vec<InputFile> = gold.into_iter().map(|bytes| InputFile { name: "f.json".into(), bytes }).collect();
            for format in FORMATS {
                let tasks = format.tasks.iter().copied().map(Some).chain([None]);
                for task in tasks {
                    let input = FormatInput { files: &files, gold: &gold, task, system: None };
                    let systems = (format.systems)(&input);
                    for system in systems.iter().map(String::as_str).map(Some).chain([None]) {
                        let Ok(submission) = (format.read)(&FormatInput { system, ..input }) else { continue };
                        let ids: BTreeSet<&str> = submission.items.iter().map(|item| item.id.as_str()).collect();
                        prop_assert_eq!(ids.len(), submission.items.len());
                        prop_assert!(submission.attempts.keys().all(|id| ids.contains(id.as_str())));
                        let mut given = submission.attempts.values().flat_map(|attempt| attempt.given.values());
                        prop_assert!(given.all(|score| (0.0..=1.0).contains(score)));
                        prop_assert!(submission.problems.iter().all(|problem| !problem.message.is_empty()));
                    }
                }
            }
        }
    }

    #[test]
    fn formats_are_found_by_their_names() {
        for known in FORMATS {
            assert_eq!(format(known.name).map(|found| found.name), Some(known.name));
            let error = (known.read)(&FormatInput::default()).expect_err("no file was given");
            assert!(error.to_string().contains(known.name), "{error}");
        }
        assert!(format("none").is_none());
    }

    #[test]
    fn a_format_without_tasks_says_so() {
        let error = quality::FORMAT.check_task(&FormatInput { task: Some("x"), ..FormatInput::default() });
        let message = error.expect_err("quality has no tasks").to_string();
        assert_eq!(message, "unknown task `x`: quality has one task, which need not be named");
    }
}
