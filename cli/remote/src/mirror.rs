//! A folder of this machine that a run writes, sent to a store while it is written.

mod growing;

use crate::copy::{Identity, Index, Version, WRITER, block_on, pull_listed, state};
use crate::segments::name;
use crate::store::{Away, Patience, Put, Store};
use crate::writer::{Replaced, Writer};
use crate::{Address, Place};
use anyhow::{Context, Result, anyhow, bail};
use closeread_files::run_files::{CHARGES, GROWING};
use closeread_files::{self as files, write_atomically};
use object_store::UpdateVersion;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// Interval at which new lines are sent, unless `CLOSEREAD_SYNC_SECONDS` says otherwise.
pub const INTERVAL: Duration = Duration::from_secs(10);
/// Times that the next number is asked for: others may take it first, or a listing lags behind.
const TRIES: usize = 20;
/// Time for which closeread tries to send what is left at the end, if the store may come back.
const LAST: Duration = Duration::from_secs(120);

/// A folder that is sent to a store while it is written; nobody else writes there while this value lives.
#[derive(Debug)]
pub struct Mirror {
    address: Address,
    folder: PathBuf,
    end: Sender<()>,
    thread: JoinHandle<Result<()>>,
}

/// The state of what was sent.
struct Sending {
    store: Store,
    place: Place,
    index: Index,
    /// Bytes that were sent by growing file, with the file's identity.
    sent: BTreeMap<&'static str, (Option<Identity>, u64)>,
    /// The number of the next segment.
    next: u64,
    /// Whether segments were put since the growing files were put whole.
    has_segments: bool,
    writer: Writer,
    /// Version of the object that names the writer.
    claim: UpdateVersion,
}

impl Mirror {
    /// Makes a folder of this machine, below `root`, of what lies at `address`, and sends what changes in it from now on.
    /// `replaced` is called from another thread if another machine takes the folder.
    ///
    /// # Errors
    /// If another closeread writes there, here or elsewhere; if what lies there is no run; if the store cannot be reached.
    pub fn open(address: &Address, root: &Path, every: Duration, replaced: impl Fn() + Send + 'static) -> Result<Self> {
        address.single()?;
        let place = Place::of(root, "written", address);
        let lock = place.lock()?;
        lock.try_lock()
            .map_err(|_| anyhow!("another closeread of this machine writes {address}: wait for it to end"))?;
        let mut sending = block_on(|| Sending::begin(address, place.clone(), every))?;
        info!("{address} is written by way of {}", place.folder.display());
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            let _lock = lock;
            block_on(move || async move { sending.send_until(&ended, every, &replaced).await })
        });
        Ok(Self { address: address.clone(), folder: place.folder, end, thread })
    }

    /// The folder of this machine.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sends what is left, and lets go of the folder.
    ///
    /// # Errors
    /// If not all could be sent: it is in the folder of this machine still. If another machine has taken the folder.
    pub fn finish(self) -> Result<()> {
        drop(self.end);
        let sent = self.thread.join().map_err(|_| anyhow!("what sends to {} has broken down", self.address))?;
        sent.map_err(|error| {
            if error.is::<Replaced>() {
                return error;
            }
            error.context(format!(
                "not all was sent to {}; it lies in {}: give the same command again, on this machine",
                self.address,
                self.folder.display()
            ))
        })
    }
}

impl Sending {
    async fn begin(address: &Address, place: Place, every: Duration) -> Result<Self> {
        let store = Store::open(address, Patience::Short)?;
        let objects = store.list().await?;
        let is_run = |name: &str| {
            matches!(name, "manifest.json" | "build.json") || name.starts_with("segments/") || name == WRITER
        };
        if let Some(first) = objects.first().filter(|_| !objects.iter().any(|object| is_run(&object.name))) {
            bail!(
                "{address} holds `{}` and no manifest.json of closeread: name an empty or a new folder by --out",
                first.name
            );
        }
        let writer = Writer::new(&place, every)?;
        let (claim, was_ours) = writer.claim(&store).await?;
        let mut sending = Self {
            index: Index::read(&place),
            sent: BTreeMap::new(),
            next: 1,
            has_segments: true,
            claim,
            store,
            place,
            writer,
        };
        // Where this folder was the last to write, its charges are the fullest: the store lacks what was not sent.
        let charges = sending.place.folder.join(CHARGES);
        let charged = if was_ours { files::read(&charges)? } else { None };
        if let Err(error) = sending.take_over().await {
            // Others need not wait; without the store's help they do.
            let _ = sending.let_go().await;
            return Err(error);
        }
        charged.map_or(Ok(()), |charged| write_atomically(&charges, &charged))?;
        sending.store = Store::open(address, Patience::Long)?;
        Ok(sending)
    }

    /// Takes the next number, so that who wrote before can send no more; then all that was sent is here.
    async fn take_over(&mut self) -> Result<()> {
        let mut is_same = true;
        for tried in 0..TRIES {
            if tried >= 3 {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            let before = self.configuration()?;
            let found = pull_listed(&self.store, &self.place, &mut self.index).await?;
            // Lines of what another machine has begun anew or extended since are in its own files, or replaced.
            is_same &= before.is_none() || before == self.configuration()?;
            self.next = found.next;
            let head = self.segment(&[], false)?;
            if !self.put_segment(head.clone()).await? {
                continue;
            }
            if matches!(self.store.put_if(&name(self.next - 1), head, None).await?, Put::Done(_)) {
                bail!(
                    "the store of {} overwrites what it is asked not to (If-None-Match), so two machines could write one run: \
                     run into a folder of this machine, and copy it there",
                    self.store.address()
                );
            }
            self.join_lines(found.lines, is_same)?;
            self.index.write(&self.place)?;
            return self.beat().await;
        }
        bail!(
            "{} lists no {}, and has it: give the same command again in a minute, if its listing lags behind; if it stays so, look at \
             what answers there",
            self.store.address(),
            name(self.next)
        )
    }

    /// The configuration of the run that lies in the folder of this machine; `None` if there is no manifest that can be read.
    fn configuration(&self) -> Result<Option<Value>> {
        let manifest = files::read(&self.place.folder.join("manifest.json"))?.unwrap_or_default();
        Ok(serde_json::from_slice::<Value>(&manifest).ok().map(|mut manifest| manifest["configuration"].take()))
    }

    /// Sends what is new until there is nobody who writes; then what is left, and that the run has let go of the folder.
    async fn send_until(&mut self, ended: &Receiver<()>, every: Duration, replaced: &impl Fn()) -> Result<()> {
        let mut warned = false;
        while matches!(ended.recv_timeout(every), Err(RecvTimeoutError::Timeout)) {
            match self.send().await {
                Ok(()) if warned => {
                    warned = false;
                    info!("what is new is sent again");
                }
                Ok(()) => {}
                Err(error) if error.is::<Replaced>() => {
                    replaced();
                    // The run ends now, and is told why when it has.
                    let _ = ended.recv();
                    return Err(error);
                }
                Err(error) => {
                    if !warned {
                        warn!("what is new is not sent for now, the run goes on: {error:#}");
                    }
                    warned = true;
                    self.reopen();
                }
            }
        }
        let sent = self.send_rest().await;
        if sent.as_ref().is_err_and(anyhow::Error::is::<Replaced>) {
            return sent;
        }
        if warned && sent.is_ok() {
            info!("what is new is sent again");
        }
        // Whatever was sent, others need not wait for this machine.
        let gone = self.let_go().await;
        sent.and(gone)
    }

    /// Opens the store anew: the keys in its own tools' files may have been renewed.
    fn reopen(&mut self) {
        if let Ok(store) = Store::open(self.store.address(), Patience::Long) {
            self.store = store;
        }
    }

    /// Sends what is left, once more where it is refused, and for a while where the store may come back.
    async fn send_rest(&mut self) -> Result<()> {
        let end = Instant::now() + LAST;
        for tried in 0.. {
            let sent = match self.send().await {
                Ok(()) => self.put_whole().await,
                failed => failed,
            };
            let Err(error) = sent else { return Ok(()) };
            let may_pass = error.is::<Away>() && Instant::now() < end;
            if error.is::<Replaced>() || (tried > 0 && !may_pass) {
                return Err(error);
            }
            if may_pass {
                if tried == 0 {
                    warn!("not all is sent yet; closeread tries for {} s more: {error:#}", LAST.as_secs());
                }
                tokio::time::sleep(Duration::from_secs(2)).await;
            }
            self.reopen();
        }
        Ok(())
    }

    /// Says that this writer writes no more.
    async fn let_go(&mut self) -> Result<()> {
        self.writer.ended = true;
        self.beat().await
    }

    /// Says that this writer is still there, and sends what is new; lines once there is a manifest, without which they are
    /// nobody's.
    async fn send(&mut self) -> Result<()> {
        self.beat().await?;
        if self.index.0.contains_key("manifest.json") {
            self.send_lines().await?;
        }
        self.send_files().await?;
        // A lost index costs fetching anew, and a full disk keeps nothing from being sent.
        drop(self.index.write(&self.place));
        Ok(())
    }

    /// Replaces the object that names the writer, if it still names this one.
    async fn beat(&mut self) -> Result<()> {
        self.writer.beat();
        for _ in 0..2 {
            match self.store.put_if(WRITER, serde_json::to_vec(&self.writer)?, Some(&self.claim)).await? {
                Put::Done(version) => {
                    self.claim = version;
                    return Ok(());
                }
                // It may have been put, and the reply lost.
                Put::Refused => self.find_claim().await?,
            }
        }
        Err(self.replaced())
    }

    fn replaced(&self) -> anyhow::Error {
        Replaced(self.store.address().to_string()).into()
    }

    /// The version of the object that names this writer.
    async fn find_claim(&mut self) -> Result<()> {
        let (bytes, version) = self.store.get_version(WRITER).await?.ok_or_else(|| self.replaced())?;
        let there: Writer = serde_json::from_slice(&bytes).context("writer.json names no writer")?;
        if there.id != self.writer.id {
            return Err(self.replaced());
        }
        self.claim = version;
        Ok(())
    }

    /// Sends whole files that are new or changed, and removes the objects of those that are gone.
    async fn send_files(&mut self) -> Result<()> {
        let mut there = BTreeSet::new();
        let mut folders = vec![self.place.folder.clone()];
        while let Some(folder) = folders.pop() {
            let mut paths = files::entries(&folder)?;
            // A folder without its manifest is taken for a person's.
            paths.sort_by_key(|path| !path.ends_with("manifest.json"));
            for path in paths {
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let Some(name) = self.name_of(&path) else { continue };
                // It may be gone by now: what is temporary is.
                let Some(here) = state(&path) else { continue };
                if self.index.0.get(&name).is_none_or(|known| known.here != here) {
                    let Some(bytes) = files::read(&path)? else { continue };
                    let there = self.store.put(&name, bytes).await?;
                    self.index.0.insert(name.clone(), Version { there, here });
                }
                there.insert(name);
            }
        }
        let gone: Vec<String> = self.index.0.keys().filter(|name| !there.contains(*name)).cloned().collect();
        for name in gone {
            self.store.remove(&name).await?;
            self.index.0.remove(&name);
        }
        Ok(())
    }

    /// The name of the object of a file; `None` for what is not sent whole.
    fn name_of(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(&self.place.folder).ok()?;
        let parts: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
        let parts = parts?;
        let is_hidden = parts.iter().any(|part| part.starts_with('.'));
        let name = parts.join("/");
        ((!is_hidden || name == CHARGES) && !GROWING.contains(&name.as_str())).then_some(name)
    }
}
