//! Tables as LaTeX with the rules of the package booktabs. Text that is not ASCII needs XeLaTeX or LuaLaTeX.

use super::text::{is_control, named};
use crate::number::with_deviation;
use crate::{Group, Mark, Table, Value, in_brackets, spans};

/// Preamble that a document needs before the tables.
pub const PREAMBLE: &str =
    "% Needs \\usepackage{booktabs}; Chinese names need XeLaTeX or LuaLaTeX and a font for them.\n";

/// A `table` environment with caption, label, rules and notes.
pub fn table(table: &Table) -> String {
    let columns: String =
        (0..table.columns.len()).map(|column| if table.is_text_column(column) { 'l' } else { 'r' }).collect();
    let source = if table.source.is_empty() { String::new() } else { format!(" ({})", escaped(&table.source)) };
    let mut text = format!(
        "\\begin{{table}}\n\\centering\n\\caption{{{}{source}}}\n\\label{{tab:{}}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n",
        escaped(&table.title),
        label(&table.id)
    );
    if !table.groups.is_empty() {
        let row = table.group_row();
        text.push_str(&line(row.iter().map(|(head, n)| across(*n, escaped(head.unwrap_or_default())))));
        let rules =
            table.groups.iter().map(|Group { first, n, .. }| format!("\\cmidrule(lr){{{}-{}}}", first + 1, first + n));
        text.push_str(&format!("{}\n", rules.collect::<Vec<_>>().join(" ")));
    }
    text.push_str(&line(table.heads().into_iter().map(escaped)));
    text.push_str("\\midrule\n");
    for (idx, row) in table.rows.iter().enumerate() {
        if idx > 0 && idx + table.summary_rows == table.rows.len() {
            text.push_str("\\midrule\n");
        }
        text.push_str(&line(spans(row).map(|(value, n)| match value {
            Value::Missing { reason } if n > 1 => across(n, escaped(reason)),
            value => across(n, shown(value)),
        })));
    }
    text.push_str("\\bottomrule\n\\end{tabular}\n");
    for note in &table.notes {
        text.push_str(&format!("\\par{{\\footnotesize {}}}\n", escaped(note)));
    }
    text.push_str("\\end{table}\n");
    text
}

/// Text that LaTeX prints and does not run.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => {
                out.push('\\');
                out.push(c);
            }
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            // Behind a line's end, LaTeX takes these for an argument of the line break.
            '[' | ']' | '*' => out.extend(['{', c, '}']),
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_control(c) => out.push_str(&escaped(&named(c))),
            c => out.push(c),
        }
    }
    out
}

fn shown(value: &Value) -> String {
    match value {
        Value::Missing { .. } => "--".to_owned(),
        Value::Text { text } => escaped(text),
        Value::Printed { value, decimals, sd, mark, sign, aside, .. } => {
            let number = match with_deviation(*value, *sd, *decimals, " $\\pm$ ") {
                small if small.contains('e') => small.replace('e', " $\\times 10^{") + "}$",
                number => number.replace('-', "$-$"),
            };
            let marked = match mark {
                Some(Mark::Best) => format!("\\textbf{{{number}}}"),
                Some(Mark::Second) => format!("\\underline{{{number}}}"),
                None => number,
            };
            let sign = if sign.is_empty() { String::new() } else { format!("\\textsuperscript{{{}}}", escaped(sign)) };
            marked + &sign + &escaped(&in_brackets(aside))
        }
        number => escaped(&number.shown()).replace('-', "$-$"),
    }
}

fn across(n_columns: usize, content: String) -> String {
    if n_columns > 1 { format!("\\multicolumn{{{n_columns}}}{{c}}{{{content}}}") } else { content }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("{} \\\\\n", cells.collect::<Vec<_>>().join(" & "))
}

/// A label takes letters, digits and hyphens.
fn label(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{hostile, spanned};
    use expect_test::expect;

    #[test]
    fn everything_is_escaped() {
        expect![[r#"
            \begin{table}
            \centering
            \caption{A \& B \textless{}script\textgreater{} (Paper\_1, Table 3)}
            \label{tab:hostile}
            \begin{tabular}{lrrrr}
            \toprule
            name & n & score & difference & other \\
            \midrule
            赊渡簿 & 12 & 54.1 {[}43.6, 64.3{]}{*} & $-$3.1 {[}$-$6.6, +0.4{]}{*} & \textless{}0.0001 \\
            =SUM(A1) & 1,234 & 100.0 {[}97.0, 100.0{]} & +2.0 {[}+1.0, +3.0{]} & $-$ \\
            a\textless{}U+202E\textgreater{}b & -- & 12.5 & -- & -- \\
            \bottomrule
            \end{tabular}
            \par{\footnotesize 5\% of \$10\_000 \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} {[}y{]}}
            \end{table}
        "#]]
        .assert_eq(&table(&hostile()));
    }

    #[test]
    fn heads_and_cells_reach_over_several_columns() {
        expect![[r#"
            \begin{table}
            \centering
            \caption{Spans}
            \label{tab:spanned}
            \begin{tabular}{lrrr}
            \toprule
             &  & \multicolumn{2}{c}{Voices} \\
            \cmidrule(lr){3-4}
            Method & 1,500 & low & high \\
            \midrule
            dos-rag & 68.9 & 1.0 & -- \\
            read-agent & \multicolumn{3}{c}{76.2 $\pm$ 1.0 (Avg. Tokens: 86,000)} \\
            whole & \multicolumn{3}{c}{limit exceeded} \\
            \bottomrule
            \end{tabular}
            \end{table}
        "#]]
        .assert_eq(&table(&spanned()));
    }
}
