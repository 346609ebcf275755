//! `closeread providers`: which providers there are, which have a key, and whether a model answers.

mod embeddings;
mod rerankers;

use crate::command::ServedArgs;
use anyhow::Result;
use closeread_llm::provider::{Dialect, Limits, TokenLimit};
use closeread_llm::{Call, FinishReason, HostError, Message};
use closeread_providers::{
    ChatModel, EMBEDDING_PROVIDERS, Keys, Kind, Options, PROVIDERS, RERANK_PROVIDERS, ServedProvider, Uncounted,
    account, is_served, keys, rerank_provider,
};
use closeread_runner::reranker::RerankerOptions;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Question that a model is asked.
const QUESTION: &str = "Answer with the single word: ready";
/// Room for a model that thinks before it speaks.
const MAX_OUTPUT_TOKENS: u32 = 256;
/// Longest that the answer to it may take: a local server may first load its model.
const PATIENCE: Duration = Duration::from_secs(120);

/// List the configured providers; `check MODEL` tries one.
#[derive(Debug, clap::Args)]
pub(crate) struct ProvidersArgs {
    #[command(subcommand)]
    chore: Option<Chore>,
    /// Print [{"provider", "serves", "variables", "configured", "base_url"}]
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Chore {
    /// Send one small request and explain the response
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// openai/MODEL, anthropic/MODEL, gemini/MODEL or openai-compatible/MODEL; with --embeddings openai/MODEL,
    /// openai-compatible/MODEL or tei/MODEL
    model: String,
    /// Check an embedding model
    #[arg(long)]
    embeddings: bool,
    /// Check a reranker: cohere/MODEL, jina/MODEL, openai-compatible/MODEL or tei/MODEL, or an installed one
    #[arg(long, conflicts_with = "embeddings")]
    reranker: bool,
    #[command(flatten)]
    embedder: ServedArgs,
    /// Address of the server: up to and including /v1 for OpenAI's protocol, else up to where the provider's path begins
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Print {"model", "ok", "response" | "error", "usage", "seconds"}; of an embedding model {"model", "ok", "dimension",
    /// "max_tokens", "cosine" | "error", "seconds"}; of a reranker {"model", "ok", "scores" | "error", "tokens", "searches",
    /// "seconds"}
    #[arg(long)]
    json: bool,
}

/// Lists or checks.
pub(crate) async fn run(args: ProvidersArgs) -> Result<ExitCode> {
    match args.chore {
        Some(Chore::Check(check)) if check.reranker || reranks_only(&check.model) => {
            let options = RerankerOptions {
                base_url: check.base_url.or(check.embedder.embedder_base_url),
                limits: Limits::impatient(),
                ..RerankerOptions::default()
            };
            rerankers::check(&check.model, &options, check.json).await
        }
        Some(Chore::Check(check))
            if check.embeddings || (is_served(&check.model) && check.model.starts_with("tei/")) =>
        {
            let mut options = check.embedder.options(None);
            options.base_url = options.base_url.or(check.base_url);
            options.limits = Limits::impatient();
            embeddings::check(&check.model, &options, check.json)
        }
        Some(Chore::Check(check)) => run_check(&check).await,
        None => list(args.json),
    }
}

fn list(as_json: bool) -> Result<ExitCode> {
    let keys = keys()?;
    let rows = PROVIDERS.iter().map(|provider| (provider, keys.place(provider).map(|(variable, _)| variable)));
    if as_json {
        let rows: Vec<Value> = rows
            .map(|(provider, variable)| {
                json!({
                    "provider": provider.name,
                    "serves": "chat",
                    "variables": provider.variables,
                    "configured": variable,
                    "base_url": provider.base_url(),
                })
            })
            .chain(served_rows(&keys, "embeddings", &EMBEDDING_PROVIDERS))
            .chain(served_rows(&keys, "rerankers", &RERANK_PROVIDERS))
            .collect();
        outln!("{}", Value::Array(rows));
        return Ok(ExitCode::SUCCESS);
    }
    for (provider, variable) in rows {
        let key = variable.map_or_else(
            || format!("no key; set {}", provider.variables.join(" or ")),
            |variable| format!("key in {variable}"),
        );
        outln!("{:18} {:45} {key}", provider.name, provider.base_url().unwrap_or("--base-url URL"));
    }
    outln!("{:18} {:45} needs no key and no network", "builtin/extractive", "-");
    list_served(&keys, "embeddings, by --embedder", &EMBEDDING_PROVIDERS)?;
    list_served(&keys, "rerankers, by --reranker", &RERANK_PROVIDERS)?;
    Ok(ExitCode::SUCCESS)
}

/// The providers of a kind of models, a line each.
fn list_served<K: Kind>(keys: &Keys, heading: &str, providers: &[ServedProvider<K>]) -> Result<()> {
    outln!("\n{heading}:");
    for provider in providers {
        let key = keys.first_of(provider.variables).map_or_else(
            || match provider.base_url {
                Some(_) => format!("no key; set {}", provider.variables.join(" or ")),
                None => format!("key in {}, where one is wanted", provider.variables.join(" or ")),
            },
            |(variable, _)| format!("key in {variable}"),
        );
        let address = provider.base_url.map_or_else(|| format!("{} URL", K::ADDRESS), str::to_owned);
        outln!("{:18} {address:45} {key}", provider.name);
    }
    outln!("{:18} {:45} closeread model list", "installed models", "-");
    Ok(())
}

/// Returns the providers of served models as rows.
fn served_rows<K: Kind>(keys: &Keys, serves: &str, providers: &[ServedProvider<K>]) -> Vec<Value> {
    let row = |provider: &ServedProvider<K>| {
        json!({
            "provider": provider.name,
            "serves": serves,
            "variables": provider.variables,
            "configured": keys.first_of(provider.variables).map(|(variable, _)| variable),
            "base_url": provider.base_url,
        })
    };
    providers.iter().map(row).collect()
}

/// Returns whether the name's provider serves rerankers and nothing else that is known here.
fn reranks_only(model: &str) -> bool {
    rerank_provider(model).is_some_and(|provider| {
        let chats = PROVIDERS.iter().any(|chat| chat.name == provider.name);
        !chats && EMBEDDING_PROVIDERS.iter().all(|embeds| embeds.name != provider.name)
    })
}

async fn run_check(args: &CheckArgs) -> Result<ExitCode> {
    let options = Options { limits: Limits::impatient(), timeout: PATIENCE, ..Options::default() };
    let model = ChatModel::new(account(&args.model, args.base_url.as_deref())?, options)?;
    let call = Call {
        messages: vec![Message::user(QUESTION)],
        temperature: 0.0,
        max_output_tokens: Some(MAX_OUTPUT_TOKENS),
        prompt: String::new(),
    };
    let started = Instant::now();
    let source = model.source(None, &call.prompt, None);
    let result = model.chat(&call.into(), &source, &Uncounted).await;
    let seconds = started.elapsed().as_secs_f64();
    if args.json {
        let mut value = json!({ "model": args.model, "ok": result.is_ok(), "seconds": seconds });
        match &result {
            Ok(response) => {
                value["response"] = json!(response.text);
                value["finish"] = json!(response.finish);
                value["served_by"] = json!(response.served_by);
                value["usage"] = json!(response.usage);
                value["dialect"] = json!(model.dialect());
            }
            Err(error) => {
                value["error"] = json!(error.to_string());
                value["hint"] = json!(hint(error));
            }
        }
        outln!("{value}");
    } else {
        match &result {
            Ok(response) => {
                outln!("{} answered in {seconds:.1} s: {:?}", args.model, response.text);
                if response.finish == FinishReason::Length {
                    outln!(
                        "The response reached the limit of {MAX_OUTPUT_TOKENS} tokens; a model that thinks needs a higher --max-output-tokens."
                    );
                }
                let tokens = |n: Option<u64>| n.map_or_else(|| "not said".to_owned(), |n| n.to_string());
                let usage = &response.usage;
                outln!(
                    "Tokens: prompt {}, response {}; from the cache {}; reasoning {}.",
                    tokens(usage.prompt_tokens),
                    tokens(usage.completion_tokens),
                    tokens(usage.cached_tokens),
                    tokens(usage.reasoning_tokens)
                );
                say_dialect(model.dialect())?;
            }
            Err(error) => outln!("{} did not answer: {error}\n{}", args.model, hint(error)),
        }
    }
    Ok(if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn say_dialect(dialect: Dialect) -> Result<()> {
    if dialect.token_limit == TokenLimit::MaxCompletionTokens {
        outln!("The limit on the response goes as `max_completion_tokens`.");
    }
    if dialect.own_temperature {
        outln!("It takes no temperature but its own: runs are not greedy, repeat them with --repeats.");
    }
    if dialect.no_seed {
        outln!("It takes no seed.");
    }
    if dialect.no_stream_options {
        outln!("It takes no `stream_options`.");
    }
    if dialect.no_stream {
        outln!("It sends responses whole: the account is not verified for streams.");
    }
    Ok(())
}

/// Says what to do about an error.
fn hint(error: &HostError) -> &'static str {
    match error {
        HostError::Overflow { .. } => {
            "Its window does not even hold a short question: check how the server was started."
        }
        HostError::Blocked { .. } => "The provider refused a harmless question: check the account's content settings.",
        _ => hint_of(&error.to_string()).unwrap_or("The message above is the server's."),
    }
}

/// Says what to do about a call that failed with these words, where that is known.
pub(super) fn hint_of(message: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    Some(match () {
        () if says(&["answered 401", "answered 403", "API_KEY_INVALID", "API key"]) => {
            "The key was not accepted: check the variable that `closeread providers` names."
        }
        () if says(&["answered 404", "answered 405"]) => {
            "Check the model's name, and that the address ends where the provider's path begins (OpenAI's: with /v1)."
        }
        () if says(&["answered 402", "quota", "credit"]) => "The account has no credit or quota left.",
        () if says(&["answered 429"]) => "The rate limit is reached: wait, or ask for a higher one.",
        () if says(&["onnection refused", "onnect", "dns", "no response in time"]) => {
            "The server cannot be reached: check --base-url and that it is running."
        }
        () => return None,
    })
}
