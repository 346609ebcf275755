//! Searching the world: a folder of texts, a wiki, or any search engine that answers in JSON.

use anyhow::{Context, Result, bail};
use closeread_books::chunk::Chunker;
use closeread_books::html::{Layout, to_text};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
use closeread_build::sagascale::{Found, SearchHost};
use closeread_eval::rows::kind;
use closeread_llm::HostError;
use closeread_llm::provider::MAX_RESPONSE_BYTES;
use closeread_providers::http::json_within;
use closeread_providers::{sent, without_credentials};
use closeread_retrieve::{PassageIndex, Retriever};
use closeread_runner::input::{InputOptions, ProblemKind, read_books};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Results that are handed over.
const RESULTS: usize = 5;
/// The environment variable that holds the key of a search engine.
const KEY: &str = "CLOSEREAD_SEARCH_KEY";
/// Fields of a result that hold its text, the first that is there.
const TEXTS: [&str; 5] = ["snippet", "content", "description", "text", "body"];

/// An open search: in a folder or by an engine.
pub enum Search {
    /// Passages of the texts in a folder.
    Folder(Box<PassageIndex>),
    /// A search engine.
    Engine(Engine),
}

/// A search engine that answers GET requests in JSON.
pub struct Engine {
    client: reqwest::Client,
    /// Address of the engine, with `{query}` where the query goes.
    url: String,
    /// Name and value of the header that holds the key.
    header: Option<(String, String)>,
    /// JSON pointer to the number of results.
    hits: String,
    /// JSON pointer to the list of results.
    results: String,
}

/// The options that say where the filters search.
#[derive(Clone)]
pub struct SearchOptions {
    /// A folder of texts, the `api.php` of a wiki, or the address of a search engine with `{query}` in it.
    pub place: String,
    /// Whether links may lead out of the folder.
    pub allow_outside: bool,
    /// JSON pointer to the number of results in a response of the engine.
    pub hits: String,
    /// JSON pointer to the list of results.
    pub results: String,
    /// Header that carries the engine's key, which is read from the environment variable `CLOSEREAD_SEARCH_KEY`.
    pub header: Option<String>,
}

impl SearchOptions {
    /// Returns the name of the search in the manifest.
    pub fn name(&self) -> String {
        if is_url(&self.place) { without_credentials(&self.place) } else { self.place.clone() }
    }

    /// Opens the search.
    pub fn open(&self, tokenizer: &Tokenizer) -> Result<Search> {
        let search = self.place.as_str();
        if !is_url(search) {
            return Ok(Search::Folder(Box::new(passage_index(Path::new(search), tokenizer, self.allow_outside)?)));
        }
        let client = closeread_providers::http::client()
            .timeout(Duration::from_secs(60))
            .user_agent(concat!("closeread/", env!("CARGO_PKG_VERSION")));
        let client = match &self.header {
            // The key goes to the address that was given, and to none that it points to.
            Some(_) => client.redirect(reqwest::redirect::Policy::none()),
            None => client,
        };
        let client = client.build().context("cannot set up HTTP")?;
        let header = match &self.header {
            None => None,
            Some(name) => {
                let key = std::env::var(KEY).ok().filter(|key| !key.is_empty());
                Some((name.clone(), key.with_context(|| format!("--search-header needs the key in {KEY}"))?))
            }
        };
        let engine = if search.ends_with("api.php") {
            Engine {
                client,
                url: format!("{search}?action=query&list=search&format=json&formatversion=2&srsearch={{query}}"),
                header,
                hits: "/query/searchinfo/totalhits".to_owned(),
                results: "/query/search".to_owned(),
            }
        } else if search.contains("{query}") {
            let (hits, results) = (self.hits.clone(), self.results.clone());
            Engine { client, url: search.to_owned(), header, hits, results }
        } else {
            bail!(
                "--search {}: expected a folder, the api.php of a wiki, or an address with {{query}} in it",
                self.name()
            );
        };
        Ok(Search::Engine(engine))
    }
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

fn passage_index(folder: &Path, tokenizer: &Tokenizer, allow_outside: bool) -> Result<PassageIndex> {
    let (books, problems) = read_books(folder, &InputOptions { allow_outside, ..InputOptions::default() });
    if let Some(problem) = problems.iter().find(|problem| problem.kind == ProblemKind::Failed) {
        bail!("--search: {problem}");
    }
    let books = books.into_iter().map(|(book, _)| Arc::new(book)).collect();
    Ok(PassageIndex::new(books, Chunker::Dos, Chunker::Dos.default_max_tokens(), tokenizer, Book::text)?)
}

fn gone(error: TextError) -> HostError {
    HostError::Text(error.to_string())
}

impl SearchHost for Search {
    /// Returns the number of hits; in a folder they are passages that hold all words of the query.
    async fn hits(&self, query: &str) -> Result<u64, HostError> {
        match self {
            Self::Folder(passage_index) => {
                let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
                let texts = passage_index.texts(0..passage_index.passages().len(), Book::text).map_err(gone)?;
                let holds = |text: &String| {
                    let text = text.to_lowercase();
                    words.iter().all(|word| text.contains(word))
                };
                Ok(texts.iter().filter(|text| holds(text)).count() as u64)
            }
            Self::Engine(engine) => {
                let response = engine.ask(query).await?;
                let Some(hits) = response.pointer(&engine.hits) else {
                    return Err(failed(format!(
                        "the response has nothing at {}: name the place by --search-hits",
                        engine.hits
                    )));
                };
                count(hits).ok_or_else(|| failed(format!("{} at {} is no count of results", kind(hits), engine.hits)))
            }
        }
    }

    async fn find(&self, query: &str) -> Result<Vec<Found>, HostError> {
        match self {
            Self::Folder(passage_index) => {
                let ranking =
                    passage_index.ranking(Retriever::Bm25, query, None).map_err(|error| failed(error.to_string()))?;
                let found: Vec<usize> =
                    ranking.iter().filter(|ranked| ranked.score > 0.0).take(RESULTS).map(|ranked| ranked.idx).collect();
                let title = |idx: usize| passage_index.books()[passage_index.passages()[idx].book].title.clone();
                let texts = passage_index.texts(found.iter().copied(), Book::text).map_err(gone)?;
                Ok(found.iter().zip(texts).map(|(&idx, text)| Found { title: title(idx), text }).collect())
            }
            Self::Engine(engine) => {
                let response = engine.ask(query).await?;
                let list = response.pointer(&engine.results).and_then(Value::as_array);
                let list = list.ok_or_else(|| failed(format!("the response has no list at {}", engine.results)))?;
                let field = |result: &Value, names: &[&str]| {
                    names
                        .iter()
                        .find_map(|name| result.get(*name)?.as_str())
                        .map(|text| to_text(text, Layout::Page))
                        .unwrap_or_default()
                };
                let found = list.iter().take(RESULTS);
                Ok(found.map(|one| Found { title: field(one, &["title"]), text: field(one, &TEXTS) }).collect())
            }
        }
    }
}

impl Engine {
    async fn ask(&self, query: &str) -> Result<Value, HostError> {
        let address = self.url.replace("{query}", &encoded(query));
        let request = || {
            let request = self.client.get(&address);
            match &self.header {
                Some((name, key)) => request.header(name, key),
                None => request,
            }
        };
        let response = sent(request).await.map_err(|error| match error {
            HostError::Failed(problem) => failed(problem),
            other => other,
        })?;
        json_within(response, MAX_RESPONSE_BYTES).await.map_err(|error| failed(format!("{error:#}")))
    }
}

fn failed(problem: String) -> HostError {
    HostError::Failed(format!("the search failed: {problem}"))
}

/// A count of results as a number or as text, such as Google's `"1230000"`; marks between thousands are skipped.
fn count(value: &Value) -> Option<u64> {
    let Value::String(text) = value else { return value.as_u64() };
    let is_mark = |c: char| c.is_whitespace() || matches!(c, ',' | '.' | '\'' | '’' | '_');
    let groups: Vec<&str> = text.trim().split(is_mark).collect();
    let is_grouped = groups.iter().skip(1).all(|group| group.len() == 3) && (groups.len() == 1 || groups[0].len() <= 3);
    let digits = groups.concat();
    let is_number = is_grouped && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// A query as part of an address.
pub(super) fn encoded(query: &str) -> String {
    let byte = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(*byte).to_string(),
        other => format!("%{other:02X}"),
    };
    query.as_bytes().iter().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn queries_are_encoded() {
        assert_eq!(encoded("Ana & 渡"), "Ana%20%26%20%E6%B8%A1");
    }

    #[test]
    fn counts_are_numbers_or_texts_with_marks_between_thousands() {
        let counts =
            [json!(12), json!("1230000"), json!("1,230,000"), json!("1.230.000"), json!("1\u{a0}230"), json!("0")];
        let expected = [12, 1_230_000, 1_230_000, 1_230_000, 1_230, 0].map(Some);
        assert_eq!(counts.each_ref().map(count), expected);
        for no_count in
            [json!("about 12"), json!("1.5"), json!("12,34"), json!("1234,567"), json!("-3"), json!(""), json!(null)]
        {
            assert_eq!(count(&no_count), None, "{no_count}");
        }
    }

    #[tokio::test]
    async fn a_folder_is_searched_by_its_passages() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), "The bell of Scarrow rings at night.").unwrap();
        std::fs::write(dir.path().join("b.txt"), "Nothing else is known of the town.").unwrap();
        let search = Search::Folder(Box::new(passage_index(dir.path(), &Tokenizer::cl100k(), false).unwrap()));
        assert_eq!((search.hits("bell scarrow").await, search.hits("goat").await), (Ok(1), Ok(0)));
        assert!(search.find("the bell").await.unwrap()[0].text.contains("rings"));
    }
}
