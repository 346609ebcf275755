//! Writers of a folder of a store, and when they were last heard of.

use crate::copy::{WRITER, block_on};
use crate::store::{Patience, Put, Store};
use crate::{Address, Place};
use anyhow::{Result, anyhow, bail};
use closeread_files as files;
use object_store::UpdateVersion;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Number of intervals without a sign of life after which a writer is lost.
const PATIENCE: u64 = 6;
/// Times that a folder is asked for: others may take it first.
const TRIES: usize = 20;
/// Longest interval, in seconds, that a writer is believed.
const MAX_EVERY: u64 = 3600;

/// The writer of a folder of a store, and when it was last heard of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Writer {
    pub(crate) id: String,
    machine: String,
    /// The folder of that machine, as a hash.
    place: String,
    /// Time when it began, in seconds since 1970.
    began: u64,
    /// Time of the last sign of life, in seconds since 1970.
    heard: u64,
    /// Interval between signs of life, in seconds.
    every: u64,
    pub(crate) ended: bool,
}

impl Writer {
    /// Makes the writer that is this process, which writes by way of `place` and gives a sign of life every `every`.
    pub(crate) fn new(place: &Place, every: Duration) -> Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| anyhow!("no random numbers: {error}"))?;
        Ok(Self {
            id: format!("{:032x}", u128::from_le_bytes(random)),
            machine: machine(),
            place: hash(place),
            began: now(),
            heard: now(),
            every: every.as_secs().max(1),
            ended: false,
        })
    }

    /// Notes a sign of life now.
    pub(crate) fn beat(&mut self) {
        self.heard = now();
    }

    /// Seconds without a sign of life after which it is lost.
    fn patience(&self) -> u64 {
        self.every.min(MAX_EVERY) * PATIENCE
    }

    /// Whether it writes, as far as is known. One that was heard long after now has another clock, and is not waited for.
    fn is_heard(&self) -> bool {
        !self.ended && now().abs_diff(self.heard) <= self.patience()
    }

    /// Takes the folder, so that nobody else can until this writer is lost; refuses it if another closeread was heard to write it
    /// a short time ago. Returns the version of the object that says so, and whether the last one wrote by way of the same folder
    /// of this machine.
    pub(crate) async fn claim(&self, store: &Store) -> Result<(UpdateVersion, bool)> {
        let mut was_ours = None;
        for _ in 0..TRIES {
            let found = store.get_version(WRITER).await?;
            let there = found.as_ref().and_then(|(bytes, _)| serde_json::from_slice::<Self>(bytes).ok());
            let version = found.map(|(_, version)| version);
            if let (Some(there), Some(version)) = (&there, &version)
                && there.id == self.id
            {
                // It was put, and the reply lost.
                return Ok((version.clone(), was_ours.unwrap_or(false)));
            }
            let is_ours = there.map(|there| self.may_follow(&there, store.address())).transpose()?;
            let was_ours = *was_ours.get_or_insert(is_ours.unwrap_or(false));
            if let Put::Done(version) = store.put_if(WRITER, serde_json::to_vec(self)?, version.as_ref()).await? {
                return Ok((version, was_ours));
            }
        }
        bail!("{} is taken by others again and again: give the same command again", store.address())
    }

    /// Refuses to follow a writer that was heard of a short time ago. Returns whether it wrote by way of the same folder of this
    /// machine.
    fn may_follow(&self, there: &Self, address: &Address) -> Result<bool> {
        let (silent, most) = (now().abs_diff(there.heard), there.patience());
        // One of this very folder is gone, since the lock is free.
        let is_ours = there.place == self.place;
        if !there.is_heard() || is_ours {
            return Ok(is_ours);
        }
        bail!(
            "another closeread writes {address}, on {}, heard of {silent} s ago: wait for it to end; if that machine is lost, give the \
             same command again in {} s",
            there.machine,
            most - silent + 1
        )
    }
}

/// Returns how long the closeread has been writing a folder that was heard to write it a short time ago; `None` if nobody writes it.
///
/// # Errors
/// If the store cannot be reached.
pub fn written_for(address: &Address) -> Result<Option<Duration>> {
    let store = Store::open(address, Patience::Short)?;
    let there = block_on(|| store.get(WRITER))?;
    let there = there.and_then(|bytes| serde_json::from_slice::<Writer>(&bytes).ok());
    let writes = there.filter(Writer::is_heard);
    Ok(writes.map(|writer| Duration::from_secs(now().saturating_sub(writer.began))))
}

/// The error that another machine writes the folder now.
#[derive(Debug)]
pub(crate) struct Replaced(pub(crate) String);

impl std::fmt::Display for Replaced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "another closeread writes {} now: this one stops, and what was finished here and not there is lost to it",
            self.0
        )
    }
}

impl std::error::Error for Replaced {}

/// Tells the folder of a machine from those of others.
fn hash(place: &Place) -> String {
    let text = format!("{}:{}", machine(), place.home.display());
    closeread_text::hash::sha256(text.as_bytes())[..16].to_owned()
}

/// Returns the name of this machine, where it is known.
fn machine() -> String {
    let name = files::read_text(Path::new("/proc/sys/kernel/hostname")).ok().flatten();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map_or_else(|| "a machine without a name".to_owned(), |name| name.trim().to_owned())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
