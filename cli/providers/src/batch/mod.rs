//! Calls that go through a provider's batch API: collected until no trial can go on without a response, then handed in
//! together; the responses come within a day, for half the price.

mod client;
mod closing;
mod store;

pub use store::{FOLDER, handed_in, open_batches};

use crate::account::Account;
use crate::outgoing::Source;
use crate::tries::{Bill, Tries};
use anyhow::{Result, bail};
use client::BatchClient;
use closeread_llm::provider::{BatchApi, Dialect, Parameters};
use closeread_llm::{Call, HostError, Response};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::path::Path;
use std::time::{Duration, Instant};
use store::{BatchStore, Stage, Ticket};
use tokio::sync::Notify;
use tracing::info;

/// Time without a new call after which every trial is taken to wait.
const QUIET: Duration = Duration::from_secs(5);

/// Refuses a model whose provider has no batch API that is spoken here.
pub fn check_batch(model: &str) -> Result<()> {
    let provider = model.split_once('/').map_or(model, |(provider, _)| provider);
    if matches!(provider, "openai" | "anthropic" | "builtin") {
        return Ok(());
    }
    bail!(
        "--batch: closeread hands batches to openai/MODEL and anthropic/MODEL; {model} has no batch API that it speaks: \
         leave out --batch"
    )
}

/// The calls of one model that go in batches.
pub struct Batcher {
    name: String,
    api: BatchApi,
    client: BatchClient,
    store: BatchStore,
    dialect: Cell<Dialect>,
    /// Interval at which the provider is asked how a batch is doing.
    poll: Duration,
    state: RefCell<State>,
    /// Notice that something was asked, or that something that kept batches from being handed in is over.
    stirred: Notify,
    /// Notice that responses came, or that there is room for more requests.
    settled: Notify,
}

/// The calls that wait, that are at the provider, and that came back.
#[derive(Default)]
struct State {
    /// Ids and entries that are to be handed in, in the order of asking.
    waiting: Vec<(String, String)>,
    waiting_bytes: usize,
    /// The ids of `waiting` and of the batches at the provider.
    under_way: HashSet<String>,
    tickets: Vec<Ticket>,
    /// Responses that came back; kept, for one request may be asked by several trials.
    outcomes: HashMap<String, Result<Response, HostError>>,
    /// Outcomes that somebody took: for whoever takes them again nothing is spent.
    taken: HashSet<String>,
    tries: HashMap<String, u32>,
    /// What failed tries were billed, until who asks has heard of it.
    bills: HashMap<String, Vec<Bill>>,
    asked_at: Option<Instant>,
    /// Number of [`Busy`] values that live: books are being prepared, and more will be asked.
    busy: usize,
    /// Whether to hand in now what waits, although more will be asked.
    is_hurried: bool,
    /// Most requests of a batch where the provider holds as much as it takes: then there is one batch at a time.
    at_most: Option<usize>,
    /// Since when the provider has taken not even one request, because its queue is full.
    full_since: Option<Instant>,
    /// Until when nothing is handed in for that.
    full_until: Option<Instant>,
}

/// A guard: while it lives, more will be asked without any response, and no batch is handed in.
pub struct Busy<'a>(&'a Batcher);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.state.borrow_mut().busy -= 1;
        self.0.stirred.notify_one();
    }
}

impl Batcher {
    /// The batches of a model in a run folder, those of an earlier process included.
    pub fn open(account: Account, timeout: Duration, run: &Path, poll: Duration) -> Result<Self> {
        let name = format!("{}/{}", account.provider.name, account.model);
        let Some(api) = BatchApi::of(account.provider.protocol) else {
            bail!("--batch: {name} has no batch API that closeread speaks");
        };
        let store = BatchStore::of_run(run);
        let mut state = State::default();
        for ticket in store.read(&name)? {
            if ticket.stage == Stage::Ended {
                state
                    .outcomes
                    .extend(store.responses(ticket.number)?.into_iter().map(|(id, response)| (id, Ok(response))));
            } else {
                state.under_way.extend(ticket.requests.iter().cloned());
                state.tickets.push(ticket);
            }
        }
        Ok(Self {
            dialect: Cell::new(account.provider.dialect()),
            client: BatchClient::new(name.clone(), api, account, timeout)?,
            name,
            api,
            store,
            poll,
            state: RefCell::new(state),
            stirred: Notify::new(),
            settled: Notify::new(),
        })
    }

    /// Returns a guard while which lives no batch is handed in.
    pub fn busy(&self) -> Busy<'_> {
        self.state.borrow_mut().busy += 1;
        Busy(self)
    }

    /// Hands in now what waits, although more will be asked: it holds money that others need.
    pub fn hurry(&self) {
        let mut state = self.state.borrow_mut();
        state.is_hurried = !state.waiting.is_empty();
        drop(state);
        self.stirred.notify_one();
    }

    /// Waits until another prompt may be made: prompts of whole books are large, and those that wait are held.
    pub async fn room(&self) {
        loop {
            let settled = self.settled.notified();
            if !self.is_full() {
                return;
            }
            settled.await;
        }
    }

    /// A call as an entry of a batch under `id`.
    pub fn entry(&self, id: &str, call: &Call, source: &Source) -> String {
        let parameters = Parameters {
            model: source.model.clone(),
            seed: source.seed,
            stream: false,
            extra_body: source.extra_body.clone(),
            dialect: self.dialect.get(),
        };
        self.api.entry(id, &self.client.protocol().request(call, &parameters))
    }

    /// Returns whether a request is under way, or has ended.
    pub fn knows(&self, id: &str) -> bool {
        let state = self.state.borrow();
        state.under_way.contains(id) || state.outcomes.contains_key(id)
    }

    /// The response to an entry, whenever it comes. `tries` hears of each batch that gave none.
    pub async fn ask(&self, id: &str, entry: String, tries: &impl Tries) -> Result<Response, HostError> {
        {
            let mut state = self.state.borrow_mut();
            state.asked_at = Some(Instant::now());
            if !state.outcomes.contains_key(id) && state.under_way.insert(id.to_owned()) {
                state.waiting_bytes += entry.len();
                state.waiting.push((id.to_owned(), entry));
            }
        }
        self.stirred.notify_one();
        loop {
            let settled = self.settled.notified();
            let bills = self.state.borrow_mut().bills.remove(id).unwrap_or_default();
            let outcome = self.state.borrow().outcomes.get(id).cloned();
            if bills.is_empty() && matches!(outcome, Some(Err(_))) {
                tries.failed(Bill::Nothing);
            }
            for bill in bills {
                tries.failed(bill);
                if outcome.is_none()
                    && let Err(error) = tries.begin()
                {
                    self.withdraw(id);
                    return Err(error);
                }
            }
            if let Some(outcome) = outcome {
                let remembered = !self.state.borrow_mut().taken.insert(id.to_owned());
                return outcome.map(|response| Response { cached: remembered, ..response });
            }
            settled.await;
        }
    }

    /// Takes a request back that waits for a batch.
    fn withdraw(&self, id: &str) {
        let mut state = self.state.borrow_mut();
        state.waiting.retain(|(there, _)| there != id);
        state.waiting_bytes = state.waiting.iter().map(|(_, entry)| entry.len()).sum();
        state.under_way.remove(id);
    }

    /// Hands in what waits, and looks after what was handed in, for as long as it is polled.
    pub async fn drive(&self) -> Result<Infallible> {
        self.find_again().await?;
        let mut looked_at: Option<Instant> = None;
        loop {
            let nap = self.poll.min(QUIET);
            tokio::select! {
                () = self.stirred.notified() => {}
                () = tokio::time::sleep(nap) => {}
            }
            if self.is_ready() {
                self.hand_in().await?;
                looked_at = Some(Instant::now());
            }
            if looked_at.is_none_or(|at| at.elapsed() >= self.poll) {
                looked_at = Some(Instant::now());
                self.look_after().await?;
            }
        }
    }

    fn is_full(&self) -> bool {
        let (most, bytes) = self.api.limits();
        let state = self.state.borrow();
        state.waiting.len() >= most || state.waiting_bytes >= bytes
    }

    fn is_ready(&self) -> bool {
        let full = self.is_full();
        let state = self.state.borrow();
        let may_be_asked = state.busy > 0 && !state.is_hurried;
        let is_quiet = !may_be_asked && state.asked_at.is_none_or(|at| at.elapsed() >= self.poll.min(QUIET));
        let has_waited = state.full_until.is_none_or(|until| until <= Instant::now());
        let may_hand_in = has_waited && (state.at_most.is_none() || state.tickets.is_empty());
        !state.waiting.is_empty() && (full || is_quiet) && may_hand_in
    }

    /// Finds batches of which an earlier process did not get to write down whether the provider has them.
    async fn find_again(&self) -> Result<()> {
        let tickets = self.state.borrow().tickets.clone();
        if !tickets.is_empty() {
            info!("{}: batches of an earlier run that are taken up again: {}", self.name, tickets.len());
        }
        for ticket in tickets.into_iter().filter(|ticket| ticket.stage == Stage::Prepared) {
            self.find(ticket).await?;
        }
        Ok(())
    }

    async fn find(&self, mut ticket: Ticket) -> Result<()> {
        match self.client.find(&ticket).await? {
            Some(id) => self.submitted(&mut ticket, id),
            None => {
                info!("{}: batch {} had not been handed in; it is now", self.name, ticket.number);
                self.submit(ticket).await
            }
        }
    }

    /// Makes a batch of what waits.
    async fn hand_in(&self) -> Result<()> {
        let (most, bytes) = self.api.limits();
        let entries = {
            let mut state = self.state.borrow_mut();
            state.is_hurried = false;
            let most = most.min(state.at_most.unwrap_or(usize::MAX)).max(1);
            let mut size = 0;
            let fits = |(_, entry): &&(String, String)| {
                size += entry.len() + 1;
                size <= bytes
            };
            // One that is larger than any batch goes alone, and the provider refuses it.
            let n = state.waiting.iter().take(most).take_while(fits).count().max(1);
            let entries: Vec<(String, String)> = state.waiting.drain(..n).collect();
            state.waiting_bytes -= entries.iter().map(|(_, entry)| entry.len()).sum::<usize>();
            entries
        };
        let (requests, entries): (Vec<String>, Vec<String>) = entries.into_iter().unzip();
        let before = self.client.newest().await?;
        let number = self.store.next_number()?;
        let ticket = Ticket {
            number,
            model: self.name.clone(),
            name: format!("closeread-{number:04}-{:016x}", fastrand::u64(..)),
            stage: Stage::Prepared,
            before,
            file: None,
            batch: None,
            unconfirmed: false,
            not_ours: Vec::new(),
            requests,
            billed: Vec::new(),
        };
        self.store.keep_entries(number, &entries)?;
        drop(entries);
        self.store.keep(&ticket)?;
        self.state.borrow_mut().tickets.push(ticket.clone());
        self.settled.notify_waiters();
        self.submit(ticket).await
    }

    /// Hands in a batch that is written down.
    async fn submit(&self, mut ticket: Ticket) -> Result<()> {
        let wanted = ticket.requests.iter().map(String::as_str).collect();
        let entries = self.store.entries(ticket.number, &wanted)?;
        if ticket.file.is_none() {
            ticket.file = self.client.upload(&ticket.name, &entries).await?;
            self.update(&ticket)?;
        }
        let id = self.client.create(&ticket, &entries).await?;
        self.submitted(&mut ticket, id)
    }

    fn submitted(&self, ticket: &mut Ticket, (id, unconfirmed): (String, bool)) -> Result<()> {
        ticket.stage = Stage::Submitted;
        ticket.unconfirmed = unconfirmed;
        ticket.batch = Some(id.clone());
        self.update(ticket)?;
        info!(
            "{}: batch {id} with {} requests is at the provider, who has a day for it; it is looked at every {} s, and the \
             same command resumes it if this one is stopped",
            self.name,
            ticket.requests.len(),
            self.poll.as_secs_f64()
        );
        Ok(())
    }

    fn update(&self, ticket: &Ticket) -> Result<()> {
        self.store.keep(ticket)?;
        let mut state = self.state.borrow_mut();
        if let Some(there) = state.tickets.iter_mut().find(|there| there.number == ticket.number) {
            *there = ticket.clone();
        }
        Ok(())
    }

    /// Asks how the batches are doing, and takes the results of those that have ended.
    async fn look_after(&self) -> Result<()> {
        let tickets = self.state.borrow().tickets.clone();
        for ticket in tickets {
            if ticket.stage == Stage::Prepared {
                self.find(ticket).await?;
                continue;
            }
            let Some(seen) = self.client.look(&ticket).await? else { continue };
            match seen {
                client::Seen::Running => {}
                client::Seen::Rejected { message, too_much } => self.rejected(ticket, &message, too_much)?,
                client::Seen::Ended { results, lacks, is_cancelled } => {
                    self.ended(ticket, results, lacks, is_cancelled)?
                }
            }
        }
        Ok(())
    }
}
