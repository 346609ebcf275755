//! FRAMES: open questions that need several Wikipedia articles, whose texts are not published with them.

use super::source::collect::{Collector, base_name, by_name, has_extension, stem};
use super::source::decoded::text_of;
use super::source::literal;
use super::source::table::{Record, records};
use super::{Adapter, Dataset, Texts};
use closeread_books::html;
use closeread_eval::rows::{WrongRow, scalars};
use closeread_eval::{InputFile, Item, Task};
use std::collections::HashMap;

/// Reads the questions, and the articles where somebody fetched them.
pub const ADAPTER: Adapter = Adapter {
    name: "frames",
    source: "Krishna et al. 2024, Fact, Fetch, and Reason; huggingface.co/datasets/google/frames-benchmark",
    wants: "test.tsv, and for all methods but closed-book a folder with the articles, called as in their links, with .txt, .md or .html",
    texts: Texts::Fields,
    task: Some(Task::Generative),
    labels: &[],
    in_parts: false,
    read,
};

/// Reads one document an article that questions link to; one open question a row about all of its articles, in the
/// order of the links.
///
/// The article of `.../wiki/Ada_Lovelace` is `Ada_Lovelace.txt` (or `.md`, `.html`) in any folder, a slash in a name
/// written as `_`. Where no article is among the files, each document says only its article's name, which is noted: that
/// serves closed-book and nothing else. Where some are, a question whose articles are not all there is left out and named.
/// Label `reasoning`: the types of reasoning as published, in one text. Item ids are the number of the row, from 1.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    let is_article = |file: &&InputFile| has_extension(file, &["txt", "md", "html", "htm"]);
    let mut articles = by_name(files.iter().filter(is_article), |file| folded(stem(file)));
    let tables: Vec<&InputFile> = files.iter().filter(|file| has_extension(file, &["tsv"])).collect();
    if tables.is_empty() {
        out.missing(ADAPTER.name, format!("no .tsv file: expected {}", ADAPTER.wants));
    }
    for file in tables {
        let mut has_some = false;
        let mut rows = Vec::new();
        for row in records(file, &["prompt", "answer", "wiki_links"], out.problems()) {
            let id = row.number.to_string();
            match links(&row) {
                Ok(names) => {
                    for name in &names {
                        has_some |= articles.get_mut(&folded(name)).is_some_and(|files| out.first(files).is_some());
                    }
                    rows.push((id, row, names));
                }
                Err(why) => out.dropped(file, Some(row.line), Some(&id), why),
            }
        }
        if !has_some && !rows.is_empty() {
            let message = "no article is among the files: only closed-book has what it needs; the other methods need a folder \
                           with the articles, called as in `wiki_links`";
            out.note(file, None, None, message);
        }
        for (id, row, names) in rows {
            match item(&mut out, &id, &row, &names, has_some.then_some(&articles)) {
                Ok(item) => out.item(file, Some(row.line), item),
                Err(why) => out.dropped(file, Some(row.line), Some(&id), why),
            }
        }
    }
    out.finish()
}

fn item(
    out: &mut Collector,
    id: &str,
    row: &Record,
    names: &[String],
    articles: Option<&HashMap<String, Vec<&InputFile>>>,
) -> Result<Item, WrongRow> {
    let (question, answer) = (row.text("prompt"), row.text("answer"));
    if question.is_empty() || answer.is_empty() {
        return Err("no question or no answer: expected text in the columns `Prompt` and `Answer`".into());
    }
    let mut texts = Vec::new();
    for name in names {
        let text = match articles {
            None => name.clone(),
            Some(articles) => {
                let file = articles.get(&folded(name)).and_then(|files| files.first());
                let file =
                    file.ok_or_else(|| format!("no text of the article `{name}`: expected {}.txt", file_name(name)))?;
                article_text(file, out)?
            }
        };
        texts.push((name, text));
    }
    let ids = texts.into_iter().map(|(name, text)| out.document(&file_name(name), name, "en", text));
    let ids: Vec<String> = ids.collect();
    let mut item = Item::new(id, "", question, Task::Generative).label("reasoning", row.text("reasoning_types"));
    item.documents = ids;
    item.answers = vec![answer.to_owned()];
    Ok(item)
}

/// The names of the articles that a row links to, each once.
fn links(row: &Record) -> Result<Vec<String>, WrongRow> {
    let wrong = |why: String| format!("`wiki_links`: {why}: expected a list of links to articles");
    let links = scalars(&literal::parse(row.text("wiki_links")).map_err(|error| wrong(error.to_string()))?);
    let mut names: Vec<String> = Vec::new();
    for link in links {
        let name = link.split_once("/wiki/").map(|(_, name)| name.split(['#', '?']).next().unwrap_or_default());
        let name =
            name.filter(|name| !name.is_empty()).ok_or_else(|| wrong(format!("`{link}` leads to no article")))?;
        let name = percent_decoded(name).replace('_', " ");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { Err(wrong("it is empty".into()).into()) } else { Ok(names) }
}

fn article_text(file: &InputFile, out: &mut Collector) -> Result<String, WrongRow> {
    let text = text_of(file, out).map_err(|error| format!("{}: {error}", base_name(file)))?;
    let text = if has_extension(file, &["html", "htm"]) { html::without_markup(&text) } else { text };
    if text.trim().is_empty() { Err(format!("{} has no text", base_name(file)).into()) } else { Ok(text) }
}

/// Returns the name of an article's file, without its extension.
fn file_name(article: &str) -> String {
    article.replace([' ', '/'], "_")
}

/// The name of an article or of its file, whatever their case and blanks.
fn folded(name: &str) -> String {
    name.replace(['_', '/'], " ").trim().to_lowercase()
}

/// Decodes percent escapes: `%C3%A9` is `é`; what is no escape stays.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, text};
    use super::*;

    const HEAD: &str = "\tPrompt\tAnswer\twikipedia_link_1\treasoning_types\twiki_links\n";

    fn table(rows: &[&str]) -> InputFile {
        file("test.tsv", &(HEAD.to_owned() + &rows.join("\n")))
    }

    fn questions() -> InputFile {
        table(&[
            "0\tWho was born first, Ada or Bo?\tAda\tx\tTemporal reasoning | Tabular reasoning\t['https://en.wikipedia.org/wiki/Ada_Mill', 'https://en.wikipedia.org/wiki/Bo_Caf%C3%A9#Life']",
            "1\tWhere is Ada from?\tScarrow\tx\tMultiple constraints\t['https://en.wikipedia.org/wiki/Ada_Mill']",
        ])
    }

    #[test]
    fn questions_are_about_all_of_their_articles() {
        let files = [
            questions(),
            file("articles/Ada_Mill.txt", "Ada was born\tin 1901."),
            file("articles/Bo_Café.html", "<html><body><p>Bo was born in 1907.</p></body></html>"),
        ];
        let dataset = read(&files);
        check(&dataset, 2, &[]);
        assert_eq!(dataset.items[0].documents, ["Ada_Mill", "Bo_Café"]);
        assert_eq!(dataset.items[1].documents, ["Ada_Mill"]);
        assert_eq!((text(&dataset, 0), text(&dataset, 1).trim()), ("Ada was born\tin 1901.", "Bo was born in 1907."));
        assert_eq!(
            (dataset.items[0].id.as_str(), dataset.items[0].answers.as_slice()),
            ("1", ["Ada".to_owned()].as_slice())
        );
        assert_eq!(dataset.items[0].labels["reasoning"], "Temporal reasoning | Tabular reasoning");
    }

    #[test]
    fn of_two_articles_of_one_name_the_first_is_read_which_is_noted_once() {
        let files = [
            questions(),
            file("one/Ada_Mill.txt", "Ada was born in 1901."),
            file("two/Ada_Mill.txt", "Ada was born in 1902."),
            file("one/Bo_Café.txt", "Bo."),
            file("two/Bo_Café.txt", "Bo."),
        ];
        let dataset = read(&files);
        check(&dataset, 2, &["two/Ada_Mill.txt: not read: one/Ada_Mill.txt goes by the same name, and is read"]);
        assert_eq!(text(&dataset, 0), "Ada was born in 1901.");
    }

    #[test]
    fn without_articles_documents_say_their_names_which_is_noted() {
        let dataset = read(&[questions()]);
        assert_eq!((dataset.items.len(), text(&dataset, 1)), (2, "Bo Café"));
        let [note] = dataset.problems.iter().collect::<Vec<_>>()[..] else {
            panic!("one note: {:?}", dataset.problems)
        };
        assert!(note.to_string().contains("only closed-book"), "{note}");
    }

    #[test]
    fn what_cannot_be_asked_is_named() {
        let rows = table(&[
            "0\tWho?\tAda\tx\t\t['https://en.wikipedia.org/wiki/Ada_Mill', 'https://en.wikipedia.org/wiki/Bo']",
            "1\tWho?\t\tx\t\t['https://en.wikipedia.org/wiki/Ada_Mill']",
            "2\tWho?\tAda\tx\t\t['https://example.org/Ada']",
            "3\tWho?\tAda\tx\t\t[]",
        ]);
        check(
            &read(&[rows, file("Ada_Mill.txt", "Ada.")]),
            0,
            &[
                "test.tsv:4 (3): `wiki_links`: `https://example.org/Ada` leads to no article: expected a list of links to articles [left out]",
                "test.tsv:5 (4): `wiki_links`: it is empty: expected a list of links to articles [left out]",
                "test.tsv:2 (1): no text of the article `Bo`: expected Bo.txt [left out]",
                "test.tsv:3 (2): no question or no answer: expected text in the columns `Prompt` and `Answer` [left out]",
            ],
        );
    }

    #[test]
    fn a_record_that_cannot_be_read_keeps_its_number() {
        let rows = table(&[
            "0\tWho\tcame?\tAda\tx\t\t['https://en.wikipedia.org/wiki/Ada']",
            "1\tWho?\tAda\tx\t\t['https://en.wikipedia.org/wiki/Ada']",
        ]);
        let dataset = read(&[rows, file("Ada.txt", "Ada.")]);
        check(&dataset, 1, &["test.tsv:2: 7 fields: expected 6, as in the header [left out]"]);
        assert_eq!(dataset.items[0].id, "2");
    }
}
