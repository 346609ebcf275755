//! `closeread methods`: what there is, where it comes from, and what it asks for.

use super::{BookArgs, one_book};
use crate::benchmark;
use anyhow::Result;
use closeread_core::benchmark::{Item, Task};
use closeread_core::method::cost::{BookSize, Cost, Range, Stage};
use closeread_core::method::{Entry, METHODS, Setting};
use closeread_core::prompt::Prompts;
use closeread_core::protocol::Protocol;
use closeread_core::table::number::thousands;
use closeread_core::text::Book;
use closeread_core::text::tokens::Tokenizer;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Every method with its paper, its parameters, and the calls and tokens of one question on a book.
#[derive(Debug, clap::Args)]
pub(crate) struct MethodsArgs {
    /// The book that the calls and tokens are said for [default: the sample's English story]
    book: Option<PathBuf>,
    #[command(flatten)]
    reading: BookArgs,
    /// Print [{"name", "paper", "summary", "parameters", "extractive", "costs"}]
    #[arg(long)]
    json: bool,
}

/// Most tokens of a reply, as for `closeread run` without options.
const MAX_OUTPUT_TOKENS: u32 = 1024;
/// What is asked: a question of usual length.
const QUESTION: &str = "Who finds the letter that was hidden in the clock, and what becomes of it afterwards?";

/// Prints the methods.
pub(crate) fn run(args: &MethodsArgs) -> Result<ExitCode> {
    let book = match &args.book {
        Some(path) => one_book(path, &args.reading)?,
        None => benchmark::sample_story()?,
    };
    let (prompts, tokenizer) = (Prompts::built_in(), Tokenizer::cl100k());
    let setting = Setting {
        prompts: &prompts,
        tokenizer: &tokenizer,
        max_output_tokens: MAX_OUTPUT_TOKENS,
        temperature: 0.0,
        window: None,
    };
    let size = BookSize::of(&book, &tokenizer);
    let mut listed = Vec::new();
    for entry in METHODS {
        listed.push((entry, costs(entry, setting, &size)?));
    }
    if args.json {
        let methods: Result<Vec<Value>> = listed.iter().map(|(entry, costs)| as_json(entry, costs)).collect();
        outln!("{}", Value::Array(methods?));
        return Ok(ExitCode::SUCCESS);
    }
    outln!("{}\n", about(&book, &size, &tokenizer));
    for (entry, costs) in &listed {
        out!("{}", as_text(entry, costs)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// What one question costs, once for each budget where the method takes one.
fn costs(entry: &Entry, setting: Setting<'_>, size: &BookSize) -> Result<Vec<(Option<usize>, Cost)>> {
    let method = entry.method(&json!({}))?;
    let mut item = Item::new("question", "book", QUESTION, Task::Generative);
    // What asks nothing about a question answers summaries alone.
    if method.cost(setting, std::slice::from_ref(size), &[&item], None)?.calls.is_empty() {
        item.task = Task::Summary;
    }
    let budgets: Vec<Option<usize>> = match entry.budgets {
        true => Protocol::OWN.budgets.iter().map(|&budget| Some(budget)).collect(),
        false => vec![None],
    };
    let cost = |budget| Ok((budget, method.cost(setting, std::slice::from_ref(size), &[&item], budget)?));
    budgets.into_iter().map(cost).collect()
}

fn about(book: &Book, size: &BookSize, tokenizer: &Tokenizer) -> String {
    let title = if book.title.is_empty() { &book.id } else { &book.title };
    format!(
        "Calls and tokens are for one question on `{title}` ({} tokens by {}), replies of up to {MAX_OUTPUT_TOKENS} \
         tokens.",
        thousands(size.tokens),
        tokenizer.name()
    )
}

fn as_json(entry: &Entry, costs: &[(Option<usize>, Cost)]) -> Result<Value> {
    let stages = |cost: &Cost| {
        let stage = |stage| json!({"calls": n(cost, stage), "prompt_tokens": prompt(cost, stage)});
        (stage(Stage::Preparation), stage(Stage::Question))
    };
    let costs: Vec<Value> = costs
        .iter()
        .map(|(budget, cost)| {
            let (preparation, question) = stages(cost);
            json!({"budget": budget, "preparation": preparation, "question": question})
        })
        .collect();
    Ok(json!({
        "name": entry.name,
        "paper": entry.paper,
        "summary": entry.summary,
        "parameters": entry.method(&json!({}))?,
        "extractive": entry.extractive,
        "costs": costs,
    }))
}

fn as_text(entry: &Entry, costs: &[(Option<usize>, Cost)]) -> Result<String> {
    let mut text = format!("{}: {}\n    {}\n", entry.name, entry.summary, entry.paper);
    let parameters = json!(entry.method(&json!({}))?);
    let parameters = parameters.as_object().filter(|parameters| !parameters.is_empty()).map(|parameters| {
        parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    });
    text.push_str(&format!("    parameters: {}\n", parameters.as_deref().unwrap_or("none")));
    if !entry.extractive {
        text.push_str("    needs a language model\n");
    }
    for (place, (budget, cost)) in costs.iter().enumerate() {
        let at = budget.map_or_else(String::new, |budget| format!(" at {}", thousands(budget as u64)));
        for (stage, what) in [(Stage::Preparation, "once a book"), (Stage::Question, "a question")] {
            let calls = n(cost, stage);
            // What is made once serves all budgets.
            let (at, is_listed) = match stage {
                Stage::Preparation => ("", place > 0),
                Stage::Question => (at.as_str(), false),
            };
            if calls.high > 0 && !is_listed {
                let noun = if calls == Range::exactly(1) { "call" } else { "calls" };
                let tokens = prompt(cost, stage).shown();
                text.push_str(&format!("    {what}{at}: {} {noun}, {tokens} tokens\n", calls.shown()));
            }
        }
    }
    text.push('\n');
    Ok(text)
}

fn n(cost: &Cost, stage: Stage) -> Range {
    cost.calls.iter().filter(|calls| calls.stage == stage).map(|calls| calls.n).sum()
}

fn prompt(cost: &Cost, stage: Stage) -> Range {
    cost.calls.iter().filter(|calls| calls.stage == stage).map(|calls| calls.prompt).sum()
}
