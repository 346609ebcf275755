//! Every method by its name, with its parameters: what a command line or a page chooses from.

use super::{
    ClosedBook, FullDocument, Material, MethodError, Preparation, Rag, Raptor, Setting, Trial, closed_book,
    full_document, rag, raptor,
};
use crate::benchmark::Item;
use crate::chunk::Chunker;
use crate::host::Host;
use crate::retrieve::PassageOrder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is known of a method before it runs.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name in options, records and tables.
    pub name: &'static str,
    /// Paper and section.
    pub paper: &'static str,
    /// What the reader gets, in a line.
    pub summary: &'static str,
    /// It is run once for every token budget.
    pub budgets: bool,
    /// It runs against `builtin/extractive`.
    pub extractive: bool,
    /// Reads its parameters, of which none need be given.
    read: fn(&Value) -> Result<Method, serde_json::Error>,
}

/// Every method, in the order of a report.
pub static METHODS: &[Entry] = &[
    Entry {
        name: "closed-book",
        paper: "NovelQA 4.1, SagaScale 3.2",
        summary: "the question and the title, nothing of the text",
        budgets: false,
        extractive: true,
        read: |given| parameters(given).map(Method::ClosedBook),
    },
    Entry {
        name: "full-document",
        paper: "SagaScale 4.1 (long context), NovelQA 4.1, Stronger Baselines",
        summary: "the whole text",
        budgets: false,
        extractive: true,
        read: |given| parameters(given).map(Method::FullDocument),
    },
    Entry {
        name: "vanilla-rag",
        paper: "Stronger Baselines 2.3",
        summary: "the best passages within a token budget, best first",
        budgets: true,
        extractive: true,
        read: |given| parameters(given).map(Method::VanillaRag),
    },
    Entry {
        name: "dos-rag",
        paper: "Stronger Baselines 2.3",
        summary: "the same passages in document order",
        budgets: true,
        extractive: true,
        read: |given| parameters(given).map(Method::DosRag),
    },
    Entry {
        name: "raptor",
        paper: "RAPTOR, as Stronger Baselines compares with it (A.7)",
        summary: "the best passages and summaries of a tree within a token budget, best first",
        budgets: true,
        extractive: true,
        read: |given| parameters(given).map(Method::Raptor),
    },
];

/// The entry of that name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    METHODS.iter().find(|entry| entry.name == name)
}

/// A method with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Method {
    /// [`closed_book`].
    ClosedBook(ClosedBook),
    /// [`full_document`].
    FullDocument(FullDocument),
    /// [`rag`], best passage first.
    VanillaRag(Rag),
    /// [`rag`] in document order.
    DosRag(Rag),
    /// [`raptor`].
    Raptor(Raptor),
}

/// Why parameters cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// No method of that name.
    #[error("there is no method `{0}`; the names are: {1}")]
    Unknown(String, String),
    /// A name or a value that the method does not take.
    #[error("method `{method}` does not take these parameters: {problem}")]
    Wrong {
        /// Name of the method.
        method: String,
        /// What is wrong.
        problem: String,
    },
}

/// How books have to be cut for a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cut {
    /// The rule.
    pub chunker: Chunker,
    /// Most tokens of a passage.
    pub max_tokens: usize,
}

impl Entry {
    /// The method with parameters from a JSON object; what it does not name keeps the paper's value.
    ///
    /// # Errors
    /// [`ParameterError::Wrong`] for a name it does not know or a value of the wrong kind.
    pub fn method(&self, given: &Value) -> Result<Method, ParameterError> {
        let wrong =
            |e: serde_json::Error| ParameterError::Wrong { method: self.name.to_owned(), problem: e.to_string() };
        (self.read)(given).map_err(wrong)
    }
}

fn parameters<T: for<'de> Deserialize<'de>>(given: &Value) -> Result<T, serde_json::Error> {
    T::deserialize(given)
}

impl Method {
    /// The method `name` with parameters from a JSON object; what it does not name keeps the paper's value.
    ///
    /// # Errors
    /// [`ParameterError`] for an unknown method or parameter.
    pub fn named(name: &str, given: &Value) -> Result<Self, ParameterError> {
        let known = || METHODS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
        entry(name).ok_or_else(|| ParameterError::Unknown(name.to_owned(), known()))?.method(given)
    }

    /// How it wants the books cut; `None` if it does not search them.
    pub fn cut(&self) -> Option<Cut> {
        match self {
            Self::ClosedBook(_) | Self::FullDocument(_) => None,
            Self::VanillaRag(rag) | Self::DosRag(rag) => {
                Some(Cut { chunker: Chunker::Dos, max_tokens: rag.max_tokens })
            }
            Self::Raptor(raptor) => Some(Cut { chunker: Chunker::Dos, max_tokens: raptor.max_tokens }),
        }
    }

    /// Makes of the books what all questions on them share, before the first is asked; `None` if the method asks at once.
    ///
    /// # Errors
    /// [`MethodError`] if the method cannot run at all. A call that fails is part of the preparation.
    pub async fn prepare<H: Host>(
        &self,
        host: &H,
        setting: Setting<'_>,
        material: &Material<'_>,
    ) -> Result<Option<Preparation>, MethodError> {
        match self {
            Self::ClosedBook(_) | Self::FullDocument(_) | Self::VanillaRag(_) | Self::DosRag(_) => Ok(None),
            Self::Raptor(parameters) => raptor::prepare(host, setting, material, parameters).await.map(Some),
        }
    }

    /// Whether all questions on the same books go into one call.
    pub fn asks_together(&self) -> bool {
        match self {
            Self::ClosedBook(_) | Self::FullDocument(_) | Self::VanillaRag(_) | Self::DosRag(_) => false,
            Self::Raptor(_) => false,
        }
    }

    /// Tries to answer `items`, all of one call where the method asks them together; one trial each, in their order.
    /// `budget` is for methods that are run once for each.
    ///
    /// # Errors
    /// [`MethodError`] if the method cannot run at all. What goes wrong with one item is an outcome.
    pub async fn run<H: Host>(
        &self,
        host: &H,
        setting: Setting<'_>,
        material: &Material<'_>,
        items: &[&Item],
        budget: Option<usize>,
    ) -> Result<Vec<Trial>, MethodError> {
        let mut trials = Vec::new();
        for item in items {
            trials.push(self.try_one(host, setting, material, item, budget).await?);
        }
        Ok(trials)
    }

    async fn try_one<H: Host>(
        &self,
        host: &H,
        setting: Setting<'_>,
        material: &Material<'_>,
        item: &Item,
        budget: Option<usize>,
    ) -> Result<Trial, MethodError> {
        match self {
            Self::ClosedBook(parameters) => closed_book(host, setting, material, item, parameters).await,
            Self::FullDocument(parameters) => full_document(host, setting, material, item, parameters).await,
            Self::VanillaRag(parameters) => {
                rag(host, setting, material, item, parameters, PassageOrder::Score, within(budget)).await
            }
            Self::DosRag(parameters) => {
                rag(host, setting, material, item, parameters, PassageOrder::Document, within(budget)).await
            }
            Self::Raptor(parameters) => raptor::raptor(host, setting, material, item, parameters, within(budget)).await,
        }
    }
}

/// The budget of a method that has one; without it everything fits.
fn within(budget: Option<usize>) -> usize {
    budget.unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_method_has_parameters_that_can_be_printed_and_read_again() {
        for entry in METHODS {
            let method = entry.method(&json!({})).unwrap();
            let printed = serde_json::to_value(&method).unwrap();
            assert_eq!(entry.method(&printed).unwrap(), method, "{}", entry.name);
        }
    }

    #[test]
    fn an_unknown_parameter_is_refused_by_name() {
        let message = Method::named("dos-rag", &json!({"bugdet": 1})).unwrap_err().to_string();
        assert!(message.contains("`bugdet`") && message.contains("dos-rag"), "{message}");
        let message = Method::named("dos", &json!({})).unwrap_err().to_string();
        assert!(message.contains("closed-book, full-document"), "{message}");
    }
}
