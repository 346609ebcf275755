//! The offer of methods to choose from: each with its parameters, and what one question asks of a model.

use super::defaults::Protocol;
use crate::cost::{BookSize, Cost, Range, Stage};
use crate::{AnyMethod, Entry, METHODS, MethodError, Settings};
use closeread_eval::{Item, Task};
use serde::Serialize;

/// Question of usual length that costs are counted with.
const QUESTION: &str = "Who finds the letter that was hidden in the clock, and what becomes of it afterwards?";

/// A method as it is offered: what `closeread methods --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "MethodOffer"))]
pub struct Offer {
    /// Name of the method.
    pub name: &'static str,
    /// Paper and section.
    pub paper: &'static str,
    /// What the model gets, in a line.
    pub summary: &'static str,
    /// Whether the method searches the books for passages.
    pub searches: bool,
    /// The paper's values of everything that can be set.
    #[cfg_attr(feature = "typescript", ts(type = "Record<string, unknown>"))]
    pub parameters: AnyMethod,
    /// Costs of one question, once for each budget where the method takes one.
    pub costs: Vec<OfferedCost>,
}

/// Calls and tokens of one question on a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OfferedCost {
    /// Most tokens that the passages may have; `None` for a method without budget.
    pub budget: Option<usize>,
    /// Cost of the preparation, made once for all questions and all budgets.
    pub preparation: StageCost,
    /// Cost of each question.
    pub question: StageCost,
}

/// Calls of one stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageCost {
    /// Number of calls.
    pub calls: Range,
    /// Tokens of all their prompts together.
    pub prompt_tokens: Range,
}

/// Returns every method, with what a question of usual length asks for on a book of that size.
///
/// # Errors
/// [`MethodError::Prompt`] if a prompt cannot be filled.
pub fn offers(settings: Settings<'_>, size: &BookSize) -> Result<Vec<Offer>, MethodError> {
    METHODS.iter().map(|entry| Offer::new(entry, settings, size)).collect()
}

impl Offer {
    fn new(entry: &Entry, settings: Settings<'_>, size: &BookSize) -> Result<Self, MethodError> {
        let parameters = entry.preset();
        let mut item = Item::new("question", "book", QUESTION, Task::Generative);
        let cost = |item: &Item, budget| parameters.cost(settings, std::slice::from_ref(size), &[item], budget);
        if parameters.declines(&item).is_some() {
            item.task = Task::Summary;
        }
        let budgets: Vec<Option<usize>> = match parameters.takes_budget() {
            true => Protocol::OWN.budgets.iter().map(|&budget| Some(budget)).collect(),
            false => vec![None],
        };
        let offered = |budget| Ok(OfferedCost::new(budget, &cost(&item, budget)?));
        let costs = budgets.into_iter().map(offered).collect::<Result<_, MethodError>>()?;
        let Entry { name, paper, summary, .. } = *entry;
        Ok(Self { name, paper, summary, searches: parameters.passages().is_some(), parameters, costs })
    }
}

impl OfferedCost {
    fn new(budget: Option<usize>, cost: &Cost) -> Self {
        let stage = |stage: Stage| {
            let calls = || cost.calls.iter().filter(move |calls| calls.stage == stage);
            StageCost {
                calls: calls().map(|calls| calls.n).sum(),
                prompt_tokens: calls().map(|calls| calls.prompt).sum(),
            }
        };
        Self { budget, preparation: stage(Stage::Preparation), question: stage(Stage::Question) }
    }
}
