//! `closeread model pull`: from a Hugging Face hub to an installed model.

use super::convert::{CONFIG, Origin, WEIGHTS, install, read_spec};
use super::download::{Hub, Pinned, shown};
use anyhow::{Context, anyhow, bail};
use closeread_books::tokens::Tokenizer;
use closeread_embed::ModelSpec;
use closeread_embed::encoder::EncoderOptions;
use closeread_embed::onnx::WeightFormat;
use closeread_runner::models::rerankers::{self, InstalledReranker, KNOWN, KnownReranker};
use closeread_runner::models::{MANIFEST, TOKENIZER, models_dir};
use closeread_runner::tokenizer::{FETCHED, Fetched};
use closeread_text::hash::sha256;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use tracing::info;

/// Address of the hub where models are looked for.
const ENDPOINT: &str = "https://huggingface.co";

pub(super) async fn run(name: &str, weights: WeightFormat, spec: Option<&Path>) -> anyhow::Result<ExitCode> {
    if let (Some(tokenizer), None) = (Fetched::named(name), spec) {
        let place = pull_tokenizer(tokenizer, &endpoint(), &tokenizer.folder()?).await?;
        info!("installed the tokenizer {name} in {place}");
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(reranker), None) = (KnownReranker::named(name), spec) {
        let place = pull_reranker(reranker, &endpoint(), &models_dir()?).await?;
        info!("installed the reranker {name} in {place}");
        return Ok(ExitCode::SUCCESS);
    }
    ModelSpec::check_name(name).map_err(|problem| anyhow!("`{name}`: {problem}"))?;
    let spec = match spec {
        Some(path) => ModelSpec { name: name.to_owned(), ..read_spec(path)? },
        None => ModelSpec::named(name).with_context(|| {
            let known = ModelSpec::built_in().into_iter().map(|spec| spec.name);
            let known = known.chain(KNOWN.map(|reranker| reranker.name.to_owned()));
            let known: Vec<String> = known.chain(FETCHED.map(|tokenizer| tokenizer.name.to_owned())).collect();
            format!("no model `{name}` is described (known: {}): describe it with --spec TOML", known.join(", "))
        })?,
    };
    let model = pull(&spec, weights, &endpoint(), &models_dir()?).await?;
    info!("installed {name} in {model}");
    Ok(ExitCode::SUCCESS)
}

/// Returns the hub's address.
fn endpoint() -> String {
    let given = std::env::var("HF_ENDPOINT").ok().filter(|endpoint| !endpoint.is_empty());
    given.as_deref().unwrap_or(ENDPOINT).trim_end_matches('/').to_owned()
}

/// Fetches a tokenizer, checks that it can be read, and puts it into its folder; gives the folder in words.
async fn pull_tokenizer(tokenizer: Fetched, endpoint: &str, folder: &Path) -> anyhow::Result<String> {
    let fetched = folder.with_file_name(".pull").join(tokenizer.name);
    std::fs::create_dir_all(&fetched).with_context(|| format!("{} cannot be made", fetched.display()))?;
    let mut pinned = Pinned::revision("main");
    Hub::new(endpoint, tokenizer.repo)?.fetch(&mut pinned, TOKENIZER, &fetched).await?;
    let json = closeread_files::read_file(fetched.join(TOKENIZER))?;
    Tokenizer::from_json(tokenizer.name, &json)?;
    let source = json!({
        "source": format!("{}/{}/tree/{}", shown(endpoint), tokenizer.repo, pinned.name()),
        "files": {TOKENIZER: sha256(&json)},
    });
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    closeread_files::write_atomically(&folder.join(MANIFEST), format!("{source:#}\n").as_bytes())?;
    closeread_files::write_atomically(&folder.join(TOKENIZER), &json)?;
    std::fs::remove_dir_all(&fetched).with_context(|| format!("{} cannot be removed", fetched.display()))?;
    Ok(folder.display().to_string())
}

/// Fetches a reranker as it is published, checks that it can be run, and puts it into its folder; gives the folder in words.
async fn pull_reranker(reranker: KnownReranker, endpoint: &str, models_dir: &Path) -> anyhow::Result<String> {
    let fetched = models_dir.join(".pull").join(reranker.name);
    std::fs::create_dir_all(&fetched).with_context(|| format!("{} cannot be made", fetched.display()))?;
    let client = Hub::new(endpoint, reranker.repo)?;
    let mut pinned = Pinned::revision("main");
    for file in rerankers::FILES {
        client.fetch(&mut pinned, file, &fetched).await?;
    }
    let model = InstalledReranker::in_folder(&fetched)?;
    model.load(EncoderOptions::default()).with_context(|| format!("reranker {}", reranker.name))?;
    let mut hashes = serde_json::Map::new();
    for file in rerankers::FILES {
        hashes.insert(file.to_owned(), json!(sha256(&model.file(file)?)));
    }
    let source = json!({
        "source": format!("{}/{}/tree/{}", shown(endpoint), reranker.repo, pinned.name()),
        "licence": reranker.licence,
        "files": hashes,
    });
    closeread_files::write_atomically(&fetched.join(MANIFEST), format!("{source:#}\n").as_bytes())?;
    let folder = models_dir.join(reranker.name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("{} cannot be replaced", folder.display()))?;
    }
    std::fs::rename(&fetched, &folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder.display().to_string())
}

/// Fetches, verifies and converts; gives the folder in words.
pub(super) async fn pull(
    spec: &ModelSpec,
    weights: WeightFormat,
    endpoint: &str,
    models_dir: &Path,
) -> anyhow::Result<String> {
    let Some(hub) = &spec.hub else {
        bail!("the description of `{}` has no [hub] table: add `repo = \"owner/name\"` and `licence`", spec.name);
    };
    // Not among the models: a folder there without model.toml is skipped, but need not be seen.
    let fetched = models_dir.join(".pull").join(&spec.name);
    std::fs::create_dir_all(&fetched).with_context(|| format!("{} cannot be made", fetched.display()))?;
    let client = Hub::new(endpoint, &hub.repo)?;
    let mut pinned = Pinned::revision(&hub.revision);
    for file in [CONFIG, TOKENIZER, WEIGHTS] {
        client.fetch(&mut pinned, file, &fetched).await?;
    }
    let format = serde_json::to_value(weights)?;
    let origin = Origin {
        source: format!("{}/{}/tree/{}", shown(endpoint), hub.repo, pinned.name()),
        recipe: format!("closeread model pull {} --weights {}", spec.name, format.as_str().unwrap_or_default()),
    };
    let model = install(&fetched, spec, weights, &models_dir.join(&spec.name), origin)?;
    std::fs::remove_dir_all(&fetched).with_context(|| format!("{} cannot be removed", fetched.display()))?;
    Ok(model.place())
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_runner::models::Installed;
    use closeread_text::hash::sha256;
    use std::collections::BTreeMap;
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::{Arc, Mutex};

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    /// A hub of one repository, `owner/tiny`, that behaves like the real one: large files are a redirect whose headers
    /// tell size and hash.
    struct TestHub {
        files: BTreeMap<&'static str, Vec<u8>>,
        /// Number of bytes after which connections for the weights end.
        cut_after: usize,
        /// Whether ranges are answered, as the real hub does.
        ranges: bool,
        /// Whether bytes of the weights are wrong on arrival.
        damaged: bool,
        requests: Arc<Mutex<Vec<String>>>,
    }

    impl TestHub {
        fn new() -> Self {
            let (config, weights) = tiny();
            let files = BTreeMap::from([(CONFIG, config), (WEIGHTS, weights), (TOKENIZER, TINY_TOKENIZER.into())]);
            Self { files, cut_after: usize::MAX, ranges: true, damaged: false, requests: Arc::default() }
        }

        /// Serves on a port of its own until the test ends; gives the endpoint.
        fn serve(self) -> String {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let endpoint = format!("http://{}", listener.local_addr().expect("bound"));
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    // A client that hangs up in the middle is what some tests are about.
                    let _ = self.answer(stream);
                }
            });
            endpoint
        }

        fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
            let mut lines = BufReader::new(stream.try_clone()?).lines();
            let request = lines.next().transpose()?.unwrap_or_default();
            let headers: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let range = headers.iter().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("range: bytes=")?.strip_suffix('-')?.parse().ok()
            });
            self.requests.lock().expect("no test panics inside").push(format!("{request} {range:?}"));
            let mut words = request.split(' ');
            let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let name = path.rsplit('/').next().unwrap_or_default();
            let Some(body) = self.files.get(name) else {
                return write!(stream, "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            };
            if path.starts_with("/owner/tiny/resolve/") && name == WEIGHTS {
                return write!(
                    stream,
                    "HTTP/1.1 302 Found\r\nlocation: /store/{name}\r\nx-repo-commit: {COMMIT}\r\nx-linked-size: {}\r\n\
                     x-linked-etag: \"{}\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                    body.len(),
                    sha256(body)
                );
            }
            let start: usize = range.filter(|_| self.ranges).unwrap_or(0);
            let status = if start > 0 { "206 Partial Content" } else { "200 OK" };
            write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\ncontent-range: bytes {start}-{}/{}\r\netag: \"small\"\r\n\
                 x-repo-commit: {COMMIT}\r\nconnection: close\r\n\r\n",
                body.len() - start,
                body.len() - 1,
                body.len()
            )?;
            if method == "HEAD" {
                return Ok(());
            }
            let mut rest = body[start..].to_vec();
            if name == WEIGHTS {
                rest.truncate(self.cut_after);
                rest.iter_mut().filter(|_| self.damaged).for_each(|byte| *byte = !*byte);
            }
            stream.write_all(&rest)
        }
    }

    const TINY_TOKENIZER: &str = r#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
        "post_processor": {"type": "BertProcessing", "sep": ["]", 1], "cls": ["[", 0]},
        "model": {"type": "WordLevel", "vocab": {"[": 0, "]": 1, "?": 2, "The": 3, "the": 4, "ship": 5}, "unk_token": "?"}}"#;

    fn tiny() -> (Vec<u8>, Vec<u8>) {
        let config = serde_json::json!({
            "model_type": "bert", "hidden_size": 4, "num_hidden_layers": 0, "num_attention_heads": 1,
            "intermediate_size": 4, "hidden_act": "gelu", "layer_norm_eps": 1e-5, "max_position_embeddings": 64,
            "vocab_size": 6, "type_vocab_size": 1
        });
        let (mut header, mut data) = (serde_json::Map::new(), Vec::<u8>::new());
        for (name, shape) in [
            ("embeddings.word_embeddings.weight", vec![6, 4]),
            ("embeddings.position_embeddings.weight", vec![64, 4]),
            ("embeddings.token_type_embeddings.weight", vec![1, 4]),
            ("embeddings.LayerNorm.weight", vec![4]),
            ("embeddings.LayerNorm.bias", vec![4]),
            ("pooler.dense.weight", vec![4, 4]),
            ("pooler.dense.bias", vec![4]),
            ("classifier.weight", vec![1, 4]),
            ("classifier.bias", vec![1]),
        ] {
            let start = data.len();
            data.extend((0..shape.iter().product::<usize>()).flat_map(|n| ((n * 7 % 11) as f32 - 4.0).to_le_bytes()));
            let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
            header.insert(name.to_owned(), entry);
        }
        let header = serde_json::to_vec(&header).expect("plain");
        (config.to_string().into_bytes(), [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat())
    }

    async fn pull_tiny(hub: TestHub, models: &Path) -> anyhow::Result<String> {
        let spec = "name = 'tiny'\ndimension = 4\nmax_tokens = 32\npooling = 'cls'\n[hub]\nrepo = 'owner/tiny'\nlicence = 'MIT'";
        let spec = ModelSpec::from_toml("tiny.toml", spec).expect("valid");
        pull(&spec, WeightFormat::F32, &hub.serve(), models).await
    }

    #[tokio::test]
    async fn installs_from_one_commit_and_leaves_nothing_else() {
        let models = tempfile::tempdir().expect("a folder");
        let hub = TestHub::new();
        let requests = hub.requests.clone();
        pull_tiny(hub, models.path()).await.expect("installs");
        let model = Installed::in_folder(&models.path().join("tiny")).expect("readable");
        assert!(model.manifest.source.ends_with(&format!("owner/tiny/tree/{COMMIT}")), "{}", model.manifest.source);
        assert_eq!(model.manifest.made_from[WEIGHTS], sha256(&tiny().1));
        assert!(!models.path().join(".pull/tiny").exists());
        let requests = requests.lock().expect("served");
        assert!(requests[0].starts_with("HEAD /owner/tiny/resolve/main/"), "{requests:?}");
        let later = requests[1..].iter().filter(|request| request.contains("/resolve/"));
        assert!(later.clone().count() > 0 && later.into_iter().all(|request| request.contains(COMMIT)), "{requests:?}");
    }

    #[tokio::test]
    async fn finding_06_a_tokenizer_of_another_model_is_refused() {
        let models = tempfile::tempdir().expect("a folder");
        let mut hub = TestHub::new();
        hub.files.insert(TOKENIZER, TINY_TOKENIZER.replace("\"ship\": 5", "\"ship\": 6").into_bytes());
        let message = format!("{:#}", pull_tiny(hub, models.path()).await.expect_err("refused"));
        assert!(message.contains("does not run") && message.contains("token id 6, the model knows 6"), "{message}");
        assert!(!models.path().join("tiny").exists());
    }

    #[tokio::test]
    async fn a_reranker_is_installed_as_it_is_published_if_it_can_be_run() {
        let models = tempfile::tempdir().expect("a folder");
        let tiny = KnownReranker { name: "tiny", repo: "owner/tiny", licence: "MIT", about: "" };
        pull_reranker(tiny, &TestHub::new().serve(), models.path()).await.expect("installs");
        let installed = rerankers::installed_rerankers(models.path()).expect("readable");
        assert_eq!(installed.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), ["tiny"]);
        assert_eq!(installed[0].max_tokens().expect("loads"), 64);
        let manifest = std::fs::read_to_string(models.path().join("tiny").join(MANIFEST)).expect("there");
        assert!(manifest.contains(COMMIT) && manifest.contains(&sha256(&self::tiny().1)), "{manifest}");
        assert!(!models.path().join(".pull/tiny").exists());
        let mut hub = TestHub::new();
        hub.files.insert(CONFIG, br#"{"model_type": "t5"}"#.to_vec());
        let other = KnownReranker { name: "other", ..tiny };
        let message = format!("{:#}", pull_reranker(other, &hub.serve(), models.path()).await.expect_err("refused"));
        assert!(message.contains("reranker other") && message.contains("t5"), "{message}");
        assert!(!models.path().join("other").exists());
    }

    #[tokio::test]
    async fn a_tokenizer_is_installed_alone_and_one_that_cannot_be_read_is_not() {
        let models = tempfile::tempdir().expect("a folder");
        let tiny = Fetched { name: "tiny", repo: "owner/tiny" };
        let folder = models.path().join("tiny");
        pull_tokenizer(tiny, &TestHub::new().serve(), &folder).await.expect("installs");
        assert_eq!(std::fs::read(folder.join(TOKENIZER)).expect("there"), TINY_TOKENIZER.as_bytes());
        let manifest = std::fs::read_to_string(folder.join(MANIFEST)).expect("there");
        assert!(manifest.contains(COMMIT) && manifest.contains(&sha256(TINY_TOKENIZER.as_bytes())), "{manifest}");
        let mut hub = TestHub::new();
        hub.files.insert(TOKENIZER, b"{}".to_vec());
        let other = models.path().join("other");
        let message = pull_tokenizer(tiny, &hub.serve(), &other).await.expect_err("refused").to_string();
        assert!(message.contains("not a Hugging Face tokenizer.json") && !other.exists(), "{message}");
    }

    #[tokio::test]
    async fn an_interrupted_download_goes_on_where_it_stopped() {
        let models = tempfile::tempdir().expect("a folder");
        let n_weights = tiny().1.len();
        let hub = TestHub { cut_after: n_weights / 3 + 1, ..TestHub::new() };
        let requests = hub.requests.clone();
        pull_tiny(hub, models.path()).await.expect("installs");
        let requests = requests.lock().expect("served");
        let ranges: Vec<&String> =
            requests.iter().filter(|request| request.starts_with("GET /store/") && request.contains("Some")).collect();
        assert_eq!(ranges.len(), 2, "{requests:?}");
    }

    #[tokio::test]
    async fn the_next_command_takes_up_what_the_last_one_left() {
        let models = tempfile::tempdir().expect("a folder");
        let broken = TestHub { cut_after: 0, ..TestHub::new() };
        let message = format!("{:#}", pull_tiny(broken, models.path()).await.expect_err("gives up"));
        assert!(message.contains("the same command again to resume from there"), "{message}");
        let hub = TestHub::new();
        let requests = hub.requests.clone();
        pull_tiny(hub, models.path()).await.expect("installs");
        let small = requests.lock().expect("served").iter().filter(|request| request.starts_with("GET /owner")).count();
        assert_eq!(small, 1, "config and tokenizer were there already");
    }

    #[tokio::test]
    async fn a_server_without_ranges_starts_over() {
        let models = tempfile::tempdir().expect("a folder");
        let part = models.path().join(".pull/tiny");
        std::fs::create_dir_all(&part).expect("writable");
        let mark = &sha256(&tiny().1)[..16];
        std::fs::write(part.join(format!("{WEIGHTS}.{mark}.part")), &tiny().1[..100]).expect("writable");
        pull_tiny(TestHub { ranges: false, ..TestHub::new() }, models.path()).await.expect("installs");
    }

    #[tokio::test]
    async fn damage_is_noticed_and_not_kept() {
        let models = tempfile::tempdir().expect("a folder");
        let message = pull_tiny(TestHub { damaged: true, ..TestHub::new() }, models.path()).await.expect_err("refused");
        assert!(format!("{message:#}").contains("SHA-256"), "{message:#}");
        assert!(!models.path().join("tiny").exists());
        pull_tiny(TestHub::new(), models.path()).await.expect("the next try starts clean");
    }

    #[tokio::test]
    async fn a_file_that_is_missing_is_named() {
        let models = tempfile::tempdir().expect("a folder");
        let mut hub = TestHub::new();
        hub.files.remove(TOKENIZER);
        let message = format!("{:#}", pull_tiny(hub, models.path()).await.expect_err("refused"));
        assert!(message.contains(TOKENIZER) && message.contains("owner/tiny"), "{message}");
    }

    #[tokio::test]
    async fn a_hub_out_of_reach_is_said_with_the_way_around() {
        let models = tempfile::tempdir().expect("a folder");
        let spec = ModelSpec::named("multilingual-e5-large").expect("built in");
        let error = pull(&spec, WeightFormat::F16, "http://127.0.0.1:1", models.path()).await.expect_err("unreachable");
        let message = format!("{error:#}");
        assert!(message.contains("HF_ENDPOINT") && message.contains("model convert DIR"), "{message}");
    }

    #[tokio::test]
    async fn a_password_in_the_hubs_address_is_neither_said_nor_written_down() {
        let models = tempfile::tempdir().expect("a folder");
        let spec = ModelSpec::named("multilingual-e5-large").expect("built in");
        let with_password = |url: &str| url.replace("http://", "http://me:planted@") + "?key=planted";
        for endpoint in ["http://127.0.0.1:1", "http://127.0.0.1:none"] {
            let error =
                pull(&spec, WeightFormat::F16, &with_password(endpoint), models.path()).await.expect_err("refused");
            assert!(!format!("{error:#}").contains("planted"), "{error:#}");
        }
        let tiny = Fetched { name: "tiny", repo: "owner/tiny" };
        let endpoint = TestHub::new().serve().replace("http://", "http://me:planted@");
        pull_tokenizer(tiny, &endpoint, &models.path().join("tiny")).await.expect("installs");
        let manifest = std::fs::read_to_string(models.path().join("tiny").join(MANIFEST)).expect("there");
        assert!(manifest.contains("http://127.0.0.1:") && !manifest.contains("planted"), "{manifest}");
    }
}
