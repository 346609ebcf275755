//! Writes the findings as pages of the documentation.

use super::finding::{Audit, Finding};
use serde_json::Value;

/// Heading of the audit's section in a paper's page.
const HEADING: &str = "## What does not follow from the paper's own tables";

/// Replaces the audit's section in a paper's page, or appends it.
pub(super) fn with_section(page: &str, audit: &Audit) -> String {
    let (before, rest) = page.split_once(HEADING).unwrap_or((page, ""));
    let after = rest.find("\n## ").map_or("", |at| &rest[at..]);
    format!("{}\n\n{}{after}", before.trim_end(), section(audit))
}

/// Writes the figures that do not follow, for the paper's page.
fn section(audit: &Audit) -> String {
    let mut text = format!(
        "{HEADING}\n\nWritten by `cargo xtask audit`. [The audit](../audit.md) also has the figures that do follow. Each figure is given \
         as printed, then as recomputed.\n\n"
    );
    for finding in audit.findings.iter().filter(|finding| !finding.agrees) {
        text.push_str(&format!(
            "- **{}**: {}. Printed {}, recomputed {} ({}).{}\n",
            escaped(&finding.table),
            escaped(&finding.quantity),
            figures(&finding.printed),
            figures(&finding.recomputed),
            escaped(&finding.rule),
            if finding.note.is_empty() { String::new() } else { format!(" {}.", escaped(&sentence(&finding.note))) },
        ));
    }
    for remark in &audit.remarks {
        text.push_str(&format!("- **{}** {}.\n", escaped(&remark.table), escaped(&remark.text)));
    }
    text
}

/// Writes the page of every figure of every paper.
pub(super) fn page(audits: &[Audit]) -> String {
    let all: Vec<&Finding> = audits.iter().flat_map(|audit| &audit.findings).collect();
    let agree = all.iter().filter(|finding| finding.agrees).count();
    let mut page = format!(
        "# Figures of the papers, recomputed\n\n`cargo xtask audit` recomputes the figures of the papers that follow from \
         the papers' own tables (`xtask/audit/`) and writes this page. Of {} entries, most with several figures, {agree} \
         follow within rounding and {} do not; each paper's page under [papers](papers/README.md) lists the latter. `off by` is the \
         greatest difference.\n",
        all.len(),
        all.len() - agree,
    );
    for Audit { paper, findings, .. } in audits {
        page.push_str(&format!("\n## {}\n\n", escaped(paper)));
        page.push_str(
            "| table | quantity | rule | printed | recomputed | off by | follows |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        );
        for finding in findings {
            let follows = if finding.agrees { "yes" } else { "**no**" };
            page.push_str(&format!(
                "| {} | {} | {} | {} | {} | {} | {follows} |\n",
                escaped(&finding.table),
                escaped(&finding.quantity),
                escaped(&finding.rule),
                figures(&finding.printed),
                figures(&finding.recomputed),
                decimal(finding.off_by()),
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
            (None, Some(float)) => decimal(float),
            (None, None) => number.to_string(),
        },
        Value::Null => "-".to_owned(),
        other => escaped(&other.to_string()),
    }
}

fn decimal(float: f64) -> String {
    let text = format!("{float:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Escapes Markdown's special characters.
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

/// Returns a text with a capital at its beginning.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::finding::Remark;
    use super::*;
    use serde_json::json;

    #[test]
    fn what_does_not_follow_stands_on_the_papers_page_and_plain() {
        let finding = Finding {
            table: "Table 1".to_owned(),
            quantity: "a | b <script>".to_owned(),
            rule: "mean".to_owned(),
            printed: json!([1, 2.5]),
            recomputed: json!([1, 2.0 + 1.0 / 3.0]),
            agrees: false,
            note: "why".to_owned(),
        };
        let remark = Remark { table: "Table 2".to_owned(), text: "says so".to_owned() };
        let audit = Audit { paper: "P".to_owned(), findings: vec![finding], remarks: vec![remark] };
        let line = "- **Table 1**: a \\| b &lt;script&gt;. Printed 1, 2.5, recomputed 1, 2.3333 (mean). Why.\n";
        assert!(section(&audit).contains(line), "{}", section(&audit));
        assert!(section(&audit).ends_with("- **Table 2** says so.\n"));
        let pages = [
            ("# P\n", ""),
            ("# P\n\n## What does not follow from the paper's own tables\n\nold\n\n## More\n", "\n## More\n"),
        ];
        for (page, after) in pages {
            assert_eq!(with_section(page, &audit), format!("# P\n\n{}{after}", section(&audit)));
        }
        let row = "| Table 1 | a \\| b &lt;script&gt; | mean | 1, 2.5 | 1, 2.3333 | 0.1667 | **no** |";
        assert!(page(&[audit]).contains(row));
    }
}
