//! The end of the program, which every request under way hears of.

use std::sync::LazyLock;
use std::time::Duration;
use tokio::sync::watch;

/// Time that requests in flight are granted when the program is to end. Slurm and Kubernetes kill after 30 seconds.
pub const GRACE: Duration = Duration::from_secs(10);

/// The program is to end: heard on every thread, by whatever waits.
static ENDING: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// Ends the program's requests: from now on none begins, and those in flight have [`GRACE`] to come back.
pub fn end() {
    ENDING.send_replace(true);
}

/// Returns whether the program is to end.
pub fn is_ending() -> bool {
    *ENDING.borrow()
}

/// Returns once the program is to end.
pub(crate) async fn ending() {
    // The sender is never dropped.
    let _ = ENDING.subscribe().wait_for(|ending| *ending).await;
}

/// Returns once the program is to end and requests have had their time.
pub(crate) async fn out_of_time() {
    ending().await;
    tokio::time::sleep(GRACE).await;
}
