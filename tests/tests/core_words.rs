//! Messages in core name no option: the command line (`cli/src/hint.rs`) and the page add which option helps.
#![allow(clippy::disallowed_methods, reason = "a test reads the sources")]

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["tests", "examples", "target"].contains(&name.as_str()) {
            sources(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

/// Returns whether a line of code, not of comment, names an option such as `--name`.
fn names_an_option(line: &str) -> bool {
    let code = line.trim_start();
    let starts = |at: usize| {
        let before = code[..at].chars().next_back();
        let after = code[at + 2..].chars().next();
        before.is_some_and(|c| " `\"(".contains(c)) && after.is_some_and(|c| c.is_ascii_lowercase())
    };
    !code.starts_with("//") && code.match_indices("--").any(|(at, _)| starts(at))
}

#[test]
fn no_text_of_core_names_an_option_of_the_command_line() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in ["core", "prompts", "sample", "models", "gpu"] {
        sources(&root.join(folder), &mut files);
    }
    // The first writes the command that a competition's platform runs, the second tells it to who sends in predictions.
    const COMMANDS: [&str; 2] = ["core/export/src/codabench.rs", "core/report/src/site/submissions.rs"];
    files.retain(|file| !COMMANDS.iter().any(|known| file.ends_with(known)));
    assert!(files.len() > 100, "the sources are where they were");
    let mut named = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let lines = text.lines().zip(1..).filter(|(line, _)| names_an_option(line));
        named.extend(lines.map(|(line, n)| format!("{}:{n}: {}", file.display(), line.trim())));
    }
    assert!(named.is_empty(), "{}", named.join("\n"));
}

#[test]
fn an_option_is_told_from_a_dash() {
    assert!(names_an_option(r#"    "pass it by --data""#) && names_an_option(r#""(--seed)""#));
    assert!(!names_an_option("/// as --data says") && !names_an_option(r#""a -- b""#) && !names_an_option("<!--x-->"));
}
