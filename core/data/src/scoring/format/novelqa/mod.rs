//! NovelQA: answers by novel and question, in the settings with and without options.

pub(super) mod codabench;
mod files;
mod gold;
pub(super) mod setting;
mod verdict;

use super::draft::{Draft, answered, ended, share};
use super::layout::{Format, FormatError, FormatInput, no_systems};
use super::read::{Entry, entries, field, field_text, records, text};
use crate::scoring::{Attempt, Submission};
use closeread_eval::Outcome;
use closeread_eval::answer::Parsed;
use closeread_eval::answer::novelqa::{answer_lines, choice_lines};
use closeread_eval::rows::{Row, kind, scalar};
use closeread_eval::{InputFile, Item, Problem};
use closeread_metrics::Metric;
use codabench::check_codabench;
use files::{base_name, lies_at, lists, stem};
use gold::{Novel, read_gold};
use serde_json::Value;
use setting::Setting;
use verdict::{unjudged, verdict};

const MULTIPLE_CHOICE: &str = "multichoice";
const GENERATIVE: &str = "generative";

/// Reads a Codabench submission, or predictions by novel.
pub(super) const FORMAT: Format = Format {
    name: "novelqa",
    source: "Wang et al. 2024, NovelQA; github.com/NovelQA/novelqa.github.io@12ce9067eb55, Codabench competition 2727",
    wants: "res_mc/res_mc.json or res_gen/res_gen.json as submitted to Codabench, {novel: [answers]}, rows with QID and prediction, or the model's `Answer0: ...` lines in <novel>.txt; as gold, the data set's <novel>.json (bookmeta.json and res_mc.json with the right answers beside them)",
    tasks: &[MULTIPLE_CHOICE, GENERATIVE],
    systems: no_systems,
    read,
};

/// Reads one item a question of the gold files, ids `<novel>/<QID>`, labels `aspect` and `complexity`.
///
/// Predictions come in any of these layouts, all answers of a novel in the order of its questions where they have no QID:
/// the Codabench submission, refused as a whole where [`check_codabench`] finds something missing or unexpected; one
/// object `{novel: [answers]}`; rows with `QID`, the novel (`novel`, `book`, `title`, `BID`, else the file's name) and
/// `prediction` (or `pred`, `answer`, `response`), judged if they have `judge` (`C` or `N`) or `correct`; `{QID: answer}`
/// in `<novel>.json`; the lines `Answer0: ...` that the prompt asks for, in `<novel>.txt`. Novels are found by the
/// file's name or, with `bookmeta.json` among the gold, by title, case and punctuation aside.
///
/// With options an answer is read as [`choice_lines`] reads a line: index from 0, letter, or an option's text. Open
/// answers are judged by a model in the paper: given verdicts are `accuracy`, else F1 and exact match stand in for them,
/// and a note says so. Questions whose gold is not published are unscored.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    FORMAT.check_with_gold(input, "the data set's <novel>.json")?;
    let setting = setting(input);
    let mut draft = Draft::new(&[Metric::Accuracy]);
    let novels = read_gold(&mut draft, input.gold, setting);
    if is_submission(input.files) {
        check_codabench(input.files, draft.items())?;
    }
    // Of an archive with both settings, the other one's file is left alone.
    let is_meant = |file: &&InputFile| setting_of(file).is_none_or(|known| known == setting);
    let files = input.files.iter().filter(is_meant);
    let mut is_judged = false;
    for file in files.filter(|file| !lies_at(&file.name, "res_gen/key")) {
        read_file(&mut draft, file, &novels, setting, &mut is_judged);
    }
    let mut submission = draft.finish(&FORMAT, input)?;
    let waiting = if is_judged { unjudged(&submission) } else { None };
    let mut notes: Vec<String> = waiting.into_iter().collect();
    if setting == Setting::Generative && !is_judged {
        submission.metrics = vec![Metric::F1, Metric::ExactMatch];
        notes.push(
            "open answers without a judge's verdict: F1 and exact match stand in for the paper's accuracy".into(),
        );
    }
    let note = |message: String| Problem::note(&input.files[0].name, None, None, message);
    submission.notes.extend(notes.into_iter().map(note));
    Ok(submission)
}

/// The setting asked for, else that of the first file whose name shows one, else with options.
fn setting(input: &FormatInput<'_>) -> Setting {
    match input.task {
        Some(MULTIPLE_CHOICE) => Setting::MultipleChoice,
        Some(_) => Setting::Generative,
        None => input.files.iter().find_map(setting_of).unwrap_or(Setting::MultipleChoice),
    }
}

fn setting_of(file: &InputFile) -> Option<Setting> {
    let name = base_name(file);
    Setting::ALL.into_iter().find(|setting| setting.path().ends_with(&format!("/{name}")))
}

/// True if the files mean to be an archive's: one of them lies in its folder, or several and one has its name.
fn is_submission(files: &[InputFile]) -> bool {
    let is_at = |file: &InputFile| Setting::ALL.iter().any(|setting| lies_at(&file.name, setting.path()));
    files.iter().any(is_at) || files.len() > 1 && files.iter().any(|file| setting_of(file).is_some())
}

fn read_file(draft: &mut Draft, file: &InputFile, novels: &[Novel], setting: Setting, is_judged: &mut bool) {
    let of_name = |name: &str| novels.iter().find(|novel| novel.is_called(name));
    let own = of_name(stem(file));
    if let Some(lists) = lists(file) {
        draft.keep(entries(file));
        for (name, answers) in lists {
            match of_name(&name) {
                Some(novel) => read_list(draft, file, novel, &answers, setting),
                None => draft.unknown(file, None, &name),
            }
        }
        return;
    }
    let rows = records(file);
    let has_qid = |row: &Row| field(row, &["QID", "qid", "question_id"]).is_some();
    if rows.iter().flatten().any(has_qid) {
        for row in draft.keep(rows) {
            read_row(draft, file, &row, novels, own, setting, is_judged);
        }
        return;
    }
    match (own, std::str::from_utf8(&file.bytes)) {
        (Some(novel), Ok(response))
            if !matches!(response.trim_start_matches('\u{feff}').trim_start().chars().next(), Some('{' | '[')) =>
        {
            read_response(draft, file, novel, response, setting);
        }
        (Some(novel), Ok(_)) => {
            for Entry { line, key, value } in draft.keep(entries(file)) {
                let id = format!("{}/{key}", novel.name);
                match (novel.ids.contains(&id), text(&value)) {
                    (false, _) => draft.unknown(file, Some(line), &id),
                    (true, Some(answer)) => put(draft, file, Some(line), &id, answer, setting),
                    (true, None) => {
                        let why = format!("expected the answer as text, found {}", kind(&value));
                        draft.malformed(file, Some(line), Some(&id), why);
                    }
                }
            }
        }
        (_, Err(_)) => draft.malformed(file, None, None, "invalid UTF-8: save the file as UTF-8"),
        (None, Ok(_)) if file.bytes.iter().all(u8::is_ascii_whitespace) => {}
        (None, Ok(_)) => {
            draft.keep(entries(file));
            let why = "neither {novel: [answers]} nor rows with `QID`, and no novel of the gold has the file's name";
            draft.malformed(file, None, None, why);
        }
    }
}

fn read_list(draft: &mut Draft, file: &InputFile, novel: &Novel, answers: &[Value], setting: Setting) {
    if answers.len() != novel.ids.len() {
        let why = format!(
            "{} answers to {} questions: expected one for each, in their order; none of them is used",
            answers.len(),
            novel.ids.len()
        );
        return draft.malformed(file, None, Some(&novel.name), why);
    }
    for (id, answer) in novel.ids.iter().zip(answers) {
        match text(answer) {
            Some(answer) => put(draft, file, None, id, answer, setting),
            None => {
                let why = format!("expected the answer as text, found {}", kind(answer));
                draft.malformed(file, None, Some(id), why);
            }
        }
    }
}

fn read_row(
    draft: &mut Draft,
    file: &InputFile,
    row: &Row,
    novels: &[Novel],
    own: Option<&Novel>,
    setting: Setting,
    is_judged: &mut bool,
) {
    let line = Some(row.line);
    let Some(qid) = field(row, &["QID", "qid", "question_id"]).and_then(|(_, value)| scalar(value)) else {
        return draft.malformed(file, line, None, "no `QID`: expected that of the question");
    };
    let name = field(row, &["novel", "book", "title", "BID", "bid", "novel_id"]).and_then(|(_, value)| scalar(value));
    let novel = match &name {
        Some(name) => novels.iter().find(|novel| novel.is_called(name)),
        None => own,
    };
    let id = match (novel, name) {
        (Some(novel), _) => format!("{}/{qid}", novel.name),
        (None, Some(name)) => return draft.unknown(file, line, &format!("{name}/{qid}")),
        // A QID is unique within a novel only, but may be so among all of the gold.
        (None, None) => {
            let ending = format!("/{qid}");
            let mut ids = novels.iter().flat_map(|novel| &novel.ids).filter(|id| id.ends_with(&ending));
            match (ids.next(), ids.next()) {
                (Some(id), None) => id.clone(),
                (None, _) => return draft.unknown(file, line, &qid),
                (Some(_), Some(_)) => {
                    let why = "several novels have this QID: expected `novel` in the row, or in the file's name";
                    return draft.malformed(file, line, Some(&qid), why);
                }
            }
        }
    };
    if draft.item_of(&id).is_none() {
        return draft.unknown(file, line, &id);
    }
    let answer = field_text(row, &["prediction", "pred", "answer", "response", "output"]);
    match answer.and_then(|answer| Ok((answer, verdict(row)?))) {
        Ok((answer, verdict)) => {
            let mut attempt = attempt(draft.item_of(&id).expect("it was found above"), answer, setting);
            if let Some(is_correct) = verdict {
                *is_judged = true;
                attempt.given.insert("accuracy".into(), share(is_correct));
            }
            draft.attempt(file, line, &id, attempt);
        }
        Err(why) => draft.malformed(file, line, Some(&id), why),
    }
}

fn read_response(draft: &mut Draft, file: &InputFile, novel: &Novel, response: &str, setting: Setting) {
    if response.trim().is_empty() {
        return;
    }
    let lines = answer_lines(response, novel.ids.len());
    for (id, line) in novel.ids.iter().zip(lines) {
        match line {
            Parsed::Answer(answer) => put(draft, file, None, id, answer.to_owned(), setting),
            Parsed::Unparsed => draft.attempt(file, None, id, ended(Outcome::Unparsed { response: String::new() })),
        }
    }
}

fn put(draft: &mut Draft, file: &InputFile, line: Option<usize>, id: &str, answer: String, setting: Setting) {
    let Some(item) = draft.item_of(id) else { return draft.unknown(file, line, id) };
    let attempt = attempt(item, answer, setting);
    draft.attempt(file, line, id, attempt);
}

fn attempt(item: &Item, answer: String, setting: Setting) -> Attempt {
    if setting == Setting::Generative {
        return answered(answer);
    }
    // One line, as the prompt asks for it, so that the reader of lines reads this answer too.
    let line = format!("Answer0: {}", answer.split('\n').next().unwrap_or_default());
    match choice_lines(&line, std::slice::from_ref(&item.options)).first() {
        Some(Parsed::Answer(choice)) => {
            ended(Outcome::Answered { answer: item.options[*choice].clone(), choice: Some(*choice) })
        }
        _ => ended(Outcome::Unparsed { response: answer }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, notes, read, read_with};
    use super::*;
    use serde_json::json;

    fn gold() -> Vec<InputFile> {
        let mill = json!({"Q1": {"Aspect": "times", "Complexity": "mh", "Question": "How often?", "Options": {"A": "1", "B": "2", "C": "3", "D": "4"}, "Gold": "C"},
            "Q2": {"Question": "Did she?", "Options": {"A": "Yes", "B": "No"}}});
        let emma = json!([{"QID": "Q1", "Question": "Who?", "Options": {"A": "Ana", "B": "Bo", "C": "Cy", "D": "Di"}, "Golden": "Ana"}]);
        vec![
            file("Data/B01.json", &mill.to_string()),
            file("Data/Emma.json", &emma.to_string()),
            file("bookmeta.json", &json!({"B01": {"title": "Mrs. Mill"}}).to_string()),
        ]
    }

    fn choices(submission: &Submission) -> Vec<(&str, Option<usize>)> {
        let choice = |outcome: &Outcome| match outcome {
            Outcome::Answered { choice, .. } => *choice,
            _ => None,
        };
        submission.attempts.iter().map(|(id, attempt)| (id.as_str(), choice(&attempt.outcome))).collect()
    }

    #[test]
    fn a_codabench_submission_is_read_or_refused() {
        let files = [file("s/res_mc/res_mc.json", r#"{"mrsmill": ["C", "C"], "Emma": ["B"]}"#)];
        let submission = read_with(&FORMAT, &files, &gold()).unwrap();
        check(&submission, &["B01/Q1", "B01/Q2", "Emma/Q1"], &[]);
        assert_eq!(choices(&submission), [("B01/Q1", Some(2)), ("B01/Q2", None), ("Emma/Q1", Some(1))]);
        assert_eq!(submission.items[0].correct, Some(2));
        assert_eq!((submission.items[1].correct, submission.items[2].correct), (None, Some(0)));
        let whole = [gold(), vec![file("Books/B01.TXT", "Ana came.\nBo left.\n")]].concat();
        assert_eq!(read_with(&FORMAT, &files, &whole).unwrap().notes, submission.notes, "a novel's lines are no gold");
        let files = [file("s/res_mc/res_mc.json", r#"{"Mrs. Mill": ["C"], "Ivanhoe": ["B"]}"#)];
        let error = read_with(&FORMAT, &files, &gold()).unwrap_err().to_string();
        assert_eq!(
            error,
            "not a Codabench submission of NovelQA: missing `1 answers to Mrs. Mill in s/res_mc/res_mc.json (1 of 2)`, `Emma in s/res_mc/res_mc.json`; unexpected `Ivanhoe in s/res_mc/res_mc.json`"
        );
    }

    #[test]
    fn a_file_of_lists_that_is_no_submission_is_scored_as_far_as_it_goes() {
        let files = [file("mine.json", r#"{"Mrs. Mill": ["C", null], "Ivanhoe": ["B"], "Emma": ["A", "B"]}"#)];
        let submission = read_with(&FORMAT, &files, &gold()).unwrap();
        check(
            &submission,
            &["B01/Q1", "B01/Q2", "Emma/Q1"],
            &[
                "mine.json (B01/Q2): expected the answer as text, found null [left out]",
                "mine.json (Emma): 2 answers to 1 questions: expected one for each, in their order; none of them is used [left out]",
                "mine.json (Ivanhoe): the gold has no such item: expected one of its 3 ids [left out]",
            ],
        );
    }

    #[test]
    fn rows_and_answer_lines_are_read() {
        let rows = [
            r#"{"novel": "B01", "QID": "Q1", "prediction": "C. 3"}"#,
            r#"{"book": "mrs mill", "qid": "Q2", "pred": "Yes"}"#,
            r#"{"QID": "Q1", "pred": "A"}"#,
            r#"{"novel": "B01", "QID": "Q9", "pred": "A"}"#,
            r#"{"novel": "Emma", "QID": "Q1"}"#,
            r#"{"novel": "Emma", "pred": "A"}"#,
        ];
        let submission = read_with(&FORMAT, &[file("p.jsonl", &rows.join("\n"))], &gold()).unwrap();
        check(
            &submission,
            &["B01/Q1", "B01/Q2", "Emma/Q1"],
            &[
                "p.jsonl:3 (Q1): several novels have this QID: expected `novel` in the row, or in the file's name [left out]",
                "p.jsonl:5 (Emma/Q1): no `prediction` or `pred` or `answer` or `response` or `output`: expected text [left out]",
                "p.jsonl:6: no `QID`: expected that of the question [left out]",
                "p.jsonl:4 (B01/Q9): the gold has no such item: expected one of its 3 ids [left out]",
            ],
        );
        assert_eq!(choices(&submission), [("B01/Q1", Some(2)), ("B01/Q2", Some(0))]);

        let files =
            [file("B01.txt", "Sure.\nAnswer0: 2\nAnswer1: maybe"), file("Emma.json", "{\"Q1\": \"B\", \"Q7\": \"A\"}")];
        let submission = read_with(&FORMAT, &files, &gold()).unwrap();
        assert_eq!(choices(&submission), [("B01/Q1", Some(2)), ("B01/Q2", None), ("Emma/Q1", Some(1))]);
        assert_eq!(submission.problems.unknown_ids[0].item.as_deref(), Some("Emma/Q7"));
    }

    #[test]
    fn open_answers_need_a_judge() {
        let judged = [file("p.jsonl", r#"{"novel": "Emma", "QID": "Q1", "pred": "Ana", "judge": "C"}"#)];
        let submission =
            super::read(&FormatInput { files: &judged, gold: &gold(), task: Some(GENERATIVE), system: None }).unwrap();
        assert_eq!(submission.attempts["Emma/Q1"].given["accuracy"], 1.0);
        assert_eq!(submission.items[2].answers, ["Ana"]);
        let open = [file("res_gen/res_gen.json", r#"{"mrsmill": ["three", ""], "Emma": ["Bo"]}"#)];
        let submission = read_with(&FORMAT, &open, &gold()).unwrap();
        assert_eq!(submission.metrics, [Metric::F1, Metric::ExactMatch]);
        assert_eq!(submission.attempts["B01/Q1"].outcome, Outcome::Answered { answer: "three".into(), choice: None });
        assert!(notes(&submission).last().unwrap().contains("stand in for"));
    }

    #[test]
    fn the_published_answers_are_gold_too() {
        let right = [file("CorrectAnswers/res_mc.json", r#"{"mrsmill": ["D", "B"], "Zadig": ["A", "B"]}"#)];
        let files = [file("mine.json", r#"{"Zadig": ["A", "A"]}"#)];
        let submission = read_with(&FORMAT, &files, &right).unwrap();
        check(&submission, &["mrsmill/0", "mrsmill/1", "Zadig/0", "Zadig/1"], &[]);
        assert_eq!(submission.items[3].correct, Some(1));
        let both = [gold(), right.to_vec()].concat();
        let submission = read_with(&FORMAT, &files, &both).unwrap();
        assert_eq!((submission.items[0].correct, submission.items[1].correct), (Some(2), Some(1)));
        assert_eq!(submission.items.len(), 5);
    }

    #[test]
    fn what_is_none_of_it_is_refused() {
        let error = read(&FORMAT, None, &[file("p.json", "{}")]).unwrap_err().to_string();
        assert!(error.starts_with("novelqa predictions carry no gold answers"), "{error}");
        let error = read_with(&FORMAT, &[file("p.json", "\"x\"")], &gold()).unwrap_err().to_string();
        assert!(error.starts_with("p.json: nothing in it could be read as novelqa"), "{error}");
        let submission = read_with(&FORMAT, &[file("p.json", "")], &gold()).unwrap();
        assert!(submission.attempts.is_empty() && submission.problems.is_empty());
    }
}
