//! Ctrl-C, heard once with patience and once without; and what else the system tells a run.

use closeread_providers::ending::{GRACE, end};
use std::cell::Cell;
use tokio::sync::Notify;
use tracing::info;

/// Notice that [`ask_to_end`] gives.
static ASKED: Notify = Notify::const_new();

/// Makes the run end as at the first Ctrl-C; from any thread.
pub fn ask_to_end() {
    ASKED.notify_one();
}

/// Waits for Ctrl-C, or the system's wish that the program ends: what is under way is with the provider, and stays there.
pub async fn leave(stop: &Cell<bool>) {
    if !asked_to_end().await {
        std::future::pending::<()>().await;
    }
    stop.set(true);
    info!("stopping: the batches go on at the provider, and the same command takes up their responses");
}

/// Waits for Ctrl-C, or the system's wish that the program ends, for ever. The first sets `stop`: waits end, no request
/// begins, those under way have [`GRACE`] to come back. The second ends the program.
pub async fn watch(stop: &Cell<bool>) {
    if asked_to_end().await {
        stop.set(true);
        end();
        let seconds = GRACE.as_secs();
        info!(
            "stopping: no request begins any more, those under way have {seconds} s; press Ctrl-C again to stop at once"
        );
        if asked_to_end().await {
            std::process::exit(130);
        }
    }
    std::future::pending::<()>().await;
}

/// Waits for Ctrl-C, what Slurm and Kubernetes send some time before they kill, or [`ask_to_end`]. False if neither can
/// be heard.
#[cfg(unix)]
pub async fn asked_to_end() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return tokio::signal::ctrl_c().await.is_ok() };
    tokio::select! {
        () = ASKED.notified() => true,
        heard = tokio::signal::ctrl_c() => heard.is_ok(),
        heard = terminate.recv() => heard.is_some(),
    }
}

#[cfg(not(unix))]
pub async fn asked_to_end() -> bool {
    tokio::select! {
        () = ASKED.notified() => true,
        heard = tokio::signal::ctrl_c() => heard.is_ok(),
    }
}

/// Makes a file that may grow no further an error of the write, as a full disk is, where the system would end the program.
/// To be called within a runtime.
pub fn outlive_file_limits() {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        const SIGXFSZ: i32 = 25;
        // Without it the system's default holds: the program is ended, and nothing finished is lost.
        let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(SIGXFSZ));
    }
}
