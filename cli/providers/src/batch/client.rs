//! The provider's side of batches, where they are handed in one request at a time.

use super::store::{Stage, Ticket};
use crate::account::Account;
use crate::secrets::Secrets;
use crate::throttle::{Rates, Throttle};
use crate::wire::{Message, Received, Wire, final_error};
use anyhow::{Result, anyhow, bail};
use closeread_llm::HostError;
use closeread_llm::provider::{BatchApi, BatchMessage, BatchPhase, BatchResult, BatchState, Fault, Protocol, Request};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tracing::info;

/// Pages of batches that are looked through for one that was handed in before a kill.
const PAGES: usize = 20;
/// Times that results are asked for which lack answers that the provider counts.
const LOOKS: u32 = 10;
/// Most bytes of a batch's results: as many as a batch may have requests, each answered at length.
const MAX_RESULTS_BYTES: usize = 1 << 30;

/// The provider's batch API for one account.
pub(super) struct BatchClient {
    name: String,
    api: BatchApi,
    account: Account,
    wire: Wire,
    throttle: Throttle,
    /// Last message on each batch, so that nothing is said twice.
    said: RefCell<HashMap<String, String>>,
    /// Number of times that the results of a batch lacked answers.
    lacked: RefCell<HashMap<String, u32>>,
}

/// The state in which a batch was found.
pub(super) enum Seen {
    Running,
    Rejected {
        message: String,
        too_much: bool,
    },
    Ended {
        results: Vec<BatchResult>,
        /// Whether the provider counts answers that its results do not hold.
        lacks: bool,
        /// Whether somebody cancelled the batch at the provider.
        is_cancelled: bool,
    },
}

impl BatchClient {
    pub(super) fn new(name: String, api: BatchApi, account: Account, timeout: Duration) -> Result<Self> {
        let secrets = Secrets::of(account.key.as_ref(), &account.base_url);
        let wire =
            Wire::new(name.clone(), (&account.base_url, "--base-url"), secrets, timeout)?.reading(MAX_RESULTS_BYTES);
        let throttle = Throttle::new(1, Rates::default());
        Ok(Self { name, api, account, wire, throttle, said: RefCell::default(), lacked: RefCell::default() })
    }

    pub(super) fn protocol(&self) -> Protocol {
        self.account.provider.protocol
    }

    pub(super) fn redacted(&self, error: HostError) -> HostError {
        self.wire.redacted(error)
    }

    /// The newest batch of the account.
    pub(super) async fn newest(&self) -> Result<Option<String>> {
        let (states, _) = self.send(self.api.list(None), |received| self.read_list(received)).await?;
        Ok(states.into_iter().next().map(|state| state.id))
    }

    /// The file of the entries, where the provider takes files.
    pub(super) async fn upload(&self, name: &str, entries: &[String]) -> Result<Option<String>> {
        match self.api.upload(name, entries) {
            None => Ok(None),
            Some(message) => {
                let read = |received: &Received| {
                    self.api.read_upload(received.response()).and_then(|id| self.wire.without_secrets(id))
                };
                self.send(message, read).await.map(Some)
            }
        }
    }

    /// Hands a batch in, once. A try that broke may have arrived: it is looked for before the next one.
    pub(super) async fn create(&self, ticket: &Ticket, entries: &[String]) -> Result<(String, bool)> {
        let message = self.message(self.api.create(&ticket.name, ticket.file.as_deref(), entries));
        let tried = Cell::new(false);
        // What is looked for in between has a place of its own.
        let throttle = Throttle::new(1, Rates::default());
        let created = self.wire.send_as(&throttle, 0, async |_, _| {
            if tried.replace(true) {
                let found = self.find(ticket).await;
                if let Some(found) = found.map_err(|error| Fault::Final(HostError::Failed(format!("{error:#}"))))? {
                    return Ok(found);
                }
            }
            let created = self.wire.once(&message).await.and_then(|got| self.api.read_state(got.response()));
            created.and_then(|state| Ok((self.wire.without_secrets(state.id)?, false)))
        });
        created.await.map_err(|error| anyhow!("{}: the batch could not be handed in: {error}", self.name))
    }

    /// The provider's name for a batch that may have been handed in; and whether only its size speaks for it.
    pub(super) async fn find(&self, ticket: &Ticket) -> Result<Option<(String, bool)>> {
        let mut after: Option<String> = None;
        for _ in 0..PAGES {
            let message = self.api.list(after.as_deref());
            let (states, more) = self.send(message, |received| self.read_list(received)).await?;
            for state in &states {
                if Some(&state.id) == ticket.before.as_ref() {
                    return Ok(None);
                }
                if self.is_of(state, ticket) {
                    return Ok(Some((state.id.clone(), state.name.is_none())));
                }
            }
            after = states.last().map(|state| state.id.clone());
            if !more || after.is_none() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    fn read_list(&self, received: &Received) -> Result<(Vec<BatchState>, bool), Fault> {
        let (states, more) = self.api.read_list(received.response())?;
        states.iter().try_for_each(|state| self.wire.without_secrets(state.id.clone()).map(drop))?;
        Ok((states, more))
    }

    fn is_of(&self, state: &BatchState, ticket: &Ticket) -> bool {
        match self.api {
            BatchApi::OpenAi => state.name.as_deref() == Some(&ticket.name),
            BatchApi::Anthropic => state.total == ticket.requests.len() as u64 && !ticket.not_ours.contains(&state.id),
        }
    }

    /// Returns the state of a batch, with the results of one that has ended; `None` where the provider did not say this
    /// time.
    pub(super) async fn look(&self, ticket: &Ticket) -> Result<Option<Seen>> {
        let Some(id) = ticket.batch.as_ref().filter(|_| ticket.stage == Stage::Submitted) else { return Ok(None) };
        let seen = self.wire.once(&self.message(self.api.look(id))).await;
        let state = match seen.and_then(|received| self.api.read_state(received.response())) {
            Ok(state) => state,
            Err(Fault::Transient { message, .. }) => {
                let error = self.wire.redacted(HostError::Failed(message));
                self.say(id, format!("the provider does not say how it is doing ({error})"));
                return Ok(None);
            }
            Err(fault) => {
                let error = self.wire.redacted(final_error(fault));
                bail!("{}: the provider does not tell of batch {id}: {error}{}", self.name, on_ticket(ticket));
            }
        };
        match &state.phase {
            BatchPhase::Running => {
                self.say(id, format!("{}, {} of {} requests done", state.status, state.done, ticket.requests.len()));
                Ok(Some(Seen::Running))
            }
            BatchPhase::Rejected { message, too_much } => {
                Ok(Some(Seen::Rejected { message: self.wire.redact(message), too_much: *too_much }))
            }
            BatchPhase::Ended => {
                let mut results = Vec::new();
                for message in self.api.results(&state) {
                    let got = self.send(message, |got| self.api.read_results(got.response())).await;
                    results.extend(got.map_err(|error| anyhow!("{error:#}{}", on_ticket(ticket)))?);
                }
                let answered: HashSet<&str> =
                    results.iter().filter(|told| told.answered).map(|told| told.id.as_str()).collect();
                let n_lacking = state.answered.saturating_sub(answered.len() as u64);
                if n_lacking > 0 && self.looks_again(id) {
                    let n = state.answered;
                    self.say(id, format!("its results lack {n_lacking} of {n} answers, and are asked for again"));
                    return Ok(Some(Seen::Running));
                }
                let redacted = |told: BatchResult| {
                    let result = told.result.map(|response| self.wire.redact_response(response));
                    BatchResult { result, ..told }
                };
                let results = results.into_iter().map(redacted).collect();
                Ok(Some(Seen::Ended { results, lacks: n_lacking > 0, is_cancelled: state.status == "cancelled" }))
            }
        }
    }

    /// Returns whether results that lack answers are waited for once more: they may have been cut short on the way, or not all be
    /// there yet, and what is handed in again is paid again.
    fn looks_again(&self, id: &str) -> bool {
        let mut lacked = self.lacked.borrow_mut();
        let times = lacked.entry(id.to_owned()).or_default();
        *times += 1;
        *times < LOOKS
    }

    fn say(&self, id: &str, what: String) {
        let what = self.wire.redact(&what);
        let mut said = self.said.borrow_mut();
        if said.get(id) != Some(&what) {
            info!("{}: waiting for batch {id}: {what}", self.name);
            said.insert(id.to_owned(), what);
        }
    }

    async fn send<T>(&self, message: BatchMessage, read: impl Fn(&Received) -> Result<T, Fault>) -> Result<T> {
        let sent = self.wire.send(&self.throttle, 0, &self.message(message), read).await;
        sent.map_err(|error| anyhow!("{}: the batch API did not answer: {error}", self.name))
    }

    fn message(&self, message: BatchMessage) -> Message {
        let BatchMessage { path, headers, body } = message;
        let request = Request { path, headers: Vec::new(), body: Value::Null };
        let protocol = self.protocol();
        let base_url = self.account.base_url.reveal();
        let key = self.account.key.as_ref().map(|key| protocol.key_header(base_url, key.reveal()));
        let headers = headers.into_iter().map(|(name, value)| (name, value.to_owned())).chain(key);
        Message { url: protocol.url(base_url, &request), headers: headers.collect(), body }
    }
}

/// What becomes of a batch of which the provider does not tell.
fn on_ticket(ticket: &Ticket) -> String {
    format!(
        "\n  Its ticket stays in the run folder, and the same command asks for it again; without batches/{:04}.json its requests \
         are asked anew",
        ticket.number
    )
}
