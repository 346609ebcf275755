//! Run folders, read-only: the files that the viewer reads, and no others.

use super::answer::{Answer, failure, json};
use super::file::long;
use crate::files;
use crate::finished::folder_name;
use crate::judging::{JUDGEMENTS, JUDGING};
use crate::run_folder::{MANIFEST, PREPARATIONS, PRICES, TEXTS};
use hyper::StatusCode;
use hyper::http::request::Parts;
use serde_json::json as object;
use std::path::{Path, PathBuf};

const FILES: [&str; 7] = [MANIFEST, "items.jsonl", "records.jsonl", "report.json", JUDGING, JUDGEMENTS, PRICES];
/// Folders with the end of the names of their files.
const FOLDERS: [(&str, &str); 2] = [(PREPARATIONS, ".json"), (TEXTS, ".txt.zst")];

/// A run folder under a name that no other has.
pub(super) struct ServedRun {
    pub(super) name: String,
    folder: PathBuf,
}

/// The folders by their own names; the second of one name is `name-2`.
pub(super) fn named(folders: &[PathBuf]) -> Vec<ServedRun> {
    let mut runs: Vec<ServedRun> = Vec::new();
    for folder in folders {
        let own = folder_name(folder);
        let names = std::iter::once(own.clone()).chain((2..).map(|n| format!("{own}-{n}")));
        let free = |name: &String| runs.iter().all(|run| run.name != *name);
        let name = names.into_iter().find(free).expect("some number is free");
        runs.push(ServedRun { name, folder: folder.clone() });
    }
    runs
}

impl ServedRun {
    /// A file of the run; without a path `{"files": [{"path", "bytes"}]}`.
    pub(super) fn answer(&self, request: &Parts, path: &[String]) -> Answer {
        match path {
            [] => json(StatusCode::OK, &object!({"files": self.files()})),
            [name] if FILES.contains(&name.as_str()) => long(request, &self.folder.join(name)),
            [folder, name] if FOLDERS.iter().any(|(known, end)| known == folder && name.ends_with(end)) => {
                long(request, &self.folder.join(folder).join(name))
            }
            _ => failure(StatusCode::NOT_FOUND, "the viewer reads no such file of a run"),
        }
    }

    fn files(&self) -> Vec<serde_json::Value> {
        let entry = |path: &str| {
            let bytes = std::fs::metadata(self.folder.join(path)).ok().filter(|file| file.is_file())?.len();
            Some(object!({"path": path, "bytes": bytes}))
        };
        let mut listed: Vec<_> = FILES.iter().filter_map(|name| entry(name)).collect();
        for (folder, end) in FOLDERS {
            let paths = files::entries(&self.folder.join(folder)).unwrap_or_default();
            let names = paths.iter().filter_map(|path| Path::new(path).file_name()?.to_str());
            listed
                .extend(names.filter(|name| name.ends_with(end)).filter_map(|name| entry(&format!("{folder}/{name}"))));
        }
        listed
    }
}
