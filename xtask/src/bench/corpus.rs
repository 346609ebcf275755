//! `cargo xtask bench corpus`: one large corpus, indexed and searched by closeread, and by bm25s, tantivy, FAISS and usearch from
//! PyPI.
//!
//! Every build and every round of queries is a process of its own with one thread, so that its memory is its own; times are CPU time, which
//! other work on the machine disturbs little. Vectors are invented: they are searched alike, whatever they mean.

mod invented;

use super::engine::measured::{Took, measure, needs_proc};
use super::peers::{python_with, work_folder};
use crate::process::{built_dir, cargo, emptied, program, root, run};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Packages that closeread is measured against.
const PACKAGES: [&str; 6] =
    ["bm25s==0.3.16", "numba==0.68.1", "tantivy==0.27.0", "faiss-cpu==1.15.1", "usearch==2.26.6", "numpy"];
const DIMENSION: usize = 384;
const N_QUERIES: usize = 200;
/// Distances of vectors from the centre of their cluster, in lengths of a centre: with the second, hardly any clusters
/// are left.
const NOISES: [(&str, &str); 2] = [("vectors in clusters", "1.5"), ("vectors hardly in clusters", "3")];
/// Number of lists of the approximate index that a query searches.
const PROBES: [usize; 3] = [8, 32, 128];
/// Candidates that a query of usearch keeps; 64 is its default.
const EXPANSIONS: [usize; 2] = [64, 512];
/// Maximum vectors for usearch: its graph of 100,000 takes minutes, of a million hours.
const MOST_FOR_USEARCH: u64 = 200_000;

/// Arguments of `bench corpus`.
#[derive(Debug, clap::Args)]
pub(crate) struct CorpusArgs {
    /// Length of the corpus in tokens, in millions
    #[arg(long, value_name = "MILLIONS", default_value_t = 10)]
    millions: usize,
    /// Only words or only vectors
    #[arg(long, value_name = "WHAT", value_parser = ["words", "vectors"])]
    only: Option<String>,
    /// Profile closeread is built with
    #[arg(long, default_value = "release")]
    profile: String,
}

/// Measures and prints. Linux only: the memory of a process is read from `/proc`.
pub(crate) fn run_with(args: &CorpusArgs) -> Result<bool> {
    needs_proc()?;
    let work = work_folder("corpus")?;
    let python = python_with(&PACKAGES, &work)?;
    run(cargo().args(["build", "--profile", &args.profile, "-p", "closeread-runner", "--example", "corpus_bench"]))?;
    let built = built_dir(&args.profile)?;
    let site = Site { ours: built.join("examples/corpus_bench"), python, work: work.join("corpus") };
    emptied(&site.work)?;
    let n_documents = invented::make(&site.at("bench"), args.millions * 1_000_000, &site.at("queries"), N_QUERIES)?;
    let indexed = site.ours(&["index", "bench"])?;
    let told = site.ours(&["passages", "bench", "passages"])?.told;
    let (tokens, passages) = (whole(&told, "tokens"), whole(&told, "passages"));
    println!(
        "{tokens} tokens in {n_documents} documents, {passages} passages; CPU time of one thread, {N_QUERIES} queries"
    );
    let wants = |what: &str| args.only.as_deref().is_none_or(|only| only == what);
    if wants("words") {
        site.words(&indexed)?;
    }
    if wants("vectors") {
        for (what, noise) in NOISES {
            site.vectors(passages, what, noise)?;
        }
    }
    emptied(&site.work)?;
    Ok(true)
}

/// The folder and the programs of both sides.
struct Site {
    ours: PathBuf,
    python: PathBuf,
    work: PathBuf,
}

/// The time and memory of a process, and the JSON that it printed.
struct Ran {
    took: Took,
    told: Value,
}

impl Site {
    fn at(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    fn ran(&self, mut command: Command, args: &[&str]) -> Result<Ran> {
        command.args(args).current_dir(&self.work).env("CLOSEREAD_CACHE", self.at("cache"));
        let took = measure(command.envs([("OMP_NUM_THREADS", "1"), ("NUMBA_NUM_THREADS", "1")]), &self.work)?;
        let told = serde_json::from_str(took.output.lines().last().unwrap_or_default());
        Ok(Ran { told: told.with_context(|| format!("{args:?} prints JSON"))?, took })
    }

    fn ours(&self, args: &[&str]) -> Result<Ran> {
        self.ran(program(&self.ours), args)
    }

    fn peer(&self, args: &[&str]) -> Result<Ran> {
        let mut command = program(&self.python);
        command.arg(root().join("xtask/bench/corpus_peer.py"));
        self.ran(command, args)
    }

    fn words(&self, indexed: &Ran) -> Result<()> {
        let alone = self.ours(&["words", "passages"])?;
        let bm25s = self.peer(&["bm25s-build", "passages", "bm25s"])?;
        let tantivy = self.peer(&["tantivy-build", "passages", "tantivy"])?;
        let queried = self.ours(&["query", "bench", "queries", "ours.json"])?;
        let [of_bm25s, of_tantivy] = ["bm25s", "tantivy"].map(|peer| {
            let out = format!("{peer}.json");
            self.peer(&[&format!("{peer}-query"), peer, "queries", &out])
        });
        heading("words");
        line("closeread, books cut and indexed", Some((indexed, number(&indexed.told, "bytes"))), None);
        let size = number(&indexed.told, "bytes");
        line(
            "closeread, passages indexed",
            Some((&alone, size)),
            Some((&queried, self.kept("ours.json", "ours.json")?)),
        );
        let (of_bm25s, of_tantivy) = (of_bm25s?, of_tantivy?);
        for (name, built, asked) in [("bm25s", &bm25s, &of_bm25s), ("tantivy", &tantivy, &of_tantivy)] {
            let kept = self.kept("ours.json", &format!("{name}.json"))?;
            line(name, Some((built, number(&built.told, "bytes"))), Some((asked, kept)));
            ratios(name, (&alone, &queried), (built, asked));
        }
        Ok(())
    }

    fn vectors(&self, n: u64, what: &str, noise: &str) -> Result<()> {
        let dimension = DIMENSION.to_string();
        self.peer(&["vectors", &n.to_string(), &dimension, &N_QUERIES.to_string(), noise, "raw", "asked"])?;
        let ours = self.ours(&["keep-vectors", "raw", &dimension, "kept"])?;
        let flat = self.peer(&["flat-build", "raw", &dimension, "flat"])?;
        let ivf = self.peer(&["ivf-build", "raw", &dimension, "ivf"])?;
        let queried = self.ours(&["query-vectors", "kept", "asked", "exact.json"])?;
        let of_flat = self.peer(&["flat-query", "flat", "asked", "flat.json"])?;
        heading(what);
        let size = |ran: &Ran| number(&ran.told, "bytes");
        line("closeread, exact", Some((&ours, size(&ours))), Some((&queried, self.kept("exact.json", "exact.json")?)));
        line("FAISS flat, exact", Some((&flat, size(&flat))), Some((&of_flat, self.kept("exact.json", "flat.json")?)));
        ratios("FAISS flat", (&ours, &queried), (&flat, &of_flat));
        for probes in PROBES {
            let asked = self.peer(&["ivf-query", "ivf", "asked", "ivf.json", &probes.to_string()])?;
            let name = format!("FAISS IVF, {probes} lists");
            line(&name, Some((&ivf, size(&ivf))), Some((&asked, self.kept("exact.json", "ivf.json")?)));
            ratios(&name, (&ours, &queried), (&ivf, &asked));
        }
        if n > MOST_FOR_USEARCH {
            println!("    usearch: left out, {n} vectors are more than {MOST_FOR_USEARCH}");
            return Ok(());
        }
        let graph = self.peer(&["usearch-build", "raw", &dimension, "graph"])?;
        for expansion in EXPANSIONS {
            let asked = self.peer(&["usearch-query", "graph", "asked", "graph.json", &expansion.to_string()])?;
            let name = format!("usearch, {expansion} in view");
            line(&name, Some((&graph, size(&graph))), Some((&asked, self.kept("exact.json", "graph.json")?)));
            ratios(&name, (&ours, &queried), (&graph, &asked));
        }
        Ok(())
    }

    /// The share of the best ten of `exact` that `found` has among its best ten, and of the queries for which it has them in the
    /// same order.
    fn kept(&self, exact: &str, found: &str) -> Result<[f64; 2]> {
        let read = |name: &str| -> Result<Vec<Vec<u64>>> {
            let text = std::fs::read_to_string(self.at(name)).with_context(|| format!("cannot read {name}"))?;
            let queries: Vec<Vec<(u64, f64)>> = serde_json::from_str(&text)?;
            Ok(queries.into_iter().map(|best| best.into_iter().map(|(idx, _)| idx).collect()).collect())
        };
        let (exact, found) = (read(exact)?, read(found)?);
        ensure!(exact.len() == found.len(), "each side answers each query");
        let (mut kept, mut all, mut same) = (0, 0, 0);
        for (exact, found) in exact.iter().zip(&found) {
            kept += exact.iter().filter(|idx| found.contains(idx)).count();
            all += exact.len();
            same += usize::from(exact == found);
        }
        Ok([kept as f64 / all as f64, same as f64 / exact.len() as f64])
    }
}

fn number(told: &Value, name: &str) -> f64 {
    told[name].as_f64().unwrap_or(f64::NAN)
}

fn whole(told: &Value, name: &str) -> u64 {
    told[name].as_u64().unwrap_or(0)
}

fn heading(what: &str) {
    println!(
        "\n{what:<33} {:>8} {:>10} {:>8} {:>8} {:>9} {:>8} {:>10} {:>7} {:>8}",
        "build s", "memory MB", "disk MB", "open s", "memory MB", "query ms", "for budget", "best 10", "in order"
    );
}

fn line(name: &str, built: Option<(&Ran, f64)>, asked: Option<(&Ran, [f64; 2])>) {
    let megabytes = |bytes: f64| bytes / 1e6;
    print!("{name:<33}");
    if let Some((built, size)) = built {
        let memory = megabytes(built.took.memory as f64);
        print!(" {:>8.2} {memory:>10.0} {:>8.1}", number(&built.told, "seconds"), megabytes(size));
    }
    if let Some((asked, [kept, same])) = asked {
        let told = &asked.told;
        let for_budget = told["for_budget"].as_f64().map_or("-".to_owned(), |seconds| format!("{:.2}", 1e3 * seconds));
        let memory = megabytes(asked.took.memory as f64);
        print!(" {:>8.3} {memory:>9.0} {:>8.2}", number(told, "open"), 1e3 * number(told, "seconds"));
        print!(" {for_budget:>10} {kept:>7.4} {same:>8.3}");
    }
    println!();
}

/// Prints the peer's time divided by ours.
fn ratios(name: &str, (built, asked): (&Ran, &Ran), (their_build, their_asked): (&Ran, &Ran)) {
    let ratio = |theirs: &Ran, ours: &Ran| number(&theirs.told, "seconds") / number(&ours.told, "seconds");
    let (build, query) = (ratio(their_build, built), ratio(their_asked, asked));
    println!("    {name}: {build:.2} times closeread's time to build, {query:.2} times its time a query");
}
