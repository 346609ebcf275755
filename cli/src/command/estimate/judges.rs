//! Estimate of the judges of a run, as if every trial ended with an answer.

use super::cells::{CellEstimate, Work};
use super::scene::Scene;
use anyhow::{Context, Result};
use closeread_books::Book;
use closeread_eval::{Item, Outcome};
use closeread_judges::{BUILTIN_RULE, Judge, Panel, Submission, SubmittedAnswer, cost};
use closeread_methods::cost::{Cost, Range};
use closeread_methods::{ResponseLimit, Settings};
use closeread_report::Arm;
use closeread_runner::judging::{JudgeOptions, Work as Judged, works};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Makes one entry a judge and model, and the work behind them.
pub(super) fn estimates(scene: &Scene<'_>, options: &JudgeOptions) -> Result<(Vec<CellEstimate>, Vec<Work>)> {
    let panel = options.panel(&scene.benchmark.name, &scene.benchmark.items, scene.setting.prompts)?;
    let books: HashMap<&str, &Arc<Book>> = scene.benchmark.books.iter().map(|book| (book.id.as_str(), book)).collect();
    let asked = |item: &Item| judgements(scene, &panel, item);
    let (told, _) = works(
        scene.benchmark.items.iter().map(|item| (item, asked(item).contains_key(&Judge::VerifyFacts))),
        &books,
        &scene.benchmark.texts,
        panel.reference,
    );
    let setting = Settings {
        response_limit: ResponseLimit::AtMost(panel.max_output_tokens),
        context_window: None,
        ..scene.setting
    };
    let (mut entries, mut work) = (BTreeMap::new(), Vec::new());
    for (idx, group) in scene.groups.iter().enumerate() {
        for item in &group.items {
            let Some(told) = told.get(item.id.as_str()) else { continue };
            for (judge, n) in asked(item) {
                let calls = cost(judge, setting, &nothing_said(item, told), n, said(scene, judge));
                let calls = calls.with_context(|| format!("{} on item `{}`", judge.name(), item.id))?;
                let in_fields = options.extra_body.tokens(None, judge.name(), setting.tokenizer);
                let cost = Cost::from(calls).with_up_to(in_fields);
                for (model, _) in panel.members_for(judge).into_iter().filter(|(model, _)| *model != BUILTIN_RULE) {
                    let entry = entries.entry((judge, model.to_owned())).or_insert_with(|| {
                        let key = Arm { method: judge.name().to_owned(), model: model.to_owned(), budget: None };
                        CellEstimate::nothing(scene, key)
                    });
                    entry.add(scene, &cost, 1);
                    work.push(Work {
                        group: idx,
                        model: model.to_owned(),
                        calls: cost.n(),
                        chain: Range::exactly(1),
                        tokens: cost.prompt() + cost.response(scene.assumed.response_tokens),
                    });
                }
            }
        }
    }
    Ok((entries.into_values().collect(), work))
}

/// Counts how many judgements of each kind the trials of an item call for, by one vote of one model.
fn judgements(scene: &Scene<'_>, panel: &Panel, item: &Item) -> BTreeMap<Judge, u64> {
    let mut judgements = BTreeMap::new();
    let answered = Outcome::Answered { answer: String::new(), choice: None };
    for cell in scene.cells {
        // Items of another task are not asked for a summary.
        if cell.method.declines(item).is_some() {
            continue;
        }
        let cites = json!(cell.method).get("evidence") == Some(&json!(true));
        let cited = if cites { vec![String::new()] } else { Vec::new() };
        for judge in panel.judges_of(item, &answered, &cited).into_iter().filter(|judge| *judge != Judge::Rule) {
            *judgements.entry(judge).or_default() += u64::from(scene.repeats);
        }
    }
    if panel.classifies(item) {
        judgements.insert(Judge::ClassifyQuestion, 1);
    }
    judgements
}

/// Tokens that an answer adds to a judge's prompt.
fn said(scene: &Scene<'_>, judge: Judge) -> Range {
    match judge {
        Judge::ClassifyQuestion | Judge::Rule => Range::default(),
        Judge::VerifyFacts | Judge::AlignKeyFacts => {
            let limit = u64::from(scene.setting.response_limit.reserved());
            Range { low: scene.assumed.response_tokens.min(limit), high: limit }
        }
        _ => Range { low: 1, high: scene.setting.response_limit.reserved().into() },
    }
}

fn nothing_said<'a>(item: &'a Item, told: &'a Judged) -> Submission<'a> {
    told.submission(item, SubmittedAnswer::Answer { text: "", choice: None }, &[])
}
