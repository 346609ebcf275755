//! The providers, and the keys for them: from the environment, or from a file `.env`. Keys appear nowhere else.

pub(crate) mod elsewhere;

use anyhow::{Context, Result, bail};
use closeread_eval::saved::utf8;
use closeread_llm::constrain::Constraint;
use closeread_llm::provider::{Dialect, Protocol, Secret, TokenLimit, without_likely_keys};
use closeread_llm::reasoning::{Reasoning, Server};
use closeread_methods::reader::EXTRACTIVE;
use closeread_text::names::meant;
use serde_json::{Map, Value};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Once;
use tracing::{info, warn};

/// A provider of models.
#[derive(Debug)]
pub struct Provider {
    /// Name of the provider, before the slash of a model's name.
    pub name: &'static str,
    /// Protocol that the provider speaks.
    pub protocol: Protocol,
    /// Variables in which its key is looked for, first come first served.
    pub variables: &'static [&'static str],
    /// Field for the limit of tokens that its models are asked with before they refuse anything.
    pub token_limit: TokenLimit,
    /// False where there is no address but the user's.
    hosted: bool,
}

/// Every provider, in the order in which help lists them.
pub static PROVIDERS: [Provider; 4] = [
    Provider {
        name: "openai",
        protocol: Protocol::OpenAi,
        variables: &["OPENAI_API_KEY"],
        token_limit: TokenLimit::MaxCompletionTokens,
        hosted: true,
    },
    Provider {
        name: "anthropic",
        protocol: Protocol::Anthropic,
        variables: &["ANTHROPIC_API_KEY"],
        token_limit: TokenLimit::MaxTokens,
        hosted: true,
    },
    Provider {
        name: "gemini",
        protocol: Protocol::Gemini,
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        token_limit: TokenLimit::MaxTokens,
        hosted: true,
    },
    Provider {
        name: "openai-compatible",
        protocol: Protocol::OpenAi,
        variables: &["OPENAI_COMPATIBLE_API_KEY"],
        token_limit: TokenLimit::MaxTokens,
        hosted: false,
    },
];

impl Provider {
    /// Returns the provider's own address, where it has one.
    pub fn base_url(&self) -> Option<&'static str> {
        self.hosted.then(|| self.protocol.default_base_url())
    }

    /// Returns the dialect in which its models are asked at first.
    pub fn dialect(&self) -> Dialect {
        Dialect { token_limit: self.token_limit, ..Dialect::default() }
    }
}

/// A model of a provider, with address and key.
#[derive(Debug, Clone)]
pub struct Account {
    /// Provider of the model.
    pub provider: &'static Provider,
    /// Name of the model at the provider.
    pub model: String,
    /// Address that requests go to.
    pub base_url: Address,
    /// The key, where there is one.
    pub key: Option<Secret>,
}

/// The address that requests go to. It may hold a user, a password or a key, which only [`Address::reveal`] shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// The address that an option gives.
    ///
    /// # Errors
    /// If no request can go there. It is not repeated: it may hold a key.
    pub fn new(url: &str, option: &str) -> Result<Self> {
        check_address(url, option)?;
        Ok(Self(with_one_slash(url)))
    }

    /// The address itself, for requests and nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The address without user, password, query and fragment.
    pub fn shown(&self) -> String {
        without_credentials(&self.0)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

/// The variables of the environment and of `.env`; the environment wins.
pub struct Keys {
    file: HashMap<String, String>,
}

/// Most bytes of a `.env`, 1 MiB.
const MAX_ENV_BYTES: u64 = 1 << 20;

/// Reads `.env` of the working folder, or of a folder above it, where there is one. Lines that it cannot read are named
/// once, and skipped.
pub fn keys() -> Result<Keys> {
    static SAID: Once = Once::new();
    let folder = std::env::current_dir().unwrap_or_default();
    // A folder of that name is an environment of Python's.
    let is_there = |path: &PathBuf| !path.is_dir() && path.symlink_metadata().is_ok();
    let Some(path) = folder.ancestors().map(|folder| folder.join(".env")).find(is_there) else {
        return Ok(Keys { file: HashMap::new() });
    };
    if !path.is_file() {
        SAID.call_once(|| {
            info!(
                "{}: skipped: it is a pipe, a device or a link to nothing, expected a file of lines NAME=VALUE; \
                 write one, or set the keys in the environment",
                path.display()
            );
        });
        return Ok(Keys { file: HashMap::new() });
    }
    let bytes = closeread_files::read_file_within(&path, MAX_ENV_BYTES)
        .with_context(|| format!("{} cannot be read; correct its rights or remove it", path.display()))?;
    let (file, odd) = variables(&String::from_utf8_lossy(&utf8(&bytes)));
    SAID.call_once(|| {
        for line in odd {
            // The line itself is not repeated: it can hold a key.
            info!("{}:{line}: skipped, expected NAME=VALUE", path.display());
        }
        let unread = unread(&file);
        if !unread.is_empty() {
            warn!("{}: only keys are read from it: set {} in the environment", path.display(), unread.join(", "));
        }
    });
    Ok(Keys { file })
}

/// Variables of closeread in a `.env` that the environment does not set. A limit there, unread, would be missed on the bill alone.
fn unread(file: &HashMap<String, String>) -> Vec<&str> {
    let ours = |name: &&str| name.starts_with("CLOSEREAD_") && std::env::var_os(name).is_none();
    let mut names: Vec<&str> = file.keys().map(String::as_str).filter(ours).collect();
    names.sort_unstable();
    names
}

/// The variables of a `.env`, and the numbers of the lines that are none.
fn variables(text: &str) -> (HashMap<String, String>, Vec<usize>) {
    // White space at the end of a line is no part of a value, which dotenvy takes for a second one.
    let ended = |line: &str| line.trim_end().to_owned() + if line.ends_with('\n') { "\n" } else { "" };
    let text: String = text.trim_start_matches('\u{feff}').split_inclusive('\n').map(ended).collect();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut file, mut odd, mut start) = (HashMap::new(), Vec::new(), 0);
    while start < lines.len() {
        let read = Rc::new(Cell::new(start));
        let from = std::mem::replace(&mut start, lines.len());
        for variable in dotenvy::from_read_iter(Lines { lines: &lines[from..], at: 0, read: Rc::clone(&read) }) {
            match variable {
                Ok((name, value)) => {
                    file.insert(name, value);
                }
                Err(error) => {
                    // A quote that nobody closes takes all lines to the end: only the first of them is odd.
                    let taken = match &error {
                        dotenvy::Error::LineParse(taken, _) => taken.lines().count().max(1),
                        _ => 1,
                    };
                    start = read.get() - taken + 1;
                    odd.push(start);
                    break;
                }
            }
        }
    }
    (file, odd)
}

/// Lines that are handed out one at a time, and counted.
struct Lines<'a> {
    lines: &'a [&'a str],
    /// Bytes of the first line that were handed out.
    at: usize,
    read: Rc<Cell<usize>>,
}

impl Read for Lines<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let Some((line, rest)) = self.lines.split_first() else { return Ok(0) };
        let n = (&line.as_bytes()[self.at..]).read(to)?;
        self.at += n;
        if self.at == line.len() {
            (self.lines, self.at) = (rest, 0);
            self.read.set(self.read.get() + 1);
        }
        Ok(n)
    }
}

impl Keys {
    /// Returns the first of these variables' keys.
    ///
    /// # Errors
    /// If it holds what no header can.
    pub(crate) fn fit_for_a_header(&self, variables: &[&'static str]) -> Result<Option<Secret>> {
        let Some((variable, key)) = self.first_of(variables) else { return Ok(None) };
        if !key.reveal().bytes().all(|byte| byte.is_ascii_graphic()) {
            bail!(
                "the key in {variable} holds a space, a line break or another character that no key has: copy it again"
            );
        }
        Ok(Some(key))
    }

    /// The key for a provider and the variable that holds it.
    pub fn place(&self, provider: &Provider) -> Option<(&'static str, Secret)> {
        self.first_of(provider.variables)
    }

    /// Returns the first of these variables that is set; an empty one is not.
    pub fn first_of(&self, variables: &[&'static str]) -> Option<(&'static str, Secret)> {
        let in_environment = |name: &str| std::env::var(name).ok();
        variables.iter().find_map(|&variable| {
            let value = self.value(variable, in_environment)?;
            Some((variable, Secret::new(value)))
        })
    }

    /// The value of a variable without the white space around it: that of the environment, else that of the file.
    fn value(&self, variable: &str, in_environment: impl Fn(&str) -> Option<String>) -> Option<String> {
        let places = [in_environment(variable), self.file.get(variable).cloned()];
        places.into_iter().flatten().map(|value| value.trim().to_owned()).find(|value| !value.is_empty())
    }
}

/// Refuses a name that no provider serves, without looking for keys and addresses.
pub fn check_name(name: &str) -> Result<()> {
    let (prefix, model) = name.split_once('/').unwrap_or((name, ""));
    if name == EXTRACTIVE || (PROVIDERS.iter().any(|provider| provider.name == prefix) && !model.is_empty()) {
        return Ok(());
    }
    bail!("{}", unknown_model(name));
}

/// Names the providers there are; of a mistyped one the one that was meant.
fn unknown_model(name: &str) -> String {
    let prefix = name.split_once('/').map_or(name, |(prefix, _)| prefix);
    let meant = if name.contains('/') {
        meant(prefix, PROVIDERS.iter().map(|provider| provider.name).chain(["builtin"]))
    } else {
        String::new()
    };
    let names: Vec<String> = PROVIDERS.iter().map(|provider| format!("{}/MODEL", provider.name)).collect();
    format!("unknown model `{name}`{meant}: expected {EXTRACTIVE}, {} (the last with --base-url)", names.join(", "))
}

/// Returns whether a model's provider has no address but the user's.
pub fn needs_address(name: &str) -> bool {
    let prefix = name.split_once('/').map_or(name, |(prefix, _)| prefix);
    PROVIDERS.iter().any(|provider| provider.name == prefix && provider.base_url().is_none())
}

/// Returns the fields by which a model is asked for this much reasoning.
///
/// # Errors
/// If it is known that the model cannot.
pub fn reasoning_fields(name: &str, asked: Reasoning) -> Result<Map<String, Value>> {
    let (prefix, model) = name.split_once('/').unwrap_or((name, ""));
    let Some(provider) = PROVIDERS.iter().find(|provider| provider.name == prefix) else {
        match asked {
            Reasoning::Off => return Ok(Map::new()),
            _ => bail!("--reasoning {asked}: {name} does not reason: leave the option out, or say off"),
        }
    };
    let server = match provider.protocol {
        Protocol::OpenAi if provider.hosted => Server::OpenAi,
        Protocol::OpenAi => Server::ChatTemplate,
        Protocol::Anthropic => Server::Anthropic,
        Protocol::Gemini => Server::Gemini,
    };
    Ok(asked.fields(server, model)?)
}

/// Refuses to hold a model's responses by what its server does not know.
///
/// # Errors
/// For a model of a provider whose servers are known not to.
pub fn check_constraint(name: &str, asked: Constraint) -> Result<()> {
    let prefix = name.split_once('/').map_or(name, |(prefix, _)| prefix);
    let provider = PROVIDERS.iter().find(|provider| provider.name == prefix);
    match provider.filter(|provider| !asked.fits(provider.protocol, provider.hosted)) {
        Some(provider) => bail!("--constrain {asked}: {} takes json alone", provider.name),
        None => Ok(()),
    }
}

/// Returns the limit that responses of a model have where none is asked for, because its provider's protocol must have
/// one; `maximum` is what the model can write, where that is known.
pub fn required_limit(name: &str, maximum: Option<u32>) -> Option<u32> {
    let prefix = name.split_once('/').map_or(name, |(prefix, _)| prefix);
    PROVIDERS.iter().find(|provider| provider.name == prefix)?.protocol.required_limit(maximum)
}

/// The account that a model's name asks for, its key found.
pub fn account(name: &str, base_url: Option<&str>) -> Result<Account> {
    let (prefix, model) = name.split_once('/').unwrap_or((name, ""));
    let Some(provider) = PROVIDERS.iter().find(|provider| provider.name == prefix) else {
        bail!("{}", unknown_model(name));
    };
    if model.is_empty() {
        bail!("model `{name}` names no model: expected {prefix}/MODEL");
    }
    let keys = keys()?;
    if let (None, Some(own)) = (base_url, provider.base_url()) {
        elsewhere::refuse_another(&keys, provider.name, own, "--base-url (a judge's by --judge-base-url)")?;
    }
    let Some(base_url) = base_url.or(provider.base_url()) else {
        bail!("model `{name}` needs --base-url, the server's address up to and including /v1");
    };
    let address = Address::new(base_url, "--base-url")?;
    let key = keys.fit_for_a_header(provider.variables)?;
    if key.is_none() && Some(base_url) == provider.base_url() {
        let variables = provider.variables.join(" or ");
        bail!("model `{name}` needs a key: set the environment variable {variables}, or write it into a file .env");
    }
    Ok(Account { provider, model: model.to_owned(), base_url: address, key })
}

/// Refuses an address that no request can go to. It is not repeated: it may hold a key.
pub fn check_address(url: &str, option: &str) -> Result<()> {
    let expected = "expected one that begins with http:// or https://, such as http://localhost:8000/v1";
    if url.trim().is_empty() {
        bail!("{option} is empty: {expected}");
    }
    match reqwest::Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Ok(()),
        Ok(parsed) if parsed.cannot_be_a_base() => bail!("{option} is no web address: {expected}"),
        Ok(parsed) => bail!("{option} is no web address, but one of `{}`: {expected}", parsed.scheme()),
        Err(error) => bail!("{option} is no web address ({error}): {expected}"),
    }
}

/// An address with one slash before its path: `http://host//v1`, as comes of an address that ends with one, is `http://host/v1`.
pub fn with_one_slash(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match path.starts_with("//") {
        true => format!("{scheme}://{host}/{}", path.trim_start_matches('/')),
        false => url.to_owned(),
    }
}

/// An address without user, password, query, fragment and keys in its path, with one slash before that and none at its end.
pub fn without_credentials(url: &str) -> String {
    match reqwest::Url::parse(&with_one_slash(url)) {
        Ok(mut parsed) => {
            // Both fail only for addresses that cannot hold credentials.
            let _ = parsed.set_username("");
            let _ = parsed.set_password(None);
            parsed.set_query(None);
            parsed.set_fragment(None);
            let path = parsed.path().trim_end_matches('/').to_owned();
            parsed.set_path(&path);
            without_likely_keys(parsed.as_str())
        }
        Err(_) => "an address that does not parse".to_owned(),
    }
}

#[cfg(test)]
mod tests;
