//! The files of a folder that grow by lines, sent as segments and put whole at the end.

use super::Sending;
use crate::copy::{Identity, identity, write_lines};
use crate::segments::{Entry, Head, Lines, head, name, new_lines, unsent};
use crate::store::Put;
use anyhow::{Context, Result};
use closeread_files as files;
use closeread_files::run_files::{GROWING, SUPERSEDED};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use tracing::info;

/// A segment is not much larger.
const SEGMENT_BYTES: usize = 16 << 20;

impl Sending {
    /// A segment of lines, or of nothing but its head.
    pub(super) fn segment(&self, entries: &[Entry<'_>], whole: bool) -> Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(&Head { writer: self.writer.id.as_str().into(), whole })?;
        for entry in entries {
            bytes.push(b'\n');
            serde_json::to_writer(&mut bytes, entry)?;
        }
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Puts a segment under the next number. False if another writer has the number.
    pub(super) async fn put_segment(&mut self, bytes: Vec<u8>) -> Result<bool> {
        loop {
            let name = name(self.next);
            let there = match self.store.put_if(&name, bytes.clone(), None).await? {
                Put::Done(_) => None,
                Put::Refused => Some(self.store.get(&name).await?.unwrap_or_default()),
            };
            let is_ours = |there: &Vec<u8>| head(there).is_ok_and(|head| head.writer == self.writer.id);
            if there.as_ref().is_some_and(|there| !is_ours(there)) {
                return Ok(false);
            }
            self.next += 1;
            // One of ours was put, and the reply lost: this one, or one before it, which has fewer lines.
            if there.is_none_or(|there| there == bytes) {
                return Ok(true);
            }
        }
    }

    /// Makes the growing files here those of the store, with the lines behind them that were not sent before; without these if
    /// another machine has changed the run since.
    pub(super) fn join_lines(&mut self, mut lines: Lines, is_same: bool) -> Result<()> {
        let mut sent = BTreeMap::new();
        for file in GROWING {
            let path = self.place.folder.join(file);
            let there = lines.of(file).to_vec();
            let bytes = there.iter().map(|line| line.len() as u64 + 1).sum::<u64>();
            let local = files::read_text(&path)?.unwrap_or_default();
            let whole = local.rfind('\n').map_or("", |end| &local[..end]);
            let local: Vec<String> = whole.lines().map(str::to_owned).collect();
            let mut unsent = unsent(&local, &there);
            if !is_same {
                let replaced = lines.of(SUPERSEDED);
                let n_lost = unsent.iter().filter(|line| !replaced.contains(line)).count();
                if n_lost > 0 {
                    info!(
                        "{n_lost} lines of {file} are left out: another machine changed the run before they were sent"
                    );
                }
                unsent.clear();
            }
            if !unsent.is_empty() {
                info!("{} lines of {file} were not sent before: they are now", unsent.len());
            }
            if !unsent.is_empty() || lines.0.contains_key(file) {
                lines.0.insert(file.to_owned(), there.into_iter().chain(unsent).collect());
            }
            sent.insert(file, bytes);
        }
        write_lines(&self.place.folder, &lines)?;
        self.sent = sent
            .into_iter()
            .map(|(file, bytes)| {
                let meta = std::fs::metadata(self.place.folder.join(file)).ok();
                (file, (meta.as_ref().map(identity), bytes))
            })
            .collect();
        Ok(())
    }

    /// Sends the lines that came to the growing files.
    pub(super) async fn send_lines(&mut self) -> Result<()> {
        for file in GROWING {
            let path = self.place.folder.join(file);
            match File::open(&path) {
                Ok(open) => self.send_lines_of(file, open).await.with_context(|| path.display().to_string())?,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let (_, bytes) = self.sent[file];
                    if bytes > 0 {
                        self.begin_anew(file, None).await?;
                    }
                }
                Err(error) => return Err(error).with_context(|| format!("cannot open {}", path.display())),
            }
        }
        Ok(())
    }

    async fn send_lines_of(&mut self, file: &'static str, mut open: File) -> Result<()> {
        let here = identity(&open.metadata()?);
        let (known, mut from) = self.sent[file];
        let is_known = from == 0 || known == Some(here);
        let mut new = if is_known { new_lines(&mut open, from)? } else { None };
        if new.is_none() {
            self.begin_anew(file, Some(here)).await?;
            from = 0;
            new = new_lines(&mut open, from)?;
        }
        let bytes = new.unwrap_or_default();
        let text = std::str::from_utf8(&bytes)?;
        let mut start = 0;
        while start < text.len() {
            let most = text.len().min(start + SEGMENT_BYTES);
            // A line is sent whole, however long it is.
            let behind = text.as_bytes()[most - 1..].iter().position(|&byte| byte == b'\n');
            let cut = behind.map_or(text.len(), |at| most + at);
            let mut entries = Vec::new();
            for line in text[start..cut].lines() {
                let raw: &RawValue = serde_json::from_str(line).context("a line is no JSON")?;
                entries.push(Entry { file: file.into(), line: Some(raw) });
            }
            self.send_entries(&entries).await?;
            start = cut;
            self.sent.insert(file, (Some(here), from + start as u64));
        }
        Ok(())
    }

    /// Says that a growing file is another one, of which nothing was sent yet, or is gone.
    async fn begin_anew(&mut self, file: &'static str, here: Option<Identity>) -> Result<()> {
        self.send_entries(&[Entry { file: file.into(), line: None }]).await?;
        self.sent.insert(file, (here, 0));
        Ok(())
    }

    async fn send_entries(&mut self, entries: &[Entry<'_>]) -> Result<()> {
        let segment = self.segment(entries, false)?;
        if !self.put_segment(segment).await? {
            return Err(self.replaced());
        }
        self.has_segments = true;
        Ok(())
    }

    /// Puts the growing files whole, so that the folder reads without segments, and says so in a segment.
    pub(super) async fn put_whole(&mut self) -> Result<()> {
        if !self.has_segments {
            return Ok(());
        }
        for file in GROWING {
            match files::read(&self.place.folder.join(file))? {
                Some(bytes) => drop(self.store.put(file, bytes).await?),
                None => self.store.remove(file).await?,
            }
        }
        let segment = self.segment(&[], true)?;
        if !self.put_segment(segment).await? {
            return Err(self.replaced());
        }
        self.has_segments = false;
        Ok(())
    }
}
