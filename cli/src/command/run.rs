//! `closeread run`: the main job.

mod configuration;
mod readers;
mod report;
mod say;
mod served;

use super::plan::{Listing, check_whole_books, plan_cells, say_problems, with_judges};
use crate::config::RunArgs;
use crate::stores;
use anyhow::{Result, bail};
use closeread_books::tokens::Tokenizer;
use closeread_eval::Item;
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::reader::EXTRACTIVE;
use closeread_methods::{AnyMethod, Entry, Settings, WordScores};
use closeread_metrics::meteor::WordNet;
use closeread_prompts::Prompts;
use closeread_providers::batch::open_batches;
use closeread_report::folder::RunConfiguration;
use closeread_report::{Arm, HowAsked};
use closeread_runner::benchmark::Benchmark;
use closeread_runner::encoders::Encoders;
use closeread_runner::engine::{self, Plan, Summary};
use closeread_runner::judging::{JudgeRunner, PendingJudgements, Session};
use closeread_runner::reranker::Reranking;
use closeread_runner::run_folder::{self, EMBEDDINGS, MANIFEST, Opening, RERANKING, RunFolder};
use closeread_runner::shard::Shard;
use closeread_runner::spending::Spending;
use closeread_runner::{pricing, prompts};
use closeread_table::number::counted;
use closeread_text::Span;
use configuration::{configuration, default_folder, of_part};
use report::report;
use say::{say_empty_part, say_hashed, say_judges, say_line, say_own_addresses, say_protocol};
pub(crate) use say::{say_failures, say_judges_failures, say_served};
use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tracing::info;

/// Runs what the options name, prints its report.
pub(crate) async fn run(args: RunArgs) -> Result<ExitCode> {
    let mut args = args.with_config_file()?.with_embedder_of_protocol();
    if args.dry_run {
        return super::estimate::estimate(&args);
    }
    let sent = args.out.as_mut().map(stores::written).transpose()?.flatten();
    let ended = run_here(args).await;
    stores::finish(sent, ended)
}

/// Runs in a folder of this machine.
async fn run_here(args: RunArgs) -> Result<ExitCode> {
    args.check_name()?;
    let mut methods = args.methods()?;
    let budgets = args.budgets()?;
    let models = args.models();
    let judges = args.judges()?;
    let reading = args.readers();
    let asked = with_judges(&reading, judges.as_ref());
    let prices = pricing::load(args.model_info.as_deref())?;
    let max_cost = args.max_cost()?;
    readers::check(&args, &prices, &asked)?;
    let (window, windows) = args.windows(&prices)?;
    let prompts = prompts::load(args.prompts.as_deref())?;
    let mut benchmark = load_benchmark(&args)?;
    say_protocol(&args, &methods);
    say_judges(&args, judges.as_ref());
    say_own_addresses(&args, judges.as_ref());
    let tokenizer = args.load_tokenizer()?;
    let (encoders, reranking) = searchers(&args, &mut methods, &benchmark, &prices)?;
    let table_cells = plan_cells(&methods, &models, &budgets, Some(&encoders), reranking.as_ref());
    let configuration = configuration(&args, &benchmark, &table_cells, &prompts, &encoders, tokenizer.name(), &prices)?;
    let shard = args.part()?;
    let path = args.out.clone().unwrap_or_else(|| default_folder(&benchmark.name, &configuration, shard));
    if let Some(shard) = shard {
        check_whole_books(shard, &benchmark.items, &methods)?;
    }
    let places = shard.map(|shard| benchmark.keep(shard));
    let evidence = benchmark.resolve()?;
    say_problems(&benchmark, Listing::Report);
    let configuration = if shard.is_some() { of_part(configuration, &benchmark) } else { configuration };
    if let Some(shard) = shard.filter(|_| benchmark.items.is_empty()) {
        say_empty_part(shard);
    }

    let builtin = reading.iter().all(|model| model == EXTRACTIVE);
    let concurrency = args.concurrency.unwrap_or(if builtin { 4 } else { 64 }).max(1);
    let readers = readers::readers(&args, &prices, &tokenizer, concurrency)?;
    let panel = judges.as_ref().map(|judges| judges.panel(&benchmark.name, &benchmark.items, &prompts)).transpose()?;
    let mut folder = open(&args, &path, &configuration, shard, &benchmark.items)?;
    let priced = [asked, encoders.on_servers(), rerankers_on_servers(reranking.as_ref())].concat();
    run_folder::write_prices(&path, prices.only(priced.iter().map(String::as_str)))?;
    let spending = spending(&folder, prices, max_cost, &tokenizer, (&encoders, reranking.as_ref()))?;
    let hosts = readers::hosts(readers, &args, folder.path(), &spending)?;
    let judges = panel.zip(judges.as_ref());
    let runner = judges.map(|(panel, of)| JudgeRunner::new(panel, of, &prompts, &tokenizer, Arc::clone(&spending)));
    let judge_runner = runner.transpose()?.map(|runner| runner.beside(&hosts));
    folder.store(&benchmark.books, &benchmark.texts, &benchmark.items)?;
    if let Some(places) = &places {
        folder.note_places(places)?;
    }
    benchmark.keep_in(folder.texts());
    let asked = serde_json::from_value::<RunConfiguration>(configuration)?.asked();
    let plan = Plan {
        setting: settings(&args, &prompts, &tokenizer, window),
        windows,
        cells: table_cells,
        preparer: args.preparer.clone(),
        repeats: args.repeats(),
        retriever: args.retriever,
        concurrency,
        hosts,
        spending,
        words: WordScores::of(args.protocol(), WordNet::built_in),
    };
    let told = (&plan, &asked);
    let (summary, session) = ask_and_judge(told, &benchmark, &evidence, &mut folder, judge_runner).await?;
    let on_truncation = args.on_truncation.unwrap_or_default();
    report(told, &benchmark, &folder, &summary, &session, on_truncation, args.json)
}

fn settings<'a>(
    args: &RunArgs,
    prompts: &'a Prompts,
    tokenizer: &'a Tokenizer,
    context_window: Option<usize>,
) -> Settings<'a> {
    Settings {
        prompts,
        tokenizer,
        response_limit: args.max_output_tokens().into(),
        temperature: *args.protocol().temperature,
        context_window,
    }
}

/// The spending of the run; the models that rank passages are charged to it from now on.
fn spending(
    folder: &RunFolder,
    prices: PriceList,
    max_cost: Option<Dollars>,
    tokenizer: &Tokenizer,
    (encoders, reranking): (&Encoders, Option<&Reranking>),
) -> Result<Arc<Spending>> {
    // A price that an earlier command knew still counts.
    let prices = folder.prices()?.overlaid(prices);
    // What was spent before, without the request by which an embedding model's server was tried just now.
    let spent = folder.spent(&prices)?;
    encoders.log_to(&folder.path().join(EMBEDDINGS));
    if let Some(reranking) = reranking {
        reranking.reranker.log_to(&folder.path().join(RERANKING));
    }
    let spending = Arc::new(Spending::of_run(folder.path(), prices, max_cost, spent, tokenizer.clone())?);
    encoders.charge_to(&spending);
    if let Some(reranking) = reranking {
        reranking.reranker.charge_to(&spending);
    }
    Ok(spending)
}

/// Makes the trials that the folder lacks, and has the judges rule on them.
async fn ask_and_judge(
    (plan, asked): (&Plan<'_>, &HowAsked),
    benchmark: &Benchmark,
    evidence: &HashMap<String, Vec<(usize, Span)>>,
    folder: &mut RunFolder,
    judge_runner: Option<JudgeRunner<'_>>,
) -> Result<(Summary, Session)> {
    info!(
        "{}: {} on {}, run folder {}",
        benchmark.name,
        counted(benchmark.items.len(), "item"),
        counted(benchmark.books.len(), "book"),
        folder.path().display()
    );
    say_hashed(&benchmark.items);
    let several = plan.cells.len() > 1;
    let finished = |arm: &Arm, folder: &RunFolder| {
        if several { say_line(arm, benchmark, &folder.records(), plan.repeats, asked) } else { Ok(()) }
    };
    let mut summary = engine::run(plan, benchmark, evidence, folder, &finished).await?;
    let session = match judge_runner.filter(|_| !summary.interrupted && !summary.out_of_money) {
        Some(runner) => judge(&runner, benchmark, folder, &mut summary).await?,
        None => Session::default(),
    };
    Ok((summary, session))
}

/// Loads the benchmark, which must have items.
fn load_benchmark(args: &RunArgs) -> Result<Benchmark> {
    let benchmark = Benchmark::load(&args.benchmark_options()?)?;
    if benchmark.items.is_empty() {
        say_problems(&benchmark, Listing::Stats);
        bail!("benchmark `{}` has no item to run", benchmark.name);
    }
    Ok(benchmark)
}

/// Loads what ranks passages, and tries the servers that it asks. Their prices must be known where a limit on money stands.
fn searchers(
    args: &RunArgs,
    methods: &mut [(&'static Entry, AnyMethod)],
    benchmark: &Benchmark,
    prices: &PriceList,
) -> Result<(Encoders, Option<Reranking>)> {
    let encoders = Encoders::load(args.embedder.as_deref(), &args.embedder_options(), args.retriever, methods)?;
    if args.must_know_prices()? {
        pricing::check_known(prices, &encoders.on_servers())?;
    }
    encoders.say(benchmark, args.retriever);
    let reranking = args.reranking(methods)?;
    if args.must_know_prices()? {
        pricing::check_rerankers_known(prices, &rerankers_on_servers(reranking.as_ref()))?;
    }
    Ok((encoders, reranking))
}

fn rerankers_on_servers(reranking: Option<&Reranking>) -> Vec<String> {
    reranking.iter().filter(|r| r.reranker.endpoint().is_some()).map(|r| r.reranker.name()).collect()
}

/// Refuses a folder whose batches would be forgotten, before anything in it changes.
fn refuse_open_batches(run: &Path) -> Result<()> {
    let n_open = open_batches(run)?;
    if n_open == 0 {
        return Ok(());
    }
    bail!(
        "{} waits for {n_open} batches that were handed in: give --batch to take up their responses, or --fresh to start \
         anew without them",
        run.display()
    )
}

/// Opens the run folder, or makes it.
fn open(
    args: &RunArgs,
    path: &Path,
    configuration: &serde_json::Value,
    shard: Option<Shard>,
    items: &[Item],
) -> Result<RunFolder> {
    let opening = match (args.fresh, args.extend) {
        (true, _) => Opening::Fresh,
        (false, true) => Opening::Extend(items),
        (false, false) => Opening::Resume,
    };
    if !args.fresh && args.batch_poll()?.is_none() && path.join(MANIFEST).exists() {
        refuse_open_batches(path)?;
    }
    let folder = RunFolder::open(path, configuration, shard, opening)?;
    if let Some(name) = &args.name {
        folder.name(name)?;
    }
    Ok(folder)
}

/// Has the judges rule on what was answered.
async fn judge(
    runner: &JudgeRunner<'_>,
    benchmark: &Benchmark,
    folder: &RunFolder,
    summary: &mut Summary,
) -> Result<Session> {
    let records = folder.records();
    let books = benchmark.books.iter().map(|book| (book.id.as_str(), book)).collect();
    let (items, texts) = (&benchmark.items, &*benchmark.texts);
    let session = runner.run(folder.path(), &PendingJudgements { items, records: &records, books, texts }).await?;
    (summary.interrupted, summary.out_of_money) = (session.interrupted, session.out_of_money);
    Ok(session)
}
