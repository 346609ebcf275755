//! Progress on standard error: a bar in a terminal, a plain line now and then elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a plain line is printed where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// A count that goes up to `total`.
pub(crate) struct Progress {
    what: String,
    total: usize,
    state: RefCell<State>,
    bar: Option<ProgressBar>,
}

struct State {
    done: usize,
    started: Instant,
    printed: Instant,
}

impl Progress {
    /// Starts at 0 of `total`.
    pub(crate) fn new(what: &str, total: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len}, {per_sec}, {eta} left")
                .expect("a valid template");
            ProgressBar::new(total as u64).with_style(style).with_message(what.to_owned())
        });
        let now = Instant::now();
        let state = RefCell::new(State { done: 0, started: now, printed: now });
        Self { what: what.to_owned(), total, state, bar }
    }

    /// One more is done.
    pub(crate) fn tick(&self) {
        self.advance(1);
    }

    /// `n` more are done.
    pub(crate) fn advance(&self, n: usize) {
        let mut state = self.state.borrow_mut();
        state.done += n;
        if let Some(bar) = &self.bar {
            bar.inc(n as u64);
        } else if state.printed.elapsed() >= PLAIN_EVERY {
            state.printed = Instant::now();
            let seconds = state.started.elapsed().as_secs_f64();
            let rate = state.done as f64 / seconds;
            let left = (self.total - state.done.min(self.total)) as f64 / rate;
            eprintln!("{}: {}/{}, {rate:.1}/s, {left:.0} s left", self.what, state.done, self.total);
        }
    }

    /// The count stood still since `since` for another reason: that time says nothing about the rate.
    pub(crate) fn paused(&self, since: Instant) {
        self.state.borrow_mut().started += since.elapsed();
        if let Some(bar) = &self.bar {
            bar.reset_eta();
        }
    }

    /// A message that does not disturb the bar.
    pub(crate) fn say(&self, message: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{message}")),
            None => eprintln!("{message}"),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
