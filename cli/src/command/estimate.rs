//! `closeread estimate`: what a run would take and cost, before anything is asked.

mod cells;
mod detect;
mod embeddings;
mod judges;
mod memory;
mod models;
mod reranking;
mod scene;
mod show;
mod time;
mod windows;

use super::plan::{Listing, check_whole_books, plan_cells, say_problems, with_judges};
use crate::config::RunArgs;
use anyhow::{Result, bail};
use cells::CellEstimate;
use closeread_methods::Settings;
use closeread_providers as provider;
use closeread_runner::benchmark::{Benchmark, BenchmarkOptions};
use closeread_runner::judging::JudgeOptions;
use closeread_runner::{pricing, prompts};
use closeread_table::render::text;
use scene::{Assumptions, Scene, grouped};
use show::Estimate;
use std::collections::HashMap;
use std::process::ExitCode;

/// Tokens of a short response: a choice with two sentences of explanation, a little more than an answer in words.
const TYPICAL_RESPONSE: u64 = 100;
/// Seconds that a call takes: a guess, stated, to be replaced by what a server is known to take.
const SECONDS_A_CALL: f64 = 10.0;

/// The command: the options of `run`.
pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    estimate(&args.with_config_file()?.with_embedder_of_protocol())
}

/// Says what the run of these options would take.
pub(crate) fn estimate(args: &RunArgs) -> Result<ExitCode> {
    let methods = args.methods()?;
    let models = args.models();
    let judges = args.judges()?;
    let asked = with_judges(&args.readers(), judges.as_ref());
    asked.iter().try_for_each(|model| provider::check_name(model))?;
    let cells = plan_cells(&methods, &models, &args.budgets()?, None, None);
    let prompts = prompts::load(args.prompts.as_deref())?;
    let prices = pricing::load(args.model_info.as_deref())?;
    let (window, windows) = args.windows(&prices)?;
    args.reasoning_fields()?;
    let extra_body = args.extra_body()?;
    let options = args.benchmark_options()?;
    let mut benchmark = Benchmark::load(&BenchmarkOptions { keep_catalog: true, ..options.clone() })?;
    if let Some(shard) = options.part {
        check_whole_books(shard, &benchmark.items, &methods)?;
        benchmark.keep(shard);
    }
    let evidence = benchmark.resolve()?;
    say_problems(&benchmark, Listing::Stats);
    if benchmark.items.is_empty() {
        bail!("benchmark `{}` has no item to run", benchmark.name);
    }
    let tokenizer = args.load_tokenizer()?;
    let scene = Scene {
        groups: grouped(&benchmark, &tokenizer)?,
        benchmark: &benchmark,
        evidence: &evidence,
        setting: Settings {
            prompts: &prompts,
            tokenizer: &tokenizer,
            response_limit: args.max_output_tokens().into(),
            temperature: 0.0,
            context_window: window,
        },
        windows: &windows,
        cells: &cells,
        preparer: args.preparer.as_deref(),
        prices: &prices,
        extra_body: &extra_body,
        repeats: args.repeats(),
        assumed: Assumptions {
            response_tokens: args.assume_response.unwrap_or(TYPICAL_RESPONSE),
            seconds_a_call: args.assume_seconds.unwrap_or(SECONDS_A_CALL),
            concurrency: args.concurrency.unwrap_or(64).max(1),
            rpm: args.rpm,
            tpm: args.tpm,
        },
    };
    let mut estimate = scene.estimate(&models, &asked, judges.as_ref())?;
    let n_scored = detect::scored(&benchmark.items);
    estimate.detect = args.detect.map(|points| detect::detect(points, n_scored)).unwrap_or_default();
    estimate.reranking = reranking::estimates(&scene, args);
    estimate.memory = memory::estimate(&scene, args);
    estimate.embeddings = embeddings::estimates(&scene, args.embedder.as_deref(), args.retriever);
    if args.json {
        outln!("{}", serde_json::to_string(&estimate)?);
    } else {
        out!("{}", show::text(&estimate));
        if let Some(points) = args.detect {
            out!("\n{}", text::table(&detect::table(points, n_scored, &estimate.detect)));
        }
    }
    let dropped = benchmark.problems.count(true) > 0;
    Ok(if dropped { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

impl Scene<'_> {
    /// Estimates what the models that read, and all that are asked, take.
    fn estimate(&self, reading: &[String], asked: &[String], judges: Option<&JudgeOptions>) -> Result<Estimate> {
        let (cells, work) = cells::estimates(self)?;
        let (judges, judging) = match judges {
            Some(judges) => judges::estimates(self, judges)?,
            None => Default::default(),
        };
        let truncation = windows::Measured::of(self, reading)?;
        let all: Vec<CellEstimate> = cells.iter().chain(&judges).cloned().collect();
        let seconds = |model: &str| {
            let (reading, judging) = (time::seconds(self, model, &work)?, time::seconds(self, model, &judging)?);
            Some((reading.0 + judging.0, reading.1 + judging.1))
        };
        let models =
            asked.iter().map(|model| models::estimate(self, model, &all, &truncation, seconds(model))).collect();
        let mut sizes: HashMap<&str, u64> = HashMap::new();
        for group in &self.groups {
            sizes.extend(group.documents.iter().map(String::as_str).zip(group.sizes.iter().map(|size| size.tokens)));
        }
        Ok(Estimate {
            benchmark: self.benchmark.name.clone(),
            items: self.benchmark.items.len(),
            books: self.benchmark.books.len(),
            book_tokens: sizes.values().sum(),
            repeats: self.repeats,
            tokenizer: self.setting.tokenizer.name().to_owned(),
            max_output_tokens: self.setting.response_limit.sent(),
            assumed_output_tokens: self.setting.response_limit.reserved(),
            assumptions: self.assumed,
            cells,
            judges,
            models,
            embeddings: Vec::new(),
            reranking: None,
            memory: None,
            detect: Vec::new(),
        })
    }
}
