//! Tables as GitHub reads Markdown.

use super::text::{is_control, named};
use crate::{Table, Value};

/// A heading, the table, and the notes as a list.
pub fn table(table: &Table) -> String {
    let source = if table.source.is_empty() { String::new() } else { format!(" ({})", escaped(&table.source)) };
    let mut text = format!("### {}{source}\n\n", escaped(&table.title));
    let sides: Vec<&str> =
        (0..table.columns.len()).map(|column| if table.is_text_column(column) { ":--" } else { "--:" }).collect();
    text.push_str(&line(table.columns.iter().map(|head| escaped(head))));
    text.push_str(&line(sides.into_iter().map(str::to_owned)));
    for row in &table.rows {
        text.push_str(&line(row.iter().map(|value| match value {
            Value::Missing { .. } => "-".to_owned(),
            value => escaped(&value.shown()),
        })));
    }
    if !table.notes.is_empty() {
        text.push('\n');
        text.extend(table.notes.iter().map(|note| format!("- {}\n", escaped(note))));
    }
    text
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// Text that Markdown shows as it stands: no mark-up, no HTML, no formula, no mention of people or issues.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            // Between two of them GitHub sees a formula.
            '$' => out.push_str("&#36;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '|' | '~' | '!' => out.extend(['\\', c]),
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_control(c) => out.push_str(&escaped(&named(c))),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_mark_up() {
        let mut shown = Table::new("t", "A [b](c)", vec!["name|s".to_owned(), "n".to_owned()]);
        shown.rows.push(vec![Value::text("<img> *x* @me, $5 or $7"), Value::count(1200)]);
        shown.notes.push("#1 | `code`".to_owned());
        assert_eq!(
            table(&shown),
            "### A \\[b\\](c)\n\n| name\\|s | n |\n| :-- | --: |\n| &lt;img&gt; \\*x\\* &#64;me, &#36;5 or &#36;7 | 1,200 |\n\n- \\#1 \\| \\`code\\`\n"
        );
    }
}
