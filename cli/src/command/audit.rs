//! `closeread audit`: the papers' figures, recomputed from the papers' tables.

use anyhow::{Context, Result};
use closeread_core::paper::audit::{self, Finding};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Recompute the papers' figures from their own tables, and show which printed ones do not follow.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// A paper_tables.json to recompute in place of closeread's own record of the papers' tables
    file: Option<PathBuf>,
    /// Print [{"id","paper","table","quantity","rule","printed","recomputed","agrees","note"}]
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a page, as docs/audit.md
    #[arg(long)]
    markdown: bool,
}

/// Prints the findings. What does not follow is a finding, not a failure: the exit code is 0.
pub(crate) fn run(args: &AuditArgs) -> Result<ExitCode> {
    let figures = match &args.file {
        None => audit::own()?,
        Some(path) => {
            let json = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            audit::figures(&json).with_context(|| path.display().to_string())?
        }
    };
    let findings = audit::audit(&figures);
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&findings)?)?;
    } else if args.markdown {
        write!(out, "{}", audit::markdown(&findings))?;
    } else {
        write!(out, "{}", text(&findings))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One line a figure that does not follow, then the counts.
fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    let mut not_following = 0;
    for finding in findings.iter().filter(|finding| finding.agrees == Some(false)) {
        not_following += 1;
        text.push_str(&format!("{}, {}: {}\n", finding.paper, finding.table, finding.quantity));
        text.push_str(&format!("    printed    {}\n    recomputed {}\n", finding.printed, finding.recomputed));
        if !finding.note.is_empty() {
            text.push_str(&format!("    {}\n", finding.note));
        }
    }
    for finding in findings {
        if let Some(problem) = &finding.problem {
            text.push_str(&format!("{}, {}: not recomputed: {problem}\n", finding.id, finding.table));
        }
    }
    let open = findings.iter().filter(|finding| finding.agrees.is_none()).count();
    let follow = findings.len() - not_following - open;
    text.push_str(&format!("{follow} follow, {not_following} do not"));
    text.push_str(&if open > 0 { format!(", {open} could not be recomputed\n") } else { "\n".to_owned() });
    text
}
