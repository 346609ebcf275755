//! Prompts of the user's own, over those that ship.

use anyhow::{Context, Result, bail};
use closeread_prompts::Prompts;
use std::path::Path;

/// Loads the prompts that ship, those of a folder in their places.
pub fn load(folder: Option<&Path>) -> Result<Prompts> {
    let mut prompts = Prompts::built_in();
    let Some(folder) = folder else { return Ok(prompts) };
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read --prompts {}", folder.display()))?;
    let mut n_replaced = 0;
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read --prompts {}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let text =
                closeread_files::read_text_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
            prompts.replace(&name, &text).with_context(|| format!("cannot use {}", path.display()))?;
            n_replaced += 1;
        }
    }
    if n_replaced == 0 {
        bail!("--prompts {} holds no prompt: expected files such as read-choice.md", folder.display());
    }
    Ok(prompts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_prompt_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("read-choice.txt"), "words").unwrap();
        let refused = load(Some(folder.path())).unwrap_err().to_string();
        assert!(refused.ends_with("holds no prompt: expected files such as read-choice.md"), "{refused}");
    }
}
