//! Rerankers, on all cores or on a server, with a memory on disk.

mod local;
mod memory;
mod served;

use crate::models::rerankers::find_reranker;
use crate::spending::Spending;
use anyhow::{Context, Result, bail};
use closeread_embed::PairScores;
use closeread_llm::provider::Limits;
use closeread_methods::record::ServedCall;
use closeread_providers::reranked_by;
use closeread_providers::under_way::UnderWay;
use closeread_text::hash::sha256_of_parts;
use local::Local;
use memory::{Memory, Score};
use serde_json::{Value, json};
use served::Served;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Version of the results, raised whenever the same model and pair would give another score than before.
const RESULT_VERSION: u8 = 1;
/// Number of best passages that are reranked where nothing is said: as many of 100 tokens as the largest budget holds
/// that a run has by default, so that a reranker decides over all of it; and one search, one request, with every
/// provider.
pub const RERANK_FROM: usize = 50;

/// The options of a reranker.
#[derive(Clone, Default)]
pub struct RerankerOptions {
    /// Address of a served model's server.
    pub base_url: Option<String>,
    /// Scores that are not remembered are an error: no server is asked.
    pub remembered_only: bool,
    /// Limits on how long and how often a request to a server is tried.
    pub limits: Limits,
}

/// A model that scores passages by a query and remembers on disk what it scored.
#[derive(Debug)]
pub struct Reranker {
    model: Model,
    /// SHA-256, in hex, of everything but the pair that a score depends on.
    fingerprint: String,
    memory: Memory,
    under_way: UnderWay,
}

#[derive(Debug)]
enum Model {
    Local(Arc<Local>),
    Served(Box<Served>),
}

/// A reranker, and how many of the best passages of a ranking it puts in order.
#[derive(Debug, Clone)]
pub struct Reranking {
    /// The model that reranks.
    pub reranker: Rc<Reranker>,
    /// Number of passages to rerank.
    pub from: usize,
}

impl Reranking {
    /// Returns what the manifest says of it.
    pub fn described(&self) -> Value {
        let mut described = json!({
            "name": self.reranker.name(), "from": self.from, "fingerprint": self.reranker.fingerprint(),
        });
        if let Some(endpoint) = self.reranker.endpoint() {
            described["endpoint"] = json!(endpoint);
        }
        described
    }
}

impl Reranker {
    /// The model of a name, installed or on a server. An installed one is prepared by the first pair that is not remembered.
    pub fn named(name: &str, options: &RerankerOptions) -> Result<Self> {
        let (model, parts) = match reranked_by(name, options.base_url.as_deref())? {
            None if options.base_url.is_some() => bail!(
                "--reranker-base-url is for a model on a server: expected --reranker cohere/MODEL, jina/MODEL, \
                 openai-compatible/MODEL or tei/MODEL"
            ),
            None => {
                let local = Local::new(find_reranker(name)?);
                let parts = local.determines()?;
                (Model::Local(Arc::new(local)), parts)
            }
            Some(account) => {
                let served = Served::new(account.within(options.limits), options.remembered_only)?;
                let parts = vec![served.name().into_bytes(), served.told_apart().into_bytes()];
                (Model::Served(Box::new(served)), parts)
            }
        };
        let parts = [vec![RESULT_VERSION]].into_iter().chain(parts);
        let fingerprint = sha256_of_parts(parts.collect::<Vec<_>>().iter().map(Vec::as_slice));
        Ok(Self { model, fingerprint, memory: Memory::of_user(), under_way: UnderWay::default() })
    }

    /// Returns the reranker's name in manifests.
    pub fn name(&self) -> String {
        match &self.model {
            Model::Local(local) => local.model().name.clone(),
            Model::Served(served) => served.name(),
        }
    }

    /// SHA-256, in hex, of everything but the pair that a score depends on.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Address of a model on a server, as [`closeread_providers::told_apart`] has it.
    pub fn endpoint(&self) -> Option<String> {
        match &self.model {
            Model::Local(_) => None,
            Model::Served(served) => Some(served.told_apart()),
        }
    }

    /// Writes each request to the model's server into a file of JSON lines from now on.
    pub fn log_to(&self, path: &Path) {
        if let Model::Served(served) = &self.model {
            served.log_to(path);
        }
    }

    /// Charges the requests to the model's server from now on.
    pub fn charge_to(&self, spending: &Arc<Spending>) {
        if let Model::Served(served) = &self.model {
            served.charge_to(spending);
        }
    }

    /// Returns one score a passage, in their order; a server is asked for those that are not remembered.
    pub async fn score(&self, query: &str, passages: &[&str]) -> Result<PairScores> {
        let key = sha256_of_parts([self.fingerprint.as_bytes(), query.as_bytes()]);
        // A second call with the same query waits for the first, and then finds its scores remembered.
        let _turn = loop {
            if let Some(turn) = self.under_way.turn(&key).await {
                break turn;
            }
        };
        let mut known = self.memory.get(&key, passages);
        let mut open: Vec<&str> = Vec::new();
        for (passage, _) in passages.iter().zip(&known).filter(|(_, known)| known.is_none()) {
            if !open.contains(passage) {
                open.push(passage);
            }
        }
        if !open.is_empty() {
            self.compute(&key, query, &open).await?;
            known = self.memory.get(&key, passages);
        }
        let scores: Option<Vec<Score>> = known.into_iter().collect();
        let scores = scores.context("a reranker gave too few scores")?;
        let n_cut = scores.iter().filter(|score| score.cut).count();
        Ok(PairScores { scores: scores.iter().map(|score| score.score).collect(), n_cut })
    }

    /// Scores passages, request by request; each is remembered as it comes, so that nothing is asked twice after a kill in the
    /// middle.
    async fn compute(&self, key: &str, query: &str, open: &[&str]) -> Result<()> {
        let keep = |passages: &[&str], scores: Vec<Score>| {
            let scored: Vec<(&str, Score)> = passages.iter().copied().zip(scores).collect();
            self.memory.put(key, &scored);
        };
        match &self.model {
            Model::Local(local) => {
                let (local, texts) =
                    (Arc::clone(local), open.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
                let query = query.to_owned();
                // On a thread of its own: other trials go on meanwhile.
                let work = move || local.compute(&query, &texts.iter().map(String::as_str).collect::<Vec<_>>());
                let scores =
                    tokio::task::spawn_blocking(work).await.context("the reranking thread ended abruptly")??;
                keep(open, scores);
            }
            Model::Served(served) => {
                for some in open.chunks(served.max_texts().await?) {
                    keep(some, served.scores(query, some, &mut Vec::new()).await?);
                }
            }
        }
        Ok(())
    }

    /// Returns one score a passage by an installed model or a server, whether it is remembered or not, and nothing of
    /// it is remembered.
    pub async fn score_anew(&self, query: &str, passages: &[&str]) -> Result<(Vec<f64>, Vec<ServedCall>)> {
        let mut calls = Vec::new();
        let scores = match &self.model {
            Model::Local(local) => local.compute(query, passages)?,
            Model::Served(served) => {
                served.max_texts().await?;
                served.scores(query, passages, &mut calls).await?
            }
        };
        Ok((scores.into_iter().map(|score| score.score).collect(), calls))
    }
}
