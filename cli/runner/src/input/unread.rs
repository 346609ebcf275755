//! What is not read of a folder with books.

use std::path::Path;

/// True for the folder of a build: its texts are copies of books that were read before.
pub fn is_build(folder: &Path) -> bool {
    let manifest = closeread_files::read_text(&folder.join("build.json"));
    manifest.is_ok_and(|text| text.is_some_and(|text| text.contains("\"closeread\":")))
}

/// The reason why a file or folder is skipped.
pub(super) fn why(path: &Path) -> String {
    let why = match path.is_dir() {
        true => "a build of closeread, whose texts are those of its books",
        false => "in a folder only .txt, .md and .epub files are read",
    };
    why.to_owned()
}
