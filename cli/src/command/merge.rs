//! `closeread merge`: the parts of a run as one.

use anyhow::{Context, Result, bail};
use closeread_eval::{Item, Outcome};
use closeread_files::{entries, write_atomically};
use closeread_methods::record::{Record, TrialKey};
use closeread_report::folder::RunManifest;
use closeread_runner::judging;
use closeread_runner::run_folder::{
    EMBEDDINGS, MANIFEST, Opening, PREPARATIONS, RunFolder, TEXTS, embedding_calls, prices, write_prices,
};
use closeread_runner::shard::Shard;
use closeread_table::number::thousands;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracing::info;

/// How many trials that differ are named.
const SHOWN: usize = 10;

/// Join the folders of a sharded run into one.
///
/// The folders must hold parts of the same run. A trial that is in several counts once; where its copies differ, the
/// first folder's counts and the difference is reported. Exits with 1 if parts, items or trials are missing, or trials
/// differ.
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// The run folders of the parts
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The folder to write, new or empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write the run in --out anew, as when parts were missing before
    #[arg(long)]
    fresh: bool,
    /// Print {"folder", "items", "items_expected", "records", "records_expected", "duplicates", "differing", "missing_parts"}
    #[arg(long)]
    json: bool,
}

/// What merging reads of a manifest.
#[derive(Deserialize)]
struct Manifest {
    configuration: Value,
    shard: Option<Shard>,
}

struct Part {
    folder: PathBuf,
    manifest: Manifest,
    /// Of its configuration.
    name: Option<String>,
    items: Vec<Item>,
    records: Vec<Record>,
}

/// Reads the parts, checks that they belong together, writes the whole.
pub(crate) fn run(args: &MergeArgs) -> Result<ExitCode> {
    let parts: Vec<Part> = args.runs.iter().map(|folder| Part::read(folder)).collect::<Result<_>>()?;
    for part in &parts[1..] {
        part.check_same_run(&parts[0])?;
    }
    if args.out.join(MANIFEST).exists() && !args.fresh {
        bail!("{} holds a run already; choose a new folder with --out, or give --fresh", args.out.display());
    }

    let mut items: HashMap<&str, &Item> = HashMap::new();
    let mut order = Vec::new();
    let mut records: BTreeMap<&TrialKey, &Record> = BTreeMap::new();
    let (mut n_duplicates, mut differing) = (0, Vec::new());
    for part in &parts {
        for item in &part.items {
            if items.insert(&item.id, item).is_none() {
                order.push(item.clone());
            }
        }
        for record in &part.records {
            match records.get(&record.key) {
                None => {
                    records.insert(&record.key, record);
                }
                Some(known) => {
                    n_duplicates += 1;
                    let failed = matches!(known.outcome, Outcome::Failed { .. });
                    if failed && !matches!(record.outcome, Outcome::Failed { .. }) {
                        records.insert(&record.key, record);
                    } else if known.outcome != record.outcome && !failed {
                        differing.push(name(&record.key));
                    }
                }
            }
        }
    }

    let configuration = &parts[0].manifest.configuration;
    let opening = if args.fresh { Opening::Fresh } else { Opening::Resume };
    let mut folder = RunFolder::open(&args.out, configuration, None, opening)?;
    if let Some(name) = parts.iter().find_map(|part| part.name.as_ref()) {
        folder.name(name)?;
    }
    folder.write_items(&order)?;
    // Where parts differ the first one counts.
    for part in parts.iter().rev() {
        write_prices(&args.out, prices(&part.folder)?)?;
    }
    let mut embeddings = Vec::new();
    for part in &parts {
        for call in embedding_calls(&part.folder)? {
            serde_json::to_writer(&mut embeddings, &call)?;
            embeddings.push(b'\n');
        }
    }
    if !embeddings.is_empty() {
        write_atomically(&args.out.join(EMBEDDINGS), &embeddings)?;
    }
    for part in &parts {
        for folder in [TEXTS, PREPARATIONS] {
            copy_files(&part.folder.join(folder), &args.out.join(folder))?;
        }
    }
    let n_records = records.len();
    for record in records.into_values() {
        folder.append(vec![record.clone()])?;
    }
    judging::merge(&parts.iter().map(|part| part.folder.as_path()).collect::<Vec<_>>(), &args.out)?;

    let expected = configuration["items"].as_u64().unwrap_or(0);
    let n_cells = configuration["cells"].as_array().map_or(0, Vec::len) as u64;
    let trials = expected.saturating_mul(n_cells).saturating_mul(configuration["repeats"].as_u64().unwrap_or(1));
    let missing: Vec<String> = missing_parts(&parts);
    if args.json {
        outln!(
            "{}",
            json!({
                "folder": args.out.display().to_string(),
                "items": order.len(),
                "items_expected": expected,
                "records": n_records,
                "records_expected": trials,
                "duplicates": n_duplicates,
                "differing": differing,
                "missing_parts": missing,
            })
        );
    } else {
        outln!("{}: items {} of {expected}, trials {n_records} of {trials}", args.out.display(), order.len());
    }
    if n_duplicates > 0 {
        info!("trials that were in several folders and count once: {n_duplicates}");
    }
    for trial in differing.iter().take(SHOWN) {
        info!("{trial}: the folders hold different outcomes; that of the first one counts");
    }
    if differing.len() > SHOWN {
        info!("... and {} more", differing.len() - SHOWN);
    }
    if !missing.is_empty() {
        info!("parts that are missing: {}; run them and merge again", missing.join(", "));
    }
    let without = trials.saturating_sub(n_records as u64);
    if without > 0 && missing.is_empty() {
        let (without, trials) = (thousands(without), thousands(trials));
        info!("INCOMPLETE: {without} of {trials} trials have no record; run the parts to their end and merge again");
    }
    let whole = missing.is_empty() && order.len() as u64 >= expected && without == 0 && differing.is_empty();
    info!("closeread report {} prints its tables", args.out.display());
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

impl Part {
    fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            closeread_files::read_text_file(&path)
                .with_context(|| format!("cannot read {}: expected a run folder", path.display()))
        };
        let bytes = text(MANIFEST)?;
        let known = RunManifest::read(bytes.as_bytes()).with_context(|| folder.display().to_string())?;
        let manifest = serde_json::from_str(&bytes)
            .with_context(|| format!("{} is no manifest of a run", folder.join(MANIFEST).display()))?;
        let items = text("items.jsonl")?;
        if !known.wrote_items(items.as_bytes()) {
            bail!(
                "{} is damaged: it is not as the run wrote it; give the command of that part again, which writes it anew",
                folder.join("items.jsonl").display()
            );
        }
        let items = lines(&items, &folder.join("items.jsonl"))?;
        let mut records = text("records.jsonl")?;
        // A line that a kill cut short is no finished trial.
        records.truncate(records.rfind('\n').map_or(0, |end| end + 1));
        let records = lines(&records, &folder.join("records.jsonl"))?;
        let name = known.configuration_name;
        Ok(Self { folder: folder.to_owned(), manifest, name, items, records })
    }

    fn check_same_run(&self, first: &Self) -> Result<()> {
        let (ours, theirs) = (&self.manifest.configuration, &first.manifest.configuration);
        let names = |value: &Value| value.as_object().map(|o| o.keys().cloned().collect()).unwrap_or_default();
        let all: BTreeSet<String> = BTreeSet::union(&names(ours), &names(theirs)).cloned().collect();
        let differ: Vec<String> = all.into_iter().filter(|name| ours.get(name) != theirs.get(name)).collect();
        if differ.is_empty() {
            return Ok(());
        }
        bail!(
            "{} and {} are not parts of one run: they differ in {}",
            first.folder.display(),
            self.folder.display(),
            differ.join(", ")
        )
    }
}

fn lines<T: serde::de::DeserializeOwned>(text: &str, path: &Path) -> Result<Vec<T>> {
    let parse = |(idx, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}: this line is damaged", path.display(), idx + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.is_empty()).map(parse).collect()
}

fn name(key: &TrialKey) -> String {
    let budget = key.budget.map_or_else(String::new, |budget| format!(" at {budget}"));
    format!("{}, {}{budget}, {}, repeat {}", key.item, key.method, key.model, key.repeat)
}

/// The parts that no folder holds, as I/N.
fn missing_parts(parts: &[Part]) -> Vec<String> {
    let shards: Vec<Shard> = parts.iter().filter_map(|part| part.manifest.shard).collect();
    if shards.len() < parts.len() {
        return Vec::new();
    }
    let counts: BTreeSet<usize> = shards.iter().map(|shard| shard.of).collect();
    let [of] = counts.into_iter().collect::<Vec<_>>()[..] else { return Vec::new() };
    let all = (1..=of).map(|index| Shard { index, of });
    all.filter(|shard| !shards.contains(shard)).map(|shard| shard.to_string()).collect()
}

/// Copies the files of a folder that need not exist; what is in the other one stays.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for path in entries(from)? {
        let target = to.join(path.file_name().unwrap_or_default());
        if !target.exists() {
            std::fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
            let bytes = closeread_files::read_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
            write_atomically(&target, &bytes)?;
        }
    }
    Ok(())
}
