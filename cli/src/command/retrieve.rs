//! `closeread retrieve`: what retrieval finds of the gold evidence, for a grid of settings, without a model that answers.
//!
//! Passages are ranked by the engine of a run, with the reader that needs no model, in the folder `ranked` below the result: so
//! it goes on where it was stopped. The result is a run folder of its own, of which every other command reads.

mod grid;
mod print;

use super::plan::{self, Listing, say_problems};
use super::run::{say_failures, say_served};
use crate::command::CostArgs;
use crate::config::{RunArgs, max_cost};
use crate::ranges::warn_of_thousands;
use crate::stores;
use crate::values::{each_once, one_of};
use anyhow::{Result, bail};
use closeread_books::chunk::Chunker;
use closeread_books::tokens::Tokenizer;
use closeread_eval::ranking::{RANKED_ALONE, pieces, precision, scores};
use closeread_eval::{Item, Outcome};
use closeread_llm::price::PriceList;
use closeread_methods::reader::EXTRACTIVE;
use closeread_methods::record::{Record, TrialKey};
use closeread_methods::{AnyMethod, CUT_FOR_RERANKING, Rag, Settings, WordScores, entry};
use closeread_metrics::Metric;
use closeread_providers::response_cache::ResponseCache;
use closeread_providers::{self as provider, Model, is_served};
use closeread_report::served_usage;
use closeread_retrieve::Retriever;
use closeread_runner::benchmark::Benchmark;
use closeread_runner::embedder::EmbedderOptions;
use closeread_runner::encoders::Encoders;
use closeread_runner::engine::{self, Plan, Summary};
use closeread_runner::host::CliHost;
use closeread_runner::reranker::{Reranker, RerankerOptions};
use closeread_runner::run_folder::{self, EMBEDDINGS, Opening, RERANKING, RunFolder, served_calls};
use closeread_runner::spending::Spending;
use closeread_runner::{models, pricing, prompts};
use closeread_table::number::counted;
use closeread_text::Span;

use grid::{Point, kinds};
use print::print;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use tracing::info;

/// Name that stands among rerankers for ranking without one.
const NONE: &str = "none";
/// The folder of the rankings, below the result.
const RANKED: &str = "ranked";

/// Measure retrieval for a grid of settings
///
/// Every combination of the lists is a configuration, named by what varies, and a cell of a run folder that `report`,
/// `compare`, `gate` and `export` read. The scores are recall and precision of the evidence within
/// each budget, and how early the ranking reaches it: mrr, hit@k, ndcg@k, precision@k, recall@k, see docs/retrieval.md. The same command resumes.
#[derive(Debug, clap::Args)]
pub(crate) struct RetrieveArgs {
    /// A benchmark whose items have evidence, as for `closeread run` [default: sample]
    #[arg(long, value_name = "NAME|DIR")]
    benchmark: Option<String>,
    /// File or folder a data set is read from; repeatable
    #[arg(long, value_name = "PATH")]
    data: Vec<PathBuf>,
    /// Only items with this value of a label; repeatable
    #[arg(long = "where", value_name = "LABEL=VALUE")]
    only: Vec<String>,
    /// Only the first N items
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// All documents as one book
    #[arg(long)]
    one_book: bool,
    /// How passages are ranked
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "bm25,dense", value_parser = one_of::<Retriever>())]
    retriever: Vec<Retriever>,
    /// How books are cut into passages
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "dos", value_parser = one_of::<Chunker>())]
    chunker: Vec<Chunker>,
    /// Maximum tokens of a passage
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "100")]
    passage_tokens: Vec<usize>,
    /// Embedding models [default: all-MiniLM-L6-v2]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    embedder: Vec<String>,
    /// Address of the embedding models' server
    #[arg(long, value_name = "URL")]
    embedder_base_url: Option<String>,
    /// Also take N neighbouring passages on each side of a ranked one
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0")]
    neighbours: Vec<usize>,
    /// Rerankers, as for `closeread run`, and none [default: none]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    reranker: Vec<String>,
    /// Number of best passages to rerank [default: 50]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    rerank_from: Vec<usize>,
    /// Address of the rerankers' server
    #[arg(long, value_name = "URL")]
    reranker_base_url: Option<String>,
    /// Tokens of retrieved passages
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "500,1000,1500,5000")]
    budget: Vec<usize>,
    /// Ranks
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,3,5,10")]
    k: Vec<usize>,
    /// Tokenizer that counts passages and budgets, as for `closeread run` [default: cl100k]
    #[arg(long, value_name = "NAME|FILE")]
    tokenizer: Option<String>,
    #[command(flatten)]
    costs: CostArgs,
    /// The run folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Discard the folder's contents and start anew
    #[arg(long)]
    fresh: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Ranks the passages, scores the rankings, prints the scores.
pub(crate) async fn run(mut args: RetrieveArgs) -> Result<ExitCode> {
    args.retriever = each_once(&args.retriever);
    args.chunker = each_once(&args.chunker);
    for numbers in [&mut args.passage_tokens, &mut args.neighbours, &mut args.rerank_from, &mut args.budget] {
        *numbers = each_once(numbers.as_slice());
    }
    for names in [&mut args.embedder, &mut args.reranker] {
        *names = each_once(names.as_slice());
    }
    let sent = stores::written(&mut args.out)?;
    let ended = retrieve(args).await;
    stores::finish(sent, ended)
}

/// Retrieves into a folder of this machine.
async fn retrieve(mut args: RetrieveArgs) -> Result<ExitCode> {
    args.costs = args.costs.with_own_limits()?;
    warn_of_thousands("budget", &args.budget);
    let options = args.run_args();
    let mut benchmark = Benchmark::load(&options.benchmark_options()?)?;
    let data = benchmark.fingerprint()?;
    let evidence = benchmark.resolve()?;
    say_problems(&benchmark, Listing::Stats);
    let with_evidence = benchmark.items.iter().filter(|item| !pieces(item).is_empty()).count();
    if with_evidence == 0 {
        bail!("no item of benchmark `{}` has gold evidence whose place is known: nothing can be found", benchmark.name);
    }
    let prices = pricing::load(args.costs.model_info.as_deref())?;
    let limit = max_cost(args.costs.max_cost)?;
    let rerankers = args.rerankers()?;
    let on_servers: Vec<String> =
        rerankers.values().filter(|reranker| reranker.endpoint().is_some()).map(|reranker| reranker.name()).collect();
    if args.must_know_prices() {
        pricing::check_rerankers_known(&prices, &on_servers)?;
    }
    let points = args.points();
    if !args.embedder.iter().any(|name| is_served(name)) {
        let base_url = args.embedder_base_url.clone();
        let installed = args.embedder.first().map_or(models::SHIPPED, String::as_str);
        EmbedderOptions { base_url, ..EmbedderOptions::default() }.check(installed)?;
    }
    let tokenizer = options.load_tokenizer()?;
    let configuration = args.configuration((&benchmark, &data), &points, &rerankers, tokenizer.name());
    let opening = if args.fresh { Opening::Fresh } else { Opening::Resume };
    let folder = RunFolder::open(&args.out, &configuration, None, opening)?;
    let mut ranked = RunFolder::open(&args.out.join(RANKED), &configuration, None, opening)?;
    folder.store(&benchmark.books, &benchmark.texts, &benchmark.items)?;
    ranked.store(&[], &benchmark.texts, &benchmark.items)?;
    let embedders = args.embedder.iter().filter(|name| is_served(name));
    let priced: Vec<&str> = on_servers.iter().chain(embedders).map(String::as_str).collect();
    run_folder::write_prices(&args.out, prices.only(priced))?;
    // A price that an earlier command knew still counts.
    let prices = folder.prices()?.overlaid(prices);
    let spending = Spending::of_run(&args.out, prices.clone(), limit, folder.spent(&prices)?, tokenizer.clone())?;
    let spending = Arc::new(spending);
    for reranker in rerankers.values() {
        reranker.log_to(&args.out.join(RERANKING));
        reranker.charge_to(&spending);
    }
    benchmark.keep_in(folder.texts());
    info!(
        "{}: {}, {} of them with evidence, on {}, {}, run folder {}",
        benchmark.name,
        counted(benchmark.items.len(), "item"),
        with_evidence,
        counted(benchmark.books.len(), "book"),
        counted(points.len(), "configuration"),
        args.out.display()
    );
    let of_grid =
        Grid { args: &args, points: &points, rerankers: &rerankers, tokenizer: &tokenizer, spending: &spending };
    let summary = of_grid.rank(&benchmark, &evidence, &mut ranked).await?;
    let records = ranked.records();
    args.score_into(folder, &benchmark.items, &records)?;
    print(&args, &points)?;
    say_failures(&records);
    say_servers(&args.out, &prices)?;
    say_stopped(&summary, &spending);
    let failed = records.iter().any(|record| matches!(record.outcome, Outcome::Failed { .. }));
    let in_part = summary.interrupted || summary.out_of_money || failed || benchmark.problems.count(true) > 0;
    Ok(if in_part { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Says what servers were asked for.
fn say_servers(run: &Path, prices: &PriceList) -> Result<()> {
    for (file, what) in [(EMBEDDINGS, "texts embedded"), (RERANKING, "passages scored")] {
        say_served(&served_usage(&served_calls(run, file)?, prices), what);
    }
    Ok(())
}

/// Says why the ranking stopped before its end.
fn say_stopped(summary: &Summary, spending: &Spending) {
    if summary.interrupted {
        info!("stopped; give the same command again to resume");
    }
    if summary.out_of_money {
        info!("{}", plan::out_of_money(spending.taken()));
    }
}

/// What is ranked, and by what.
struct Grid<'a> {
    args: &'a RetrieveArgs,
    points: &'a [Point],
    rerankers: &'a BTreeMap<String, Rc<Reranker>>,
    tokenizer: &'a Tokenizer,
    spending: &'a Arc<Spending>,
}

impl Grid<'_> {
    /// Ranks the passages for every configuration that is not done.
    async fn rank(
        &self,
        benchmark: &Benchmark,
        evidence: &HashMap<String, Vec<(usize, Span)>>,
        ranked: &mut RunFolder,
    ) -> Result<Summary> {
        let prompts = prompts::load(None)?;
        for (retriever, embedder) in kinds(self.points) {
            let mut methods = vec![(entry("dos-rag").expect("a method of this name"), AnyMethod::Rag(Rag::dos()))];
            let embedder = embedder.as_deref();
            let options = self.args.embedder_options(embedder);
            let encoders = Encoders::load(embedder, &options, Some(retriever), &mut methods)?;
            if self.args.must_know_prices() {
                pricing::check_known(self.spending.prices(), &encoders.on_servers())?;
            }
            encoders.log_to(&self.args.out.join(EMBEDDINGS));
            encoders.charge_to(self.spending);
            let of_kind = |point: &&Point| point.retriever == retriever && point.embedder.as_deref() == embedder;
            let points = self.points.iter().filter(of_kind);
            let plan = Plan {
                setting: Settings {
                    prompts: &prompts,
                    tokenizer: self.tokenizer,
                    response_limit: None.into(),
                    temperature: 0.0,
                    context_window: None,
                },
                windows: BTreeMap::new(),
                words: WordScores::default(),
                cells: points.flat_map(|point| self.args.planned(point, &encoders, self.rerankers)).collect(),
                preparer: None,
                repeats: 1,
                retriever: Some(retriever),
                concurrency: 4,
                hosts: HashMap::from([(EXTRACTIVE.to_owned(), no_model()?)]),
                spending: Arc::clone(self.spending),
            };
            let summary = engine::run(&plan, benchmark, evidence, ranked, &|_, _| Ok(())).await?;
            if summary.interrupted || summary.out_of_money {
                return Ok(summary);
            }
        }
        Ok(Summary::default())
    }
}

/// The host of the reader that needs no model.
fn no_model() -> Result<CliHost> {
    let model = Model::named(EXTRACTIVE, None, provider::Options::default())?;
    Ok(CliHost::new(model, Rc::new(ResponseCache::new(None))))
}

impl RetrieveArgs {
    /// The options of a run that read its benchmark.
    fn run_args(&self) -> RunArgs {
        RunArgs {
            benchmark: self.benchmark.clone(),
            data: self.data.clone(),
            only: self.only.clone(),
            limit: self.limit,
            one_book: self.one_book,
            tokenizer: self.tokenizer.clone(),
            model: vec![EXTRACTIVE.to_owned()],
            ..RunArgs::default()
        }
    }

    /// Whether a limit on money asks for the price of every model on a server.
    fn must_know_prices(&self) -> bool {
        self.costs.max_cost.is_some() && !self.costs.allow_unknown_price
    }

    /// Puts the scores of rankings into the folder, where it has none yet, and closes it.
    fn score_into(&self, mut folder: RunFolder, items: &[Item], ranked: &[Record]) -> Result<()> {
        let items: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
        let scored = ranked.iter().filter_map(|record| {
            let item = items.get(record.key.item.as_str())?;
            let record = self.scored(item, record.clone());
            (!folder.is_done(&record.key)).then_some(record)
        });
        let scored: Vec<Record> = scored.collect();
        folder.append(scored)
    }

    /// Options of a configuration's embedding model: the address is that of those on servers.
    fn embedder_options(&self, model: Option<&str>) -> EmbedderOptions {
        let base_url = self.embedder_base_url.clone().filter(|_| model.is_some_and(is_served));
        EmbedderOptions { base_url, ..EmbedderOptions::default() }
    }

    fn most_k(&self) -> usize {
        self.k.iter().copied().max().unwrap_or(1)
    }

    /// The rerankers of the grid by their names, each loaded once.
    fn rerankers(&self) -> Result<BTreeMap<String, Rc<Reranker>>> {
        let named = self.reranker.iter().filter(|name| *name != NONE);
        if named.clone().count() == 0 && (!self.rerank_from.is_empty() || self.reranker_base_url.is_some()) {
            bail!("--rerank-from and --reranker-base-url are for a reranker: add --reranker");
        }
        let options = RerankerOptions { base_url: self.reranker_base_url.clone(), ..RerankerOptions::default() };
        named.map(|name| Ok((name.clone(), Rc::new(Reranker::named(name, &options)?)))).collect()
    }

    /// The record of a ranking, scored by what it found; whatever was answered is left out.
    fn scored(&self, item: &Item, record: Record) -> Record {
        let pieces = pieces(item);
        let passages = record.context.as_ref().map_or(&[][..], |context| &context.passages);
        let spans: Vec<(&str, Span)> = passages
            .iter()
            .filter_map(|passage| Some((passage.document.as_str(), Span::stated(passage.start, passage.end)?)))
            .collect();
        let found = match record.key.budget {
            None => scores(&pieces, &spans, &self.k).unwrap_or_default(),
            Some(_) => {
                let recall = record.scores.get(Metric::EvidenceRecall.name()).copied();
                let recall = recall.map(|recall| (Metric::EvidenceRecall.name().to_owned(), recall));
                let precision = precision(&pieces, &spans).map(|share| ("evidence_precision".to_owned(), share));
                recall.into_iter().chain(precision).collect()
            }
        };
        let outcome = match record.outcome {
            Outcome::Failed { .. } => record.outcome,
            _ => Outcome::Answered { answer: String::new(), choice: None },
        };
        let key = TrialKey { model: RANKED_ALONE.to_owned(), ..record.key };
        Record {
            scores: found,
            context: record.context,
            measures: record.measures.into_iter().filter(|(name, _)| name == CUT_FOR_RERANKING).collect(),
            seconds: record.seconds,
            ..Record::ended(key, outcome)
        }
    }
}
