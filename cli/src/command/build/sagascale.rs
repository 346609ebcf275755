//! `closeread build sagascale`: questions from books and the articles about them.

use super::args::BuildOptions;
use super::inputs::{ArticleArgs, BookInputs, SearchArgs};
use super::say::{checked, finish, show_costs, write};
use crate::command::EmbedderArgs;
use crate::values::each_once;
use anyhow::{Result, bail};
use closeread_books::Book;
use closeread_books::chunk::Chunker;
use closeread_books::tokens::Tokenizer;
use closeread_build::sagascale::{Crew, PROMPTS, STAGES, SagaScale, Segment, Subject};
use closeread_build::{Building, Built, sagascale};
use closeread_builder::hashes;
use closeread_builder::search::SearchOptions;
use closeread_retrieve::{PassageIndex, Retriever};
use closeread_runner::engine::retriever_for;
use closeread_runner::host::QueryEncoder;
use closeread_runner::texts::BookTexts;
use closeread_text::hash::sha256;
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use tracing::{info, warn};

/// Sub-queries of a segment that --dry-run reckons with.
const TYPICAL_QUERIES: u64 = 5;
/// Tokens that the books of the paper have at least, as a rule.
const TYPICAL_LENGTH: usize = 100_000;

/// Questions from books and the encyclopaedia's articles about them (SagaScale, section 3.1)
///
/// Stages: segments, segment-filter, sub-queries, pairs, correctness, keywords, realism, contamination, types.
#[derive(Debug, clap::Args)]
pub(crate) struct SagaScaleArgs {
    #[command(flatten)]
    books: BookInputs,
    #[command(flatten)]
    articles: ArticleArgs,
    #[command(flatten)]
    search: SearchArgs,
    /// Without --search: --checker searches by itself, and questions are kept however popular they are
    #[arg(long, conflicts_with = "search")]
    no_realism: bool,
    /// With --search: --checker searches by itself, as in the paper, and --search only counts results
    #[arg(long, requires = "search")]
    checker_searches: bool,
    /// Separator between a question's keywords in the search for all of them
    #[arg(long, value_name = "TEXT", default_value = " ")]
    keyword_join: String,
    /// The model that says whether an answer is right; with --no-realism or --checker-searches one that can search [default:
    /// --model]
    #[arg(long, value_name = "NAME")]
    checker: Option<String>,
    /// Models that must fail to answer without the book; four in the paper
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    knower: Vec<String>,
    /// The model that says whether an answer without the book is correct [default: --model]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// Maximum pairs from one context
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    most_pairs: u16,
    #[command(flatten)]
    embedder: EmbedderArgs,
    #[command(flatten)]
    build: BuildOptions,
}

/// Builds, estimates or reads a check back.
pub(crate) async fn run(mut args: SagaScaleArgs) -> Result<ExitCode> {
    args.knower = each_once(&args.knower);
    let build = &args.build;
    if !build.checked.is_empty() {
        return checked(build);
    }
    let books = args.books.read(&build.out)?;
    let model = build.model()?;
    let (checker, judge) = (args.checker.as_deref().unwrap_or(model), args.judge.as_deref().unwrap_or(model));
    let keyword_join = args.keyword_join.clone();
    let parameters = SagaScale { most_pairs: args.most_pairs.into(), keyword_join, ..SagaScale::default() };
    let articles = args.articles.articles(args.books.allow_outside).read(&books, &build.out).await?;
    let mut models = vec![model, checker, judge];
    models.extend(args.knower.iter().map(String::as_str));
    let mut context = build.context("sagascale", &models)?;
    note_short_books(&books, &context.tokenizer)?;
    if build.dry_run {
        let indexes = subjects(&books, articles, &parameters, &context.tokenizer, &args, None)?;
        let mut stages = Vec::new();
        for cost in sagascale::cost(context.setting(), &indexes, TYPICAL_QUERIES, &parameters)? {
            match cost.stage {
                "correctness" => stages.push((cost, checker)),
                "contamination" => stages.extend(args.knower.iter().map(|knower| (cost.clone(), knower.as_str()))),
                "contamination: judge" if args.knower.is_empty() => {}
                "contamination: judge" => stages.push((cost.times(args.knower.len() as u64), judge)),
                _ => stages.push((cost, model)),
            }
        }
        let queries = format!(
            "how many parts a model sees in a section is not known before: {TYPICAL_QUERIES} are reckoned with"
        );
        let pairs = "how many pairs a part gives is not known before: one at least, --most-pairs at most";
        return show_costs(&stages, &[&queries, pairs], &context, build);
    }
    let search = args.search.options(args.books.allow_outside);
    if search.is_none() && !args.no_realism {
        bail!(
            "--search is missing: name a folder of texts, the api.php of a wiki or a search engine; or say --no-realism, and \
             --checker must be a model that searches by itself"
        );
    }
    if args.knower.is_empty() {
        info!("note: without --knower no question is dropped because a model knows its answer without the book");
    }
    let (name, search) =
        (search.as_ref().map(SearchOptions::name), search.map(|search| search.open(&context.tokenizer)).transpose()?);
    let encoder = args.embedder.load()?.map(QueryEncoder::new);
    let more = json!({
        "checker": checker, "checker_searches": args.checker_searches || search.is_none(), "judge": judge,
        "knowers": args.knower, "search": name, "parameters": parameters,
        "books": hashes(&books), "articles": sha256(&serde_json::to_vec(&articles)?), "retriever": args.embedder.retriever,
        "embedder": encoder.as_ref().map(|encoder| encoder.embedder().name()),
    });
    let configuration = build.configuration("sagascale", &context, &PROMPTS, more);
    let folder = build.folder(&STAGES, &configuration)?;
    context.charge_to(&folder, encoder.as_ref())?;
    let subjects = subjects(&books, articles, &parameters, &context.tokenizer, &args, encoder.as_ref())?;
    let journal = folder.journal()?;
    let host = |model: &str| context.host(model, &journal, encoder.as_ref());
    let (writer, checker, judge) = (host(model), host(checker), host(judge));
    let knowers: Vec<_> = args.knower.iter().map(|model| (model.as_str(), host(model))).collect();
    let crew = Crew {
        writer: &writer,
        checker: &checker,
        lookup: search.as_ref().filter(|_| !args.checker_searches),
        search: search.as_ref(),
        knowers: knowers.iter().map(|(name, host)| (*name, host)).collect(),
        judge: &judge,
    };
    let (building, about) = (Building::new(&folder, build.concurrency, build.until.as_deref()), args.books.about()?);
    let work = sagascale::sagascale(&crew, context.setting(), building, &subjects, &parameters);
    finish(&folder, &journal, &context, work, |built| {
        write(&folder, build, "sagascale", (&books, &BookTexts::default()), &Built { about, ..built })
    })
    .await
}

/// Names the books that are shorter than the paper's.
fn note_short_books(books: &[Arc<Book>], tokenizer: &Tokenizer) -> Result<()> {
    for book in books {
        let tokens = tokenizer.count(book.text()?.flow().text());
        if tokens < TYPICAL_LENGTH {
            warn!("`{}` has {tokens} tokens; the paper's novels have typically more than {TYPICAL_LENGTH}", book.id);
        }
    }
    Ok(())
}

/// The books with their passages, vectors where they are needed.
fn subjects(
    books: &[Arc<Book>],
    articles: Vec<Vec<Segment>>,
    parameters: &SagaScale,
    tokenizer: &Tokenizer,
    args: &SagaScaleArgs,
    encoder: Option<&QueryEncoder>,
) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for (book, segments) in books.iter().zip(articles) {
        let alone = vec![Arc::clone(book)];
        let embedder = encoder.map(QueryEncoder::embedder);
        let retriever = match embedder {
            None => Retriever::Bm25,
            Some(embedder) => retriever_for(&alone, args.embedder.retriever, Some(embedder.as_ref())),
        };
        let mut passage_index =
            PassageIndex::new(alone, Chunker::Window, parameters.passage_tokens, tokenizer, Book::text)?;
        if let Some(embedder) = embedder.filter(|_| retriever.needs_vectors()) {
            let texts = passage_index.texts(0..passage_index.passages().len(), Book::text)?;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            passage_index.put_vectors(embedder.embed_passages(&texts)?.vectors)?;
        }
        subjects.push(Subject { book: Arc::clone(book), passage_index, retriever, segments });
    }
    Ok(subjects)
}
