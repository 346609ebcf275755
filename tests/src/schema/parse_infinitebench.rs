//! InfiniteBench's scores of single replies, task by task.

use super::compare;
use super::kind::Schema;
use crate::report::{FileReport, label, list};
use closeread_eval::answer::infinitebench::{infinitebench_choice, infinitebench_dialogue};
use closeread_metrics::rouge::{Rouge, rouge_over};
use closeread_metrics::{Words, infinitebench_en_f1, infinitebench_zh_f1};
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "parse_infinitebench", version: "1", run };

/// Tolerance of a score.
const TOLERANCE: f64 = 1e-12;

#[derive(Deserialize)]
struct Case {
    prediction: String,
    label: Gold,
    expected: f64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Gold {
    One(String),
    Several(Vec<String>),
}

fn run(file: &Value, report: &mut FileReport) {
    for (position, case) in list(file, "cases").enumerate() {
        let id = label(case, "cases", position);
        let group = case.get("group").and_then(Value::as_str);
        let score: fn(&str, &[String]) -> f64 = match group.map(|group| group.trim_end_matches("_constructed")) {
            Some("longbook_choice_eng") => {
                |prediction, gold| f64::from(u8::from(infinitebench_choice(prediction, gold)))
            }
            Some("longdialogue_qa_eng") => {
                |prediction, gold| f64::from(u8::from(infinitebench_dialogue(prediction, gold)))
            }
            Some("longbook_qa_eng") => |prediction, gold| infinitebench_en_f1(prediction, gold, Words::Reference).f1,
            Some("longbook_qa_chn") => |prediction, gold| infinitebench_zh_f1(prediction, gold).f1,
            Some("longbook_sum_eng") => {
                |prediction, gold| rouge_over(Rouge::Lsum, prediction, gold, Words::Reference).f1
            }
            Some(group) => {
                report.not_yet(&format!("parse_infinitebench: group {group} has no code yet"), 1);
                continue;
            }
            None => {
                report.case(&id, || Err("case has no `group`".to_owned()));
                continue;
            }
        };
        report.case(&id, || check(case, score));
    }
}

fn check(case: &Value, score: fn(&str, &[String]) -> f64) -> Result<(), String> {
    let case: Case = compare::parse(case)?;
    let gold = match case.label {
        Gold::One(gold) => vec![gold],
        Gold::Several(gold) => gold,
    };
    compare::close("score", score(&case.prediction, &gold), case.expected, TOLERANCE)
}
