//! Scene of an estimate, which all its parts look at.

use anyhow::Result;
use closeread_books::TextError;
use closeread_books::tokens::Tokenizer;
use closeread_eval::Item;
use closeread_judges::Judge;
use closeread_llm::price::PriceList;
use closeread_methods::cost::BookSize;
use closeread_methods::{Settings, entry};
use closeread_providers::extra_body::ExtraBodies;
use closeread_runner::benchmark::Benchmark;
use closeread_runner::engine::{PlannedCell, groups};
use closeread_text::Span;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::num::NonZero;

/// The assumptions of an estimate, which it states.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Assumptions {
    /// Tokens of a short response; the most is the limit.
    pub(super) response_tokens: u64,
    /// Seconds that a call takes.
    pub(super) seconds_a_call: f64,
    pub(super) concurrency: usize,
    pub(super) rpm: Option<u32>,
    pub(super) tpm: Option<u64>,
}

/// The scene that the parts of an estimate look at.
pub(super) struct Scene<'a> {
    pub(super) benchmark: &'a Benchmark,
    pub(super) evidence: &'a HashMap<String, Vec<(usize, Span)>>,
    /// Items by the books they are about.
    pub(super) groups: Vec<Group<'a>>,
    /// Settings of the run; their window is that of models without one of their own.
    pub(super) setting: Settings<'a>,
    /// Context windows by model.
    pub(super) windows: &'a BTreeMap<String, usize>,
    pub(super) cells: &'a [PlannedCell],
    /// Model that is asked for preparations; `None`: each model for itself.
    pub(super) preparer: Option<&'a str>,
    pub(super) prices: &'a PriceList,
    /// Fields that are merged into the readers' requests.
    pub(super) extra_body: &'a ExtraBodies,
    pub(super) repeats: u32,
    pub(super) assumed: Assumptions,
}

impl<'a> Scene<'a> {
    /// The settings of a model's calls.
    pub(super) fn setting_of(&self, model: &str) -> Settings<'a> {
        let context_window = self.windows.get(model).copied().or(self.setting.context_window);
        Settings { context_window, ..self.setting }
    }

    /// The window that holds for a model: what the run keeps to, else what is known of it.
    pub(super) fn window(&self, model: &str) -> Option<usize> {
        self.setting_of(model).context_window.or_else(|| self.prices.of(model)?.window)
    }

    /// Most tokens of the texts in extra fields, such as tools, that a request of a method to a model has beside its prompt.
    pub(super) fn in_fields(&self, method: &str, model: &str) -> u64 {
        if model.starts_with("builtin/") {
            return 0;
        }
        // The prompts of a method are not known here; those of judges are none of them.
        let is_prompt = |name: &&str| entry(name).is_none() && Judge::of_name(name).is_none();
        let named = self.extra_body.named.keys().map(String::as_str).filter(is_prompt);
        let tokens = |prompt| self.extra_body.tokens(Some(method), prompt, self.setting.tokenizer);
        named.chain([method]).map(tokens).max().unwrap_or_default()
    }
}

/// Items that are about the same books.
pub(super) struct Group<'a> {
    pub(super) documents: &'a [String],
    pub(super) items: Vec<&'a Item>,
    pub(super) sizes: Vec<BookSize>,
}

/// The items of the benchmark by their books, each of which is measured once.
pub(super) fn grouped<'a>(benchmark: &'a Benchmark, tokenizer: &Tokenizer) -> Result<Vec<Group<'a>>> {
    let texts = &benchmark.texts;
    let sizes = in_parallel(&benchmark.books, |book| Ok(BookSize::of(book, &*texts.open(book)?, tokenizer)));
    let sizes: Vec<BookSize> = sizes.into_iter().collect::<Result<_, TextError>>()?;
    let by_id: HashMap<&str, BookSize> = benchmark.books.iter().map(|book| book.id.as_str()).zip(sizes).collect();
    let group = |(documents, items): (&'a [String], Vec<&'a Item>)| {
        let sizes = documents.iter().map(|id| by_id[id.as_str()].clone()).collect();
        Group { documents, items, sizes }
    };
    Ok(groups(&benchmark.items).into_iter().map(group).collect())
}

/// Does `work` on each of `things`, on all cores; returns the results in order.
pub(super) fn in_parallel<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let n_threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let work = &work;
    let part = |thread: usize| things.iter().skip(thread).step_by(n_threads).map(work).collect::<Vec<R>>();
    let mut parts: Vec<std::vec::IntoIter<R>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|thread| scope.spawn(move || part(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("measuring does not panic").into_iter()).collect()
    });
    (0..things.len()).map(|idx| parts[idx % n_threads].next().expect("one result a thing")).collect()
}
