//! Files of novels, by their names and lists.

use super::super::read::{Entry, entries};
use closeread_eval::InputFile;
use serde_json::Value;

/// The lists of an object that has nothing else, or `None`.
pub(super) fn lists(file: &InputFile) -> Option<Vec<(String, Vec<Value>)>> {
    let list = |entry: Entry| match entry.value {
        Value::Array(answers) => Some((entry.key, answers)),
        _ => None,
    };
    let lists: Vec<_> = entries(file).into_iter().flatten().map(list).collect::<Option<_>>()?;
    (!lists.is_empty()).then_some(lists)
}

/// Letters and digits alone, in lower case: `Mrs. Dalloway` and `mrsdalloway` are one title.
pub(super) fn fold(title: &str) -> String {
    title.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The file's name without folders.
pub(super) fn base_name(file: &InputFile) -> &str {
    file.name.rsplit('/').next().unwrap_or(&file.name)
}

/// The base name without its last extension.
pub(super) fn stem(file: &InputFile) -> &str {
    let base = base_name(file);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem)
}

/// True if the file is at `path`, or at `path` within another folder.
pub(super) fn lies_at(name: &str, path: &str) -> bool {
    name.strip_suffix(path).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}
