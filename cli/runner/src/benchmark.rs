//! Benchmarks of a run: books and items from the sample in the binary, a folder, or the published files of a data set.

mod catalog;
mod corpora;
mod encoded;
mod folder;
mod listing;
mod options;
mod selection;
mod unread;

use crate::input::InputOptions;
use crate::shard::{Places, Shard};
use crate::texts::BookTexts;
use anyhow::{Context, Result, bail};
use catalog::Catalog;
use closeread_books::Book;
use closeread_data::{Adapter, Dataset, Texts, adapter, jsonl, resolve_chunk, resolve_evidence};
use closeread_eval::{ChunkPlace, Content, Document, InputFile, Item, Problem, ProblemList, tell_language};
use closeread_text::hash::sha256_of_parts;
use closeread_text::{Language, Locator, Span};
use corpora::{Corpora, books_of};
use listing::list;
pub use options::{AskedAs, BenchmarkOptions};
use selection::select;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::{info, warn};

/// What a folder holds, and where its texts lie.
type Folder = (Dataset, Vec<Book>, BookTexts);

/// Name of the benchmark that ships.
pub const SAMPLE: &str = "sample";

/// Books and items, ready to be run.
pub struct Benchmark {
    /// Name in reports and folder names.
    pub name: String,
    /// Books of the benchmark, each once.
    pub books: Vec<Arc<Book>>,
    /// The texts that the books do not hold.
    pub texts: Arc<BookTexts>,
    /// Facts that documents state of themselves and closeread does not know, such as their author, by their ids.
    pub about: HashMap<String, Map<String, Value>>,
    /// The items to run, in their order.
    pub items: Vec<Item>,
    /// Problems in the data.
    pub problems: ProblemList,
    /// Whether the frames of the books are part of them.
    pub keep_frame: bool,
    /// Whether line breaks of the books are kept.
    pub keep_wraps: bool,
}

impl Benchmark {
    /// Reads what the options name; of a part, its own texts alone, where a catalog knows the others.
    pub fn load(asked: &BenchmarkOptions) -> Result<Self> {
        if let Some(shard) = asked.part.filter(|_| !asked.one_book) {
            let mut catalog = None;
            let mut benchmark = Self::read(asked, &mut |folder, options| {
                catalog = folder::catalog(folder, options);
                catalog.as_ref().map(|catalog| folder::read_items(folder, catalog)).transpose()
            })?;
            match catalog {
                None => return Ok(benchmark),
                Some(catalog) if benchmark.read_part(shard, &catalog) => return Ok(benchmark),
                Some(_) => info!("{}: books have changed, so all are read anew", benchmark.name),
            }
        }
        Self::read(asked, &mut |_, _| Ok(None))
    }

    /// Reads all, but of a folder what `known` of it, if it does.
    fn read(
        asked: &BenchmarkOptions,
        known: &mut dyn FnMut(&Path, &InputOptions) -> Result<Option<Folder>>,
    ) -> Result<Self> {
        let mut options = asked.input()?;
        let mut of_folder = |folder: &Path, options: &InputOptions| match known(folder, options)? {
            Some(known) => Ok(known),
            None => folder::read(folder, options, asked.keep_catalog || asked.part.is_some()),
        };
        let name = asked.name.as_deref().unwrap_or(SAMPLE);
        let (name, dataset, books, texts) = match adapter(name) {
            _ if name == SAMPLE => {
                asked.refuse_data(name)?;
                if asked.name.is_some() && folder::is_other(Path::new(SAMPLE), &closeread_sample::FILES) {
                    warn!(
                        "--benchmark {SAMPLE} is what ships; the folder `{SAMPLE}`, which differs, is read as ./{SAMPLE}"
                    );
                }
                (SAMPLE.to_owned(), sample(asked.judged), None, BookTexts::default())
            }
            Some(adapter) => {
                if asked.data.is_empty() {
                    bail!("benchmark `{name}` needs --data: {}", adapter.wants);
                }
                if let Some(folder) = folder::own(&asked.data) {
                    let (mut dataset, books, texts) = of_folder(folder, &options)?;
                    adapter.check(&mut dataset);
                    (name.to_owned(), dataset, Some(books), texts)
                } else {
                    if adapter.texts == Texts::Fields {
                        (options.keep_frame, options.keep_wraps) = (true, true);
                    }
                    let (dataset, books, texts) = published(adapter, &asked.data, &options)?;
                    (name.to_owned(), dataset, books, texts)
                }
            }
            None => {
                let folder = folder::named(name)?;
                asked.refuse_data(name)?;
                let (dataset, books, texts) = of_folder(folder, &options)?;
                (folder::name(folder), dataset, Some(books), texts)
            }
        };
        Self::from_dataset(name, dataset, (books, texts), asked, &options)
    }

    fn from_dataset(
        name: String,
        dataset: Dataset,
        (books, texts): (Option<Vec<Book>>, BookTexts),
        asked: &BenchmarkOptions,
        options: &InputOptions,
    ) -> Result<Self> {
        let Dataset { documents, items, mut problems } = dataset;
        let about = documents.iter().map(|document| (document.id.clone(), document.other.clone())).collect();
        let books = match books {
            Some(books) => books,
            None => books_of(documents, options, &mut problems),
        };
        let (books, items) =
            if asked.one_book { one_book(&name, &books, &texts, items, options.keep_wraps)? } else { (books, items) };
        let known: HashSet<&str> = books.iter().map(|book| book.id.as_str()).collect();
        let mut kept = Vec::new();
        for item in items {
            match item.documents.iter().find(|id| !known.contains(id.as_str())) {
                Some(missing) => problems.push(Problem::dropped(
                    &name,
                    None,
                    Some(&item.id),
                    format!("its document `{missing}` could not be read, so it cannot be asked"),
                )),
                None => kept.push(item),
            }
        }
        let items = select(kept, asked)?;
        let used: HashSet<&str> = items.iter().flat_map(|item| &item.documents).map(String::as_str).collect();
        let books = books.into_iter().filter(|book| used.contains(book.id.as_str())).map(Arc::new).collect();
        let keep_frame = options.keep_frame || asked.one_book;
        let texts = Arc::new(texts);
        Ok(Self { name, books, texts, about, items, problems, keep_frame, keep_wraps: options.keep_wraps })
    }

    /// Reads the texts of a part; returns whether its books are as the catalog has them.
    fn read_part(&mut self, shard: Shard, catalog: &Catalog) -> bool {
        let items = shard.places(&self.items).into_iter().map(|at| &self.items[at]);
        let used: HashSet<&str> = items.flat_map(|item| &item.documents).map(String::as_str).collect();
        let Some(books) = catalog.read(&used) else { return false };
        self.texts = Arc::new(folder::left_in(&books));
        let mut read: HashMap<String, Book> = books.into_iter().map(|(book, _)| (book.id.clone(), book)).collect();
        for book in &mut self.books {
            if let Some(read) = read.remove(&book.id) {
                *book = Arc::new(read);
            }
        }
        true
    }

    /// Leaves the items of one part, and their books; gives the places that these had.
    pub fn keep(&mut self, shard: Shard) -> Places {
        let (items, books) = (shard.places(&self.items), std::mem::take(&mut self.books));
        self.items = items.iter().map(|at| self.items[*at].clone()).collect();
        let used: HashSet<&str> = self.items.iter().flat_map(|item| &item.documents).map(String::as_str).collect();
        let is_used = |(_, book): &(usize, Arc<Book>)| used.contains(book.id.as_str());
        let (documents, books) = books.into_iter().enumerate().filter(is_used).unzip();
        self.books = books;
        Places { items, documents }
    }

    /// The books of an item, in its order.
    pub fn books_of(&self, documents: &[String]) -> Vec<Arc<Book>> {
        let by_id: HashMap<&str, &Arc<Book>> = self.books.iter().map(|book| (book.id.as_str(), book)).collect();
        documents.iter().map(|id| Arc::clone(by_id[id.as_str()])).collect()
    }

    /// The books as a manifest lists them.
    pub fn described_books(&self) -> Value {
        let described = |book: &Arc<Book>| {
            json!({
                "id": book.id, "title": book.title, "language": book.language, "sha256": book.hash(),
                "bytes": book.n_bytes(),
            })
        };
        self.books.iter().map(described).collect()
    }

    /// Returns what names this data: books, and items as they were read. What [`Self::resolve`] finds follows from both, so it is asked
    /// before: a part resolves its own items alone.
    pub fn fingerprint(&self) -> Result<String> {
        let mut parts: Vec<Vec<u8>> =
            self.books.iter().map(|b| format!("{} {}", b.id, b.hash()).into_bytes()).collect();
        for item in &self.items {
            parts.push(serde_json::to_vec(item)?);
        }
        Ok(sha256_of_parts(parts.iter().map(Vec::as_slice)))
    }

    /// Lets go of all texts: from now on they are read from `texts` when they are needed.
    pub fn keep_in(&mut self, texts: BookTexts) {
        self.books.iter_mut().for_each(|book| *book = Arc::new(book.as_ref().clone().let_go()));
        self.texts = Arc::new(texts);
    }

    /// Finds each item's evidence and writes its offsets into the item, and the language of its book where the item must have one;
    /// returns the spans by item id.
    ///
    /// The books of an item are open while it is looked at, and as long as items on the same books follow.
    pub fn resolve(&mut self) -> Result<HashMap<String, Vec<(usize, Span)>>> {
        let books: HashMap<&str, &Arc<Book>> = self.books.iter().map(|book| (book.id.as_str(), book)).collect();
        let mut spans = HashMap::new();
        for item in &mut self.items {
            if let Some(book) = item.documents.first().and_then(|id| books.get(id.as_str())) {
                tell_language(item, book.language);
            }
            let Some(facts) = &mut item.key_facts else { continue };
            let Some(book) = books.get(facts.document.as_str()) else { continue };
            match resolve_chunk(facts, &Locator::new(self.texts.open(book)?.source())) {
                Ok(span) => facts.chunk = ChunkPlace::Offsets { start: span.start, end: span.end },
                Err(error) => self.problems.push(Problem::note(
                    &self.name,
                    None,
                    Some(&item.id),
                    format!("the chunk of its key facts: {error}"),
                )),
            }
        }
        let with_evidence = self.items.iter_mut().filter(|item| !item.evidence.is_empty());
        let mut with_evidence: Vec<&mut Item> = with_evidence.collect();
        for items in with_evidence.chunk_by_mut(|a, b| a.documents == b.documents) {
            let open = items[0].documents.iter().map(|id| self.texts.open(books[id.as_str()]));
            let open = open.collect::<Result<Vec<_>, _>>()?;
            let locators: Vec<Locator<'_>> = open.iter().map(|book| Locator::new(book.source())).collect();
            let texts: Vec<&Locator<'_>> = locators.iter().collect();
            for item in items {
                let resolved = resolve_evidence(item, &texts);
                for note in &resolved.notes {
                    self.problems.push(Problem::note(&self.name, None, Some(&item.id), note.clone()));
                }
                for (evidence, place) in item.evidence.iter_mut().zip(&resolved.places) {
                    if let Some((document, _)) = place {
                        evidence.document = Some(item.documents[*document].clone());
                    }
                    // Offsets that hold nothing are no place that a ranking could find.
                    (evidence.start, evidence.end) = place.map(|(_, span)| (span.start, span.end)).unzip();
                }
                item.evidence.retain(|evidence| evidence.start.is_some() || !evidence.quote.trim().is_empty());
                spans.insert(item.id.clone(), resolved.spans());
            }
        }
        Ok(spans)
    }
}

/// The sample; its summaries only where there is a judge, for nothing else can score them.
fn sample(judged: bool) -> Dataset {
    let files: Vec<InputFile> = closeread_sample::FILES
        .iter()
        .map(|(name, bytes)| InputFile { name: (*name).to_owned(), bytes: bytes.to_vec() })
        .collect();
    let mut dataset = jsonl::read(&files);
    for document in &mut dataset.documents {
        if let Content::Path(path) = &document.content {
            let (_, bytes) =
                closeread_sample::FILES.iter().find(|(name, _)| name == path).expect("the sample holds its own texts");
            document.content = Content::Text(String::from_utf8_lossy(bytes).into_owned());
        }
    }
    if judged {
        let file = InputFile { name: "key_facts.jsonl".to_owned(), bytes: closeread_sample::KEY_FACTS.to_vec() };
        dataset.items.extend(jsonl::items(&file).0);
    }
    dataset
}

/// The English story of the sample.
pub fn sample_story() -> Result<Book> {
    let mut problems = ProblemList::default();
    let options = InputOptions::default();
    let books = books_of(sample(false).documents, &options, &mut problems);
    let english = books.into_iter().find(|book| book.language.code() == "en");
    english.context("the sample has an English story")
}

fn one_book(
    name: &str,
    books: &[Book],
    texts: &BookTexts,
    items: Vec<Item>,
    keep_wraps: bool,
) -> Result<(Vec<Book>, Vec<Item>)> {
    let languages: HashSet<Language> = books.iter().map(|book| book.language).collect();
    let language = (languages.len() == 1).then(|| languages.into_iter().next()).flatten();
    let document = |book: &Book| {
        Ok(Document {
            id: book.id.clone(),
            title: book.title.clone(),
            language: None,
            content: Content::Text(texts.open(book)?.source().to_owned()),
            other: Map::new(),
        })
    };
    let documents = books.iter().map(document).collect::<Result<_>>()?;
    let joined = Dataset { documents, items, problems: ProblemList::default() }.as_one_book(name)?;
    let mut problems = ProblemList::default();
    let options = InputOptions { language, keep_frame: true, keep_wraps, ..InputOptions::default() };
    let Dataset { documents, items, .. } = joined;
    let books = books_of(documents, &options, &mut problems);
    match problems.iter().next() {
        Some(problem) => bail!("{problem}"),
        None => Ok((books, items)),
    }
}

/// The published files of a data set; its books too, where they are read in parts.
fn published(
    adapter: &Adapter,
    data: &[PathBuf],
    options: &InputOptions,
) -> Result<(Dataset, Option<Vec<Book>>, BookTexts)> {
    let (parquet, files): (Vec<_>, Vec<_>) =
        list(data, options.allow_outside)?.into_iter().partition(|(_, path)| unread::is_parquet(path));
    let (mut dataset, books, texts) = published_in(adapter, files, options)?;
    dataset.problems.extend(match dataset.items.is_empty() {
        true => unread::why(&parquet, data),
        false => unread::beside(&parquet),
    });
    Ok((dataset, books, texts))
}

fn published_in(
    adapter: &Adapter,
    files: Vec<(String, PathBuf)>,
    options: &InputOptions,
) -> Result<(Dataset, Option<Vec<Book>>, BookTexts)> {
    let (large, small): (Vec<_>, Vec<_>) = files.into_iter().partition(|(_, path)| corpora::in_parts(adapter, path));
    let read = |(name, path): (String, PathBuf)| {
        let unreadable = || format!("cannot read --data {}", path.display());
        let bytes = closeread_files::read_file(&path).with_context(unreadable)?;
        let bytes = encoded::utf8(&path, bytes, options.encoding.as_deref()).with_context(unreadable)?;
        Ok(InputFile { name, bytes })
    };
    let together: Vec<InputFile> = small.into_iter().map(read).collect::<Result<_>>()?;
    if large.is_empty() {
        return Ok(((adapter.read)(&together), None, BookTexts::default()));
    }
    let mut corpora = Corpora::new()?;
    if !together.is_empty() {
        corpora.add((adapter.read)(&together), adapter.name, options)?;
    }
    for (name, path) in large {
        corpora.read(adapter, &name, &path, options)?;
    }
    let (dataset, books, texts) = corpora.finish();
    Ok((dataset, Some(books), texts))
}
