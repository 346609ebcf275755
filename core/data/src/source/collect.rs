//! Collecting a data set: a text that comes twice is stored once, every id is unique, every problem kept.

use crate::Dataset;
use closeread_eval::rows::Row;
use closeread_eval::{Content, Document, InputFile, Item, Problem, ProblemList};
use memchr::memmem;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// A [`Dataset`] in the making.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    dataset: Dataset,
    /// Id by the hash of the text: InfiniteBench repeats a whole book in every line.
    by_text: HashMap<[u8; 32], String>,
    document_ids: HashSet<String>,
    item_ids: HashSet<String>,
    /// The file of every item, by its id, its question and gold answer, and its documents.
    asked: HashMap<String, String>,
}

impl Collector {
    /// Adds a document unless its text is there already; returns the id under which it is.
    ///
    /// An `id` that belongs to another text gets a number behind it.
    pub(crate) fn document(&mut self, id: &str, title: &str, language: &str, text: String) -> String {
        let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        if let Some(id) = self.by_text.get(&hash) {
            return id.clone();
        }
        let id = unique(&mut self.document_ids, id);
        self.by_text.insert(hash, id.clone());
        self.dataset.documents.push(Document {
            id: id.clone(),
            title: title.to_owned(),
            language: Some(language.to_owned()),
            content: Content::Text(text),
            other: serde_json::Map::new(),
        });
        id
    }

    /// Adds an item; an id that is taken gets a number behind it, which is noted.
    ///
    /// What another file has already, on the same document or on another form of its text, is not taken again: sets are published
    /// with one text as a web page and plain.
    pub(crate) fn item(&mut self, file: &InputFile, line: Option<usize>, mut item: Item) {
        let documents: Vec<&str> = item.documents.iter().map(|id| without_number(id)).collect();
        let question = [item.id.as_str(), &item.gold_fingerprint(), &documents.join("\n")].join("\n");
        let first = self.asked.entry(question).or_insert_with(|| file.name.clone());
        if *first != file.name {
            let message = format!("not read again: {first} has the same question on the same document");
            return self.note(file, line, Some(&item.id), message);
        }
        let id = unique(&mut self.item_ids, &item.id);
        if id != item.id {
            self.note(file, line, Some(&item.id), format!("the id occurs again: this item is called `{id}`"));
            item.id = id;
        }
        self.dataset.items.push(item);
    }

    /// Notes a row that is left out.
    pub(crate) fn dropped(
        &mut self,
        file: &InputFile,
        line: Option<usize>,
        item: Option<&str>,
        message: impl Into<String>,
    ) {
        self.dataset.problems.push(Problem::dropped(&file.name, line, item, message));
    }

    /// Notes a row that is used all the same.
    pub(crate) fn note(
        &mut self,
        file: &InputFile,
        line: Option<usize>,
        item: Option<&str>,
        message: impl Into<String>,
    ) {
        self.dataset.problems.push(Problem::note(&file.name, line, item, message));
    }

    /// The first of files that go by one name; of the others, those with another content are noted, once.
    pub(crate) fn first<'f>(&mut self, files: &mut Vec<&'f InputFile>) -> Option<&'f InputFile> {
        let first = *files.first()?;
        for other in files.drain(1..).filter(|other| other.bytes != first.bytes) {
            self.note(other, None, None, format!("not read: {} goes by the same name, and is read", first.name));
        }
        Some(first)
    }

    /// Notes what is not about one file: `name` says what is missing.
    pub(crate) fn missing(&mut self, name: &str, message: impl Into<String>) {
        self.dataset.problems.push(Problem::dropped(name, None, None, message));
    }

    /// The files with one of `extensions` in which the field `field` occurs; a folder may hold other sets beside it.
    ///
    /// What is skipped is noted; if nothing is left, the note says what the adapter of that name wants. (Not the whole
    /// adapter: its function `read` would bring all that reads texts into the scorer for other pages.)
    pub(crate) fn files_with<'f>(
        &mut self,
        adapter: &str,
        wants: &str,
        files: impl IntoIterator<Item = &'f InputFile>,
        extensions: &[&str],
        field: &str,
    ) -> Vec<&'f InputFile> {
        let key = format!("\"{field}\"");
        let candidates = files.into_iter().filter(|file| has_extension(file, extensions));
        let (found, other): (Vec<&InputFile>, Vec<&InputFile>) =
            candidates.partition(|file| memmem::find(&file.bytes, key.as_bytes()).is_some());
        if found.is_empty() {
            let seen =
                if other.is_empty() { String::new() } else { format!(" ({} files have no `{field}`)", other.len()) };
            self.missing(adapter, format!("nothing to read{seen}: expected {wants}"));
        } else {
            for file in other {
                self.note(file, None, None, format!("not read: no row has a field `{field}`, so it is of another set"));
            }
        }
        found
    }

    /// The row, if it could be read; the problem is kept otherwise.
    pub(crate) fn keep(&mut self, row: Result<Row, Problem>) -> Option<Row> {
        row.map_err(|problem| self.dataset.problems.push(problem)).ok()
    }

    /// Returns the list where problems that others find belong.
    pub(crate) fn problems(&mut self) -> &mut ProblemList {
        &mut self.dataset.problems
    }

    /// Returns the data set that was collected.
    pub(crate) fn finish(self) -> Dataset {
        self.dataset
    }
}

/// An id without the number that [`unique`] put behind it.
fn without_number(id: &str) -> &str {
    id.rsplit_once('#').filter(|(_, number)| number.parse::<usize>().is_ok()).map_or(id, |(id, _)| id)
}

fn unique(taken: &mut HashSet<String>, id: &str) -> String {
    let mut name = id.to_owned();
    let mut n = 1;
    while !taken.insert(name.clone()) {
        n += 1;
        name = format!("{id}#{n}");
    }
    name
}

/// The files by the names that they go by.
pub(crate) fn by_name<'f, K: Eq + Hash>(
    files: impl Iterator<Item = &'f InputFile>,
    name: impl Fn(&'f InputFile) -> K,
) -> HashMap<K, Vec<&'f InputFile>> {
    let mut named: HashMap<K, Vec<&InputFile>> = HashMap::new();
    files.for_each(|file| named.entry(name(file)).or_default().push(file));
    named
}

/// The file's name without folders: `qa/val/x.csv` gives `x.csv`.
pub(crate) fn base_name(file: &InputFile) -> &str {
    file.name.rsplit('/').next().unwrap_or(&file.name)
}

/// The base name without its last extension.
pub(crate) fn stem(file: &InputFile) -> &str {
    let base = base_name(file);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem)
}

/// True if the name ends in `.` and one of `extensions`, which are lower-case.
pub(crate) fn has_extension(file: &InputFile, extensions: &[&str]) -> bool {
    let extension = base_name(file).rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    extension.is_some_and(|extension| extensions.contains(&extension.as_str()))
}

/// `zh` if Han characters are more than a tenth of a text's beginning, else `en`: English books quote a few at most.
pub(crate) fn language_of(text: &str) -> &'static str {
    let (mut n_han, mut n) = (0, 0);
    for c in text.chars().filter(|c| c.is_alphanumeric()).take(10_000) {
        n += 1;
        n_han += usize::from(matches!(c, '\u{3400}'..='\u{9fff}'));
    }
    if n_han * 10 > n { "zh" } else { "en" }
}

/// The words of a title or file name in lower case, without punctuation; an apostrophe parts no word.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .replace(['\'', '’'], "")
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Adds `text` unless it is empty or already there.
pub(crate) fn push_new(texts: &mut Vec<String>, text: &str) {
    let text = text.trim();
    if !text.is_empty() && !texts.iter().any(|known| known == text) {
        texts.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::Task;

    #[test]
    fn texts_are_stored_once_and_ids_stay_unique() {
        let mut out = Collector::default();
        let file = InputFile { name: "a/f.json".into(), bytes: vec![] };
        assert_eq!(out.document("d", "", "en", "x".into()), "d");
        assert_eq!(out.document("e", "", "en", "x".into()), "d");
        assert_eq!(out.document("d", "", "en", "y".into()), "d#2");
        out.item(&file, Some(1), Item::new("q", "d", "Who?", Task::Generative));
        out.item(&file, Some(2), Item::new("q", "d", "Who?", Task::Generative));
        let dataset = out.finish();
        assert_eq!(dataset.documents.len(), 2);
        assert_eq!(dataset.items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["q", "q#2"]);
        assert_eq!(dataset.problems[0].to_string(), "a/f.json:2 (q): the id occurs again: this item is called `q#2`");
    }

    #[test]
    fn a_question_that_two_files_have_on_two_forms_of_a_text_is_asked_once() {
        let mut out = Collector::default();
        for (file, id, text) in [("html", "d", "Ana. "), ("txt", "d", "Ana."), ("other", "e", "Bo.")] {
            let file = InputFile { name: file.into(), bytes: vec![] };
            let document = out.document(id, "", "en", text.into());
            out.item(&file, Some(1), Item::new("q", document, "Who?", Task::Generative));
        }
        let dataset = out.finish();
        let asked: Vec<_> = dataset.items.iter().map(|item| (item.id.as_str(), item.documents[0].as_str())).collect();
        assert_eq!(asked, [("q", "d"), ("q#2", "e")], "on another document it is another question");
        let problem = dataset.problems[0].to_string();
        assert_eq!(problem, "txt:1 (q): not read again: html has the same question on the same document");
    }

    #[test]
    fn names_fold_to_words() {
        assert_eq!(words("The Hound's  Tail, vol_2"), ["the", "hounds", "tail", "vol", "2"]);
        assert_eq!(words("José Luis"), ["josé", "luis"]);
        let file = InputFile { name: "a/b.nocha.TXT".into(), bytes: vec![] };
        assert_eq!((base_name(&file), stem(&file), has_extension(&file, &["txt"])), ("b.nocha.TXT", "b.nocha", true));
    }
}
