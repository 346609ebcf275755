//! `closeread doctor`: what closeread has here, what it lacks, and how to get it.

use anyhow::Result;
use closeread_files as files;
use closeread_providers::{PROVIDERS, check_address, http, keys, without_credentials};
use closeread_runner::embedder::graphics_processor;
use closeread_runner::models::rerankers;
use closeread_runner::{cache, models, pricing};
use closeread_serve::Page;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Longest that a server is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Features that a build may lack: what each gives, and whether this build has it.
const FEATURES: [(&str, &str, bool); 5] = [
    ("gpu", "embedding on a graphics processor", cfg!(feature = "gpu")),
    ("object-stores", "run folders and benchmarks in object stores", cfg!(feature = "object-stores")),
    ("parquet", "exports and the table of `build corpusqa` as Parquet", cfg!(feature = "parquet")),
    ("pdf", "PDF files among the documents of `build corpusqa`", cfg!(feature = "pdf")),
    ("tract", "embedding models of other families than BERT's", cfg!(feature = "tract")),
];

/// Check what is installed and which servers can be reached
///
/// Asks every provider's server for its front page, without a key. Exit code 1 if something is broken, such as a model
/// that cannot be read, or a provider with a key that cannot be reached.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Address of a server of your own to try as well, up to and including /v1
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Ask no server
    #[arg(long)]
    offline: bool,
    /// Print [{"about", "name", "state", "said"}], with state ok, absent or broken
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Ok,
    /// The thing is not there, which most runs can do without.
    Absent,
    Broken,
}

struct Finding {
    about: &'static str,
    name: String,
    state: State,
    said: String,
}

fn finding(about: &'static str, name: impl Into<String>, state: State, said: impl Into<String>) -> Finding {
    Finding { about, name: name.into(), state, said: said.into() }
}

/// Looks at the installation and prints the findings.
pub(crate) async fn run(args: &DoctorArgs) -> Result<ExitCode> {
    let mut findings = build();
    findings.extend(installed()?);
    findings.extend(folders());
    findings.extend(providers(args).await?);
    if args.json {
        let state = |state| match state {
            State::Ok => "ok",
            State::Absent => "absent",
            State::Broken => "broken",
        };
        let rows = findings
            .iter()
            .map(|one| json!({"about": one.about, "name": one.name, "state": state(one.state), "said": one.said}));
        outln!("{}", Value::Array(rows.collect()));
    } else {
        let mut about = "";
        for one in &findings {
            if one.about != about {
                outln!("{}{}", if about.is_empty() { "" } else { "\n" }, one.about);
                about = one.about;
            }
            let mark = match one.state {
                State::Ok => "ok     ",
                State::Absent => "absent ",
                State::Broken => "BROKEN ",
            };
            outln!("  {mark} {:22} {}", one.name, one.said);
        }
    }
    let broken = findings.iter().any(|one| one.state == State::Broken);
    Ok(if broken { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Returns findings on the program itself.
fn build() -> Vec<Finding> {
    const ABOUT: &str = "program";
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let mut found = vec![finding(ABOUT, format!("closeread {}", env!("CARGO_PKG_VERSION")), State::Ok, system)];
    found.extend(FEATURES.map(|(name, gives, has)| match has {
        true => finding(ABOUT, name, State::Ok, gives),
        false => finding(ABOUT, name, State::Absent, format!("{gives}: build with --features {name}")),
    }));
    found.push(match Page::find(None) {
        Ok(page) => finding(ABOUT, "page", State::Ok, page.place()),
        Err(error) => finding(ABOUT, "page", State::Absent, format!("{error:#}")),
    });
    found.push(match graphics_processor() {
        Some(Ok(name)) => finding(ABOUT, "graphics processor", State::Ok, name),
        Some(Err(why)) => finding(ABOUT, "graphics processor", State::Absent, why),
        None => finding(ABOUT, "graphics processor", State::Absent, "this build cannot use one"),
    });
    found
}

fn installed() -> Result<Vec<Finding>> {
    const ABOUT: &str = "embedding models";
    let dir = models::models_dir()?;
    let models = models::installed(&dir)?.into_iter().map(|model| match model {
        Ok(model) => finding(ABOUT, model.spec.name.clone(), State::Ok, model.place()),
        Err(error) => finding(ABOUT, "unreadable", State::Broken, format!("{error:#}")),
    });
    let rerankers = rerankers::installed_rerankers(&dir)?.into_iter().map(|model| match model.max_tokens() {
        Ok(max_tokens) => {
            let said = format!("{} ({max_tokens} tokens)", model.place());
            finding("rerankers", model.name.clone(), State::Ok, said)
        }
        Err(error) => finding("rerankers", model.name.clone(), State::Broken, format!("{error:#}")),
    });
    Ok(models.chain(rerankers).collect())
}

/// Returns where closeread keeps things, and how much there is.
fn folders() -> Vec<Finding> {
    const ABOUT: &str = "folders";
    let sized = |name: &str, folder: &Path| match size(folder) {
        Ok((0, _)) => finding(ABOUT, name, State::Ok, format!("{} (nothing there)", folder.display())),
        Ok((n, bytes)) => {
            finding(ABOUT, name, State::Ok, format!("{} ({n} files, {} KB)", folder.display(), bytes.div_ceil(1000)))
        }
        Err(error) => finding(ABOUT, name, State::Broken, format!("{error:#}")),
    };
    let nowhere = |name: &str| finding(ABOUT, name, State::Absent, "this system has no place for it");
    let mut found = Vec::new();
    match cache::cache_folder() {
        Some(folder) => found.extend(["responses", "vectors", "scores"].map(|name| sized(name, &folder.join(name)))),
        None => found.push(nowhere("cache")),
    }
    found.push(match pricing::config_folder() {
        Some(folder) => sized("configuration", &folder),
        None => nowhere("configuration"),
    });
    found
}

/// Files below a folder and their bytes.
fn size(folder: &Path) -> Result<(usize, u64)> {
    let (mut n, mut bytes) = (0, 0);
    for path in files::entries(folder)? {
        let facts = path.symlink_metadata()?;
        let (more, larger) = if facts.is_dir() { size(&path)? } else { (1, facts.len()) };
        (n, bytes) = (n + more, bytes + larger);
    }
    Ok((n, bytes))
}

/// Keys, and servers that answer.
async fn providers(args: &DoctorArgs) -> Result<Vec<Finding>> {
    const ABOUT: &str = "providers";
    let keys = keys()?;
    let own = args.base_url.as_deref();
    if let Some(url) = own {
        check_address(url, "--base-url")?;
    }
    let asked = PROVIDERS.iter().map(async |provider| {
        let key = keys.place(provider).map(|(variable, _)| variable);
        let with_key = match key {
            Some(variable) => format!("key in {variable}"),
            None => format!("no key; set {}", provider.variables.join(" or ")),
        };
        let Some(url) = provider.base_url().or(own) else {
            let said = format!("{}; name its address by --base-url", with_key);
            return finding(ABOUT, provider.name, State::Absent, said);
        };
        let is_own = provider.base_url().is_none();
        if args.offline {
            let state = if key.is_some() || is_own { State::Ok } else { State::Absent };
            return finding(ABOUT, provider.name, state, format!("{with_key}; not asked"));
        }
        let (answers, said) = match reached(url).await {
            Ok(()) => (true, format!("{} answers", without_credentials(url))),
            Err(why) => (false, format!("{} does not answer: {why}", without_credentials(url))),
        };
        let state = match (answers, key.is_some() || is_own) {
            (true, true) => State::Ok,
            (false, true) => State::Broken,
            (_, false) => State::Absent,
        };
        finding(ABOUT, provider.name, state, format!("{with_key}; {said}"))
    });
    Ok(join_all(asked).await)
}

/// Returns whether anything answers there, whatever it says.
async fn reached(url: &str) -> Result<(), String> {
    let client = http::client_to(url).timeout(PATIENCE).build().map_err(|error| error.without_url().to_string())?;
    match client.get(url).send().await {
        Ok(response) if response.status().as_u16() == 407 => Err(wants_login()),
        Ok(_) => Ok(()),
        Err(error) if error.is_timeout() => Err(format!("nothing within {} s", PATIENCE.as_secs())),
        Err(error) => {
            let error = error.without_url();
            let causes = std::iter::successors(std::error::Error::source(&error), |cause| cause.source());
            let cause = causes.last().map_or_else(|| error.to_string(), ToString::to_string);
            // What hyper-util makes of a proxy that wants a password before it leads to a server.
            Err(if cause.contains("proxy authorization required") { wants_login() } else { cause })
        }
    }
}

fn wants_login() -> String {
    format!("the proxy before it wants a login; {}", http::PROXY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_of_a_full_build_is_told_of() {
        let manifest: toml::Table = include_str!("../../Cargo.toml").parse().unwrap();
        let full: Vec<&str> =
            manifest["features"]["full"].as_array().unwrap().iter().filter_map(toml::Value::as_str).collect();
        assert_eq!(full, FEATURES.map(|(name, ..)| name));
    }
}
