//! The command `closeread export otlp`.

use super::{exit_code, open, trials};
use anyhow::{Context, Result, bail};
use closeread_export::otlp::{Batch, PATH, rejected};
use closeread_export::{About, Row};
use closeread_llm::provider::Secret;
use closeread_providers::http;
use closeread_providers::{Address, Secrets, without_credentials};
use closeread_runner::finished::{NamedFolder, Streamed};
use closeread_table::number::thousands;
use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use std::borrow::Cow;
use std::process::ExitCode;
use std::time::Duration;
use tracing::{info, warn};

/// Spans of a request; a receiver refuses bodies that are too large.
const SPANS: usize = 512;
/// Most bytes of an answer that are read for its words.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// Shortest word of a header's value that can be a key.
const SHORTEST_KEY: usize = 8;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run folders; NAME is the run's name in the export
    #[arg(value_name = "RUN[=NAME]", required = true)]
    runs: Vec<NamedFolder>,
    /// Address of the receiver, to which /v1/traces is added [default: $OTEL_EXPORTER_OTLP_ENDPOINT]
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// A header of every request; put a key into $OTEL_EXPORTER_OTLP_HEADERS, which other users cannot see
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<String>,
}

pub(super) async fn run(args: Args) -> Result<ExitCode> {
    let given = args.endpoint.clone().or_else(|| variable("OTEL_EXPORTER_OTLP_ENDPOINT"));
    let endpoint = given.context("no receiver: name its address by --endpoint, such as http://localhost:5000")?;
    let url = receiving(&endpoint)?;
    let of_environment = variable("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
    let listed = of_environment.split(',').filter(|header| !header.trim().is_empty());
    let listed: Vec<String> = listed.map(unescaped).collect();
    let headers = headers(listed.iter().chain(&args.header).map(String::as_str))?;
    // Headers may hold keys: they go to the address that was given, and to none that it points to.
    let client = http::client_to(url.as_str()).timeout(Duration::from_secs(60)).redirect(Policy::none());
    let client = client.build().context("cannot make an HTTP client")?;
    let words = headers.values().filter_map(|value| value.to_str().ok()).flat_map(str::split_whitespace);
    let keys: Vec<Secret> = words.filter(|word| word.len() >= SHORTEST_KEY).map(Secret::new).collect();
    let secrets = Secrets::of(&keys, &Address::new(url.as_str(), "--endpoint")?);
    let receiver = Receiver { client, url, headers, secrets };
    let (mut complete, mut sent, mut refused) = (true, 0, 0);
    let mut count = |(taken, left): (u64, u64)| (sent += taken, refused += left);
    for folder in &args.runs {
        let mut streamed = open(folder)?;
        complete &= streamed.lacks.is_empty();
        let mut clock = streamed.created;
        for arm in streamed.run.plan.clone() {
            let cell = trials(&mut streamed, &arm)?;
            let Streamed { run, stored, .. } = &mut streamed;
            let mut batch = Batch::new(About { run, created: clock, version: env!("CARGO_PKG_VERSION") });
            for trial in &cell.trials {
                let Some(place) = trial.record else { continue };
                let record = stored.read(run, place)?;
                batch.add(&cell, &Row { item: &run.items[trial.item], record: &record, trial });
                if batch.len() >= SPANS {
                    count(receiver.post(&mut batch).await?);
                }
            }
            count(receiver.post(&mut batch).await?);
            clock = batch.ended();
        }
    }
    info!("{} spans sent to {}", thousands(sent), receiver.shown());
    Ok(exit_code(complete && refused == 0))
}

/// The address that spans go to: the path is added to the receiver's own, unless it is there.
fn receiving(endpoint: &str) -> Result<Url> {
    let mut url = Url::parse(endpoint).context("the receiver's address does not parse: expected http://HOST:PORT")?;
    let path = url.path().trim_end_matches('/').to_owned();
    if !path.ends_with(PATH) {
        url.set_path(&format!("{path}/{PATH}"));
    }
    Ok(url)
}

struct Receiver {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    secrets: Secrets,
}

impl Receiver {
    /// Returns the receiver's address without what may be a key.
    fn shown(&self) -> String {
        without_credentials(self.url.as_str())
    }

    /// Sends the spans that wait, again if the receiver is busy; returns how many it took, and how many it did not.
    async fn post(&self, batch: &mut Batch<'_>) -> Result<(u64, u64)> {
        let n = batch.len() as u64;
        if n == 0 {
            return Ok((0, 0));
        }
        let body = batch.take();
        let mut pause = Duration::from_millis(500);
        loop {
            let request = self.client.post(self.url.clone()).headers(self.headers.clone());
            let answer = request.header(CONTENT_TYPE, "application/x-protobuf").body(body.clone()).send().await;
            let answer = answer.map_err(|error| anyhow::anyhow!("{}", error.without_url()));
            let answer =
                answer.with_context(|| format!("{} cannot be reached: is the receiver running?", self.shown()))?;
            let status = answer.status();
            if status.is_success() {
                let bytes = http::body_within(answer, MAX_ANSWER_BYTES).await.unwrap_or_default();
                if bytes.trim_ascii_start().starts_with(b"<") {
                    bail!(
                        "{} answered {status} with a web page, as no receiver of spans does: give another address by --endpoint",
                        self.shown()
                    );
                }
                let Some((left, why)) = rejected(&bytes) else { return Ok((n, 0)) };
                let (left, why) = (left.min(n), self.secrets.redact(&why));
                let why: String = why.chars().take(300).collect();
                warn!("{} did not take {} of {} spans: {why}", self.shown(), thousands(left), thousands(n));
                return Ok((n - left, left));
            }
            let is_busy = matches!(status.as_u16(), 429 | 502 | 503 | 504);
            if !is_busy || pause > Duration::from_secs(30) {
                let said = match answer.headers().get(LOCATION) {
                    Some(_) => "it sends us to another address: give that by --endpoint".to_owned(),
                    None => {
                        let bytes = http::body_within(answer, MAX_ANSWER_BYTES).await.unwrap_or_default();
                        self.secrets.redact(&String::from_utf8_lossy(&bytes)).chars().take(300).collect()
                    }
                };
                bail!("{} answered {status}: {said}", self.shown());
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }
}

/// A header of OpenTelemetry's variable, whose values are percent-encoded as in W3C's baggage: `Basic%20...` is `Basic ...`.
fn unescaped(header: &str) -> String {
    percent_decode_str(header).decode_utf8().map_or_else(|_| header.to_owned(), Cow::into_owned)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn headers<'a>(given: impl Iterator<Item = &'a str>) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for header in given {
        // What stands behind the name may be a key: it is in no message.
        let Some((name, value)) = header.split_once('=') else {
            bail!("a header is no NAME=VALUE: expected one such as x-mlflow-experiment-id=1")
        };
        let name: HeaderName =
            name.trim().parse().with_context(|| format!("`{}` is no name of a header", name.trim()))?;
        let mut value = HeaderValue::from_str(value.trim())
            .map_err(|_| anyhow::anyhow!("the value of the header {name} holds what no header can hold"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn a_header_of_the_environment_is_percent_encoded() {
        assert_eq!(unescaped("Authorization=Basic%20cGs6c2s%3D"), "Authorization=Basic cGs6c2s=");
        for as_it_is in ["wandb-api-key=geheim", "x=100%", "x=%zz", "x=%+1", "x=%ff"] {
            assert_eq!(unescaped(as_it_is), as_it_is);
        }
    }
}
