//! Marks a folder while `merge` joins parts into it. If `merge` is killed, the mark stays and `run` refuses the folder: it would
//! pay again for what the parts hold.

use super::{EXTENDED, MANIFEST, RunFolder, read_manifest};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::path::Path;

/// Field of the manifest that is there while parts are being joined.
const JOINING: &str = "joining";

impl RunFolder {
    /// Sets the mark, or takes it out.
    pub fn note_joining(&self, is_joining: bool) -> Result<()> {
        self.note(JOINING, if is_joining { json!(true) } else { Value::Null })
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
