//! The end of a run: its `report.json`, its table, and what is to be said of both.

use super::say::{say_cut_for_reranking, say_failures, say_judges_failures, say_served, say_spending};
use super::served::{say_cut_preparations, say_cuts, say_empty_contexts, say_unsent, say_versions};
use crate::command::plan::{UNLIMITED, out_of_money};
use crate::table;
use anyhow::Result;
use closeread_eval::Item;
use closeread_eval::observations::Ending;
use closeread_eval::truncation::Cuts;
use closeread_judges::Judging;
use closeread_methods::record::Record;
use closeread_methods::{OnTruncation, as_overflows, cuts};
use closeread_report::{
    Arm, Cell, HowAsked, PreparationCalls, RunView, ServedUsage, Usage, cells, judged_by, served_usage, usage,
};
use closeread_runner::benchmark::Benchmark;
use closeread_runner::engine::{Plan, Summary};
use closeread_runner::judging::{self, Session};
use closeread_runner::run_folder::{EMBEDDINGS, RERANKING, RunFolder, served_calls};
use closeread_text::Language;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;
use tracing::info;

/// Writes report.json, prints the report, says how it ended.
pub(super) fn report(
    (plan, asked): (&Plan<'_>, &HowAsked),
    benchmark: &Benchmark,
    folder: &RunFolder,
    summary: &Summary,
    session: &Session,
    on_truncation: OnTruncation,
    as_json: bool,
) -> Result<ExitCode> {
    let results = Results::of((plan, asked), benchmark, folder, on_truncation)?;
    let stopped = summary.interrupted || summary.out_of_money;
    let failed = |cell: &Cell| cell.ledger.of(Ending::Failed) > 0 || !cell.ledger.is_complete();
    let finished = !stopped && session.failed == 0 && !results.cells.iter().any(failed);
    let report = results.json(folder, benchmark, finished);
    folder.write_report(&report)?;
    let n_cut: usize = results.cut_for_embedding.values().sum();
    if n_cut > 0 {
        info!("{n_cut} passages or questions were cut: the embedding model takes no more tokens");
    }
    if as_json {
        outln!("{report}");
    } else {
        out!("{}", table::render(&results.cells));
        if let Some(who) = judged_by(&results.judging) {
            outln!("judged by {who}");
        }
    }
    say_judges_failures(session);
    results.say(plan, folder, on_truncation);
    say_stopped(plan, summary);
    let dropped = benchmark.problems.count(true) > 0;
    Ok(if finished && !dropped && session.without_chunk == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// What the folder of a run holds at its end.
struct Results {
    /// The records; trials whose prompts the server seems to have cut are overflows, if these are to fail.
    records: Vec<Record>,
    /// What was cut in each record's calls.
    cuts: Vec<Cuts>,
    cells: Vec<Cell>,
    judging: Judging,
    preparations: Vec<PreparationCalls>,
    usage: Vec<Usage>,
    embeddings: Vec<ServedUsage>,
    reranking: Vec<ServedUsage>,
    /// Number of texts that were cut to be embedded, by the books that they are of.
    cut_for_embedding: BTreeMap<String, usize>,
}

impl Results {
    fn of(
        (plan, asked): (&Plan<'_>, &HowAsked),
        benchmark: &Benchmark,
        folder: &RunFolder,
        on_truncation: OnTruncation,
    ) -> Result<Self> {
        let arms: Vec<Arm> = plan.cells.iter().map(|cell| cell.key.clone()).collect();
        let (judging, mut records) = (judging::read(folder.path())?, folder.records());
        let books: HashMap<&str, Language> = benchmark.books.iter().map(|book| (&*book.id, book.language)).collect();
        let of = |item: &Item| (item.id.clone(), item.documents.first().and_then(|id| books.get(&**id)).copied());
        let languages: HashMap<String, Option<Language>> = benchmark.items.iter().map(of).collect();
        let language = |item: &str| languages.get(item).copied().flatten().unwrap_or(Language::ENGLISH);
        let cuts = cuts(&records, language);
        if on_truncation == OnTruncation::Fail {
            as_overflows(&mut records, &cuts, &benchmark.items, language);
        }
        let view = RunView {
            name: "",
            benchmark: &benchmark.name,
            plan: &arms,
            items: &benchmark.items,
            records: &records,
            repeats: plan.repeats,
            books: &BTreeMap::new(),
            judging: &judging,
            asked,
        };
        let cells = cells(&view.observations()?);
        let cut_for_embedding = folder.cut()?;
        let preparations = folder.preparation_calls()?;
        let prices = folder.prices()?;
        let usage = usage(&arms, &records, &preparations, &judging.judgements, &prices);
        let embeddings = served_usage(&served_calls(folder.path(), EMBEDDINGS)?, &prices);
        let reranking = served_usage(&served_calls(folder.path(), RERANKING)?, &prices);
        Ok(Self { records, cuts, cells, judging, preparations, usage, embeddings, reranking, cut_for_embedding })
    }

    /// The contents of `report.json`.
    fn json(&self, folder: &RunFolder, benchmark: &Benchmark, finished: bool) -> Value {
        json!({
            "run": folder.path().file_name().map(|name| name.to_string_lossy()),
            "folder": folder.path().display().to_string(),
            "benchmark": benchmark.name,
            "complete": self.cells.iter().all(|cell| cell.ledger.is_complete()),
            "finished": finished,
            "cells": self.cells,
            "usage": self.usage,
            "embeddings": self.embeddings,
            "reranking": self.reranking,
            "cut_for_embedding": self.cut_for_embedding,
            "judged_by": self.judging.panels,
            "problems": benchmark.problems,
        })
    }

    /// Says what a reader of the table should know.
    fn say(&self, plan: &Plan<'_>, folder: &RunFolder, on_truncation: OnTruncation) {
        say_failures(&self.records);
        say_served(&self.embeddings, "texts embedded");
        say_served(&self.reranking, "passages scored");
        say_cut_for_reranking(&self.records);
        say_versions(&self.records);
        say_cuts(&self.records, &self.cuts, plan.setting.response_limit.sent(), on_truncation);
        say_cut_preparations(&self.preparations);
        say_empty_contexts(&self.records);
        // As they were recorded: of prompts that a server seems to have cut, `say_cuts` speaks.
        say_unsent(&folder.records());
        say_spending(plan, &self.usage);
    }
}

/// Says why a run stopped before its end, and how it goes on.
fn say_stopped(plan: &Plan<'_>, summary: &Summary) {
    if summary.interrupted {
        info!("stopped; give the same command again to resume");
    }
    if summary.out_of_money {
        info!("{}", out_of_money(plan.spending.taken()));
        if plan.setting.response_limit.sent().is_none() {
            info!("{UNLIMITED}");
        }
    }
}
