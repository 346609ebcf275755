//! Requests to embedding models and rerankers, which spend a run's money as calls do.

use super::Spending;
use super::charges::CallName;
use closeread_llm::HostError;
use closeread_llm::price::Dollars;
use closeread_methods::record::ServedCall;
use closeread_providers::{Bill, Tries};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use tracing::debug;

/// A request to an embedding model or a reranker in flight. What it took is a line of a file of its own: until that is
/// written, every try that may be billed is charged with the most that it can cost.
#[derive(Debug)]
pub struct Serving {
    spending: Arc<Spending>,
    /// Most dollars that a try can cost.
    most: Dollars,
    /// Dollars that are set aside, where money is limited.
    aside: Cell<Dollars>,
    /// Tries that may be billed, with their names in the folder's charges.
    tries: RefCell<Vec<Option<CallName>>>,
}

impl Spending {
    /// Waits until a request may begin, which is paid by its tokens or its searches, as the model's price says.
    ///
    /// # Errors
    /// If there is no money for it.
    pub async fn serve(
        self: &Arc<Self>,
        model: &str,
        tokens: impl FnOnce() -> u64,
        searches: Option<u64>,
    ) -> Result<Serving, HostError> {
        let is_paid = self.prices.of(model).is_some() && !self.prices.is_free(model);
        let most = is_paid.then(|| self.prices.cost_of_texts(model, Some(tokens()), searches)).flatten();
        let most = most.unwrap_or_default();
        if most == Dollars::default() {
            self.state().set_aside(most);
        } else if !self.set_aside(most).await {
            return Err(HostError::Failed(
                "--max-cost leaves no money for this request; the same command with a higher one resumes".to_owned(),
            ));
        }
        let aside = Cell::new(self.limited(most));
        Ok(Serving { spending: Arc::clone(self), most, aside, tries: RefCell::default() })
    }

    /// Counts what requests took.
    pub fn served(&self, calls: &[ServedCall]) {
        let mut state = self.state();
        for ServedCall { model, tokens, searches, .. } in calls {
            match self.prices.cost_of_texts(model, *tokens, *searches) {
                Some(dollars) => state.dollars += dollars,
                None => state.unpriced += 1,
            }
        }
    }
}

impl Serving {
    /// Counts what the request took, lost tries among it, which is written down by now.
    pub fn took(self, calls: &[ServedCall]) {
        self.spending.served(calls);
        self.tries.take().into_iter().flatten().for_each(|name| self.note_end(&name));
    }

    /// Notes in the folder's charges that a try costs nothing, or that its cost is written down. If that cannot be noted, it
    /// counts twice after a restart.
    fn note_end(&self, name: &CallName) {
        let ended = self.spending.charges().map(|charges| charges.end(name, Dollars::default()));
        if let Some(Err(error)) = ended {
            debug!("{error:#}");
        }
    }
}

impl Tries for Serving {
    fn begin(&self) -> Result<(), HostError> {
        let mut tries = self.tries.borrow_mut();
        if !tries.is_empty() {
            let more = self.spending.limited(self.most);
            let mut state = self.spending.state();
            if self.spending.limit.is_some_and(|limit| state.dollars + state.reserved + more > limit) {
                let what = "the response was lost, or cannot be used, and may be billed";
                return Err(HostError::Failed(format!("{what}; --max-cost leaves no money to ask again")));
            }
            state.reserved += more;
            self.aside.set(self.aside.get() + more);
        }
        let charges = self.spending.charges().filter(|_| self.most > Dollars::default());
        tries.push(match charges {
            None => None,
            Some(charges) => {
                let name = charges.name();
                charges.begin(&name, self.most).map_err(|error| HostError::Failed(format!("{error:#}")))?;
                Some(name)
            }
        });
        Ok(())
    }

    fn failed(&self, bill: Bill) {
        // Others are among what the request took.
        if bill == Bill::Nothing
            && let Some(Some(name)) = self.tries.borrow_mut().pop()
        {
            self.note_end(&name);
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let aside = self.aside.get();
        // Nobody counted what it took.
        if !self.tries.borrow().is_empty() {
            self.spending.state().lose(aside);
        }
        self.spending.leave(aside);
    }
}
