//! Commands, one file each.

pub(crate) mod agreement;
pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod chunk;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod data;
pub(crate) mod doctor;
pub(crate) mod estimate;
pub(crate) mod export;
pub(crate) mod gate;
pub(crate) mod help;
pub(crate) mod index;
pub(crate) mod judge;
pub(crate) mod leaderboard;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod methods;
pub(crate) mod model;
pub(crate) mod people;
mod plan;
mod progress;
pub(crate) mod protocol;
pub(crate) mod providers;
pub(crate) mod report;
pub(crate) mod retrieve;
pub(crate) mod run;
pub(crate) mod score;
pub(crate) mod search;
pub(crate) mod serve;
mod site;
pub(crate) mod status;
pub(crate) mod submit;
mod tables;
pub(crate) mod tree;
pub(crate) mod verify;

use crate::config::{RunArgs, max_cost};
use crate::values::one_of;
use anyhow::{Result, bail};
use closeread_books::Book;
use closeread_books::tokens::Tokenizer;
use closeread_llm::price::Dollars;
use closeread_retrieve::Retriever;
use closeread_runner::benchmark::{SAMPLE, sample_story};
use closeread_runner::embedder::{BackendName, Embedder, EmbedderOptions};
use closeread_runner::input::{InputOptions, ProblemKind, read_books};
use closeread_runner::spending::Spending;
use closeread_runner::{models, pricing};
use closeread_text::Language;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
    /// Read files outside the folder of a documents.jsonl that names them, or of a link: their text goes to the model's server
    #[arg(long)]
    allow_outside: bool,
}

/// How passages are ranked, by which embedding model, and what computes it.
#[derive(Debug, clap::Args)]
pub(crate) struct EmbedderArgs {
    /// How passages are ranked, or clustered in a tree: by vectors, by words or by both [default: dense; bm25 for a book in
    /// a language the embedder does not know]
    #[arg(long, value_name = "NAME", value_parser = one_of::<Retriever>())]
    retriever: Option<Retriever>,
    /// An installed embedding model, see `closeread model list`, or one on a server: openai/MODEL,
    /// openai-compatible/MODEL, tei/MODEL [default: all-MiniLM-L6-v2]
    #[arg(long, value_name = "NAME")]
    embedder: Option<String>,
    /// What computes the embedding model; gpu is a graphics processor, or the encoder where there is none [default:
    /// encoder; tract for an ONNX model that closeread did not convert]
    #[arg(long, value_name = "NAME", value_parser = one_of::<BackendName>())]
    backend: Option<BackendName>,
    #[command(flatten)]
    served: ServedArgs,
}

impl EmbedderArgs {
    /// The model's name, if one is named.
    fn name(&self) -> Option<&str> {
        self.embedder.as_deref()
    }

    /// The model, installed or on a server; `None` where words rank.
    fn load(&self) -> Result<Option<Embedder>> {
        if self.retriever == Some(Retriever::Bm25) {
            return Ok(None);
        }
        let options = self.served.options(self.backend);
        options.check(self.name().unwrap_or(models::SHIPPED))?;
        Embedder::named(self.name(), &options).map(Some)
    }
}

/// Where a language model is asked, and with which prompts. `run` has the same options, which a config file can give.
#[derive(Debug, clap::Args)]
pub(crate) struct AskingArgs {
    /// Address of the models' server
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Folder with prompts that replace the shipped ones, by file name
    #[arg(long, value_name = "DIR")]
    prompts: Option<PathBuf>,
    /// Send every call: cached responses are neither used nor kept
    #[arg(long)]
    no_cache: bool,
}

/// What calls may cost. `run` has the same options; the environment and the user's file give them for all.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CostArgs {
    /// Stop before a call that could cost more, in US dollars; a run folder's earlier calls count [default: no limit]
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,
    /// With --max-cost: start although a model's price is not known, and count its calls as free
    #[arg(long)]
    allow_unknown_price: bool,
    /// Windows and prices of models, over those that ship, see docs/costs.md [default: models.toml of the user's
    /// configuration folder, where there is one]
    #[arg(long, value_name = "FILE")]
    model_info: Option<PathBuf>,
}

impl CostArgs {
    /// The same with the limits of the user's file, where nothing else is said.
    fn with_own_limits(&self) -> Result<Self> {
        let Self { max_cost, allow_unknown_price, model_info } = self.clone();
        let RunArgs { max_cost, allow_unknown_price, model_info, .. } =
            RunArgs { max_cost, allow_unknown_price, model_info, ..RunArgs::default() }.with_files()?;
        Ok(Self { max_cost, allow_unknown_price, model_info })
    }

    /// Begins to count what a command without a run folder spends on models and on an embedder's server, up to its limit.
    /// Responses of `unlimited` models may have any length.
    fn spending(
        &self,
        models: &[String],
        unlimited: &[String],
        embedder: Option<&Embedder>,
        tokenizer: &Tokenizer,
    ) -> Result<Arc<Spending>> {
        let costs = self.with_own_limits()?;
        let (prices, limit) = (pricing::load(costs.model_info.as_deref())?, max_cost(costs.max_cost)?);
        if limit.is_some() && !costs.allow_unknown_price {
            let served = embedder.filter(|embedder| embedder.server().is_some()).map(Embedder::name);
            pricing::check_known(&prices, &[models, served.as_slice()].concat())?;
            pricing::check_responses_known(&prices, unlimited)?;
        }
        let spending = Arc::new(Spending::new(prices, limit, Dollars::default(), tokenizer.clone()));
        if let Some(embedder) = embedder {
            embedder.charge_to(&spending);
        }
        Ok(spending)
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

/// Reads the one book that a file holds; `sample`, where no file is called so, is the English story of the sample.
fn one_book(path: &Path, args: &BookArgs) -> Result<Book> {
    if path == Path::new(SAMPLE) && !path.exists() {
        return sample_story();
    }
    let options = InputOptions {
        leave_on_disk: false,
        encoding: args.encoding.clone(),
        language: args.language,
        keep_frame: args.keep_frame,
        keep_wraps: args.keep_wraps,
        allow_outside: args.allow_outside,
    };
    let (books, problems) = read_books(path, &options);
    if let Some(problem) = problems.iter().find(|problem| problem.kind == ProblemKind::Failed) {
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
