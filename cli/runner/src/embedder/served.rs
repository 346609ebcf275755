//! An embedding model on a server: what is known of it, what is sent, what it took.

use super::cutter::Cutter;
use super::options::EmbedderOptions;
use super::server_thread::{Answer, Job, tokens_of, work};
use crate::cache::cache_folder;
use crate::run_folder::served::new_id;
use crate::spending::Spending;
use anyhow::{Context, Result, anyhow, bail};
use closeread_books::tokens::Tokenizer;
use closeread_embed::{Role, ServedSpec, Vectors, normalized};
use closeread_files::{append_line, write_atomically};
use closeread_llm::HostError;
use closeread_llm::provider::{EmbeddingProtocol, TeiInfo, says_text_is_too_long};
use closeread_methods::record::ServedCall;
use closeread_providers::EmbeddingAccount;
use closeread_text::hash::sha256_of_parts;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tracing::warn;

/// Bytes of a text that every model takes whole.
const SHORT: usize = 400;
/// Largest difference between numbers of two vectors that are the same.
const SAME: f32 = 1e-5;
/// Text that is embedded to learn how long vectors are.
const PROBE: &str = "How long is a vector?";

/// An embedding model on a server.
#[derive(Debug)]
pub(super) struct Served {
    account: EmbeddingAccount,
    spec: ServedSpec,
    dimension: usize,
    cutter: Option<Cutter>,
    max_texts: usize,
    jobs: UnboundedSender<Job>,
    /// Whether no request is sent: the source of the server's name is not trusted.
    remembered_only: bool,
    /// Bytes of a text that is known not to be cut by the server.
    whole_up_to: AtomicUsize,
    /// Whether this process has looked at what the server says of itself.
    checked: AtomicBool,
    taken: Mutex<Taken>,
}

/// The requests to the server, and what they took.
#[derive(Debug, Default)]
struct Taken {
    calls: Vec<ServedCall>,
    /// Spending that counts them.
    spending: Option<Arc<Spending>>,
    /// Path of the file where each call is written down as it comes back.
    log: Option<PathBuf>,
    warned: bool,
}

/// A server's description of itself, remembered so that nothing is asked where all vectors are remembered.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Learnt {
    dimension: usize,
    max_tokens: Option<usize>,
    max_texts: Option<usize>,
}

impl Served {
    /// The model of the account; the server is asked only for what is neither described nor remembered.
    pub(super) fn new(account: EmbeddingAccount, options: &EmbedderOptions) -> Result<Self> {
        let mut spec = options.served_spec(&account.model)?;
        let (jobs, receiver) = unbounded_channel();
        let of_thread = account.clone();
        std::thread::Builder::new()
            .name("embeddings".to_owned())
            .spawn(move || work(of_thread, receiver))
            .context("cannot start a thread")?;
        let mut served = Self {
            max_texts: account.provider.texts,
            account,
            spec: spec.clone(),
            dimension: 1,
            cutter: None,
            jobs,
            remembered_only: options.remembered_only,
            whole_up_to: AtomicUsize::new(SHORT),
            checked: AtomicBool::new(false),
            taken: Mutex::default(),
        };
        let known = options.known.as_ref().and_then(|known| known.dimension);
        let known = known.map(|dimension| Learnt { dimension, max_tokens: None, max_texts: None });
        let learnt = match served.remembered().or(known) {
            Some(learnt) => learnt,
            None => served.learn()?,
        };
        served.dimension = learnt.dimension;
        spec.dimension = Some(learnt.dimension);
        spec.max_tokens = [spec.max_tokens, learnt.max_tokens].into_iter().flatten().min();
        served.cutter = spec.tokenizer.as_deref().zip(spec.max_tokens).map(|(t, n)| Cutter::new(t, n)).transpose()?;
        served.max_texts = learnt.max_texts.unwrap_or(usize::MAX).min(served.max_texts);
        served.spec = spec;
        Ok(served)
    }

    pub(super) fn name(&self) -> String {
        self.account.name()
    }

    pub(super) fn endpoint(&self) -> String {
        self.account.endpoint()
    }

    pub(super) fn told_apart(&self) -> String {
        self.account.told_apart()
    }

    pub(super) fn spec(&self) -> &ServedSpec {
        &self.spec
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the most texts of a request.
    pub(super) fn max_texts(&self) -> usize {
        self.max_texts
    }

    /// Returns everything but role and texts that a vector depends on, as far as it is known here.
    pub(super) fn determines(&self) -> Vec<Vec<u8>> {
        let spec =
            serde_json::to_vec(&ServedSpec { tokenizer: None, ..self.spec.clone() }).expect("strings and numbers");
        let tokenizer = self.cutter.as_ref().map_or_else(Vec::new, |cutter| cutter.sha256().to_vec());
        [self.name().into_bytes(), self.told_apart().into_bytes(), spec, tokenizer].into()
    }

    /// A text with its prefix, cut where it is longer than the model takes and that can be counted.
    pub(super) fn prepared<'t>(&self, role: Role, text: &'t str) -> (Cow<'t, str>, bool) {
        let prefix = self.spec.prefix(role);
        let whole = if prefix.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{prefix}{text}")) };
        match self.cutter.as_ref().and_then(|cutter| cutter.end(&whole)) {
            None => (whole, false),
            Some(end) => (Cow::Owned(whole[..end].to_owned()), true),
        }
    }

    /// The vectors of lists of prepared texts, each with its number, as they come.
    pub(super) fn ask(&self, lists: Vec<(usize, Vec<String>)>) -> Result<mpsc::Receiver<(usize, Answer)>> {
        self.refuse_unasked()?;
        if !self.checked.swap(true, Ordering::Relaxed) {
            self.info()?;
        }
        let (sender, receiver) = mpsc::channel();
        let spending = self.taken.lock().unwrap_or_else(PoisonError::into_inner).spending.clone();
        let payer = spending.map(|spending| (spending, self.tokenizer()));
        self.jobs.send(Job::Embed(lists, sender, payer)).map_err(|_| gone())?;
        Ok(receiver)
    }

    /// Refuses a server that cuts long texts in silence, where the lengths of texts cannot be counted here: the vector of
    /// the longest one is then that of its beginning.
    pub(super) fn check_whole(&self, longest: &str) -> Result<()> {
        let is_told = self.cutter.is_some() || self.account.provider.asked == EmbeddingProtocol::Tei;
        if is_told || longest.len() <= self.whole_up_to.load(Ordering::Relaxed) {
            return Ok(());
        }
        let beginning = &longest[..longest.floor_char_boundary(longest.len() / 4 * 3)];
        let pair = vec![longest.to_owned(), beginning.to_owned()];
        let (_, answer) = self.ask(vec![(0, pair.clone())])?.recv().map_err(|_| gone())?;
        let vectors = normalized(self.received(answer, &pair)?)?;
        let differ = |(a, b): (&f32, &f32)| (a - b).abs() > SAME;
        if !vectors.row(0).iter().zip(vectors.row(1)).any(differ) {
            bail!(
                "embedding model {} at {} cuts long texts in silence: a text of {} bytes and its first three quarters have \
                 the same vector. Choose a smaller --passage-tokens; or describe the model with max_tokens and tokenizer \
                 (--embedder-spec): longer texts are then cut here, and counted",
                self.name(),
                self.endpoint(),
                longest.len()
            );
        }
        self.whole_up_to.store(longest.len(), Ordering::Relaxed);
        Ok(())
    }

    /// The vectors that came for texts; what they took is counted and written down, with the tries that gave none.
    pub(super) fn received(&self, (asked, serving): Answer, texts: &[String]) -> Result<Vectors> {
        let mut took: Vec<ServedCall> = asked.lost.into_iter().map(|told| self.took(0, told, texts)).collect();
        let vectors = asked.result.map(|(vectors, told)| {
            took.push(self.took(texts.len(), told, texts));
            vectors
        });
        if let Some(serving) = serving {
            serving.took(&took);
        }
        vectors.map_err(|error| self.explained(error, texts))
    }

    /// The tokenizer that counts texts where the server does not.
    fn tokenizer(&self) -> Tokenizer {
        self.cutter.as_ref().map_or_else(Tokenizer::cl100k, Cutter::tokenizer)
    }

    /// Writes down one request with these texts, of which so many were embedded. Tokens that the server did not name, or cannot
    /// have counted, are ours.
    fn took(&self, n_embedded: usize, told: Option<u64>, texts: &[String]) -> ServedCall {
        let count = || tokens_of(&self.tokenizer(), texts.iter().map(String::as_str));
        let (tokens, own_count) = (Some(told.unwrap_or_else(count)), told.is_none());
        let call =
            ServedCall { model: self.name(), texts: n_embedded, tokens, own_count, searches: None, id: new_id() };
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = taken.log.clone()
            && let Err(error) = append_line(&log, &call)
            && !std::mem::replace(&mut taken.warned, true)
        {
            warn!("what embeddings take is not written down: {error:#}");
        }
        taken.calls.push(call.clone());
        call
    }

    /// Writes each request into a file of JSON lines from now on, and those before as well.
    pub(super) fn log_to(&self, path: &Path) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = taken.calls.iter().try_for_each(|call| append_line(path, call));
        if let Err(error) = earlier {
            warn!("what embeddings take is not written down: {error:#}");
            taken.warned = true;
        }
        taken.log = Some(path.to_owned());
    }

    /// The requests of this process.
    pub(super) fn calls(&self) -> Vec<ServedCall> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).calls.clone()
    }

    /// Charges the requests from now on, and counts those before as well.
    pub(super) fn charge_to(&self, spending: &Arc<Spending>) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        spending.served(&taken.calls);
        taken.spending = Some(Arc::clone(spending));
    }

    /// The error of a request, with what to do.
    fn explained(&self, error: HostError, texts: &[String]) -> anyhow::Error {
        let (name, endpoint) = (self.name(), self.endpoint());
        let message = match error {
            HostError::Embedding(message) | HostError::Failed(message) => message,
            other => other.to_string(),
        };
        if !says_text_is_too_long(&message) {
            return anyhow!("embedding model {name} at {endpoint}: {message}");
        }
        let longest = texts.iter().max_by_key(|text| text.len()).map_or("", String::as_str);
        let beginning: String = longest.chars().take(60).collect();
        anyhow!(
            "embedding model {name} at {endpoint} refuses a text that is too long for it: {message}\nThe longest of the \
             request has {} bytes and begins `{beginning}`. Choose a smaller --passage-tokens; or describe the model with \
             max_tokens and tokenizer (--embedder-spec): longer texts are then cut, and counted",
            longest.len()
        )
    }

    fn refuse_unasked(&self) -> Result<()> {
        if !self.remembered_only {
            return Ok(());
        }
        bail!(
            "vectors of {} are not remembered here, and a server that only the run folder names is not asked: texts and a \
             key would go there; if you trust it, say --embedder-base-url {}",
            self.name(),
            self.account.to_give()
        )
    }

    fn info(&self) -> Result<Option<TeiInfo>> {
        self.refuse_unasked()?;
        let (sender, receiver) = mpsc::channel();
        self.jobs.send(Job::Info(sender)).map_err(|_| gone())?;
        let info = receiver.recv().map_err(|_| gone())?.map_err(|error| self.explained(error, &[]))?;
        if let Some(info) = &info
            && !info.serves(&self.account.model)
        {
            bail!(
                "the server at {} serves {}, not {}: correct --embedder or --embedder-base-url",
                self.endpoint(),
                info.model,
                self.account.model
            );
        }
        Ok(info)
    }

    /// Asks the server how long its vectors and its longest input are.
    fn learn(&self) -> Result<Learnt> {
        let info = self.info()?;
        self.checked.store(true, Ordering::Relaxed);
        let dimension = match self.spec.dimension {
            Some(dimension) => dimension,
            None => {
                let texts = vec![PROBE.to_owned()];
                let (_, answer) = self.ask(vec![(0, texts.clone())])?.recv().map_err(|_| gone())?;
                self.received(answer, &texts)?.dimension()
            }
        };
        let (max_tokens, max_texts) = info.map_or((None, None), |info| (info.max_tokens, info.max_texts));
        let learnt = Learnt { dimension, max_tokens, max_texts };
        if let Some(path) = self.memory() {
            let kept = path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(anyhow::Error::from);
            if let Err(error) = kept.and_then(|()| write_atomically(&path, &serde_json::to_vec(&learnt)?)) {
                warn!("what the embedding server said of itself is asked again next time: {error:#}");
            }
        }
        Ok(learnt)
    }

    fn remembered(&self) -> Option<Learnt> {
        let learnt: Learnt = serde_json::from_slice(&closeread_files::read_file(self.memory()?).ok()?).ok()?;
        (learnt.dimension > 0 && self.spec.dimension.is_none_or(|said| said == learnt.dimension)).then_some(learnt)
    }

    fn memory(&self) -> Option<PathBuf> {
        let (name, endpoint) = (self.name(), self.told_apart());
        let hash = sha256_of_parts([name.as_bytes(), endpoint.as_bytes()]);
        Some(cache_folder()?.join("servers").join(format!("{}.json", &hash[..16])))
    }
}

fn gone() -> anyhow::Error {
    anyhow!("the thread that talks to the embedding server has ended")
}
