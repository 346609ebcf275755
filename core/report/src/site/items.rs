//! The items with what became of them: outcome, answer, scores, and the trace by reference.

use super::cells::{NamedCell, SiteFile, cell_path};
use super::page::Page;
use crate::plan::{Trials, TrialsByItem};
use crate::{Report, Run};
use closeread_eval::Outcome;
use closeread_eval::observations::{Ending, MetricName};
use closeread_eval::{Item, Task};
use closeread_methods::record::Record;
use closeread_table::number::{metric_label, percent, thousands};
use closeread_table::render::html::{escaped, isolated};
use std::collections::BTreeSet;

/// Number of items on a page.
const PER_PAGE: usize = 50;
/// Characters of a response or a quote that a page shows; the record has the rest.
const MAX_CHARS: usize = 1500;

/// The pages of one run's items.
pub(super) fn pages(
    report: &Report,
    runs: &[Run],
    run_idx: usize,
    cells: &[NamedCell<'_>],
    trials: &Trials<'_>,
) -> Vec<SiteFile> {
    let run = &runs[run_idx];
    let n_pages = run.items.len().div_ceil(PER_PAGE).max(1);
    let mut files = Vec::new();
    for page_idx in 0..n_pages {
        let title = format!("Items of {}", run.name);
        let mut page = Page::new(report, &title, &super::page::items_path(run_idx, page_idx));
        page.heading("h1", &title);
        page.notes(report);
        let pager = pager(run_idx, page_idx, n_pages, run.items.len());
        page.push(&pager);
        let from = page_idx * PER_PAGE;
        for (idx, item) in run.items.iter().enumerate().skip(from).take(PER_PAGE) {
            page.push(&article(idx, item));
            page.push(&outcomes(item, cells, run_idx, trials));
            page.push("</article>\n");
        }
        page.push(&pager);
        files.push(page.finish());
    }
    files
}

/// The items of one cell in a table, each with a link to its article.
pub(super) fn of_cell(runs: &[Run], cell: &NamedCell<'_>, trials: &TrialsByItem<'_>) -> String {
    let run = &runs[cell.run];
    let records = trials.values().flatten();
    let metrics: BTreeSet<MetricName> =
        records.flat_map(|record| record.scores.keys()).map(|name| name.as_str().into()).collect();
    let mut html = "<div class=\"scroll\" role=\"region\" aria-labelledby=\"items-caption\" tabindex=\"0\">\n<table>\n\
                    <caption id=\"items-caption\">Items</caption>\n<thead>\n<tr><th scope=\"col\">item</th>\
                    <th scope=\"col\">outcome</th>"
        .to_owned();
    for metric in &metrics {
        html.push_str(&format!("<th scope=\"col\" class=\"number\">{}</th>", isolated(&metric_label(metric.name()))));
    }
    html.push_str("</tr>\n</thead>\n<tbody>\n");
    for (idx, item) in run.items.iter().enumerate() {
        let records = trials.get(item.id.as_str()).map_or(&[][..], Vec::as_slice);
        let first = records.first();
        html.push_str(&format!(
            "<tr><th scope=\"row\"><a href=\"{}#item-{}\">{}</a></th><td>{}</td>",
            super::page::items_path(cell.run, idx / PER_PAGE),
            idx + 1,
            isolated(&item.id),
            first.map_or_else(|| Ending::Missing.name().to_owned(), |record| outcome_name(&record.outcome))
        ));
        for metric in &metrics {
            let scores: Vec<f64> = records.iter().filter_map(|r| r.scores.get(metric.name()).copied()).collect();
            html.push_str(&score_cell(&scores));
        }
        html.push_str("</tr>\n");
    }
    html + "</tbody>\n</table>\n</div>\n"
}

fn score_cell(scores: &[f64]) -> String {
    if scores.is_empty() {
        return "<td class=\"number missing\"><abbr title=\"not scored\">n/a</abbr></td>".to_owned();
    }
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    format!("<td class=\"number\">{}</td>", escaped(&percent(mean)))
}

fn pager(run: usize, page: usize, n_pages: usize, n_items: usize) -> String {
    if n_pages == 1 {
        return String::new();
    }
    let mut html = "<nav class=\"pager\" aria-label=\"Pages of items\">".to_owned();
    for other in 0..n_pages {
        let last = ((other + 1) * PER_PAGE).min(n_items);
        let label = format!("{}-{}", thousands((other * PER_PAGE + 1) as u64), thousands(last as u64));
        html.push_str(&match other == page {
            true => format!("<a href=\"{}\" aria-current=\"page\">{label}</a> ", super::page::items_path(run, other)),
            false => format!("<a href=\"{}\">{label}</a> ", super::page::items_path(run, other)),
        });
    }
    html + "</nav>\n"
}

/// The question with its gold; the article stays open for its outcomes.
fn article(idx: usize, item: &Item) -> String {
    let mut html = format!(
        "<article id=\"item-{}\">\n<h2>{}</h2>\n<p class=\"question\">{}</p>\n",
        idx + 1,
        isolated(&item.id),
        isolated(&item.question)
    );
    if !item.options.is_empty() {
        html.push_str("<ol class=\"options\">\n");
        for (option, text) in item.options.iter().enumerate() {
            let gold = item.correct == Some(option);
            let mark = if gold { " <strong class=\"gold\">(correct)</strong>" } else { "" };
            html.push_str(&format!("<li>{}{mark}</li>\n", isolated(text)));
        }
        html.push_str("</ol>\n");
    }
    html.push_str("<dl>\n");
    if item.task != Task::Choice && !item.answers.is_empty() {
        let answers: Vec<String> = item.answers.iter().map(|answer| isolated(&cut(answer))).collect();
        html.push_str(&format!("<dt>Gold answers</dt><dd>{}</dd>\n", answers.join("<br>")));
    }
    let documents: Vec<String> = item.documents.iter().map(|id| isolated(id)).collect();
    html.push_str(&format!("<dt>Documents</dt><dd>{}</dd>\n", documents.join(", ")));
    for evidence in &item.evidence {
        let place = match (evidence.start, evidence.end) {
            (Some(start), Some(end)) => format!(" bytes {start}-{end}"),
            _ => " not found in the text".to_owned(),
        };
        let document = evidence.document.as_deref().map(isolated).unwrap_or_default();
        html.push_str(&format!(
            "<dt>Evidence</dt><dd>{document}{place}: <q>{}</q></dd>\n",
            isolated(&cut(&evidence.quote))
        ));
    }
    let labels: Vec<String> =
        item.labels.iter().map(|(label, value)| format!("{}: {}", isolated(label), isolated(value))).collect();
    if !labels.is_empty() {
        html.push_str(&format!("<dt>Labels</dt><dd>{}</dd>\n", labels.join(", ")));
    }
    html + "</dl>\n"
}

/// Returns how each cell of the run ended on the item.
fn outcomes(item: &Item, cells: &[NamedCell<'_>], run: usize, trials: &Trials<'_>) -> String {
    let mut html = "<div class=\"scroll\" role=\"region\" aria-label=\"Outcomes\" tabindex=\"0\">\n\
                    <table class=\"outcomes\">\n<thead>\n<tr><th scope=\"col\">cell</th><th scope=\"col\">outcome</th>\
                    <th scope=\"col\">answer</th><th scope=\"col\">scores</th><th scope=\"col\">trace</th></tr>\n\
                    </thead>\n<tbody>\n"
        .to_owned();
    for (number, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.run == run) {
        let head = format!("<tr><th scope=\"row\"><a href=\"{}\">{}</a></th>", cell_path(number), isolated(&cell.name));
        let Some(records) = trials.arm(cell.arm()).get(item.id.as_str()) else {
            html.push_str(&format!("{head}<td class=\"missing\">missing</td><td></td><td></td><td></td></tr>\n"));
            continue;
        };
        for record in records {
            html.push_str(&head);
            html.push_str(&row(record));
        }
    }
    html + "</tbody>\n</table>\n</div>\n"
}

fn row(record: &Record) -> String {
    let said = match &record.outcome {
        Outcome::Answered { answer, choice } => {
            let number = choice.map_or(String::new(), |choice| format!("{}. ", choice + 1));
            format!("{number}{}", isolated(&cut(answer)))
        }
        Outcome::Overflow { needed: Some(needed), context_window: Some(window) } => {
            format!("needs {} tokens, {} fit", thousands(*needed as u64), thousands(*window as u64))
        }
        Outcome::NotFound | Outcome::Unanswered | Outcome::Overflow { .. } => String::new(),
        Outcome::Blocked { reason: words }
        | Outcome::Unparsed { response: words }
        | Outcome::CutShort { response: words, .. }
        | Outcome::Failed { error: words }
        | Outcome::NotAsked { reason: words } => isolated(&cut(words)),
    };
    let metrics: BTreeSet<MetricName> = record.scores.keys().map(|name| name.as_str().into()).collect();
    let scores: Vec<String> = metrics
        .iter()
        .map(|metric| {
            format!("{} {}", isolated(&metric_label(metric.name())), escaped(&percent(record.scores[metric.name()])))
        })
        .collect();
    let scores = if scores.is_empty() { "unscored".to_owned() } else { scores.join("<br>") };
    format!(
        "<td>{}</td><td>{said}</td><td class=\"scores\">{scores}</td><td>{}</td></tr>\n",
        outcome_name(&record.outcome),
        trace(record)
    )
}

/// The calls by hash and the passages by place: the texts lie once in the run folder.
fn trace(record: &Record) -> String {
    let mut html = format!("<details><summary>{} tokens</summary>\n", thousands(record.prompt_tokens as u64));
    for call in &record.calls {
        html.push_str(&format!(
            "<p>prompt {}, messages <code>{}</code>, response:</p>\n<pre>{}</pre>\n",
            isolated(&call.prompt),
            escaped(call.sha256.get(..12).unwrap_or(&call.sha256)),
            isolated(&cut(&call.response))
        ));
    }
    if let Some(item) = &record.shared_call {
        html.push_str(&format!("<p>asked in one call with {}, whose trace has it</p>\n", isolated(item)));
    }
    for sentence in record.evidence.iter().flatten() {
        html.push_str(&format!("<p>cited: <q>{}</q></p>\n", isolated(&cut(sentence))));
    }
    if let Some(context) = &record.context {
        let retriever = context.retriever.map_or(String::new(), |retriever| format!(" by {}", retriever.name()));
        html.push_str(&format!(
            "<p>{} passages{retriever}, {} tokens, in bytes:",
            context.passages.len(),
            thousands(context.n_tokens as u64)
        ));
        let mut document = "";
        for passage in &context.passages {
            if passage.document != document {
                document = &passage.document;
                html.push_str(&format!(" {}", isolated(document)));
            }
            html.push_str(&format!(" {}-{}", passage.start, passage.end));
        }
        html.push_str("</p>\n");
    }
    html + "</details>"
}

fn outcome_name(outcome: &Outcome) -> String {
    Ending::from(outcome).name().replace('_', " ")
}

/// The beginning of a long text, and how much the record has beyond it.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        None => text.to_owned(),
        Some((at, _)) => {
            format!("{}… ({} more characters)", &text[..at], thousands(text[at..].chars().count() as u64))
        }
    }
}
