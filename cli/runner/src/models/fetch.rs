//! The weights of the model that ships, where the program is without them: fetched once, when they are first needed.

use super::calibration::CALIBRATION;
use super::{MANIFEST, SPEC, shipped};
use super::{Manifest, ONNX, SHIPPED, TOKENIZER, models_dir};
use anyhow::{Context, Result, anyhow, bail, ensure};
use closeread_files::write_atomically;
use closeread_providers::{http, without_credentials};
use closeread_text::hash::sha256;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracing::info;

/// Names another address of the releases, or a folder with their files.
const VARIABLE: &str = "CLOSEREAD_RELEASES";
/// Address of the releases of closeread.
const RELEASES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases/download/v", env!("CARGO_PKG_VERSION"));
/// The file's name there.
const FILE: &str = "all-MiniLM-L6-v2.onnx";
/// Most bytes that the file may have: more is something else.
const MOST: usize = 64 << 20;
/// Longest that the whole may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// The folder in which the model lies whole; the weights are fetched into it if they are not there.
pub(super) fn weights(manifest: &Manifest) -> Result<PathBuf> {
    let folder = models_dir()?.join(SHIPPED);
    if !folder.join(ONNX).is_file() {
        let from = std::env::var(VARIABLE).ok().filter(|from| !from.is_empty());
        fetch(from.as_deref().unwrap_or(RELEASES), manifest, &folder)?;
    }
    Ok(folder)
}

/// Takes the weights from an address or a folder, holds them to their hash, and writes the model's folder.
fn fetch(from: &str, manifest: &Manifest, folder: &Path) -> Result<()> {
    let place = if from.contains("://") { without_credentials(from) } else { from.to_owned() };
    let way_out = || {
        format!(
            "the embedding model {SHIPPED} is not inside this build and cannot be had from {place}. Rank by words, which needs \
             no model (--retriever bm25), or fetch {FILE} of closeread's release where there is a network and name its folder \
             by {VARIABLE}"
        )
    };
    info!("fetching {FILE} (23 MB) from {place}, once");
    let bytes =
        if from.contains("://") { downloaded(&format!("{from}/{FILE}")) } else { read(&Path::new(from).join(FILE)) };
    let bytes = bytes.with_context(way_out)?;
    ensure!(
        manifest.files.get(ONNX) == Some(&sha256(&bytes)),
        "{FILE} from {place} is not the model of closeread {}: its SHA-256 is another; it was thrown away",
        env!("CARGO_PKG_VERSION")
    );
    let files: [(&str, &[u8]); 5] = [
        (TOKENIZER, shipped::TOKENIZER),
        (SPEC, shipped::SPEC.as_bytes()),
        (MANIFEST, shipped::MANIFEST.as_bytes()),
        (CALIBRATION, shipped::CALIBRATION),
        // Last: where it lies the others do.
        (ONNX, &bytes),
    ];
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    files.iter().try_for_each(|(name, bytes)| write_atomically(&folder.join(name), bytes))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    closeread_files::read_file_within(path, MOST as u64).with_context(|| format!("cannot read {}", path.display()))
}

/// The body behind an address. On a thread of its own: whoever asks may be driving futures.
fn downloaded(url: &str) -> Result<Vec<u8>> {
    let get = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let client = http::client().timeout(PATIENCE).connect_timeout(Duration::from_secs(20)).build()?;
            let mut response = client.get(url).send().await.map_err(reqwest::Error::without_url)?;
            if !response.status().is_success() {
                bail!("the server answered {}", response.status());
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
                body.extend_from_slice(&chunk);
                ensure!(body.len() <= MOST, "it is larger than {} MB", MOST >> 20);
            }
            Ok(body)
        })
    };
    std::thread::scope(|scope| scope.spawn(get).join())
        .map_err(|_| anyhow!("the thread that fetched it ended abruptly"))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Installed;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    fn manifest() -> Manifest {
        Installed::shipped().expect("shipped").manifest
    }

    #[test]
    fn weights_come_from_a_folder_and_make_an_installed_model() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join(FILE), shipped::onnx()).expect("writable");
        let folder = dir.path().join("models/it");
        fetch(&dir.path().display().to_string(), &manifest(), &folder).expect("fetched");
        let model = Installed::in_folder(&folder).expect("whole");
        assert_eq!(sha256(&model.file(ONNX).expect("there")), model.manifest.files[ONNX]);
        assert_eq!(model.calibration_file().expect("there"), shipped::CALIBRATION);
    }

    /// A server that answers once.
    fn served(status: &str, body: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/x", listener.local_addr().expect("bound"));
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("asked");
            let _ = stream.read(&mut [0; 2048]);
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(body);
        });
        address
    }

    #[test]
    fn weights_come_from_an_address_too() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("it");
        fetch(&served("200 OK", shipped::onnx()), &manifest(), &folder).expect("fetched");
        assert!(folder.join(ONNX).is_file());
    }

    #[test]
    fn what_is_damaged_or_missing_is_said_with_the_way_around_and_nothing_is_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("it");
        let refused = |from: &str| format!("{:#}", fetch(from, &manifest(), &folder).expect_err("refused"));
        let said = refused(&served("200 OK", b"something else"));
        assert!(said.contains("SHA-256 is another") && said.contains("thrown away"), "{said}");
        let said = refused(&served("404 Not Found", b""));
        assert!(
            said.contains("answered 404") && said.contains("--retriever bm25") && said.contains(VARIABLE),
            "{said}"
        );
        let said = refused("http://me:sk-1@127.0.0.1:1");
        assert!(said.contains("http://127.0.0.1:1") && !said.contains("sk-1"), "{said}");
        let said = refused("/nowhere");
        assert!(said.contains("/nowhere") && said.contains("--retriever bm25"), "{said}");
        assert!(!folder.exists());
    }
}
