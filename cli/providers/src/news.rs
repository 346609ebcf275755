//! What a person is told of calls that are tried again.

use closeread_llm::provider::Notice;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// A wait that is said although it is the first.
const LONG_WAIT: Duration = Duration::from_secs(20);
/// Interval at which a message says that a model's calls are tried again.
const SAY_AGAIN: Duration = Duration::from_secs(60);

/// Time of the last message that calls are tried again.
#[derive(Default)]
pub(crate) struct News {
    said: Cell<Option<Instant>>,
}

impl News {
    /// Returns whether the notice is for a person who does not ask for every try, and notes that it is said. A call that fails
    /// twice may fail for minutes: who waits is told why, now and then.
    pub(crate) fn is_told(&self, notice: &Notice) -> bool {
        let Notice::Again { tries, wait, .. } = notice else { return false };
        let is_told = self.said.get().is_none_or(|at| at.elapsed() > SAY_AGAIN) && (*tries > 1 || *wait > LONG_WAIT);
        if is_told {
            self.said.set(Some(Instant::now()));
        }
        is_told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_llm::provider::ServerLoad;

    #[test]
    fn a_long_wait_is_told_at_once_and_a_short_one_when_it_is_the_second() {
        let again = |tries, seconds| Notice::Again {
            message: "slow down".to_owned(),
            load: ServerLoad::Server,
            asked: None,
            wait: Duration::from_secs(seconds),
            tries,
            of: 8,
        };
        for (notices, expected) in [
            ([again(1, 2), again(2, 2), again(3, 2)], [false, true, false]),
            ([again(1, 300), again(1, 300), again(2, 2)], [true, false, false]),
        ] {
            let news = News::default();
            assert_eq!(notices.map(|notice| news.is_told(&notice)), expected);
        }
    }
}
