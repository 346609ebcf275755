//! Files of a run that cannot be written.

use std::path::Path;

/// What is said of a file of a run that cannot be written, and what to do; `there` is what a person may have moved.
pub(super) fn unwritten(file: &Path, there: &Path) -> String {
    let remedy = if there.exists() { "see to it that there is room" } else { "put the folder back" };
    format!(
        "cannot write {}; what was finished before is kept: {remedy}, and give the same command again",
        file.display()
    )
}
