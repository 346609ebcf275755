//! One file per command.

pub(crate) mod agreement;
pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod chunk;
pub(crate) mod compare;
pub(crate) mod data;
pub(crate) mod estimate;
pub(crate) mod judge;
pub(crate) mod merge;
pub(crate) mod methods;
pub(crate) mod model;
mod plan;
pub(crate) mod providers;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod score;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod tree;
pub(crate) mod verify;

use crate::config::named;
use anyhow::{Result, bail};
use closeread_books::Book;
use closeread_runner::embedder::{BACKENDS, BackendName, Embedder, EmbedderOptions};
use closeread_runner::input::{InputOptions, read_books};
use closeread_runner::models;
use closeread_text::Language;
use std::path::{Path, PathBuf};
use tracing::info;

/// How a book is read.
#[derive(Debug, clap::Args)]
pub(crate) struct BookArgs {
    /// Encoding of the file [default: detected]
    #[arg(long, value_name = "LABEL")]
    encoding: Option<String>,
    /// Language of the book, e.g. en or zh [default: detected]
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
    /// Keep Project Gutenberg's header and trailer as part of the book
    #[arg(long)]
    keep_frame: bool,
    /// Keep every line break of a hard-wrapped book
    #[arg(long)]
    keep_wraps: bool,
    /// Read files outside the folder of a documents.jsonl that names them: their text goes to the model's server
    #[arg(long)]
    allow_outside: bool,
}

/// Which embedding model ranks, and what computes it.
#[derive(Debug, clap::Args)]
pub(crate) struct EmbedderArgs {
    /// An installed embedding model, see `closeread model list`, or one on a server: openai/MODEL,
    /// openai-compatible/MODEL, tei/MODEL [default: all-MiniLM-L6-v2]
    #[arg(long, value_name = "NAME")]
    embedder: Option<String>,
    /// What computes the model; gpu is a graphics processor, or the encoder where there is none [default: encoder; tract
    /// for an ONNX model that closeread did not convert]
    #[arg(long, value_name = BACKENDS, value_parser = named::<BackendName>)]
    backend: Option<BackendName>,
    #[command(flatten)]
    served: ServedArgs,
}

impl EmbedderArgs {
    /// The model's name, if one is named.
    fn name(&self) -> Option<&str> {
        self.embedder.as_deref()
    }

    /// The model, installed or on a server.
    fn load(&self) -> Result<Embedder> {
        let options = self.served.options(self.backend);
        options.check(self.name().unwrap_or(models::SHIPPED))?;
        Embedder::named(self.name(), &options)
    }
}

/// Where an embedding model on a server is.
#[derive(Debug, clap::Args)]
pub(crate) struct ServedArgs {
    /// Address of the embedding model's server: up to and including /v1 for OpenAI's protocol, for tei up to where /embed
    /// begins
    #[arg(long, value_name = "URL")]
    embedder_base_url: Option<String>,
    /// TOML that describes an embedding model on a server: max_tokens, tokenizer, prefixes, see docs/providers.md
    #[arg(long, value_name = "FILE")]
    embedder_spec: Option<PathBuf>,
}

impl ServedArgs {
    fn options(&self, backend: Option<BackendName>) -> EmbedderOptions {
        let (base_url, spec) = (self.embedder_base_url.clone(), self.embedder_spec.clone());
        EmbedderOptions { backend, base_url, spec, ..EmbedderOptions::default() }
    }
}

/// The one book that a file holds.
fn one_book(path: &Path, args: &BookArgs) -> Result<Book> {
    let options = InputOptions {
        leave_on_disk: false,
        encoding: args.encoding.clone(),
        language: args.language,
        keep_frame: args.keep_frame,
        keep_wraps: args.keep_wraps,
        allow_outside: args.allow_outside,
    };
    let (books, problems) = read_books(path, &options);
    if let Some(problem) = problems.first() {
        bail!("{problem}");
    }
    let n = books.len();
    match books.into_iter().next() {
        Some((book, report)) if n == 1 => {
            info!("{report}");
            Ok(book)
        }
        _ => bail!("{} holds {n} books: name one file", path.display()),
    }
}
