//! `closeread search`: what a method would hand to its reader.

use crate::command::plan::out_of_money;
use crate::command::{BookArgs, CostArgs, EmbedderArgs, one_book};
use crate::values::one_of;
use anyhow::{Result, ensure};
use closeread_books::Book;
use closeread_books::chunk::Chunker;
use closeread_embed::{Role, Vectors};
use closeread_methods::listing::Found;
use closeread_retrieve::context::{Fill, PassageOrder, fill, with_neighbours};
use closeread_retrieve::{PassageIndex, Retriever};
use closeread_runner::embedder::Embedder;
use closeread_runner::engine::retriever_for;
use closeread_runner::kept_index::{Cut, IndexKey, KeptIndexes};
use closeread_runner::tokenizer;
use closeread_terminal as terminal;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tracing::info;

/// Find a book's passages for a question, within a budget
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// A .txt, .md or .epub file, or `sample`, the story that is inside the program
    file: PathBuf,
    /// What to search for
    question: String,
    /// Maximum tokens of all passages
    #[arg(long, value_name = "N", default_value_t = 1500)]
    budget: usize,
    /// document: as they follow each other in the book (DOS RAG); score: best first (vanilla RAG)
    #[arg(long, value_name = "NAME", default_value = "document", value_parser = one_of::<PassageOrder>())]
    order: PassageOrder,
    /// At a passage that does not fit the budget: stop, or skip it and try the next
    #[arg(long, value_name = "NAME", default_value = "stop", value_parser = one_of::<Fill>())]
    fill: Fill,
    /// Also take N neighbouring passages on each side of a ranked one
    #[arg(long, value_name = "N", default_value_t = 0)]
    neighbours: usize,
    #[command(flatten)]
    embedder: EmbedderArgs,
    /// Maximum tokens of a passage
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    passage_tokens: u32,
    /// cl100k, o200k, embedder, or a tokenizer.json
    #[arg(long, value_name = "NAME|FILE", default_value = "cl100k")]
    tokenizer: String,
    #[command(flatten)]
    book: BookArgs,
    #[command(flatten)]
    costs: CostArgs,
    /// Print {"tokens", "passages": [{"index", "start", "end", "score", "tokens", "text"}]}
    #[arg(long)]
    json: bool,
}

/// Prints the passages found.
pub(crate) fn run(args: &SearchArgs) -> Result<ExitCode> {
    ensure!(!args.question.trim().is_empty(), "the question is empty");
    let books = vec![Arc::new(one_book(&args.file, &args.book)?)];
    let embedder = args.embedder.load()?;
    let retriever = retriever_for(&books, args.embedder.retriever, embedder.as_ref());
    if let (None, Retriever::Bm25, Some(embedder)) = (args.embedder.retriever, retriever, &embedder) {
        let language = books[0].language;
        info!("ranked by BM25: {} does not know the language `{}`", embedder.name(), language.code());
    }
    let tokenizer = tokenizer::load(Some(&args.tokenizer), args.embedder.name())?;
    let spending = args.costs.spending(&[], &[], embedder.as_ref(), &tokenizer)?;
    let (kept, max_tokens) = (KeptIndexes::of_user(), args.passage_tokens as usize);
    let cut = Cut { chunker: Chunker::Dos, max_tokens, tokenizer: &tokenizer };
    let key = IndexKey::of_words(&books, cut);
    let mut passage_index = kept.words(&key, &books, cut, Book::text)?;
    let mut query = None;
    if let Some(embedder) = embedder.as_ref().filter(|_| retriever.needs_vectors()) {
        let embedded = embed(&args.question, embedder, (&kept, &key), &mut passage_index);
        if embedded.is_err() && spending.taken().out {
            info!("{}", out_of_money(spending.taken()));
            return Ok(ExitCode::from(1));
        }
        query = Some(embedded?);
    }
    let ranking = passage_index.ranking(retriever, &args.question, query.as_ref().map(|v| v.row(0)))?;
    if matches!(retriever, Retriever::Bm25) && ranking.first().is_some_and(|best| best.score <= 0.0) {
        info!("no word of the question is in the book: these are its first passages");
    }
    let ranking = with_neighbours(ranking, args.neighbours, |idx| passage_index.passages()[idx].book);
    let selection = fill(&ranking, passage_index.n_tokens(), args.budget, args.fill).ordered(args.order);
    if let Some(best) = ranking.first().filter(|_| selection.passages.is_empty()) {
        let n_tokens = passage_index.n_tokens()[best.idx];
        info!("no passage is found within the budget: the best one has {n_tokens} tokens; give a larger --budget");
    }
    let found = Found::of(&passage_index, &selection)?;
    let mut out = terminal::stdout();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&found)?)?;
    } else {
        for p in &found.passages {
            let score = p.score.unwrap_or_default();
            writeln!(out, "[{}] bytes {}..{}, {} tokens, {score:.4}\n{}\n", p.index, p.start, p.end, p.tokens, p.text)?;
        }
        info!(
            "{} of {} passages, {} of {} tokens, by {}",
            found.passages.len(),
            passage_index.passages().len(),
            found.tokens,
            args.budget,
            retriever.name()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Gives the passages their vectors, which may be kept, and returns the question's.
fn embed(
    question: &str,
    embedder: &Embedder,
    (kept, words): (&KeptIndexes, &IndexKey),
    passage_index: &mut PassageIndex,
) -> Result<Vectors> {
    let (key, n_passages) = (words.of_vectors(embedder), passage_index.passages().len());
    match kept.kept_vectors(&key, embedder.dimension(), n_passages) {
        Some(vectors) => passage_index.put_kept_vectors(vectors)?,
        None => {
            let texts = passage_index.texts(0..n_passages, Book::text)?;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let embedded = embedder.embed_passages(&texts)?;
            kept.replace_vectors(&key, embedder.dimension(), &embedded.vectors, embedded.n_cut);
            passage_index.put_vectors(embedded.vectors)?;
        }
    }
    Ok(embedder.embed(Role::Query, &[question], |_| {})?.vectors)
}
