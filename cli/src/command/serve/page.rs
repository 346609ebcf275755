//! The built page: found, packed once, sent when it has changed.

use super::answer::{Answer, answer, failure, whole};
use super::file::{is_known, kind, stamp};
use anyhow::{Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use hyper::http::request::Parts;
use hyper::{Method, StatusCode, header};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Names the folder of the built page.
const VARIABLE: &str = "CLOSEREAD_PAGE";
/// What a built page has.
const NEEDED: [&str; 3] = ["index.html", "closeread_wasm.js", "closeread_wasm_bg.wasm"];

/// The folder of the page.
pub(super) struct Page {
    folder: PathBuf,
    /// By path: the tag of the file it was made of, and the file packed.
    packed: Mutex<HashMap<PathBuf, (String, Bytes)>>,
}

/// The folder of the built page: the one that was named, else by the environment, beside the program, in the sources.
///
/// # Errors
/// If none holds a built page.
pub(in crate::command) fn folder(named: Option<&Path>) -> Result<PathBuf> {
    let given = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let asked = named.map(|folder| (folder.to_owned(), "--page"));
    let asked = asked.or_else(|| given.map(|folder| (folder, VARIABLE)));
    let is_built = |folder: &Path| NEEDED.iter().all(|name| folder.join(name).is_file());
    if let Some((folder, by)) = asked {
        if is_built(&folder) {
            return Ok(folder);
        }
        bail!(
            "{} (by {by}) holds no built page: expected {}, which `cargo xtask web` writes into web/dist",
            folder.display(),
            NEEDED.join(", ")
        );
    }
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).map(|folder| folder.join("web"));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/dist");
    match beside.into_iter().chain([sources]).find(|folder| is_built(folder)) {
        Some(folder) => Ok(folder.canonicalize().unwrap_or(folder)),
        None => bail!(
            "the page is not built: run `cargo xtask web` in closeread's sources, or name the folder of a built page by \
             --page or {VARIABLE}"
        ),
    }
}

impl Page {
    pub(super) fn find(named: Option<&Path>) -> Result<Self> {
        Ok(Self { folder: folder(named)?, packed: Mutex::default() })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) async fn answer(&self, request: &Parts, parts: &[String]) -> Answer {
        let mut path = self.folder.clone();
        path.extend(parts);
        if parts.is_empty() {
            path.push("index.html");
        }
        let Some(metadata) = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file) else {
            return failure(StatusCode::NOT_FOUND, "no such file");
        };
        let tag = stamp(&metadata);
        let name = path.to_string_lossy().into_owned();
        let builder = |status| {
            answer(status)
                .header(header::CONTENT_TYPE, kind(&name))
                .header(header::ETAG, &tag)
                .header(header::CACHE_CONTROL, "no-cache")
                .header(header::VARY, "accept-encoding")
        };
        if is_known(request, &tag) {
            return whole(builder(StatusCode::NOT_MODIFIED), Bytes::new());
        }
        let takes = request.headers.get(header::ACCEPT_ENCODING).and_then(|kinds| kinds.to_str().ok());
        let takes_gzip = takes.is_some_and(|kinds| kinds.split(',').any(|kind| kind.trim().starts_with("gzip")));
        let is_text = !kind(&name).starts_with("image/png") && !kind(&name).contains("zstd");
        let (bytes, is_packed) = match takes_gzip && is_text {
            true => (self.packed(&path, &tag).await, true),
            false => (std::fs::read(&path).map(Bytes::from), false),
        };
        let Ok(bytes) = bytes else { return failure(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read") };
        let mut builder = builder(StatusCode::OK).header(header::CONTENT_LENGTH, bytes.len());
        if is_packed {
            builder = builder.header(header::CONTENT_ENCODING, "gzip");
        }
        whole(builder, if request.method == Method::HEAD { Bytes::new() } else { bytes })
    }

    async fn packed(&self, path: &Path, tag: &str) -> std::io::Result<Bytes> {
        let known = |packed: &HashMap<PathBuf, (String, Bytes)>| {
            packed.get(path).filter(|(of, _)| of == tag).map(|(_, bytes)| bytes.clone())
        };
        if let Some(bytes) = self.packed.lock().ok().and_then(|packed| known(&packed)) {
            return Ok(bytes);
        }
        let file = path.to_owned();
        let pack = move || -> std::io::Result<Bytes> {
            let mut packer = GzEncoder::new(Vec::new(), Compression::new(6));
            packer.write_all(&std::fs::read(&file)?)?;
            packer.finish().map(Bytes::from)
        };
        let bytes = tokio::task::spawn_blocking(pack).await.map_err(std::io::Error::other)??;
        if let Ok(mut packed) = self.packed.lock() {
            packed.insert(path.to_owned(), (tag.to_owned(), bytes.clone()));
        }
        Ok(bytes)
    }
}
