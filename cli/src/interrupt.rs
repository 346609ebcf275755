//! Ctrl-C, heard once with patience and once without.

use crate::progress::Progress;
use std::cell::Cell;

/// Waits for Ctrl-C: what is under way is with the provider, and stays there.
pub(crate) async fn leave(stop: &Cell<bool>, progress: &Progress) {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    stop.set(true);
    progress.say("stopping: the batches go on at the provider, and the same command takes up their replies");
}

/// Waits for Ctrl-C for ever. The first sets `stop`, so that what is under way is finished; the second ends the program.
pub(crate) async fn watch(stop: &Cell<bool>, progress: &Progress) {
    if tokio::signal::ctrl_c().await.is_ok() {
        stop.set(true);
        progress.say("stopping: what is under way is finished and kept; press Ctrl-C again to stop at once");
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(130);
        }
    }
    std::future::pending::<()>().await;
}
