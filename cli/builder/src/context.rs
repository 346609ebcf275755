//! What a build works with: models, prompts, a tokenizer, prices and limits.

use anyhow::Result;
use closeread_books::tokens::Tokenizer;
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::protocol::PaperTokenizer;
use closeread_methods::{ResponseLimit, Settings};
use closeread_prompts::Prompts;
use closeread_providers::extra_body::ExtraBodies;
use closeread_providers::response_cache::ResponseCache;
use closeread_providers::{self as provider, Model, without_credentials};
use closeread_runner::host::{CliHost, QueryEncoder, Repetition};
use closeread_runner::journal::Journal;
use closeread_runner::spending::{Spending, Taken};
use closeread_runner::{cache, pricing, prompts, tokenizer};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// How the models of a build are asked.
#[derive(Clone)]
pub struct ContextOptions {
    /// Folder with prompts that replace ours.
    pub prompts: Option<PathBuf>,
    /// Counts books, chunks and prompts: a name or a file; without it the paper's.
    pub tokenizer: Option<String>,
    /// What the paper counts by.
    pub tokenizer_of_paper: PaperTokenizer,
    /// Prices over those that ship.
    pub model_info: Option<PathBuf>,
    /// Most that the calls may cost.
    pub max_cost: Option<Dollars>,
    /// Calls of models without a known price count as free.
    pub allow_unknown_price: bool,
    /// Address of the models' server.
    pub base_url: Option<String>,
    /// Fields merged into requests.
    pub extra_body: ExtraBodies,
    /// Longest that one try of a call may take.
    pub timeout: Duration,
    /// Most units of work under way at once, from 1.
    pub concurrency: usize,
    /// Most tokens of a response.
    pub max_output_tokens: u32,
    /// Neither use nor keep cached responses.
    pub no_cache: bool,
}

/// What a build works with.
pub struct BuildContext {
    /// The prompts.
    pub prompts: Prompts,
    /// What counts.
    pub tokenizer: Tokenizer,
    /// The prices.
    pub prices: PriceList,
    options: ContextOptions,
    hosts: BTreeMap<String, CliHost>,
    spending: Rc<Spending>,
}

impl BuildContext {
    /// With these models; without one, as for an estimate, nobody can be asked.
    pub fn new(options: ContextOptions, models: &[&str]) -> Result<Self> {
        let prompts = prompts::load(options.prompts.as_deref())?;
        let tokenizer = tokenizer::load_or(options.tokenizer.as_deref(), options.tokenizer_of_paper, None)?;
        let prices = pricing::load(options.model_info.as_deref())?;
        if options.max_cost.is_some() && !options.allow_unknown_price {
            pricing::check_known(&prices, &models.iter().map(|model| (*model).to_owned()).collect::<Vec<_>>())?;
        }
        let spending = Rc::new(Spending::new(prices.clone(), options.max_cost, Dollars::default(), tokenizer.clone()));
        let asking = provider::Options {
            extra_body: options.extra_body.clone(),
            timeout: options.timeout,
            concurrency: options.concurrency,
            ..provider::Options::default()
        };
        let responses = Rc::new(if options.no_cache { ResponseCache::new(None) } else { cache::responses() });
        let mut hosts = BTreeMap::new();
        for model in models {
            let reader = Model::named(model, options.base_url.as_deref(), asking.clone())?;
            let host = CliHost::new(reader, Rc::clone(&responses)).charged_to(Rc::clone(&spending), model);
            hosts.insert((*model).to_owned(), host);
        }
        Ok(Self { prompts, tokenizer, prices, options, hosts, spending })
    }

    /// What the manifest holds of a build by `model`; `prompts` are those that the pipeline uses.
    pub fn configuration(
        &self,
        pipeline: &str,
        model: Option<&str>,
        seed: u64,
        prompts: &[&str],
        more: Value,
    ) -> Value {
        let hashes: Map<String, Value> = prompts
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), json!(self.prompts.hashes().get(*name)?))))
            .collect();
        let extra = &self.options.extra_body;
        let mut configuration = json!({
            "pipeline": pipeline,
            "model": model,
            "base_url": self.options.base_url.as_deref().map(without_credentials),
            "max_output_tokens": self.options.max_output_tokens,
            "tokenizer": self.tokenizer.name(),
            "seed": seed,
            "extra_body": {"all": extra.all, "named": extra.named},
            "prompts": hashes,
        });
        if let (Some(fields), Value::Object(more)) = (configuration.as_object_mut(), more) {
            fields.extend(more);
        }
        configuration
    }

    /// What every call shares.
    pub fn setting(&self) -> Settings<'_> {
        Settings {
            prompts: &self.prompts,
            tokenizer: &self.tokenizer,
            response_limit: ResponseLimit::AtMost(self.options.max_output_tokens),
            temperature: 0.0,
            context_window: None,
        }
    }

    /// One of the models, whose responses are kept in the journal.
    ///
    /// # Panics
    /// If the model is none of them.
    pub fn host<'a>(&'a self, model: &str, journal: &'a Journal, encoder: Option<&'a QueryEncoder>) -> Repetition<'a> {
        self.hosts[model].repetition(0, encoder).journalled(journal)
    }

    /// Returns when there is no money for another call.
    pub async fn is_out(&self) {
        self.spending.is_out().await;
    }

    /// What the calls of this session took.
    pub fn taken(&self) -> Taken {
        self.spending.taken()
    }
}
