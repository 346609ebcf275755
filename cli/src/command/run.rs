//! `closeread run`: the main job.

use crate::benchmark::Benchmark;
use crate::config::RunArgs;
use crate::embedder::Embedder;
use crate::engine::{self, Plan, PlannedCell, Summary};
use crate::host::{CliHost, QueryVectors};
use crate::provider::{self, Reader, without_credentials};
use crate::reply_cache::ReplyCache;
use crate::run_folder::RunFolder;
use crate::shard::Shard;
use crate::table;
use crate::tokenizer;
use anyhow::{Context, Result, bail};
use closeread_core::hash::name_hash;
use closeread_core::index::Retriever;
use closeread_core::method::{Entry, Method, Setting};
use closeread_core::prompt::Prompts;
use closeread_core::reader::EXTRACTIVE;
use closeread_core::report::{Cell, CellKey, cells};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Runs what the options name, prints its report.
pub(crate) async fn run(args: RunArgs) -> Result<ExitCode> {
    let args = args.with_config_file()?;
    let methods = args.methods()?;
    let budgets = args.budgets()?;
    let models = args.models();
    let prompts = load_prompts(args.prompts.as_deref())?;
    let mut benchmark = Benchmark::load(&args)?;
    if benchmark.items.is_empty() {
        for problem in &benchmark.problems {
            eprintln!("{problem}");
        }
        bail!("benchmark `{}` has no item to run", benchmark.name);
    }
    let evidence = benchmark.resolve();
    say_problems(&benchmark);

    let retrieves = methods.iter().any(|(_, method)| method.cut().is_some());
    let embedder = match retrieves && args.retriever != Some(Retriever::Bm25) {
        true => Some(Arc::new(Embedder::named(args.embedder.as_deref(), args.backend)?)),
        false => None,
    };
    let tokenizer = tokenizer::load(args.tokenizer.as_deref(), args.embedder.as_deref())?;
    if retrieves {
        say_retrievers(&benchmark, args.retriever, embedder.as_deref());
    }
    let table_cells = plan_cells(&methods, &models, &budgets);
    let configuration =
        configuration(&args, &benchmark, &table_cells, &prompts, embedder.as_deref(), tokenizer.name())?;
    let shard = args.shard.as_deref().map(|text| Shard::read(text, |name| std::env::var(name).ok())).transpose()?;
    let path = args.out.clone().unwrap_or_else(|| default_folder(&benchmark.name, &configuration, shard));
    if let Some(shard) = shard {
        benchmark.keep(shard);
    }

    let builtin = models.iter().all(|model| model == EXTRACTIVE);
    let concurrency = args.concurrency.unwrap_or(if builtin { 4 } else { 64 }).max(1);
    let timeout = Duration::from_secs(args.timeout.unwrap_or(600).max(1));
    let options = provider::Options { seed: args.seed, extra_body: args.extra_body()?, timeout, concurrency };
    let queries = QueryVectors::default();
    let replies = Rc::new(if args.no_cache { ReplyCache::new(None) } else { ReplyCache::of_user() });
    let mut hosts = HashMap::new();
    for model in &models {
        let reader = Reader::named(model, args.base_url.as_deref(), options.clone())?;
        hosts.insert(model.clone(), CliHost::new(reader, embedder.clone(), queries.clone(), Rc::clone(&replies)));
    }
    let mut folder = RunFolder::open(&path, &configuration, shard, args.fresh)?;
    folder.store(benchmark.books.iter().map(Arc::as_ref), &benchmark.items)?;
    let plan = Plan {
        setting: Setting {
            prompts: &prompts,
            tokenizer: &tokenizer,
            max_output_tokens: args.max_output_tokens.unwrap_or(1024),
            temperature: 0.0,
            window: args.window,
        },
        cells: table_cells,
        samples: args.samples.unwrap_or(1).max(1),
        retriever: args.retriever,
        concurrency,
        embedder,
        hosts,
        queries,
    };
    eprintln!(
        "{}: {} items on {} books, run folder {}",
        benchmark.name,
        benchmark.items.len(),
        benchmark.books.len(),
        path.display()
    );
    let summary = engine::run(&plan, &benchmark, &evidence, &mut folder).await?;
    report(&plan, &benchmark, &folder, &summary, args.json)
}

/// Writes report.json, prints the report, says how it ended.
fn report(
    plan: &Plan<'_>,
    benchmark: &Benchmark,
    folder: &RunFolder,
    summary: &Summary,
    as_json: bool,
) -> Result<ExitCode> {
    let keys: Vec<CellKey> = plan.cells.iter().map(|cell| cell.key.clone()).collect();
    let cells = cells(&keys, &benchmark.items, &folder.records());
    let cut = folder.cut()?;
    let report = json!({
        "run": folder.path().file_name().map(|name| name.to_string_lossy()),
        "folder": folder.path().display().to_string(),
        "benchmark": benchmark.name,
        "complete": cells.iter().all(|cell| cell.ledger.missing == 0),
        "cells": cells,
        "cut_for_embedding": cut,
        "problems": benchmark.problems,
    });
    folder.write_report(&report)?;
    let n_cut: usize = cut.values().sum();
    if n_cut > 0 {
        eprintln!("{n_cut} passages or questions were cut: the embedding model takes no more tokens");
    }
    if as_json {
        outln!("{report}");
    } else {
        out!("{}", table::render(&cells));
    }
    if summary.interrupted {
        eprintln!("stopped; give the same command again to go on");
    }
    let dropped = benchmark.problems.iter().any(|problem| problem.dropped);
    let failed = |cell: &Cell| cell.ledger.failed > 0 || cell.ledger.missing > 0;
    let clean = !dropped && !summary.interrupted && !cells.iter().any(failed);
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The prompts that ship, those in `folder` in the place of ours.
pub(crate) fn load_prompts(folder: Option<&Path>) -> Result<Prompts> {
    let mut prompts = Prompts::built_in();
    let Some(folder) = folder else { return Ok(prompts) };
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read --prompts {}", folder.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read --prompts {}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            prompts.replace(&name, &text).with_context(|| format!("cannot use {}", path.display()))?;
        }
    }
    Ok(prompts)
}

fn plan_cells(methods: &[(&Entry, Method)], models: &[String], budgets: &[usize]) -> Vec<PlannedCell> {
    let mut cells = Vec::new();
    for (entry, method) in methods {
        for model in models {
            let cell = |budget| PlannedCell {
                key: CellKey { method: entry.name.to_owned(), model: model.clone(), budget },
                method: method.clone(),
            };
            if entry.budgets {
                cells.extend(budgets.iter().map(|&budget| cell(Some(budget))));
            } else {
                cells.push(cell(None));
            }
        }
    }
    cells
}

/// Everything that can change a number, so that a folder never mixes two runs.
fn configuration(
    args: &RunArgs,
    benchmark: &Benchmark,
    cells: &[PlannedCell],
    prompts: &Prompts,
    embedder: Option<&Embedder>,
    tokenizer: &str,
) -> Result<Value> {
    let documents: Vec<Value> = benchmark
        .books
        .iter()
        .map(|b| json!({"id": b.id, "title": b.title, "language": b.language, "sha256": b.hash(), "bytes": b.source().len()}))
        .collect();
    Ok(json!({
        "benchmark": benchmark.name,
        "data": benchmark.fingerprint()?,
        "documents": documents,
        "keep_frame": args.keep_frame,
        "keep_wraps": args.keep_wraps,
        "items": benchmark.items.len(),
        "cells": cells.iter().map(|cell| &cell.key).collect::<Vec<_>>(),
        "methods": cells.iter().map(|cell| (&cell.key.method, &cell.method)).collect::<BTreeMap<_, _>>(),
        "samples": args.samples.unwrap_or(1).max(1),
        "retriever": args.retriever,
        "embedder": embedder.map(|e| {
            json!({"name": e.model().spec.name, "backend": e.backend(), "fingerprint": e.fingerprint()})
        }),
        "tokenizer": tokenizer,
        "window": args.window,
        "max_output_tokens": args.max_output_tokens.unwrap_or(1024),
        "seed": args.seed,
        "extra_body": args.extra_body()?,
        "base_url": args.base_url.as_deref().map(without_credentials),
        "prompts": prompts.hashes(),
    }))
}

fn default_folder(benchmark: &str, configuration: &Value, shard: Option<Shard>) -> PathBuf {
    let part = shard.map_or_else(String::new, |shard| format!("-part-{}-of-{}", shard.index, shard.of));
    Path::new("runs").join(format!("{benchmark}-{}{part}", name_hash(&configuration.to_string())))
}

/// Problems on standard error, the first few of each kind.
fn say_problems(benchmark: &Benchmark) {
    const SHOWN: usize = 10;
    let dropped = benchmark.problems.iter().filter(|p| p.dropped).count();
    for problem in benchmark.problems.iter().filter(|p| p.dropped).take(SHOWN) {
        eprintln!("{problem}");
    }
    if dropped > SHOWN {
        eprintln!("... and {} more rows left out; report.json names all", dropped - SHOWN);
    }
    let notes = benchmark.problems.len() - dropped;
    if notes > 0 {
        eprintln!("{notes} notes on the data, all in report.json; the first: {}", first_note(benchmark));
    }
}

fn first_note(benchmark: &Benchmark) -> String {
    benchmark.problems.iter().find(|p| !p.dropped).map(ToString::to_string).unwrap_or_default()
}

/// Says which retriever is used where the language decides.
fn say_retrievers(benchmark: &Benchmark, asked: Option<Retriever>, embedder: Option<&Embedder>) {
    let (Some(embedder), None) = (embedder, asked) else { return };
    let mut by_language: BTreeMap<&str, usize> = BTreeMap::new();
    for book in &benchmark.books {
        if !embedder.model().spec.speaks(book.language.code()) {
            *by_language.entry(book.language.code()).or_default() += 1;
        }
    }
    for (language, n) in by_language {
        eprintln!(
            "{n} {} in `{language}` ranked by BM25: {} does not know the language; install a multilingual model \
             (closeread model pull multilingual-e5-large) or choose --retriever",
            if n == 1 { "book" } else { "books" },
            embedder.model().spec.name
        );
    }
}
