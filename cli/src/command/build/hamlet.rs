//! `closeread build hamlet`: queries with key facts.

use super::args::BuildOptions;
use super::inputs::BookInputs;
use super::say::{checked, finish, print_tables, show_costs, write};
use crate::values::{each_once, one_of};
use anyhow::{Result, bail};
use closeread_books::Book;
use closeread_build::hamlet::{Hamlet, PROMPTS, STAGES, STUDY_SIZES, chunks, study, study_chunks, study_cost};
use closeread_build::{Building, hamlet};
use closeread_builder::hashes;
use closeread_files::{pretty, write_atomically};
use closeread_report::paper::hamlet::Perspective;
use closeread_runner::texts::BookTexts;
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;

/// The stage of the study.
const STUDY: &[&str] = &["chunk-size"];

/// Queries with key-fact trees over the chunks of books (HAMLET, section 3)
///
/// Stages: chunks, trees, faithfulness, objectivity, significance, pruning, queries. Each writes a file into
/// stages/, with a line for each unit of work. You may edit it before the next stage.
#[derive(Debug, clap::Args)]
pub(crate) struct HamletArgs {
    #[command(flatten)]
    books: BookInputs,
    /// Maximum tokens of a chunk
    #[arg(long, value_name = "N", default_value_t = 4_000)]
    chunk_tokens: usize,
    /// Minimum tokens of a chunk: the end of a book can be shorter and is dropped [default: an eighth of
    /// --chunk-tokens]
    #[arg(long, value_name = "N")]
    least_tokens: Option<usize>,
    /// The perspectives of the trees
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "analytical,narrative",
        value_parser = one_of::<Perspective>())]
    perspectives: Vec<Perspective>,
    /// Ask again for a tree with pronouns in it, and remove the facts that still have one; the paper only requests names
    #[arg(long)]
    enforce_names: bool,
    /// In the place of a benchmark: rate chunks of several sizes (appendix B)
    #[arg(long, value_name = "chunk-size", value_parser = ["chunk-size"])]
    study: Option<String>,
    /// The sizes of --study, in tokens
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = STUDY_SIZES)]
    sizes: Vec<usize>,
    /// Chunks of each size that --study rates
    #[arg(long, value_name = "N", default_value_t = 100)]
    per_size: usize,
    /// The models that rate in --study; two in the paper [default: --model]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    judge: Vec<String>,
    #[command(flatten)]
    build: BuildOptions,
}

/// Builds, estimates, studies or reads a check back.
pub(crate) async fn run(mut args: HamletArgs) -> Result<ExitCode> {
    (args.judge, args.sizes) = (each_once(&args.judge), each_once(&args.sizes));
    if !args.build.checked.is_empty() {
        return checked(&args.build);
    }
    let books = args.books.read(&args.build.out)?;
    if args.study.is_some() {
        return run_study(&args, &books).await;
    }
    let build = &args.build;
    let model = build.model()?;
    let mut perspectives = args.perspectives.clone();
    perspectives.sort_unstable();
    perspectives.dedup();
    let least_tokens = args.least_tokens.unwrap_or(args.chunk_tokens / 8);
    let parameters = Hamlet {
        chunk_tokens: args.chunk_tokens,
        least_tokens,
        perspectives,
        enforce_names: args.enforce_names,
        about: args.books.about()?,
    };
    let mut context = build.context("hamlet", std::slice::from_ref(&model))?;
    if build.dry_run {
        let cut = chunks(&books, &context.tokenizer, parameters.chunk_tokens)?;
        let stages = hamlet::cost(context.setting(), &books, &cut, &parameters)?;
        let stages: Vec<_> = stages.into_iter().map(|stage| (stage, model)).collect();
        let unknown =
            ["how many facts a tree has, and so how long the prompts and responses behind it are, is not known before"];
        return show_costs(&stages, &unknown, &context, build);
    }
    let more = json!({"parameters": parameters, "books": hashes(&books)});
    let configuration = build.configuration("hamlet", &context, &PROMPTS, more);
    let folder = build.folder(&STAGES, &configuration)?;
    context.charge_to(&folder, None)?;
    let journal = folder.journal()?;
    let host = context.host(model, &journal, None);
    let building = Building::new(&folder, build.concurrency, build.until.as_deref());
    let work = hamlet::hamlet(&host, context.setting(), building, &books, &parameters);
    finish(&folder, &journal, &context, work, |built| {
        write(&folder, build, "hamlet", (&books, &BookTexts::default()), &built)
    })
    .await
}

async fn run_study(args: &HamletArgs, books: &[Arc<Book>]) -> Result<ExitCode> {
    let build = &args.build;
    let models: Vec<&str> = match args.judge.is_empty() {
        true => vec![build.model()?],
        false => args.judge.iter().map(String::as_str).collect(),
    };
    let mut context = build.context("hamlet", &models)?;
    let units = study_chunks(books, &context.tokenizer, &args.sizes, args.per_size, models.len(), build.seed)?;
    if units.is_empty() {
        bail!("there is nothing to rate: --per-size is 0");
    }
    if build.dry_run {
        let mut stages = Vec::new();
        for (place, model) in models.iter().enumerate() {
            let own: Vec<_> = units.iter().filter(|unit| unit.input.judge == place).cloned().collect();
            stages.push((study_cost(context.setting(), &own)?, *model));
        }
        return show_costs(&stages, &[], &context, build);
    }
    let more = json!({"judges": models, "sizes": args.sizes, "per_size": args.per_size, "books": hashes(books)});
    let configuration = build.configuration("hamlet chunk-size", &context, &["hamlet-chunk-size", "build-again"], more);
    let folder = build.folder(STUDY, &configuration)?;
    context.charge_to(&folder, None)?;
    let journal = folder.journal()?;
    let hosts: Vec<_> = models.iter().map(|model| context.host(model, &journal, None)).collect();
    let judges: Vec<_> = hosts.iter().collect();
    let building = Building::new(&folder, build.concurrency, build.until.as_deref());
    let work = study(&judges, context.setting(), building, books, &units);
    finish(&folder, &journal, &context, work, |tables| {
        let report = json!({"pipeline": "hamlet chunk-size", "tables": tables});
        write_atomically(&folder.path().join("report.json"), &pretty(&report))?;
        if build.json {
            outln!("{report}");
        } else {
            print_tables(&tables)?;
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}
