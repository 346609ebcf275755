//! Prompts of the user's own, over those that ship.

use anyhow::{Context, Result};
use closeread_prompts::Prompts;
use std::path::Path;

/// Loads the prompts that ship, those of a folder in their places.
pub fn load(folder: Option<&Path>) -> Result<Prompts> {
    let mut prompts = Prompts::built_in();
    let Some(folder) = folder else { return Ok(prompts) };
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read --prompts {}", folder.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read --prompts {}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let text =
                closeread_files::read_text_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
            prompts.replace(&name, &text).with_context(|| format!("cannot use {}", path.display()))?;
        }
    }
    Ok(prompts)
}
