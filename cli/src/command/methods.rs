//! `closeread methods`: what there is, where it comes from, and what it asks for.

use super::{BookArgs, one_book};
use anyhow::{Result, bail};
use closeread_books::Book;
use closeread_books::tokens::Tokenizer;
use closeread_llm::ASSUMED_RESPONSE_TOKENS;
use closeread_methods::cost::{BookSize, Range};
use closeread_methods::protocol::{Offer, StageCost, offers};
use closeread_methods::{Settings, entry};
use closeread_prompts::Prompts;
use closeread_runner::benchmark;
use closeread_table::number::thousands;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// List the methods: paper, parameters, calls and tokens
#[derive(Debug, clap::Args)]
pub(crate) struct MethodsArgs {
    /// Book for which calls and tokens are estimated [default: the sample's English story]
    book: Option<PathBuf>,
    #[command(flatten)]
    reading: BookArgs,
    /// Print [{"name", "paper", "summary", "parameters", "costs"}]
    #[arg(long)]
    json: bool,
}

/// Prints the methods.
pub(crate) fn run(args: &MethodsArgs) -> Result<ExitCode> {
    let book = match &args.book {
        Some(path) if !path.exists() && path.to_str().is_some_and(|name| entry(name).is_some()) => bail!(
            "{} is a method: `closeread methods` takes a book, and lists all methods with their parameters",
            path.display()
        ),
        Some(path) => one_book(path, &args.reading)?,
        None => benchmark::sample_story()?,
    };
    let (prompts, tokenizer) = (Prompts::built_in(), Tokenizer::cl100k());
    let setting = Settings::new(&prompts, &tokenizer);
    let size = BookSize::of(&book, &*book.text()?, &tokenizer);
    let offers = offers(setting, &size)?;
    if args.json {
        outln!("{}", serde_json::to_string(&offers)?);
        return Ok(ExitCode::SUCCESS);
    }
    outln!("{}\n", about(&book, &size, &tokenizer));
    for offer in &offers {
        out!("{}", as_text(offer));
    }
    Ok(ExitCode::SUCCESS)
}

fn about(book: &Book, size: &BookSize, tokenizer: &Tokenizer) -> String {
    let title = if book.title.is_empty() { &book.id } else { &book.title };
    format!(
        "Calls and tokens are for one question on `{title}` ({} tokens by {}), responses are taken to have {ASSUMED_RESPONSE_TOKENS} \
         tokens.",
        thousands(size.tokens),
        tokenizer.name()
    )
}

fn as_text(offer: &Offer) -> String {
    let mut text = format!("{}: {}\n    {}\n", offer.name, offer.summary, offer.paper);
    let parameters = json!(offer.parameters);
    let parameters = parameters.as_object().filter(|parameters| !parameters.is_empty()).map(|parameters| {
        parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    });
    text.push_str(&format!("    parameters: {}\n", parameters.as_deref().unwrap_or("none")));
    for (place, cost) in offer.costs.iter().enumerate() {
        let at = cost.budget.map_or_else(String::new, |budget| format!(" at {}", thousands(budget as u64)));
        // What is made once serves all budgets.
        let preparation = (place == 0).then_some(("once a book", "", cost.preparation));
        for (what, at, stage) in preparation.into_iter().chain([("a question", at.as_str(), cost.question)]) {
            let StageCost { calls, prompt_tokens } = stage;
            if calls.high > 0 {
                let noun = if calls == Range::exactly(1) { "call" } else { "calls" };
                text.push_str(&format!("    {what}{at}: {} {noun}, {} tokens\n", calls.shown(), prompt_tokens.shown()));
            }
        }
    }
    text.push('\n');
    text
}
