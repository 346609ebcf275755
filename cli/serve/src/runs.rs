//! Run folders, read-only: the files that the viewer reads, and no others.

use crate::answer::{failure, json};
use crate::path::as_part;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use closeread_files::entries;
use serde_json::json as object;
use std::path::{Path, PathBuf};
use tower_http::services::ServeFile;

/// The parts of a run folder that are served.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Names of files that are served.
    pub files: &'static [&'static str],
    /// Folders, with the end of the names of their files.
    pub folders: &'static [(&'static str, &'static str)],
}

/// A run folder under a name that no other has.
pub(crate) struct ServedRun {
    pub(crate) name: String,
    folder: PathBuf,
    layout: Layout,
}

/// The folders by their own names; the second of one name is `name-2`.
pub(crate) fn named(folders: Vec<(String, PathBuf)>, layout: Layout) -> Vec<ServedRun> {
    let mut runs: Vec<ServedRun> = Vec::new();
    for (own, folder) in folders {
        let own = as_part(&own);
        let taken = |name: &String| runs.iter().any(|run| run.name == *name);
        let (mut name, mut n) = (own.clone(), 1);
        while taken(&name) {
            n += 1;
            name = format!("{own}-{n}");
        }
        runs.push(ServedRun { name, folder, layout });
    }
    runs
}

impl ServedRun {
    /// A file of the run, or the bytes of it that were asked for; without a path `{"files": [{"path", "bytes"}]}`.
    pub(crate) async fn answer(&self, request: Request, path: &[String]) -> Response {
        let path = match path {
            [] => return json(StatusCode::OK, &object!({"files": self.files()})),
            [name] if self.layout.files.contains(&name.as_str()) => name.clone(),
            [folder, name] if self.layout.folders.iter().any(|(known, end)| known == folder && name.ends_with(end)) => {
                format!("{folder}/{name}")
            }
            _ => return failure(StatusCode::NOT_FOUND, "the viewer reads no such file of a run"),
        };
        let served = match self.length(&path) {
            Some(_) => {
                let mut file = ServeFile::new(self.folder.join(path)).ignore_multi_range_requests(true);
                file.try_call(request).await.ok()
            }
            None => None,
        };
        served.map_or_else(|| failure(StatusCode::NOT_FOUND, "no such file"), IntoResponse::into_response)
    }

    /// Returns the length of a file of the run. A file reached by a link has none: it can lie anywhere, and hold
    /// anything.
    fn length(&self, path: &str) -> Option<u64> {
        let kind = |path: PathBuf| std::fs::symlink_metadata(path).ok();
        let within =
            path.split_once('/').is_none_or(|(folder, _)| kind(self.folder.join(folder)).is_some_and(|f| f.is_dir()));
        kind(self.folder.join(path)).filter(|file| within && file.is_file()).map(|file| file.len())
    }

    fn files(&self) -> Vec<serde_json::Value> {
        let entry = |path: &str| Some(object!({"path": path, "bytes": self.length(path)?}));
        let mut listed: Vec<_> = self.layout.files.iter().filter_map(|name| entry(name)).collect();
        for (folder, end) in self.layout.folders {
            let paths = entries(&self.folder.join(folder)).unwrap_or_default();
            let names = paths.iter().filter_map(|path| Path::new(path).file_name()?.to_str());
            listed
                .extend(names.filter(|name| name.ends_with(end)).filter_map(|name| entry(&format!("{folder}/{name}"))));
        }
        listed
    }
}
