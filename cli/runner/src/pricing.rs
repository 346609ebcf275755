//! Windows and prices of models: those that ship, the user's own over them, those of `--model-info` over both.

use crate::pages::page;
use anyhow::{Context, Result, bail};
use closeread_llm::price::{ModelFacts, PriceList};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The page on lists of prices.
const COSTS: &str = "docs/costs.md";

/// Loads the list in force; `given` is `--model-info`.
pub fn load(given: Option<&Path>) -> Result<PriceList> {
    let mut list = PriceList::built_in();
    let own = own_file("models.toml");
    for path in own.as_deref().into_iter().chain(given) {
        let text = closeread_files::read_text_file(path)
            .with_context(|| format!("cannot read --model-info {}", path.display()))?;
        let entries = PriceList::read(&text).with_context(|| format!("cannot use {}", path.display()))?;
        list = list.overlaid(entries);
    }
    Ok(list)
}

/// Refuses models whose price is not known.
pub fn check_known(prices: &PriceList, models: &[String]) -> Result<()> {
    let unknown: Vec<&str> = models
        .iter()
        .map(String::as_str)
        .filter(|model| prices.of(model).is_none_or(|facts| facts.price.is_none()))
        .collect();
    if !unknown.is_empty() {
        bail!(
            "--max-cost: the price of {} is not known; add it to a list given by --model-info ({}), or let its calls count as \
             free by --allow-unknown-price",
            unknown.join(", "),
            page(COSTS)
        );
    }
    Ok(())
}

/// Refuses rerankers whose price is known neither by the search nor by the token.
pub fn check_rerankers_known(prices: &PriceList, models: &[String]) -> Result<()> {
    let paid_by_the_search = |model: &&String| prices.of(model).is_some_and(|facts| facts.searches.is_some());
    check_known(prices, &models.iter().filter(|model| !paid_by_the_search(model)).cloned().collect::<Vec<_>>())
}

/// Refuses models of which nobody knows how long a response without a limit can get.
pub fn check_responses_known(prices: &PriceList, models: &[String]) -> Result<()> {
    let known = |model: &String| prices.is_free(model) || prices.longest_response(model).is_some();
    let unknown: Vec<&str> = models.iter().filter(|model| !known(model)).map(String::as_str).collect();
    if !unknown.is_empty() {
        bail!(
            "--max-cost: how long responses of {} can get is not known, and so not what a call can cost; limit them by \
             --max-output-tokens, or add `max_output` to the entry in a list given by --model-info ({})",
            unknown.join(", "),
            page(COSTS)
        );
    }
    Ok(())
}

/// Refuses models whose price through the batch API is not known.
pub fn check_batch_known(prices: &PriceList, models: &[String]) -> Result<()> {
    let of_all = |facts: &ModelFacts| facts.batch.is_some() && facts.long.is_none_or(|long| long.batch.is_some());
    let known = |model: &String| prices.of(model).is_some_and(of_all);
    let unknown: Vec<&str> = models.iter().filter(|model| !known(model)).map(String::as_str).collect();
    if !unknown.is_empty() {
        bail!(
            "--max-cost with --batch: the batch price of {} is not known; add `batch` to its entry, and to its `long`, in a \
             list given by --model-info ({}), or let its calls count as free by --allow-unknown-price",
            unknown.join(", "),
            page(COSTS)
        );
    }
    Ok(())
}

/// Returns a file of the configuration folder, unless none of that name is there. One that cannot be read is an error where it is
/// read: its limits would not hold.
pub fn own_file(name: &str) -> Option<PathBuf> {
    let path = config_folder()?.join(name);
    let is_absent = |kind| match kind {
        ErrorKind::NotFound => true,
        // Where a user has no home, it can be a file.
        ErrorKind::NotADirectory => named_folder().is_none(),
        _ => false,
    };
    let is_there = fs::symlink_metadata(&path).map_or_else(|error| !is_absent(error.kind()), |_| true);
    is_there.then_some(path)
}

fn named_folder() -> Option<PathBuf> {
    std::env::var_os("CLOSEREAD_CONFIG").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Returns `CLOSEREAD_CONFIG`, or the user's configuration folder; `None` where the system has no place for it.
pub fn config_folder() -> Option<PathBuf> {
    named_folder().or_else(|| Some(directories::ProjectDirs::from("", "", "closeread")?.config_dir().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_long_prompts_needs_a_price_of_its_own() {
        let rates = "{ input = 2, output = 2 }";
        let own = |of_long: &str| {
            let long = format!("long = {{ above = 9, price = {rates}{of_long} }}");
            let entry = format!("['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = {rates}\nbatch = {rates}\n{long}");
            check_batch_known(&PriceList::read(&entry).unwrap(), &["p/x".to_owned()])
        };
        assert!(own("").unwrap_err().to_string().contains("the batch price of p/x is not known"));
        assert!(own(&format!(", batch = {rates}")).is_ok());
    }
}
