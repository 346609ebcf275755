//! `closeread merge`: the parts of a run as one.

mod joined;
mod part;
mod priced;
mod wait;

use crate::hint::typed;
use crate::stores;
use anyhow::{Result, bail};
use closeread_eval::Item;
use closeread_files::run_files::JUDGEMENTS;
use closeread_files::{refuse_input_as_output, write_atomically};
use closeread_judges::{Judgement, JudgementKey, Subject};
use closeread_llm::price::Dollars;
use closeread_methods::record::{Record, TrialKey};
use closeread_providers::batch::open_batches;
use closeread_runner::journal::Journals;
use closeread_runner::judging;
use closeread_runner::run_folder::{
    EMBEDDINGS, MANIFEST, Opening, RERANKING, RunFolder, copied_preparations, cost_of_judgements, cost_of_preparations,
    cost_of_responses, cost_of_trials, differences, is_half_joined, prices, read_manifest, refuse_foreign,
    served_calls, spent, write_prices,
};
use closeread_runner::spending::{CHARGES, keep_charged};
use closeread_table::number::thousands;
use joined::Joined;
use part::{Part, documents, missing_parts, read_parts};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tracing::{info, warn};

/// Most trials to name that differ.
const SHOWN: usize = 10;
/// Number of records that are appended at once.
const AT_ONCE: usize = 1_000;

/// Join the folders of a sharded run into one.
///
/// The folders must hold parts of the same run; an empty one is a part that has not begun. A trial that is in several counts
/// once; where its copies differ, the first folder's counts and the difference is reported. Exits with 1 if parts, items or
/// trials are missing, or trials differ.
///
/// With --wait, RUN is the folder of `closeread submit`: its parts are joined when all have ended.
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// The run folders of the parts
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The folder to write, new or empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Overwrite the run in --out, for example once missing parts have arrived
    #[arg(long)]
    fresh: bool,
    /// Wait until all parts are finished, or until for so many minutes none has run, begun or ended
    #[arg(long, value_name = "MINUTES")]
    wait: Option<u64>,
    /// Print {"folder", "items", "items_expected", "records", "records_expected", "duplicates", "differing", "missing_parts"}
    #[arg(long)]
    json: bool,
}

/// Reads the parts, checks that they belong together, writes the whole.
pub(crate) async fn run(mut args: MergeArgs) -> Result<ExitCode> {
    if let Some(minutes) = args.wait {
        let [folder] = args.runs.as_slice() else { bail!("--wait: expected one folder, that of `closeread submit`") };
        args.runs = wait::ended(folder, Duration::from_secs(60 * minutes)).await?;
    }
    let named = args.out.display().to_string();
    let sent = stores::written(&mut args.out)?;
    let ended = merge(&args, &named);
    stores::finish(sent, ended)
}

/// Merges into a folder of this machine, which may be `named` as one of a store.
fn merge(args: &MergeArgs, named: &str) -> Result<ExitCode> {
    refuse_input_as_output(&args.out, "--out", args.runs.iter().map(PathBuf::as_path))?;
    let (waiting, begun): (Vec<&PathBuf>, Vec<&PathBuf>) = args.runs.iter().partition(|folder| has_not_begun(folder));
    let (mut parts, mut configuration) = read_parts(&begun)?;
    configuration["documents"] = documents(&mut parts);
    let is_anew = args.fresh || is_half_joined(&args.out);
    if args.out.join(MANIFEST).exists() && !is_anew {
        bail!("{named} holds a run already; choose a new folder with --out, or give --fresh");
    }

    let charged = charged(&parts)?;
    let Joined { items, mut records, n_duplicates, differing } = Joined::of(&mut parts);
    let n_records = records.len();
    let remade: Vec<Record> = if is_anew && is_judged(&args.out, &configuration) {
        std::mem::take(&mut records).into_values().collect()
    } else {
        Vec::new()
    };
    let opening = match (is_anew, remade.as_slice()) {
        (false, _) => Opening::Resume,
        (true, []) => Opening::Fresh,
        (true, remade) => Opening::Remake(remade),
    };
    let mut folder = RunFolder::open_to_join(&args.out, &configuration, opening)?;
    fill(&mut folder, &parts, charged, &items, records.into_values())?;

    let expected = configuration["items"].as_u64().unwrap_or(0);
    let n_cells = configuration["cells"].as_array().map_or(0, Vec::len) as u64;
    let trials = expected.saturating_mul(n_cells).saturating_mul(configuration["repeats"].as_u64().unwrap_or(1));
    let missing: Vec<String> = missing_parts(&parts);
    if args.json {
        outln!(
            "{}",
            json!({
                "folder": named,
                "items": items.len(),
                "items_expected": expected,
                "records": n_records,
                "records_expected": trials,
                "duplicates": n_duplicates,
                "differing": differing,
                "missing_parts": missing,
            })
        );
    } else {
        outln!("{named}: items {} of {expected}, trials {n_records} of {trials}", items.len());
    }
    say_overlap(n_duplicates, &differing);
    warn_of_batches(&parts)?;
    say_lacks(&waiting, &missing, trials.saturating_sub(n_records as u64), trials);
    let there = items.len() as u64 >= expected && n_records as u64 >= trials;
    let whole = missing.is_empty() && there && differing.is_empty();
    info!("closeread report {} prints its tables", typed(named));
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Puts into the folder what the parts hold, joined: `charged` is what they were charged, where any kept account of it.
fn fill(
    folder: &mut RunFolder,
    parts: &[Part],
    charged: Option<(Dollars, Dollars)>,
    items: &[Item],
    records: impl Iterator<Item = Record>,
) -> Result<()> {
    let out = folder.path().to_owned();
    if let Some(name) = parts.iter().find_map(|part| part.name.as_ref()) {
        folder.name(name)?;
    }
    folder.note_extended(parts.iter().flat_map(|part| &part.extended))?;
    folder.write_items(items)?;
    write_prices(&out, priced::together(parts)?)?;
    if let Some((dollars, open)) = charged {
        keep_charged(&out, dollars, open)?;
    }
    copy_calls(parts, &out)?;
    for part in parts {
        folder.copy_from(&part.folder)?;
    }
    append(folder, records)?;
    let judged: Vec<_> = parts.iter().map(|part| (part.folder.as_path(), &part.outvoted)).collect();
    judging::merge(&judged, &out)?;
    folder.note_joined()
}

fn append(folder: &mut RunFolder, mut records: impl Iterator<Item = Record>) -> Result<()> {
    loop {
        let some: Vec<Record> = records.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            return Ok(());
        }
        folder.append(some)?;
    }
}

/// Warns of parts with calls that are not answered yet.
fn warn_of_batches(parts: &[Part]) -> Result<()> {
    for part in parts {
        let n = open_batches(&part.folder)?;
        if n > 0 {
            warn!(
                "{} waits for batches at the provider ({n}): give its command again, and merge again, before a run fills the gaps \
                 of this one, or they are paid twice",
                part.folder.display()
            );
        }
    }
    Ok(())
}

/// Says which trials were in several folders.
fn say_overlap(n_duplicates: usize, differing: &[String]) {
    if n_duplicates > 0 {
        info!("trials that were in several folders and count once: {n_duplicates}");
    }
    for trial in differing.iter().take(SHOWN) {
        info!("{trial}: the folders hold different outcomes; that of the first one counts");
    }
    if differing.len() > SHOWN {
        info!("... and {} more", differing.len() - SHOWN);
    }
}

/// Says which parts have not begun, which are missing, and how many trials of the others have no record.
fn say_lacks(waiting: &[&PathBuf], missing: &[String], without: u64, trials: u64) {
    if !waiting.is_empty() {
        info!("folders without a run, whose parts have not begun: {}", listed(waiting));
    }
    if !missing.is_empty() {
        let more = match missing.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let first = &missing[..missing.len().min(SHOWN)];
        info!("parts that are missing: {}{more}; run them and merge again", first.join(", "));
    } else if without > 0 {
        let (without, trials) = (thousands(without), thousands(trials));
        info!("INCOMPLETE: {without} of {trials} trials have no record; run the parts to their end and merge again");
    }
}

/// Copies the calls to servers that embedded and reranked.
fn copy_calls(parts: &[Part], out: &Path) -> Result<()> {
    for name in [EMBEDDINGS, RERANKING] {
        let (mut lines, mut folders, mut ids) = (Vec::new(), HashSet::new(), HashSet::new());
        // A folder may be named twice, or be part of another one here: its requests were made once.
        for part in parts.iter().filter(|part| folders.insert(part.folder.canonicalize().ok())) {
            for call in served_calls(&part.folder, name)? {
                if !call.id.is_empty() && !ids.insert(call.id.clone()) {
                    continue;
                }
                serde_json::to_writer(&mut lines, &call)?;
                lines.push(b'\n');
            }
        }
        if !lines.is_empty() {
            write_atomically(&out.join(name), &lines)?;
        }
    }
    Ok(())
}

/// Returns what the calls of all parts have cost, lost ones included, and the part of it that those can have cost; `None` if no
/// part counted them.
fn charged(parts: &[Part]) -> Result<Option<(Dollars, Dollars)>> {
    if !parts.iter().any(|part| part.folder.join(CHARGES).exists()) {
        return Ok(None);
    }
    let (mut dollars, mut open, mut folders) = (Dollars::default(), Dollars::default(), HashSet::new());
    let (mut known, mut known_responses) = (HashMap::<&TrialKey, Vec<&Record>>::new(), HashSet::new());
    let (mut known_preparations, mut said) = (HashSet::new(), HashMap::<JudgementKey, Vec<Judgement>>::new());
    for part in parts.iter().filter(|part| folders.insert(part.folder.canonicalize().ok())) {
        let (judging, prices) = (judging::read(&part.folder)?, prices(&part.folder)?);
        let spent = spent(&part.folder, part.records.iter(), &judging, &prices)?;
        // The same to the nanosecond is a copy, as of a part in a folder that it was merged into, and was paid once.
        let is_copy = |record: &&Record| known.get(&record.key).is_some_and(|there| there.contains(record));
        let copies: Vec<&Record> = part.records.iter().filter(is_copy).collect();
        let of_copies: HashSet<Subject> = copies.iter().map(|record| Subject::from(&record.key)).collect();
        // So is what judges said of it in the same words.
        let is_said = |own: &&Judgement| {
            let is_of_copy = own.key.subject.trial.is_none() || of_copies.contains(&own.key.subject);
            is_of_copy && said.get(&own.key).is_some_and(|there| there.contains(own))
        };
        let responses = Journals::of_run(&part.folder).copies(&mut known_responses)?;
        let preparations = copied_preparations(&part.folder, &mut known_preparations)?;
        let copied = cost_of_trials(copies.into_iter(), &prices)
            + cost_of_responses(&responses, &prices)
            + cost_of_preparations(&preparations, &prices)
            + cost_of_judgements(judging.judgements.iter().filter(is_said), &prices);
        dollars += spent.calls - copied;
        open += spent.open;
        part.records.iter().for_each(|record| known.entry(&record.key).or_default().push(record));
        judging.judgements.into_iter().for_each(|own| said.entry(own.key.clone()).or_default().push(own));
    }
    Ok(Some((dollars, open)))
}

/// Returns whether a folder holds what judges said of this very run, which was paid for and is kept.
fn is_judged(folder: &Path, configuration: &Value) -> bool {
    let there = read_manifest(&folder.join(MANIFEST)).ok().flatten();
    let is_same = there.is_some_and(|there| differences(&there["configuration"], configuration).is_empty());
    is_same && folder.join(JUDGEMENTS).exists()
}

/// Returns whether a folder is there and holds no run yet: as `closeread submit` makes it, or as a run leaves it that
/// was killed early.
fn has_not_begun(folder: &Path) -> bool {
    folder.is_dir() && !folder.join(MANIFEST).exists() && refuse_foreign(folder, MANIFEST).is_ok()
}

/// Lists the first folders, and how many more there are.
fn listed(folders: &[&PathBuf]) -> String {
    let shown: Vec<String> = folders.iter().take(SHOWN).map(|folder| folder.display().to_string()).collect();
    match folders.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn name(key: &TrialKey) -> String {
    let budget = key.budget.map_or_else(String::new, |budget| format!(" at {budget}"));
    format!("{}, {}{budget}, {}, repeat {}", key.item, key.method, key.model, key.repeat)
}
