//! Progress on standard error: a bar in a terminal, a plain line now and then elsewhere.

use crate::spending::{Spending, Taken};
use closeread_table::number::thousands;
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::info;

/// Interval at which a plain line is printed where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// A count that goes up to `total`.
pub struct Progress {
    what: String,
    total: usize,
    state: RefCell<State>,
    bar: Option<ProgressBar>,
    /// Number that failed, and what the calls took, where they are counted.
    failed: Cell<usize>,
    spending: Option<Arc<Spending>>,
}

struct State {
    done: usize,
    started: Instant,
    printed: Instant,
}

impl Progress {
    /// Starts a count at 0 of `total`.
    pub fn new(what: &str, total: usize) -> Self {
        let bar = (!closeread_terminal::bars().is_hidden()).then(|| {
            let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len}, {per_sec}, {eta} left{msg}")
                .expect("a valid template");
            let bar = ProgressBar::new(total as u64).with_style(style).with_prefix(what.to_owned());
            closeread_terminal::bars().add(bar)
        });
        let now = Instant::now();
        let state = RefCell::new(State { done: 0, started: now, printed: now });
        Self { what: what.to_owned(), total, state, bar, failed: Cell::new(0), spending: None }
    }

    /// Makes the count also show what failed, what is in flight and what the calls took.
    pub(crate) fn with_spending(self, spending: Arc<Spending>) -> Self {
        Self { spending: Some(spending), ..self }
    }

    /// Counts one more as done, by failing.
    pub(crate) fn tick_failed(&self) {
        self.failed.set(self.failed.get() + 1);
        self.advance(1);
    }

    fn taken(&self) -> String {
        let Some(spending) = &self.spending else { return String::new() };
        taken_in_words(self.failed.get(), &spending.taken())
    }

    /// Counts one more as done.
    pub fn tick(&self) {
        self.advance(1);
    }

    /// Counts `n` more as done.
    pub fn advance(&self, n: usize) {
        let mut state = self.state.borrow_mut();
        state.done += n;
        if let Some(bar) = &self.bar {
            bar.inc(n as u64);
            bar.set_message(self.taken());
        } else if state.printed.elapsed() >= PLAIN_EVERY {
            state.printed = Instant::now();
            let seconds = state.started.elapsed().as_secs_f64();
            let rate = state.done as f64 / seconds;
            let left = (self.total - state.done.min(self.total)) as f64 / rate;
            let (what, done, total, taken) = (&self.what, state.done, self.total, self.taken());
            info!(done, total, "{what}: {done}/{total}, {rate:.1}/s, {left:.0} s left{taken}");
        }
    }

    /// Notes that the count stood still since `since` for another reason: that time says nothing about the rate.
    pub(crate) fn paused(&self, since: Instant) {
        self.state.borrow_mut().started += since.elapsed();
        if let Some(bar) = &self.bar {
            bar.reset_eta();
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Words what was taken: `, 2 failed, 8 in flight, 1,200,000 + 3,400 tokens, $1.23`; what is nothing is not named.
fn taken_in_words(failed: usize, taken: &Taken) -> String {
    let mut words = String::new();
    for (n, what) in [(failed, "failed"), (taken.in_flight, "in flight")] {
        if n > 0 {
            words.push_str(&format!(", {} {what}", thousands(n as u64)));
        }
    }
    if taken.prompt_tokens > 0 || taken.response_tokens > 0 {
        words.push_str(&format!(", {} + {} tokens", thousands(taken.prompt_tokens), thousands(taken.response_tokens)));
    }
    if taken.dollars.0 > 0.0 {
        words.push_str(&format!(", {}", taken.dollars));
    }
    if taken.unpriced > 0 {
        words.push_str(&format!(", {} of unknown price", thousands(taken.unpriced as u64)));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_llm::price::Dollars;

    #[test]
    fn only_what_there_is_is_named() {
        assert_eq!(taken_in_words(0, &Taken::default()), "");
        let taken = Taken {
            in_flight: 8,
            prompt_tokens: 1_200_000,
            response_tokens: 3_400,
            dollars: Dollars(1.234),
            unpriced: 1,
            ..Taken::default()
        };
        assert_eq!(
            taken_in_words(2, &taken),
            ", 2 failed, 8 in flight, 1,200,000 + 3,400 tokens, $1.23, 1 of unknown price"
        );
    }
}
