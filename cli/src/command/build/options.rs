//! `closeread build options`: wrong options for open questions.

use super::args::BuildOptions;
use super::inputs::BookInputs;
use super::say::{checked, finish, kept, show_costs, write};
use crate::command::plan::{Listing, say_problems};
use anyhow::{Result, bail};
use closeread_build::options::{Asked, Options, PROMPTS, STAGES, wants_options};
use closeread_build::{Building, Built, Form, options};
use closeread_builder::hashes;
use closeread_builder::sheet::{read_forms, sheet_of, write_sheet};
use closeread_runner::benchmark::{Benchmark, BenchmarkOptions};
use closeread_text::hash::sha256;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use tracing::info;

/// Three wrong options for every open question of a benchmark (NovelQA, appendix C.3)
///
/// Stages: distractors, options. A judge checks for each option whether it means the same as a gold answer; --seed
/// decides the order of the options. Items that have options, and those without a gold answer, stay as they are. The
/// page for people also offers forms of questions (NovelQA, Table 8); with --books instead of --benchmark it offers
/// only these.
#[derive(Debug, clap::Args)]
pub(crate) struct OptionsArgs {
    /// A folder with documents.jsonl and items.jsonl, or a data set, as `closeread run` takes it
    #[arg(long, value_name = "NAME|DIR")]
    benchmark: Option<String>,
    #[command(flatten)]
    books: BookInputs,
    /// Forms of questions in TOML, instead of those that ship
    #[arg(long, value_name = "FILE")]
    forms: Option<PathBuf>,
    /// File or folder a data set is read from; repeatable
    #[arg(long, value_name = "PATH")]
    data: Vec<PathBuf>,
    /// The model that says whether two answers mean the same [default: --model]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// Wrong options per item
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=25))]
    wrong: u8,
    /// Attempts to replace refused options before the item is left without options
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,
    /// Several checkers' ticks on the page: print their keep rates, and write what most of them keep to OUT/reviewed
    #[arg(long, value_name = "FILE", num_args = 1..)]
    reviewed: Vec<PathBuf>,
    #[command(flatten)]
    build: BuildOptions,
}

/// Builds, estimates or reads a check back.
pub(crate) async fn run(args: OptionsArgs) -> Result<ExitCode> {
    let build = &args.build;
    if !build.checked.is_empty() {
        return checked(build);
    }
    if !args.reviewed.is_empty() {
        return kept(build, &args.reviewed);
    }
    let forms = read_forms(args.forms.as_deref())?;
    let benchmark = match (&args.benchmark, args.books.is_empty()) {
        (Some(benchmark), true) => benchmark.clone(),
        (None, false) => return forms_alone(&args, forms),
        (Some(_), false) => bail!("--benchmark and --books: name one, a benchmark or books to write questions about"),
        (None, true) => bail!(
            "--benchmark is missing: name the benchmark whose open questions are to get options, or books to write \
             questions about with --books"
        ),
    };
    let benchmark = Benchmark::load(&BenchmarkOptions {
        name: Some(benchmark),
        data: args.data.clone(),
        language: args.books.language().map(|language| language.code().to_owned()),
        ..BenchmarkOptions::default()
    })?;
    say_problems(&benchmark, Listing::Stats);
    if !benchmark.items.iter().any(wants_options) {
        bail!("benchmark `{}` has no open question with a gold answer and without options", benchmark.name);
    }
    let model = build.model()?;
    let judge = args.judge.as_deref().unwrap_or(model);
    let parameters = Options { n: args.wrong.into(), rounds: args.rounds.into(), seed: build.seed };
    let models = [model, judge];
    let mut context = build.context("options", &models)?;
    let (books, items) = (&benchmark.books, &benchmark.items);
    if build.dry_run {
        let stages = options::cost(context.setting(), books, items, &parameters)?;
        let stages: Vec<_> = stages.into_iter().zip([model, judge]).collect();
        let unknown = [
            "how many options are refused and written anew is not known before: at least none, at most all in every round",
        ];
        return show_costs(&stages, &unknown, &context, build);
    }
    let more = json!({
        "judge": judge, "parameters": parameters, "books": hashes(books), "items": sha256(&serde_json::to_vec(items)?),
    });
    let configuration = build.configuration("options", &context, &PROMPTS, more);
    let folder = build.folder(&STAGES, &configuration)?;
    context.charge_to(&folder, None)?;
    let journal = folder.journal()?;
    let (writer, judge) = (context.host(model, &journal, None), context.host(judge, &journal, None));
    let hosts = Asked { writer: &writer, judge: &judge };
    let building = Building::new(&folder, build.concurrency, build.until.as_deref());
    let work = options::options(hosts, context.setting(), building, books, items, &parameters);
    let asked: Vec<_> =
        books.iter().filter(|book| items.iter().any(|item| item.documents.contains(&book.id))).collect();
    let sheet = sheet_of(forms, asked);
    let about = benchmark.about.clone().into_iter().collect();
    finish(&folder, &journal, &context, work, |built| {
        write(&folder, build, "options", (books, &benchmark.texts), &Built { sheet: Some(sheet), about, ..built })
    })
    .await
}

/// `--books` in the place of `--benchmark`: nothing but the page with forms.
fn forms_alone(args: &OptionsArgs, forms: Vec<Form>) -> Result<ExitCode> {
    let (books, n) = (args.books.read(&args.build.out)?, forms.len());
    let page = write_sheet(&args.build.out, "options", &books, &sheet_of(forms, &books))?;
    let page = page.display();
    if args.build.json {
        outln!("{}", json!({"pipeline": "options", "forms": n, "books": books.len(), "page": page.to_string()}));
    } else {
        outln!("{n} forms about {} books in {page}", books.len());
    }
    info!("--checked FILE reads back what the page saves");
    Ok(ExitCode::SUCCESS)
}
