//! HTTP of stores: what a store answers has an end, and no answer leads to another server.

use async_trait::async_trait;
use closeread_files::MAX_FILE_BYTES;
use closeread_providers::http;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Limited};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::StatusCode;
use reqwest::header::CONTENT_LENGTH;
use reqwest::redirect::Policy;
use std::io;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep, timeout};
use tracing::info;

/// Most answers to one listing, of a thousand objects each, and the bytes of all of them.
pub(crate) const MAX_PAGES: usize = 200;
const MAX_LISTED: usize = 256 << 20;
/// Time of a request, and the bytes a second that it gets more time for: a run can be larger than what comes in that time.
const TIME: Duration = Duration::from_secs(30);
const SLOWEST: u64 = 128 << 10;
/// Time for which a busy store is asked again, as after many parts begin at once.
const BUSY: Duration = Duration::from_secs(60);
/// Pauses between these requests, in milliseconds; the last one repeats.
const PAUSES: [u64; 5] = [250, 500, 1000, 2000, 5000];

/// Makes the clients of a store. A redirect is not followed: the keys are for the server that was named.
#[derive(Debug)]
pub(crate) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let built = |client: reqwest::ClientBuilder| {
            let client = client.redirect(Policy::none()).connect_timeout(Duration::from_secs(5)).build();
            client.map_err(|source| object_store::Error::Generic { store: "HTTP", source: source.into() })
        };
        let (client, here) = (built(http::client())?, built(http::client().no_proxy())?);
        Ok(HttpClient::new(Service { client, here, time: TIME, busy: BUSY, listed: Mutex::new((0, 0)) }))
    }
}

/// The clients, with the answers to the last listing so far and their bytes.
#[derive(Debug)]
struct Service {
    client: reqwest::Client,
    /// Asks stores on this machine, past the proxy of the environment.
    here: reqwest::Client,
    time: Duration,
    busy: Duration,
    listed: Mutex<(usize, usize)>,
}

impl Service {
    /// The answer to a request, once the store is not too busy for it.
    async fn answer(&self, request: HttpRequest, time: Duration) -> Result<HttpResponse, HttpError> {
        let is_here = reqwest::Url::parse(&request.uri().to_string()).is_ok_and(|url| http::is_on_this_machine(&url));
        let client = if is_here { &self.here } else { &self.client };
        let give_up = Instant::now() + self.busy;
        let mut pauses = PAUSES.into_iter().chain(std::iter::repeat(PAUSES[PAUSES.len() - 1]));
        loop {
            let asked = timeout(time, client.call(request.clone())).await;
            let answer = asked.map_err(|_| too_slow(format!("no answer within {} s", time.as_secs())))??;
            let is_busy = matches!(answer.status(), StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS);
            let pause = Duration::from_millis(pauses.next().unwrap_or_default());
            if !is_busy || Instant::now() + pause > give_up {
                return Ok(answer);
            }
            info!("the store is busy ({}): asked again in {:.1} s", answer.status(), pause.as_secs_f64());
            sleep(pause).await;
        }
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_listing = |part: &str| part.starts_with("list-type=") || part == "comp=list";
        let goes_on = |part: &str| part.starts_with("continuation-token=") || part.starts_with("marker=");
        let query = request.uri().query().unwrap_or_default();
        let (is_listing, goes_on) = (query.split('&').any(is_listing), query.split('&').any(goes_on));
        let time = |bytes: u64| self.time + Duration::from_secs(bytes / SLOWEST);
        let sent_in = time(request.body().content_length() as u64);
        let (head, body) = self.answer(request, sent_in).await?.into_parts();
        let length = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let whole_in = time(length.unwrap_or(0).min(MAX_FILE_BYTES));
        let body = InTime { body, deadline: Box::pin(sleep(whole_in)) };
        if !is_listing {
            let body = Limited::new(body, MAX_FILE_BYTES as usize).map_err(no_end);
            return Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body)));
        }
        let (pages, bytes) = if goes_on { *self.listed.lock().expect("nobody panics with it") } else { (0, 0) };
        if pages == MAX_PAGES {
            let most = MAX_PAGES * 1000;
            return Err(no_end(
                format!("the listing does not end: no run or benchmark has more than {most} files").into(),
            ));
        }
        let body = Limited::new(body, MAX_LISTED - bytes).collect().await.map_err(no_end)?.to_bytes();
        *self.listed.lock().expect("nobody panics with it") = (pages + 1, bytes + body.len());
        Ok(HttpResponse::from_parts(head, body.into()))
    }
}

/// A body that fails if it is not whole by then.
struct InTime {
    body: HttpResponseBody,
    deadline: Pin<Box<Sleep>>,
}

impl Body for InTime {
    type Data = <HttpResponseBody as Body>::Data;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, HttpError>>> {
        match self.deadline.as_mut().poll(context) {
            Poll::Ready(()) => {
                Poll::Ready(Some(Err(too_slow(format!("less than {} KiB a second came", SLOWEST >> 10)))))
            }
            Poll::Pending => Pin::new(&mut self.body).poll_frame(context),
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn too_slow(why: String) -> HttpError {
    HttpError::new(HttpErrorKind::Timeout, io::Error::new(io::ErrorKind::TimedOut, why))
}

/// The error of a body that is too long or broke off; asking again would come out the same.
fn no_end(source: Box<dyn std::error::Error + Send + Sync>) -> HttpError {
    match source.downcast::<HttpError>() {
        Ok(error) => *error,
        Err(source) => HttpError::new_boxed(HttpErrorKind::Decode, source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::client::HttpRequestBody;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Returns whether a body comes whole that is sent in pieces of as many bytes, ten a second, in a time of half a second.
    async fn is_read(n_pieces: usize, n_bytes: usize) -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", n_pieces * n_bytes).unwrap();
            // The reader goes away before the end of what is too slow.
            while stream.write_all(&vec![b'x'; n_bytes]).is_ok() {
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let client = http::client().build().unwrap();
        let time = Duration::from_millis(500);
        let service = Service { here: client.clone(), client, time, busy: BUSY, listed: Mutex::new((0, 0)) };
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = format!("http://{address}/evals/runs/r/records.jsonl").parse().unwrap();
        service.call(request).await.unwrap().into_body().bytes().await.is_ok()
    }

    #[tokio::test]
    async fn finding_09_a_large_file_of_a_store_has_the_time_that_it_takes_and_a_trickle_has_an_end() {
        assert!(is_read(20, 40 << 10).await, "400 KiB a second");
        assert!(!is_read(20, 10).await, "100 bytes a second");
    }
}
