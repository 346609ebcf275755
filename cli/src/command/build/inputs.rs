//! Inputs of builds: books, documents, articles about books, and where the world is searched.

use anyhow::{Result, bail};
use closeread_books::Book;
use closeread_build::About;
use closeread_builder::article::Articles;
use closeread_builder::collection;
use closeread_builder::search::SearchOptions;
use closeread_files::leads_outside;
use closeread_runner::input::InputOptions;
use closeread_text::Language;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Refuses to build into a folder that holds what is read: `--fresh` would discard it.
pub(super) fn refuse_inputs_within<'a>(out: &Path, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    let is_within = |input: &&PathBuf| out.is_dir() && input.exists() && !leads_outside(out, input);
    match inputs.into_iter().find(is_within) {
        Some(input) => bail!("--out {} holds {}, which is read: name another folder", out.display(), input.display()),
        None => Ok(()),
    }
}

/// Which books, and how they are read.
#[derive(Debug, clap::Args)]
pub(crate) struct BookInputs {
    /// A .txt, .md or .epub file, a documents.jsonl, or a folder of them; repeatable
    #[arg(long = "books", value_name = "PATH", num_args = 1..)]
    books: Vec<PathBuf>,
    /// Read files outside the folder of a documents.jsonl that names them, or of a link: their text goes to the model's server
    #[arg(long)]
    pub(crate) allow_outside: bool,
    /// Encoding of text files [default: detected]
    #[arg(long, value_name = "LABEL")]
    encoding: Option<String>,
    /// Language of all books that do not name theirs [default: detected]
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
}

impl BookInputs {
    /// True if no book is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.books.is_empty()
    }

    /// The language that was named.
    pub(crate) fn language(&self) -> Option<Language> {
        self.language
    }

    /// Returns what the books say of themselves besides what closeread knows.
    pub(crate) fn about(&self) -> Result<About> {
        collection::about(&self.books)
    }

    /// Reads the books for a build in the folder `out`; one that cannot be read ends the build before it begins.
    pub(crate) fn read(&self, out: &Path) -> Result<Vec<Arc<Book>>> {
        refuse_inputs_within(out, &self.books)?;
        let options = InputOptions {
            encoding: self.encoding.clone(),
            language: self.language,
            allow_outside: self.allow_outside,
            ..InputOptions::default()
        };
        collection::books(&self.books, &options)
    }
}

/// Which documents, and how they are read.
#[derive(Debug, clap::Args)]
pub(crate) struct DocumentInputs {
    /// A .md, .txt, .html, .pdf, .csv or .epub file, a documents.jsonl, or a folder of them; repeatable
    #[arg(long = "documents", value_name = "PATH", num_args = 1..)]
    documents: Vec<PathBuf>,
    /// Read files outside the folder of a documents.jsonl that names them, or of a link: their text goes to the model's server
    #[arg(long)]
    allow_outside: bool,
    /// Language of all documents that do not name theirs [default: detected]
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
}

impl DocumentInputs {
    /// Reads the documents for a build in the folder `out`; one that cannot be read ends the build before it begins.
    pub(crate) fn read(&self, out: &Path) -> Result<Vec<Arc<Book>>> {
        refuse_inputs_within(out, &self.documents)?;
        collection::documents(&self.documents, self.language, self.allow_outside)
    }
}

/// Where articles come from.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ArticleArgs {
    /// Folder with an article for each book, named like the book, with .wiki, .html, .md or .txt
    #[arg(long, value_name = "DIR")]
    articles: Option<PathBuf>,
    /// The article about a book, by the book's id; repeatable
    #[arg(long, value_name = "BOOK=FILE")]
    article: Vec<String>,
    /// The page about a book, fetched from a wiki into the build folder; repeatable
    #[arg(long, value_name = "BOOK=TITLE")]
    page: Vec<String>,
    /// The wiki that pages are fetched from [default: the Wikipedia of the book's language]
    #[arg(long, value_name = "URL of api.php")]
    wiki: Option<String>,
}

impl ArticleArgs {
    /// Returns the articles that the options name, for the library.
    pub(crate) fn articles(&self, allow_outside: bool) -> Articles {
        Articles {
            folder: self.articles.clone(),
            allow_outside,
            files: self.article.clone(),
            pages: self.page.clone(),
            wiki: self.wiki.clone(),
        }
    }
}

/// The options of a search engine.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SearchArgs {
    /// Where the filters search: a folder of texts, the api.php of a wiki, or the address of a search engine with {query}
    /// in it
    #[arg(long, value_name = "DIR|URL")]
    pub(crate) search: Option<String>,
    /// JSON pointer to the number of results in a response of the engine
    #[arg(long, value_name = "POINTER", default_value = "/number_of_results")]
    search_hits: String,
    /// JSON pointer to the list of results
    #[arg(long, value_name = "POINTER", default_value = "/results")]
    search_results: String,
    /// Header that carries the engine's key, which is read from the environment variable CLOSEREAD_SEARCH_KEY
    #[arg(long, value_name = "NAME")]
    search_header: Option<String>,
}

impl SearchArgs {
    /// Returns where the filters search, if `--search` says.
    ///
    /// In a folder links that lead out of it are read where that is allowed.
    pub(crate) fn options(&self, allow_outside: bool) -> Option<SearchOptions> {
        Some(SearchOptions {
            place: self.search.clone()?,
            allow_outside,
            hits: self.search_hits.clone(),
            results: self.search_results.clone(),
            header: self.search_header.clone(),
        })
    }
}
