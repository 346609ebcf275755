//! `closeread chunk`: the passages of a book.

use crate::command::{BookArgs, one_book};
use crate::values::one_of;
use anyhow::Result;
use closeread_books::Book;
use closeread_books::chunk::Chunker;
use closeread_methods::listing::Listing;
use closeread_retrieve::PassageIndex;
use closeread_runner::tokenizer;
use closeread_table::number::counted;
use closeread_terminal as terminal;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tracing::info;

/// Cut a book into passages, as a method would.
#[derive(Debug, clap::Args)]
pub(crate) struct ChunkArgs {
    /// A .txt, .md or .epub file, or `sample`, the story that is inside the program
    file: PathBuf,
    /// dos: sentences packed up to 100 tokens; stronger-baselines: the same, cut as the paper's code does; window: 512 tokens each; sentences: packed up to 4,000; sections: 5,000
    #[arg(long, value_name = "NAME", default_value = "dos", value_parser = one_of::<Chunker>())]
    chunker: Chunker,
    /// Maximum tokens of a passage [default: the chunker's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    passage_tokens: Option<u32>,
    /// cl100k, o200k, embedder, or a tokenizer.json
    #[arg(long, value_name = "NAME|FILE", default_value = "cl100k")]
    tokenizer: String,
    #[command(flatten)]
    book: BookArgs,
    /// Print {"passages": [{"index", "start", "end", "tokens", "text"}]}
    #[arg(long)]
    json: bool,
}

/// Prints the passages.
pub(crate) fn run(args: &ChunkArgs) -> Result<ExitCode> {
    let book = Arc::new(one_book(&args.file, &args.book)?);
    let tokenizer = tokenizer::load(Some(&args.tokenizer), None)?;
    let max_tokens = args.passage_tokens.map_or(args.chunker.default_max_tokens(), |n| n as usize);
    let passage_index = PassageIndex::new(vec![book], args.chunker, max_tokens, &tokenizer, Book::text)?;
    let listing = Listing::of(&passage_index)?;
    let mut out = terminal::stdout();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&listing)?)?;
    } else {
        for p in &listing.passages {
            writeln!(out, "[{}] bytes {}..{}, {} tokens\n{}\n", p.index, p.start, p.end, p.tokens, p.text)?;
        }
        let n_tokens: usize = passage_index.n_tokens().iter().sum();
        let (passages, tokens) = (counted(listing.passages.len(), "passage"), counted(n_tokens, "token"));
        info!("{passages}, {tokens} by {}", tokenizer.name());
    }
    Ok(ExitCode::SUCCESS)
}
