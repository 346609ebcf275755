//! A static site: pages that read without JavaScript and load nothing from elsewhere.
//!
//! Whatever comes from books, questions and models is escaped and isolated. Links are relative, so that the folder can
//! be opened from a disk, moved, or served.

mod items;
mod leaderboard;
mod page;
mod submissions;

use super::chart::{Chart, Placement, STYLE, Shape, svg};
use super::plan::Trials;
use super::{Report, Run, ledger_table, score_table};
pub use cells::SiteFile;
use cells::{NamedCell, cell_path, named_cells};
use closeread_table::Table;
use closeread_table::number::counted;
use closeread_table::render::html::{escaped, id, isolated, table};
use leaderboard::Board;
pub use leaderboard::prediction_row;
use page::Page;
pub use submissions::{About, Found, Submission, SubmissionError, held_to, leaderboard, of_predictions};

/// The files of the site: `index.html`, a page a cell, pages of items, charts, `style.css`; and `leaderboard.html` with
/// `results.json`, `items.jsonl` and `predictions/`.
///
/// No page runs a script but the leaderboard's: the elements of `elements/closeread-site.js`, which whoever writes the
/// site puts there. The page reads without them.
///
/// `runs` are those that `report` was made of, in the same order.
pub fn site(report: &Report, runs: &[Run]) -> Vec<SiteFile> {
    let cells = named_cells(report);
    let trials: Vec<Trials<'_>> = runs.iter().map(|run| Trials::of(&run.records)).collect();
    let board = Board::of(runs, &cells, &trials, None);
    let mut page = Page::new(report, &report.title, "index.html");
    page.heading("h1", &report.title);
    page.notes(report);
    let has_board = board.is_some();
    let mut files = vec![index(page, report, runs, &cells, has_board)];
    files.extend(details(report, runs, &cells, &trials));
    if let Some(board) = board {
        files.push(board.page(report));
        files.extend(board.data(&report.title));
    }
    files
}

/// The pages of cells and items, charts, and the style: all but the first page and the board.
fn details(report: &Report, runs: &[Run], cells: &[NamedCell<'_>], trials: &[Trials<'_>]) -> Vec<SiteFile> {
    let mut files = Vec::new();
    for (number, cell) in cells.iter().enumerate() {
        files.push(cell_page(report, runs, cell, number, &trials[cell.run]));
    }
    for (idx, trials) in trials.iter().enumerate() {
        files.extend(items::pages(report, runs, idx, cells, trials));
    }
    for chart in &report.charts {
        files.push(SiteFile { path: chart_path(chart), content: svg(chart, Placement::File) });
    }
    files.push(SiteFile { path: "style.css".to_owned(), content: format!("{}\n{STYLE}", include_str!("style.css")) });
    files
}

fn chart_path(chart: &Chart) -> String {
    format!("charts/{}.svg", id(&chart.id))
}

/// Makes the first page from `page`, which has its beginning.
fn index(mut page: Page, report: &Report, runs: &[Run], cells: &[NamedCell<'_>], has_board: bool) -> SiteFile {
    for (run, facts) in runs.iter().zip(&report.runs) {
        let n_books =
            run.items.iter().flat_map(|item| &item.documents).collect::<std::collections::BTreeSet<_>>().len();
        page.push(&format!(
            "<p class=\"facts\">Run {} on benchmark {}: {} on {}.",
            isolated(&run.name),
            isolated(&facts.benchmark),
            counted(run.items.len(), "item"),
            counted(n_books, "document")
        ));
        page.push(&format!("{}</p>\n", facts_of(run)));
    }
    let (first, rest) =
        report.tables.split_at(report.tables.iter().position(|t| t.id == "usage").map_or(0, |at| at + 1));
    for one in first {
        page.push(&table(one, |row| (one.id == "scores").then(|| cell_path(row)).filter(|_| row < cells.len())));
    }
    charts(&mut page, &report.charts, "Charts", |chart| chart.shape != Shape::Dots);
    for (heading, of) in [
        ("Comparisons", Box::new(|t: &Table| t.id.starts_with("differences-")) as Box<dyn Fn(&Table) -> bool>),
        ("Tables of the paper", Box::new(|t: &Table| !t.source.is_empty())),
        ("By label", Box::new(|t: &Table| t.source.is_empty() && !t.id.starts_with("differences-"))),
    ] {
        let tables: Vec<&Table> = rest.iter().filter(|t| of(t)).collect();
        if tables.is_empty() {
            continue;
        }
        page.heading("h2", heading);
        for one in tables {
            page.push(&table(one, |_| None));
        }
    }
    charts(&mut page, &report.charts, "Charts by label", |chart| chart.shape == Shape::Dots);
    page.heading("h2", "Pages");
    page.push("<ul class=\"pages\">\n");
    for (number, cell) in cells.iter().enumerate() {
        page.push(&format!("<li><a href=\"{}\">{}</a></li>\n", cell_path(number), isolated(&cell.name)));
    }
    if has_board {
        let page_of_board = leaderboard::PAGE;
        page.push(&format!("<li><a href=\"{page_of_board}\">Leaderboard, which anybody can check</a></li>\n"));
    }
    for (idx, run) in runs.iter().enumerate() {
        let which = if runs.len() > 1 { format!(" of {}", isolated(&run.name)) } else { String::new() };
        page.push(&format!("<li><a href=\"{}\">Items{which} with their outcomes</a></li>\n", page::items_path(idx, 0)));
    }
    page.push("</ul>\n");
    page.finish()
}

fn facts_of(run: &Run) -> String {
    let fact = |(name, value): &(String, String)| {
        format!(" <span class=\"fact\">{} {}</span>", escaped(name), isolated(value))
    };
    run.facts.iter().map(fact).collect()
}

fn charts(page: &mut Page, charts: &[Chart], heading: &str, of: impl Fn(&Chart) -> bool) {
    let charts: Vec<&Chart> = charts.iter().filter(|chart| of(chart)).collect();
    if charts.is_empty() {
        return;
    }
    page.heading("h2", heading);
    page.push("<div class=\"charts\">\n");
    for chart in charts {
        let note = if chart.note.is_empty() { String::new() } else { format!(" {}", escaped(&chart.note)) };
        page.push(&format!(
            "<figure>\n<figcaption><strong>{}</strong>{note} <a href=\"{}\">SVG</a></figcaption>\n{}</figure>\n",
            isolated(&chart.title),
            escaped(&chart_path(chart)),
            svg(chart, Placement::InPage)
        ));
    }
    page.push("</div>\n");
}

fn cell_page(report: &Report, runs: &[Run], cell: &NamedCell<'_>, number: usize, trials: &Trials<'_>) -> SiteFile {
    let path = cell_path(number);
    let mut page = Page::new(report, &format!("{} - {}", cell.name, report.title), &path);
    page.heading("h1", &cell.name);
    page.notes(report);
    page.push(&format!(
        "<p class=\"facts\">Method {}, model {}, run {}.{}</p>\n",
        isolated(&cell.arm().method),
        isolated(&cell.arm().model),
        isolated(&runs[cell.run].name),
        facts_of(&runs[cell.run])
    ));
    let only = std::slice::from_ref(cell.cell);
    for one in [score_table(only), ledger_table(only)] {
        page.push(&table(&one, |_| None));
    }
    page.push(&items::of_cell(runs, cell, trials.arm(cell.arm())));
    page.finish()
}

mod cells;
#[cfg(test)]
mod tests;
