//! `closeread tree`: RAPTOR's tree of summaries over a book.

use crate::command::plan::{UNLIMITED, out_of_money};
use crate::command::{AskingArgs, BookArgs, CostArgs, EmbedderArgs, one_book};
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_files::{refuse_input_as_output, write_output};
use closeread_methods::listing::{ListedNode, ListedTree};
use closeread_methods::reader::EXTRACTIVE;
use closeread_methods::{AnyMethod, AnyPrepared, Preparation, Session, Settings};
use closeread_providers::response_cache::ResponseCache;
use closeread_providers::{Model, Options};
use closeread_retrieve::Retriever;
use closeread_runner::engine::retriever_for;
use closeread_runner::host::{CliHost, QueryEncoder};
use closeread_runner::run_folder::preparations;
use closeread_runner::{finished, prompts, tokenizer};
use closeread_table::number::counted;
use closeread_terminal as terminal;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::info;

/// Characters of a leaf's text that are printed.
const LEAF_CHARS: usize = 80;
/// Interval at which it is said that the tree is still being built.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// Build RAPTOR's tree over a book, or show a run's
#[derive(Debug, clap::Args)]
pub(crate) struct TreeArgs {
    /// A .txt, .md or .epub file, or `sample`, the story that is inside the program; with --run the id of a document
    book: String,
    /// Show the tree that this run folder keeps
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "base_url", "retriever", "embedder", "backend", "tokenizer", "param", "max_output_tokens", "prompts", "no_cache",
        "encoding", "language", "keep_frame", "keep_wraps",
    ])]
    run: Option<PathBuf>,
    /// Model that writes the summaries, as `closeread run --model` names models [default: builtin/extractive; with
    /// --run the only one]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    #[command(flatten)]
    embedder: EmbedderArgs,
    /// cl100k, o200k, embedder, or a tokenizer.json
    #[arg(long, value_name = "NAME|FILE", default_value = "cl100k")]
    tokenizer: String,
    /// A parameter of method raptor, see `closeread methods`; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Maximum tokens of a response [default: the provider's]
    #[arg(long, value_name = "N")]
    max_output_tokens: Option<u32>,
    #[command(flatten)]
    reading: BookArgs,
    #[command(flatten)]
    asking: AskingArgs,
    #[command(flatten)]
    costs: CostArgs,
    /// Print {"leaves", "summaries", "compression", "roots", "nodes": [{"index", "layer", "tokens", "children", "document",
    /// "start", "end", "text"}]}
    #[arg(long)]
    json: bool,
    /// Write that JSON into a file and print only its size
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Builds or finds the tree and prints it.
pub(crate) async fn run(args: TreeArgs) -> Result<ExitCode> {
    if let (Some(out), None) = (&args.out, &args.run) {
        refuse_input_as_output(out, "--out", [Path::new(&args.book)])?;
    }
    let (books, preparation) = match &args.run {
        Some(folder) => kept(folder, &args)?,
        None => match built(&args).await? {
            Some(made) => made,
            None => return Ok(ExitCode::from(1)),
        },
    };
    let tree = match preparation.prepared {
        Ok(AnyPrepared::Raptor(tree)) => tree,
        Ok(_) => {
            bail!("what is kept for method raptor is no tree; remove it, or run anew with --fresh")
        }
        Err(outcome) => {
            info!("no tree: {}", serde_json::to_string(&outcome)?);
            return Ok(ExitCode::from(1));
        }
    };
    let listed = ListedTree::of(&tree, &books)?;
    let json = serde_json::to_string(&listed)?;
    match &args.out {
        Some(path) => write_output(path, format!("{json}\n").as_bytes())?,
        None if args.json => outln!("{json}"),
        None => print(&listed)?,
    }
    let compression =
        listed.compression.map_or_else(String::new, |share| format!(", {:.0} % of their length", 100.0 * share));
    info!(
        "{} under {} summaries{compression}, {}, {}, {}",
        counted(listed.leaves, "passage"),
        listed.summaries,
        counted(tree.height(), "layer"),
        counted(listed.roots.len(), "root"),
        counted(preparation.calls.len(), "call")
    );
    Ok(ExitCode::SUCCESS)
}

/// The tree over one file; `None` if money stopped it, which is said.
async fn built(args: &TreeArgs) -> Result<Option<(Vec<Arc<Book>>, Preparation)>> {
    let method = AnyMethod::named("raptor", &parameters(&args.param)?)?;
    let model = args.model.as_deref().unwrap_or(EXTRACTIVE);
    let reader = Model::named(model, args.asking.base_url.as_deref(), Options::default())?;
    let books = vec![Arc::new(one_book(Path::new(&args.book), &args.reading)?)];
    let encoder = args.embedder.load()?.map(QueryEncoder::new);
    let embedder = encoder.as_ref().map(QueryEncoder::embedder);
    let retriever = retriever_for(&books, args.embedder.retriever, embedder.map(Arc::as_ref));
    if let (None, Retriever::Bm25, Some(embedder)) = (args.embedder.retriever, retriever, embedder) {
        let (name, language) = (embedder.name(), books[0].language);
        info!("clustered by words: {name} does not know the language `{}`", language.code());
    }
    let tokenizer = tokenizer::load(Some(&args.tokenizer), args.embedder.name())?;
    let writer: Vec<String> = (model != EXTRACTIVE).then(|| model.to_owned()).into_iter().collect();
    let unlimited = if args.max_output_tokens.is_none() { &writer[..] } else { &[] };
    let spending = args.costs.spending(&writer, unlimited, embedder.map(Arc::as_ref), &tokenizer)?;
    let stopped = || {
        info!("{}", out_of_money(spending.taken()));
        if !unlimited.is_empty() {
            info!("{UNLIMITED}");
        }
        Ok(None)
    };
    let passages = method.passages().context("a tree has passages")?;
    let mut passage_index = passages.index(&books, &tokenizer, Book::text)?;
    if let Some(embedder) = embedder.filter(|_| retriever.needs_vectors()) {
        let texts = passage_index.texts(0..passage_index.passages().len(), Book::text)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embedded = embedder.embed_passages(&texts);
        if embedded.is_err() && spending.taken().out {
            return stopped();
        }
        passage_index.put_vectors(embedded?.vectors)?;
    }
    let prompts = prompts::load(args.asking.prompts.as_deref())?;
    let setting = Settings {
        prompts: &prompts,
        tokenizer: &tokenizer,
        response_limit: args.max_output_tokens.into(),
        temperature: 0.0,
        context_window: None,
    };
    let responses =
        Rc::new(if args.asking.no_cache { ResponseCache::new(None) } else { closeread_runner::cache::responses() });
    let host = CliHost::new(reader, responses).charged_to(Arc::clone(&spending), model);
    let host = host.repetition(0, encoder.as_ref()).of_method("raptor");
    let session = Session::new(&host, setting).about(&books).searching(Some(&passage_index), retriever);
    let n_passages = passage_index.passages().len();
    let say = |seconds| info!("the tree over {n_passages} passages is being built, {seconds} s so far");
    let preparation = tokio::select! {
        biased;
        made = told(method.prepare(&session), SAY_EVERY, say) => made?,
        () = spending.is_out() => return stopped(),
    };
    Ok(Some((books, preparation.context("a tree is prepared")?)))
}

/// Waits for what takes its time, and says now and then for how many seconds.
async fn told<T>(under_way: impl Future<Output = T>, every: Duration, mut say: impl FnMut(u64)) -> T {
    let (mut under_way, started) = (std::pin::pin!(under_way), Instant::now());
    loop {
        match tokio::time::timeout(every, under_way.as_mut()).await {
            Ok(done) => return done,
            Err(_) => say(started.elapsed().as_secs()),
        }
    }
}

/// Reads `--param NAME=VALUE` as a JSON object.
fn parameters(given: &[String]) -> Result<Value> {
    let read = |text: &String| {
        let (name, value) = text
            .split_once('=')
            .with_context(|| format!("--param {text}: expected NAME=VALUE, such as max_layers=2"))?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        Ok((name.strip_prefix("raptor.").unwrap_or(name).to_owned(), value))
    };
    Ok(Value::Object(given.iter().map(read).collect::<Result<Map<_, _>>>()?))
}

/// The tree that a run has built over a document, alone or with others, and the books it is of.
fn kept(folder: &Path, args: &TreeArgs) -> Result<(Vec<Arc<Book>>, Preparation)> {
    let mut found = preparations(folder)?;
    found.retain(|(key, _)| key.method == "raptor" && key.documents.contains(&args.book));
    found.retain(|(key, _)| args.model.as_ref().is_none_or(|model| *model == key.model));
    found.sort_by(|(a, _), (b, _)| a.model.cmp(&b.model));
    match found.len() {
        0 => bail!(
            "{} keeps no tree of a document `{}`{}; a run with --method raptor makes one",
            folder.display(),
            args.book,
            args.model.as_ref().map_or_else(String::new, |model| format!(" by {model}"))
        ),
        1 => {}
        _ => {
            let models: Vec<&str> = found.iter().map(|(key, _)| key.model.as_str()).collect();
            bail!(
                "{} keeps several trees of `{}`: choose one with --model: {}",
                folder.display(),
                args.book,
                models.join(", ")
            )
        }
    }
    let (key, preparation) = found.remove(0);
    Ok((finished::documents(folder, &key.documents)?, preparation))
}

/// Roots first, each node under the first of its parents.
fn print(tree: &ListedTree) -> Result<()> {
    let mut out = terminal::stdout();
    let mut seen = vec![false; tree.nodes.len()];
    let mut waiting: Vec<(usize, usize)> = tree.roots.iter().rev().map(|&root| (root, 0)).collect();
    while let Some((index, depth)) = waiting.pop() {
        let node = &tree.nodes[index];
        let indent = "  ".repeat(depth);
        if std::mem::replace(&mut seen[index], true) {
            writeln!(out, "{indent}[{index}] see above")?;
            continue;
        }
        writeln!(out, "{indent}{}", heading(node))?;
        writeln!(out, "{indent}    {}", shown(node))?;
        waiting.extend(node.children.iter().rev().map(|&child| (child, depth + 1)));
    }
    Ok(())
}

fn heading(node: &ListedNode) -> String {
    let ListedNode { index, tokens, children, .. } = node;
    match &node.place {
        Some(place) => format!("[{index}] {} bytes {}..{}, {tokens} tokens", place.document, place.start, place.end),
        None => format!("[{index}] summary of {} nodes, {tokens} tokens", children.len()),
    }
}

/// A summary whole, the beginning of a passage.
fn shown(node: &ListedNode) -> String {
    let words: Vec<&str> = node.text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LEAF_CHARS) {
        Some((end, _)) if node.place.is_some() => format!("{}…", &line[..end]),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn finding_06_what_takes_its_time_is_told_of() {
        let mut n_told = 0;
        let slow = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            7
        };
        assert_eq!(told(slow, Duration::from_millis(20), |_| n_told += 1).await, 7);
        assert!((1..10).contains(&n_told), "{n_told}");
        assert_eq!(told(async { 8 }, Duration::from_secs(9), |_| panic!("at once")).await, 8);
    }
}
