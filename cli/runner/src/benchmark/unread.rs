//! Files that no data set is read from, and what to do about them.

use closeread_eval::Problem;
use std::path::{Path, PathBuf};

/// Endings of packed files.
const PACKED: [&str; 9] = ["7z", "bz2", "gz", "rar", "tar", "tgz", "xz", "zip", "zst"];

pub(super) fn is_parquet(path: &Path) -> bool {
    has_ending(path, &["parquet"])
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| endings.contains(&ending.as_str()))
}

/// Why nothing was read of the `--data` paths, if the Parquet files in them or a packed file tell it.
pub(super) fn why(parquet: &[(String, PathBuf)], data: &[PathBuf]) -> Option<Problem> {
    if let Some((name, path)) = parquet.first() {
        return Some(Problem::dropped(name, None, None, of_parquet(path)));
    }
    let packed = data.iter().find_map(|path| packed(path))?;
    let message = "packed files are not read: unpack it, and give --data what it holds";
    Some(Problem::dropped(&packed.display().to_string(), None, None, message))
}

/// What is said of Parquet files beside files that were read: each may be a part of the same set. One that was made JSON Lines of
/// stays unsaid.
pub(super) fn beside(parquet: &[(String, PathBuf)]) -> Option<Problem> {
    let has_twin = |path: &Path| ["jsonl", "json"].iter().any(|ending| path.with_extension(ending).is_file());
    let mut left = parquet.iter().filter(|(_, path)| !has_twin(path));
    let (name, path) = left.next()?;
    let message = match left.count() {
        0 => of_parquet(path),
        n_more => format!("this file and {n_more} more: {}", of_parquet(path)),
    };
    Some(Problem::note(name, None, None, message))
}

fn of_parquet(path: &Path) -> String {
    // A shell takes nothing between single quotation marks for a command.
    let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
    format!(
        "Parquet is not read: make JSON Lines of it, as by python3 -c \"import pandas, sys; \
         pandas.read_parquet(sys.argv[1]).to_json(sys.argv[2], orient='records', lines=True, force_ascii=False)\" {} {}",
        quoted(path),
        quoted(&path.with_extension("jsonl"))
    )
}

/// The path itself if it is a packed file, or the first one in the folder.
fn packed(path: &Path) -> Option<PathBuf> {
    if !path.is_dir() {
        return has_ending(path, &PACKED).then(|| path.to_owned());
    }
    let entries = std::fs::read_dir(path).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.is_file() && has_ending(path, &PACKED)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parquet_beside_files_that_were_read_is_told_but_for_what_was_converted() {
        let dir = tempfile::tempdir().unwrap();
        let parquet = |name: &str| (name.to_owned(), dir.path().join(name));
        std::fs::write(dir.path().join("a.jsonl"), "{}").unwrap();
        assert_eq!(beside(&[parquet("a.parquet")]), None);
        let told = beside(&[parquet("a.parquet"), parquet("b.parquet")]).unwrap().to_string();
        assert!(told.starts_with("b.parquet: Parquet is not read: make JSON Lines of it"), "{told}");
        let told = beside(&[parquet("b.parquet"), parquet("c.parquet"), parquet("d.parquet")]).unwrap().to_string();
        assert!(told.starts_with("b.parquet: this file and 2 more: Parquet is not read"), "{told}");
    }
}
