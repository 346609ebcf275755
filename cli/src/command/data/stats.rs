//! `closeread data stats`: what the papers print of their data, for any benchmark that can be loaded.

use crate::command::tables::{as_latex, as_text, check_csv, write_csv};
use anyhow::Result;
use clap::Args;
use closeread_books::Book;
use closeread_books::tokens::Tokenizer;
use closeread_data::statistics::{self, BookFacts, BookStatistics, books_table};
use closeread_eval::Item;
use closeread_files::refuse_input_as_output;
use closeread_methods::protocol::Protocol;
use closeread_report::paper::question_tables;
use closeread_report::{RunView, TokenPlaces};
use closeread_runner::benchmark::{Benchmark, BenchmarkOptions};
use closeread_runner::tokenizer;
use closeread_table::Table;
use closeread_table::render::text;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tracing::info;

/// The papers' tables on data, for a benchmark: lengths of books, questions by label and evidence, instances
///
/// Prints the tables for which the benchmark has labels, evidence or key facts. Exits with 1 if rows of the data were
/// left out.
#[derive(Debug, Args)]
pub(super) struct StatsArgs {
    /// sample, a data set by name, or a folder with documents.jsonl and items.jsonl
    #[arg(value_name = "BENCHMARK", default_value = "sample")]
    benchmark: String,
    /// Published files of the data set; repeatable
    #[arg(long, value_name = "PATH")]
    data: Vec<PathBuf>,
    /// cl100k, o200k, deepseek-r1, embedder, or a tokenizer.json [default: as `closeread run` counts the benchmark]
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,
    /// Read files outside the folder of a documents.jsonl that names them, or of a link
    #[arg(long)]
    allow_outside: bool,
    /// Write all tables as one list (a file that ends in .csv; `-` prints it), or one file a table (a folder)
    #[arg(long, value_name = "FILE|DIR")]
    csv: Option<PathBuf>,
    /// Print the tables as LaTeX (booktabs)
    #[arg(long, conflicts_with = "json")]
    latex: bool,
    /// Print {"benchmark", "tokenizer", "tables"}
    #[arg(long)]
    json: bool,
}

/// Counts and prints.
pub(super) fn run(args: &StatsArgs) -> Result<ExitCode> {
    if let Some(csv) = &args.csv {
        refuse_input_as_output(csv, "--csv", args.data.iter().map(PathBuf::as_path))?;
    }
    check_csv(args.csv.as_deref(), args.json || args.latex)?;
    let options = BenchmarkOptions {
        name: Some(args.benchmark.clone()),
        data: args.data.clone(),
        allow_outside: args.allow_outside,
        judged: true,
        ..BenchmarkOptions::default()
    };
    let mut benchmark = Benchmark::load(&options)?;
    benchmark.resolve()?;
    let of_paper = *Protocol::of(&benchmark.name).tokenizer;
    let tokenizer = tokenizer::load_or(args.tokenizer.as_deref(), of_paper, None)?;
    let tables = tables(&benchmark, &tokenizer)?;
    if let Some(path) = &args.csv {
        write_csv(path, &tables, true)?;
    }
    if args.json {
        outln!("{}", json!({"benchmark": benchmark.name, "tokenizer": tokenizer.name(), "tables": tables}));
    } else if args.latex {
        out!("{}", as_latex(&tables));
    } else if args.csv.is_none() {
        out!("{}", as_text(&tables));
    }
    benchmark.problems.iter().for_each(|problem| info!("{}", text::plain(&problem.to_string())));
    Ok(if benchmark.problems.count(true) == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn tables(benchmark: &Benchmark, tokenizer: &Tokenizer) -> Result<Vec<Table>> {
    let (mut books, mut places) = (Vec::new(), BTreeMap::new());
    for book in &benchmark.books {
        let text = benchmark.texts.open(book)?;
        let tokens = tokenizer.count(text.flow().text());
        let (language, count) = (book.language.code(), |text: &str| tokenizer.count(text));
        books.push(BookFacts::of(&book.id, &book.title, language, tokens, &benchmark.items, count));
        places.insert(book.id.clone(), TokenPlaces::of_text(book, &text, tokenizer));
    }
    let of_item = |item: &Item| {
        benchmark
            .books
            .iter()
            .zip(&books)
            .filter(|(book, _)| item.documents.contains(&book.id))
            .map(|(_, facts)| facts)
            .collect::<Vec<_>>()
    };
    let tokens = |item: &Item| Some(of_item(item).iter().map(|book| book.tokens).sum());
    let languages = |item: &Item| of_item(item).iter().map(|book| book.language.clone()).collect::<BTreeSet<_>>();
    let view = RunView {
        name: "",
        benchmark: &benchmark.name,
        plan: &[],
        items: &benchmark.items,
        records: &[],
        repeats: 1,
        books: &places,
        judging: &Default::default(),
        asked: &Default::default(),
    };
    let mut tables = vec![
        statistics::by_length(&books),
        statistics::lengths(&books, tokenizer.name()),
        statistics::lengths_by_language(&books),
        statistics::lengths_with_questions(&books),
    ];
    tables.extend(question_tables(&view.observations()?));
    tables.extend(key_facts(benchmark, &books));
    tables.extend(statistics::instances(&benchmark.items, tokens, languages));
    Ok(tables)
}

/// HAMLET's Table 8; `None` where no item has key facts.
fn key_facts(benchmark: &Benchmark, books: &[BookFacts]) -> Option<Table> {
    let has_facts = |item: &&Item| item.key_facts.is_some();
    benchmark.items.iter().find(has_facts)?;
    let of_book = |(book, facts): (&Arc<Book>, &BookFacts)| {
        let own: Vec<&Item> =
            benchmark.items.iter().filter(has_facts).filter(|item| item.documents.contains(&book.id)).collect();
        let about = |field: &str| Some(benchmark.about.get(&book.id)?.get(field)?.as_str()?.to_owned());
        let (author, genre, date) = (about("author"), about("genre"), about("date"));
        BookStatistics { author, genre, date, ..BookStatistics::of(&facts.name, facts.tokens, &own) }
    };
    let statistics: Vec<BookStatistics> = benchmark.books.iter().zip(books).map(of_book).collect();
    Some(books_table(&statistics))
}
