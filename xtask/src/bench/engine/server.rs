//! A model server that is no bottleneck: it answers every chat completion at once, with the same words.

use anyhow::Result;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const RESPONSE: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"tiny","choices":[{"index":0,"message":{"role":"assistant","content":"It was Ana: [[1]]"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8,"total_tokens":28}}"#;

/// A server on its own port, until the program ends.
pub(crate) struct Server {
    /// The address, up to and including `/v1`.
    pub(crate) url: String,
    n_requests: Arc<AtomicUsize>,
}

impl Server {
    /// Starts the server: one thread for each connection, which stays open.
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let n_requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&n_requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counter = Arc::clone(&counter);
                // A client that goes away ends its connection.
                std::thread::spawn(move || drop(answer(stream, &counter)));
            }
        });
        Ok(Self { url, n_requests })
    }

    /// Requests since the last call.
    pub(crate) fn take_count(&self) -> usize {
        self.n_requests.swap(0, Ordering::SeqCst)
    }
}

fn answer(stream: TcpStream, n_requests: &AtomicUsize) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::with_capacity(1 << 16, stream);
    let response = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{RESPONSE}",
        RESPONSE.len()
    );
    let mut line = String::new();
    loop {
        let mut n_bytes = 0;
        loop {
            line.clear();
            if stream.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                n_bytes = length.trim().parse().unwrap_or(0);
            }
            if line.trim().is_empty() {
                break;
            }
        }
        std::io::copy(&mut stream.by_ref().take(n_bytes), &mut std::io::sink())?;
        n_requests.fetch_add(1, Ordering::SeqCst);
        stream.get_mut().write_all(response.as_bytes())?;
    }
}
