//! A reranker on a server: what is sent, what it took.

use super::memory::Score;
use crate::run_folder::served::new_id;
use crate::spending::Spending;
use anyhow::{Result, anyhow, bail};
use closeread_books::tokens::Tokenizer;
use closeread_files::append_line;
use closeread_llm::HostError;
use closeread_llm::provider::says_text_is_too_long;
use closeread_methods::record::ServedCall;
use closeread_providers::{RerankAccount, RerankServer, Uncounted};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::warn;

/// The part of a passage below which it is not cut further: then it is the query that is too long.
const LEAST_KEPT: usize = 8;

/// A reranker on a server.
pub(super) struct Served {
    server: RerankServer,
    /// Whether no request is sent: the source of the server's name is not trusted.
    remembered_only: bool,
    /// Most texts of a request, once the server was asked what it takes.
    max_texts: Cell<Option<usize>>,
    /// Path of the file where each request is written down as it comes back.
    log: RefCell<Option<PathBuf>>,
    warned: Cell<bool>,
    /// Spending that requests are charged to.
    spending: RefCell<Option<Arc<Spending>>>,
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Served").field("name", &self.name()).field("endpoint", &self.endpoint()).finish_non_exhaustive()
    }
}

impl Served {
    pub(super) fn new(account: RerankAccount, remembered_only: bool) -> Result<Self> {
        let server = RerankServer::new(account)?;
        let (max_texts, log, spending) = (Cell::new(None), RefCell::default(), RefCell::default());
        Ok(Self { server, remembered_only, max_texts, log, warned: Cell::new(false), spending })
    }

    pub(super) fn name(&self) -> String {
        self.server.account().name()
    }

    pub(super) fn endpoint(&self) -> String {
        self.server.account().endpoint()
    }

    pub(super) fn told_apart(&self) -> String {
        self.server.account().told_apart()
    }

    /// Returns the most texts of a request; a server that says what it serves is held to it.
    pub(super) async fn max_texts(&self) -> Result<usize> {
        if let Some(max_texts) = self.max_texts.get() {
            return Ok(max_texts);
        }
        if self.remembered_only {
            bail!(
                "scores of {} are not remembered here, and a server that only the run folder names is not asked: texts and \
                 a key would go there; if you trust it, say --reranker-base-url {}",
                self.name(),
                self.server.account().to_give()
            );
        }
        let account = self.server.account();
        let info = self.server.info().await.map_err(|error| self.explained(error, &[]))?;
        if let Some(info) = &info
            && !info.serves(&account.model)
        {
            bail!(
                "the server at {} serves {}, not {}: correct --reranker or --reranker-base-url",
                self.endpoint(),
                info.model,
                account.model
            );
        }
        let own = info.and_then(|info| info.max_texts).unwrap_or(account.provider.texts);
        self.max_texts.set(Some(own));
        Ok(own)
    }

    /// Returns one score a text; what each request took goes to `calls`, whatever comes of it.
    ///
    /// Texts that the server refuses as too long are asked for by halves, until it is known which it is: that one loses its last
    /// quarter until the server takes it.
    pub(super) async fn scores(&self, query: &str, texts: &[&str], calls: &mut Vec<ServedCall>) -> Result<Vec<Score>> {
        let mut scores = Vec::with_capacity(texts.len());
        // Parts still to be asked for, the next of them last; of a passage that was too long the bytes that are kept.
        let mut open: Vec<(&[&str], Option<usize>)> = vec![(texts, None)];
        while let Some((part, kept)) = open.pop() {
            let asked = match (part, kept) {
                ([text], Some(kept)) => self.ask(query, &[&text[..kept]], calls).await,
                _ => self.ask(query, part, calls).await,
            };
            let error = match asked {
                Ok(some) => {
                    scores.extend(some.into_iter().map(|score| Score { score, cut: kept.is_some() }));
                    continue;
                }
                Err(error) if says_too_long(&error) => error,
                Err(error) => return Err(self.explained(error, part)),
            };
            if let [text] = part {
                let sent = kept.unwrap_or(text.len());
                if sent <= text.len() / LEAST_KEPT {
                    return Err(self.explained(error, part));
                }
                open.push((part, Some(text.floor_char_boundary(sent - sent.div_ceil(4)))));
            } else {
                let (left, right) = part.split_at(part.len() / 2);
                open.extend([(right, None), (left, None)]);
            }
        }
        Ok(scores)
    }

    /// Returns one score a text by one request, once there is money for it.
    async fn ask(&self, query: &str, texts: &[&str], calls: &mut Vec<ServedCall>) -> Result<Vec<f64>, HostError> {
        let spending = self.spending.borrow().clone();
        let (asked, serving) = match spending {
            None => (self.server.scores(query, texts, &Uncounted).await, None),
            Some(spending) => {
                let count = || tokens_of(query, texts);
                let serving = spending.serve(&self.name(), count, self.searches(query, texts)).await?;
                (self.server.scores(query, texts, &serving).await, Some(serving))
            }
        };
        let took = |n_scored, told, searches| self.took(n_scored, told, searches, (query, texts));
        let mut all: Vec<ServedCall> = asked.lost.into_iter().map(|told| took(0, told, None)).collect();
        let scores = asked.result.map(|response| {
            all.push(took(texts.len(), response.tokens, response.searches));
            response.scores
        });
        if let Some(serving) = serving {
            serving.took(&all);
        }
        calls.extend(all);
        scores
    }

    /// The searches that a request with these texts is, where it is paid by these.
    fn searches(&self, query: &str, texts: &[&str]) -> Option<u64> {
        let (asked, tokenizer) = (&self.server.account().provider.asked, Tokenizer::cl100k());
        let count = |text: &str| tokenizer.count(text) as u64;
        asked.searches(self.listed(), count(query), texts.iter().map(|text| count(text)))
    }

    /// Returns whether the run's price list pays it by its searches.
    fn listed(&self) -> Option<bool> {
        self.spending.borrow().as_ref()?.prices().pays_searches(&self.name())
    }

    /// Writes down one request with these texts, of which so many were scored. What the server did not count, or cannot
    /// have counted, is counted here.
    fn took(
        &self,
        n_scored: usize,
        told: Option<u64>,
        searches: Option<u64>,
        (query, texts): (&str, &[&str]),
    ) -> ServedCall {
        let searches = searches.or_else(|| self.searches(query, texts));
        // A server may name searches where its tokens are paid.
        let own_count = told.is_none() && (searches.is_none() || self.listed() == Some(false));
        let tokens = told.or_else(|| own_count.then(|| tokens_of(query, texts)));
        let call = ServedCall { model: self.name(), texts: n_scored, tokens, own_count, searches, id: new_id() };
        if let Some(log) = &*self.log.borrow()
            && let Err(error) = append_line(log, &call)
            && !self.warned.replace(true)
        {
            warn!("what reranking takes is not written down: {error:#}");
        }
        call
    }

    pub(super) fn log_to(&self, path: &Path) {
        *self.log.borrow_mut() = Some(path.to_owned());
    }

    pub(super) fn charge_to(&self, spending: &Arc<Spending>) {
        *self.spending.borrow_mut() = Some(Arc::clone(spending));
    }

    /// The error of a request, with what to do.
    fn explained(&self, error: HostError, texts: &[&str]) -> anyhow::Error {
        let (name, endpoint) = (self.name(), self.endpoint());
        let too_long = says_too_long(&error);
        let message = match error {
            HostError::Reranking(message) | HostError::Embedding(message) | HostError::Failed(message) => message,
            other => other.to_string(),
        };
        if !too_long {
            return anyhow!("reranker {name} at {endpoint}: {message}");
        }
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        anyhow!(
            "reranker {name} at {endpoint} refuses a passage of {longest} bytes as too long, even cut to an eighth: \
             {message}\nThe query may be too long for it: choose a model with a longer input"
        )
    }
}

/// Returns the tokens of texts, each with the query.
fn tokens_of(query: &str, texts: &[&str]) -> u64 {
    let tokenizer = Tokenizer::cl100k();
    let of_texts: usize = texts.iter().map(|text| tokenizer.count(text)).sum();
    (of_texts + texts.len() * tokenizer.count(query)) as u64
}

fn says_too_long(error: &HostError) -> bool {
    match error {
        HostError::Overflow { .. } => true,
        HostError::Reranking(message) | HostError::Failed(message) => says_text_is_too_long(message),
        _ => false,
    }
}
