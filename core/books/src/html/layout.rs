//! Layouts: how much of a page's layout its text keeps.

/// The way in which what a reader sees becomes text.
///
/// In all of them paragraphs, headings and other blocks are parted by a blank line, items of lists and rows of tables by a
/// line feed. White space is one space, except in `<pre>`; inline tags neither add nor take any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A book: cells are parted by a tab, and no-break and ideographic spaces stay as they are.
    Book,
    /// A page among plain texts: cells are parted by a space, and all of Unicode's white space is one space.
    Page,
    /// Layout as in [`Layout::Page`], with Markdown's marks where they matter for figures: a row is a line of cells
    /// between bars, and a heading stands behind `#`.
    Markdown,
}
