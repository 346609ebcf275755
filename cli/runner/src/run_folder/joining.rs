//! A folder into which the parts of a run are being joined: what a kill leaves of that is no run to go on with, for whoever did
//! would pay again for what the parts hold.

use super::{MANIFEST, RunFolder, read_manifest};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::path::Path;

/// Name of the manifest's field that is there while parts are being joined.
const JOINING: &str = "joining";

impl RunFolder {
    /// Notes whether parts are being joined into the folder.
    pub fn note_joining(&self, is_joining: bool) -> Result<()> {
        self.note(JOINING, if is_joining { json!(true) } else { Value::Null })
    }
}

/// Returns whether parts were being joined into a folder when that was stopped.
pub fn is_half_joined(folder: &Path) -> bool {
    read_manifest(&folder.join(MANIFEST)).ok().flatten().is_some_and(|manifest| is_joining(&manifest))
}

fn is_joining(manifest: &Value) -> bool {
    manifest[JOINING] == true
}

/// Refuses to go on with a run of which not all parts are there.
pub(super) fn refuse_half_joined(folder: &Path, manifest: &Value) -> Result<()> {
    if is_joining(manifest) {
        bail!(
            "{} holds a part of what `closeread merge` was to join when it was stopped: give that command again first",
            folder.display()
        );
    }
    Ok(())
}
