//! A query: a template with its slots filled in, in words and as SQL.

use super::column::{Column, Schema, ValueType};
use super::global::Row;
use super::gold::AnswerKind;
use super::template::{Difficulty, Template};
use crate::slots::filled;
use closeread_text::Language;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A query: a filled template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// Name of the set.
    pub set: String,
    /// Id of the template.
    pub template: String,
    /// Difficulty of the query.
    pub difficulty: Difficulty,
    /// The question in the template's words.
    pub question: String,
    /// The form of the answer.
    pub answer: AnswerKind,
    /// Rows that a list is to have, where the question says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// Keys of the columns that it is about.
    pub columns: Vec<String>,
    /// Words and numbers of the question that every paraphrase must have.
    pub literals: Vec<String>,
    /// The condition on the rows that enter the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// SQL of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
}

/// The rows that queries are drawn over.
pub(super) struct Drawing<'a> {
    pub(super) set: &'a str,
    pub(super) schema: &'a Schema,
    pub(super) rows: &'a [&'a Row],
    pub(super) language: Language,
    pub(super) longest_list: usize,
}

/// The values in the slots of a template.
#[derive(Default)]
pub(super) struct Slots {
    pub(super) columns: BTreeMap<&'static str, usize>,
    pub(super) words: BTreeMap<&'static str, String>,
    pub(super) numbers: BTreeMap<&'static str, f64>,
    pub(super) count: usize,
}

impl Slots {
    pub(super) fn query(&self, drawing: &Drawing<'_>, template: &Template) -> Query {
        let schema = drawing.schema;
        let column = |slot: &str| self.columns.get(slot).map(|&at| &schema.columns[at]);
        let shares = |slot: &str| {
            let of = if slot == "x" { "n" } else { "m" };
            matches!(slot, "x" | "y") && column(of).is_some_and(|column| column.value_type == ValueType::Percentage)
        };
        let told = |slot: &str| match slot {
            "entity" => schema.entity.one.clone(),
            "entities" => schema.entity.many.clone(),
            "name" => schema.columns[0].title.clone(),
            "k" => self.count.to_string(),
            "c" | "d" => column(slot).map_or_else(String::new, |column| column.title.clone()),
            "v" | "u" | "t" => self.words.get(slot).cloned().unwrap_or_default(),
            "x" | "y" | "q" | "o" | "z" => {
                let number = self.numbers.get(slot).copied().unwrap_or_default();
                grouped(number) + if shares(slot) { "%" } else { "" }
            }
            _ => column(slot).map_or_else(String::new, Column::named),
        };
        let quoted = |key: &str| format!("\"{key}\"");
        let sql = |slot: &str| match slot {
            "name" => quoted(&schema.columns[0].key),
            "k" => self.count.to_string(),
            "v" | "u" | "t" => format!("'{}'", self.words.get(slot).map_or("", String::as_str).replace('\'', "''")),
            "x" | "y" | "q" | "o" | "z" => self.numbers.get(slot).copied().unwrap_or_default().to_string(),
            _ => column(slot).map_or_else(String::new, |column| quoted(&column.key)),
        };
        let question = template.question(drawing.language);
        let literals = ["v", "u", "t", "x", "y", "q", "o", "z", "k"];
        let literals =
            literals.into_iter().filter(|slot| question.contains(&format!("{{{slot}}}"))).map(told).collect();
        Query {
            set: drawing.set.to_owned(),
            template: template.id.clone(),
            difficulty: template.difficulty,
            question: filled(question, told),
            answer: template.answer,
            rows: template.rows.as_ref().filter(|rows| *rows == "k").map(|_| self.count),
            columns: self.columns.values().map(|&at| schema.columns[at].key.clone()).collect(),
            literals,
            scope: template.scope.as_ref().map(|scope| filled(scope, sql)),
            sql: template.sql.as_ref().map(|text| filled(text, sql)),
        }
    }
}

/// A number with a comma after each group of three.
pub(super) fn grouped(number: f64) -> String {
    let text = number.to_string();
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let n = digits.len();
    let mut out = sign.to_owned();
    for (at, c) in digits.char_indices() {
        if at > 0 && (n - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    fraction.map_or(out.clone(), |fraction| format!("{out}.{fraction}"))
}
