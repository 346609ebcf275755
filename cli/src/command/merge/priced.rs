//! The price lists of the parts as one.

use super::Part;
use anyhow::Result;
use closeread_llm::price::{ModelFacts, PriceList};
use closeread_runner::run_folder::prices;
use tracing::warn;

/// The prices of all parts; where they differ those of the first count, and a warning says so.
pub(super) fn together(parts: &[Part]) -> Result<PriceList> {
    let mut all = PriceList::default();
    for part in parts {
        let own = prices(&part.folder)?;
        let differs = |model: &str, facts: &ModelFacts| all.of(model).is_some_and(|known| !is_alike(known, facts));
        let others = own.iter().filter(|(model, facts)| differs(model, facts)).map(|(model, _)| model);
        let others: Vec<&str> = others.collect();
        if !others.is_empty() {
            warn!(
                "{} has other prices of {}: all calls are counted by those of the folders before it",
                part.folder.display(),
                others.join(", ")
            );
        }
        all = own.overlaid(all);
    }
    Ok(all)
}

/// Returns whether two entries say the same but for where and when it was found.
fn is_alike(one: &ModelFacts, other: &ModelFacts) -> bool {
    ModelFacts { source: other.source.clone(), date: other.date.clone(), ..one.clone() } == *other
}
