//! One table, six renderings: text, CSV, LaTeX, HTML, Markdown, and JSON, which is its serde form.
//!
//! Names in a table come from data and models. Each rendering escapes them for its reader, a terminal included.

pub mod csv;
pub mod html;
pub mod latex;
pub mod markdown;
pub mod text;

#[cfg(test)]
mod testing;
