//! NoCha: pairs of one true and one false claim about a novel.

use super::source::collect::{Collector, base_name, has_extension, words};
use super::source::decoded::text_of;
use super::{Adapter, Dataset, Texts};
use closeread_eval::rows::{Row, rows};
use closeread_eval::{InputFile, Item, Task};
use std::collections::BTreeMap;

/// Reads the claims and the books, which are separate files.
pub const ADAPTER: Adapter = Adapter {
    name: "nocha",
    source: "Karpinska et al. 2024, One Thousand and One Pairs; github.com/marzenakrp/nocha",
    wants: "the claims as JSON (data_sample.json) and the books as .txt files or folders, each named by itself",
    texts: Texts::Files,
    task: Some(Task::Choice),
    labels: &[],
    in_parts: false,
    read,
};

/// The two options of every claim, in this order.
const OPTIONS: [&str; 2] = ["True", "False"];

/// Number of bytes of a book that are searched for its title where no file name matches.
const N_FIRST_PAGE_BYTES: usize = 3_000;

/// Reads one document a book that has claims; one choice between True and False a claim.
///
/// A book's title, which in NoCha ends in the author's name, is matched to file names without case and punctuation;
/// where none matches, to the first 3,000 bytes of the texts. Labels: `pair` (the two claims of a pair share
/// it), `book`. Item ids are `<pair>/<a or b>` in file order. A pair with one claim is noted: it cannot be scored as
/// a pair.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    let books: Vec<&InputFile> = files.iter().filter(|file| has_extension(file, &["txt"])).collect();
    for file in out.files_with(ADAPTER.name, ADAPTER.wants, files, &["json", "jsonl"], "claim") {
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
        Some(book) => match text_of(book, out) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("no book for {} claims: {error}", claims.len());
                return out.dropped(book, None, Some(title), message);
            }
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

/// The book whose file name agrees best with `title`, else the one whose first page has most of it.
fn find_book<'f>(title: &str, books: &[&'f InputFile]) -> Option<&'f InputFile> {
    let title = words(title);
    best(books, |book| n_agreeing(&title, &file_words(book)))
        .or_else(|| best(books, |book| n_on_first_page(&title, book)))
}

/// Returns the first of the books with the highest agreement above 0.
fn best<'f>(books: &[&'f InputFile], agreement: impl Fn(&InputFile) -> usize) -> Option<&'f InputFile> {
    let scored = books.iter().rev().map(|book| (agreement(book), *book)).filter(|(n, _)| *n > 0);
    scored.max_by_key(|(n, _)| *n).map(|(_, book)| book)
}

/// The words of a file name without extensions: `anne-of-green-gables.nocha.txt` gives four.
fn file_words(book: &InputFile) -> Vec<String> {
    words(base_name(book).split('.').next().unwrap_or_default())
}

/// Returns how many letters agree between a title and a file name; 0 if they name different books.
///
/// They agree if one holds all words of the other, articles aside: either may have the author's name in front or
/// behind. The title's first word must be among them, since an author's name alone is no title. A file name without
/// gaps (`TheTimeMachine`) agrees if the title begins with it.
fn n_agreeing(title: &[String], file: &[String]) -> usize {
    let is_article = |word: &&String| matches!(word.as_str(), "the" | "a" | "an");
    let title_words: Vec<&String> = title.iter().filter(|word| !is_article(word)).collect();
    let file_words: Vec<&String> = file.iter().filter(|word| !is_article(word)).collect();
    let (short, long) = match title_words.len() < file_words.len() {
        true => (&title_words, &file_words),
        false => (&file_words, &title_words),
    };
    // One word of many, `emma` of `emma_and_the_king`, is too little to go by.
    let is_enough = short.len() > 1 || short.len() == 1 && long.len() <= 3;
    let has_first = title_words.first().is_some_and(|first| file_words.contains(first));
    if is_enough && has_first && short.iter().all(|word| long.contains(word)) {
        return short.iter().map(|word| word.len()).sum();
    }
    let (title, file) = (title.concat(), file.concat());
    if file.len() >= 8 && title.starts_with(&file) { file.len() } else { 0 }
}

/// Returns how many words from the beginning of the title stand in a row on the book's first page; 0 if fewer than half
/// of them, or only one of several. The author's name, which ends the title, stands elsewhere on the page.
fn n_on_first_page(title: &[String], book: &InputFile) -> usize {
    // Whatever the encoding, a title in Latin letters shows.
    let page = &book.bytes[..book.bytes.len().min(N_FIRST_PAGE_BYTES)];
    let page = words(&String::from_utf8_lossy(page));
    let n_min = title.len().div_ceil(2).max(2).min(title.len()).max(1);
    let is_there = |n: &usize| page.windows(*n).any(|window| window == &title[..*n]);
    (n_min..=title.len()).rev().find(is_there).unwrap_or(0)
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
        let authors =
            [("doyle-adventures-of-sherlock-holmes.txt", ""), ("TheMillOnTheFloss.txt", ""), ("jane-austen.txt", "")];
        assert_eq!(by("the_adventures_of_sherlock_holmes_arthur_conan_doyle", &authors).as_deref(), Some(authors[0].0));
        assert_eq!(by("the_mill_on_the_floss_george_eliot", &authors).as_deref(), Some(authors[1].0));
        assert_eq!(by("persuasion_jane_austen", &authors), None);
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
