//! The options of a run: from the command line, from a TOML file, and what they mean together.

mod file;
pub(crate) mod judges;
mod merging;
mod methods;
mod together;
mod windows;

pub(crate) use file::user_file;

use crate::values::one_of;
use anyhow::{Result, bail};
use closeread_judges::PanelRule;
use closeread_llm::constrain::Constraint;
use closeread_llm::price::Dollars;
use closeread_llm::reasoning::Reasoning;
use closeread_methods::{OnOverflow, OnTruncation};
use closeread_providers::extra_body;
use closeread_retrieve::Retriever;
use closeread_retrieve::context::Fill;
use closeread_runner::benchmark::AskedAs;
use closeread_runner::embedder::BackendName;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use windows::Windows;

/// Value of `--method` that stands for every method.
const ALL_METHODS: &str = "all";

/// Run methods and models on a benchmark; resumes where it stopped.
///
/// Without arguments: every method that needs no language model on the sample benchmark, with a built-in model that needs no key
/// and no network. A paper's benchmark is run as the paper does it, except where the options say otherwise: methods, prompts, parameters,
/// budgets, repeats. The run prints what it chose; docs/data.md lists it.
#[derive(Debug, Clone, Default, clap::Args, Deserialize, merge::Merge)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[merge(strategy = merging::if_not_given)]
pub(crate) struct RunArgs {
    /// `sample`, a folder with documents.jsonl and items.jsonl, a paper's benchmark: sagascale, novelqa, infinitebench,
    /// quality, narrativeqa, corpusqa, hamlet, or another data set: fairytaleqa, frames, longbench-v2, loogle, leval-quality,
    /// nocha, squality [default: sample]
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) benchmark: Option<String>,
    /// File or folder a data set is read from; repeatable. A folder with documents.jsonl and items.jsonl serves for
    /// every data set
    #[arg(long, value_name = "PATH")]
    pub(crate) data: Vec<PathBuf>,
    /// Methods by name, see `closeread methods`, or all [default: the paper's; without a paper all that the models can
    /// serve]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) method: Vec<String>,
    /// A parameter of a method, see `closeread methods`; repeatable
    #[arg(long, value_name = "METHOD.NAME=VALUE")]
    pub(crate) param: Vec<String>,
    /// The same in a config file: a table `[params.METHOD]`
    #[arg(skip)]
    pub(crate) params: BTreeMap<String, Map<String, Value>>,
    /// builtin/extractive, openai/MODEL, anthropic/MODEL, gemini/MODEL, openai-compatible/MODEL
    /// [default: builtin/extractive]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) model: Vec<String>,
    /// Model that prepares books for the methods, before the questions: trees, pages [default: each model for itself]
    #[arg(long, value_name = "MODEL")]
    pub(crate) preparer: Option<String>,
    /// How passages are ranked [default: dense; bm25 for a book in a language the embedder does not know]
    #[arg(long, value_name = "NAME", value_parser = one_of::<Retriever>())]
    pub(crate) retriever: Option<Retriever>,
    /// An embedding model for every method: an installed one, see `closeread model list`, or one on a server:
    /// openai/MODEL, openai-compatible/MODEL, tei/MODEL [default: all-MiniLM-L6-v2; naive-rag and agentic-rag:
    /// multilingual-e5-large where installed]
    #[arg(long, value_name = "NAME")]
    pub(crate) embedder: Option<String>,
    /// Address of the embedding model's server: up to and including /v1 for OpenAI's protocol, for tei up to where /embed
    /// begins
    #[arg(long, value_name = "URL")]
    pub(crate) embedder_base_url: Option<String>,
    /// TOML that describes an embedding model on a server: max_tokens, tokenizer, prefixes, see docs/providers.md
    #[arg(long, value_name = "FILE")]
    pub(crate) embedder_spec: Option<PathBuf>,
    /// A model that reranks the best passages of every ranking: an installed one, see `closeread model list`, a folder,
    /// or one on a server: cohere/MODEL, jina/MODEL, openai-compatible/MODEL, tei/MODEL [default: none]
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) reranker: Option<String>,
    /// Number of best passages to rerank; the others follow in their old order [default: 50]
    #[arg(long, value_name = "N")]
    pub(crate) rerank_from: Option<usize>,
    /// Address of the reranker's server, up to where /rerank begins
    #[arg(long, value_name = "URL")]
    pub(crate) reranker_base_url: Option<String>,
    /// What computes the embedding model; gpu is a graphics processor, or the encoder where there is none [default:
    /// encoder; tract for an ONNX model that closeread did not convert]
    #[arg(long, value_name = "NAME", value_parser = one_of::<BackendName>())]
    pub(crate) backend: Option<BackendName>,
    /// Tokenizer that counts passages, budgets and prompts: cl100k, o200k, deepseek-r1, embedder, or a tokenizer.json
    /// [default: the paper's, else cl100k]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) tokenizer: Option<String>,
    /// Tokens of retrieved passages [default: the paper's; without a paper 500,1000,1500,5000]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) budget: Vec<usize>,
    /// Maximum tokens of a passage [default: 100; naive-rag and agentic-rag: 512]
    #[arg(long, value_name = "N")]
    pub(crate) passage_tokens: Option<usize>,
    /// At a passage that does not fit the budget: stop, or skip it and try the next [default: stop]
    #[arg(long, value_name = "NAME", value_parser = one_of::<Fill>())]
    pub(crate) fill: Option<Fill>,
    /// Also take N neighbouring passages on each side of a ranked one [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) neighbours: Option<usize>,
    /// Context window in tokens, prompt and response together: for all models, or MODEL=N,... [default: each model's
    /// known window, see docs/costs.md; no limit where none is known]
    #[arg(long, value_name = "N|MODEL=N,...")]
    pub(crate) context_window: Option<Windows>,
    /// What full-document does with a book that exceeds the context window [default: fail]
    #[arg(long, value_name = "NAME", value_parser = one_of::<OnOverflow>())]
    pub(crate) on_overflow: Option<OnOverflow>,
    /// Trials whose prompt the server seems to have cut: print their number, or count them as overflows [default: warn]
    #[arg(long, value_name = "NAME", value_parser = one_of::<OnTruncation>())]
    pub(crate) on_truncation: Option<OnTruncation>,
    /// Maximum tokens of a response [default: the provider's, because no paper names a limit; for Anthropic, whose
    /// protocol requires one, the model's maximum]
    #[arg(long, value_name = "N")]
    pub(crate) max_output_tokens: Option<u32>,
    /// How much models reason before they answer: off, low, medium, high, or tokens, in each provider's own field, see
    /// docs/providers.md [default: the provider's]
    #[arg(long, value_name = "LEVEL|TOKENS")]
    pub(crate) reasoning: Option<Reasoning>,
    /// Constrain responses to the format that their prompts request: json (a schema: every provider), grammar
    /// (llama.cpp), regex (vLLM). No paper does so; a note below every table names it
    #[arg(long, value_name = "BY", num_args = 0..=1, require_equals = true, default_missing_value = "json")]
    pub(crate) constrain: Option<Constraint>,
    /// Ask items that have options and answers this way; both: each twice, in one run [default: as-given]
    #[arg(long, value_name = "TASK", value_parser = one_of::<AskedAs>())]
    pub(crate) task: Option<AskedAs>,
    /// All documents as one book, joined by a blank line in the order of their ids
    #[arg(long)]
    pub(crate) one_book: bool,
    /// Only items with this value of a label, such as set=test; repeatable: two values of one label mean
    /// either, two labels mean both
    /// [default: the paper's, for narrativeqa set=test, for infinitebench task=En.MC]
    #[arg(long = "where", value_name = "LABEL=VALUE")]
    #[serde(rename = "where")]
    pub(crate) only: Vec<String>,
    /// Only a sample of N items, the same for the same --seed
    #[arg(long, value_name = "N")]
    pub(crate) draw: Option<usize>,
    /// With --draw: draw from each value of this label in proportion to its share of all items
    #[arg(long, value_name = "LABEL")]
    pub(crate) by: Option<String>,
    /// Only the first N items
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Only these items
    #[arg(long, value_name = "IDS")]
    pub(crate) items: Vec<String>,
    /// Repeats of every trial [default: the paper's, for builtin/extractive and without a paper 1]
    #[arg(long, value_name = "N")]
    pub(crate) repeats: Option<u32>,
    /// Only part I of N of the items, from 1. auto: I and N as Slurm or one of twelve other schedulers gives them;
    /// auto/N: where it gives I alone, such as Kubernetes
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// The run folder [default: runs/BENCHMARK-HASH, so the same command finds it again]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Name of the run's configuration in tables of several runs, such as thinking or int4
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Discard the run folder's contents and start anew
    #[arg(long, conflicts_with = "extend")]
    pub(crate) fresh: bool,
    /// Extend the run in --out with more items, methods, models, budgets or repeats, or with changed prompts or books;
    /// finished trials that the change does not affect are kept
    #[arg(long, requires = "out")]
    #[serde(skip)]
    pub(crate) extend: bool,
    /// Seed of --draw, and of models that take one [default: the paper's, for --draw 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Address of the model's server: up to and including /v1 for OpenAI's protocol, else up to where the provider's
    /// path begins
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Fields merged into every request, as JSON or a file with it: {"response_format": {"type": "json_object"}}; or into
    /// those of a method, or those made from a prompt (a judge's too), which win in this order; repeatable
    #[arg(long, value_name = "JSON|FILE|NAME={...}|NAME=@FILE")]
    #[serde(deserialize_with = "extra_body::one_or_many")]
    #[merge(strategy = merging::after)]
    pub(crate) extra_body: Vec<String>,
    /// The same by name in a config file: a table `[extra-bodies.NAME]`
    #[arg(skip)]
    pub(crate) extra_bodies: BTreeMap<String, Map<String, Value>>,
    /// Models that judge the answers; builtin/rule needs no model; none: no judging [default: none; for --method all on
    /// the sample the language model that reads it]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) judge_model: Vec<String>,
    /// Judges by name, see `closeread judge --help`, or all [default: those of the paper that fit the items; for
    /// --method all on the sample all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) judge: Vec<String>,
    /// Votes of each judge [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) votes: Option<u32>,
    /// How votes become a verdict [default: majority]
    #[arg(long, value_name = "NAME", value_parser = one_of::<PanelRule>())]
    pub(crate) panel: Option<PanelRule>,
    /// Sampling temperature of the judges [default: 0]
    #[arg(long, value_name = "T")]
    pub(crate) judge_temperature: Option<f64>,
    /// Address of the judges' server [default: --base-url where every judge also reads or has no address of its own,
    /// else the provider's own]
    #[arg(long, value_name = "URL")]
    pub(crate) judge_base_url: Option<String>,
    /// Fields merged into every request to a judge, as JSON or a file with it; NAME is a judge's; repeatable
    #[arg(long, value_name = "JSON|FILE|NAME={...}|NAME=@FILE")]
    #[serde(deserialize_with = "extra_body::one_or_many")]
    #[merge(strategy = merging::after)]
    pub(crate) judge_extra_body: Vec<String>,
    /// Maximum tokens of a judge's response; lists over key facts or sentences get as many as they need [default: 2048]
    #[arg(long, value_name = "N")]
    pub(crate) judge_max_output_tokens: Option<u32>,
    /// Maximum time of one attempt of a call [default: 600]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// Maximum concurrent calls; fewer where the server limits them [default: 64; builtin/extractive: 4]
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<usize>,
    /// Use the provider's batch API (openai/MODEL, anthropic/MODEL): half the price, within a day; judges are called
    /// directly
    #[arg(long)]
    pub(crate) batch: bool,
    /// With --batch: seconds between two requests for the batches' state, 0.1 or more [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) batch_poll: Option<f64>,
    /// Maximum requests a minute to a model, evenly spaced [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) rpm: Option<u32>,
    /// Maximum tokens a minute of a model: prompts and the limits of responses [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) tpm: Option<u64>,
    /// Stop before the run folder's calls cost more than this; calls in flight are finished [default: no limit]
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) max_cost: Option<f64>,
    /// With --max-cost: start although a model's price is not known, and count its calls as free
    #[arg(long)]
    pub(crate) allow_unknown_price: bool,
    /// Windows and prices of models, over those that ship, see docs/costs.md [default: models.toml of the user's
    /// configuration folder, where there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) model_info: Option<PathBuf>,
    /// Estimate only: print the run's calls, tokens and cost, as `closeread estimate` does
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For the estimate: tokens of a short response [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) assume_response: Option<u64>,
    /// For the estimate: seconds that a call takes [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) assume_seconds: Option<f64>,
    /// For the estimate: print how many items would show a difference of this many points
    #[arg(long, value_name = "POINTS")]
    #[serde(skip)]
    pub(crate) detect: Option<f64>,
    /// Send every call: cached responses are neither used nor kept
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Folder with prompts that replace the shipped ones, by file name
    #[arg(long, value_name = "DIR")]
    pub(crate) prompts: Option<PathBuf>,
    /// Encoding of text files [default: detected]
    #[arg(long, value_name = "LABEL")]
    pub(crate) encoding: Option<String>,
    /// Language of the books, e.g. en or zh [default: as given or detected]
    #[arg(long, value_name = "CODE")]
    pub(crate) language: Option<String>,
    /// Keep Project Gutenberg's header and trailer as part of a book
    #[arg(long)]
    pub(crate) keep_frame: bool,
    /// Keep every line break of hard-wrapped books
    #[arg(long)]
    pub(crate) keep_wraps: bool,
    /// Read files outside the folder of a documents.jsonl that names them, or of a link: their text goes to the model's server
    #[arg(long)]
    pub(crate) allow_outside: bool,
    /// A TOML file with the same options; those of the command line win
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,
    /// Print the content of report.json instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns `--max-cost` as a limit.
pub(crate) fn max_cost(dollars: Option<f64>) -> Result<Option<Dollars>> {
    match dollars {
        Some(dollars) if !dollars.is_finite() || dollars < 0.0 => {
            bail!("--max-cost {dollars}: expected US dollars, 0 or more")
        }
        limit => Ok(limit.map(Dollars)),
    }
}

#[cfg(test)]
mod tests;
