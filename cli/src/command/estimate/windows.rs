//! Overflows: which books overflow which models, and how much of the gold evidence truncation would leave.

use super::scene::{Group, Scene, in_parallel};
use anyhow::Result;
use closeread_books::tokens::Tokenizer;
use closeread_books::{BookText, TextError};
use closeread_eval::evidence::recall_over;
use closeread_methods::cost::Calls;
use closeread_methods::{AnyMethod, FullDocument, OnOverflow, Settings};
use closeread_runner::benchmark::Benchmark;
use closeread_text::{FlowSpan, Span};
use serde::Serialize;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Books, or sets of books, that are too long for a model together with a question and a response.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct ContextOverflow {
    /// Ids of the books; those of a set of books that are asked about together joined by `, `.
    pub(super) books: Vec<String>,
    /// Number of items about them.
    pub(super) items: usize,
    /// Evidence that is left where the end is cut off.
    pub(super) truncate_end: Survival,
    /// Evidence that is left where the middle is cut out.
    pub(super) truncate_middle: Survival,
}

/// Items by how much of their evidence is left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Survival {
    /// Number of items with all of their evidence left.
    pub(super) whole: usize,
    /// Number of items with some of their evidence left.
    pub(super) partly: usize,
    /// Number of items with none of their evidence left.
    pub(super) lost: usize,
    /// Number of items of which it is not known: they have no evidence, or its place is not known.
    pub(super) unknown: usize,
}

/// Overflows by window, for every window that a model of the run has.
pub(super) struct Measured(BTreeMap<usize, ContextOverflow>);

impl Measured {
    /// Looks at all windows of the models.
    pub(super) fn of(scene: &Scene<'_>, models: &[String]) -> Result<Self> {
        let mut overflows = BTreeMap::new();
        for window in models.iter().filter_map(|model| scene.window(model)) {
            if let Entry::Vacant(new) = overflows.entry(window) {
                new.insert(overflow(scene, window)?);
            }
        }
        Ok(Self(overflows))
    }

    /// The overflow of a window.
    pub(super) fn at(&self, window: usize) -> Option<&ContextOverflow> {
        self.0.get(&window)
    }
}

/// Tokens of the text that fit each item of a group that does not fit whole, `None` for one that fits.
fn available(scene: &Scene<'_>, group: &Group<'_>, window: usize) -> Result<Vec<Option<usize>>> {
    let text: u64 = group.sizes.iter().map(|size| size.tokens).sum();
    // A prompt of `full-document` is at least this much longer than the text in it.
    if (text + u64::from(scene.setting.response_limit.reserved())) <= window as u64 / 2 {
        return Ok(vec![None; group.items.len()]);
    }
    let whole = AnyMethod::from(FullDocument::default());
    let setting = Settings { context_window: None, ..scene.setting };
    let cost = whole.cost(setting, &group.sizes, &group.items, None)?;
    let left = |calls: &Calls| {
        let around = calls.prompt.high - text + calls.response_limit;
        let available = (window as u64).saturating_sub(around);
        (text > available).then_some(available as usize)
    };
    Ok(cost.calls.iter().map(left).collect())
}

fn overflow(scene: &Scene<'_>, window: usize) -> Result<ContextOverflow> {
    let mut too_long = Vec::new();
    for group in &scene.groups {
        let available = available(scene, group, window)?;
        if available.iter().any(Option::is_some) {
            too_long.push((group, available));
        }
    }
    let shared = Shared { benchmark: scene.benchmark, evidence: scene.evidence, tokenizer: scene.setting.tokenizer };
    let survivals = in_parallel(&too_long, |(group, available)| survival(&shared, group, available));
    let survivals = survivals.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut overflow = ContextOverflow::default();
    for ((group, available), (end, middle)) in too_long.iter().zip(survivals) {
        overflow.books.push(group.documents.join(", "));
        overflow.items += available.iter().flatten().count();
        overflow.truncate_end.add(end);
        overflow.truncate_middle.add(middle);
    }
    Ok(overflow)
}

/// The parts of a scene that threads share.
struct Shared<'a> {
    benchmark: &'a Benchmark,
    evidence: &'a HashMap<String, Vec<(usize, Span)>>,
    tokenizer: &'a Tokenizer,
}

/// Counts how much of the evidence of a group's items is left under either policy of truncation.
fn survival(
    shared: &Shared<'_>,
    group: &Group<'_>,
    available: &[Option<usize>],
) -> Result<(Survival, Survival), TextError> {
    let books = shared.benchmark.books_of(group.documents);
    let asked: Vec<_> = group.items.iter().zip(available).filter_map(|(item, left)| Some((item, (*left)?))).collect();
    let (mut end, mut middle) = (Survival::default(), Survival::default());
    if asked.iter().all(|(item, _)| shared.evidence.get(&item.id).is_none_or(Vec::is_empty)) {
        (end.unknown, middle.unknown) = (asked.len(), asked.len());
        return Ok((end, middle));
    }
    let texts = books.iter().map(|book| shared.benchmark.texts.open(book));
    let texts: Vec<Arc<BookText>> = texts.collect::<Result<_, _>>()?;
    let ends: Vec<Vec<usize>> = texts.iter().map(|text| shared.tokenizer.token_ends(text.flow().text())).collect();
    for (item, left) in asked {
        let gold = shared.evidence.get(&item.id).map_or(&[][..], Vec::as_slice);
        end.count(gold, &kept(&texts, &ends, left, OnOverflow::TruncateEnd), &texts);
        middle.count(gold, &kept(&texts, &ends, left, OnOverflow::TruncateMiddle), &texts);
    }
    Ok((end, middle))
}

/// The parts of the books that stay where `available` tokens of all of them together do.
fn kept(texts: &[Arc<BookText>], ends: &[Vec<usize>], available: usize, policy: OnOverflow) -> Vec<(usize, Span)> {
    let all: usize = ends.iter().map(Vec::len).sum();
    let head = if policy == OnOverflow::TruncateMiddle { available / 2 } else { available };
    let tail = all - (available - head).min(all);
    let mut spans = Vec::new();
    let mut before = 0;
    for (idx, (text, ends)) in texts.iter().zip(ends).enumerate() {
        let here = before..before + ends.len();
        for range in [0..head, tail..all] {
            let inside = range.start.clamp(here.start, here.end)..range.end.clamp(here.start, here.end);
            if !inside.is_empty() {
                spans.push((idx, source_span(text, ends, inside.start - before..inside.end - before)));
            }
        }
        before = here.end;
    }
    spans
}

/// The bytes of a book's file that some of its tokens take.
fn source_span(text: &BookText, ends: &[usize], tokens: Range<usize>) -> Span {
    let start = if tokens.start == 0 { 0 } else { ends[tokens.start - 1] };
    text.flow().to_source(FlowSpan::new(start, ends[tokens.end - 1]))
}

impl Survival {
    fn count(&mut self, gold: &[(usize, Span)], kept: &[(usize, Span)], texts: &[Arc<BookText>]) {
        let texts: Vec<&str> = texts.iter().map(|text| text.source()).collect();
        match recall_over(gold, kept, &texts) {
            None => self.unknown += 1,
            Some(share) if share >= 1.0 => self.whole += 1,
            Some(share) if share > 0.0 => self.partly += 1,
            Some(_) => self.lost += 1,
        }
    }

    fn add(&mut self, other: Self) {
        self.whole += other.whole;
        self.partly += other.partly;
        self.lost += other.lost;
        self.unknown += other.unknown;
    }
}
