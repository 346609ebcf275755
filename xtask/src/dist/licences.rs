//! The crates that a program is made of, and their licences.

use crate::process::{FULL, cargo, stdout_of};
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// An external crate.
pub(super) struct Other {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) licence: String,
    /// The texts of its licence files.
    texts: Vec<String>,
}

/// The external crates in the program and in the Python module, by name.
pub(super) fn others() -> Result<Vec<Other>> {
    let packages = ["tree", "--package", "closeread", "--package", "closeread-python", FULL];
    let tree = ["--edges", "normal", "--prefix", "none", "--format", "{p}", "--target", "all"];
    let tree = stdout_of(cargo().args(packages).args(tree))?;
    let used: Vec<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?.trim_start_matches('v')))
        })
        .collect();
    let metadata = stdout_of(cargo().args(["metadata", "--format-version", "1", "--all-features"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata gives JSON")?;
    let mut others = Vec::new();
    for package in metadata["packages"].as_array().context("cargo metadata lists packages")? {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        if package["source"].is_null() || !used.contains(&(name.as_str(), version.as_str())) {
            continue;
        }
        let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default()).parent().map(Path::to_owned);
        let texts = folder.map(|folder| texts(&folder)).transpose()?.unwrap_or_default();
        others.push(Other { name, version, licence: text("license"), texts });
    }
    others.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(others)
}

/// The licence files of a package.
fn texts(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_licence =
            ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"].iter().any(|word| name.starts_with(word));
        if is_licence && path.is_file() {
            texts.push(String::from_utf8_lossy(&fs::read(&path)?).into_owned());
        }
    }
    texts.sort();
    Ok(texts)
}

/// Lists every crate with its licence, then each text once with its crates.
pub(super) fn of_others() -> Result<String> {
    let others = others()?;
    let mut text = "closeread is made with these crates of others:\n\n".to_owned();
    let mut by_text: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for other in &others {
        text += &format!("{} {}: {}\n", other.name, other.version, other.licence);
        for licence in &other.texts {
            by_text.entry(licence.trim()).or_default().push(format!("{} {}", other.name, other.version));
        }
    }
    for (licence, of) in by_text {
        text += &format!("\n{}\n{}\n\n{licence}\n", "=".repeat(80), of.join(", "));
    }
    Ok(text)
}
