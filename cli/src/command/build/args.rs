//! The options that all builds have.

use crate::command::{AskingArgs, CostArgs};
use crate::config::max_cost;
use anyhow::{Context, Result, bail};
use closeread_builder::context::{BuildContext, ContextOptions};
use closeread_builder::folder::BuildFolder;
use closeread_methods::protocol::Protocol;
use closeread_methods::reader::EXTRACTIVE;
use closeread_providers as provider;
use closeread_providers::extra_body::ExtraBodies;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The options of every build.
#[derive(Debug, clap::Args)]
pub(crate) struct BuildOptions {
    /// Folder of the build: its stages and the finished benchmark
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The model that builds: openai/MODEL, anthropic/MODEL, gemini/MODEL, openai-compatible/MODEL
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Discard this stage and all later ones, and make them again
    #[arg(long, value_name = "STAGE")]
    pub(crate) from: Option<String>,
    /// Stop after this stage
    #[arg(long, value_name = "STAGE")]
    pub(crate) until: Option<String>,
    /// Discard the folder's contents and start anew
    #[arg(long, conflicts_with = "from")]
    pub(crate) fresh: bool,
    /// Estimate each stage's calls, tokens and cost, without a call
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For --dry-run: tokens of a response, for the lowest cost
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub(crate) assume_response: u64,
    /// Maximum tokens of a response
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) max_output_tokens: u32,
    /// Tokenizer that counts books, chunks and prompts: cl100k, o200k, deepseek-r1, embedder, or a tokenizer.json
    /// [default: the paper's, as `closeread protocol` has it]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) tokenizer: Option<String>,
    /// Seed of random draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of questions of each kind on the page for people
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) check: usize,
    /// Read a person's ticks from that page, and print how often people and pipeline agree. With several people, also
    /// print how far they agree with each other, and how much of the pipeline's work most of them confirm
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) checked: Vec<PathBuf>,
    /// Fields merged into every request, as JSON or a file with it, or into those made from one prompt; repeatable
    #[arg(long, value_name = "JSON|FILE|PROMPT={...}|PROMPT=@FILE")]
    pub(crate) extra_body: Vec<String>,
    /// Maximum time of one attempt of a call
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) timeout: u64,
    /// Maximum concurrent units of work
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) concurrency: usize,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
    #[command(flatten)]
    pub(crate) costs: CostArgs,
    /// Print the funnel and all tables as one JSON value
    #[arg(long)]
    pub(crate) json: bool,
}

impl BuildOptions {
    /// Returns the model that builds.
    pub(crate) fn model(&self) -> Result<&str> {
        let model = self.model.as_deref().context("--model is missing: name the model that builds, provider/model")?;
        if model == EXTRACTIVE {
            bail!("{EXTRACTIVE} reads, it does not write: name a language model with --model");
        }
        provider::check_name(model)?;
        Ok(model)
    }

    /// Returns what a build of the benchmark `pipeline` by these models works with; a dry run asks nobody.
    pub(crate) fn context(&self, pipeline: &str, models: &[&str]) -> Result<BuildContext> {
        let costs = self.costs.with_own_limits()?;
        let options = ContextOptions {
            prompts: self.asking.prompts.clone(),
            tokenizer: self.tokenizer.clone(),
            tokenizer_of_paper: *Protocol::of(pipeline).tokenizer,
            model_info: costs.model_info,
            max_cost: max_cost(costs.max_cost)?,
            allow_unknown_price: costs.allow_unknown_price,
            base_url: self.asking.base_url.clone(),
            extra_body: ExtraBodies::read(&self.extra_body, &BTreeMap::new())?,
            timeout: Duration::from_secs(self.timeout.max(1)),
            concurrency: self.concurrency.max(1),
            max_output_tokens: self.max_output_tokens,
            no_cache: self.asking.no_cache,
        };
        BuildContext::new(options, if self.dry_run { &[] } else { models })
    }

    /// Returns what the manifest holds of these options; `prompts` are those that the pipeline uses.
    pub(crate) fn configuration(&self, pipeline: &str, context: &BuildContext, prompts: &[&str], more: Value) -> Value {
        context.configuration(pipeline, self.model.as_deref(), self.seed, prompts, more)
    }

    /// The folder of the build.
    pub(crate) fn folder(&self, stages: &'static [&'static str], configuration: &Value) -> Result<BuildFolder> {
        if let Some(until) = self.until.as_deref().filter(|until| !stages.contains(until)) {
            bail!("there is no stage `{until}`: expected {}", stages.join(", "));
        }
        BuildFolder::open(&self.out, stages, configuration, self.from.as_deref(), self.fresh)
    }
}
