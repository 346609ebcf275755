//! Names that are the same to people: macOS writes `é` as `e` with an accent behind it, Windows parts folders by `\`.

use closeread_text::composed;
use std::fs;
use std::path::{Path, PathBuf};

/// The file below `folder` that a relative path means, though its letters are composed otherwise or its folders are parted
/// by `\`.
pub(super) fn meant(folder: &Path, relative: &str) -> Option<PathBuf> {
    if Path::new(relative).is_absolute() {
        return None;
    }
    let mut there = folder.to_owned();
    for part in relative.split(['/', '\\']).filter(|part| !part.is_empty()) {
        let asked = there.join(part);
        there = if asked.exists() { asked } else { called(&there, part)? };
    }
    there.is_file().then_some(there)
}

fn called(folder: &Path, name: &str) -> Option<PathBuf> {
    let wanted = composed(name);
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut found = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| composed(name) == wanted));
    Some(found.next()?.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_the_name_that_people_see() {
        let folder = tempfile::tempdir().unwrap();
        let (apart, together) = ("cafe\u{301}", "caf\u{e9}");
        fs::create_dir(folder.path().join(apart)).unwrap();
        let file = folder.path().join(apart).join("\u{1100}\u{1161}.txt");
        fs::write(&file, "x").unwrap();
        for path in [format!("{together}/\u{ac00}.txt"), format!("{apart}\\\u{ac00}.txt")] {
            let found = meant(folder.path(), &path).unwrap();
            assert_eq!(fs::read_to_string(found).unwrap(), "x", "{path}");
        }
        let elsewhere = file.display().to_string();
        for path in ["cafe/\u{ac00}.txt", together, "", elsewhere.as_str()] {
            assert_eq!(meant(folder.path(), path), None, "{path}");
        }
    }
}
