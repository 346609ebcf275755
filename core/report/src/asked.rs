//! Settings with which the models of a run were asked, as far as papers print them.

use closeread_eval::observations::CellFacts;
use closeread_llm::reasoning::Reasoning;
use std::collections::BTreeMap;

/// The settings with which the models of a run were asked, from its manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HowAsked {
    /// Tokens that models can take, where the run was given a limit for all.
    pub window: Option<usize>,
    /// Context windows by model, for models with a window of their own.
    pub windows: BTreeMap<String, usize>,
    /// Most tokens that a response may have; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// Reasoning effort that the models were asked for; `None` leaves it to the provider.
    pub reasoning: Option<Reasoning>,
}

impl HowAsked {
    /// Tokens that a model can take, where that is known.
    pub fn window_of(&self, model: &str) -> Option<usize> {
        self.windows.get(model).copied().or(self.window)
    }

    /// Returns the facts of the cells of a model.
    pub(super) fn facts(&self, model: &str) -> CellFacts {
        let (context_window, max_output_tokens) = (self.window_of(model), self.max_output_tokens);
        let reasoning = self.reasoning.map(Reasoning::is_on);
        CellFacts { context_window, max_output_tokens, reasoning, ..CellFacts::default() }
    }
}
