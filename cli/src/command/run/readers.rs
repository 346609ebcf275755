//! The models that read in a run: what is refused before anything is loaded, how they are reached, what asks them.

use crate::config::RunArgs;
use anyhow::Result;
use closeread_books::tokens::Tokenizer;
use closeread_llm::price::PriceList;
use closeread_providers::batch::check_batch;
use closeread_providers::response_cache::ResponseCache;
use closeread_providers::{Batcher, Model, Options, check_constraint};
use closeread_runner::host::CliHost;
use closeread_runner::pricing;
use closeread_runner::spending::Spending;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Refuses what the models that read cannot do, and with a limit on money models whose calls could cost anything; `asked` are
/// they and the judges.
pub(super) fn check(args: &RunArgs, prices: &PriceList, asked: &[String]) -> Result<()> {
    let (reading, batches) = (args.readers(), args.batch_poll()?.is_some());
    if batches {
        reading.iter().try_for_each(|model| check_batch(model))?;
    }
    if args.must_know_prices()? {
        pricing::check_known(prices, asked)?;
        if args.max_output_tokens().is_none() {
            pricing::check_responses_known(prices, &reading)?;
        }
        if batches {
            pricing::check_batch_known(prices, &reading)?;
        }
    }
    args.reasoning_fields()?;
    args.constrain.map_or(Ok(()), |constraint| reading.iter().try_for_each(|model| check_constraint(model, constraint)))
}

/// The models that read, by their names.
pub(super) fn readers(
    args: &RunArgs,
    prices: &PriceList,
    tokenizer: &Tokenizer,
    concurrency: usize,
) -> Result<Vec<(String, Model)>> {
    let reasoning = args.reasoning_fields()?;
    let options = Options {
        seed: args.seed(),
        constrain: args.constrain,
        extra_body: args.extra_body()?,
        timeout: timeout(args),
        concurrency,
        rates: args.rates(),
        tokenizer: Some(tokenizer.clone()),
        ..Options::default()
    };
    let reader = |model: String| {
        let max_output = prices.of(&model).and_then(|facts| facts.max_output);
        let reasoning = reasoning.get(&model).cloned().unwrap_or_default();
        let reached =
            Model::named(&model, args.base_url.as_deref(), Options { max_output, reasoning, ..options.clone() })?;
        Ok((model, reached))
    };
    args.readers().into_iter().map(reader).collect()
}

/// What asks each of the models: charged to the run in the folder `run`, in batches if the options say so.
pub(super) fn hosts(
    readers: Vec<(String, Model)>,
    args: &RunArgs,
    run: &Path,
    spending: &Arc<Spending>,
) -> Result<HashMap<String, CliHost>> {
    let responses = if args.no_cache { ResponseCache::new(None) } else { closeread_runner::cache::responses() };
    let (responses, batch_poll) = (Rc::new(responses), args.batch_poll()?);
    let host = |(name, model): (String, Model)| {
        let batcher = match (batch_poll, &model) {
            (Some(poll), Model::Chat(chat)) => Some(Batcher::open(chat.account().clone(), timeout(args), run, poll)?),
            _ => None,
        };
        let host = CliHost::new(model, Rc::clone(&responses)).charged_to(Arc::clone(spending), &name);
        Ok((name, if let Some(batcher) = batcher { host.in_batches(Rc::new(batcher)) } else { host }))
    };
    readers.into_iter().map(host).collect()
}

fn timeout(args: &RunArgs) -> Duration {
    Duration::from_secs(args.timeout.unwrap_or(600).max(1))
}
