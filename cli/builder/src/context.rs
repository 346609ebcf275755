//! Context of a build: models, prompts, a tokenizer, prices and limits.

use crate::folder::BuildFolder;
use anyhow::Result;
use closeread_books::tokens::Tokenizer;
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::protocol::PaperTokenizer;
use closeread_methods::record::ServedCall;
use closeread_methods::{ResponseLimit, Settings};
use closeread_prompts::Prompts;
use closeread_providers::extra_body::ExtraBodies;
use closeread_providers::response_cache::ResponseCache;
use closeread_providers::{self as provider, Model, told_apart};
use closeread_runner::host::{CliHost, QueryEncoder, Repetition};
use closeread_runner::journal::Journal;
use closeread_runner::run_folder::{EMBEDDINGS, Spent, served_calls};
use closeread_runner::spending::{Charged, Spending, Taken};
use closeread_runner::{cache, pricing, prompts, tokenizer};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The options by which the models of a build are asked.
#[derive(Clone)]
pub struct ContextOptions {
    /// Folder with prompts that replace ours.
    pub prompts: Option<PathBuf>,
    /// Tokenizer that counts books, chunks and prompts: a name or a file; without it the paper's.
    pub tokenizer: Option<String>,
    /// Tokenizer that the paper counts by.
    pub tokenizer_of_paper: PaperTokenizer,
    /// Prices over those that ship.
    pub model_info: Option<PathBuf>,
    /// Most dollars that the calls may cost.
    pub max_cost: Option<Dollars>,
    /// Calls of models without a known price count as free.
    pub allow_unknown_price: bool,
    /// Address of the models' server.
    pub base_url: Option<String>,
    /// Extra fields that are merged into requests.
    pub extra_body: ExtraBodies,
    /// Maximum time of one attempt of a call.
    pub timeout: Duration,
    /// Most units of work to do at once, from 1.
    pub concurrency: usize,
    /// Most tokens that a response may have.
    pub max_output_tokens: u32,
    /// Whether cached responses are neither used nor kept.
    pub no_cache: bool,
}

/// The context that a build works with.
pub struct BuildContext {
    /// The prompts of the build.
    pub prompts: Prompts,
    /// Tokenizer that counts.
    pub tokenizer: Tokenizer,
    /// The prices of models.
    pub prices: PriceList,
    options: ContextOptions,
    hosts: BTreeMap<String, CliHost>,
    spending: Arc<Spending>,
    /// Dollars that earlier commands into the folder took, as far as they are known.
    before: Dollars,
}

impl BuildContext {
    /// Makes the context with these models; without one, as for an estimate, nobody can be asked.
    pub fn new(options: ContextOptions, models: &[&str]) -> Result<Self> {
        let prompts = prompts::load(options.prompts.as_deref())?;
        let tokenizer = tokenizer::load_or(options.tokenizer.as_deref(), options.tokenizer_of_paper, None)?;
        let prices = pricing::load(options.model_info.as_deref())?;
        if options.max_cost.is_some() && !options.allow_unknown_price {
            pricing::check_known(&prices, &models.iter().map(|model| (*model).to_owned()).collect::<Vec<_>>())?;
        }
        let spending = Arc::new(Spending::new(prices.clone(), options.max_cost, Dollars::default(), tokenizer.clone()));
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
            let host = CliHost::new(reader, Rc::clone(&responses)).charged_to(Arc::clone(&spending), model);
            hosts.insert((*model).to_owned(), host);
        }
        Ok(Self { prompts, tokenizer, prices, options, hosts, spending, before: Dollars::default() })
    }

    /// Keeps what calls cost in the folder, so that a limit counts what earlier commands took there, with the calls that a
    /// kill cut off. What `encoder` embeds on a server is spent too, and written down there.
    pub fn charge_to(&mut self, folder: &BuildFolder, encoder: Option<&QueryEncoder>) -> Result<()> {
        let charged = Charged::read(folder.path())?.unwrap_or_default();
        let (calls, open) = (charged.total(), charged.open());
        let embedded = served_calls(folder.path(), EMBEDDINGS)?;
        let cost = |call: &ServedCall| self.prices.cost_of_texts(&call.model, call.tokens, call.searches);
        let embedded: Dollars = embedded.iter().filter_map(cost).sum();
        self.before = calls - open + embedded;
        let spent = Spent { calls, kept: calls - open, open, served: embedded };
        let (prices, limit) = (self.prices.clone(), self.options.max_cost);
        let spending = Arc::new(Spending::of_run(folder.path(), prices, limit, spent, self.tokenizer.clone())?);
        if let Some(encoder) = encoder {
            encoder.embedder().log_to(&folder.path().join(EMBEDDINGS));
            encoder.embedder().charge_to(&spending);
        }
        self.spending = spending;
        let hosts = std::mem::take(&mut self.hosts).into_iter();
        self.hosts =
            hosts.map(|(model, host)| (model.clone(), host.charged_to(Arc::clone(&self.spending), &model))).collect();
        Ok(())
    }

    /// Returns what the manifest holds of a build by `model`; `prompts` are those that the pipeline uses.
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
            "base_url": self.options.base_url.as_deref().map(told_apart),
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

    /// Returns the settings that every call shares.
    pub fn setting(&self) -> Settings<'_> {
        Settings {
            prompts: &self.prompts,
            tokenizer: &self.tokenizer,
            response_limit: ResponseLimit::AtMost(self.options.max_output_tokens),
            temperature: 0.0,
            context_window: None,
        }
    }

    /// Returns one of the models, whose responses are kept in the journal.
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

    /// Returns what the calls of this session took, the dollars of all sessions, and the most that calls into the folder can have
    /// cost beside them whose end is not known.
    pub fn taken(&self, folder: &BuildFolder) -> Result<(Taken, Dollars, Dollars)> {
        let open = Charged::read(folder.path())?.unwrap_or_default().open();
        let taken = self.spending.taken();
        // With a limit they are among what is spent.
        let all = if self.options.max_cost.is_some() { taken.dollars - open } else { taken.dollars };
        Ok((Taken { dollars: all - self.before, ..taken }, all, open))
    }
}
