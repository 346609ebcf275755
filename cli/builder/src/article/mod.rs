//! The articles about books: files beside each other, or pages of a wiki.

mod segments;
mod wikitext;

use super::search::encoded;
use anyhow::{Context, Result, bail};
use closeread_books::{Book, decode};
use closeread_build::sagascale::Segment;
use closeread_files::{leads_outside, write_atomically};
use closeread_llm::provider::MAX_RESPONSE_BYTES;
use closeread_providers::http::json_within;
use closeread_providers::without_credentials;
use closeread_runner::input::outside;
use segments::{ArticleKind, segments};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Endings of articles in a folder.
const ENDINGS: [&str; 8] = ["wiki", "wikitext", "mediawiki", "html", "htm", "xhtml", "md", "txt"];

/// The sources of articles.
#[derive(Debug, Clone, Default)]
pub struct Articles {
    /// Folder with an article for each book, named like the book, with .wiki, .html, .md or .txt.
    pub folder: Option<PathBuf>,
    /// Whether links may lead out of the folder.
    pub allow_outside: bool,
    /// Articles of single books, `BOOK=FILE`.
    pub files: Vec<String>,
    /// Pages about single books, fetched from a wiki into the build folder, `BOOK=TITLE`.
    pub pages: Vec<String>,
    /// Address of the wiki's `api.php`; `None`: the Wikipedia of the book's language.
    pub wiki: Option<String>,
}

impl Articles {
    /// The sections of each book's article; pages that are fetched are kept in the folder `out`.
    pub async fn read(&self, books: &[Arc<Book>], out: &Path) -> Result<Vec<Vec<Segment>>> {
        let files = named(&self.files, "--article BOOK=FILE", books)?;
        let pages = named(&self.pages, "--page BOOK=TITLE", books)?;
        let (mut articles, mut taken) = (Vec::new(), BTreeMap::new());
        for book in books {
            let path = match (files.get(book.id.as_str()), pages.get(book.id.as_str())) {
                (Some(path), _) => PathBuf::from(path),
                (None, Some(title)) => self.fetched(book, title, out).await?,
                (None, None) => {
                    let path = self.beside(book)?;
                    if let Some(other) = taken.insert(path.clone(), &book.id) {
                        bail!(
                            "the article {} is named like the books `{other}` and `{}`: name one for each by --article",
                            path.display(),
                            book.id
                        );
                    }
                    path
                }
            };
            let bytes = closeread_files::read_file(&path)
                .with_context(|| format!("cannot read the article {}", path.display()))?;
            let text = decode(&bytes, None).with_context(|| format!("the article {}", path.display()))?.text;
            let found = segments(&text, ArticleKind::of_name(&path.to_string_lossy()))
                .with_context(|| format!("the article {}", path.display()))?;
            if found.is_empty() {
                bail!("the article {} has no text: expected sections about `{}`", path.display(), book.id);
            }
            articles.push(found);
        }
        Ok(articles)
    }

    fn beside(&self, book: &Book) -> Result<PathBuf> {
        let name = book.id.rsplit('/').next().unwrap_or(&book.id);
        let found_as = |name: &str| -> Vec<PathBuf> {
            let paths = self.folder.iter().flat_map(|folder| {
                ENDINGS.iter().map(move |ending| folder.join(format!("{name}.{ending}"))).filter(|path| path.is_file())
            });
            paths.collect()
        };
        // In a folder like that of the book, or else in the one that was named.
        let found = Some(found_as(&book.id)).filter(|found| !found.is_empty()).unwrap_or_else(|| found_as(name));
        match found.as_slice() {
            [one] => match self.folder.as_deref().filter(|root| !self.allow_outside && leads_outside(root, one)) {
                Some(root) => bail!("{}: {}", one.display(), outside(root)),
                None => Ok(one.clone()),
            },
            [] => bail!(
                "no article about `{}`: name a file by --article {}=FILE, a page by --page, or put {name}.wiki (.html, \
                 .md, .txt) into the folder of --articles",
                book.id,
                book.id
            ),
            [first, second, ..] => bail!(
                "two articles about `{}`, {} and {}: name one by --article",
                book.id,
                first.display(),
                second.display()
            ),
        }
    }

    /// The page's wikitext, fetched once from each wiki. Redirects are followed.
    async fn fetched(&self, book: &Book, title: &str, out: &Path) -> Result<PathBuf> {
        let api =
            self.wiki.clone().unwrap_or_else(|| format!("https://{}.wikipedia.org/w/api.php", book.language.code()));
        // A wiki's address may hold a password; nothing that is kept or said does.
        let wiki = without_credentials(&api);
        let folder = out.join("articles");
        let name = closeread_text::hash::name_hash(&format!("{}\n{title}\n{wiki}", book.id));
        let path = folder.join(format!("{name}.wiki"));
        if path.is_file() {
            return Ok(path);
        }
        let url =
            format!("{api}?action=parse&prop=wikitext&redirects=1&format=json&formatversion=2&page={}", encoded(title));
        let client = closeread_providers::http::client()
            .timeout(Duration::from_secs(60))
            .user_agent(concat!("closeread/", env!("CARGO_PKG_VERSION")))
            .build()
            .context("cannot set up HTTP")?;
        let told = || format!("cannot fetch the page `{title}` from {wiki}; give the article as a file by --article");
        let response = client.get(&url).send().await.and_then(reqwest::Response::error_for_status);
        let response = response.map_err(reqwest::Error::without_url).with_context(told)?;
        let response = json_within(response, MAX_RESPONSE_BYTES).await;
        let response = response
            .context("what it sent cannot be read: expected the address of a wiki's api.php")
            .with_context(told)?;
        let text = response.pointer("/parse/wikitext").and_then(Value::as_str);
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            let why =
                response.pointer("/error/info").and_then(Value::as_str).unwrap_or("its response holds no wikitext");
            bail!("{}: {why}", told());
        };
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        write_atomically(&path, text.as_bytes())?;
        Ok(path)
    }
}

/// Reads options `BOOK=VALUE`; returns the values by book.
fn named<'a>(given: &'a [String], form: &str, books: &[Arc<Book>]) -> Result<BTreeMap<&'a str, &'a str>> {
    let mut values = BTreeMap::new();
    for text in given {
        let (id, value) = text.split_once('=').with_context(|| format!("`{text}`: expected {form}"))?;
        if !books.iter().any(|book| book.id == id) {
            let known: Vec<&str> = books.iter().map(|book| book.id.as_str()).collect();
            bail!("`{text}`: there is no book `{id}`; the books are {}", known.join(", "));
        }
        if let Some(other) = values.insert(id, value).filter(|other| *other != value) {
            bail!("two articles about `{id}`, {other} and {value}: name one ({form})");
        }
    }
    Ok(values)
}
