//! A paper's data in closeread's own format: for papers whose published layout is not known, and for data made here.

use super::source::collect::base_name;
use super::source::decoded::decoded;
use super::{Adapter, Dataset, jsonl};
use closeread_eval::rows::{rows, scalar};
use closeread_eval::{Content, InputFile, Problem};
use closeread_text::composed;
use std::collections::HashMap;

/// Reads `documents.jsonl` and `items.jsonl`, with the texts that lie in files among `files`.
///
/// A text is looked for beside the `documents.jsonl` that names it, by the path that its row gives, else by its file name
/// alone. One that is not there, or is no text, leaves its document and the items on it out, named once.
pub(super) fn read(adapter: &Adapter, files: &[InputFile]) -> Dataset {
    let mut dataset = jsonl::read(files);
    let by_path: HashMap<&str, &InputFile> = files.iter().map(|file| (file.name.as_str(), file)).collect();
    let mut by_name: HashMap<&str, Vec<&InputFile>> = HashMap::new();
    files.iter().for_each(|file| by_name.entry(base_name(file)).or_default().push(file));
    let folder_of = folders(files);
    let find = |id: &str, path: &str| {
        let folder = folder_of(id);
        let path = composed(path);
        let name = path.rsplit('/').next().unwrap_or(&path);
        match (by_path.get(format!("{folder}{path}").as_str()), by_name.get(name).map(Vec::as_slice)) {
            (Some(file), _) | (None, Some([file])) => Ok(*file),
            (None, None) => Err("it is not among the files: name its folder, too".to_owned()),
            (None, Some(files)) => {
                Err(format!("{} files are called so, and none lies beside its documents.jsonl", files.len()))
            }
        }
    };
    let Dataset { documents, items, problems } = &mut dataset;
    documents.retain_mut(|document| {
        let Content::Path(path) = &document.content else { return true };
        match find(&document.id, path).and_then(|file| decoded(file).map_err(|error| error.to_string())) {
            Ok((text, notes)) => {
                notes.into_iter().for_each(|note| problems.push(note));
                document.content = Content::Text(text);
                true
            }
            Err(why) => {
                let n = items.iter().filter(|item| item.documents.contains(&document.id)).count();
                items.retain(|item| !item.documents.contains(&document.id));
                let message = format!("no text for {n} items: {why}");
                problems.push(Problem::dropped(path, None, Some(&document.id), message));
                false
            }
        }
    });
    adapter.check(&mut dataset);
    dataset
}

/// The folder of the file that names a document first, by the document's id; of a single file every document's is the same.
fn folders<'a>(files: &'a [InputFile]) -> impl Fn(&str) -> &'a str {
    let listings: Vec<_> =
        files.iter().filter_map(|file| Some((file, file.name.strip_suffix("documents.jsonl")?))).collect();
    let only = if let [(_, folder)] = listings[..] { Some(folder) } else { None };
    let mut folders = HashMap::new();
    for (file, folder) in listings.into_iter().filter(|_| only.is_none()) {
        for id in rows(file).flatten().filter_map(|row| scalar(row.fields.get("id")?)) {
            folders.entry(id).or_insert(folder);
        }
    }
    move |id| only.or_else(|| folders.get(id).copied()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::adapter::check_labels;
    use super::super::testing::{check, file, text};
    use super::*;
    use crate::LabelValues;
    use closeread_eval::Item;
    use serde_json::json;

    const PLAIN: Adapter = Adapter { task: None, labels: &[], ..super::super::sagascale::ADAPTER };

    fn document(id: &str, path: &str) -> String {
        json!({"id": id, "language": "en", "path": path}).to_string()
    }

    fn item(id: &str, document: &str) -> String {
        json!({"id": id, "documents": [document], "question": "Who?", "task": "generative", "answers": ["Ana"]})
            .to_string()
    }

    #[test]
    fn texts_are_found_beside_their_rows_or_by_name() {
        let documents = [document("a", "texts/a.txt"), document("b", "b.txt")].join("\n");
        let items = [item("1", "a"), item("2", "b")].join("\n");
        let files = [
            file("x/documents.jsonl", &documents),
            file("x/items.jsonl", &items),
            file("x/texts/a.txt", "Ana came."),
            file("b.txt", "Bo slept."),
        ];
        let dataset = read(&PLAIN, &files);
        check(&dataset, 2, &[]);
        assert_eq!((text(&dataset, 0), text(&dataset, 1)), ("Ana came.", "Bo slept."));
    }

    #[test]
    fn folders_with_texts_of_one_name_keep_their_own() {
        let files = [
            file("x/documents.jsonl", &document("a", "texts/1.txt")),
            file("x/items.jsonl", &item("1", "a")),
            file("x/texts/1.txt", "Ana came."),
            file("y/documents.jsonl", &[document("b", "texts/1.txt"), document("c", "1.txt")].join("\n")),
            file("y/items.jsonl", &[item("2", "b"), item("3", "c")].join("\n")),
            file("y/texts/1.txt", "Bo slept."),
        ];
        let dataset = read(&PLAIN, &files);
        let why = "2 files are called so, and none lies beside its documents.jsonl";
        check(&dataset, 2, &[&format!("1.txt (c): no text for 1 items: {why} [left out]")]);
        assert_eq!((text(&dataset, 0), text(&dataset, 1)), ("Ana came.", "Bo slept."));
    }

    #[test]
    fn a_text_that_is_not_there_costs_its_items_alone() {
        let documents = [document("a", "a.txt"), document("b", "b.txt")].join("\n");
        let items = [item("1", "a"), item("2", "b"), item("3", "b")].join("\n");
        let files = [file("documents.jsonl", &documents), file("items.jsonl", &items), file("a.txt", "Ana came.")];
        check(
            &read(&PLAIN, &files),
            1,
            &["b.txt (b): no text for 2 items: it is not among the files: name its folder, too [left out]"],
        );
    }

    #[test]
    fn labels_that_no_table_knows_are_noted_once() {
        let labels = &[LabelValues { name: "kind", values: &["easy", "hard"] }];
        let adapter = Adapter { labels, ..PLAIN };
        let items: Vec<Item> = ["easy", "Hard", "odd", ""]
            .iter()
            .enumerate()
            .map(|(n, value)| {
                Item::new(n.to_string(), "d", "Who?", closeread_eval::Task::Generative).label("kind", value)
            })
            .collect();
        let notes: Vec<String> = check_labels(&adapter, &items).iter().map(ToString::to_string).collect();
        assert_eq!(
            notes,
            [
                "sagascale (2): 2 of 4 items stand in no row of the paper's table by `kind`: here it has `odd`, expected one of easy, hard"
            ]
        );
        assert_eq!(check_labels(&adapter, &items[..2]), []);
        let mut dataset = Dataset { items, ..Dataset::default() };
        adapter.check(&mut dataset);
        assert_eq!(dataset.items[1].labels["kind"], "hard");
        let note = "sagascale (1): the `kind` of 1 item differs in case: `Hard` is read as `hard`";
        assert_eq!(dataset.problems[0].to_string(), note);
    }
}
