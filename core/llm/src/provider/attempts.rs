//! Attempts at a call: when it is sent, sent again and given up, for every driver: the command line, the page.
//!
//! A driver asks [`Attempts::next`] what to do and does it; a fault goes to [`Attempts::failed`], which says what to tell
//! the user. Nothing here sends, waits or draws numbers.

use super::dialect::Dialect;
use super::{Adjustment, Fault, ServerLoad};
use crate::HostError;
use std::fmt;
use std::time::Duration;

/// Longest wait of our own between two tries.
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// Most successes without an answer: an address that gives a web page mostly always does, and what else holds no answer is
/// billed each time.
const MOST_WITHOUT_ANSWER: u32 = 3;
/// Longest time that is added to a wait that the server asks for, so that not all calls come back at once.
const MAX_SPREAD: Duration = Duration::from_millis(500);
/// Waits that are longer than this are not worth a number.
const TEN_YEARS: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Limits on how far a driver goes for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tries before the call counts as failed; at least one is made.
    pub tries: u32,
    /// Tries where no connection came to be.
    pub unreached_tries: u32,
    /// Longest wait that a server is granted; what asks for more is not going to answer within the run.
    pub longest_wait: Duration,
}

impl Default for Limits {
    /// Returns the limits of a run: a server that starts later than the run is waited for.
    fn default() -> Self {
        Self { tries: 8, unreached_tries: 8, longest_wait: Duration::from_secs(3600) }
    }
}

impl Limits {
    /// Returns the limits of a look at a server that somebody waits for: what is not there is said at once.
    pub fn impatient() -> Self {
        Self { tries: 2, unreached_tries: 1, longest_wait: Duration::from_secs(60) }
    }
}

/// State of an account, learnt from its calls: how its model is asked, and whether it answers at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AccountState {
    /// Dialect in which the model wants to be asked, as far as it is known.
    pub dialect: Dialect,
    /// The reason why no call gets a response any more.
    pub closed: Option<String>,
}

/// The next step of a driver.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Send the call in this dialect. Until the try has failed, this step is given again.
    Send(Dialect),
    /// Wait for this time, then ask again for a step.
    Wait(Duration),
    /// The call has failed for good.
    Ended(HostError),
}

/// Notice of what a failed try means for other calls and for the user. `Display` words it for a log.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// The call is sent again.
    Again {
        /// Message of the fault.
        message: String,
        /// Load of the server that the fault shows.
        load: ServerLoad,
        /// The wait that the server asks for.
        asked: Option<Duration>,
        /// The wait until the next try.
        wait: Duration,
        /// Number of tries that failed.
        tries: u32,
        /// Number of tries that the limits allow.
        of: u32,
    },
    /// The model refused a field, and is asked at once without it.
    Otherwise {
        /// Message of the server.
        message: String,
    },
    /// The call has failed.
    Ended {
        /// The error that ended the call.
        error: HostError,
        /// Load of the server that the fault shows, where it shows any.
        load: Option<ServerLoad>,
    },
    /// The call has failed, and all others of the account will.
    Closed {
        /// The error that closed the account.
        error: HostError,
    },
}

impl Notice {
    /// Returns the load of the server that the try shows, and how long the server wants no request.
    pub fn load(&self) -> Option<(ServerLoad, Option<Duration>)> {
        match self {
            Self::Again { load, asked, .. } => Some((*load, *asked)),
            Self::Ended { load, .. } => load.map(|load| (load, None)),
            Self::Otherwise { .. } | Self::Closed { .. } => None,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Again { message, wait, tries, of, .. } => {
                write!(f, "{message}; try {tries} of {of}, again in {:.1} s", wait.as_secs_f64())
            }
            Self::Otherwise { message } => write!(f, "{message}; asked again without it"),
            Self::Ended { error, .. } => write!(f, "{error}; not tried again"),
            Self::Closed { error } => write!(f, "{error}; nothing more is asked"),
        }
    }
}

/// The tries of one call.
#[derive(Debug, Clone)]
pub struct Attempts {
    limits: Limits,
    tries: u32,
    /// Tries that gave a web page, or a success without an answer.
    without_answer: u32,
    /// Adjustments that the model's refusals of this call led to. Asking twice in a way that was refused would never
    /// end.
    adjustments: Vec<Adjustment>,
    sent: Dialect,
    next: Next,
}

#[derive(Debug, Clone)]
enum Next {
    Send,
    Wait(Duration),
    Ended(HostError),
}

impl Attempts {
    /// Begins without a try.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            tries: 0,
            without_answer: 0,
            adjustments: Vec::new(),
            sent: Dialect::default(),
            next: Next::Send,
        }
    }

    /// Returns what to do next, as things stand with the account.
    pub fn next(&mut self, account: &AccountState) -> Step {
        match (&self.next, &account.closed) {
            (Next::Ended(error), _) => Step::Ended(error.clone()),
            (_, Some(why)) => {
                let message = format!("not sent, because a call before it failed for good: {why}");
                self.ended(HostError::Failed(message))
            }
            (Next::Send, None) => {
                let known = account.dialect;
                self.sent = self.adjustments.iter().fold(known, |d, refused| d.adjusted(*refused).unwrap_or(d));
                Step::Send(self.sent)
            }
            (Next::Wait(wait), None) => {
                let wait = *wait;
                self.next = Next::Send;
                Step::Wait(wait)
            }
        }
    }

    /// Notes that a try failed, which went out `waited` after the one before it; `chance` is drawn evenly from 0..1.
    pub fn failed(&mut self, fault: Fault, account: &mut AccountState, waited: Duration, chance: f64) -> Notice {
        match fault {
            Fault::Final(error) => self.end(error, None),
            Fault::Closed(error) => {
                account.closed.get_or_insert_with(|| match &error {
                    HostError::Failed(message) => message.clone(),
                    other => other.to_string(),
                });
                self.ended(error.clone());
                Notice::Closed { error }
            }
            Fault::Refused { adjustment, message } => {
                if self.sent.adjusted(adjustment).is_none() || self.adjustments.contains(&adjustment) {
                    return self.end(HostError::Failed(message), None);
                }
                self.adjustments.push(adjustment);
                account.dialect = account.dialect.adjusted(adjustment).unwrap_or(account.dialect);
                Notice::Otherwise { message }
            }
            Fault::Transient { load, message, retry_after: asked } => {
                self.tries += 1;
                self.without_answer += u32::from(matches!(load, ServerLoad::Page | ServerLoad::NoAnswer));
                let of = match load {
                    ServerLoad::Page | ServerLoad::NoAnswer if self.without_answer >= MOST_WITHOUT_ANSWER => self.tries,
                    ServerLoad::Unreached => self.limits.unreached_tries.min(self.limits.tries),
                    _ => self.limits.tries,
                };
                if let Some(asked) = asked.filter(|asked| *asked > self.limits.longest_wait) {
                    return self.end(HostError::Failed(too_long(&message, asked, self.limits.longest_wait)), None);
                }
                if self.tries >= of {
                    let after = if self.tries > 1 { format!(", after {} tries", self.tries) } else { String::new() };
                    return self.end(HostError::Failed(message + &after), Some(load));
                }
                let wait = wait(self.tries, asked, waited, chance);
                self.next = Next::Wait(wait);
                Notice::Again { message, load, asked, wait, tries: self.tries, of }
            }
        }
    }

    fn end(&mut self, error: HostError, load: Option<ServerLoad>) -> Notice {
        self.ended(error.clone());
        Notice::Ended { error, load }
    }

    fn ended(&mut self, error: HostError) -> Step {
        self.next = Next::Ended(error.clone());
        Step::Ended(error)
    }
}

/// A wait that is not granted, in words.
fn too_long(message: &str, asked: Duration, longest: Duration) -> String {
    let longest = match longest.as_secs() {
        3600 => "an hour".to_owned(),
        seconds => format!("{seconds} s"),
    };
    let seconds = if asked > TEN_YEARS { String::new() } else { format!(" ({} s)", asked.as_secs()) };
    format!("{message}; the server asks to wait more than {longest}{seconds}, which is not waited for")
}

/// Returns the time to wait: what the server asks for and a little more, from the second fault on no less than seconds
/// that double: a server that asks for no wait time after time would use up all tries in a moment. Else a wait that
/// doubles, of which chance takes up to two fifths, and which is longer than the last, however long that was with the
/// wait for a place.
fn wait(tries: u32, asked: Option<Duration>, last: Duration, chance: f64) -> Duration {
    let chance = if chance.is_nan() { 0.0 } else { chance.clamp(0.0, 1.0) };
    match asked {
        Some(asked) => {
            let least = Duration::from_secs((1 << tries.min(6)) / 4);
            asked.max(least).saturating_add(MAX_SPREAD.mul_f64(0.1 + 0.9 * chance))
        }
        None => {
            let most = Duration::from_secs(1 << tries.min(6)).min(MAX_BACKOFF);
            most.mul_f64(0.6 + 0.4 * chance).max(last.min(MAX_BACKOFF).mul_f64(1.25)).min(MAX_BACKOFF)
        }
    }
}

#[cfg(test)]
mod tests;
