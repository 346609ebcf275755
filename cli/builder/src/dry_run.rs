//! `--dry-run`: what each stage would take.

use closeread_build::StageCost;
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::cost::{Range, Tariff};
use closeread_table::{Table, Value};

/// Calls, tokens and money by stage, each with the model that it asks, where a short response has `typical` tokens.
/// `unknown` says what cannot be known before the build.
pub fn table(stages: &[(StageCost, &str)], unknown: &[&str], prices: &PriceList, typical: u64) -> Table {
    let columns = ["stage", "model", "calls", "prompt tokens", "response tokens", "list", "largest"];
    let mut table = Table::new("estimate", "What the build would take", columns.map(str::to_owned).to_vec());
    let mut total = (Range::default(), Range::default(), Range::default());
    let mut money = Some((Dollars::default(), Dollars::default()));
    for (StageCost { stage, cost }, model) in stages {
        let (n, prompt, response) = (cost.n(), cost.prompt(), cost.response(typical));
        let dollars = prices.of(model).and_then(|facts| cost.dollars(facts, Tariff::List, typical));
        table.rows.push(vec![
            Value::text(*stage),
            Value::text(*model),
            Value::text(n.shown()),
            Value::text(prompt.shown()),
            Value::text(response.shown()),
            shown(dollars),
            Value::Count { count: cost.largest_request() },
        ]);
        total = (total.0 + n, total.1 + prompt, total.2 + response);
        money = money.zip(dollars).map(|(sum, more)| (sum.0 + more.0, sum.1 + more.1));
    }
    let largest = stages.iter().map(|(stage, _)| stage.cost.largest_request()).max().unwrap_or(0);
    table.rows.push(vec![
        Value::text("total"),
        Value::missing("of all models"),
        Value::text(total.0.shown()),
        Value::text(total.1.shown()),
        Value::text(total.2.shown()),
        shown(money),
        Value::Count { count: largest },
    ]);
    table.notes.push(format!(
        "at least: every unit is kept, every response can be used and has {typical} tokens (--assume-response), and what earlier \
         stages write into a prompt is not counted; at most: every response is asked for again and as long as it may be"
    ));
    table.notes.extend(unknown.iter().map(|note| (*note).to_owned()));
    table
}

fn shown(dollars: Option<(Dollars, Dollars)>) -> Value {
    match dollars {
        None => Value::missing("the price of the model is not known"),
        Some((low, high)) if low.to_string() == high.to_string() => Value::text(low.to_string()),
        Some((low, high)) => Value::text(format!("{low} to {high}")),
    }
}
