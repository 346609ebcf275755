//! Places of a run's parts: on a disk, which is looked at, or in an object store, which each part looks at by itself.

use super::super::status::{self, State};
use super::job::{Engine, SubmitArgs};
use crate::stores::is_address;
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};

/// The folder of `--out`.
pub(super) enum Place {
    Folder(PathBuf),
    Store(PathBuf),
}

impl Place {
    /// Parts on Kubernetes lie in an object store or on a volume; Slurm's and Ray's beside their logs.
    pub(super) fn of(args: &SubmitArgs) -> Result<Self> {
        let out = args.out.display();
        let place = match is_address(&args.out) {
            true => Self::Store(args.out.clone()),
            false => Self::Folder(std::path::absolute(&args.out)?),
        };
        match (args.engine, &place) {
            (Engine::Kubernetes, Self::Store(_)) => {
                ensure!(args.claim.is_none(), "--claim is for a folder of a volume, and {out} is in an object store");
            }
            (Engine::Kubernetes, Self::Folder(_)) => {
                ensure!(args.claim.is_some(), "--claim names the volume claim that is mounted at {out}: give it");
            }
            (_, Self::Store(_)) => {
                bail!("{out}: scripts of Slurm and Ray write their logs into a folder: name one by --out")
            }
            (_, Self::Folder(_)) => {}
        }
        Ok(place)
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Folder(path) | Self::Store(path) => path,
        }
    }

    /// The parts that are to be handed in, and those that are running. Of a store that is all: a part that is finished ends at once.
    pub(super) fn open_parts(&self, parts: usize) -> Result<(Vec<usize>, Vec<usize>)> {
        let Self::Folder(_) = self else { return Ok(((0..parts).collect(), Vec::new())) };
        let (mut wanted, mut running) = (Vec::new(), Vec::new());
        for id in 0..parts {
            let folder = self.part(id);
            let part = status::part(&folder)?;
            if let Some(of) = part.of.filter(|of| *of != parts) {
                bail!("{} is one of {of} parts: give --parts {of}, or another folder by --out", folder.display());
            }
            match part.state {
                State::Finished => {}
                State::Running => running.push(id),
                State::Waiting | State::Stopped | State::Damaged => wanted.push(id),
            }
        }
        Ok((wanted, running))
    }

    /// Returns where the script or manifest is written: beside the parts, or in the working folder.
    pub(super) fn script(&self, name: &str) -> Result<PathBuf> {
        match self {
            Self::Folder(out) => Ok(out.join(name)),
            Self::Store(_) => Ok(std::env::current_dir()?.join(name)),
        }
    }

    /// Makes the folders of a disk; empty ones tell `status` and `merge` of parts that have not begun.
    pub(super) fn make_folders(&self, parts: usize) -> Result<()> {
        let Self::Folder(out) = self else { return Ok(()) };
        for folder in (0..parts).map(|id| self.part(id)).chain([out.join("logs")]) {
            std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        Ok(())
    }

    /// The command that shows how far the parts are, in words.
    pub(super) fn how_far(&self) -> String {
        format!("closeread status {} shows how far the parts are", self.path().display())
    }

    fn part(&self, id: usize) -> PathBuf {
        self.path().join("parts").join(id.to_string())
    }
}
