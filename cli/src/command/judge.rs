//! `closeread judge`: judges a run that exists, without asking its readers again.

use super::plan::out_of_money;
use super::run::say_judges_failures;
use super::{AskingArgs, CostArgs};
use crate::config::judges::check_judges;
use crate::config::max_cost;
use crate::stores;
use crate::values::{each_once, one_of};
use anyhow::{Context, Result, bail};
use closeread_books::tokens::Tokenizer;
use closeread_judges::{PanelRule, Reference};
use closeread_methods::record::{Record, TrialKey};
use closeread_metrics::stats::paired::mcnemar_exact;
use closeread_providers::Rates;
use closeread_providers::extra_body::ExtraBodies;
use closeread_report::{Report, Run, judging_tables, report};
use closeread_runner::finished::{self, Texts};
use closeread_runner::judging::{
    JudgeOptions, JudgeRunner, MAX_OUTPUT_TOKENS, PendingJudgements, Probe, Probed, Session,
};
use closeread_runner::run_folder::{self, lock};
use closeread_runner::spending::Spending;
use closeread_runner::{pricing, prompts, tokenizer};
use closeread_table::render::text;
use closeread_table::{Table, Value};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tracing::info;

/// Judge the answers of an existing run
///
/// Existing verdicts are kept; failed calls are repeated. The run folder holds the verdicts in judgements.jsonl and the
/// judges in judging.json, and every later report shows both.
#[derive(Debug, clap::Args)]
pub(crate) struct JudgeArgs {
    /// Run folder
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Models that judge, provider/model; builtin/rule needs no model
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    judge_model: Vec<String>,
    /// Votes of each model
    #[arg(long, value_name = "N", default_value_t = 1)]
    votes: u32,
    /// How votes become a verdict; a tie counts as no
    #[arg(long, value_name = "NAME", default_value = "majority", value_parser = one_of::<PanelRule>())]
    panel: PanelRule,
    /// Judges by name, or all: rule, judge-sagascale, judge-novelqa, judge-novelqa-evidence, judge-corpusqa, verify-facts,
    /// align-key-facts, classify-question [default: those of the paper that fit the items]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    judge: Vec<String>,
    /// Sampling temperature
    #[arg(long, value_name = "T", default_value_t = 0.0)]
    temperature: f64,
    /// Maximum tokens of a response; lists over key facts or sentences get as many as they need
    #[arg(long, value_name = "N", default_value_t = MAX_OUTPUT_TOKENS)]
    max_output_tokens: u32,
    /// Seed for models that take one
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fields merged into every request, as JSON or a file with it, or into those of one judge; repeatable
    #[arg(long, value_name = "JSON|FILE|JUDGE={...}|JUDGE=@FILE")]
    extra_body: Vec<String>,
    /// Maximum time of one attempt of a call
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    timeout: u64,
    /// Maximum concurrent calls
    #[arg(long, value_name = "N", default_value_t = 64)]
    concurrency: usize,
    /// Maximum requests a minute to a model, evenly spaced [default: no limit]
    #[arg(long, value_name = "N")]
    rpm: Option<u32>,
    /// Maximum tokens a minute of a model: prompts and the limits of responses [default: no limit]
    #[arg(long, value_name = "N")]
    tpm: Option<u64>,
    /// What sentences are verified against: the chunk of the key facts, as in HAMLET, or the whole book, as in FineSurE
    #[arg(long, value_name = "NAME", default_value = "chunk", value_parser = one_of::<Reference>())]
    reference: Reference,
    /// Also probe the judging models: judge each answer once more with answer and gold answer swapped (position), or
    /// with empty phrases around it (verbosity), and count the verdicts that change. With --no-cache, the same command asks
    /// and pays this anew each time
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = one_of::<Probe>())]
    probe: Vec<Probe>,
    #[command(flatten)]
    asking: AskingArgs,
    #[command(flatten)]
    costs: CostArgs,
    /// Print scores and tables as one JSON value
    #[arg(long)]
    json: bool,
}

/// Judges, then prints the scores and what is to be known of the judges.
pub(crate) async fn run(mut args: JudgeArgs) -> Result<ExitCode> {
    let sent = stores::written(&mut args.run)?;
    let ended = judge(args).await;
    stores::finish(sent, ended)
}

/// Judges in a folder of this machine.
async fn judge(mut args: JudgeArgs) -> Result<ExitCode> {
    args.costs = args.costs.with_own_limits()?;
    if !finished::is_run_folder(&args.run) {
        bail!("{} is no run folder: expected what `closeread run --out DIR` makes", args.run.display());
    }
    check_judges(&args.judge)?;
    let _lock = lock(&args.run)?;
    let name = finished::folder_name(&args.run);
    let run = finished::load(&args.run, name.clone(), Texts::Skip)?;
    finished::refuse_rankings(&run.plan, &args.run)?;
    let (books, texts) = (finished::books_of(&args.run)?, finished::texts(&args.run));
    let prompts = prompts::load(args.asking.prompts.as_deref())?;
    let tokenizer = tokenizer::load(None, None)?;
    let options = args.options()?;
    let panel = options.panel(&run.benchmark, &run.items, &prompts)?;
    let spending = spending(&args, &options, &run, &tokenizer)?;
    let runner = JudgeRunner::new(panel, &options, &prompts, &tokenizer, Arc::new(spending))?;
    let pending = PendingJudgements {
        items: &run.items,
        records: &run.records,
        books: books.iter().map(|(id, book)| (id.as_str(), book)).collect(),
        texts: &texts,
    };
    let mut session = runner.run(&args.run, &pending).await?;

    let judged = finished::load(&args.run, name, Texts::Skip).context("the run was judged and cannot be read again")?;
    let report = report(std::slice::from_ref(&judged))?;
    let mut tables = judging_tables(&judged);
    if !args.probe.is_empty() && !session.interrupted && !session.out_of_money {
        let found = runner.probe(&args.run, &pending, &judged.judging, &args.probe, &mut session).await?;
        tables.extend(found.map(|found| probe_table(&found)));
    }
    print(&judged, &report, &tables, &session, args.json)?;
    say_judges_failures(&session);
    if session.interrupted {
        info!("stopped; give the same command again to resume");
    }
    if session.out_of_money {
        info!("{}", out_of_money(runner.taken()));
    }
    let stopped = session.interrupted || session.out_of_money;
    let clean = session.failed == 0 && !stopped && session.without_chunk == 0;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

impl JudgeArgs {
    fn options(&self) -> Result<JudgeOptions> {
        Ok(JudgeOptions {
            models: each_once(&self.judge_model),
            votes: self.votes,
            rule: self.panel,
            judges: self.judge.clone(),
            temperature: self.temperature,
            max_output_tokens: self.max_output_tokens,
            base_url: self.asking.base_url.clone(),
            address: "--base-url",
            seed: self.seed,
            extra_body: ExtraBodies::read(&self.extra_body, &BTreeMap::new())?,
            timeout: Duration::from_secs(self.timeout.max(1)),
            concurrency: self.concurrency.max(1),
            rates: Rates { rpm: self.rpm, tpm: self.tpm },
            no_cache: self.asking.no_cache,
            reference: self.reference,
        })
    }
}

/// Prints what the judges said: the report's cells and tables as JSON, or its scores, `tables` and usage.
fn print(judged: &Run, report: &Report, tables: &[Table], session: &Session, as_json: bool) -> Result<()> {
    if as_json {
        let cells = &report.runs[0].cells;
        outln!(
            "{}",
            json!({
                "run": judged.name, "panels": judged.judging.panels, "interrupted": session.interrupted,
                "out_of_money": session.out_of_money, "failed": session.failed, "cells": cells, "tables": tables,
            })
        );
    } else {
        let named = |id: &'static str| report.tables.iter().filter(move |table| table.id == id);
        for table in named("scores").chain(tables).chain(named("usage")) {
            outln!("{}", text::table(table));
        }
    }
    for note in &report.notes {
        info!("{note}");
    }
    Ok(())
}

/// Makes the table of how often a change that should change nothing changes a verdict.
fn probe_table(found: &[Probed]) -> Table {
    let columns =
        ["judge", "probe", "answers", "changed", "share", "95%", "to correct", "to incorrect", "p", "no verdict"];
    let mut table =
        Table::new("probes", "Judges probed for position and verbosity", columns.map(str::to_owned).to_vec());
    for Probed { model, probe, pairs, silent } in found {
        let (up, down) = (count(pairs, (false, true)), count(pairs, (true, false)));
        let (n, changed) = (pairs.len(), up + down);
        let [share, interval] = Value::share_and_interval(changed, n, "no answer has both verdicts");
        table.rows.push(vec![
            Value::text(model),
            Value::text(probe.name()),
            Value::count(n),
            Value::count(changed),
            share,
            interval,
            Value::count(up),
            Value::count(down),
            Value::Number { value: mcnemar_exact(up as u64, down as u64), decimals: 3 },
            Value::count(*silent),
        ]);
    }
    if found.is_empty() {
        table.notes.push("nothing was probed: no model judged answers, and the rule has no bias to probe".to_owned());
    }
    table.notes.push(
        "position: answer and gold answer exchanged, verbosity: words around the answer that say nothing; p: McNemar's exact test that \
         as many verdicts turn one way as the other; a judge without bias changes none"
            .to_owned(),
    );
    table
}

fn count(pairs: &[(bool, bool)], wanted: (bool, bool)) -> usize {
    pairs.iter().filter(|pair| **pair == wanted).count()
}

/// Returns what the folder's calls have cost, and may cost; the prices are kept in the folder.
fn spending(args: &JudgeArgs, options: &JudgeOptions, run: &Run, tokenizer: &Tokenizer) -> Result<Spending> {
    let now = pricing::load(args.costs.model_info.as_deref())?;
    let asked = options.asked();
    let limit = max_cost(args.costs.max_cost)?;
    if limit.is_some() && !args.costs.allow_unknown_price {
        pricing::check_known(&now, &asked)?;
    }
    run_folder::write_prices(&args.run, now.only(asked.iter().map(String::as_str)))?;
    // What the readers cost stands in the folder, by the prices of their day.
    let prices = now.overlaid(run_folder::prices(&args.run)?);
    let latest: HashMap<&TrialKey, &Record> = run.records.iter().map(|record| (&record.key, record)).collect();
    let spent = run_folder::spent(&args.run, latest.into_values(), &run.judging, &prices)?;
    Spending::of_run(&args.run, prices, limit, spent, tokenizer.clone())
}
