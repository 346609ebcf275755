//! Marks a folder while `merge` joins parts into it. If `merge` is killed, the mark stays and `run` refuses the folder: it would
//! pay again for what the parts hold.

use super::{EXTENDED, MANIFEST, Opening, RunFolder, read_manifest};
use anyhow::{Result, bail};
use closeread_files::{pretty, write_atomically};
use serde_json::{Value, json};
use std::path::Path;

/// Field of the manifest that is there while parts are being joined.
const JOINING: &str = "joining";

impl RunFolder {
    /// Opens a folder to join parts in it. It bears the mark from its first moment.
    pub fn open_to_join(path: &Path, configuration: &Value, opening: Opening<'_>) -> Result<Self> {
        Self::open_with(path, configuration, None, opening, true)
    }

    /// Takes the mark out: all is there.
    pub fn note_joined(&self) -> Result<()> {
        self.note(JOINING, Value::Null)
    }

    /// Notes what has extended the parts, each change once.
    pub fn note_extended<'a>(&self, changes: impl Iterator<Item = &'a Value>) -> Result<()> {
        let mut history: Vec<&Value> = Vec::new();
        for change in changes {
            if !history.contains(&change) {
                history.push(change);
            }
        }
        self.note(EXTENDED, if history.is_empty() { Value::Null } else { json!(history) })
    }
}

/// Sets the mark in a manifest.
pub(super) fn mark(manifest: &mut Value) {
    manifest[JOINING] = json!(true);
}

/// Sets the mark in the manifest of a folder that is joined anew, before anything of it goes.
pub(super) fn mark_there(file: &Path) -> Result<()> {
    let Some(mut manifest) = read_manifest(file)? else { return Ok(()) };
    mark(&mut manifest);
    write_atomically(file, &pretty(&manifest))
}

/// Returns whether a `merge` into the folder was stopped.
pub fn is_half_joined(folder: &Path) -> bool {
    read_manifest(&folder.join(MANIFEST)).ok().flatten().is_some_and(|manifest| is_joining(&manifest))
}

fn is_joining(manifest: &Value) -> bool {
    manifest[JOINING] == true
}

/// Refuses to resume a run in a folder that bears the mark.
pub(super) fn refuse_half_joined(folder: &Path, manifest: &Value) -> Result<()> {
    if is_joining(manifest) {
        bail!(
            "{} holds a part of what `closeread merge` was to join when it was stopped: give that command again first",
            folder.display()
        );
    }
    Ok(())
}
