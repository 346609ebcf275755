//! NoCha: pairs of one true and one false claim about a novel.

use super::source::collect::{Collector, base_name, has_extension, words};
use super::source::plain;
use super::source::rows::{Row, rows};
use super::{Adapter, Dataset, InputFile, Item, Task};
use std::collections::BTreeMap;

/// Reads the claims and the books, which are separate files.
pub const ADAPTER: Adapter = Adapter {
    name: "nocha",
    source: "Karpinska et al. 2024, One Thousand and One Pairs; github.com/marzenakrp/nocha",
    wants: "the claims as JSON (data_sample.json) and the books as .txt files or folders, each by its own --data",
    read,
};

/// The two options of every claim, in this order.
const OPTIONS: [&str; 2] = ["True", "False"];

/// How many characters of a book are searched for its title where no file name matches.
const N_TITLE_CHARS: usize = 3_000;

/// One document a book that has claims; one choice between True and False a claim.
///
/// A book's title, which in NoCha ends in the author's name, is matched to file names without case and punctuation;
/// where none matches, to the first 3,000 characters of the texts. Labels: `pair` (the two claims of a pair share
/// it), `book`. Item ids are `<pair>/<a or b>` in file order. A pair with one claim is noted: it cannot be scored as
/// a pair.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    let books: Vec<&InputFile> = files.iter().filter(|file| has_extension(file, &["txt"])).collect();
    for file in out.files_with(&ADAPTER, files, &["json", "jsonl"], "claim") {
        let mut by_book: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        let mut order = Vec::new();
        for row in rows(file) {
            let Some(row) = out.keep(row) else { continue };
            let Some(title) = row.text("book_title") else {
                out.dropped(file, Some(row.line), None, "no `book_title`: expected the name of the book");
                continue;
            };
            if !by_book.contains_key(&title) {
                order.push(title.clone());
            }
            by_book.entry(title).or_default().push(row);
        }
        for title in order {
            let claims = by_book.remove(&title).unwrap_or_default();
            add_book(&mut out, file, &title, &claims, &books);
        }
    }
    out.finish()
}

fn add_book(out: &mut Collector, file: &InputFile, title: &str, claims: &[Row], books: &[&InputFile]) {
    let text = match find_book(title, books) {
        Some(book) => match plain::decode(&book.bytes).filter(|text| !text.trim().is_empty()) {
            Some(text) => text,
            None => return out.dropped(book, None, Some(title), "no text in it: expected a book as plain text"),
        },
        None => {
            let message = format!(
                "no book `{title}` for {} claims: expected a .txt file with the title in its name, or on its first page",
                claims.len()
            );
            return out.dropped(file, claims.first().map(|row| row.line), Some(title), message);
        }
    };
    let document = out.document(title, &title.replace('_', " "), "en", text);
    let mut pairs: BTreeMap<String, usize> = BTreeMap::new();
    for row in claims {
        let Some(pair) = row.text("index") else {
            out.dropped(file, Some(row.line), None, "no `index`: expected the number of the pair");
            continue;
        };
        let n = pairs.entry(pair.clone()).or_default();
        *n += 1;
        let id = format!("{pair}/{}", char::from(b'a' + u8::try_from(*n - 1).unwrap_or(25).min(25)));
        let correct = match row.text("type").map(|gold| gold.to_lowercase()).as_deref() {
            Some("true") => 0,
            Some("false") => 1,
            _ => {
                out.dropped(file, Some(row.line), Some(&id), "`type`: expected true or false");
                continue;
            }
        };
        let Some(claim) = row.text("claim") else {
            out.dropped(file, Some(row.line), Some(&id), "no `claim`: expected text");
            continue;
        };
        let question = format!("Is this claim about the book true or false? {claim}");
        let mut item = Item::new(&id, &document, question, Task::Choice).label("pair", &pair).label("book", title);
        item.options = OPTIONS.map(str::to_owned).to_vec();
        item.correct = Some(correct);
        item.answers = vec![OPTIONS[correct].to_owned()];
        out.item(file, Some(row.line), item);
    }
    for (pair, n) in pairs.iter().filter(|(_, n)| **n != 2) {
        out.note(file, None, Some(title), format!("pair {pair} has {n} claims: expected two, one true and one false"));
    }
}

/// The book whose file name agrees with the most words of `title`, else whose first page holds the title.
fn find_book<'f>(title: &str, books: &[&'f InputFile]) -> Option<&'f InputFile> {
    let title = words(title);
    let agreement = |book: &&&InputFile| n_agreeing(&title, &file_words(book));
    let by_name = books.iter().filter(|book| agreement(book) > 0).max_by_key(agreement);
    by_name.or_else(|| books.iter().find(|book| stands_on_first_page(&title, book))).copied()
}

/// The words of a file name without extensions: `anne-of-green-gables.nocha.txt` gives four.
fn file_words(book: &InputFile) -> Vec<String> {
    words(base_name(book).split('.').next().unwrap_or_default())
}

/// How many words agree if one name begins with the other, articles aside; 0 if they differ. A title may have the
/// author behind it, and so may a file name.
fn n_agreeing(title: &[String], file: &[String]) -> usize {
    let is_article = |word: &&String| matches!(word.as_str(), "the" | "a" | "an");
    let title: Vec<&String> = title.iter().filter(|word| !is_article(word)).collect();
    let file: Vec<&String> = file.iter().filter(|word| !is_article(word)).collect();
    let n = title.len().min(file.len());
    // One word of many, `emma` of `emma_and_the_king`, is too little to go by.
    let is_enough = n > 1 || title.len().max(file.len()) <= 3;
    if is_enough && title[..n] == file[..n] { n } else { 0 }
}

/// True if the words of the title, at least the first half and two of them, stand in a row on the first page.
fn stands_on_first_page(title: &[String], book: &InputFile) -> bool {
    let Some(text) = plain::decode(&book.bytes) else { return false };
    let page: String = text.chars().take(N_TITLE_CHARS).collect();
    let page = words(&page);
    // The author's name follows the title here and stands elsewhere on the page.
    let n_min = title.len().div_ceil(2).max(2).min(title.len());
    (n_min..=title.len()).rev().any(|n| page.windows(n.max(1)).any(|window| window == &title[..n]))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file};
    use super::*;
    use serde_json::json;

    fn claim(book: &str, index: u32, gold: serde_json::Value) -> serde_json::Value {
        json!({"book_title": book, "claim": format!("Ana came, {gold}."), "type": gold, "index": index})
    }

    #[test]
    fn claims_are_choices_that_share_a_pair() {
        let claims = json!([claim("the_mill_jane_doe", 7, json!(true)), claim("the_mill_jane_doe", 7, json!("FALSE"))]);
        let dataset = read(&[file("claims.json", &claims.to_string()), file("books/The Mill.txt", "Ana came.")]);
        check(&dataset, 2, &[]);
        let ids: Vec<_> = dataset.items.iter().map(|item| (item.id.as_str(), item.correct)).collect();
        assert_eq!(ids, [("7/a", Some(0)), ("7/b", Some(1))]);
        assert_eq!(dataset.items[0].labels["pair"], dataset.items[1].labels["pair"]);
        assert_eq!(dataset.items[0].options, ["True", "False"]);
        assert_eq!(dataset.items[0].question, "Is this claim about the book true or false? Ana came, true.");
    }

    #[test]
    fn books_are_found_by_name_or_first_page() {
        let by = |title: &str, books: &[(&str, &str)]| {
            let books: Vec<InputFile> = books.iter().map(|(name, text)| file(name, text)).collect();
            find_book(title, &books.iter().collect::<Vec<_>>()).map(|book| book.name.clone())
        };
        let shelf = [
            ("x/the-adventures-of-sherlock-holmes.nocha.txt", ""),
            ("anne-of-green-gables.nocha.txt", ""),
            ("emma.txt", ""),
        ];
        let found = |title: &str| by(title, &shelf);
        assert_eq!(found("the_adventures_of_sherlock_holmes_arthur_conan_doyle").as_deref(), Some(shelf[0].0));
        assert_eq!(found("Anne of Green Gables").as_deref(), Some(shelf[1].0));
        assert_eq!(found("emma_jane_austen").as_deref(), Some("emma.txt"));
        assert_eq!(found("anne_of_the_island_lm_montgomery"), None);
        assert_eq!(found("the_return_of_sherlock_holmes"), None);
        let numbered =
            [("1342-0.txt", "\u{feff}Title: Pride and\nPrejudice\nAuthor: Jane Austen"), ("emma.txt", "EMMA")];
        assert_eq!(by("pride_and_prejudice_jane_austen", &numbered).as_deref(), Some("1342-0.txt"));
        // The longer of two names that both fit.
        let two = [("anne.txt", ""), ("anne-of-green-gables.txt", "")];
        assert_eq!(by("anne_of_green_gables_lm_montgomery", &two).as_deref(), Some("anne-of-green-gables.txt"));
    }

    #[test]
    fn wrong_rows_and_missing_books_are_named() {
        let claims = json!([
            claim("the_mill", 1, json!(true)), claim("the_mill", 2, json!(null)), {"claim": "x"},
            claim("the_crow_jd", 3, json!(true)), claim("the_crow_jd", 3, json!(false)),
            {"book_title": "the_mill", "type": true, "claim": "x"}, {"book_title": "the_mill", "type": true, "index": 1},
        ]);
        let claims = serde_json::to_string(&claims).unwrap().replace("},{", "},\n{");
        check(
            &read(&[file("c.json", &claims), file("mill.txt", "Ana came.")]),
            1,
            &[
                "c.json:3: no `book_title`: expected the name of the book [left out]",
                "c.json:2 (2/a): `type`: expected true or false [left out]",
                "c.json:6: no `index`: expected the number of the pair [left out]",
                "c.json:7 (1/b): no `claim`: expected text [left out]",
                "c.json (the_mill): pair 2 has 1 claims: expected two, one true and one false",
                "c.json:4 (the_crow_jd): no book `the_crow_jd` for 2 claims: expected a .txt file with the title in its name, or on its first page [left out]",
            ],
        );
    }
}
