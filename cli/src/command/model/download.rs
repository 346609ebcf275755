//! Files of a hub's repository: resumed after an interruption, verified at the end.

use anyhow::{Context, anyhow, bail};
use closeread_providers::without_credentials;
use indicatif::{ProgressBar, ProgressStyle};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, LOCATION, RANGE};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use tracing::info;

/// Tries without a byte of progress between them before a download is given up.
const MAX_IDLE_TRIES: u32 = 4;
/// Silence after which a connection counts as broken.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// One repository of a hub.
pub(super) struct Hub {
    client: Client,
    endpoint: String,
    /// Address of the endpoint without what may be a key.
    shown: String,
    repo: String,
}

/// A revision by name, then the commit the first answer gave for it, so that all files are of one state.
pub(super) struct Pinned(String);

impl Pinned {
    pub(super) fn revision(name: &str) -> Self {
        Self(name.to_owned())
    }

    pub(super) fn name(&self) -> &str {
        &self.0
    }
}

/// The facts that a hub states of a file before it is fetched.
struct Remote {
    n_bytes: Option<u64>,
    /// SHA-256 of a large file, some other mark of a small one.
    etag: String,
}

impl Remote {
    fn sha256(&self) -> Option<&str> {
        let is_hash = self.etag.len() == 64 && self.etag.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then_some(&self.etag)
    }
}

impl Hub {
    pub(super) fn new(endpoint: &str, repo: &str) -> anyhow::Result<Self> {
        // Redirects are followed by hand: the headers that identify a large file stand on the redirect itself.
        let client = closeread_providers::http::client()
            .redirect(redirect::Policy::none())
            .read_timeout(READ_TIMEOUT)
            .build()?;
        Ok(Self { client, endpoint: endpoint.to_owned(), shown: shown(endpoint), repo: repo.to_owned() })
    }

    /// Fetches `file` into `folder`, unless it is there whole; what an earlier try left is continued.
    pub(super) async fn fetch(&self, revision: &mut Pinned, file: &str, folder: &Path) -> anyhow::Result<()> {
        let remote = self.look(revision, file).await?;
        let target = folder.join(file);
        if target.is_file() && verify(&target, &remote).is_ok() {
            return Ok(());
        }
        // Part files carry the file's mark: bytes of two versions never meet in one.
        let mark: String = remote.etag.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
        let part = folder.join(format!("{file}.{mark}.part"));
        let bar = progress(file, remote.n_bytes);
        let mut n_idle = 0;
        loop {
            let before = part.metadata().map_or(0, |meta| meta.len());
            if remote.n_bytes.is_some_and(|n_bytes| before >= n_bytes) {
                break;
            }
            match self.stream(revision, file, &part, before, &bar).await {
                Ok(()) => break,
                Err(error) => {
                    let after = part.metadata().map_or(0, |meta| meta.len());
                    n_idle = if after > before { 0 } else { n_idle + 1 };
                    if n_idle >= MAX_IDLE_TRIES {
                        return Err(error.context(format!(
                            "{file} of {} stopped after {after} bytes; give the same command again to resume from there",
                            self.repo
                        )));
                    }
                    info!("{file}: interrupted after {after} bytes, going on ({error:#})");
                    tokio::time::sleep(Duration::from_millis(250 << n_idle)).await;
                }
            }
        }
        bar.finish_and_clear();
        if let Err(error) = verify(&part, &remote) {
            closeread_files::remove(&part)?;
            return Err(error.context(format!(
                "{file} of {} arrived damaged and was thrown away: run the same command again",
                self.repo
            )));
        }
        std::fs::rename(&part, &target).with_context(|| format!("{} cannot be written", target.display()))?;
        info!("fetched {file} ({} bytes)", target.metadata()?.len());
        Ok(())
    }

    /// Size and mark of a file; pins the revision.
    async fn look(&self, revision: &mut Pinned, file: &str) -> anyhow::Result<Remote> {
        let mut url = self.url(revision, file)?;
        for _ in 0..5 {
            let response = self.client.head(url.clone()).header(ACCEPT_ENCODING, "identity").send().await;
            let response = response.map_err(|error| self.unreachable(error))?;
            let headers = response.headers();
            if let Some(commit) = text(headers, "x-repo-commit") {
                revision.0 = commit.to_owned();
            }
            let linked = text(headers, "x-linked-etag");
            let location = text(headers, LOCATION.as_str());
            if let (true, None, Some(location)) = (response.status().is_redirection(), linked, location) {
                url = url.join(location).context("the hub redirects to what is no address")?;
                continue;
            }
            if !response.status().is_redirection() {
                self.accept(&response, file)?;
            }
            let etag = linked.or_else(|| text(headers, ETAG.as_str())).unwrap_or_default();
            let own_size = || text(headers, CONTENT_LENGTH.as_str()).filter(|_| !response.status().is_redirection());
            let n_bytes = text(headers, "x-linked-size").or_else(own_size).and_then(|size| size.parse().ok());
            let etag = etag.trim_start_matches("W/").trim_matches('"').to_ascii_lowercase();
            return Ok(Remote { n_bytes, etag });
        }
        bail!("{file} of {}: more than five redirects", self.repo)
    }

    /// Appends to `part` from byte `start` to the end, or until there is more than the hub stated, as `bar` knows.
    async fn stream(
        &self,
        revision: &Pinned,
        file: &str,
        part: &Path,
        start: u64,
        bar: &ProgressBar,
    ) -> anyhow::Result<()> {
        let mut url = self.url(revision, file)?;
        let mut n_redirects = 0;
        let mut response = loop {
            let request = self.client.get(url.clone()).header(ACCEPT_ENCODING, "identity");
            let request = if start > 0 { request.header(RANGE, format!("bytes={start}-")) } else { request };
            let response = request.send().await.map_err(|error| self.unreachable(error))?;
            match text(response.headers(), LOCATION.as_str()).filter(|_| response.status().is_redirection()) {
                Some(location) if n_redirects < 5 => {
                    url = url.join(location).context("the hub redirects to what is no address")?;
                    n_redirects += 1;
                }
                _ => break response,
            }
        };
        self.accept(&response, file)?;
        let continues = response.status() == StatusCode::PARTIAL_CONTENT
            && text(response.headers(), CONTENT_RANGE.as_str())
                .is_some_and(|range| range.starts_with(&format!("bytes {start}-")));
        let opened =
            std::fs::OpenOptions::new().create(true).append(continues).write(true).truncate(!continues).open(part);
        let mut out = opened.with_context(|| format!("{} cannot be written", part.display()))?;
        let mut n_bytes = if continues { start } else { 0 };
        bar.set_position(n_bytes);
        while let Some(bytes) = response.chunk().await.map_err(reqwest::Error::without_url)? {
            out.write_all(&bytes).with_context(|| format!("{} cannot be written", part.display()))?;
            bar.inc(bytes.len() as u64);
            n_bytes += bytes.len() as u64;
            if bar.length().is_some_and(|stated| n_bytes > stated) {
                break;
            }
        }
        Ok(())
    }

    fn url(&self, revision: &Pinned, file: &str) -> anyhow::Result<Url> {
        let url = format!("{}/{}/resolve/{}/{file}", self.endpoint, self.repo, revision.0);
        Url::parse(&url).with_context(|| format!("`{}` is no address of a hub: check HF_ENDPOINT", self.shown))
    }

    fn accept(&self, response: &Response, file: &str) -> anyhow::Result<()> {
        let (status, repo, endpoint) = (response.status(), &self.repo, &self.shown);
        match status {
            _ if status.is_success() => Ok(()),
            StatusCode::NOT_FOUND => {
                bail!("{endpoint} has no file {file} in {repo}: check `repo` and `revision` of its description")
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                bail!(
                    "{endpoint} does not give {repo} to everybody ({status}): download it and use `closeread model convert DIR`"
                )
            }
            _ => Err(anyhow!("{endpoint} answered {status} for {file} of {repo}")),
        }
    }

    fn unreachable(&self, error: reqwest::Error) -> anyhow::Error {
        let endpoint = &self.shown;
        anyhow::Error::new(error.without_url()).context(format!(
            "the hub at {endpoint} is out of reach: name a mirror with HF_ENDPOINT, or copy config.json, model.safetensors and \
             tokenizer.json here and use `closeread model convert DIR`"
        ))
    }
}

/// A hub's address without user, password and query.
pub(super) fn shown(endpoint: &str) -> String {
    without_credentials(endpoint).trim_end_matches('/').to_owned()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn verify(path: &Path, remote: &Remote) -> anyhow::Result<()> {
    let found = path.metadata().with_context(|| format!("{} is not there", path.display()))?.len();
    if let Some(expected) = remote.n_bytes.filter(|&expected| expected != found) {
        bail!("{found} bytes, the hub says {expected}");
    }
    if let Some(expected) = remote.sha256() {
        let mut hash = Sha256::new();
        let mut file = std::fs::File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        std::io::copy(&mut file, &mut HashWriter(&mut hash))
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let found = closeread_text::hash::hex(&hash.finalize());
        if found != expected {
            bail!("SHA-256 {found}, the hub says {expected}");
        }
    }
    Ok(())
}

/// Hashes what is written to it.
struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A bar on a terminal; nothing elsewhere, where the lines before and after must do.
fn progress(file: &str, n_bytes: Option<u64>) -> ProgressBar {
    let bar = n_bytes.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let style = ProgressStyle::with_template("{msg} {bytes}/{total_bytes} {bytes_per_sec} {eta} left");
    bar.set_style(style.expect("the template is valid"));
    bar.set_message(file.to_owned());
    closeread_terminal::bars().add(bar)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    #[tokio::test]
    async fn finding_09_a_file_that_is_larger_than_the_hub_says_is_given_up() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", listener.local_addr().expect("bound"));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.expect("connected"));
                let mut line = String::new();
                stream.read_line(&mut line).expect("a request");
                let told = if line.starts_with("HEAD") { "content-length: 10\r\n" } else { "" };
                let stream = stream.get_mut();
                let _ = write!(stream, "HTTP/1.1 200 OK\r\netag: \"a\"\r\nconnection: close\r\n{told}\r\n");
                // A GET is answered until the client goes.
                while told.is_empty() && stream.write_all(&[b'x'; 4096]).is_ok() {}
            }
        });
        let folder = tempfile::tempdir().expect("a folder");
        let hub = Hub::new(&endpoint, "owner/tiny").expect("a client");
        let fetched = hub.fetch(&mut Pinned::revision("main"), "config.json", folder.path()).await;
        let said = format!("{:#}", fetched.expect_err("refused"));
        assert!(said.contains("was thrown away") && said.contains("the hub says 10"), "{said}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
    }
}
