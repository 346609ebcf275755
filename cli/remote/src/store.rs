//! The client of a store.

use crate::address::{Address, Scheme};
use crate::http::Connector;
use crate::words;
use anyhow::{Result, anyhow, bail};
use closeread_providers::without_credentials;
use futures_util::TryStreamExt;
use ini::Ini;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path as ObjectPath;
use object_store::{
    BackoffConfig, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, RetryConfig, UpdateVersion,
};
use reqwest::Url;
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Most bytes of the object that names the writer, and of a segment, which ends behind a line of at most 64 MiB.
const MAX_SMALL: u64 = 128 << 20;

/// How long a failed request is tried again.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patience {
    /// A short time: somebody waits, and what is said of the store may be wrong.
    Short,
    /// A run goes on meanwhile.
    Long,
}

/// A folder in a store.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    client: Arc<dyn ObjectStore>,
    address: Address,
}

/// An object of a folder.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// Name of the object, below the folder.
    pub(crate) name: String,
    /// Version, which changes when the object changes.
    pub(crate) version: String,
    pub(crate) bytes: u64,
}

/// The error that an object is not as the listing says.
#[derive(Debug)]
pub(crate) struct Changed(String);

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} is not as long as the store's listing says: try again; if it stays so, look at what answers there",
            self.0
        )
    }
}

impl std::error::Error for Changed {}

/// The error of a store that did not answer, or had trouble of its own: later it may not.
#[derive(Debug)]
pub(crate) struct Away(String);

impl std::fmt::Display for Away {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Away {}

/// Returns whether the store did not answer, or answered that it had trouble of its own.
fn is_away(error: &object_store::Error) -> bool {
    http_error(error).is_some() || error.to_string().contains("status code: 5")
}

/// The error of a connection or a time limit, in what became of it.
fn http_error(error: &object_store::Error) -> Option<&HttpError> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<HttpError>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The path of an object as the store's own tools write it too: `é` and `#` are themselves. What they cannot write is encoded.
fn object_path(path: &str) -> ObjectPath {
    ObjectPath::parse(path).unwrap_or_else(|_| ObjectPath::from(path))
}

/// The result of putting an object on a condition.
#[derive(Debug)]
pub(crate) enum Put {
    Done(UpdateVersion),
    /// The condition does not hold.
    Refused,
}

impl Store {
    /// Opens the store; nothing is asked of it yet.
    ///
    /// # Errors
    /// If what its own tools' variables and files say of it cannot be used.
    pub(crate) fn open(address: &Address, patience: Patience) -> Result<Self> {
        let (max_retries, seconds) = match patience {
            Patience::Short => (3, 10),
            Patience::Long => (8, 30),
        };
        let retry = RetryConfig {
            backoff: BackoffConfig { max_backoff: Duration::from_secs(5), ..BackoffConfig::default() },
            max_retries,
            retry_timeout: Duration::from_secs(seconds),
        };
        // An error's words have its causes in them.
        let refused = |error| anyhow!("cannot open {address}{}: {error}", hint(address.scheme));
        let client: Arc<dyn ObjectStore> = match address.scheme {
            Scheme::S3 => {
                let builder = aws(AmazonS3Builder::new().with_http_connector(Connector))?;
                Arc::new(builder.with_bucket_name(&address.bucket).with_retry(retry).build().map_err(refused)?)
            }
            Scheme::Az => {
                let builder = azure(MicrosoftAzureBuilder::new().with_http_connector(Connector))?;
                Arc::new(builder.with_container_name(&address.bucket).with_retry(retry).build().map_err(refused)?)
            }
        };
        Ok(Self { client, address: address.clone() })
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    fn path(&self, name: &str) -> ObjectPath {
        object_path(&format!("{}/{name}", self.address.path))
    }

    /// An error of the store, with what was tried.
    fn tried<T>(&self, what: &str, name: &str, result: object_store::Result<T>) -> Result<T> {
        let slash = if name.is_empty() { "" } else { "/" };
        // Its words have their causes in them.
        let words = |error: &str| match words::of_store(error) {
            (said, Some(remedy)) => format!(": {said}: {remedy}"),
            (said, None) => format!("{}: {said}", hint(self.address.scheme)),
        };
        result.map_err(|error| {
            let said = format!("cannot {what} {}{slash}{name}{}", self.address, words(&error.to_string()));
            if is_away(&error) { Away(said).into() } else { anyhow!(said) }
        })
    }

    /// The objects of the folder, by name.
    pub(crate) async fn list(&self) -> Result<Vec<Object>> {
        let prefix = object_path(&self.address.path);
        let found: object_store::Result<Vec<_>> = self.client.list(Some(&prefix)).try_collect().await;
        let found = self.tried("list", "", found)?;
        let below =
            |path: &ObjectPath| path.as_ref().strip_prefix(prefix.as_ref())?.strip_prefix('/').map(str::to_owned);
        let mut objects: Vec<Object> = found
            .iter()
            .filter_map(|meta| {
                let version = meta.e_tag.clone().unwrap_or_else(|| meta.last_modified.to_rfc3339());
                Some(Object { name: below(&meta.location)?, version, bytes: meta.size })
            })
            .collect();
        // The stores' own tools mark a folder by an empty object, whose last slash the client takes away.
        let mut folders = HashSet::new();
        for object in &objects {
            folders.extend(object.name.match_indices('/').map(|(end, _)| object.name[..end].to_owned()));
        }
        objects.retain(|object| object.bytes > 0 || !folders.contains(&object.name));
        objects.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(objects)
    }

    /// The folders directly below another one.
    pub(crate) async fn folders(&self, below: &str) -> Result<Vec<String>> {
        let prefix = Some(object_path(below)).filter(|path| !path.as_ref().is_empty());
        let found = self.tried("list", "", self.client.list_with_delimiter(prefix.as_ref()).await)?;
        Ok(found.common_prefixes.iter().map(|path| path.as_ref().to_owned()).collect())
    }

    /// The bytes of an object that was listed. It has the length that the listing says: what a gateway answers in the place of
    /// the store is not taken for records, and put there as such.
    pub(crate) async fn get_listed(&self, object: &Object) -> Result<Vec<u8>> {
        let found = self.get_within(&object.name, object.bytes).await?;
        match found {
            Some((bytes, _)) if bytes.len() as u64 == object.bytes => Ok(bytes),
            _ => Err(Changed(format!("{}/{}", self.address, object.name)).into()),
        }
    }

    /// The bytes of a small object; `None` if there is none.
    pub(crate) async fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.get_version(name).await?.map(|(bytes, _)| bytes))
    }

    /// The bytes of a small object with its version; `None` if there is none.
    pub(crate) async fn get_version(&self, name: &str) -> Result<Option<(Vec<u8>, UpdateVersion)>> {
        let found = self.get_within(name, MAX_SMALL).await?;
        if found.as_ref().is_some_and(|(bytes, _)| bytes.len() as u64 > MAX_SMALL) {
            bail!("{}/{name} has more than {} MiB, and closeread writes no such one", self.address, MAX_SMALL >> 20);
        }
        Ok(found)
    }

    /// The bytes of an object, no more than a piece behind `most` of them, and its version; `None` if there is none.
    async fn get_within(&self, name: &str, most: u64) -> Result<Option<(Vec<u8>, UpdateVersion)>> {
        let got = async {
            let got = self.client.get(&self.path(name)).await?;
            let version = UpdateVersion { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
            let (mut stream, mut bytes) = (got.into_stream(), Vec::new());
            while let Some(piece) = stream.try_next().await? {
                bytes.extend_from_slice(&piece);
                if bytes.len() as u64 > most {
                    break;
                }
            }
            Ok((bytes, version))
        };
        match got.await {
            Ok(found) => Ok(Some(found)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => self.tried("read", name, Err(error)),
        }
    }

    /// Puts an object, and gives its version as a listing does.
    pub(crate) async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<String> {
        let put = self.client.put(&self.path(name), PutPayload::from(bytes)).await;
        Ok(self.tried("write", name, put)?.e_tag.unwrap_or_default())
    }

    /// Puts an object if there is none, or if it is still that of `version`.
    pub(crate) async fn put_if(&self, name: &str, bytes: Vec<u8>, version: Option<&UpdateVersion>) -> Result<Put> {
        let mode = version.map_or(PutMode::Create, |version| PutMode::Update(version.clone()));
        let (path, payload) = (self.path(name), PutPayload::from(bytes));
        let put = || self.client.put_opts(&path, payload.clone(), PutOptions::from(mode.clone()));
        let mut done = put().await;
        // It may have been put, and the reply lost: whoever puts looks whether what is there then is its own.
        let no_answer = |kind| matches!(kind, HttpErrorKind::Timeout | HttpErrorKind::Interrupted);
        if done.as_ref().is_err_and(|error| http_error(error).is_some_and(|error| no_answer(error.kind()))) {
            done = put().await;
        }
        match done {
            Ok(done) => Ok(Put::Done(done.into())),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                Ok(Put::Refused)
            }
            Err(error) => self.tried("write", name, Err(error)),
        }
    }

    /// Removes an object; there may be none.
    pub(crate) async fn remove(&self, name: &str) -> Result<()> {
        match self.client.delete(&self.path(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => self.tried("remove", name, Err(error)),
        }
    }
}

/// Returns a hint on where the store's credentials are looked for, which is what most often lacks.
fn hint(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => {
            " (keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE and ~/.aws, or the machine's role; \
             the region from AWS_REGION, a server of one's own from AWS_ENDPOINT_URL)"
        }
        Scheme::Az => {
            " (the account comes from AZURE_STORAGE_ACCOUNT_NAME, and AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_TOKEN or the \
             machine's identity; a server of one's own from AZURE_STORAGE_ENDPOINT)"
        }
    }
}

/// Looks up what the variables leave open in the files of Amazon's own tools: keys and region of the profile. A server
/// that is named by `http://` needs no further word.
fn aws(mut builder: AmazonS3Builder) -> Result<AmazonS3Builder> {
    use AmazonS3ConfigKey as Key;
    for (name, value) in variables("AWS_") {
        if let Ok(key) = name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
    let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
    let files = [
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials", profile.clone()),
        ("AWS_CONFIG_FILE", "config", if profile == "default" { profile } else { format!("profile {profile}") }),
    ];
    for (variable, name, section) in files {
        let own = home.as_ref().map(|home| home.join(".aws").join(name));
        let Some(path) = self::variable(variable).map(PathBuf::from).or(own) else { continue };
        // What cannot be read is not there: the store says what it lacks.
        let Ok(file) = Ini::load_from_file(path) else { continue };
        let Some(section) = file.section(Some(section)) else { continue };
        let has_keys = builder.get_config_value(&Key::AccessKeyId).is_some();
        for (name, value) in section.iter() {
            let Ok(key) = name.to_ascii_lowercase().parse::<Key>() else { continue };
            let is_secret = matches!(key, Key::AccessKeyId | Key::SecretAccessKey | Key::Token);
            let is_known =
                matches!(key, Key::Region | Key::DefaultRegion | Key::Endpoint | Key::S3Endpoint) || is_secret;
            if is_known && !(is_secret && has_keys) && builder.get_config_value(&key).is_none() {
                builder = builder.with_config(key, value);
            }
        }
    }
    let endpoint = [Key::S3Endpoint, Key::Endpoint].iter().find_map(|key| builder.get_config_value(key));
    let is_plain = is_plain(endpoint, "AWS_ENDPOINT_URL")?;
    Ok(if is_plain { builder.with_allow_http(true) } else { builder })
}

/// A server that is named by `http://` needs no further word.
fn azure(mut builder: MicrosoftAzureBuilder) -> Result<MicrosoftAzureBuilder> {
    for (name, value) in variables("AZURE_") {
        if let Ok(key) = name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    if let Some(endpoint) = variable("IDENTITY_ENDPOINT") {
        builder = builder.with_msi_endpoint(endpoint);
    }
    let endpoint = builder.get_config_value(&AzureConfigKey::Endpoint);
    let is_plain = is_plain(endpoint, "AZURE_STORAGE_ENDPOINT")?;
    Ok(if is_plain { builder.with_allow_http(true) } else { builder })
}

/// Returns whether a server is named by `http://`. A name without a scheme is refused: the client would break down on it.
fn is_plain(endpoint: Option<String>, variable: &str) -> Result<bool> {
    let Some(endpoint) = endpoint else { return Ok(false) };
    match Url::parse(&endpoint) {
        Ok(url) if url.has_host() && matches!(url.scheme(), "http" | "https") => Ok(url.scheme() == "http"),
        _ => bail!("{variable} is {}: expected http://HOST:PORT or https://HOST", without_credentials(&endpoint)),
    }
}

/// The variables whose names begin so. An empty one counts as unset, as in the stores' own tools.
fn variables(prefix: &str) -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).filter(move |(name, value)| name.starts_with(prefix) && !value.is_empty())
}

/// A variable that is not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
