//! `closeread index`: indexes of a benchmark's books, made once and kept.

use super::plan::{Listing, out_of_money, plan_cells, say_problems};
use crate::config::RunArgs;
use anyhow::{Context, Result, bail};
use closeread_llm::price::Dollars;
use closeread_runner::benchmark::Benchmark;
use closeread_runner::encoders::Encoders;
use closeread_runner::engine::{KeptFile, keep_indexes};
use closeread_runner::kept_index::KeptIndexes;
use closeread_runner::pricing;
use closeread_runner::spending::{Spending, Taken};
use closeread_table::number::{counted, thousands};
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use tracing::info;

/// Index a benchmark's books once, for all runs and their parts
///
/// Takes the options of `closeread run` and makes what that run would search: the words of its books' passages and, if
/// it ranks by vectors, those. Options that do not affect the index are ignored. Runs, their parts, `retrieve` and
/// `search` find the index by themselves, share its memory, and rank as they do without it. The index is in the cache
/// folder, see `closeread cache`. After a kill, the same command resumes. --max-cost limits what a command spends on
/// embeddings. --json prints {"folder", "indexes": [{"chunker", "passage_tokens", "embedder", "books", "passages",
/// "bytes", "seconds", "made"}]}.
#[derive(Debug, clap::Args)]
pub(crate) struct IndexArgs {
    /// The benchmark, as --benchmark names it [default: sample]
    #[arg(value_name = "NAME|DIR", conflicts_with = "benchmark")]
    books_of: Option<String>,
    #[command(flatten)]
    run: RunArgs,
}

/// Makes what is not kept yet, and says what is.
pub(crate) async fn run(args: IndexArgs) -> Result<ExitCode> {
    let IndexArgs { books_of, run } = args;
    let given = RunArgs { benchmark: books_of.or(run.benchmark.clone()), ..run };
    let args = given.with_config_file()?.with_embedder_of_protocol();
    let kept = KeptIndexes::of_user();
    let Some(folder) = kept.folder() else {
        bail!("there is no place for an index: this system has no cache folder; name one in CLOSEREAD_CACHE")
    };
    let mut methods = args.methods()?;
    let mut benchmark = Benchmark::load(&args.benchmark_options()?)?;
    say_problems(&benchmark, Listing::Stats);
    if let Some(shard) = args.part()? {
        benchmark.keep(shard);
    }
    if benchmark.items.is_empty() {
        bail!("benchmark `{}` has no item whose books could be indexed", benchmark.name);
    }
    if !methods.iter().any(|(_, method)| method.passages().is_some()) {
        let names: Vec<&str> = methods.iter().map(|(entry, _)| entry.name).collect();
        bail!("{} search no passages: nothing can be indexed for them; name another --method", names.join(", "));
    }
    let tokenizer = args.load_tokenizer()?;
    let prices = pricing::load(args.model_info.as_deref())?;
    let encoders = Encoders::load(args.embedder.as_deref(), &args.embedder_options(), args.retriever, &mut methods)?;
    if args.must_know_prices()? {
        pricing::check_known(&prices, &encoders.on_servers())?;
    }
    let spending = Arc::new(Spending::new(prices, args.max_cost()?, Dollars::default(), tokenizer.clone()));
    encoders.charge_to(&spending);
    encoders.say(&benchmark, args.retriever);
    let cells = plan_cells(&methods, &args.models(), &args.budgets()?, Some(&encoders), None);
    let (items, books) = (counted(benchmark.items.len(), "item"), counted(benchmark.books.len(), "book"));
    info!("{}: {items} on {books}", benchmark.name);
    let files = keep_indexes(&benchmark, &cells, &tokenizer, args.retriever, &kept);
    let files = files.await.context("the indexes are not complete; give the same command again to resume");
    let taken = spending.taken();
    let Taken { dollars, out, .. } = taken;
    if out && files.is_err() {
        info!("{}", out_of_money(taken));
        return Ok(ExitCode::from(1));
    }
    if dollars > Dollars::default() {
        info!("embeddings cost {dollars}");
    }
    let files = files?;
    let code = if benchmark.problems.count(true) > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS };
    if args.json {
        outln!("{}", json!({ "folder": folder.display().to_string(), "indexes": files }));
        return Ok(code);
    }
    for way in ways(&files) {
        outln!("{}", way.line());
    }
    match files.iter().filter(|file| file.made).count() {
        0 => outln!("nothing to do: all are kept in {}", folder.display()),
        n if n == files.len() => outln!("{} kept in {}", counted(n, "file"), folder.display()),
        n => outln!("{} kept in {}, {n} of them made now", counted(files.len(), "file"), folder.display()),
    }
    Ok(code)
}

/// The files of all sets of books that are cut and embedded alike.
struct Way<'f> {
    first: &'f KeptFile,
    files: Vec<&'f KeptFile>,
}

fn ways(files: &[KeptFile]) -> Vec<Way<'_>> {
    let of = |file: &KeptFile| (file.chunker, file.passage_tokens, file.embedder.clone());
    let mut ways: Vec<Way<'_>> = Vec::new();
    for file in files {
        match ways.iter_mut().find(|way| of(way.first) == of(file)) {
            Some(way) => way.files.push(file),
            None => ways.push(Way { first: file, files: vec![file] }),
        }
    }
    ways
}

impl Way<'_> {
    /// Writes a line such as `dos 100, words: 2 sets of books, 1,234 passages, 1.2 MB, made in 0.3 s`.
    fn line(&self) -> String {
        let KeptFile { chunker, passage_tokens, embedder, .. } = self.first;
        let sum = |of: fn(&KeptFile) -> u64| self.files.iter().map(|file| of(file)).sum::<u64>();
        let megabytes = sum(|file| file.bytes) as f64 / 1e6;
        let seconds: f64 = self.files.iter().map(|file| file.seconds).sum();
        let made = match self.files.iter().filter(|file| file.made).count() {
            0 => "kept before".to_owned(),
            n if n == self.files.len() => format!("made in {seconds:.1} s"),
            n => format!("{n} made in {seconds:.1} s, the others kept before"),
        };
        format!(
            "{} {}, {}: {}, {}, {megabytes:.1} MB, {made}",
            chunker.name(),
            thousands(*passage_tokens as u64),
            embedder.as_ref().map_or("words".to_owned(), |name| format!("vectors of {name}")),
            counted(self.files.len(), "set") + " of books",
            counted(sum(|file| file.passages as u64) as usize, "passage"),
        )
    }
}
