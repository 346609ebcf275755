//! Settings with which the models of a run were asked, as far as papers print them.

use closeread_eval::observations::CellFacts;
use closeread_llm::reasoning::Reasoning;
use std::collections::BTreeMap;

/// The settings with which the models of a run were asked, from its manifest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HowAsked {
    /// Tokens that models can take, where the run was given a limit for all.
    pub window: Option<usize>,
    /// Context windows by model, for models with a window of their own.
    pub windows: BTreeMap<String, usize>,
    /// Most tokens that a response may have; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// Reasoning effort that the models were asked for; `None` leaves it to the provider.
    pub reasoning: Option<Reasoning>,
    /// Sampling temperatures by method, for methods that set their own.
    pub temperatures: BTreeMap<String, f64>,
}

impl HowAsked {
    /// Tokens that a model can take, where that is known.
    pub(crate) fn window_of(&self, model: &str) -> Option<usize> {
        self.windows.get(model).copied().or(self.window)
    }

    /// The sampling temperature that a method asks for: 0, as in the papers, unless it sets its own. A model that takes no
    /// temperature but its own was sent none.
    pub fn temperature_of(&self, method: &str) -> f64 {
        self.temperatures.get(method).copied().unwrap_or(0.0)
    }

    /// Returns the facts of the cells of a model.
    pub(super) fn facts(&self, model: &str) -> CellFacts {
        CellFacts { context_window: self.window_of(model), reasoning: self.reasoning.map(Reasoning::is_on) }
    }
}
