//! A server of the test's own that knows paths, methods and headers.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Method, `GET` or `POST`.
    pub(crate) method: String,
    /// Path with its query.
    pub(crate) path: String,
    /// Headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    /// Returns the body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// The answer: status line, further headers, body.
pub(crate) type Answered = (&'static str, Vec<(&'static str, String)>, String);

/// A success with this body.
pub(crate) fn ok(body: &Value) -> Answered {
    ("200 OK", Vec::new(), body.to_string())
}

/// A server that answers requests one after the other, and remembers them.
pub(crate) struct HttpServer {
    /// Address of the server, without a path.
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl HttpServer {
    pub(crate) fn start(mut answer: impl FnMut(&Asked) -> Answered + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that was killed in the middle of a request is skipped.
                let Ok(request) = read(&stream) else { continue };
                log.lock().unwrap().push(request.clone());
                let (status, headers, body) = answer(&request);
                let mut head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
                headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
                let _ = (&stream).write_all((head + "\r\n" + &body).as_bytes());
            }
        });
        Self { url, asked }
    }

    /// The requests so far whose path begins so.
    pub(crate) fn asked(&self, method: &str, path: &str) -> Vec<Asked> {
        let all = self.asked.lock().unwrap();
        all.iter().filter(|asked| asked.method == method && asked.path.starts_with(path)).cloned().collect()
    }
}

fn read(stream: &TcpStream) -> std::io::Result<Asked> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, n)| n.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Asked { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}
