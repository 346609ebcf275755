//! The page and run folders, served on this machine alone.

#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod answer;
mod listen;
mod models;
pub mod page;
mod path;
mod relay;
mod runs;
mod site;

pub use page::Page;
pub use relay::Relaying;
pub use runs::Layout;

use answer::{as_it_was, with_headers};
use anyhow::{Context, Result};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get};
use listen::Limits;
use relay::Relay;
use site::Site;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

/// The options of the server: what is served, and where.
#[derive(Debug)]
pub struct Options {
    /// The built page.
    pub page: Page,
    /// Run folders, each with the name that it has if no other has it.
    pub runs: Vec<(String, PathBuf)>,
    /// Layout of the run folders that are read.
    pub layout: Layout,
    /// Port to listen on; 0 for any port that is free.
    pub port: u16,
    /// Servers to which requests of the page are passed on.
    pub relaying: Relaying,
    /// Ports of this machine that have a server of models, besides those of programs that are known.
    pub model_ports: Vec<u16>,
}

/// A server that listens, and answers as soon as it is told to.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    listener: TcpListener,
    routes: Router,
}

impl Server {
    /// Takes the port.
    ///
    /// # Errors
    /// If another program has it, or the system gives no random numbers for the relay's token.
    pub async fn bind(options: Options) -> Result<Self> {
        let port = options.port;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.with_context(|| {
            format!("cannot listen on port {port}: choose another by --port, or 0 for any that is free")
        })?;
        let address = listener.local_addr()?;
        let relay = Relay::new(options.relaying, &options.model_ports, address)?;
        let page = options.page.service();
        let runs = runs::named(options.runs, options.layout);
        let site = Arc::new(Site { address, page: page.clone(), runs, relay });
        let routes = Router::new()
            .route("/runs/{*path}", get(site::run_file))
            .fallback_service(page)
            .layer(from_fn(as_it_was))
            .route("/closeread.json", get(site::described))
            .route("/relay", any(site::relayed))
            .route("/local-models", get(site::local_models))
            .layer(from_fn_with_state(Arc::clone(&site), site::checked))
            .with_state(site);
        Ok(Self { address, listener, routes: with_headers(routes) })
    }

    /// Returns the address where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests, for ever.
    pub async fn serve(self) -> Infallible {
        listen::serve(self.listener, self.routes, Limits::default()).await
    }
}
