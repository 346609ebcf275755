//! Configuration of a run: what makes it the same run, and the folder that follows from it.

use crate::config::RunArgs;
use anyhow::Result;
use closeread_eval::draw::Draw;
use closeread_llm::price::PriceList;
use closeread_methods::OnTruncation;
use closeread_methods::protocol::Protocol;
use closeread_prompts::Prompts;
use closeread_providers::{query_hash, required_limit, without_credentials};
use closeread_runner::benchmark::Benchmark;
use closeread_runner::encoders::Encoders;
use closeread_runner::engine::PlannedCell;
use closeread_runner::shard::Shard;
use closeread_text::hash::{name_hash, short_hash};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns everything that can change a number, so that a folder never mixes two runs.
pub(super) fn configuration(
    args: &RunArgs,
    benchmark: &Benchmark,
    cells: &[PlannedCell],
    prompts: &Prompts,
    encoders: &Encoders,
    tokenizer: &str,
    prices: &PriceList,
) -> Result<Value> {
    let extra = args.extra_body()?;
    let documents = benchmark.described_books();
    let (window, windows) = args.windows(prices)?;
    let (only, draw) = args.selection()?;
    let mut configuration = json!({
        "benchmark": benchmark.name,
        "data": benchmark.fingerprint()?,
        "documents": documents,
        "documents_hash": short_hash(&documents),
        "protocol": Some(args.protocol()).filter(|protocol| **protocol != Protocol::OWN),
        "keep_frame": benchmark.keep_frame,
        "keep_wraps": benchmark.keep_wraps,
        "items": benchmark.items.len(),
        "cells": cells.iter().map(|cell| &cell.key).collect::<Vec<_>>(),
        "methods": cells.iter().map(|cell| (&cell.key.method, &cell.method)).collect::<BTreeMap<_, _>>(),
        "repeats": args.repeats(),
        "retriever": args.retriever,
        "embedder": encoders.of_run(),
        "tokenizer": tokenizer,
        "context_window": window,
        "max_output_tokens": args.max_output_tokens(),
        "seed": args.seed(),
        "extra_body": extra.all,
        "extra_bodies": extra.named,
        "base_url": args.base_url.as_deref().map(without_credentials),
        "prompts": prompts.hashes(),
    });
    if let Some(query) = args.base_url.as_deref().and_then(query_hash) {
        configuration["base_url_query"] = json!(query);
    }
    if let Some(preparer) = &args.preparer {
        configuration["preparer"] = json!(preparer);
    }
    if !only.is_empty() {
        configuration["where"] = json!(only.iter().map(ToString::to_string).collect::<Vec<_>>());
    }
    if let Some(text) = args.only_of_paper().filter(|only| benchmark.items.iter().all(|item| only.holds(item))) {
        configuration["where"] = json!([text.to_string()]);
    }
    if let Some(Draw { n, by, seed }) = draw {
        configuration["draw"] = json!({ "n": n, "by": by, "seed": seed });
    }
    if !windows.is_empty() {
        configuration["context_windows"] = json!(windows);
    }
    if let Some(reasoning) = args.reasoning {
        configuration["reasoning"] = json!(reasoning);
        configuration["reasoning_fields"] = json!(args.reasoning_fields()?);
    }
    if let Some(constraint) = args.constrain {
        configuration["constrain"] = json!(constraint);
    }
    if args.max_output_tokens().is_none() {
        let maximum = |model: &str| prices.of(model).and_then(|facts| facts.max_output);
        let required = |model: String| Some((required_limit(&model, maximum(&model))?, model));
        let required: BTreeMap<String, u32> =
            args.readers().into_iter().filter_map(required).map(|(limit, model)| (model, limit)).collect();
        if !required.is_empty() {
            configuration["max_output_tokens_of"] = json!(required);
        }
    }
    if let Some(OnTruncation::Fail) = args.on_truncation {
        configuration["on_truncation"] = json!(OnTruncation::Fail);
    }
    if let Some(reranking) = cells.iter().find_map(|cell| cell.reranking.as_ref()) {
        configuration["reranker"] = reranking.described();
    }
    let own = encoders.of_methods();
    if !own.is_empty() {
        configuration["embedders"] = json!(own);
    }
    Ok(configuration)
}

/// Returns the configuration of a part, which names its own books; `documents_hash` stands for all.
pub(super) fn of_part(mut configuration: Value, part: &Benchmark) -> Value {
    configuration["documents"] = part.described_books();
    configuration
}

/// Most bytes of a file's name, on most systems.
const NAME_BYTES: usize = 255;

pub(super) fn default_folder(benchmark: &str, configuration: &Value, shard: Option<Shard>) -> PathBuf {
    let part = shard.map_or_else(String::new, |shard| format!("-part-{}-of-{}", shard.index, shard.of));
    let ending = format!("-{}{part}", name_hash(&configuration.to_string()));
    let shown = benchmark.floor_char_boundary(NAME_BYTES.saturating_sub(ending.len()));
    Path::new("runs").join(format!("{}{ending}", &benchmark[..shown]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_of_a_benchmark_still_makes_a_folder() {
        let of = |benchmark: &str, shard| {
            let folder = default_folder(benchmark, &json!({"seed": 1}), shard);
            folder.file_name().unwrap().to_str().unwrap().to_owned()
        };
        let short = of("tales", None);
        assert!(short.starts_with("tales-") && short.len() < 30, "{short}");
        for shard in [None, Some(Shard { index: 3, of: 12 })] {
            let long = of(&"书".repeat(85), shard);
            assert!(long.len() > 250 && long.len() <= 255, "{long}");
            assert_eq!(long.ends_with("-part-3-of-12"), shard.is_some());
        }
    }
}
