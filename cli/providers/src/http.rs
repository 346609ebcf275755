//! What every HTTP client here has in common: its beginning, and what responses and failures say.

use crate::account::without_credentials;
use anyhow::{Context as _, Result, bail};
use closeread_eval::rows::too_many_values;
use closeread_llm::HostError;
use closeread_llm::provider::{Fault, ServerLoad};
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use std::net::IpAddr;
use std::sync::Once;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tracing::warn;

/// What to do about a proxy that never passes requests on.
pub const PROXY: &str = "correct the proxy in http_proxy, https_proxy or all_proxy (http://USER:PASSWORD@HOST:PORT gives it a \
                         login), or add the server to no_proxy";

/// Variables that name proxies; of each pair the first that is set counts.
const PROXIES: [[&str; 2]; 3] =
    [["ALL_PROXY", "all_proxy"], ["HTTPS_PROXY", "https_proxy"], ["HTTP_PROXY", "http_proxy"]];

/// A client to be set up. What encrypts is ring; certificates are checked as the system checks them; bodies are left as
/// they come. No request tells from which address it was sent on: that may hold a key.
pub fn client() -> reqwest::ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error says that the process has a provider already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        warn_of_proxies();
    });
    reqwest::Client::builder().gzip(false).referer(false)
}

/// Warns of proxies that are no addresses: requests, and keys in them, go to their servers without.
fn warn_of_proxies() {
    for pair in PROXIES {
        let set = pair.into_iter().find_map(|name| Some((name, std::env::var(name).ok()?)));
        if let Some((name, _)) = set.filter(|(_, value)| !value.is_empty() && !is_proxy(value)) {
            let shape = "http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, in which %40 stands for @";
            warn!("{name} is ignored, and requests go without a proxy: its value is no address; expected {shape}");
        }
    }
}

/// Returns whether reqwest takes a value for the address of a proxy; others it passes over in silence.
fn is_proxy(value: &str) -> bool {
    const SOCKS: [&str; 4] = ["socks4", "socks4a", "socks5", "socks5h"];
    let ends = |c: char| ['/', '?', '#'].contains(&c);
    let (scheme, authority) = match value.split_once("://") {
        Some((scheme, rest)) => (scheme, rest.split(ends).next().unwrap_or_default()),
        None if value.contains(ends) => return false,
        None => ("http", value),
    };
    let is_http = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "!$&'()*+,-.:;=@[]_~%".contains(c);
    (is_http || SOCKS.contains(&scheme))
        && authority.chars().all(is_plain)
        && authority.matches('@').count() < 2
        && reqwest::Url::parse(&format!("http://{authority}")).is_ok()
}

/// A client as [`client`] makes it, for requests to `url`: to a server on this machine they go without the proxy of the
/// environment, which would carry them off.
pub fn client_to(url: &str) -> reqwest::ClientBuilder {
    if reqwest::Url::parse(url).is_ok_and(|url| is_on_this_machine(&url)) { client().no_proxy() } else { client() }
}

/// Whether an address names this machine itself.
pub fn is_on_this_machine(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// The body of a response of at most `most` bytes.
///
/// # Errors
/// If it is longer, or breaks off. The address is not in the error: it may hold a key.
pub async fn body_within(mut response: Response, most: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        if piece.len() > most - bytes.len() {
            bail!("the response is larger than {} MiB, and was not read to its end", most >> 20);
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// The JSON that a response of at most `most` bytes holds.
///
/// # Errors
/// As [`body_within`], if it is no JSON, and if its values would fill the memory.
pub async fn json_within(response: Response, most: usize) -> Result<Value> {
    let body = body_within(response, most).await?;
    match too_many_values(&body) {
        Some(why) => bail!("the response holds {why}"),
        None => serde_json::from_slice(&body).context("the response is no JSON"),
    }
}

/// Returns the time that the headers ask to wait. A date counts from the server's own, so that a clock that is wrong
/// here, or jumps, changes nothing.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let there = text("date").and_then(|date| httpdate::parse_http_date(date.trim()).ok());
    let now = seconds(there.unwrap_or_else(SystemTime::now));
    closeread_llm::provider::retry_after(text("retry-after"), text("retry-after-ms"), now)
}

/// The response, unless it points to another server or is that of a proxy that does not pass requests on; `option` names the
/// server's address.
pub(crate) fn arrived(response: Response, option: &str) -> Result<Response, Fault> {
    if response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
        let message = format!("the proxy answered 407, which means that it wants a password; {PROXY}");
        return Err(Fault::Closed(HostError::Failed(message)));
    }
    if response.status().is_redirection() { Err(redirected(&response, option)) } else { Ok(response) }
}

fn redirected(response: &Response, option: &str) -> Fault {
    let status = response.status().as_u16();
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let place = location.and_then(|location| response.url().join(location).ok());
    // The option wants what stands before the path of a call.
    let place = place.map(|place| without_credentials(place.as_str().trim_end_matches("/chat/completions")));
    let place = place.unwrap_or_else(|| "another address".to_owned());
    let message =
        format!("the server answered {status} and sends us to {place}: give the address it means by {option}");
    Fault::Final(HostError::Failed(message))
}

/// A connection that failed or timed out, in words, with its cause and without the address, which may hold a secret.
pub(crate) fn broken(error: reqwest::Error) -> Fault {
    let (timed_out, unreached, unsendable) = (error.is_timeout(), error.is_connect(), error.is_builder());
    let error = error.without_url();
    let mut text = if timed_out { "no response in time".to_owned() } else { error.to_string() };
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    let load = if unreached { ServerLoad::Unreached } else { ServerLoad::Connection };
    match never_works(&text) {
        Some(remedy) => Fault::Closed(HostError::Failed(format!("{text}; {remedy}"))),
        None if unsendable => Fault::Closed(HostError::Failed(text)),
        None => Fault::transient(load, text),
    }
}

/// Returns what to do about a connection that comes out the same however often it is tried.
fn never_works(words: &str) -> Option<&'static str> {
    if words.contains("invalid peer certificate") {
        let remedy = "the server's certificate is not trusted: add who signed it to the system's certificates, or give \
                      an http:// address";
        return Some(remedy);
    }
    // What hyper makes of an answer that does not begin as HTTP does.
    if words.contains("invalid HTTP version parsed") {
        return Some("the server does not speak HTTP: check host and port of its address, and whether it is https://");
    }
    // What hyper-util makes of a proxy that wants a password, and of one that it has no words for.
    if words.contains("proxy authorization required") || words.contains("unsupported scheme") {
        return Some(PROXY);
    }
    // What rustls makes of a server that answers without TLS.
    let no_tls = words.contains("corrupt message") || words.contains("InvalidContentType");
    no_tls.then_some("the server does not speak TLS: give its address with http://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn finding_09_json_of_very_many_values_is_refused_before_it_is_read() {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for body in [format!("[{}0]", "0,".repeat(4_000_001)), "{\"a\": 1}".to_owned(), "<html>".to_owned()] {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.read(&mut [0; 4096]);
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        let client = client().build().unwrap();
        let get = async || json_within(client.get(&url).send().await.unwrap(), 64 << 20).await;
        assert!(get().await.unwrap_err().to_string().contains("holds more than 4 million values"));
        assert_eq!(get().await.unwrap()["a"], 1);
        assert_eq!(get().await.unwrap_err().to_string(), "the response is no JSON");
    }

    #[tokio::test]
    async fn finding_09_a_body_is_read_as_far_as_is_allowed() {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/?key=secret", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 4096]);
                // No length, and no end before the client goes.
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
                while stream.write_all(&[b'x'; 4096]).is_ok() {}
            }
        });
        let response = client().build().unwrap().get(&url).send().await.unwrap();
        let error = body_within(response, 3 << 20).await.unwrap_err().to_string();
        assert_eq!(error, "the response is larger than 3 MiB, and was not read to its end");
    }

    #[tokio::test]
    async fn finding_15_no_request_tells_from_which_address_it_was_sent_on() {
        use std::io::{BufRead, BufReader, Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/?key=sk-PLANTED", listener.local_addr().unwrap());
        let heard = std::thread::spawn(move || {
            let answers = ["302 Found\r\nlocation: /there", "200 OK"].into_iter();
            let heard = answers.map(|answer| {
                let mut stream = BufReader::new(listener.accept().unwrap().0);
                let head: Vec<String> =
                    stream.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
                write!(stream.get_mut(), "HTTP/1.1 {answer}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
                    .unwrap();
                head.join("\n")
            });
            heard.collect::<Vec<String>>()
        });
        client().build().unwrap().get(&url).send().await.unwrap();
        let heard = heard.join().unwrap();
        assert!(heard[1].starts_with("GET /there"), "{}", heard[1]);
        assert!(!heard[1].contains("PLANTED"), "{}", heard[1]);
    }

    #[test]
    fn a_mistyped_proxy_is_told_from_one_that_is_asked() {
        for asked in ["proxy:3128", "http://10.0.0.1:8080/", "socks5h://u:p%40ss@[::1]:1080", "HTTPS://proxy.example"] {
            assert!(is_proxy(asked), "{asked}");
        }
        for passed_over in [
            "http//proxy:3128",
            "http:/proxy:3128",
            "htp://proxy",
            "SOCKS5://proxy",
            "http://",
            "http://u:p@ss@proxy:1",
            "a b:1",
            "http:proxy:1",
        ] {
            assert!(!is_proxy(passed_over), "{passed_over}");
        }
    }

    #[test]
    fn this_machine_is_known_by_its_names() {
        let is = |url: &str| is_on_this_machine(&reqwest::Url::parse(url).unwrap());
        for url in [
            "http://localhost:1",
            "https://a.localhost./v1",
            "http://127.8.0.1",
            "http://[::1]:8",
            "http://[::ffff:7f00:1]",
        ] {
            assert!(is(url), "{url}");
        }
        for url in ["http://localhost.example", "http://10.0.0.1", "http://[fe80::1]", "https://api.openai.com"] {
            assert!(!is(url), "{url}");
        }
    }

    #[test]
    fn a_client_encrypts_by_ring() {
        client().build().unwrap();
        client().build().unwrap();
        let provider = rustls::crypto::CryptoProvider::get_default().unwrap();
        assert!(format!("{:?}", provider.key_provider).contains("Ring"), "{:?}", provider.key_provider);
    }
}
