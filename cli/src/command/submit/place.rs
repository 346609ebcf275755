//! Places of a run's parts: on a disk, or in an object store.

use super::super::progress::{self, State};
use super::job::{Engine, SubmitArgs};
use crate::hint::typed_path;
use crate::stores;
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tracing::info;

/// The folder of `--out`.
pub(super) enum Place {
    Folder(PathBuf),
    /// A folder of the machines that run the parts, where a volume is mounted.
    Volume(PathBuf),
    Store(PathBuf),
}

/// Returns the absolute path without a slash at its end: jobs are named and found by it.
fn whole(folder: &Path) -> Result<PathBuf> {
    Ok(std::path::absolute(folder)?.components().collect())
}

impl Place {
    /// The place that `--out` names; Kubernetes mounts a claim at a folder.
    pub(super) fn of(args: &SubmitArgs) -> Result<Self> {
        let out = args.out.display();
        let address = args.out.to_str().filter(|out| stores::is_address(out));
        match (args.engine, address) {
            (Engine::Kubernetes, Some(_)) => {
                ensure!(args.claim.is_none(), "--claim is for a folder of a volume, and {out} is in an object store");
            }
            (Engine::Kubernetes, None) => {
                ensure!(args.claim.is_some(), "--claim names the volume claim that is mounted at {out}: give it");
                let is_mounted = args.out.parent().is_some() && !out.to_string().contains(':');
                ensure!(
                    is_mounted,
                    "--out is {out}: no volume is mounted there; name a folder, without a colon, such as /runs/tales"
                );
                ensure!(
                    !args.follow,
                    "--follow: {out} is in a volume; give it to `closeread status` where that is mounted"
                );
            }
            (Engine::Slurm | Engine::Ray, _) => {}
        }
        Ok(match (args.engine, address) {
            (_, Some(address)) => Self::Store(stores::one_folder(address)?.into()),
            (Engine::Kubernetes, None) => Self::Volume(whole(&args.out)?),
            (Engine::Slurm | Engine::Ray, None) => Self::Folder(whole(&args.out)?),
        })
    }

    /// Returns the folder of logs; `None` where the engine keeps or prints them.
    pub(super) fn logs(&self, args: &SubmitArgs) -> Result<Option<PathBuf>> {
        let folder = match (&args.logs, args.engine, self) {
            (Some(_), Engine::Kubernetes, _) => bail!("--logs: `kubectl logs` prints those of a pod; leave it out"),
            (Some(logs), ..) => logs.clone(),
            (None, Engine::Kubernetes, _) | (None, Engine::Ray, Self::Store(_)) => return Ok(None),
            (None, _, Self::Folder(out) | Self::Volume(out)) => out.join("logs"),
            (None, Engine::Slurm, Self::Store(address)) => {
                let name = address.file_name().unwrap_or_default();
                format!("{}-logs", name.to_string_lossy()).into()
            }
        };
        Ok(Some(std::path::absolute(folder)?))
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Folder(path) | Self::Volume(path) | Self::Store(path) => path,
        }
    }

    /// The parts that are to be handed in, and those that are running. On Kubernetes all are: one that is finished ends at once.
    /// A dry run asks no store, which takes credentials.
    pub(super) fn open_parts(&self, args: &SubmitArgs) -> Result<(Vec<usize>, Vec<usize>)> {
        let n = args.parts;
        let parts = match (self, args.engine) {
            (Self::Volume(_), _) | (Self::Store(_), Engine::Kubernetes) => return Ok(((0..n).collect(), Vec::new())),
            (Self::Store(address), _) if args.dry_run => {
                info!("{} is not asked in a dry run: the script is that of all parts", address.display());
                return Ok(((0..n).collect(), Vec::new()));
            }
            (Self::Store(address), _) => progress::stored_parts(&address.to_string_lossy())?,
            (Self::Folder(_), _) => {
                (0..n).map(|id| Ok((id, progress::part(&self.part(id))?))).collect::<Result<BTreeMap<_, _>>>()?
            }
        };
        let (mut wanted, mut running) = (Vec::new(), Vec::new());
        for (id, part) in &parts {
            if let Some(of) = part.of.filter(|of| *of != n) {
                bail!(
                    "{} is one of {of} parts: give --parts {of}, or another folder by --out",
                    self.part(*id).display()
                );
            }
        }
        for id in 0..n {
            match parts.get(&id).map(|part| part.state) {
                Some(State::Finished) => {}
                Some(State::Running) => running.push(id),
                Some(State::Waiting | State::Stopped | State::Damaged) | None => wanted.push(id),
            }
        }
        Ok((wanted, running))
    }

    /// Returns where the script or manifest is written: beside the parts, or in the working folder.
    pub(super) fn script(&self, name: &str) -> Result<PathBuf> {
        match self {
            Self::Folder(out) => Ok(out.join(name)),
            Self::Volume(_) | Self::Store(_) => Ok(std::env::current_dir()?.join(name)),
        }
    }

    /// Makes the folders of a disk; empty ones tell `status` and `merge` of parts that have not begun.
    pub(super) fn make_folders(&self, parts: usize, logs: Option<&Path>) -> Result<()> {
        let parts = if let Self::Folder(_) = self { parts } else { 0 };
        for folder in (0..parts).map(|id| self.part(id)).chain(logs.map(Path::to_owned)) {
            std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        Ok(())
    }

    /// The command that shows how far the parts are, in words.
    pub(super) fn how_far(&self) -> String {
        let place = if let Self::Volume(_) = self { ", where the volume is mounted," } else { "" };
        format!("closeread status {}{place} shows how far the parts are", typed_path(self.path()))
    }

    fn part(&self, id: usize) -> PathBuf {
        self.path().join("parts").join(id.to_string())
    }
}
