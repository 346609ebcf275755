//! Methods: the trait, and presets of its parameters.

use crate::cost::{Calls, Cost, Sizes};
use crate::passages::Passages;
use crate::questions::Questions;
use crate::session::Session;
use crate::trial::{MethodError, Stop};
use crate::{Answer, Host};
use closeread_eval::Item;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A way to answer questions on books: the value is its parameters.
#[allow(async_fn_in_trait, reason = "as the futures of `Host`, these are deliberately not Send")]
pub trait Method: Clone + Serialize + DeserializeOwned + 'static {
    /// Names that the method is known by, with the paper's parameters for each.
    const PRESETS: &'static [Preset<Self>];
    /// The preparation that [`Self::prepare`] makes; `()` where it makes nothing.
    type Prepared: Serialize + DeserializeOwned;

    /// Refuses parameters that do not go together, and says why.
    ///
    /// # Errors
    /// What is wrong with them.
    fn check(&self) -> Result<(), &'static str> {
        Ok(())
    }

    /// Returns the passages that the method searches; `None` if it does not search.
    fn passages(&self) -> Option<&Passages> {
        None
    }

    /// Returns whether the method is run once for every token budget.
    fn takes_budget(&self) -> bool {
        false
    }

    /// Returns why the method does not answer an item of this kind; `None` if it does.
    fn declines(&self, _item: &Item) -> Option<&'static str> {
        None
    }

    /// Returns whether the method takes passages by their rank, so that a reranker can put them into another order.
    fn ranks_passages(&self) -> bool {
        false
    }

    /// Returns whether the questions on the same books go into one call for each task, see [`Questions::by_task`].
    fn asks_together(&self) -> bool {
        false
    }

    /// Returns whether the prompts of all questions on the same books begin alike, with the whole text or all its
    /// gists: once one was asked, a provider has that in its cache.
    fn shares_its_prompts(&self) -> bool {
        false
    }

    /// Returns what [`Self::prepare`] depends on besides the books and the model that is asked; `None` if the method
    /// prepares nothing.
    fn preparation(&self) -> Option<PreparationInputs> {
        None
    }

    /// Makes of the books what all questions on them share, before the first is asked.
    ///
    /// # Errors
    /// [`Stop`]: a call that fails ends every question on these books.
    async fn prepare<H: Host>(&self, _session: &mut Session<'_, H>) -> Result<Option<Self::Prepared>, Stop> {
        Ok(None)
    }

    /// Returns the calls that [`Self::prepare`] makes for books of these sizes.
    ///
    /// # Errors
    /// [`MethodError::Prompt`] if a prompt cannot be filled.
    fn preparation_cost(&self, _sizes: &Sizes<'_>) -> Result<Vec<Calls>, MethodError> {
        Ok(Vec::new())
    }

    /// Answers the questions, one [`Answer`] each, in their order; they are several only if the method asks together.
    ///
    /// # Errors
    /// [`Stop`]: all the questions end so.
    async fn answer<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        prepared: Option<&Self::Prepared>,
    ) -> Result<Vec<Answer>, Stop>;

    /// Returns the calls that [`Self::answer`] makes for the questions, on books of these sizes.
    ///
    /// # Errors
    /// [`MethodError::Prompt`] if a prompt cannot be filled.
    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError>;
}

/// A name that a method is known by, and the parameters that it stands for.
#[derive(Debug, Clone, Copy)]
pub struct Preset<M> {
    /// Name of the preset in options, records and tables.
    pub name: &'static str,
    /// Paper and section.
    pub paper: &'static str,
    /// What the model gets, in a line.
    pub summary: &'static str,
    /// The paper's parameters.
    pub make: fn() -> M,
}

impl<M> Preset<M> {
    /// Makes a preset.
    pub const fn new(name: &'static str, paper: &'static str, summary: &'static str, make: fn() -> M) -> Self {
        Self { name, paper, summary, make }
    }
}

/// The inputs of a preparation besides the books, their embedding model and the model that is asked: preparations that
/// have all of these in common are made once.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparationInputs {
    /// The parameters that are read.
    pub parameters: Value,
    /// Names of the prompts that are asked by.
    pub prompts: &'static [&'static str],
}
