//! Options of a run taken together, with the paper's protocol behind them.

use super::{RunArgs, max_cost};
use crate::ranges::warn_of_thousands;
use crate::values::each_once;
use anyhow::{Context, Result, bail};
use closeread_books::tokens::Tokenizer;
use closeread_eval::draw::{Draw, Where};
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::protocol::Protocol;
use closeread_methods::reader::EXTRACTIVE;
use closeread_methods::{AnyMethod, Entry, METHODS};
use closeread_providers::extra_body::ExtraBodies;
use closeread_providers::{Rates, reasoning_fields};
use closeread_retrieve::Retriever;
use closeread_runner::benchmark::BenchmarkOptions;
use closeread_runner::embedder::EmbedderOptions;
use closeread_runner::reranker::{RERANK_FROM, Reranker, RerankerOptions, Reranking};
use closeread_runner::shard::Shard;
use closeread_runner::{models, tokenizer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tracing::info;

impl RunArgs {
    /// The fields that are merged into requests.
    pub(crate) fn extra_body(&self) -> Result<ExtraBodies> {
        ExtraBodies::read(&self.extra_body, &self.extra_bodies)
    }

    /// Returns how the paper runs the benchmark: what holds where the options say nothing.
    pub(crate) fn protocol(&self) -> &'static Protocol {
        Protocol::of(self.benchmark.as_deref().unwrap_or_default())
    }

    /// Returns the most tokens that a response may have; `None` leaves it to the provider.
    pub(crate) fn max_output_tokens(&self) -> Option<u32> {
        self.max_output_tokens.or(*self.protocol().max_output_tokens)
    }

    /// The seed that is sent.
    pub(crate) fn seed(&self) -> Option<u64> {
        self.seed.or(*self.protocol().seed)
    }

    /// Returns the label and value of the items that the paper asks, where the options choose none.
    pub(crate) fn only_of_paper(&self) -> Option<Where> {
        let chosen = !self.only.is_empty() || !self.items.is_empty();
        self.protocol().only.filter(|_| !chosen).and_then(|text| text.parse().ok())
    }

    /// The fields by which each model is asked to reason as the options say; none where they say nothing.
    pub(crate) fn reasoning_fields(&self) -> Result<BTreeMap<String, Map<String, Value>>> {
        let Some(asked) = self.reasoning else { return Ok(BTreeMap::new()) };
        self.readers().into_iter().map(|model| Ok((model.clone(), reasoning_fields(&model, asked)?))).collect()
    }

    /// The window that was given for all models, and those that hold for single ones.
    pub(crate) fn windows(&self, known: &PriceList) -> Result<(Option<usize>, BTreeMap<String, usize>)> {
        let given = self.context_window.clone().unwrap_or_default();
        Ok((given.all, given.by_model(&self.readers(), known)?))
    }

    /// Loads the tokenizer that counts passages, budgets and prompts.
    pub(crate) fn load_tokenizer(&self) -> Result<Tokenizer> {
        tokenizer::load_or(self.tokenizer.as_deref(), *self.protocol().tokenizer, self.embedder.as_deref())
    }

    /// Repeats of every trial. A reader without chance is asked once, however often the paper asks.
    pub(crate) fn repeats(&self) -> u32 {
        let has_chance = self.models().iter().any(|model| model != EXTRACTIVE);
        self.repeats.unwrap_or(if has_chance { *self.protocol().repeats } else { 1 }).max(1)
    }

    /// Returns the options with the embedding model of the protocol, where a method embeds, none is named and it is installed.
    pub(crate) fn with_embedder_of_protocol(self) -> Self {
        let embeds = self.retriever != Some(Retriever::Bm25)
            && self.methods().is_ok_and(|all| all.iter().any(|(_, method)| method.passages().is_some()));
        let Some(name) = self.protocol().embedder.filter(|_| self.embedder.is_none() && embeds) else { return self };
        if models::find(name).is_ok() {
            return Self { embedder: Some(name.to_owned()), ..self };
        }
        info!(
            "{} embeds with {name}, which is not installed: {} is used (closeread model pull {name})",
            self.protocol().embedder.owner(),
            models::SHIPPED
        );
        self
    }

    /// Returns which items are left of a benchmark by their labels and by chance.
    pub(crate) fn selection(&self) -> Result<(Vec<Where>, Option<Draw>)> {
        if self.by.is_some() && self.draw.is_none() {
            bail!("--by is for a sample: add --draw N");
        }
        let mut only =
            self.only.iter().map(|text| text.parse()).collect::<Result<Vec<Where>, _>>().context("--where")?;
        only.sort();
        only.dedup();
        Ok((only, self.draw.map(|n| Draw { n, by: self.by.clone(), seed: self.seed.unwrap_or(0) })))
    }

    /// Returns which books and items make the benchmark, and how they are read.
    pub(crate) fn benchmark_options(&self) -> Result<BenchmarkOptions> {
        let (only, draw) = self.selection()?;
        Ok(BenchmarkOptions {
            name: self.benchmark.clone(),
            data: self.data.clone(),
            encoding: self.encoding.clone(),
            language: self.language.clone(),
            keep_frame: self.keep_frame || *self.protocol().keep_frame,
            keep_wraps: self.keep_wraps,
            allow_outside: self.allow_outside,
            one_book: self.one_book,
            task: self.task.unwrap_or_default(),
            items: self.items.clone(),
            only,
            only_of_paper: self.only_of_paper(),
            draw,
            limit: self.limit,
            part: self.part()?,
            keep_catalog: false,
            judged: !self.judging_models().is_empty(),
        })
    }

    /// Returns which part of a run is asked for, if one is.
    pub(crate) fn part(&self) -> Result<Option<Shard>> {
        self.shard.as_deref().map(|text| Shard::read(text, |name| std::env::var(name).ok())).transpose()
    }

    /// Returns how embedding models are computed, and where.
    pub(crate) fn embedder_options(&self) -> EmbedderOptions {
        EmbedderOptions {
            backend: self.backend,
            base_url: self.embedder_base_url.clone(),
            spec: self.embedder_spec.clone(),
            ..EmbedderOptions::default()
        }
    }

    /// The reranker of the methods that rank passages, if one is named.
    pub(crate) fn reranking(&self, methods: &[(&Entry, AnyMethod)]) -> Result<Option<Reranking>> {
        let Some(name) = &self.reranker else {
            for (option, given) in [
                ("--rerank-from", self.rerank_from.is_some()),
                ("--reranker-base-url", self.reranker_base_url.is_some()),
            ] {
                if given {
                    bail!("{option} is for a run with a reranker: add --reranker");
                }
            }
            return Ok(None);
        };
        if !methods.iter().any(|(_, method)| method.ranks_passages()) {
            let ranking = METHODS.iter().filter(|entry| entry.preset().ranks_passages()).map(|entry| entry.name);
            bail!(
                "--reranker {name}: no method of the run takes passages by their rank, as {} do",
                ranking.collect::<Vec<_>>().join(", ")
            );
        }
        let options = RerankerOptions { base_url: self.reranker_base_url.clone(), ..RerankerOptions::default() };
        let reranker = Rc::new(Reranker::named(name, &options)?);
        Ok(Some(Reranking { reranker, from: self.rerank_from.unwrap_or(RERANK_FROM) }))
    }

    /// Time between two looks at the batches of the run; `None` where it has none.
    pub(crate) fn batch_poll(&self) -> Result<Option<Duration>> {
        match self.batch_poll.unwrap_or(30.0) {
            _ if !self.batch && self.batch_poll.is_some() => bail!("--batch-poll is for a run with --batch"),
            _ if !self.batch => Ok(None),
            seconds if (0.1..=86_400.0).contains(&seconds) => Ok(Some(Duration::from_secs_f64(seconds))),
            seconds => bail!("--batch-poll {seconds}: expected seconds, 0.1 to 86400"),
        }
    }

    /// Refuses a name that `report` could not tell from the path of a run, or that no table could show.
    pub(crate) fn check_name(&self) -> Result<()> {
        match &self.name {
            Some(name) if name.trim().is_empty() || name.contains(|c: char| c == '=' || c.is_control()) => {
                bail!("--name {name:?}: expected a few words without `=` and line breaks")
            }
            _ => Ok(()),
        }
    }

    /// Returns the limits a minute.
    pub(crate) fn rates(&self) -> Rates {
        Rates { rpm: self.rpm, tpm: self.tpm }
    }

    /// The limit on what the run may cost.
    pub(crate) fn max_cost(&self) -> Result<Option<Dollars>> {
        max_cost(self.max_cost)
    }

    /// Whether a limit on money asks for the price of everything that is paid for.
    pub(crate) fn must_know_prices(&self) -> Result<bool> {
        Ok(self.max_cost()?.is_some() && !self.allow_unknown_price)
    }

    /// The models named, each once, or the one that needs none.
    pub(crate) fn models(&self) -> Vec<String> {
        if self.model.is_empty() { vec![EXTRACTIVE.to_owned()] } else { each_once(&self.model) }
    }

    /// The models that are asked about books, as readers or for preparations, each once.
    pub(crate) fn readers(&self) -> Vec<String> {
        let mut readers = self.models();
        readers.extend(self.preparer.clone().filter(|preparer| !readers.contains(preparer)));
        readers
    }

    /// The budgets, ascending, each once.
    pub(crate) fn budgets(&self) -> Result<Vec<usize>> {
        let mut budgets = if self.budget.is_empty() { self.protocol().budgets.to_vec() } else { self.budget.clone() };
        if budgets.contains(&0) {
            bail!("--budget 0 leaves no room for a passage: expected 1 or more tokens; closed-book reads none");
        }
        warn_of_thousands("budget", &self.budget);
        budgets.sort_unstable();
        budgets.dedup();
        Ok(budgets)
    }
}
