//! The options that all builds have, and what they make: hosts, prompts, a tokenizer.

use super::BuildFolder;
use crate::config::max_cost;
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_books::tokens::Tokenizer;
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::Settings;
use closeread_methods::reader::EXTRACTIVE;
use closeread_prompts::Prompts;
use closeread_providers::extra_body::ExtraBodies;
use closeread_providers::reply_cache::ReplyCache;
use closeread_providers::{self as provider, Reader, without_credentials};
use closeread_runner::host::{CliHost, QueryEncoder, Repetition};
use closeread_runner::input::{InputOptions, read_books};
use closeread_runner::journal::Journal;
use closeread_runner::spending::Spending;
use closeread_runner::{pricing, prompts, tokenizer};
use closeread_text::Language;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The options of every build.
#[derive(Debug, clap::Args)]
pub(crate) struct BuildOptions {
    /// Folder of the build: its stages, and the benchmark that comes out
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The model that builds: openai/MODEL, anthropic/MODEL, gemini/MODEL, openai-compatible/MODEL
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Address of the models' server
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Forget this stage and all later ones, and make them anew
    #[arg(long, value_name = "STAGE")]
    pub(crate) from: Option<String>,
    /// End after this stage
    #[arg(long, value_name = "STAGE")]
    pub(crate) until: Option<String>,
    /// Forget what the folder holds and start anew
    #[arg(long, conflicts_with = "from")]
    pub(crate) fresh: bool,
    /// Say what each stage would take and cost, and ask nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Tokens of a reply that the least of --dry-run is taken from
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub(crate) assume_reply: u64,
    /// Most tokens of a reply
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) max_output_tokens: u32,
    /// Counts chunks and prompts: cl100k, o200k, embedder, or a tokenizer.json
    #[arg(long, value_name = "NAME|FILE", default_value = "o200k")]
    pub(crate) tokenizer: String,
    /// Decides what is drawn at random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Questions of each kind on the page for people
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) check: usize,
    /// Read back what a person ticked on that page, and say how often people and pipeline agree
    #[arg(long, value_name = "FILE")]
    pub(crate) checked: Option<PathBuf>,
    /// Fields merged into every request, as JSON or a file with it, or into those made from one prompt; repeatable
    #[arg(long, value_name = "JSON|FILE|PROMPT={...}|PROMPT=@FILE")]
    pub(crate) extra_body: Vec<String>,
    /// Prices of models, over those that ship
    #[arg(long, value_name = "FILE")]
    pub(crate) model_info: Option<PathBuf>,
    /// Most that the calls of this command may cost, in US dollars: it stops before a call that could cost more
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) max_cost: Option<f64>,
    /// With --max-cost: calls of models without a known price count as free
    #[arg(long)]
    pub(crate) allow_unknown_price: bool,
    /// Folder with prompts that replace ours, by file name
    #[arg(long, value_name = "DIR")]
    pub(crate) prompts: Option<PathBuf>,
    /// Longest that one try of a call may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) timeout: u64,
    /// Most units of work under way at once
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) concurrency: usize,
    /// Ask again what was asked before: remembered replies are neither used nor kept
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Print the funnel and all tables as one JSON value
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which books, and how they are read.
#[derive(Debug, clap::Args)]
pub(crate) struct BookInputs {
    /// A .txt, .md or .epub file, a documents.jsonl, or a folder of them; repeatable
    #[arg(long = "books", value_name = "PATH", num_args = 1..)]
    books: Vec<PathBuf>,
    /// Read files outside the folder of a documents.jsonl that names them: their text goes to the model's server
    #[arg(long)]
    allow_outside: bool,
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

    /// Reads the books; one that cannot be read ends the build before it begins.
    pub(crate) fn read(&self) -> Result<Vec<Arc<Book>>> {
        if self.books.is_empty() {
            bail!("--books is missing: name files or folders with the books to build from");
        }
        let options = InputOptions {
            encoding: self.encoding.clone(),
            language: self.language,
            allow_outside: self.allow_outside,
            ..InputOptions::default()
        };
        let mut books: Vec<Arc<Book>> = Vec::new();
        let mut ids = HashSet::new();
        for path in &self.books {
            let (found, problems) = read_books(path, &options);
            if let Some(problem) = problems.iter().find(|p| p.kind == closeread_runner::input::ProblemKind::Failed) {
                bail!("{problem}");
            }
            for (book, report) in found {
                eprintln!("{report}");
                if !ids.insert(book.id.clone()) {
                    bail!("two books are called `{}`: rename a file, or name ids in a documents.jsonl", book.id);
                }
                books.push(Arc::new(book));
            }
        }
        Ok(books)
    }
}

/// What a build works with.
pub(crate) struct BuildContext {
    pub(crate) prompts: Prompts,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) prices: PriceList,
    max_output_tokens: u32,
    hosts: BTreeMap<String, CliHost>,
    spending: Rc<Spending>,
}

impl BuildOptions {
    /// The model that builds.
    pub(crate) fn model(&self) -> Result<&str> {
        let model = self.model.as_deref().context("--model is missing: name the model that builds, provider/model")?;
        if model == EXTRACTIVE {
            bail!("{EXTRACTIVE} reads, it does not write: name a language model with --model");
        }
        provider::check_name(model)?;
        Ok(model)
    }

    /// The workshop of these models; without one, as for --dry-run, nobody can be asked.
    pub(crate) fn workshop(&self, models: &[&str]) -> Result<BuildContext> {
        let prompts = prompts::load(self.prompts.as_deref())?;
        let tokenizer = tokenizer::load(Some(&self.tokenizer), None)?;
        let prices = pricing::load(self.model_info.as_deref())?;
        let limit = max_cost(self.max_cost)?;
        if limit.is_some() && !self.allow_unknown_price {
            pricing::check_known(&prices, &models.iter().map(|model| (*model).to_owned()).collect::<Vec<_>>())?;
        }
        let spending = Rc::new(Spending::new(prices.clone(), limit, Dollars::default(), tokenizer.clone()));
        let options = provider::Options {
            extra_body: self.extra_body()?,
            timeout: Duration::from_secs(self.timeout.max(1)),
            concurrency: self.concurrency.max(1),
            ..provider::Options::default()
        };
        let replies = Rc::new(if self.no_cache { ReplyCache::new(None) } else { closeread_runner::cache::replies() });
        let mut hosts = BTreeMap::new();
        for model in models {
            let reader = Reader::named(model, self.base_url.as_deref(), options.clone())?;
            let host = CliHost::new(reader, Rc::clone(&replies)).charged_to(Rc::clone(&spending), model);
            hosts.insert((*model).to_owned(), host);
        }
        Ok(BuildContext { prompts, tokenizer, prices, max_output_tokens: self.max_output_tokens, hosts, spending })
    }

    fn extra_body(&self) -> Result<ExtraBodies> {
        ExtraBodies::read(&self.extra_body, &BTreeMap::new())
    }

    /// What the manifest holds of these options; `prompts` are those that the pipeline uses.
    pub(crate) fn configuration(
        &self,
        pipeline: &str,
        workshop: &BuildContext,
        prompts: &[&str],
        more: Value,
    ) -> Result<Value> {
        let hashes: Map<String, Value> = prompts
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), json!(workshop.prompts.hashes().get(*name)?))))
            .collect();
        let extra = self.extra_body()?;
        let mut configuration = json!({
            "pipeline": pipeline,
            "model": self.model,
            "base_url": self.base_url.as_deref().map(without_credentials),
            "max_output_tokens": self.max_output_tokens,
            "tokenizer": workshop.tokenizer.name(),
            "seed": self.seed,
            "extra_body": {"all": extra.all, "named": extra.named},
            "prompts": hashes,
        });
        if let (Some(fields), Value::Object(more)) = (configuration.as_object_mut(), more) {
            fields.extend(more);
        }
        Ok(configuration)
    }

    /// The folder of the build.
    pub(crate) fn folder(&self, stages: &'static [&'static str], configuration: &Value) -> Result<BuildFolder> {
        if let Some(until) = self.until.as_deref().filter(|until| !stages.contains(until)) {
            bail!("there is no stage `{until}`: expected {}", stages.join(", "));
        }
        BuildFolder::open(&self.out, stages, configuration, self.from.as_deref(), self.fresh)
    }
}

impl BuildContext {
    /// What every call shares.
    pub(crate) fn setting(&self) -> Settings<'_> {
        Settings {
            prompts: &self.prompts,
            tokenizer: &self.tokenizer,
            max_output_tokens: self.max_output_tokens,
            temperature: 0.0,
            context_window: None,
        }
    }

    /// A model of the workshop, whose replies are kept in the journal.
    pub(crate) fn host<'a>(
        &'a self,
        model: &str,
        journal: &'a Journal,
        encoder: Option<&'a QueryEncoder>,
    ) -> Repetition<'a> {
        self.hosts[model].repetition(0, encoder).journalled(journal)
    }

    /// Returns when there is no money for another call.
    pub(crate) async fn is_out(&self) {
        self.spending.is_out().await;
    }

    /// Says what the calls of this session took, where some were made.
    pub(crate) fn say_spending(&self) {
        let taken = self.spending.taken();
        if taken.prompt_tokens + taken.reply_tokens > 0 {
            let unknown = match taken.unpriced {
                0 => String::new(),
                n => format!(" and {n} calls of unknown price"),
            };
            eprintln!(
                "{} tokens of prompts, {} of replies; {}{unknown}",
                taken.prompt_tokens, taken.reply_tokens, taken.dollars
            );
        }
    }
}
