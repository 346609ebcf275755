//! The frame of a page of the site: everything around its content.

use super::cells::SiteFile;
use crate::Report;
use closeread_table::render::html::{escaped, isolated};

/// A page under construction.
pub(super) struct Page {
    path: String,
    html: String,
}

impl Page {
    /// Begins a page without scripts.
    pub(super) fn new(report: &Report, title: &str, path: &str) -> Self {
        let policy = "script-src 'none'; object-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'";
        Self::with_policy(report, title, path, policy)
    }

    /// A page that may load what its content security policy says.
    pub(super) fn with_policy(report: &Report, title: &str, path: &str, policy: &str) -> Self {
        let mark = if report.complete { "" } else { " (incomplete)" };
        let html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <title>{}{mark}</title>\n<link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#content\">To the content</a>\n<header>\n<nav aria-label=\"Site\">\
             <a href=\"index.html\">Report</a> <a href=\"{}\">Items</a></nav>\n</header>\n<main id=\"content\">\n",
            escaped(title),
            items_path(0, 0)
        );
        Self { path: path.to_owned(), html }
    }

    pub(super) fn push(&mut self, html: &str) {
        self.html.push_str(html);
    }

    /// A heading with text from data.
    pub(super) fn heading(&mut self, tag: &str, text: &str) {
        self.html.push_str(&format!("<{tag}>{}</{tag}>\n", isolated(text)));
    }

    /// Adds what a reader must know before anything else: above all that the run is not complete.
    pub(super) fn notes(&mut self, report: &Report) {
        for note in &report.notes {
            self.html.push_str(&format!("<p class=\"warning\" role=\"note\">{}</p>\n", escaped(note)));
        }
    }

    pub(super) fn finish(mut self) -> SiteFile {
        self.html.push_str("</main>\n<footer><p>Made by closeread.</p></footer>\n</body>\n</html>\n");
        SiteFile { path: self.path, content: self.html }
    }
}

pub(super) fn items_path(run: usize, page: usize) -> String {
    match (run, page) {
        (0, 0) => "items.html".to_owned(),
        _ => format!("items-{}-{}.html", run + 1, page + 1),
    }
}
