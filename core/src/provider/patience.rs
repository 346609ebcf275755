//! How long a server is waited for before it is asked again.

use std::time::Duration;

/// Tries of one call before it counts as failed.
pub const MAX_TRIES: u32 = 8;
/// Replies that may have this many tokens are streamed: proxies give up on connections that stay silent for minutes.
pub const STREAM_FROM_TOKENS: u32 = 4096;
/// Longest wait that a server is granted; what asks for more is not going to answer within the run.
pub const MAX_WAIT: Duration = Duration::from_secs(3600);
/// Longest wait of our own between two tries.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// What the server asks for and a little more, so that not all come back at once; else a wait that doubles, of which chance
/// takes up to two fifths, and which is longer than the last, however long that was with the wait for a place.
///
/// `tries` have failed; `chance` is drawn evenly from 0..1.
pub fn wait(tries: u32, asked: Option<Duration>, last: Duration, chance: f64) -> Duration {
    match asked {
        Some(asked) => asked + Duration::from_millis(50) + Duration::from_millis(450).mul_f64(chance),
        None => {
            let most = Duration::from_secs(1 << tries.min(6)).min(MAX_BACKOFF);
            most.mul_f64(0.6 + 0.4 * chance).max(last.mul_f64(1.25)).min(MAX_BACKOFF)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_is_shorter_than_asked_for() {
        for (tries, chance) in (1..MAX_TRIES).flat_map(|tries| [0.0, 0.5, 0.999].map(|chance| (tries, chance))) {
            assert!(wait(tries, Some(Duration::from_secs(3)), Duration::ZERO, chance) >= Duration::from_secs(3));
            let own = wait(tries, None, Duration::ZERO, chance);
            assert!(own >= Duration::from_secs(1) && own <= MAX_BACKOFF, "{own:?}");
            let next = wait(tries + 1, None, own, chance);
            assert!(next > own || next == MAX_BACKOFF || tries > 5, "{own:?} {next:?}");
        }
    }
}
