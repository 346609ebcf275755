//! The end of a batch: responses for those who wait, requests that are handed in again, requests that failed.

use super::Batcher;
use super::store::{Stage, Ticket};
use crate::tries::Bill;
use anyhow::Result;
use closeread_llm::provider::{Adjustment, BatchApi, BatchResult, Fault, ServerLoad};
use closeread_llm::{HostError, Response};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use tracing::info;

/// Batches that one request may be in before it counts as failed.
const MAX_BATCHES: u32 = 3;
/// Longest that a full queue is waited for: whatever is in it ends within a day.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Longest wait before a full queue is tried again.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 60);
/// Most bytes of a request that make a token.
const BYTES_A_TOKEN: usize = 6;

impl Batcher {
    /// A batch of which nothing was asked.
    pub(super) fn rejected(&self, ticket: Ticket, message: &str, too_much: bool) -> Result<()> {
        let n = ticket.requests.len();
        if too_much {
            let alone = self.state.borrow().tickets.len() == 1;
            let at_most = if alone { n / 2 } else { n };
            let all: HashSet<&str> = ticket.requests.iter().map(String::as_str).collect();
            let entries = self.store.entries(ticket.number, &all)?;
            if at_most > 0 {
                info!("{}: {message}; batches of at most {at_most} requests are handed in one by one", self.name);
                self.state.borrow_mut().at_most = Some(at_most);
                return self.close(&ticket, Vec::new(), entries, Vec::new());
            }
            if let Some(wait) = self.wait_for_queue(&entries, message) {
                let seconds = wait.as_secs_f64().ceil();
                info!("{}: {message}; others may fill the queue: it is tried again in {seconds} s", self.name);
                return self.close(&ticket, Vec::new(), entries, Vec::new());
            }
        }
        let error = HostError::Failed(format!("the provider rejected the batch: {message}"));
        let failed = ticket.requests.iter().map(|id| (id.clone(), error.clone())).collect();
        self.close(&ticket, Vec::new(), Vec::new(), failed)
    }

    /// Returns for how long nothing is handed in because the queue takes not even one request; `None` where waiting does not help.
    fn wait_for_queue(&self, entries: &[String], message: &str) -> Option<Duration> {
        let bytes: usize = entries.iter().map(String::len).sum();
        if queue_named(message).is_some_and(|tokens| bytes / BYTES_A_TOKEN > tokens) {
            return None;
        }
        let mut state = self.state.borrow_mut();
        let waited = state.full_since.get_or_insert_with(Instant::now).elapsed();
        if waited > A_DAY {
            return None;
        }
        let wait = (waited / 2).clamp(self.poll, LONGEST_WAIT.max(self.poll));
        state.at_most = Some(1);
        state.full_until = Some(Instant::now() + wait);
        Some(wait)
    }

    /// Closes a batch with results, which may lack answers that the provider counts.
    pub(super) fn ended(
        &self,
        mut ticket: Ticket,
        results: Vec<BatchResult>,
        lacks: bool,
        is_cancelled: bool,
    ) -> Result<()> {
        let ours: HashSet<String> = ticket.requests.iter().cloned().collect();
        // Of our own batch the provider may tell of requests that are not ours as well, or not of all.
        let n_ours = results.iter().filter(|told| ours.contains(&told.id)).count();
        if ticket.unconfirmed && 2 * n_ours < results.len() {
            info!("{}: batch {:?} turned out to be another's; ours is looked for again", self.name, ticket.batch);
            ticket.not_ours.extend(ticket.batch.take());
            ticket.stage = Stage::Prepared;
            return self.update(&ticket);
        }
        let mut state = self.state.borrow_mut();
        if state.full_since.take().is_some() {
            state.at_most = None;
        }
        drop(state);
        self.note_bills(&mut ticket, &results, &ours, lacks);
        let mut by_id: HashMap<String, Result<Response, Fault>> = HashMap::new();
        for told in results {
            // Of a request that is told of twice an answer counts, which was paid: the first one.
            if !by_id.get(&told.id).is_some_and(Result::is_ok) {
                by_id.insert(told.id, told.result);
            }
        }
        let (mut responses, mut again, mut failed) = (Vec::new(), HashMap::new(), Vec::new());
        for id in &ticket.requests {
            let silent = || match is_cancelled {
                true => Err(Fault::Final(HostError::Failed("the batch was cancelled".to_owned()))),
                false => Err(Fault::transient(ServerLoad::Server, "the batch holds no result")),
            };
            match by_id.remove(id).unwrap_or_else(silent) {
                Ok(mut response) => {
                    response.usage.batch = true;
                    responses.push((id.clone(), response));
                }
                Err(Fault::Refused { adjustment, message }) => {
                    self.learn(adjustment);
                    again.insert(id.as_str(), (Some(adjustment), message));
                }
                Err(Fault::Transient { message, .. }) => drop(again.insert(id.as_str(), (None, message))),
                Err(Fault::Final(error) | Fault::Closed(error)) => {
                    failed.push((id.clone(), self.client.redacted(error)))
                }
            }
        }
        let entries = self.again(&ticket, again, &mut failed)?;
        info!(
            "{}: batch {} has ended: {} responses, {} requests to be handed in again, {} failed",
            self.name,
            ticket.batch.as_deref().unwrap_or("-"),
            responses.len(),
            entries.len(),
            failed.len()
        );
        self.close(&ticket, responses, entries, failed)
    }

    /// Notes what the provider counts for our requests of a batch. Where its results lack answers that it counts, all requests
    /// without a result may have been billed.
    fn note_bills(&self, ticket: &mut Ticket, results: &[BatchResult], ours: &HashSet<String>, lacks: bool) {
        let mut state = self.state.borrow_mut();
        for BatchResult { id, told, .. } in results.iter().filter(|told| ours.contains(&told.id)) {
            if let Some(told) = told {
                state.bills.entry(id.clone()).or_default().push(Bill::Told(*told));
                ticket.billed.push(id.clone());
            }
        }
        if lacks {
            let told: HashSet<&str> = results.iter().map(|told| told.id.as_str()).collect();
            for id in ticket.requests.iter().filter(|id| !told.contains(id.as_str())) {
                state.bills.entry(id.clone()).or_default().push(Bill::Unknown);
                ticket.billed.push(id.clone());
            }
        }
    }

    /// The entries of requests that are handed in again, as their faults want them; the others go to `failed`.
    fn again(
        &self,
        ticket: &Ticket,
        mut again: HashMap<&str, (Option<Adjustment>, String)>,
        failed: &mut Vec<(String, HostError)>,
    ) -> Result<Vec<String>> {
        let mut entries = Vec::new();
        let wanted: HashSet<&str> = again.keys().copied().collect();
        for entry in self.store.entries(ticket.number, &wanted)? {
            let Some((id, (adjustment, message))) = BatchApi::id_of(&entry).and_then(|id| {
                let fault = again.remove(id.as_str())?;
                Some((id, fault))
            }) else {
                continue;
            };
            let tries = {
                let mut state = self.state.borrow_mut();
                let tries = state.tries.entry(id.clone()).or_insert(0);
                *tries += 1;
                *tries
            };
            let adjusted = match adjustment {
                Some(adjustment) => self.api.adjusted(&entry, adjustment),
                None => Some(entry),
            };
            match adjusted.filter(|_| tries < MAX_BATCHES) {
                Some(entry) => entries.push(entry),
                None => {
                    let error = HostError::Failed(format!("{message}, after {tries} batches"));
                    failed.push((id, self.client.redacted(error)));
                }
            }
        }
        let lost = "its request is not in the run folder any more";
        for (id, (_, message)) in again {
            failed.push((id.to_owned(), self.client.redacted(HostError::Failed(format!("{message}, and {lost}")))));
        }
        Ok(entries)
    }

    fn learn(&self, adjustment: Adjustment) {
        if let Some(dialect) = self.dialect.get().adjusted(adjustment) {
            self.dialect.set(dialect);
        }
    }

    /// Writes down the end of a batch, and lets those who wait for its requests go on.
    fn close(
        &self,
        ticket: &Ticket,
        responses: Vec<(String, Response)>,
        again: Vec<String>,
        failed: Vec<(String, HostError)>,
    ) -> Result<()> {
        self.store.keep_responses(ticket.number, &responses)?;
        self.store.keep(&Ticket { stage: Stage::Ended, ..ticket.clone() })?;
        self.store.forget_entries(ticket.number);
        {
            let mut state = self.state.borrow_mut();
            state.tickets.retain(|there| there.number != ticket.number);
            for (id, outcome) in responses
                .into_iter()
                .map(|(id, response)| (id, Ok(response)))
                .chain(failed.into_iter().map(|(id, e)| (id, Err(e))))
            {
                state.under_way.remove(&id);
                state.outcomes.insert(id, outcome);
            }
            for entry in again {
                if let Some(id) = BatchApi::id_of(&entry) {
                    state.waiting_bytes += entry.len();
                    state.waiting.push((id, entry));
                }
            }
            state.asked_at = Some(Instant::now());
        }
        self.settled.notify_waiters();
        Ok(())
    }
}

/// The tokens that the provider's queue holds, where its message names them.
fn queue_named(message: &str) -> Option<usize> {
    let (_, named) = message.split_once("Limit: ")?;
    let digits = named.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(char::is_ascii_digit);
    digits.collect::<String>().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_how_much_the_queue_holds() {
        let of_openai = "Enqueued token limit reached for gpt-4o. Limit: 90,000 enqueued tokens. Please wait.";
        assert_eq!(queue_named(of_openai), Some(90_000));
        assert_eq!(queue_named("Enqueued token limit reached"), None);
    }
}
