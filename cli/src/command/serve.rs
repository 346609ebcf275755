//! `closeread serve`: the page and run folders, on this machine alone.

use anyhow::{Result, bail};
use closeread_runner::finished::{folder_name, is_run_folder};
use closeread_runner::interrupt;
use closeread_runner::judging::{JUDGEMENTS, JUDGING};
use closeread_runner::run_folder::{MANIFEST, PREPARATIONS, PRICES, TEXTS};
use closeread_serve::{Layout, Options, Page, Relaying, Server};
use std::future::poll_fn;
use std::path::PathBuf;
use std::process::ExitCode;
use std::task::Poll;
use tracing::info;

/// Layout of the files that the viewer reads of a run folder.
const LAYOUT: Layout = Layout {
    files: &[MANIFEST, "items.jsonl", "records.jsonl", "report.json", JUDGING, JUDGEMENTS, PRICES],
    folders: &[(PREPARATIONS, ".json"), (TEXTS, ".txt.zst")],
};

/// Serve the page and run folders on this machine
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
    /// The built page [default: $CLOSEREAD_PAGE, else web/ beside the program, the one inside the program, web/dist of the sources]
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
    /// Forward the page's requests to any server, not only to model servers on this machine
    #[arg(long, conflicts_with = "no_relay")]
    relay: bool,
    /// Forward nothing
    #[arg(long)]
    no_relay: bool,
    /// Port of another model server on this machine, besides those of Ollama (11434), LM Studio (1234) and llama-server
    /// (8080)
    #[arg(long, value_name = "N")]
    model_port: Vec<u16>,
}

/// Serves until it is asked to end.
pub(crate) async fn run(args: ServeArgs) -> Result<ExitCode> {
    let page = Page::find(args.page.as_deref())?;
    if let Some(other) = args.runs.iter().find(|path| !is_run_folder(path)) {
        bail!("{} is no run folder (with manifest.json), which `closeread run --out DIR` makes", other.display());
    }
    let runs: Vec<_> = args.runs.into_iter().map(|folder| (folder_name(&folder), folder)).collect();
    let start = if runs.is_empty() { "" } else { "#/runs" };
    let shown = page.place();
    let relaying = match (args.relay, args.no_relay) {
        (true, _) => Relaying::Anybody,
        (false, true) => Relaying::Nobody,
        (false, false) => Relaying::ThisMachine,
    };
    let (port, model_ports) = (args.port, args.model_port);
    let server = Server::bind(Options { page, runs, layout: LAYOUT, port, relaying, model_ports }).await?;
    let stop = interrupt::asked_to_end();
    tokio::pin!(stop);
    // Ctrl-C is listened for before anybody is told of the server.
    if poll_fn(|context| Poll::Ready(stop.as_mut().poll(context))).await.is_ready() {
        return Ok(ExitCode::SUCCESS);
    }
    outln!("http://{}/{start}", server.address());
    info!("serving {shown} on this machine; Ctrl-C ends it");
    tokio::select! {
        _ = &mut stop => Ok(ExitCode::SUCCESS),
        never = server.serve() => match never {},
    }
}
