//! How many calls are under way at once: as many as the server bears, found out while it is asked.

use closeread_core::provider::Strain;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Calls under way at first.
const START: usize = 8;
/// What is left of the limit after a refusal.
const CUT: f64 = 0.8;
/// A refusal within this time of the last cut belongs to the same crowd.
const EPISODE: Duration = Duration::from_secs(10);
/// How long the limit does not grow after a server's failure.
const PAUSE: Duration = Duration::from_secs(15);

/// The limit on calls under way: doubles round by round until the first refusal (429), then grows by one a round; a
/// refusal cuts it to 0.8, once an episode; a failing server (5xx) keeps it where it is for a while.
///
/// It grows only while it is what holds calls back.
#[derive(Debug, Clone, PartialEq)]
struct Limit {
    now: f64,
    most: usize,
    refused: bool,
    cut_at: Option<Instant>,
    no_growth_until: Option<Instant>,
}

impl Limit {
    fn new(most: usize) -> Self {
        Self { now: START.min(most) as f64, most, refused: false, cut_at: None, no_growth_until: None }
    }

    fn calls(&self) -> usize {
        (self.now as usize).clamp(1, self.most)
    }

    fn succeeded(&mut self, saturated: bool, at: Instant) {
        if !saturated || self.no_growth_until.is_some_and(|until| at < until) {
            return;
        }
        // Over one round, `now` successes: +1 each doubles the limit, +1/now each adds one.
        self.now = (self.now + if self.refused { 1.0 / self.now } else { 1.0 }).min(self.most as f64);
    }

    fn strained(&mut self, strain: Strain, at: Instant) {
        match strain {
            Strain::RateLimit => {
                self.refused = true;
                if self.cut_at.is_none_or(|cut| at >= cut + EPISODE) {
                    self.now = (self.now * CUT).max(1.0);
                    self.cut_at = Some(at);
                }
            }
            Strain::Server => self.no_growth_until = Some(at + PAUSE),
            Strain::Connection => {}
        }
    }
}

/// Lets calls through, one model's.
pub(crate) struct Throttle {
    limit: RefCell<Limit>,
    under_way: Cell<usize>,
    waiting: Cell<usize>,
    freed: Notify,
}

impl Throttle {
    /// At most `most` calls at once.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            limit: RefCell::new(Limit::new(most.max(1))),
            under_way: Cell::new(0),
            waiting: Cell::new(0),
            freed: Notify::new(),
        }
    }

    /// Waits for a place; it is given back when the value is dropped.
    pub(crate) async fn enter(&self) -> Place<'_> {
        self.waiting.set(self.waiting.get() + 1);
        let waiting = Waiting(self);
        loop {
            let freed = self.freed.notified();
            if self.under_way.get() < self.limit.borrow().calls() {
                drop(waiting);
                self.under_way.set(self.under_way.get() + 1);
                return Place(self);
            }
            freed.await;
        }
    }

    /// A call came back with a reply.
    pub(crate) fn succeeded(&self) {
        let saturated = self.waiting.get() > 0;
        self.limit.borrow_mut().succeeded(saturated, Instant::now());
        self.freed.notify_waiters();
    }

    /// A call came back with a fault that may pass.
    pub(crate) fn strained(&self, strain: Strain) {
        self.limit.borrow_mut().strained(strain, Instant::now());
    }
}

/// One call's place among those under way.
pub(crate) struct Place<'a>(&'a Throttle);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.under_way.set(self.0.under_way.get() - 1);
        self.0.freed.notify_waiters();
    }
}

struct Waiting<'a>(&'a Throttle);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.set(self.0.waiting.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_doubles_a_round_until_it_is_refused_and_then_creeps() {
        let start = Instant::now();
        let mut limit = Limit::new(1000);
        for _ in 0..START {
            limit.succeeded(true, start);
        }
        assert_eq!(limit.calls(), 2 * START);
        limit.strained(Strain::RateLimit, start);
        limit.strained(Strain::RateLimit, start + Duration::from_secs(1));
        assert_eq!(limit.calls(), 12, "two refusals of one crowd cut once");
        for _ in 0..13 {
            limit.succeeded(true, start);
        }
        assert_eq!(limit.calls(), 13);
        limit.strained(Strain::RateLimit, start + EPISODE);
        assert_eq!(limit.calls(), 11);
    }

    #[test]
    fn it_does_not_grow_while_nothing_waits_or_the_server_fails() {
        let start = Instant::now();
        let mut limit = Limit::new(1000);
        limit.succeeded(false, start);
        assert_eq!(limit.calls(), START);
        limit.strained(Strain::Server, start);
        limit.succeeded(true, start);
        assert_eq!(limit.calls(), START);
        limit.succeeded(true, start + PAUSE);
        assert_eq!(limit.calls(), START + 1);
        assert_eq!(Limit::new(2).calls(), 2);
    }

    #[tokio::test]
    async fn no_more_calls_than_the_limit_are_under_way() {
        let throttle = Throttle::new(2);
        let (first, _second) = (throttle.enter().await, throttle.enter().await);
        let mut third = Box::pin(throttle.enter());
        assert!(tokio::time::timeout(Duration::from_millis(20), &mut third).await.is_err());
        drop(first);
        third.await;
    }
}
