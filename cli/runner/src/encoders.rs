//! The embedding models of a run: one for all methods, and those that a method's paper names.

use crate::benchmark::Benchmark;
use crate::embedder::{Embedder, EmbedderOptions};
use crate::host::QueryEncoder;
use crate::models;
use crate::spending::Spending;
use anyhow::Result;
use closeread_methods::{AnyMethod, Entry, Passages};
use closeread_retrieve::Retriever;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use tracing::info;

/// The encoders of the methods that search by vectors; none where `--retriever bm25` needs none.
pub struct Encoders {
    /// The name that serves the methods whose papers name no model.
    of_run: String,
    /// Encoders that are loaded, by the name they were asked for.
    loaded: BTreeMap<String, Rc<QueryEncoder>>,
    /// Method, and the name of its model.
    by_method: BTreeMap<&'static str, String>,
    /// Models of papers that are not installed, and the methods that would have them.
    in_place: BTreeMap<String, Vec<&'static str>>,
}

impl Encoders {
    /// Loads what the methods need, and writes into their parameters which model it is.
    ///
    /// A method whose parameters name no model, or its paper's that is not installed, gets the run's: `embedder`, where one is
    /// named.
    pub fn load(
        embedder: Option<&str>,
        options: &EmbedderOptions,
        retriever: Option<Retriever>,
        methods: &mut [(&'static Entry, AnyMethod)],
    ) -> Result<Self> {
        let of_run = embedder.unwrap_or(models::SHIPPED).to_owned();
        options.check(&of_run)?;
        let mut encoders =
            Self { of_run, loaded: BTreeMap::new(), by_method: BTreeMap::new(), in_place: BTreeMap::new() };
        if retriever == Some(Retriever::Bm25) {
            return Ok(encoders);
        }
        for (entry, method) in methods {
            let Some(passages) = method.passages() else { continue };
            let name = match &passages.embedder {
                Some(name) if *name != encoders.of_run && encoders.is_missing(entry, name)? => {
                    encoders.in_place.entry(name.clone()).or_default().push(entry.name);
                    encoders.of_run.clone()
                }
                Some(name) => name.clone(),
                None => encoders.of_run.clone(),
            };
            if passages.embedder.as_ref().is_some_and(|asked| *asked != name) {
                *method = method.clone().embedded_by(&name);
            }
            if !encoders.loaded.contains_key(&name) {
                let embedder = Embedder::named(Some(&name), options)?;
                encoders.loaded.insert(name.clone(), Rc::new(QueryEncoder::new(embedder)));
            }
            encoders.by_method.insert(entry.name, name);
        }
        Ok(encoders)
    }

    /// Returns whether a model is the paper's own and not installed, so that the run's stands in for it.
    fn is_missing(&self, entry: &Entry, name: &str) -> Result<bool> {
        let papers = entry.preset().passages().and_then(|Passages { embedder, .. }| embedder.clone());
        Ok(papers.as_deref() == Some(name) && !models::is_installed(name)?)
    }

    /// Writes each request to a server of embeddings into a file of JSON lines from now on.
    pub fn log_to(&self, path: &Path) {
        self.loaded.values().for_each(|encoder| encoder.embedder().log_to(path));
    }

    /// Charges the requests to servers of embeddings from now on, and counts those before as well.
    pub fn charge_to(&self, spending: &Arc<Spending>) {
        self.loaded.values().for_each(|encoder| encoder.embedder().charge_to(spending));
    }

    /// The models that are on servers.
    pub fn on_servers(&self) -> Vec<String> {
        let embedders = self.loaded.values().map(|encoder| encoder.embedder());
        embedders.filter(|embedder| embedder.server().is_some()).map(|embedder| embedder.name()).collect()
    }

    /// The encoder of a method.
    pub fn of(&self, method: &str) -> Option<Rc<QueryEncoder>> {
        Some(Rc::clone(&self.loaded[self.by_method.get(method)?]))
    }

    /// Returns what the manifest says of the model of the run, if a method uses it.
    pub fn of_run(&self) -> Option<Value> {
        self.loaded.get(&self.of_run).map(|encoder| described(encoder))
    }

    /// Returns what the manifest says of the models of methods that have one of their own.
    pub fn of_methods(&self) -> BTreeMap<&'static str, Value> {
        let own = self.by_method.iter().filter(|(_, name)| **name != self.of_run);
        own.map(|(method, name)| (*method, described(&self.loaded[name]))).collect()
    }

    /// Says which model stands in for another, and which books are ranked by BM25 because their language decides.
    pub fn say(&self, benchmark: &Benchmark, asked: Option<Retriever>) {
        for (model, methods) in &self.in_place {
            info!(
                "{} embedded by {}: {model}, the model of the paper, is not installed (closeread model pull {model}); \
                 --embedder chooses another",
                methods.join(", "),
                self.of_run
            );
        }
        for encoder in self.loaded.values().filter(|_| asked.is_none()) {
            let embedder = encoder.embedder();
            let mut by_language: BTreeMap<&str, usize> = BTreeMap::new();
            for book in benchmark.books.iter().filter(|book| !embedder.speaks(book.language.code())) {
                *by_language.entry(book.language.code()).or_default() += 1;
            }
            for (language, n) in by_language {
                info!(
                    "{n} {} in `{language}` ranked by BM25: {} does not know the language; install a multilingual \
                     model (closeread model pull multilingual-e5-large) or choose --retriever",
                    if n == 1 { "book" } else { "books" },
                    embedder.name()
                );
            }
        }
    }
}

fn described(encoder: &QueryEncoder) -> Value {
    let embedder = encoder.embedder();
    let mut described =
        json!({"name": embedder.name(), "backend": embedder.backend(), "fingerprint": embedder.fingerprint()});
    if let Some(adapter) = embedder.adapter() {
        described["adapter"] = json!(adapter);
    }
    if let Some((endpoint, spec)) = embedder.server() {
        described["endpoint"] = json!(endpoint);
        described["spec"] = json!(spec);
    }
    described
}
