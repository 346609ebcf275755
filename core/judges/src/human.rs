//! Labels that people give to answers, and how far judges agree with them (SagaScale A.4.2, NovelQA Table 7, HAMLET
//! Table 3).

mod against;

pub use against::{AgainstPeople, against_people};

use super::simplified::simplified;
use super::{Fault, QuestionType, TrialPlace};
use closeread_eval::hamlet::ErrorCategory;
use closeread_eval::lines::Lines;
use closeread_eval::rows::{Row, kind, rows, scalar};
use closeread_eval::saved::{Sheet, sheet};
use closeread_eval::{InputFile, Problem};
use serde_json::{Map, Value};

/// A person's label of an answer, of one sentence of a summary, or of one key fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanLabel {
    /// Line of the file, from 1.
    pub line: usize,
    /// Id of the item.
    pub item: String,
    /// Name of the run, where labels are on several.
    pub run: Option<String>,
    /// Name of the method. This and the three fields below say which trials of the item are meant: all that they do not
    /// rule out.
    pub method: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Token budget of the method.
    pub budget: Option<usize>,
    /// Number of the repeat.
    pub repeat: Option<u32>,
    /// Part of the trial.
    pub part: Part,
    /// Name of the rater; empty where the file does not tell.
    pub rater: String,
    /// The label, in the words of [`labels`].
    pub label: &'static str,
}

impl HumanLabel {
    /// True if the label does not rule out this trial of its item.
    pub fn is_on(&self, trial: &TrialPlace) -> bool {
        self.method.as_ref().is_none_or(|method| *method == trial.method)
            && self.model.as_ref().is_none_or(|model| *model == trial.model)
            && self.budget.is_none_or(|budget| Some(budget) == trial.budget)
            && self.repeat.is_none_or(|repeat| repeat == trial.repeat)
    }
}

/// The part of a trial that a label is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The answer: correct or incorrect.
    Answer,
    /// A sentence of the summary, from 1: a category of HAMLET's.
    Sentence(usize),
    /// A key fact, from 1, depth first: stated or not.
    Fact(usize),
    /// The question: one of SagaScale's types.
    Question,
    /// The fault of the answer: one of NovelQA's kinds of errors.
    Fault,
}

/// The columns of a file of labels that closeread writes: it is read by [`human_labels`] and by
/// [`RaterLabels`](crate::RaterLabels).
pub const LABEL_COLUMNS: [&str; 13] = [
    "unit",
    "group",
    "criterion",
    "rater",
    "label",
    "item",
    "method",
    "model",
    "budget",
    "repeat",
    "sentence",
    "fact",
    "aspect",
];

/// Reads labels from JSON Lines or CSV with a head: `item` and `label`, where needed `run`, `method`, `model`, `budget`,
/// `repeat`, and `sentence` or `fact` (numbers from 1) for parts of a summary; `rater` where several people label the same. Wrong
/// rows are named.
///
/// Labels of answers: correct, C, yes, true, 1, right, 正确, 对 and their opposites, whatever the case; of sentences
/// HAMLET's five categories, or yes and no (the text supports it); of facts yes or no; the name of a question type is a label
/// of the question, that of a [`Fault`] one of the error in an answer. Other errors of a study are left out.
pub fn human_labels(file: &InputFile) -> (Vec<HumanLabel>, Vec<Problem>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for row in table(file, &["item", "label"]) {
        if row.as_ref().is_ok_and(is_other_fault) {
            continue;
        }
        let read = row.and_then(|row| {
            let item = row.text("item").or_else(|| row.text("id"));
            human_label(&row)
                .map_err(|why| Problem::dropped(&file.name, Some(row.line), item.as_deref(), why.to_string()))
        });
        match read {
            Ok(label) => found.push(label),
            Err(problem) => problems.push(problem),
        }
    }
    (found, problems)
}

/// True of the answer `other` of a study: a fault that is none of NovelQA's.
fn is_other_fault(row: &Row) -> bool {
    row.text("criterion").as_deref() == Some("fault") && row.text("label").as_deref() == Some("other")
}

/// The rows of a file, CSV with these columns unless it begins as JSON does. Rows of empty cells are none.
pub(crate) fn table(file: &InputFile, columns: &[&str; 2]) -> Vec<Result<Row, Problem>> {
    let Sheet { bytes, separator } = sheet(&file.bytes);
    if matches!(bytes.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'{' | b'[') | None) {
        return rows(file).collect();
    }
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).flexible(true).trim(csv::Trim::All).from_reader(&*bytes);
    let wrong = |line: Option<usize>, error: csv::Error| {
        let why = match error.kind() {
            csv::ErrorKind::Utf8 { .. } => "invalid UTF-8: save the file as UTF-8".to_owned(),
            _ => error.to_string(),
        };
        Problem::dropped(&file.name, line, None, why)
    };
    let head: Vec<String> = match reader.headers() {
        Ok(head) => head.iter().map(str::to_lowercase).collect(),
        Err(error) => return vec![Err(wrong(Some(1), error))],
    };
    if !columns.iter().all(|name| head.iter().any(|column| column == name)) {
        let columns = columns.join("` and `");
        let why = format!("the head is `{}`: expected columns `{columns}`, or JSON Lines", head.join(","));
        return vec![Err(Problem::dropped(&file.name, Some(1), None, why))];
    }
    let twice = columns.iter().copied().find(|name| head.iter().filter(|column| column == name).count() > 1);
    if let Some(name) = twice {
        let why = format!("the head has `{name}` twice: expected it once");
        return vec![Err(Problem::dropped(&file.name, Some(1), None, why))];
    }
    let mut lines = Lines::new(&bytes);
    let row = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| {
            let line = error.position().map(|position| lines.line_of(position.byte()));
            wrong(line, error)
        })?;
        let line = lines.line_of(record.position().map_or(0, csv::Position::byte));
        if record.iter().skip(head.len()).any(|cell| !cell.is_empty()) {
            let (n, of_head) = (record.len(), head.len());
            let why =
                format!("{n} cells, and the head has {of_head}: put what has a separator in it in quotation marks");
            return Err(Problem::dropped(&file.name, Some(line), None, why));
        }
        let fields = head.iter().zip(&record).filter(|(_, text)| !text.is_empty());
        let fields: Map<String, Value> =
            fields.map(|(name, text)| (name.clone(), Value::String(text.to_owned()))).collect();
        Ok(Row { line, fields })
    };
    let is_blank = |row: &Result<Row, Problem>| row.as_ref().is_ok_and(|row| row.fields.is_empty());
    let mut rows: Vec<_> = reader.records().map(row).filter(|row| !is_blank(row)).collect();
    // What stands behind a quotation mark that nothing closes is one cell, to the end of the file.
    let unclosed = rows.pop_if(|row| row.is_ok() && lines.unclosed(separator, None).is_some());
    rows.extend(unclosed.map(|row| {
        let why = "a quotation mark is not closed: all behind it is one cell, and left out".to_owned();
        row.and_then(|row| Err(Problem::dropped(&file.name, Some(row.line), row.text("item").as_deref(), why)))
    }));
    rows
}

/// The reason why a label cannot be used.
#[derive(Debug, thiserror::Error)]
enum LabelError {
    #[error("no `item`: expected the id of an item")]
    NoItem,
    #[error("no `label`: expected what a person said, such as correct or incorrect")]
    NoLabel,
    #[error("`{name}` is {found}: expected a whole number")]
    Number { name: &'static str, found: String },
    #[error("`label` is {0}: expected a word")]
    NoWord(&'static str),
    #[error("the label is `{label}`: expected {expected}")]
    Label { label: String, expected: &'static str },
    #[error("both `sentence` and `fact`: expected one of them, or neither")]
    BothParts,
    #[error("sentences and facts count from 1")]
    PartZero,
    #[error("`repeat` is too large")]
    Repeat,
    #[error("no trial of this item was judged in the run: expected an item, and a method, of the run")]
    NoTrial,
    #[error(
        "{n} trials of this item were judged ({names}): expected `method`, and `model`, `budget` or `repeat` where they \
         are needed, to name one"
    )]
    Trials { n: usize, names: String },
}

fn human_label(row: &Row) -> Result<HumanLabel, LabelError> {
    let item = row.text("item").or_else(|| row.text("id")).ok_or(LabelError::NoItem)?;
    let number = |name: &'static str| match row.fields.get(name).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => {
            // A table of Python writes 500 as 500.0 where a cell of the column is empty.
            let number = scalar(value).and_then(|text| text.strip_suffix(".0").unwrap_or(&text).parse::<usize>().ok());
            number.map(Some).ok_or_else(|| LabelError::Number { name, found: shown(value) })
        }
    };
    let given = row.fields.get("label").ok_or(LabelError::NoLabel)?;
    let text = scalar(given).ok_or_else(|| LabelError::NoWord(kind(given)))?;
    let expected = |expected| LabelError::Label { label: text.clone(), expected };
    let (part, label) = match (number("sentence")?, number("fact")?) {
        (Some(_), Some(_)) => return Err(LabelError::BothParts),
        (Some(0), _) | (_, Some(0)) => return Err(LabelError::PartZero),
        (Some(sentence), None) => {
            // First: to `of_name` a bare `no` is `No error`.
            let supported = truth(&text).map(|yes| if yes { "yes" } else { "no" });
            let known = supported.or_else(|| ErrorCategory::of_name(&text).map(ErrorCategory::name));
            let known = known.ok_or_else(|| {
                expected("No error, Out-of-article error, Entity error, Relation error or Sentence error, or yes or no")
            })?;
            (Part::Sentence(sentence), known)
        }
        (None, Some(fact)) => {
            let stated = truth(&text).ok_or_else(|| expected("yes or no"))?;
            (Part::Fact(fact), if stated { "yes" } else { "no" })
        }
        (None, None) => {
            let kind = QuestionType::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(&text));
            match (truth(&text), kind, Fault::named(&text)) {
                (Some(correct), ..) => (Part::Answer, if correct { "correct" } else { "incorrect" }),
                (None, Some(kind), _) => (Part::Question, kind.name()),
                (None, None, Some(fault)) => (Part::Fault, fault.name()),
                (None, None, None) => return Err(expected("correct or incorrect, or a kind of error")),
            }
        }
    };
    let repeat = number("repeat")?.map(u32::try_from).transpose().map_err(|_| LabelError::Repeat)?;
    let [run, method, model] = ["run", "method", "model"].map(|name| row.text(name));
    let rater = row.text("rater").unwrap_or_default();
    Ok(HumanLabel { line: row.line, item, run, method, model, budget: number("budget")?, repeat, part, rater, label })
}

fn shown(value: &Value) -> String {
    scalar(value).map_or_else(|| kind(value).to_owned(), |text| format!("`{text}`"))
}

/// True of a label that says yes, in any of the words that [`human_labels`] reads, and of `pass`.
pub fn is_yes(label: &str) -> bool {
    truth(label) == Some(true) || label.eq_ignore_ascii_case("pass")
}

fn truth(text: &str) -> Option<bool> {
    let text: String = text.to_lowercase().chars().map(simplified).collect();
    match text.trim_matches(['[', ']']) {
        "correct" | "c" | "yes" | "y" | "true" | "1" | "1.0" | "right" | "正确" | "对" | "是" => Some(true),
        "incorrect" | "n" | "no" | "false" | "0" | "0.0" | "wrong" | "错误" | "错" | "否" => Some(false),
        _ => None,
    }
}
