//! Connections: how many at once, and how long one may take to say what it wants.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tracing::debug;

/// The limits of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Time from the connection's beginning, or from the last answer, to the end of the next request's headers.
    pub(crate) headers: Duration,
    /// Time until the client takes the next bytes of an answer.
    pub(crate) write: Duration,
    /// Most connections at once; further ones wait until one ends.
    pub(crate) connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { headers: Duration::from_secs(20), write: Duration::from_secs(30), connections: 256 }
    }
}

/// Rest after a connection that could not be taken, as without a free descriptor: the next try would fail as well.
const REST: Duration = Duration::from_millis(200);

/// Answers every connection by `routes`, for ever.
pub(crate) async fn serve(listener: TcpListener, routes: Router, limits: Limits) -> Infallible {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.headers);
    let free = Arc::new(Semaphore::new(limits.connections));
    loop {
        let place = Arc::clone(&free).acquire_owned().await;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) => continue,
            Err(error) => {
                debug!("a connection could not be taken: {error}");
                tokio::time::sleep(REST).await;
                continue;
            }
        };
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(limits.write));
        let connection =
            http.serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(routes.clone()));
        tokio::spawn(async move {
            // A reader that goes away in the middle is none of our business.
            let _ = connection.await;
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::any;
    use std::net::SocketAddr;
    use std::time::Instant;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    async fn started(limits: Limits) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes =
            Router::new().route("/", any(|| async { "here" })).route("/large", any(|| async { vec![0_u8; 64 << 20] }));
        tokio::spawn(serve(listener, routes, limits));
        address
    }

    /// Returns what comes back until the server closes the connection.
    async fn sent(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        tokio::time::timeout(Duration::from_secs(10), stream.read_to_string(&mut text))
            .await
            .expect("closed by the server")
            .unwrap();
        text
    }

    #[tokio::test]
    async fn finding_16_who_does_not_say_what_is_wanted_is_let_go() {
        let address = started(Limits { headers: Duration::from_millis(200), ..Limits::default() }).await;
        for half in ["", "G", "GET / HTTP/1.1\r\nhost: x\r\n"] {
            assert!(!sent(address, half).await.contains("here"), "{half}");
        }
        // Answered, and let go as nothing follows; the rest of a body that nobody reads is not waited for.
        for whole in
            ["GET / HTTP/1.1\r\nhost: x\r\n\r\n", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf"]
        {
            assert!(sent(address, whole).await.ends_with("here"), "{whole}");
        }
    }

    #[tokio::test]
    async fn finding_16_who_takes_no_answer_is_let_go() {
        let limits = Limits { write: Duration::from_millis(300), connections: 1, ..Limits::default() };
        let address = started(limits).await;
        let mut silent = TcpStream::connect(address).await.unwrap();
        silent.write_all(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let answer = sent(address, "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        assert!(answer.ends_with("here"), "{answer}");
        drop(silent);
    }

    #[tokio::test]
    async fn finding_16_further_connections_wait_for_a_place() {
        let limits = Limits { headers: Duration::from_millis(600), connections: 2, ..Limits::default() };
        let address = started(limits).await;
        let silent = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
        tokio::time::sleep(Duration::from_millis(100)).await;
        let start = Instant::now();
        let answer = sent(address, "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        assert!(answer.ends_with("here") && start.elapsed() > Duration::from_millis(300), "{:?}", start.elapsed());
        drop(silent);
    }
}
