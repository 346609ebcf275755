//! The questions of one call.

use closeread_eval::{Item, Task};

/// The questions of one call: one item, or several of one task on the same books; never none.
#[derive(Debug, Clone)]
pub struct Questions<'q>(Vec<&'q Item>);

impl<'q> Questions<'q> {
    /// Asks one item.
    pub fn one(item: &'q Item) -> Self {
        Self(vec![item])
    }

    /// Asks each item by itself.
    pub fn one_each(items: &[&'q Item]) -> Vec<Self> {
        items.iter().copied().map(Self::one).collect()
    }

    /// The items that one call can ask: those of one task, in their order, choices and open questions; a summary stands
    /// alone.
    ///
    /// All of NovelQA's questions about a book go into one prompt (§4.1, table 11), and each of its settings asks all of
    /// them in one way; a benchmark that has choices and open questions on one book gets a call for either.
    pub fn by_task(items: &[&'q Item]) -> Vec<Self> {
        let of = |task: Task| items.iter().copied().filter(move |item| item.task == task);
        let mut batches: Vec<Self> = [Task::Choice, Task::Generative].map(|task| Self(of(task).collect())).into();
        batches.retain(|batch| !batch.0.is_empty());
        batches.extend(of(Task::Summary).map(Self::one));
        batches
    }

    /// The items, at least one.
    pub fn items(&self) -> &[&'q Item] {
        &self.0
    }

    /// Returns the first item; where there is one, the item.
    pub fn first(&self) -> &'q Item {
        self.0[0]
    }

    /// Returns the items behind the first.
    pub fn further(&self) -> &[&'q Item] {
        &self.0[1..]
    }

    /// Returns the task of all the items.
    pub fn task(&self) -> Task {
        self.first().task
    }
}
