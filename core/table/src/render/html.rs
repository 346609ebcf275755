//! Tables as HTML: a caption, heads with their scope, notes below. Everything from data is escaped and isolated.

use super::text::{is_control, named};
use crate::number::with_deviation;
use crate::{Mark, Table, Value, in_brackets, spans};

/// Text as the content of an element or of a quoted attribute.
///
/// Control characters and those that turn the direction of what follows are shown by their number, since a stray one
/// could end the isolation that [`isolated`] gives.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if is_control(c) => out.push_str(&escaped(&named(c))),
            c => out.push(c),
        }
    }
    out
}

/// Text from data, escaped, in an element of its own direction, so that it does not turn what stands beside it.
pub fn isolated(text: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(text))
}

/// An id: letters, digits and hyphens, the rest as hyphens.
pub fn id(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// A table with its notes.
///
/// The names a row begins with are its heads. `link` may give the address that a row leads to, from its method, or else
/// from its first name.
pub fn table(table: &Table, link: impl Fn(usize) -> Option<String>) -> String {
    let id = id(&table.id);
    let source = match table.source.as_str() {
        "" => String::new(),
        source => format!(" <span class=\"source\">{}</span>", escaped(source)),
    };
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" aria-labelledby=\"{id}-caption\" tabindex=\"0\">\n<table id=\"{id}\">\n\
         <caption id=\"{id}-caption\">{}{source}</caption>\n<thead>\n<tr>",
        escaped(&table.title)
    );
    if !table.groups.is_empty() {
        for (head, n) in table.group_row() {
            html.push_str(&match head {
                Some(head) => format!("<th scope=\"colgroup\" colspan=\"{n}\">{}</th>", isolated(head)),
                None => "<td></td>".to_owned(),
            });
        }
        html.push_str("</tr>\n<tr>");
    }
    for (column, head) in table.heads().into_iter().enumerate() {
        let class = if table.is_text_column(column) { "" } else { " class=\"number\"" };
        html.push_str(&format!("<th scope=\"col\"{class}>{}</th>", isolated(head)));
    }
    html.push_str("</tr>\n</thead>\n<tbody>\n");
    let linked = table.columns.iter().position(|head| head == "method").unwrap_or(0);
    for (idx, row) in table.rows.iter().enumerate() {
        let n_heads = row.iter().take_while(|value| matches!(value, Value::Text { .. })).count().max(1);
        let sums_up = idx > 0 && idx + table.summary_rows == table.rows.len();
        html.push_str(if sums_up { "<tr class=\"summary\">" } else { "<tr>" });
        let mut column = 0;
        for (value, n) in spans(row) {
            let link = if column == linked { link(idx) } else { None };
            html.push_str(&cell(value, column < n_heads, n, link));
            column += n;
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
    if !table.notes.is_empty() {
        html.push_str("<ul class=\"notes\">\n");
        for note in &table.notes {
            html.push_str(&format!("<li>{}</li>\n", isolated(note)));
        }
        html.push_str("</ul>\n");
    }
    html
}

fn cell(value: &Value, is_head: bool, n_columns: usize, link: Option<String>) -> String {
    let content = match value {
        Value::Text { text } => isolated(text),
        Value::Missing { reason } if n_columns > 1 => isolated(reason),
        Value::Missing { reason } => {
            format!("<abbr title=\"{}\">n/a</abbr>", escaped(reason))
        }
        Value::Score { .. } | Value::Difference { .. } => {
            let shown = value.shown();
            let (number, interval) = shown.split_once(' ').unwrap_or((&shown, ""));
            format!("{} <span class=\"interval\">{}</span>", escaped(number), escaped(interval))
        }
        Value::Printed { value, decimals, sd, n, mark, sign, aside } => {
            let number = escaped(&with_deviation(*value, *sd, *decimals, " ± "));
            let marked = match mark {
                Some(Mark::Best) => format!("<strong>{number}</strong>"),
                Some(Mark::Second) => format!("<u>{number}</u>"),
                None => number,
            };
            let sign = if sign.is_empty() { String::new() } else { format!("<sup>{}</sup>", escaped(sign)) };
            format!("<span title=\"n = {n}\">{marked}{sign}{}</span>", escaped(&in_brackets(aside)))
        }
        other => escaped(&other.shown()),
    };
    let content = match link {
        Some(address) => format!("<a href=\"{}\">{content}</a>", escaped(&address)),
        None => content,
    };
    let class = match value {
        Value::Text { .. } => "",
        Value::Missing { .. } => " class=\"number missing\"",
        _ => " class=\"number\"",
    };
    let class = if n_columns > 1 { format!("{class} colspan=\"{n_columns}\"") } else { class.to_owned() };
    if is_head { format!("<th scope=\"row\"{class}>{content}</th>") } else { format!("<td{class}>{content}</td>") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{hostile, spanned};
    use expect_test::expect;

    #[test]
    fn heads_have_their_scope_and_text_is_inert() {
        expect![[r#"
            <div class="scroll" role="region" aria-labelledby="hostile-caption" tabindex="0">
            <table id="hostile">
            <caption id="hostile-caption">A &amp; B &lt;script&gt; <span class="source">Paper_1, Table 3</span></caption>
            <thead>
            <tr><th scope="col"><bdi>name</bdi></th><th scope="col" class="number"><bdi>n</bdi></th><th scope="col" class="number"><bdi>score</bdi></th><th scope="col" class="number"><bdi>difference</bdi></th><th scope="col" class="number"><bdi>other</bdi></th></tr>
            </thead>
            <tbody>
            <tr><th scope="row"><bdi>赊渡簿</bdi></th><td class="number">12</td><td class="number">54.1 <span class="interval">[43.6, 64.3]*</span></td><td class="number">-3.1 <span class="interval">[-6.6, +0.4]*</span></td><td class="number">&lt;0.0001</td></tr>
            <tr><th scope="row"><a href="cell-1.html"><bdi>=SUM(A1)</bdi></a></th><td class="number">1,234</td><td class="number">100.0 <span class="interval">[97.0, 100.0]</span></td><td class="number">+2.0 <span class="interval">[+1.0, +3.0]</span></td><td class="number">-</td></tr>
            <tr><th scope="row"><bdi>a&lt;U+202E&gt;b</bdi></th><td class="number missing"><abbr title="no &quot;evidence&quot;">n/a</abbr></td><td class="number">12.5</td><td class="number missing"><abbr title="no &quot;evidence&quot;">n/a</abbr></td><td class="number missing"><abbr title="no &quot;evidence&quot;">n/a</abbr></td></tr>
            </tbody>
            </table>
            </div>
            <ul class="notes">
            <li><bdi>5% of $10_000 #1 {x} ~ ^ \ [y]</bdi></li>
            </ul>
        "#]]
        .assert_eq(&table(&hostile(), |row| (row == 1).then(|| "cell-1.html".to_owned())));
    }

    #[test]
    fn nothing_leaves_its_element() {
        let text = "</td><script>alert('x')</script>\u{2069}\u{202e}\u{0}&amp;";
        assert_eq!(
            escaped(text),
            "&lt;/td&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&lt;U+2069&gt;&lt;U+202E&gt;&lt;U+0000&gt;&amp;amp;"
        );
    }

    #[test]
    fn heads_and_cells_reach_over_several_columns() {
        expect![[r#"
            <div class="scroll" role="region" aria-labelledby="spanned-caption" tabindex="0">
            <table id="spanned">
            <caption id="spanned-caption">Spans</caption>
            <thead>
            <tr><td></td><td></td><th scope="colgroup" colspan="2"><bdi>Voices</bdi></th></tr>
            <tr><th scope="col"><bdi>Method</bdi></th><th scope="col" class="number"><bdi>1,500</bdi></th><th scope="col" class="number"><bdi>low</bdi></th><th scope="col" class="number"><bdi>high</bdi></th></tr>
            </thead>
            <tbody>
            <tr><th scope="row"><bdi>dos-rag</bdi></th><td class="number"><span title="n = 5">68.9</span></td><td class="number"><span title="n = 5">1.0</span></td><td class="number missing"><abbr title="not run">n/a</abbr></td></tr>
            <tr><th scope="row"><bdi>read-agent</bdi></th><td class="number" colspan="3"><span title="n = 5">76.2 ± 1.0 (Avg. Tokens: 86,000)</span></td></tr>
            <tr><th scope="row"><bdi>whole</bdi></th><td class="number missing" colspan="3"><bdi>limit exceeded</bdi></td></tr>
            </tbody>
            </table>
            </div>
        "#]].assert_eq(&table(&spanned(), |_| None));
    }
}
