//! Throttle of calls: how many are made at once, as many as the server bears, found out while it is asked; and how many
//! a minute, as many as the user says.

use closeread_llm::provider::ServerLoad;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tracing::debug;

/// Number of calls to make at once at first.
const START: usize = 8;
/// Trials that are prepared ahead of the calls that may be under way.
const AHEAD: usize = 4;
/// Share of the limit that is left after a refusal.
const CUT: f64 = 0.8;
/// A refusal within this time of the last cut belongs to the same crowd.
const EPISODE: Duration = Duration::from_secs(10);
/// Time for which the limit does not grow after a server's failure.
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

    fn failed(&mut self, load: ServerLoad, at: Instant) {
        match load {
            ServerLoad::RateLimit => {
                self.refused = true;
                if self.cut_at.is_none_or(|cut| at >= cut + EPISODE) {
                    self.now = (self.now * CUT).max(1.0);
                    self.cut_at = Some(at);
                    debug!(
                        at_once = self.calls(),
                        "the server refuses calls: at most {} at once for now",
                        self.calls()
                    );
                }
            }
            ServerLoad::Server | ServerLoad::Page => self.no_growth_until = Some(at + PAUSE),
            ServerLoad::NoAnswer | ServerLoad::Connection | ServerLoad::Unreached => {}
        }
    }
}

/// The limits a minute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rates {
    /// Most requests a minute.
    pub rpm: Option<u32>,
    /// Most tokens a minute, of prompts and responses.
    pub tpm: Option<u64>,
}

/// Tokens above which a server's count of one call is nonsense; so many of them can be added up.
const MOST_TOKENS: u64 = 1 << 40;

/// Time that [`Rates`] count by.
const MINUTE: Duration = Duration::from_secs(60);

/// The requests of the last minute. Requests are spaced evenly, so that no minute, wherever it begins, has more than
/// `rpm`; and one waits as long as it and those of the minute before it have more than `tpm` tokens.
#[derive(Debug, Default)]
struct Pace {
    rates: Rates,
    last: Option<Instant>,
    sent: VecDeque<(Instant, Rc<Cell<u64>>)>,
}

impl Pace {
    /// Lets a request of that many tokens go at `now`, or says how long it has to wait. What it gives back holds the
    /// tokens that are counted for it, until the response says how many there were.
    fn admit(&mut self, now: Instant, tokens: u64) -> Result<Rc<Cell<u64>>, Duration> {
        if let (Some(rpm), Some(last)) = (self.rates.rpm, self.last) {
            let next = last + MINUTE / rpm.max(1);
            if now < next {
                return Err(next - now);
            }
        }
        if let Some(tpm) = self.rates.tpm {
            while self.sent.front().is_some_and(|(at, _)| *at + MINUTE <= now) {
                self.sent.pop_front();
            }
            let mut counted: u64 = self.sent.iter().map(|(_, tokens)| tokens.get()).sum();
            for (at, freed) in &self.sent {
                if counted + tokens <= tpm {
                    break;
                }
                counted -= freed.get();
                if counted + tokens <= tpm || counted == 0 {
                    return Err(*at + MINUTE - now);
                }
            }
        }
        let counted = Rc::new(Cell::new(tokens));
        self.last = Some(now);
        if self.rates.tpm.is_some() {
            self.sent.push_back((now, Rc::clone(&counted)));
        }
        Ok(counted)
    }
}

/// Lets calls through, one model's.
pub(crate) struct Throttle {
    limit: RefCell<Limit>,
    pace: RefCell<Pace>,
    under_way: Cell<usize>,
    waiting: Cell<usize>,
    freed: Notify,
    /// Time until which the server wants no request at all.
    paused_until: Cell<Option<Instant>>,
    permitted: Cell<usize>,
}

impl Throttle {
    /// Makes a throttle of at most `most` calls at once, and `rates` a minute.
    pub(crate) fn new(most: usize, rates: Rates) -> Self {
        Self {
            limit: RefCell::new(Limit::new(most.max(1))),
            pace: RefCell::new(Pace { rates, ..Pace::default() }),
            under_way: Cell::new(0),
            waiting: Cell::new(0),
            freed: Notify::new(),
            paused_until: Cell::new(None),
            permitted: Cell::new(0),
        }
    }

    /// Waits until a trial may begin: there are a few more than calls that may be under way, so that calls wait for places
    /// and not places for calls, and no more, so that prompts of whole books are made when they can be sent.
    pub(crate) async fn permit(&self) -> Permit<'_> {
        loop {
            let freed = self.freed.notified();
            if self.permitted.get() < self.limit.borrow().calls() + AHEAD {
                self.permitted.set(self.permitted.get() + 1);
                return Permit(self);
            }
            freed.await;
        }
    }

    /// Waits for a place for a call of that many tokens, prompt and limit of the response; the place is given back when the
    /// value is dropped.
    pub(crate) async fn enter(&self, tokens: u64) -> Place<'_> {
        loop {
            let freed = self.freed.notified();
            if let Some(until) = self.paused_until.get().filter(|until| Instant::now() < *until) {
                tokio::time::sleep_until(until.into()).await;
            } else if self.under_way.get() < self.limit.borrow().calls() {
                let admitted = self.pace.borrow_mut().admit(Instant::now(), tokens);
                match admitted {
                    Ok(counted) => {
                        self.under_way.set(self.under_way.get() + 1);
                        return Place { throttle: self, counted };
                    }
                    // It is not the limit that holds this call back: it does not count as waiting. A response that comes
                    // before gives back the tokens that it did not take.
                    Err(wait) => {
                        let _ = tokio::time::timeout(wait, freed).await;
                    }
                }
            } else {
                self.waiting.set(self.waiting.get() + 1);
                let _waiting = Waiting(self);
                freed.await;
            }
        }
    }

    /// A call came back with a response.
    pub(crate) fn succeeded(&self) {
        let saturated = self.waiting.get() > 0;
        self.limit.borrow_mut().succeeded(saturated, Instant::now());
        self.freed.notify_waiters();
    }

    /// A call came back with a fault that may pass, and perhaps with a time to wait. A limit on requests is the account's:
    /// the wait is everybody's, or each call would hear of the limit by itself and use up its tries.
    pub(crate) fn failed(&self, load: ServerLoad, asked: Option<Duration>) {
        let now = Instant::now();
        self.limit.borrow_mut().failed(load, now);
        if let (ServerLoad::RateLimit, Some(asked)) = (load, asked) {
            debug!(seconds = asked.as_secs_f64(), "the server wants no call for {:.1} s", asked.as_secs_f64());
            self.paused_until.set(self.paused_until.get().max(Some(now + asked)));
        }
    }
}

/// One call's place among those in flight.
pub(crate) struct Place<'a> {
    throttle: &'a Throttle,
    counted: Rc<Cell<u64>>,
}

impl Place<'_> {
    /// Counts the tokens there were, in the place of those there could have been.
    pub(crate) fn took(&self, tokens: u64) {
        self.counted.set(tokens.min(MOST_TOKENS));
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.throttle.under_way.set(self.throttle.under_way.get() - 1);
        self.throttle.freed.notify_waiters();
    }
}

/// A permit for a trial, held until it has ended.
pub struct Permit<'a>(&'a Throttle);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.permitted.set(self.0.permitted.get() - 1);
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
        limit.failed(ServerLoad::RateLimit, start);
        limit.failed(ServerLoad::RateLimit, start + Duration::from_secs(1));
        assert_eq!(limit.calls(), 12, "two refusals of one crowd cut once");
        for _ in 0..13 {
            limit.succeeded(true, start);
        }
        assert_eq!(limit.calls(), 13);
        limit.failed(ServerLoad::RateLimit, start + EPISODE);
        assert_eq!(limit.calls(), 11);
    }

    #[test]
    fn it_does_not_grow_while_nothing_waits_or_the_server_fails() {
        let start = Instant::now();
        let mut limit = Limit::new(1000);
        limit.succeeded(false, start);
        assert_eq!(limit.calls(), START);
        limit.failed(ServerLoad::Server, start);
        limit.succeeded(true, start);
        assert_eq!(limit.calls(), START);
        limit.succeeded(true, start + PAUSE);
        assert_eq!(limit.calls(), START + 1);
        assert_eq!(Limit::new(2).calls(), 2);
    }

    #[tokio::test]
    async fn no_more_calls_than_the_limit_are_under_way() {
        let throttle = Throttle::new(2, Rates::default());
        let (first, _second) = (throttle.enter(1).await, throttle.enter(1).await);
        let mut third = Box::pin(throttle.enter(1));
        assert!(tokio::time::timeout(Duration::from_millis(20), &mut third).await.is_err());
        drop(first);
        third.await;
    }

    #[tokio::test]
    async fn a_wait_for_the_rate_limit_is_everybodys_and_ends() {
        let throttle = Throttle::new(8, Rates::default());
        let wait = Duration::from_millis(100);
        throttle.failed(ServerLoad::Server, Some(Duration::from_secs(600)));
        drop(throttle.enter(1).await);
        let refused = Instant::now();
        throttle.failed(ServerLoad::RateLimit, Some(wait));
        throttle.enter(1).await;
        assert!(refused.elapsed() >= wait);
    }

    /// Returns when each of `tokens` is sent, in seconds from the start, each as early as may be; a request takes as
    /// many tokens as it was announced with.
    fn sent(rates: Rates, tokens: &[u64]) -> Vec<f64> {
        let start = Instant::now();
        let mut pace = Pace { rates, ..Pace::default() };
        let mut now = start;
        let mut times = Vec::new();
        for &tokens in tokens {
            while let Err(wait) = pace.admit(now, tokens) {
                assert!(wait > Duration::ZERO);
                now += wait;
            }
            times.push((now - start).as_secs_f64());
        }
        times
    }

    #[test]
    fn no_minute_has_more_than_the_rates_and_nothing_waits_without_need() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            let rates = Rates { rpm: Some(random.u32(1..200)), tpm: Some(random.u64(100..2000)) };
            let (rpm, tpm) = (rates.rpm.unwrap() as usize, rates.tpm.unwrap());
            let tokens: Vec<u64> = (0..50).map(|_| random.u64(1..=100)).collect();
            let times = sent(rates, &tokens);
            for (first, &from) in times.iter().enumerate() {
                let minute = first..times.partition_point(|at| *at < from + 60.0 - 1e-6);
                assert!(minute.len() <= rpm, "{rates:?} {times:?}");
                assert!(tokens[minute].iter().sum::<u64>() <= tpm, "{rates:?} {times:?} {tokens:?}");
            }
        }
        let even = sent(Rates { rpm: Some(120), tpm: None }, &[1; 5]);
        assert!((even[4] - 2.0).abs() < 1e-6, "{even:?}");
        let full = sent(Rates { rpm: None, tpm: Some(100) }, &[60, 40, 60, 40]);
        assert!(full[1] < 1e-6 && (full[2] - 60.0).abs() < 1e-6 && (full[3] - 60.0).abs() < 1e-6, "{full:?}");
    }

    #[tokio::test]
    async fn who_waits_for_tokens_goes_as_soon_as_a_response_gives_them_back() {
        let throttle = Throttle::new(8, Rates { rpm: None, tpm: Some(100) });
        let first = throttle.enter(90).await;
        let mut second = Box::pin(throttle.enter(50));
        assert!(tokio::time::timeout(Duration::from_millis(20), &mut second).await.is_err());
        first.took(40);
        drop(first);
        assert!(tokio::time::timeout(MINUTE / 6, second).await.is_ok(), "it waits for the end of the minute");
    }

    #[test]
    fn a_short_response_gives_its_tokens_back() {
        let now = Instant::now();
        let mut pace = Pace { rates: Rates { rpm: None, tpm: Some(100) }, ..Pace::default() };
        let counted = pace.admit(now, 90).unwrap();
        assert_eq!(pace.admit(now, 50).unwrap_err(), MINUTE);
        counted.set(40);
        assert!(pace.admit(now, 50).is_ok());
    }
}
