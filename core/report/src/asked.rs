//! How the models of a run were asked, as far as papers print it.

use closeread_eval::observations::CellFacts;
use closeread_llm::reasoning::Reasoning;
use std::collections::BTreeMap;

/// What a run's manifest says of how its models were asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HowAsked {
    /// Tokens that models can take, where the run was given a limit for all.
    pub window: Option<usize>,
    /// The same by model, for those with a window of their own.
    pub windows: BTreeMap<String, usize>,
    /// Most tokens of a response; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// How much they were asked to reason; `None` leaves it to the provider.
    pub reasoning: Option<Reasoning>,
}

impl HowAsked {
    /// Tokens that a model can take, where that is known.
    pub fn window_of(&self, model: &str) -> Option<usize> {
        self.windows.get(model).copied().or(self.window)
    }

    /// What is known of the cells of a model.
    pub(super) fn facts(&self, model: &str) -> CellFacts {
        let (context_window, max_output_tokens) = (self.window_of(model), self.max_output_tokens);
        let reasoning = self.reasoning.map(Reasoning::is_on);
        CellFacts { context_window, max_output_tokens, reasoning, ..CellFacts::default() }
    }
}
