//! A server of the tests' own that answers each question with a script: whole responses, broken ones, none.

use crate::support::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The act of the server on one request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Sends these bytes, head and body, and closes the connection.
    Send(Vec<u8>),
    /// Closes the connection before the request is read to its end, which the client sees as a reset.
    Reset,
    /// Sends the bytes that this gives when the request is there.
    Now(fn() -> Vec<u8>),
    /// Waits, then does the other.
    After(Duration, Box<Act>),
    /// Keeps the connection and sends nothing.
    Hang,
    /// Sends these bytes, and then the others again and again, until the client gives up.
    Endless(Vec<u8>, Vec<u8>),
    /// Keeps the connection and sends these bytes and then spaces, one every 0.2 s, until the client gives up.
    Trickle(Vec<u8>),
}

/// A response with its length, as JSON or what else it is.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> Act {
    let length = body.len();
    Act::Send(
        format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}")
            .into_bytes(),
    )
}

/// Sends the body over a connection that loses its end.
pub(crate) fn broken_off(body: &str) -> Act {
    let length = body.len() + 100;
    Act::Send(format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes())
}

/// A response without a length that begins so and goes on for ever.
pub(crate) fn endless(status: &str, headers: &str, body: &str) -> Act {
    let head = format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n{body}");
    Act::Endless(head.into_bytes(), vec![b'x'; 1 << 16])
}

/// A stream of server-sent events that ends when these are sent.
pub(crate) fn stream(events: &[&str]) -> Act {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    response("200 OK", "content-type: text/event-stream\r\n", &body)
}

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) key: Option<String>,
}

/// Answers by the name in the question, `Case NAME:`, and the number of the request for it, from 0.
pub(crate) struct FaultServer {
    pub(crate) url: String,
    seen: Arc<Mutex<BTreeMap<String, Vec<Seen>>>>,
}

type Script = dyn Fn(&str, usize, &Seen) -> Act + Send + Sync;

impl FaultServer {
    pub(crate) fn start(script: impl Fn(&str, usize, &Seen) -> Act + Send + Sync + 'static) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), script)
    }

    pub(crate) fn on(
        listener: TcpListener,
        script: impl Fn(&str, usize, &Seen) -> Act + Send + Sync + 'static,
    ) -> Self {
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen: Arc<Mutex<BTreeMap<String, Vec<Seen>>>> = Arc::default();
        let (log, script): (_, Arc<Script>) = (Arc::clone(&seen), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, script) = (Arc::clone(&log), Arc::clone(&script));
                // A client that is killed or gives up ends its connection: nothing is wrong with that.
                std::thread::spawn(move || drop(serve(stream, &log, &*script)));
            }
        });
        Self { url, seen }
    }

    /// Returns how often each case was asked.
    pub(crate) fn asked(&self) -> BTreeMap<String, usize> {
        self.seen.lock().unwrap().iter().map(|(name, seen)| (name.clone(), seen.len())).collect()
    }

    pub(crate) fn n_requests(&self) -> usize {
        self.asked().values().sum()
    }

    /// Seconds between the first two requests for a case.
    pub(crate) fn waited(&self, name: &str) -> f64 {
        let seen = &self.seen.lock().unwrap()[name];
        (seen[1].at - seen[0].at).as_secs_f64()
    }
}

fn serve(stream: TcpStream, log: &Mutex<BTreeMap<String, Vec<Seen>>>, script: &Script) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut n_bytes, mut key) = (0, None);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let Some((name, value)) = line.trim().split_once(':') else {
            if line.trim().is_empty() {
                break;
            }
            continue;
        };
        match name.to_lowercase().as_str() {
            "content-length" => n_bytes = value.trim().parse().unwrap_or(0),
            "authorization" | "x-api-key" | "x-goog-api-key" => key = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    // All but the last byte: closing now resets the connection.
    let mut body = vec![0; usize::max(n_bytes, 1) - 1];
    stream.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    let name = body.rsplit_once("Case ").and_then(|(_, rest)| rest.split(':').next()).unwrap_or_default().to_owned();
    let seen = Seen { at: Instant::now(), key };
    let n = {
        let mut log = log.lock().unwrap();
        let all = log.entry(name.clone()).or_default();
        all.push(seen.clone());
        all.len() - 1
    };
    let act = script(&name, n, &seen);
    if matches!(act, Act::Reset) {
        return Ok(());
    }
    stream.read_exact(&mut [0])?;
    act_out(stream.get_mut(), act)
}

fn act_out(stream: &mut TcpStream, act: Act) -> std::io::Result<()> {
    match act {
        Act::Reset => Ok(()),
        Act::Now(make) => stream.write_all(&make()),
        Act::After(wait, act) => {
            std::thread::sleep(wait);
            act_out(stream, *act)
        }
        Act::Send(bytes) => stream.write_all(&bytes),
        Act::Endless(first, again) => {
            stream.write_all(&first)?;
            loop {
                stream.write_all(&again)?;
            }
        }
        Act::Hang => {
            // Ends when the client ends the connection.
            stream.read_exact(&mut [0])
        }
        Act::Trickle(bytes) => {
            for byte in bytes.into_iter().chain(std::iter::repeat(b' ')) {
                stream.write_all(&[byte])?;
                std::thread::sleep(Duration::from_millis(200));
            }
            Ok(())
        }
    }
}

/// A benchmark in the folder `cases` with a question for each name: of four options, `[[1]]` is right.
pub(crate) fn cases(sandbox: &Sandbox, names: &[String]) {
    sandbox.write(
        "cases/documents.jsonl",
        format!(
            "{}\n",
            json!({"id": "book", "language": "en", "text": "Ana came to the mill at dusk. Bo had left it open."})
        ),
    );
    let item = |name: &String| {
        let question = format!("Case {name}: who came to the mill?");
        let options = ["Ana", "Bo", "Cleo", "Dov"];
        let item = json!({"id": name, "documents": ["book"], "question": question, "task": "choice", "options": options,
            "correct": 0});
        format!("{item}\n")
    };
    sandbox.write("cases/items.jsonl", names.iter().map(item).collect::<String>());
}

/// `closeread run` of the cases, without the book.
pub(crate) fn run_cases<'a>(model: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["run", "--benchmark", "cases", "--method", "closed-book", "--out", "r", "--json"];
    [&fixed[..], &["--model", model, "--base-url", url], more].concat()
}

/// The records of the run in the folder `r` by item, of several the last.
pub(crate) fn records(sandbox: &Sandbox) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parsed = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    parsed.map(|record| (record["item"].as_str().unwrap().to_owned(), record)).collect()
}
