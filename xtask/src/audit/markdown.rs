//! The findings as a page of the docs.

use super::finding::Finding;
use serde_json::Value;

/// The findings as Markdown: first what does not follow, then everything by paper.
pub(super) fn markdown(findings: &[Finding]) -> String {
    let disagree: Vec<&Finding> = findings.iter().filter(|finding| !finding.agrees).collect();
    let mut page = format!(
        "# Figures of the papers, recomputed\n\n`cargo xtask audit` recomputes the figures of the papers that follow from \
         the papers' own tables (`xtask/audit/`) and writes this page. Of {} entries, most of them with several figures, {} \
         follow within rounding and {} do not.\n\n",
        findings.len(),
        findings.len() - disagree.len(),
        disagree.len()
    );
    page.push_str("## Printed figures that do not follow\n\n");
    for finding in &disagree {
        page.push_str(&format!(
            "- **{}, {}**: {}. Printed {}, recomputed {} ({}).{}\n",
            escaped(&finding.paper),
            escaped(&finding.table),
            escaped(&finding.quantity),
            figures(&finding.printed),
            figures(&finding.recomputed),
            escaped(&finding.rule),
            if finding.note.is_empty() { String::new() } else { format!(" {}.", escaped(&sentence(&finding.note))) },
        ));
    }
    if disagree.is_empty() {
        page.push_str("None.\n");
    }
    let mut papers: Vec<&str> = Vec::new();
    for finding in findings {
        if !papers.contains(&finding.paper.as_str()) {
            papers.push(&finding.paper);
        }
    }
    for paper in papers {
        page.push_str(&format!("\n## {}\n\n", escaped(paper)));
        page.push_str(
            "| table | quantity | rule | printed | recomputed | follows |\n| --- | --- | --- | --- | --- | --- |\n",
        );
        for finding in findings.iter().filter(|finding| finding.paper == paper) {
            let follows = if finding.agrees { "yes" } else { "**no**" };
            page.push_str(&format!(
                "| {} | {} | {} | {} | {} | {follows} |\n",
                escaped(&finding.table),
                escaped(&finding.quantity),
                escaped(&finding.rule),
                figures(&finding.printed),
                figures(&finding.recomputed),
            ));
        }
    }
    page
}

/// All figures in a line, floats to at most four decimals.
fn figures(value: &Value) -> String {
    match value {
        Value::Array(elements) if elements.iter().any(Value::is_array) => {
            elements.iter().map(figures).collect::<Vec<_>>().join("; ")
        }
        Value::Array(elements) => elements.iter().map(figures).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let named = |(name, value): (&String, &Value)| format!("{}: {}", escaped(name), figures(value));
            fields.iter().map(named).collect::<Vec<_>>().join("; ")
        }
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.to_string(),
            (None, Some(float)) => {
                let text = format!("{float:.4}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            (None, None) => number.to_string(),
        },
        Value::Null => "-".to_owned(),
        other => escaped(&other.to_string()),
    }
}

/// Text that Markdown would take for more than text, made plain.
fn escaped(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' => plain.extend(['\\', c]),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            '\n' | '\r' => plain.push(' '),
            _ => plain.push(c),
        }
    }
    plain
}

/// With a capital.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_does_not_follow_stands_first_and_plain() {
        let finding = Finding {
            paper: "P".to_owned(),
            table: "Table 1".to_owned(),
            quantity: "a | b <script>".to_owned(),
            rule: "mean".to_owned(),
            printed: json!([1, 2.5]),
            recomputed: json!([1, 2.0 + 1.0 / 3.0]),
            agrees: false,
            note: "why".to_owned(),
        };
        let page = markdown(&[finding]);
        let line = "- **P, Table 1**: a \\| b &lt;script&gt;. Printed 1, 2.5, recomputed 1, 2.3333 (mean). Why.";
        assert!(page.contains(line), "{page}");
        assert!(page.contains("| Table 1 | a \\| b &lt;script&gt; | mean | 1, 2.5 | 1, 2.3333 | **no** |"));
    }
}
