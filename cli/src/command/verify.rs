//! `closeread verify`: a finished run parsed and scored again from the responses that it stored.

use anyhow::{Context, Result, bail};
use closeread_books::tokens::Tokenizer;
use closeread_embed::ServedSpec;
use closeread_eval::ProblemList;
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::protocol::Protocol;
use closeread_methods::record::Record;
use closeread_methods::{AnyMethod, Settings, WordScores};
use closeread_metrics::meteor::WordNet;
use closeread_prompts::Prompts;
use closeread_report::{Arm, Run};
use closeread_retrieve::Retriever;
use closeread_runner::benchmark::Benchmark;
use closeread_runner::embedder::{BackendName, Embedder, EmbedderOptions};
use closeread_runner::engine::replay::{Difference, ReplayedTrials, replay};
use closeread_runner::engine::{Plan, PlannedCell};
use closeread_runner::finished::{self, Texts};
use closeread_runner::host::QueryEncoder;
use closeread_runner::judging::PendingJudgements;
use closeread_runner::judging::replay::{self as rejudging, ReplayedJudgements};
use closeread_runner::reranker::{Reranker, RerankerOptions, Reranking};
use closeread_runner::run_folder::MANIFEST;
use closeread_runner::spending::Spending;
use closeread_runner::{prompts, tokenizer};
use closeread_table::number::{counted, thousands};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;

/// Parse and score a run again; fail on any difference
///
/// Passages, prompts, outcomes, scores and the verdicts of judges are computed again, without a call to a language
/// model. Exits with 1 if something differs, cannot be computed again, is missing or damaged.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// The run folder
    run: PathBuf,
    /// Folder with the prompts that replaced the shipped ones in the run
    #[arg(long, value_name = "DIR")]
    prompts: Option<PathBuf>,
    /// Server for vectors that are not cached: the one that the run used, if you trust its author
    #[arg(long, value_name = "URL")]
    embedder_base_url: Option<String>,
    /// Reranker's server for scores that are not cached, likewise
    #[arg(long, value_name = "URL")]
    reranker_base_url: Option<String>,
    /// Folder of the reranker that put the passages in order, where it is not installed by its name
    #[arg(long, value_name = "DIR")]
    reranker: Option<String>,
    /// Print {"run", "lacks", "trials", "scored_only", "not_replayed", "differences", "judgements"}
    #[arg(long)]
    json: bool,
}

/// The configuration of the run, as the manifest states it.
#[derive(Debug, Deserialize)]
struct Configuration {
    benchmark: String,
    cells: Vec<Arm>,
    #[serde(default)]
    methods: Map<String, Value>,
    #[serde(default)]
    preparer: Option<String>,
    #[serde(default = "one")]
    repeats: u32,
    retriever: Option<Retriever>,
    embedder: Option<EmbedderEntry>,
    /// Embedding models of methods that have one of their own.
    #[serde(default)]
    embedders: BTreeMap<String, EmbedderEntry>,
    reranker: Option<RerankerEntry>,
    #[serde(default)]
    keep_frame: bool,
    #[serde(default)]
    keep_wraps: bool,
    tokenizer: String,
    context_window: Option<usize>,
    #[serde(default)]
    context_windows: BTreeMap<String, usize>,
    max_output_tokens: Option<u32>,
    #[serde(default)]
    prompts: BTreeMap<String, String>,
    /// Ranks of `closeread retrieve`, which wrote the folder if there are any.
    #[serde(default)]
    k: Vec<usize>,
}

#[derive(Debug, Deserialize)]
struct EmbedderEntry {
    name: String,
    backend: String,
    fingerprint: String,
    /// Address of a model on a server.
    endpoint: Option<String>,
    spec: Option<ServedSpec>,
}

#[derive(Debug, Deserialize)]
struct RerankerEntry {
    name: String,
    from: usize,
    fingerprint: String,
    /// Address of a model on a server.
    endpoint: Option<String>,
}

fn one() -> u32 {
    1
}

/// Verifies a run folder.
pub(crate) async fn run(args: VerifyArgs) -> Result<ExitCode> {
    let run = finished::load(&args.run, finished::folder_name(&args.run), Texts::Skip)?;
    let configuration = configuration(&args.run)?;
    if !configuration.k.is_empty() {
        bail!(
            "{} holds rankings of `closeread retrieve`, and verify replays runs: give that command again with another --out, \
             and compare the two",
            args.run.display()
        );
    }
    let prompts = prompts::load(args.prompts.as_deref())?;
    let records = finished::records(&args.run)?;
    check_prompts(&configuration, &prompts, &records)?;
    let mut benchmark = stored_benchmark(&args.run, &run, &configuration)?;
    let evidence = benchmark.resolve()?;
    let reranking = configuration.reranker.as_ref().map(|entry| reranking(entry, &args)).transpose()?;
    let cells = cells(&configuration, args.embedder_base_url.as_deref(), reranking.as_ref())?;
    let tokenizer = tokenizer(&configuration)?;
    let spending = Spending::new(PriceList::default(), None, Dollars::default(), tokenizer.clone());
    let plan = Plan {
        setting: Settings {
            prompts: &prompts,
            tokenizer: &tokenizer,
            response_limit: configuration.max_output_tokens.into(),
            temperature: 0.0,
            context_window: configuration.context_window,
        },
        windows: configuration.context_windows.clone(),
        cells,
        preparer: configuration.preparer.clone(),
        repeats: configuration.repeats,
        retriever: configuration.retriever,
        concurrency: 1,
        hosts: HashMap::new(),
        spending: Arc::new(spending),
        words: WordScores::of(Protocol::of(&configuration.benchmark), WordNet::built_in),
    };
    let replayed = replay(&plan, &benchmark, &evidence, &args.run, &records).await?;
    let judged = judged_again(&run, &benchmark, &records, &prompts, &tokenizer).await?;
    let lacks = run.lacks();
    if args.json {
        outln!("{}", as_json(&run.name, &lacks, &replayed, &judged));
    } else {
        for lack in &lacks {
            outln!("{lack}");
        }
        say(&run.name, &replayed, &judged)?;
    }
    let all_there = replayed.not_replayed.is_empty() && judged.not_replayed.is_empty();
    let same = replayed.differences.is_empty() && judged.differences.is_empty();
    Ok(if same && all_there && lacks.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The benchmark of a run, of what its folder holds.
fn stored_benchmark(folder: &Path, run: &Run, configuration: &Configuration) -> Result<Benchmark> {
    let mut by_id = finished::books_of(folder)?;
    let items = run.items.clone();
    if let Some(item) = items.iter().find(|item| item.documents.iter().any(|id| !by_id.contains_key(id))) {
        bail!(
            "item `{}` cannot be verified: the text of one of its documents is not in the run folder; \
             give the run's command again, which writes it anew",
            item.id
        );
    }
    let used: BTreeSet<&String> = items.iter().flat_map(|item| &item.documents).collect();
    by_id.retain(|id, _| used.contains(id));
    let books = by_id.into_values().collect();
    Ok(Benchmark {
        about: HashMap::new(),
        name: configuration.benchmark.clone(),
        books,
        texts: Arc::new(finished::texts(folder)),
        items,
        problems: ProblemList::default(),
        keep_frame: configuration.keep_frame,
        keep_wraps: configuration.keep_wraps,
    })
}

fn as_json(run: &str, lacks: &[String], replayed: &ReplayedTrials, judged: &ReplayedJudgements) -> Value {
    json!({
        "run": run,
        "lacks": lacks,
        "trials": replayed.trials,
        "scored_only": replayed.scored_only,
        "not_replayed": replayed.not_replayed,
        "differences": replayed.differences,
        "judgements": {
            "judgements": judged.judgements,
            "without_response": judged.without_response,
            "not_replayed": judged.not_replayed,
            "differences": judged.differences,
        },
    })
}

/// Prints what differs, what could not be verified, and how much was.
fn say(run: &str, replayed: &ReplayedTrials, judged: &ReplayedJudgements) -> Result<()> {
    let count = |n: usize| thousands(n as u64);
    for difference in &replayed.differences {
        outln!("{}", in_words(difference));
    }
    for (method, n) in &replayed.not_replayed {
        let n = count(*n);
        outln!("{method}: {n} trials were not verified: the run folder does not hold what it made of their books");
    }
    for difference in &judged.differences {
        outln!("{}", of_judgement(difference));
    }
    for (judge, n) in &judged.not_replayed {
        outln!(
            "{judge}: {} judgements were not verified: they were made by another prompt (--prompts), or what they are about is gone",
            count(*n)
        );
    }
    let trials = format!("{} parsed and scored again", counted(replayed.trials, "trial"));
    let scored = match replayed.scored_only {
        0 => String::new(),
        n => format!(", {} that ended without a response scored again", count(n)),
    };
    let judgements = match judged.judgements {
        0 => String::new(),
        n => format!(", {} read again", counted(n, "judgement")),
    };
    let n = replayed.differences.len() + judged.differences.len();
    outln!("{run}: {trials}{scored}{judgements}: {}", counted(n, "difference"));
    Ok(())
}

/// Reads every judgement of the run again.
async fn judged_again(
    run: &Run,
    benchmark: &Benchmark,
    records: &[Record],
    prompts: &Prompts,
    tokenizer: &Tokenizer,
) -> Result<ReplayedJudgements> {
    let books = benchmark.books.iter().map(|book| (book.id.as_str(), book)).collect();
    let (items, texts) = (&benchmark.items, &*benchmark.texts);
    rejudging::replay(&run.judging, &PendingJudgements { items, records, books, texts }, prompts, tokenizer).await
}

fn configuration(folder: &Path) -> Result<Configuration> {
    let path = folder.join(MANIFEST);
    let text = closeread_files::read_text_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut manifest: Value = serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?;
    serde_json::from_value(manifest["configuration"].take()).with_context(|| {
        format!("{} does not say how the run was made: expected what this closeread writes", path.display())
    })
}

/// The embedding model of the run, which must give the vectors that it gave then.
fn embedder(entry: &EmbedderEntry, given: Option<&str>) -> Result<Embedder> {
    let EmbedderEntry { name, backend, fingerprint, endpoint, spec } = entry;
    let mut options = EmbedderOptions {
        base_url: given.filter(|_| endpoint.is_some()).map(str::to_owned).or_else(|| endpoint.clone()),
        // A run folder may be another's: its server would get the texts, and a key.
        remembered_only: given.is_none(),
        known: spec.clone(),
        ..EmbedderOptions::default()
    };
    if endpoint.is_none() {
        options.backend = Some(
            serde_json::from_value(json!(BackendName::recorded(backend)))
                .with_context(|| format!("backend `{backend}`"))?,
        );
    }
    let embedder = Embedder::named(Some(name), &options);
    let embedder = embedder.context("the passages cannot be ranked again as they were")?;
    if endpoint.is_none() && embedder.backend() != backend {
        bail!("{backend} computed the vectors of the run, and this machine has {} for it", embedder.backend());
    }
    if embedder.fingerprint() != *fingerprint {
        bail!("embedding model {name} gives other vectors than in the run: use the model and the closeread of the run");
    }
    Ok(embedder)
}

/// The tokenizer by the name that it has in reports: a vocabulary, a file, or the embedding model.
fn tokenizer(configuration: &Configuration) -> Result<Tokenizer> {
    let name = configuration.tokenizer.as_str();
    match configuration.embedder.as_ref().filter(|embedder| embedder.name == name) {
        Some(embedder) => tokenizer::load(Some("embedder"), Some(&embedder.name)),
        None => tokenizer::load(Some(name), None),
    }
}

/// The reranker of the run, which must give the scores that it gave then.
fn reranking(entry: &RerankerEntry, args: &VerifyArgs) -> Result<Reranking> {
    let RerankerEntry { name, from, fingerprint, endpoint } = entry;
    let given = args.reranker_base_url.clone().filter(|_| endpoint.is_some());
    let options = RerankerOptions {
        // A run folder may be another's: its server would get the texts, and a key.
        remembered_only: given.is_none(),
        base_url: given.or_else(|| endpoint.clone()),
        ..RerankerOptions::default()
    };
    let folder = args.reranker.as_deref().filter(|_| endpoint.is_none());
    let reranker = Reranker::named(folder.unwrap_or(name), &options);
    let reranker = reranker.context("the passages cannot be put in order again as they were")?;
    if reranker.fingerprint() != fingerprint {
        bail!("reranker {name} gives other scores than in the run: use the model and the closeread of the run");
    }
    Ok(Reranking { reranker: Rc::new(reranker), from: *from })
}

fn cells(
    configuration: &Configuration,
    embedder_base_url: Option<&str>,
    reranking: Option<&Reranking>,
) -> Result<Vec<PlannedCell>> {
    let mut encoders: BTreeMap<&str, Rc<QueryEncoder>> = BTreeMap::new();
    let mut cells = Vec::new();
    for key in &configuration.cells {
        let none = json!({});
        let parameters = configuration.methods.get(&key.method).unwrap_or(&none);
        let method = AnyMethod::named(&key.method, parameters)?;
        let entry = configuration.embedders.get(&key.method).or(configuration.embedder.as_ref());
        let encoder = match entry.filter(|_| method.passages().is_some()) {
            None => None,
            Some(entry) => {
                if !encoders.contains_key(entry.name.as_str()) {
                    encoders.insert(&entry.name, Rc::new(QueryEncoder::new(embedder(entry, embedder_base_url)?)));
                }
                Some(Rc::clone(&encoders[entry.name.as_str()]))
            }
        };
        let reranking = reranking.filter(|_| method.ranks_passages()).cloned();
        cells.push(PlannedCell { key: key.clone(), method, encoder, reranking });
    }
    Ok(cells)
}

/// Refuses prompts that are not those the run was made with, as far as it asked by them.
fn check_prompts(configuration: &Configuration, prompts: &Prompts, records: &[Record]) -> Result<()> {
    let used: BTreeSet<&str> = records.iter().flat_map(|r| &r.calls).map(|call| call.prompt.as_str()).collect();
    let differ: Vec<&str> = used
        .into_iter()
        .filter(|name| configuration.prompts.get(*name).is_some_and(|hash| prompts.hashes().get(*name) != Some(hash)))
        .collect();
    if !differ.is_empty() {
        bail!(
            "the run asked by other prompts than these: {}; give their folder by --prompts, or use the closeread that \
             made the run",
            differ.join(", ")
        );
    }
    Ok(())
}

fn of_judgement(difference: &rejudging::Difference) -> String {
    let rejudging::Difference { key, what, stored, recomputed } = difference;
    let of = key.subject.trial.as_ref().map_or_else(String::new, |trial| {
        let at = trial.budget.map_or_else(String::new, |budget| format!(" at {}", thousands(budget as u64)));
        format!(", {}{at} with {}, repetition {}", trial.method, trial.model, trial.repeat)
    });
    let (judge, model, vote) = (key.judge.name(), &key.judge_model, key.vote);
    let item = &key.subject.item;
    format!("item {item}{of}: {judge} by {model}, vote {vote}: {what} stored {stored}, recomputed {recomputed}")
}

fn in_words(difference: &Difference) -> String {
    let trial = &difference.trial;
    let at = trial.budget.map_or_else(String::new, |budget| format!(" at {}", thousands(budget as u64)));
    format!(
        "item {}, {}{at} with {}, repetition {}: {} stored {}, recomputed {}",
        trial.item, trial.method, trial.model, trial.repeat, difference.what, difference.stored, difference.recomputed
    )
}
