//! The run: books become shelves, items become trials, trials become records.

use crate::benchmark::Benchmark;
use crate::embedder::Embedder;
use crate::host::{CliHost, QueryVectors, embed_queries};
use crate::progress::Progress;
use crate::run_folder::RunFolder;
use anyhow::{Context, Result};
use closeread_core::benchmark::Item;
use closeread_core::chunk::Chunker;
use closeread_core::embed::Role;
use closeread_core::index::Shelf;
use closeread_core::method::{self, MethodError, Rag, Setting, Trial, Window};
use closeread_core::metric::evidence::context_recall;
use closeread_core::metric::score;
use closeread_core::reader::EXTRACTIVE;
use closeread_core::record::{Outcome, Record, TrialKey};
use closeread_core::report::{CellKey, EVIDENCE_RECALL};
use closeread_core::retrieve::{Overflow, PassageOrder, Retriever};
use closeread_core::text::{Book, Span};
use futures_util::{StreamExt, stream};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

/// What a run does, decided before it starts.
pub(crate) struct Plan<'a> {
    /// What all trials share.
    pub(crate) setting: Setting<'a>,
    /// The lines of the table.
    pub(crate) cells: Vec<CellKey>,
    /// Repetitions of every trial.
    pub(crate) samples: u32,
    /// As asked for; `None` chooses by language.
    pub(crate) retriever: Option<Retriever>,
    /// What filling does at a passage that does not fit.
    pub(crate) fill: Overflow,
    /// What the models can take.
    pub(crate) window: Window,
    /// Most tokens of a passage.
    pub(crate) max_tokens: usize,
    /// Calls under way at once.
    pub(crate) concurrency: usize,
    /// The encoder, where one is needed.
    pub(crate) embedder: Option<Arc<Embedder>>,
    /// One host a model.
    pub(crate) hosts: HashMap<String, CliHost>,
    /// Query vectors the hosts share.
    pub(crate) queries: QueryVectors,
}

/// What happened besides records.
#[derive(Default)]
pub(crate) struct Summary {
    /// Ctrl-C ended the run before all trials were made.
    pub(crate) interrupted: bool,
}

/// The retriever for a book: as asked for, or dense where the encoder knows the language and BM25 where it does not.
pub(crate) fn retriever_for(books: &[Arc<Book>], asked: Option<Retriever>, embedder: Option<&Embedder>) -> Retriever {
    asked.unwrap_or_else(|| {
        let known = |book: &Arc<Book>| embedder.is_some_and(|e| e.model().spec.speaks(book.language.code()));
        if books.iter().all(known) { Retriever::Dense } else { Retriever::Bm25 }
    })
}

struct Task<'a> {
    item: &'a Item,
    method: &'a str,
    key: TrialKey,
}

/// Makes every trial of the plan that the folder does not hold yet.
pub(crate) async fn run(
    plan: &Plan<'_>,
    benchmark: &Benchmark,
    evidence: &HashMap<String, Vec<(usize, Span)>>,
    folder: &mut RunFolder,
) -> Result<Summary> {
    let groups = groups(&benchmark.items);
    let tasks: Vec<(&[String], Vec<Task<'_>>)> = groups
        .into_iter()
        .map(|(documents, items)| (documents, tasks(plan, &items, folder)))
        .filter(|(_, tasks)| !tasks.is_empty())
        .collect();
    let progress = Progress::new("trials", tasks.iter().map(|(_, tasks)| tasks.len()).sum());
    let mut summary = Summary::default();
    let stop = Cell::new(false);
    let watch = async {
        // First Ctrl-C: finish what is under way. Second: the default handler's abrupt end.
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.set(true);
            progress.say("stopping: what is under way is finished and kept; press Ctrl-C again to stop at once");
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(130);
            }
        }
        std::future::pending::<()>().await;
    };
    let work = async {
        for (documents, tasks) in tasks {
            if stop.get() {
                break;
            }
            let (shelf, n_cut) = shelf(plan, benchmark.books_of(documents), &tasks, &progress).await?;
            if n_cut > 0 {
                folder.note_cut(&documents.join(", "), n_cut)?;
            }
            for wave in waves(tasks) {
                let mut trials = stream::iter(wave.into_iter().take_while(|_| !stop.get()))
                    .map(|task| trial(plan, &shelf, evidence, task))
                    .buffer_unordered(plan.concurrency);
                while let Some(record) = trials.next().await {
                    folder.append(record?)?;
                    progress.tick();
                }
            }
        }
        anyhow::Ok(())
    };
    tokio::select! {
        result = work => result?,
        () = watch => {}
    }
    progress.finish();
    summary.interrupted = stop.get();
    Ok(summary)
}

/// Items by the books they are about, in the order of first use.
fn groups(items: &[Item]) -> Vec<(&[String], Vec<&Item>)> {
    let mut groups: Vec<(&[String], Vec<&Item>)> = Vec::new();
    let mut place: HashMap<&[String], usize> = HashMap::new();
    for item in items {
        let idx = *place.entry(&item.documents).or_insert_with(|| {
            groups.push((&item.documents, Vec::new()));
            groups.len() - 1
        });
        groups[idx].1.push(item);
    }
    groups
}

fn tasks<'a>(plan: &'a Plan<'_>, items: &[&'a Item], folder: &RunFolder) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    for &item in items {
        for CellKey { method, model, budget } in &plan.cells {
            for sample in 0..plan.samples {
                let key = TrialKey {
                    item: item.id.clone(),
                    method: method.clone(),
                    model: model.clone(),
                    budget: *budget,
                    sample,
                };
                if !folder.is_done(&key) {
                    tasks.push(Task { item, method, key });
                }
            }
        }
    }
    tasks
}

/// The first question that hands a model the whole book goes alone, the rest together: by then the provider has the book
/// in its prompt cache.
fn waves(tasks: Vec<Task<'_>>) -> [Vec<Task<'_>>; 2] {
    let mut seen: HashSet<String> = HashSet::new();
    let leads = |task: &Task<'_>| {
        task.method == "full-document" && task.key.model != EXTRACTIVE && seen.insert(task.key.model.clone())
    };
    let (first, rest) = tasks.into_iter().partition(leads);
    [first, rest]
}

/// Cuts, indexes and, where a trial needs it, embeds the books and all their questions; says how many of these texts
/// were longer than the encoder takes.
async fn shelf(
    plan: &Plan<'_>,
    books: Vec<Arc<Book>>,
    tasks: &[Task<'_>],
    progress: &Progress,
) -> Result<(Shelf, usize)> {
    let mut n_cut = 0;
    let embedder = plan.embedder.as_ref();
    let retriever = retriever_for(&books, plan.retriever, embedder.map(Arc::as_ref));
    let retrieves = tasks.iter().any(|task| is_rag(task.method));
    let mut shelf = Shelf::new(books, Chunker::Dos, plan.max_tokens, plan.setting.tokenizer);
    if let Some(embedder) = embedder.filter(|_| retrieves && retriever.needs_vectors()) {
        let texts: Vec<String> = (0..shelf.passages().len()).map(|idx| shelf.text(idx)).collect();
        let title = shelf.books().first().map_or("", |book| book.id.as_str()).to_owned();
        let started = Instant::now();
        let worker = Arc::clone(embedder);
        let what = format!("passages of {title} embedded");
        // On a thread of its own, so that Ctrl-C is heard in the middle of a long book.
        let embedded = tokio::task::spawn_blocking(move || {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let passages = Progress::new(&what, texts.len());
            let mut n_done = 0;
            let embedded = worker.embed(Role::Passage, &texts, |done| {
                passages.advance(done - n_done);
                n_done = done;
            });
            passages.finish();
            embedded
        })
        .await
        .context("the embedding thread ended abruptly")?
        .with_context(|| format!("cannot embed the passages of `{title}`"))?;
        progress.paused(started);
        n_cut += embedded.n_cut;
        shelf.put_vectors(embedded.vectors);
        let questions: Vec<&str> = tasks.iter().map(|task| task.item.question.as_str()).collect();
        n_cut += embed_queries(embedder, &questions, &plan.queries)?;
    }
    Ok((shelf, n_cut))
}

fn is_rag(method: &str) -> bool {
    matches!(method, "vanilla-rag" | "dos-rag")
}

async fn trial(
    plan: &Plan<'_>,
    shelf: &Shelf,
    evidence: &HashMap<String, Vec<(usize, Span)>>,
    task: Task<'_>,
) -> Result<Record> {
    let started = Instant::now();
    let Task { item, method, key } = task;
    let trial = match attempt(plan, shelf, item, method, &key).await {
        Ok(trial) => trial,
        Err(MethodError::Host(error)) => {
            let outcome = Outcome::Failed { error: error.to_string() };
            Trial { outcome, prompt_tokens: 0, context: None, calls: Vec::new() }
        }
        Err(error) => return Err(error).with_context(|| format!("item `{}`, method {method}", item.id)),
    };
    let language = shelf.books().first().map_or("en", |book| book.language.code());
    let mut scores = score(item, &trial.outcome, language);
    let gold = evidence.get(&item.id);
    let recall =
        gold.zip(trial.context.as_ref()).and_then(|(gold, context)| context_recall(gold, context, shelf.books()));
    scores.extend(recall.map(|recall| (EVIDENCE_RECALL.to_owned(), recall)));
    Ok(Record {
        key,
        outcome: trial.outcome,
        scores,
        prompt_tokens: trial.prompt_tokens,
        context: trial.context,
        calls: trial.calls,
        seconds: started.elapsed().as_secs_f64(),
    })
}

async fn attempt(
    plan: &Plan<'_>,
    shelf: &Shelf,
    item: &Item,
    method: &str,
    key: &TrialKey,
) -> Result<Trial, MethodError> {
    let host = &plan.hosts[&key.model].repetition(key.sample);
    let rag = |order| Rag {
        budget: key.budget.expect("a retrieving method is planned with budgets"),
        order,
        retriever: retriever_for(shelf.books(), plan.retriever, plan.embedder.as_deref()),
        overflow: plan.fill,
    };
    match method {
        "closed-book" => method::closed_book(host, plan.setting, shelf.books(), item).await,
        "full-document" => method::full_document(host, plan.setting, shelf, item, plan.window).await,
        "vanilla-rag" => method::rag(host, plan.setting, shelf, item, &rag(PassageOrder::Score)).await,
        "dos-rag" => method::rag(host, plan.setting, shelf, item, &rag(PassageOrder::Document)).await,
        other => unreachable!("the names of methods are checked when the options are read, and `{other}` is none"),
    }
}
