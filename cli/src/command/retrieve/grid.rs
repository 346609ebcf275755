//! The configurations of a grid.

use super::{NONE, RetrieveArgs};
use closeread_eval::ranking::RANKED_ALONE;
use closeread_methods::reader::EXTRACTIVE;
use closeread_methods::{AnyMethod, Passages, QueryForm, Rag, Select};
use closeread_report::Arm;
use closeread_retrieve::Retriever;
use closeread_retrieve::context::Fill;
use closeread_runner::benchmark::Benchmark;
use closeread_runner::encoders::Encoders;
use closeread_runner::engine::PlannedCell;
use closeread_runner::models;
use closeread_runner::reranker::{RERANK_FROM, Reranker, Reranking};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A point of the grid: one configuration.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) name: String,
    pub(super) retriever: Retriever,
    /// Name of the embedding model; `None` where words rank.
    pub(super) embedder: Option<String>,
    /// Name of the reranker, and of how many passages it reranks.
    pub(super) reranked: Option<(String, usize)>,
    pub(super) rag: Rag,
}

/// Retrievers and embedders, each pair once.
pub(super) fn kinds(points: &[Point]) -> Vec<(Retriever, Option<String>)> {
    let mut kinds = Vec::new();
    for point in points {
        let kind = (point.retriever, point.embedder.clone());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

impl Point {
    fn described(&self, rerankers: &BTreeMap<String, Rc<Reranker>>) -> Value {
        let mut described = json!({"retriever": self.retriever, "embedder": self.embedder, "rag": self.rag});
        if let Some(reranking) = self.reranking(rerankers) {
            described["reranker"] = reranking.described();
        }
        described
    }

    fn reranking(&self, rerankers: &BTreeMap<String, Rc<Reranker>>) -> Option<Reranking> {
        let (name, from) = self.reranked.as_ref()?;
        Some(Reranking { reranker: Rc::clone(&rerankers[name]), from: *from })
    }
}

impl RetrieveArgs {
    /// What the manifest says of the ranking; `data` is the fingerprint of the benchmark.
    pub(super) fn configuration(
        &self,
        (benchmark, data): (&Benchmark, &str),
        points: &[Point],
        rerankers: &BTreeMap<String, Rc<Reranker>>,
        tokenizer: &str,
    ) -> Value {
        json!({
            "benchmark": benchmark.name,
            "data": data,
            "documents": benchmark.described_books(),
            "keep_frame": benchmark.keep_frame,
            "keep_wraps": benchmark.keep_wraps,
            "items": benchmark.items.len(),
            "cells": self.cells(points, RANKED_ALONE),
            "methods": points.iter().map(|point| (&point.name, point.described(rerankers))).collect::<BTreeMap<_, _>>(),
            "repeats": 1,
            "tokenizer": tokenizer,
            "k": self.k,
        })
    }

    /// Returns every combination, named by what varies.
    pub(super) fn points(&self) -> Vec<Point> {
        let shipped = [models::SHIPPED.to_owned()];
        let embedders = if self.embedder.is_empty() { &shipped[..] } else { &self.embedder };
        let mut points: Vec<Point> = Vec::new();
        for &retriever in &self.retriever {
            // Words need no model: one configuration stands for all.
            let embedders: Vec<Option<&String>> = match retriever {
                Retriever::Bm25 => vec![None],
                _ => embedders.iter().map(Some).collect(),
            };
            for embedder in embedders {
                for &split in &self.chunker {
                    for &max_tokens in &self.passage_tokens {
                        for &neighbours in &self.neighbours {
                            let retrieved_by = json!(retriever);
                            let mut name = vec![retrieved_by.as_str().unwrap_or_default().to_owned()];
                            name.extend(embedder.filter(|_| self.embedder.len() > 1).cloned());
                            name.extend((self.chunker.len() > 1).then(|| split.name().to_owned()));
                            name.extend((self.passage_tokens.len() > 1).then(|| max_tokens.to_string()));
                            name.extend((self.neighbours.len() > 1).then(|| format!("n{neighbours}")));
                            let passages = Passages { split, max_tokens, embedder: None };
                            let rag = Rag { passages, neighbours, query: QueryForm::Question, ..Rag::vanilla() };
                            for reranked in self.rerankings() {
                                let mut name = name.clone();
                                if let Some((reranker, from)) = &reranked {
                                    name.extend((self.reranker.len() > 1).then(|| reranker.clone()));
                                    name.extend((self.rerank_from.len() > 1).then(|| format!("of{from}")));
                                }
                                let (name, embedder, rag) = (name.join("-"), embedder.cloned(), rag.clone());
                                points.push(Point { name, retriever, embedder, reranked, rag });
                            }
                        }
                    }
                }
            }
        }
        points
    }

    /// Returns every reranker with every number of passages; `None`, once: no reranker.
    fn rerankings(&self) -> Vec<Option<(String, usize)>> {
        let from = if self.rerank_from.is_empty() { &[RERANK_FROM][..] } else { &self.rerank_from };
        let of = |name: &String| match name.as_str() {
            NONE => vec![None],
            name => from.iter().map(|&from| Some((name.to_owned(), from))).collect(),
        };
        if self.reranker.is_empty() { vec![None] } else { self.reranker.iter().flat_map(of).collect() }
    }

    /// The cells of configurations: one a budget, and one for the ranks.
    fn cells(&self, points: &[Point], model: &str) -> Vec<Arm> {
        let budgets = self.budget.iter().copied().map(Some).chain([None]);
        let arm = |point: &Point, budget| Arm { method: point.name.clone(), model: model.to_owned(), budget };
        points.iter().flat_map(|point| budgets.clone().map(|budget| arm(point, budget)).collect::<Vec<_>>()).collect()
    }

    /// What the engine runs for a configuration: a plan of each of its cells.
    pub(super) fn planned(
        &self,
        point: &Point,
        encoders: &Encoders,
        rerankers: &BTreeMap<String, Rc<Reranker>>,
    ) -> Vec<PlannedCell> {
        let planned = |key: Arm| {
            let select = match key.budget {
                Some(_) => Select::Budget { fill: Fill::Stop },
                None => Select::Top { top_k: self.most_k() },
            };
            let method = AnyMethod::Rag(Rag { select, ..point.rag.clone() });
            let method = match &point.embedder {
                Some(name) => method.embedded_by(name),
                None => method,
            };
            PlannedCell { key, method, encoder: encoders.of("dos-rag"), reranking: point.reranking(rerankers) }
        };
        self.cells(std::slice::from_ref(point), EXTRACTIVE).into_iter().map(planned).collect()
    }
}
