//! ReadAgent: break points, page numbers, and the pages that a model's break points make.

use super::compare;
use super::kind::Schema;
use crate::report::{FileReport, label, list};
use closeread_eval::answer::{break_point, look_up_pages};
use closeread_methods::{PageLength, expand};
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "readagent", version: "1", run };

/// Words below which the rest is the last page; a constant of the notebook.
const MIN_WORDS: usize = 350;

/// A result, or the exception that the reference raises. For an exception, any result but a panic passes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Expected<T> {
    Error {
        #[serde(rename = "error")]
        _exception: String,
    },
    Value(T),
}

#[derive(Deserialize)]
struct BreakPoint {
    input: String,
    expected: Expected<Option<usize>>,
}

#[derive(Deserialize)]
struct LookUp {
    input: String,
    n_pages: usize,
    expected: Expected<LookedUp>,
}

#[derive(Deserialize)]
struct LookedUp {
    pages: Vec<usize>,
    context: String,
}

#[derive(Deserialize)]
struct Pagination {
    input: PaginationInput,
    expected: PaginationExpected,
}

#[derive(Deserialize)]
struct PaginationInput {
    paragraph_word_counts: Vec<usize>,
    word_limit: usize,
    start_threshold: usize,
}

#[derive(Deserialize)]
struct PaginationExpected {
    /// Paragraphs of each page: the first, and the one after the last.
    pages: Vec<(usize, usize)>,
    prompts: Vec<Prompt>,
}

#[derive(Deserialize)]
struct Prompt {
    labels_offered: Vec<usize>,
    /// Replies of the model in this case.
    response: String,
}

fn run(file: &Value, report: &mut FileReport) {
    for (position, case) in list(file, "cases").enumerate() {
        let id = label(case, "cases", position);
        let check: fn(&Value) -> Result<(), String> = match case.get("group").and_then(Value::as_str) {
            Some("parse_pause_point") => parse_pause_point,
            Some("look_up_pages") => look_up,
            Some("pagination") => pagination,
            Some(group) => {
                report.not_yet(&format!("readagent: group {group} has no code yet"), 1);
                continue;
            }
            None => |_| Err("case has no `group`".to_owned()),
        };
        report.case(&id, || check(case));
    }
}

fn parse_pause_point(case: &Value) -> Result<(), String> {
    let case: BreakPoint = compare::parse(case)?;
    let expected = match case.expected {
        Expected::Value(expected) => expected,
        // The reference stops here; a response that cannot be read is no break point.
        Expected::Error { .. } => None,
    };
    compare::same("break point", &[break_point(&case.input)], &[expected])
}

fn look_up(case: &Value) -> Result<(), String> {
    let case: LookUp = compare::parse(case)?;
    let pages = look_up_pages(&case.input, case.n_pages);
    let Expected::Value(expected) = case.expected else { return Ok(()) };
    compare::same("page", &pages, &expected.pages)?;
    let gists: Vec<String> = (0..case.n_pages).map(|page| format!("gist {page}")).collect();
    let texts: Vec<String> =
        (0..case.n_pages).map(|page| format!("page {page} line one.\npage {page} line two.")).collect();
    let gists: Vec<&str> = gists.iter().map(String::as_str).collect();
    let context = expand(&gists, &pages, |page| texts[page].clone()).join("\n");
    compare::same("context", &[context], &[expected.context])
}

fn pagination(case: &Value) -> Result<(), String> {
    let case: Pagination = compare::parse(case)?;
    let PaginationInput { paragraph_word_counts: words, word_limit, start_threshold } = case.input;
    let length = PageLength { word_limit, start_threshold, min_words: MIN_WORDS };
    let mut prompts = case.expected.prompts.iter();
    let mut pages = Vec::new();
    let mut start = 0;
    while start < words.len() {
        let stretch = length.stretch(&words, start);
        let end = if stretch.is_rest {
            stretch.end
        } else {
            let prompt = prompts.next().ok_or_else(|| format!("page {} is asked for, not expected", pages.len()))?;
            compare::same(&format!("label of page {}", pages.len()), &stretch.labels, &prompt.labels_offered)?;
            stretch.cut(break_point(&prompt.response))
        };
        pages.push((start, end));
        start = end;
    }
    compare::same("page", &pages, &case.expected.pages)?;
    match prompts.count() {
        0 => Ok(()),
        n => Err(format!("{n} more pages are asked for by the reference")),
    }
}
