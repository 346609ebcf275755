//! An estimate as people read it.

use super::cells::{CellEstimate, Money};
use super::detect::Detect;
use super::embeddings::EmbeddingEstimate;
use super::memory::MemoryEstimate;
use super::models::{Counting, ModelEstimate};
use super::reranking::RerankingEstimate;
use super::scene::Assumptions;
use super::windows::{ContextOverflow, Survival};
use closeread_runner::pages::page;
use closeread_table::number::{counted, thousands};
use closeread_table::render::text as render;
use closeread_table::{Table, Value};
use serde::Serialize;

/// Books that are named where several overflow.
const NAMED: usize = 3;

/// The whole estimate of a run.
#[derive(Debug, Serialize)]
pub(super) struct Estimate {
    pub(super) benchmark: String,
    pub(super) items: usize,
    pub(super) books: usize,
    /// Tokens of all books together, by `tokenizer`.
    pub(super) book_tokens: u64,
    pub(super) repeats: u32,
    pub(super) tokenizer: String,
    /// Most tokens that a response may have; absent where the provider decides.
    pub(super) max_output_tokens: Option<u32>,
    /// Tokens that the longest response is taken to have: the limit, or an assumption.
    pub(super) assumed_output_tokens: u32,
    pub(super) assumptions: Assumptions,
    pub(super) cells: Vec<CellEstimate>,
    /// Estimates of judges, the name of each in the place of the method.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) judges: Vec<CellEstimate>,
    pub(super) models: Vec<ModelEstimate>,
    /// Estimates of embedding models on servers.
    pub(super) embeddings: Vec<EmbeddingEstimate>,
    /// Estimate of the reranker, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reranking: Option<RerankingEstimate>,
    /// Memory of the run, in MiB; absent where a model is computed here whose size is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory: Option<MemoryEstimate>,
    /// Items that would tell a difference, if that was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) detect: Vec<Detect>,
}

/// Writes the whole estimate as text.
pub(super) fn text(estimate: &Estimate) -> String {
    let repetitions = match estimate.repeats {
        1 => String::new(),
        n => format!(", {n} repetitions"),
    };
    let mut text = format!(
        "{}: {} on {} of {} tokens by {}{repetitions}\n\n",
        estimate.benchmark,
        counted(estimate.items, "item"),
        counted(estimate.books, "book"),
        thousands(estimate.book_tokens),
        estimate.tokenizer
    );
    text.push_str(&render::body(&table(&estimate.cells, &estimate.judges)));
    for model in &estimate.models {
        text.push('\n');
        text.push_str(&about(model, &estimate.tokenizer));
    }
    for EmbeddingEstimate { model, tokens, dollars } in &estimate.embeddings {
        let price = dollars.map_or_else(|| "at a price that is not known".to_owned(), |dollars| dollars.to_string());
        text.push_str(&format!(
            "\n{model} embeds about {} tokens of books and questions: {price}\n",
            thousands(*tokens)
        ));
    }
    if let Some(RerankingEstimate { model, pairs, tokens, searches, here, dollars }) = &estimate.reranking {
        let price = match (here, dollars) {
            (true, _) => "computed here".to_owned(),
            (false, Some(dollars)) => dollars.to_string(),
            (false, None) => "at a price that is not known".to_owned(),
        };
        let searches = searches.map_or_else(String::new, |n| format!(" in {} searches", thousands(n)));
        text.push_str(&format!(
            "\n{model} scores about {} passages of {} tokens with their questions{searches}: {price}\n",
            thousands(*pairs),
            thousands(*tokens)
        ));
    }
    text.push('\n');
    text.push_str(&assumptions(estimate));
    text
}

fn table(cells: &[CellEstimate], judges: &[CellEstimate]) -> Table {
    let columns = [
        "method",
        "model",
        "budget",
        "calls",
        "prompt tokens",
        "response tokens",
        "list",
        "cached",
        "batch",
        "largest",
    ];
    let mut table = Table::new("estimate", "What the run would take", columns.map(str::to_owned).to_vec());
    for cell in cells.iter().chain(judges) {
        let mut row = vec![
            Value::text(&cell.key.method),
            Value::text(&cell.key.model),
            cell.key.budget.map_or_else(|| Value::missing("the method takes no budget"), Value::count),
        ];
        row.extend([cell.calls, cell.prompt_tokens, cell.response_tokens].map(|range| Value::text(range.shown())));
        row.extend([cell.dollars.list, cell.dollars.cached, cell.dollars.batch].map(|m| Value::text(money(m))));
        row.push(Value::Count { count: cell.largest_request });
        table.rows.push(row);
        let name = match cell.key.budget {
            Some(budget) => format!("{} with {} at {}", cell.key.method, cell.key.model, thousands(budget as u64)),
            None => format!("{} with {}", cell.key.method, cell.key.model),
        };
        if cell.overflows > 0 {
            let n = thousands(cell.overflows as u64);
            table.notes.push(format!("{name}: {n} trials end as an overflow of the model's window without a call"));
        }
        if cell.never_fit > 0 {
            let n = thousands(cell.never_fit);
            table.notes.push(format!("{name}: {n} requests can never fit the model's window or --tpm"));
        }
    }
    if !judges.is_empty() {
        table.notes.push("judges: as if every trial ended with an answer".to_owned());
    }
    table
}

fn about(model: &ModelEstimate, ours: &str) -> String {
    let mut lines = Vec::new();
    lines.push(match &model.prices {
        Some((source, date)) => {
            let tariffs =
                [("list", model.dollars.list), ("cached", model.dollars.cached), ("batch", model.dollars.batch)];
            let tariffs: Vec<String> = tariffs.iter().map(|(name, m)| format!("{} {name}", money(*m))).collect();
            format!("{}; prices of {date}, {source}", tariffs.join(", "))
        }
        None => format!("its price is not known: add it to a list given by --model-info ({})", page("docs/costs.md")),
    });
    match &model.tokenizer {
        Counting::Same => lines.push(format!("counts by {ours} itself; a chat format adds some tokens a message")),
        Counting::Other { name, ratio } => lines.push(format!(
            "counts by {name}, which gives {ratio:.3} tokens for one of {ours} on these books; --tokenizer {} counts by it",
            name.trim_end_matches("_base")
        )),
        Counting::Unknown => lines.push(format!(
            "its tokenizer is not known here: how far counts by {ours} are off shows in the first run, whose report has \
             the model's own counts"
        )),
        Counting::Nothing => {}
    }
    match (model.window, &model.overflow) {
        (Some(window), Some(overflow)) => lines.extend(overflowing(window, overflow)),
        // It only judges: no book is shown to it.
        (Some(_), None) => {}
        _ if model.tokenizer == Counting::Nothing => {}
        _ => lines.push(
            "its window is not known: give --context-window, or add it to a list given by --model-info".to_owned(),
        ),
    }
    if let Some((low, high)) = model.seconds {
        let (low, high) = (duration(low), duration(high));
        lines.push(if low == high { format!("takes {low}") } else { format!("takes {low} to {high}") });
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("{}\n{}", model.model, lines.concat())
}

fn overflowing(window: usize, overflow: &ContextOverflow) -> Vec<String> {
    let window = thousands(window as u64);
    let n = overflow.books.len();
    if n == 0 {
        return vec![format!("every book fits its window of {window} tokens with question and response")];
    }
    let mut named: Vec<&str> = overflow.books.iter().take(NAMED).map(String::as_str).collect();
    if n > NAMED {
        named.push("...");
    }
    let mut lines = vec![format!(
        "{} {} with {} items do not fit its window of {window} tokens whole: {}",
        thousands(n as u64),
        if n == 1 { "book" } else { "books" },
        thousands(overflow.items as u64),
        named.join("; ")
    )];
    for (policy, survival) in [("end", overflow.truncate_end), ("middle", overflow.truncate_middle)] {
        lines.push(format!("their evidence under truncate-{policy}: {}", survived(survival)));
    }
    lines
}

fn survived(survival: Survival) -> String {
    let parts = [
        (survival.whole, "keep all of it"),
        (survival.partly, "some"),
        (survival.lost, "none"),
        (survival.unknown, "have none whose place is known"),
    ];
    let parts = parts.iter().filter(|(n, _)| *n > 0);
    parts.map(|(n, what)| format!("{} {what}", thousands(*n as u64))).collect::<Vec<_>>().join(", ")
}

fn assumptions(estimate: &Estimate) -> String {
    let (assumed, most) = (&estimate.assumptions, estimate.assumed_output_tokens);
    let limit = match estimate.max_output_tokens {
        Some(_) => "--max-output-tokens",
        None => "an assumption: without --max-output-tokens the provider decides",
    };
    let mut limits = vec![format!("{} at once", counted(assumed.concurrency, "call"))];
    limits.extend(assumed.rpm.map(|rpm| format!("{} a minute", counted(rpm as usize, "request"))));
    limits.extend(assumed.tpm.map(|tpm| format!("{} tokens a minute", thousands(tpm))));
    format!(
        "Ranges: at least with responses of {} tokens (--assume-response), at most with responses of {} ({limit}); \
         a model that thinks needs more than the least.\nTime: {} s a call (--assume-seconds), {}.\nCached: what the \
         questions on a book share is paid for once and then read from the provider's cache.\n",
        assumed.response_tokens.min(most.into()),
        thousands(most.into()),
        assumed.seconds_a_call,
        limits.join(", ")
    )
}

fn money(money: Option<Money>) -> String {
    match money {
        None => "unknown".to_owned(),
        Some((low, high)) if low.to_string() == high.to_string() => low.to_string(),
        Some((low, high)) => format!("{low} to {high}"),
    }
}

/// Writes a duration: `40 s`, `12 min`, `3.5 h`.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 100.0 * 60.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
