//! Tables for a terminal: aligned columns, Chinese characters two wide.

use crate::{Table, Value, shown_over, spans};

/// Title, source, columns and notes.
pub fn table(table: &Table) -> String {
    let source = if table.source.is_empty() { String::new() } else { format!(" ({})", plain(&table.source)) };
    format!("{}{source}\n{}", plain(&table.title), body(table))
}

/// Columns and notes, without the title.
pub fn body(table: &Table) -> String {
    let shown = |row: &Vec<Value>| spans(row).map(|(value, n)| (plain(&shown_over(value, n)), n)).collect::<Vec<_>>();
    let groups: Vec<(String, usize)> =
        table.group_row().into_iter().map(|(head, n)| (plain(head.unwrap_or_default()), n)).collect();
    let mut rows = vec![groups, table.heads().into_iter().map(|head| (plain(head), 1)).collect()];
    rows.extend(table.rows.iter().map(shown));
    let n = table.columns.len();
    let widths = widths(&rows, n);
    let flush_left: Vec<bool> = (0..n).map(|column| table.is_text_column(column)).collect();
    let mut text = String::new();
    for (idx, row) in rows.iter().enumerate().skip(usize::from(table.groups.is_empty())) {
        let (mut line, mut column) = (String::new(), 0);
        for (cell, n_columns) in row {
            if column + n_columns > n {
                break;
            }
            let gap = across(&widths[column..column + n_columns]) - width(cell);
            let before = match n_columns {
                1 if flush_left[column] => 0,
                1 => gap,
                _ => gap / 2,
            };
            line.push_str(&format!("{}{cell}{}  ", " ".repeat(before), " ".repeat(gap - before)));
            column += n_columns;
        }
        text.push_str(line.trim_end());
        text.push('\n');
        let is_last_of_body = table.summary_rows > 0 && idx + table.summary_rows + 1 == rows.len();
        if idx == 1 || is_last_of_body {
            text.push_str(&"-".repeat(across(&widths)));
            text.push('\n');
        }
    }
    for note in &table.notes {
        text.push_str(&plain(note));
        text.push('\n');
    }
    text
}

/// The width of each column: what stands in it alone fits, and the last of several is as wide as what stands over all needs.
fn widths(rows: &[Vec<(String, usize)>], n: usize) -> Vec<usize> {
    let mut widths = vec![0; n];
    for is_alone in [true, false] {
        for row in rows {
            let mut column = 0;
            for (cell, n_columns) in row {
                let end = column + n_columns;
                if end > n {
                    break;
                }
                if (*n_columns == 1) == is_alone {
                    let there = across(&widths[column..end]);
                    widths[end - 1] += width(cell).saturating_sub(there);
                }
                column = end;
            }
        }
    }
    widths
}

/// Columns side by side with the gaps between them.
fn across(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
}

/// Text that a terminal shows and does not obey: control characters and those that turn the direction of what follows
/// are written as `<U+001B>`.
pub fn plain(text: &str) -> String {
    if !text.chars().any(is_control) {
        return text.to_owned();
    }
    text.chars().map(|c| if is_control(c) { named(c) } else { c.to_string() }).collect()
}

/// Characters that steer a terminal, a browser's line or a parser instead of standing for something.
pub fn is_control(c: char) -> bool {
    c.is_control() || is_direction(c) || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
}

/// The explicit embeddings, overrides and isolates of Unicode's bidirectional algorithm. The marks (U+200E, U+200F,
/// U+061C) are not among them: they are part of ordinary text and reach no further than their neighbours.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

pub(crate) fn named(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}

/// Columns that a terminal gives to `text`: two for East Asian wide characters, none for combining ones.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f | 0x20d0..=0x20ff => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{hostile, spanned};
    use expect_test::expect;

    #[test]
    fn columns_line_up_whatever_stands_in_them() {
        expect![[r#"
            A & B <script> (Paper_1, Table 3)
            name            n                score          difference    other
            -------------------------------------------------------------------
            赊渡簿         12   54.1 [43.6, 64.3]*  -3.1 [-6.6, +0.4]*  <0.0001
            =SUM(A1)    1,234  100.0 [97.0, 100.0]   +2.0 [+1.0, +3.0]        -
            a<U+202E>b      -                 12.5                   -        -
            5% of $10_000 #1 {x} ~ ^ \ [y]
        "#]]
        .assert_eq(&table(&hostile()));
    }

    #[test]
    fn a_terminal_is_not_steered() {
        assert_eq!(plain("a\u{1b}[31mb\u{2067}c\nd"), "a<U+001B>[31mb<U+2067>c<U+000A>d");
        assert_eq!(plain("שלום, 赊渡簿"), "שלום, 赊渡簿");
        assert_eq!((width("e\u{301}"), width("赊a")), (1, 3));
    }

    #[test]
    fn heads_and_cells_reach_over_several_columns() {
        expect![[r#"
            Spans
                                        Voices
            Method      1,500  low                  high
            --------------------------------------------
            dos-rag      68.9  1.0                     -
            read-agent  76.2 ± 1.0 (Avg. Tokens: 86,000)
            whole                limit exceeded
        "#]]
        .assert_eq(&table(&spanned()));
    }
}
