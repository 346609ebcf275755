//! Folders in object stores, as folders of this machine: what is read is fetched, what is written is sent.

use anyhow::{Result, bail};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

#[cfg(feature = "object-stores")]
use closeread_remote::{Address, INTERVAL, Mirror, fetch, is_there, matching, written_for};

/// Beginnings of the names of folders in stores.
const SCHEMES: [&str; 2] = ["s3://", "az://"];
/// Beginnings of the names of folders in stores that closeread does not speak to: they are refused, not taken for folders of this machine.
const OTHER_SCHEMES: [&str; 14] = [
    "gs://", "gcs://", "abfs://", "abfss://", "wasb://", "wasbs://", "hdfs://", "oss://", "cos://", "s3a://", "s3n://",
    "azure://", "S3://", "AZ://",
];
/// Variable that sets how often what is new is sent, in seconds.
pub(crate) const EVERY: &str = "CLOSEREAD_SYNC_SECONDS";
/// Number of folders of a store that are fetched at once.
#[cfg(feature = "object-stores")]
const AT_ONCE: usize = 16;
/// Commands whose `--out` may be in a store: they send what they write, or hand the address on.
const TO_STORES: [&str; 6] = ["config", "estimate", "merge", "retrieve", "run", "submit"];
/// Options whose files are written on this machine, whatever the command.
const WRITTEN: [&str; 8] =
    ["--codabench", "--csv", "--html", "--junit", "--logs", "--summary", "--workflow", "--write"];

/// Commands that take many folders and name one without a file themselves: a part that has not begun, a submission to come.
const MAY_HAVE_BEGUN: [&str; 2] = ["leaderboard", "merge"];

/// What becomes of a folder in a store that has no file yet.
#[derive(Clone, Copy, PartialEq)]
enum WithoutFile {
    Refused,
    Taken,
}

/// Returns whether a folder in a store is named.
pub(crate) fn is_address(name: impl AsRef<OsStr>) -> bool {
    let begins = |name: &str| SCHEMES.iter().chain(&OTHER_SCHEMES).any(|scheme| name.starts_with(scheme));
    name.as_ref().to_str().is_some_and(begins)
}

/// An error for a folder in a store that closeread does not speak to.
fn spoken_to(address: &str) -> Result<()> {
    if OTHER_SCHEMES.iter().any(|scheme| address.starts_with(scheme)) {
        let is_googles = address.starts_with("gs://") || address.starts_with("gcs://");
        let (why, how) = if is_googles {
            let why = ", because we could not test there that two machines never write one run";
            (why, format!(" by `gcloud storage rsync --recursive {address} DIR`"))
        } else {
            ("", String::new())
        };
        bail!(
            "{address}: closeread does not speak to this store{why}: to read, copy the folder to this machine{how}, and name the copy; \
             to write, name a folder, s3://BUCKET/PATH or az://CONTAINER/PATH"
        );
    }
    Ok(())
}

/// Returns whether an argument names a folder in a store.
pub(crate) fn are_named(arguments: &[OsString]) -> bool {
    let named = |text: &str| is_address(text) || text.split_once('=').is_some_and(|(_, value)| is_address(value));
    arguments.iter().filter_map(|argument| argument.to_str()).any(named)
}

/// The arguments of `command` with folders that are read in the place of the addresses of theirs; a pattern becomes several.
/// What the command writes stays as it is. `takes_value` says of an option whether a value follows.
///
/// # Errors
/// If a folder cannot be fetched, or is one that the command can only write on this machine.
pub(crate) fn fetched(
    command: &str,
    arguments: Vec<OsString>,
    takes_value: impl Fn(&str) -> bool,
) -> Result<Vec<OsString>> {
    let mut all: Vec<OsString> = Vec::new();
    let mut option = String::new();
    let mut is_behind = false;
    let waits = arguments.iter().any(|argument| argument.to_string_lossy().starts_with("--wait"));
    for argument in arguments {
        let before = std::mem::take(&mut option);
        let Some(text) = argument.to_str() else {
            all.push(argument);
            continue;
        };
        is_behind |= text == "--";
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if name.starts_with('-') && is_address(value) => (name, value),
            _ => (before.as_str(), text),
        };
        if !is_address(value) || (command == "submit" && is_behind) {
            if text.starts_with("--") && takes_value(text) {
                text.clone_into(&mut option);
            }
            all.push(argument);
            continue;
        }
        spoken_to(value)?;
        let is_out = name == "--out" && !TO_STORES.contains(&command);
        if is_out || WRITTEN.contains(&name) || (name.is_empty() && writes_what_it_names(command, &all)) {
            bail!("{value}: closeread {command} writes on this machine: name a folder or a file of it");
        }
        // What is waited for is not there yet.
        if name == "--out" || matches!(command, "judge" | "status") || (command == "merge" && waits) {
            all.push(argument);
            continue;
        }
        let without_file = if MAY_HAVE_BEGUN.contains(&command) { WithoutFile::Taken } else { WithoutFile::Refused };
        for (at, path) in folders(value, without_file)?.into_iter().enumerate() {
            if text != value {
                // `--option=ADDRESS`
                all.push(name.into());
            } else if at > 0 && !name.is_empty() {
                all.push(name.into());
            }
            all.push(path);
        }
    }
    Ok(all)
}

/// Returns whether a command writes into the folder that stands behind these arguments without an option.
fn writes_what_it_names(command: &str, before: &[OsString]) -> bool {
    match command {
        "man" => true,
        "leaderboard" => !before.iter().any(|given| given.to_string_lossy().starts_with("--runs")),
        "people" => before.iter().any(|given| given == "read"),
        _ => false,
    }
}

/// The folder that `--benchmark` names in a file of options, fetched.
pub(crate) fn fetched_one(name: &mut Option<String>) -> Result<()> {
    if let Some(address) = name.as_deref().filter(|name| is_address(name)) {
        spoken_to(address)?;
        let [path] = folders(address, WithoutFile::Refused)?
            .try_into()
            .map_err(|_| anyhow::anyhow!("{address} names several folders"))?;
        *name = Some(path.to_string_lossy().into_owned());
    }
    Ok(())
}

/// The folders that `--data` names in a file of options or in the environment, fetched.
pub(crate) fn fetched_each(paths: &mut Vec<PathBuf>) -> Result<()> {
    for path in std::mem::take(paths) {
        match path.to_str().filter(|text| is_address(text)) {
            Some(address) => {
                spoken_to(address)?;
                paths.extend(folders(address, WithoutFile::Refused)?.into_iter().map(PathBuf::from));
            }
            None => paths.push(path),
        }
    }
    Ok(())
}

/// A part of a run as it stands in a store.
pub(crate) struct StoredPart {
    /// The folder of this machine that has it.
    pub(crate) folder: PathBuf,
    /// Time for which a process has been writing into it; `None` if none does.
    pub(crate) written_for: Option<std::time::Duration>,
}

/// The folder that is sent to a store while it is written.
pub(crate) struct Sent {
    #[cfg(feature = "object-stores")]
    mirror: Mirror,
}

/// Puts a folder of this machine in the place of one in a store, which has all that was sent there. What is written is sent;
/// nothing is done with a folder of this machine.
pub(crate) fn written(path: &mut PathBuf) -> Result<Option<Sent>> {
    let Some(address) = path.to_str().filter(|text| is_address(text)).map(str::to_owned) else { return Ok(None) };
    spoken_to(&address)?;
    send(&address, path).map(Some)
}

impl Sent {
    #[cfg(feature = "object-stores")]
    fn finish(self) -> Result<()> {
        self.mirror.finish()
    }

    #[cfg(not(feature = "object-stores"))]
    fn finish(self) -> Result<()> {
        Ok(())
    }
}

/// Sends what is left; an end of the command that is an error stays one.
pub(crate) fn finish(sent: Option<Sent>, ended: Result<ExitCode>) -> Result<ExitCode> {
    match (ended, sent.map_or(Ok(()), Sent::finish)) {
        (Err(error), Err(other)) => Err(error.context(format!("{other:#}"))),
        (ended, finished) => finished.and(ended),
    }
}

#[cfg(feature = "object-stores")]
fn root() -> Result<PathBuf> {
    match closeread_runner::cache::cache_folder() {
        Some(folder) => Ok(folder.join(closeread_files::copies::COPIES)),
        None => bail!("this system has no cache folder, which folders in stores need: name one in CLOSEREAD_CACHE"),
    }
}

/// The folders of this machine for an address, `ADDRESS=NAME` or a pattern.
#[cfg(feature = "object-stores")]
fn folders(text: &str, without_file: WithoutFile) -> Result<Vec<OsString>> {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '*', '?', '[']);
    let whole = Address::of(text).expect("it has a scheme")?;
    // A folder may be called `a=b`.
    let (address, name) = match text.rsplit_once('=').filter(|(_, name)| is_name(name)) {
        Some((address, name)) if !is_there(&whole)? => (Address::of(address).expect("it has a scheme")?, Some(name)),
        _ => (whole, None),
    };
    let root = root()?;
    let found = matching(&address)?;
    if found.is_empty() {
        bail!("nothing at {address}");
    }
    let folder = |address: &Address| {
        let folder = fetch(address, &root)?;
        if without_file == WithoutFile::Refused && closeread_files::entries(&folder)?.is_empty() {
            let begun =
                written_for(address)?.map_or("", |_| ": a machine has begun to write there, and sends its files soon");
            bail!("{address} holds no file yet{begun}");
        }
        let mut folder = folder.into_os_string();
        if let Some(name) = name {
            folder.push("=");
            folder.push(name);
        }
        Ok(folder)
    };
    each(&found, folder)
}

/// What becomes of each address, several at once: most of the time is waiting for the store.
#[cfg(feature = "object-stores")]
fn each<T: Send>(addresses: &[Address], made: impl Fn(&Address) -> Result<T> + Sync) -> Result<Vec<T>> {
    let made = &made;
    let mut all = Vec::with_capacity(addresses.len());
    for some in addresses.chunks(AT_ONCE) {
        let some: Vec<Result<T>> = std::thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|address| scope.spawn(move || made(address))).collect();
            let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined.map(|made| made.unwrap_or_else(|_| bail!("what fetches has broken down"))).collect()
        });
        for one in some {
            all.push(one?);
        }
    }
    Ok(all)
}

/// The parts below the `--out` of `closeread submit` in a store, in no order; none where no part has begun.
#[cfg(feature = "object-stores")]
pub(crate) fn parts(text: &str) -> Result<Vec<StoredPart>> {
    let below = Address::of(&format!("{}/parts/*", text.trim_end_matches('/'))).expect("it has a scheme")?;
    each(&matching(&below)?, stored)
}

/// The one run that an address names.
#[cfg(feature = "object-stores")]
pub(crate) fn run(text: &str) -> Result<StoredPart> {
    stored(&Address::of(text).expect("it has a scheme")?)
}

#[cfg(feature = "object-stores")]
fn stored(address: &Address) -> Result<StoredPart> {
    Ok(StoredPart { written_for: written_for(address)?, folder: fetch(address, &root()?)? })
}

/// An address that is to name one folder, as it is written everywhere.
#[cfg(feature = "object-stores")]
pub(crate) fn one_folder(text: &str) -> Result<String> {
    let address = Address::of(text).expect("it has a scheme")?;
    address.single()?;
    Ok(address.to_string())
}

#[cfg(feature = "object-stores")]
fn send(text: &str, path: &mut PathBuf) -> Result<Sent> {
    use anyhow::Context;
    let every = match std::env::var(EVERY).ok().filter(|text| !text.is_empty()) {
        None => INTERVAL,
        Some(text) => {
            let seconds: Option<u64> = text.parse().ok().filter(|seconds| (1..=3600).contains(seconds));
            std::time::Duration::from_secs(seconds.with_context(|| format!("{EVERY}={text}: expected 1 to 3600"))?)
        }
    };
    let address = Address::of(text).expect("it has a scheme")?;
    let mirror = Mirror::open(&address, &root()?, every, closeread_runner::interrupt::ask_to_end)?;
    mirror.folder().clone_into(path);
    Ok(Sent { mirror })
}

#[cfg(not(feature = "object-stores"))]
fn folders(text: &str, _: WithoutFile) -> Result<Vec<OsString>> {
    bail!("{text}: {}", closeread_runner::light::lacking("object stores", "object-stores"))
}

/// Says that this build has no object stores.
#[cfg(not(feature = "object-stores"))]
pub(crate) fn parts(text: &str) -> Result<Vec<StoredPart>> {
    bail!("{text}: {}", closeread_runner::light::lacking("object stores", "object-stores"))
}

/// Says the same of one run.
#[cfg(not(feature = "object-stores"))]
pub(crate) fn run(text: &str) -> Result<StoredPart> {
    bail!("{text}: {}", closeread_runner::light::lacking("object stores", "object-stores"))
}

/// An address for a manifest: the image in it has object stores.
#[cfg(not(feature = "object-stores"))]
pub(crate) fn one_folder(text: &str) -> Result<String> {
    Ok(text.trim_end_matches('/').to_owned())
}

#[cfg(not(feature = "object-stores"))]
fn send(text: &str, _: &mut PathBuf) -> Result<Sent> {
    bail!("{text}: {}", closeread_runner::light::lacking("object stores", "object-stores"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command, CommandFactory};
    use std::any::TypeId;
    use std::collections::BTreeSet;

    /// Options that name what is read, and `--out`, which depends on the command.
    #[rustfmt::skip]
    const OTHERS: [&str; 35] = [
        "adjudicated", "against", "article", "articles", "benchmark", "books", "checked", "config", "data", "documents",
        "embedder-spec", "extra-body", "forms", "gold", "hand-checked", "judge-extra-body", "labels", "model-info",
        "no-worse-than", "out", "page", "predictions", "prompts", "raters", "reranker", "reviewed", "run", "schema",
        "scorer", "search", "spec", "table", "templates", "text", "tokenizer",
    ];

    fn takes_path(arg: &Arg) -> bool {
        let names = arg.get_value_names().unwrap_or_default();
        arg.get_value_parser().type_id() == TypeId::of::<PathBuf>()
            || ["DIR", "FILE", "PATH"].iter().any(|word| names.iter().any(|name| name.contains(word)))
    }

    fn path_options(command: &Command) -> BTreeSet<String> {
        let own = command.get_arguments().filter(|arg| takes_path(arg));
        let own = own.filter_map(|arg| arg.get_long().map(str::to_owned));
        own.chain(command.get_subcommands().flat_map(path_options)).collect()
    }

    #[test]
    fn every_option_that_names_a_path_is_known_to_be_read_or_written() {
        let paths = path_options(&crate::Cli::command());
        let known: BTreeSet<&str> = WRITTEN.iter().map(|option| option.trim_start_matches('-')).chain(OTHERS).collect();
        let unknown: Vec<_> = paths.iter().filter(|path| !known.contains(path.as_str())).collect();
        assert!(unknown.is_empty(), "name it in WRITTEN or in OTHERS: {unknown:?}");
        let gone: Vec<_> = known.iter().filter(|name| !paths.contains(**name)).collect();
        assert!(gone.is_empty(), "no command has {gone:?}");
    }
}
