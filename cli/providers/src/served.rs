//! Models on servers that are asked for numbers and not for words, embedding models and rerankers: whose they are, with what key.

use crate::account::Address;
use crate::query::told_apart;
use crate::secrets::Secrets;
use crate::throttle::{Place, Rates, Throttle};
use crate::tries::{Bill, Tries, bill};
use crate::wire::{Message, Received, Wire};
use anyhow::Result;
use closeread_llm::provider::{Dialect, Fault, Limits, Protocol, Request, Secret, TeiInfo, with_path};
use closeread_llm::{HostError, Usage};
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// Longest that one request may take, where limits do not grant less.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A kind of such models, and how a provider of it is asked.
pub trait Kind: Sized + 'static {
    /// Name of such a model in messages.
    const MODEL: &'static str;
    /// What closeread does with such models, in words before the list of their providers.
    const FROM: &'static str;
    /// The option that names the address of a server.
    const ADDRESS: &'static str;
    /// Most requests to make at once; the throttle begins with fewer.
    const CONCURRENCY: usize;

    /// Returns every provider of the kind, in the order in which help lists them.
    fn providers() -> &'static [ServedProvider<Self>];

    /// Returns whether a server says what it serves, as Text-Embeddings-Inference does.
    fn says_what_it_serves(&self) -> bool;
}

/// A provider of models of a kind.
#[derive(Debug)]
pub struct ServedProvider<K: 'static> {
    /// Name of the provider, before the slash of a model's name.
    pub name: &'static str,
    /// Way in which the provider is asked.
    pub asked: K,
    /// Variables in which its key is looked for, first come first served.
    pub variables: &'static [&'static str],
    /// Address of the provider, where it has one of its own.
    pub base_url: Option<&'static str>,
    /// Ending of the address, for messages.
    pub(crate) address_ends: &'static str,
    /// Most texts of a request: what the provider takes, or what one server can be asked at once.
    pub texts: usize,
}

/// A model of a provider, with address and key.
#[derive(Debug)]
pub struct ServedAccount<K: 'static> {
    /// Provider of the model.
    pub provider: &'static ServedProvider<K>,
    /// Name of the model at the provider.
    pub model: String,
    /// Address that requests go to.
    base_url: Address,
    key: Option<Secret>,
    limits: Limits,
}

impl<K> Clone for ServedAccount<K> {
    fn clone(&self) -> Self {
        Self { model: self.model.clone(), base_url: self.base_url.clone(), key: self.key.clone(), ..*self }
    }
}

impl<K> ServedAccount<K> {
    pub(crate) fn new(
        provider: &'static ServedProvider<K>,
        model: String,
        base_url: Address,
        key: Option<Secret>,
    ) -> Self {
        Self { provider, model, base_url, key, limits: Limits::default() }
    }

    /// Returns the account with these limits for its requests.
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the model's name in options.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.name, self.model)
    }

    /// The address without user, password and query.
    pub fn endpoint(&self) -> String {
        self.base_url.shown()
    }

    /// The address without what may be a key, with the hash of what its query chooses: what it gives depends on both.
    pub fn told_apart(&self) -> String {
        told_apart(self.base_url.reveal())
    }

    /// The address that an option has to give to mean this server, in words.
    pub fn to_give(&self) -> String {
        let query = if self.told_apart() == self.endpoint() { "" } else { ", with the query that it had" };
        format!("{}{query}", self.endpoint())
    }

    fn message(&self, path: &str, request: Option<&Request>) -> Message {
        let base_url = self.base_url.reveal();
        let key = self.key.as_ref().map(|key| Protocol::OpenAi.key_header(base_url, key.reveal()));
        Message {
            url: with_path(base_url, path),
            headers: key.into_iter().collect(),
            body: request.map(|request| ("application/json".to_owned(), request.body.to_string().into_bytes())),
        }
    }
}

/// Returns whether a server can have counted so many tokens in the texts. A token has a byte at least; what stands around
/// a text has a few.
pub(crate) fn can_be_tokens<'t>(told: u64, texts: impl Iterator<Item = &'t str> + Clone) -> bool {
    /// Most tokens of an instruction and of special tokens around a text.
    const AROUND: u64 = 1000;
    let least = u64::from(texts.clone().any(|text| !text.is_empty()));
    (least..=texts.map(|text| text.len() as u64 + AROUND).sum()).contains(&told)
}

/// The server of a model.
pub struct ModelServer<K: 'static> {
    account: ServedAccount<K>,
    wire: Wire,
    throttle: Throttle,
}

impl<K: Kind> ModelServer<K> {
    /// The server of the account.
    pub fn new(account: ServedAccount<K>) -> Result<Self> {
        let secrets = Secrets::of(account.key.as_ref(), &account.base_url);
        let timeout = TIMEOUT.min(account.limits.longest_wait);
        let wire = Wire::new(account.name(), (&account.base_url, K::ADDRESS), secrets, timeout)?.within(account.limits);
        Ok(Self { account, wire, throttle: Throttle::new(K::CONCURRENCY, Rates::default()) })
    }

    /// Returns the account of the server.
    pub fn account(&self) -> &ServedAccount<K> {
        &self.account
    }

    /// Returns what a server of Text-Embeddings-Inference says of itself; `None` for others, which say nothing.
    pub async fn info(&self) -> Result<Option<TeiInfo>, HostError> {
        if !self.account.provider.asked.says_what_it_serves() {
            return Ok(None);
        }
        let message = self.account.message(TeiInfo::PATH, None);
        self.wire.send(&self.throttle, 0, &message, |received| TeiInfo::read(received.response())).await.map(Some)
    }

    /// Sends a request; returns what `read` makes of the reply. `tries` hears of each try.
    pub(crate) async fn send<T>(
        &self,
        request: &Request,
        tries: &impl Tries,
        read: impl Fn(&Received) -> Result<T, Fault>,
    ) -> Asked<T> {
        let message = self.account.message(&request.path, Some(request));
        let (lost, is_sent) = (RefCell::new(Vec::new()), Cell::new(false));
        let once = async |_: Dialect, _: &Place<'_>| {
            tries.begin().map_err(Fault::Final)?;
            is_sent.set(true);
            let received = self.wire.once(&message).await;
            is_sent.set(false);
            let (status, tokens) = received.as_ref().map(Received::told).ok().unzip();
            let told = tokens.flatten().map(|prompt| Usage { prompt_tokens: Some(prompt), ..Usage::default() });
            let result = received.and_then(|received| read(&received));
            if let Err(fault) = &result {
                let bill = bill(fault, status, told);
                tries.failed(bill);
                match bill {
                    Bill::Nothing => {}
                    Bill::Told(usage) => lost.borrow_mut().push(usage.prompt_tokens),
                    Bill::Unknown => lost.borrow_mut().push(None),
                }
            }
            result
        };
        let result = self.wire.send_as(&self.throttle, 0, once).await;
        let mut lost = lost.into_inner();
        // The program ends, and a try is at the server.
        lost.extend(is_sent.get().then_some(None));
        Asked { result, lost }
    }
}

/// What came of a request, and what it has cost besides.
#[derive(Debug)]
pub struct Asked<T> {
    /// The response, or why there is none.
    pub result: Result<T, HostError>,
    /// Tokens of each try that may be billed and gave nothing that can be used, where the server named any.
    pub lost: Vec<Option<u64>>,
}

impl<T> Asked<T> {
    /// Returns it without the tokens that cannot be.
    pub(crate) fn that_can_be(self, can_be: impl Fn(&u64) -> bool) -> Self {
        Self { lost: self.lost.into_iter().map(|told| told.filter(&can_be)).collect(), ..self }
    }
}
