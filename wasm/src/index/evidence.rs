//! Gold evidence: where it stands, and how well rankings and budgets find it.

use super::Index;
use super::options::SearchOptions;
use super::shapes::{FoundEvidence, Place, RankingScores, RecallAt, ScoresAt};
use crate::books::{JsSearchOptions, to_js};
use crate::options::{over_json, read};
use closeread_books::BookText;
use closeread_data::resolve_evidence;
use closeread_eval::evidence::recall_over;
use closeread_eval::ranking::{each_once, precision, scores};
use closeread_eval::{Evidence, Item, Task};
use closeread_retrieve::Ranked;
use closeread_retrieve::context::{PassageOrder, Selection, fill};
use closeread_text::{Locator, Span};
use std::sync::Arc;
use wasm_bindgen::prelude::*;

#[cfg(feature = "typescript")]
pub(crate) fn declare(types: &mut crate::typescript::declarations::Declarations) {
    types.add::<closeread_eval::Evidence>().add::<FoundEvidence>().add::<RecallAt>().add::<RankingScores>();
}

#[wasm_bindgen]
extern "C" {
    /// `Evidence[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "Evidence[]")]
    pub type JsEvidence;
    /// `FoundEvidence` in TypeScript.
    #[wasm_bindgen(typescript_type = "FoundEvidence")]
    pub type JsFoundEvidence;
    /// `RecallAt[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "RecallAt[]")]
    pub type JsRecallCurve;
    /// `RankingScores | null` in TypeScript.
    #[wasm_bindgen(typescript_type = "RankingScores | null")]
    pub type JsRankingScores;
}

#[wasm_bindgen]
impl Index {
    /// Says where the gold evidence of a question stands; it is looked for as in a run.
    ///
    /// # Errors
    /// Something else than evidence.
    #[wasm_bindgen(js_name = setEvidence)]
    pub fn set_evidence(&mut self, evidence: JsEvidence) -> Result<JsFoundEvidence, JsValue> {
        let evidence: Vec<Evidence> = over_json(&evidence)?;
        let documents = self.passage_index.books().iter().map(|book| book.id.clone()).collect();
        let item = Item { documents, evidence, ..Item::new("", "", "", Task::Generative) };
        let sources = self.sources()?;
        let locators: Vec<Locator<'_>> = sources.iter().map(|text| Locator::new(text.source())).collect();
        let resolved = resolve_evidence(&item, &locators);
        self.evidence = resolved.spans();
        let place = |(book, Span { start, end })| Place { book, start, end };
        let places = resolved.places.iter().map(|found| found.map(place)).collect();
        to_js(&FoundEvidence { places, notes: resolved.notes }).map(JsCast::unchecked_into)
    }

    /// Returns what several budgets find, in their order: passages, the separate places that they make up, recall of
    /// the evidence.
    ///
    /// # Errors
    /// As [`Index::search`].
    #[wasm_bindgen(js_name = recallCurve)]
    pub fn recall_curve(
        &mut self,
        question: &str,
        budgets: &[u32],
        options: Option<JsSearchOptions>,
    ) -> Result<JsRecallCurve, JsValue> {
        let options: SearchOptions = read(options.map(JsValue::from))?;
        let ranking = self.ranking(question, options.retriever, options.neighbours)?;
        let sources = self.sources()?;
        let at = |budget: usize| {
            let selection = fill(&ranking, self.passage_index.n_tokens(), budget, options.overflow());
            let (tokens, n_passages) = (selection.n_tokens, selection.passages.len());
            let recall = self.recall(&selection, &sources);
            let n_places = self.stretches(&selection.ordered(PassageOrder::Document)).len();
            RecallAt { budget, tokens, recall, n_passages, n_places }
        };
        let curve: Vec<RecallAt> = budgets.iter().map(|budget| at(*budget as usize)).collect();
        to_js(&curve).map(JsCast::unchecked_into)
    }

    /// Returns the scores of the ranking by the evidence, as `closeread retrieve` scores it: at each `k`, and the
    /// precision within the budget; `null` where no evidence is known.
    ///
    /// # Errors
    /// As [`Index::search`].
    #[wasm_bindgen(js_name = rankingScores)]
    pub fn ranking_scores(
        &mut self,
        question: &str,
        ks: &[u32],
        options: Option<JsSearchOptions>,
    ) -> Result<JsRankingScores, JsValue> {
        let options: SearchOptions = read(options.map(JsValue::from))?;
        let ranking = self.ranking(question, options.retriever, options.neighbours)?;
        let within = fill(&ranking, self.passage_index.n_tokens(), options.budget, options.overflow());
        let ks: Vec<usize> = ks.iter().map(|k| (*k).max(1) as usize).collect();
        let most = ks.iter().copied().max().unwrap_or(1);
        let pieces = each_once(self.evidence.iter().map(|(book, span)| (book.to_string(), *span)));
        let books: Vec<String> = (0..self.passage_index.books().len()).map(|book| book.to_string()).collect();
        let place = |ranked: &Ranked| {
            let passage = &self.passage_index.passages()[ranked.idx];
            (books[passage.book].as_str(), passage.span)
        };
        let places = |ranked: &[Ranked]| ranked.iter().map(place).collect::<Vec<_>>();
        let scored = || {
            let by_name = scores(&pieces, &places(&ranking[..most.min(ranking.len())]), &ks)?;
            let precision = precision(&pieces, &places(&within.passages))?;
            let at = |k: &usize| {
                let [hit, ndcg, precision, recall] =
                    ["hit", "ndcg", "precision", "recall"].map(|name| by_name[&format!("{name}@{k}")]);
                ScoresAt { k: *k, hit, ndcg, precision, recall }
            };
            Some(RankingScores { mrr: by_name["mrr"], precision, at: ks.iter().map(at).collect() })
        };
        to_js(&scored()).map(JsCast::unchecked_into)
    }
}

impl Index {
    /// Share of the evidence that a selection holds; `None` where no evidence is known.
    pub(super) fn recall(&self, selection: &Selection, sources: &[Arc<BookText>]) -> Option<f64> {
        if self.evidence.is_empty() {
            return None;
        }
        let passage = |idx: usize| &self.passage_index.passages()[idx];
        let retrieved = selection.passages.iter().map(|ranked| passage(ranked.idx));
        let retrieved: Vec<(usize, Span)> = retrieved.map(|passage| (passage.book, passage.span)).collect();
        recall_over(&self.evidence, &retrieved, &sources.iter().map(|text| text.source()).collect::<Vec<_>>())
    }
}
