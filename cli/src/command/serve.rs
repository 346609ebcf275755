//! `closeread serve`: the page and run folders, on this machine alone.

mod answer;
mod file;
pub(super) mod page;
mod relay;
mod runs;

use crate::finished;
use crate::interrupt;
use answer::{Answer, failure, json};
use anyhow::{Context, Result, bail};
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use page::Page;
use relay::Relay;
use runs::ServedRun;
use serde_json::json;
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::Poll;
use tokio::net::TcpListener;

/// Serve the page on this machine: the playground, and run folders in its viewer.
///
/// Only programs on this machine can reach it (127.0.0.1). Run folders are read and never written. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Run folders, to be opened in the run viewer
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The port; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 7327)]
    port: u16,
    /// The built page [default: $CLOSEREAD_PAGE, else web/ beside the program, else web/dist of the sources]
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
    /// Pass requests of the page on to servers of models that do not answer pages of other origins
    #[arg(long)]
    relay: bool,
}

/// What is served.
struct Site {
    address: SocketAddr,
    page: Page,
    runs: Vec<ServedRun>,
    relay: Option<Relay>,
}

/// Serves until it is asked to end.
pub(crate) async fn run(args: ServeArgs) -> Result<ExitCode> {
    let page = Page::find(args.page.as_deref())?;
    if let Some(other) = args.runs.iter().find(|path| !finished::is_run_folder(path)) {
        bail!("{} is no run folder (with manifest.json), which `closeread run --out DIR` makes", other.display());
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await.with_context(|| {
        format!("cannot listen on port {}: choose another by --port, or 0 for any that is free", args.port)
    })?;
    let address = listener.local_addr()?;
    let relay = if args.relay { Some(Relay::new()?) } else { None };
    let site = Arc::new(Site { address, page, runs: runs::named(&args.runs), relay });
    let stop = interrupt::asked_to_end();
    tokio::pin!(stop);
    // Ctrl-C is listened for before anybody is told of the server.
    if poll_fn(|context| Poll::Ready(stop.as_mut().poll(context))).await.is_ready() {
        return Ok(ExitCode::SUCCESS);
    }
    outln!("http://{address}/{}", if site.runs.is_empty() { "" } else { "#/runs" });
    eprintln!("serving {} on this machine; Ctrl-C ends it", site.page.folder().display());
    loop {
        let stream = tokio::select! {
            _ = &mut stop => return Ok(ExitCode::SUCCESS),
            // One connection that could not be taken is no reason to stop.
            accepted = listener.accept() => match accepted { Ok((stream, _)) => stream, Err(_) => continue },
        };
        let site = Arc::clone(&site);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let site = Arc::clone(&site);
                async move { Ok::<_, Infallible>(site.answer(request).await) }
            });
            // A reader that goes away in the middle is none of our business.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl Site {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (request, body) = request.into_parts();
        let path = request.uri.path();
        if !self.is_addressed(&request) {
            return failure(StatusCode::MISDIRECTED_REQUEST, "this server answers to 127.0.0.1 and localhost alone");
        }
        if path == "/relay" {
            let Some(relay) = &self.relay else {
                return failure(StatusCode::NOT_FOUND, "nothing is passed on: start `closeread serve --relay`");
            };
            return relay.answer(&request, body, self.address).await;
        }
        if !matches!(request.method, Method::GET | Method::HEAD) {
            return failure(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered here");
        }
        if path == "/closeread.json" {
            let names: Vec<&str> = self.runs.iter().map(|run| run.name.as_str()).collect();
            let relay = self.relay.as_ref().map(|relay| json!({"token": relay.token()}));
            return json(StatusCode::OK, &json!({"relay": relay, "runs": names}));
        }
        let Some(parts) = file::parts(path) else {
            return failure(StatusCode::NOT_FOUND, "no such file");
        };
        match parts.split_first() {
            Some((first, [name, rest @ ..])) if first == "runs" && self.runs.iter().any(|run| run.name == *name) => {
                let run = self.runs.iter().find(|run| run.name == *name).expect("just found");
                run.answer(&request, rest)
            }
            _ => self.page.answer(&request, &parts).await,
        }
    }

    /// True unless another site's name leads here, which is how a page of that site would read what is served.
    fn is_addressed(&self, request: &Parts) -> bool {
        let host = request.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{}", self.address.port()))
    }
}
