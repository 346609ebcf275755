//! Every method by its name, with its parameters: what a command line or a page chooses from.

use super::{
    AgenticRag, ClosedBook, CorpusRag, Dress, FullDocument, Material, MemoryAgent, MethodError, NaiveRag, Preparation,
    QuerySummary, Rag, Raptor, ReadAgent, Setting, Trial, agentic_rag, batches, closed_book, corpus_rag, full_document,
    memory_agent, naive_rag, prepare_pages, query_summary, rag, raptor, read_agent,
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
        name: "naive-rag",
        paper: "SagaScale 4.1",
        summary: "the best three passages of 512 tokens",
        budgets: false,
        extractive: true,
        read: |given| parameters(given).map(Method::NaiveRag),
    },
    Entry {
        name: "agentic-rag",
        paper: "SagaScale 4.1",
        summary: "what it searches for, three passages a search, at most eight searches",
        budgets: false,
        extractive: true,
        read: |given| parameters(given).map(Method::AgenticRag),
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
    Entry {
        name: "read-agent",
        paper: "Stronger Baselines, appendix A.6 (ReadAgent)",
        summary: "the gists of all pages, and the pages that it looked up",
        budgets: false,
        extractive: true,
        read: |given| parameters(given).map(Method::ReadAgent),
    },
    Entry {
        name: "memory-agent",
        paper: "CorpusQA 4.1 (MemAgent)",
        summary: "the memory that it kept while it read the whole text section by section",
        budgets: false,
        extractive: true,
        read: |given| parameters(given).map(Method::MemoryAgent),
    },
    Entry {
        name: "corpus-rag",
        paper: "CorpusQA 4.1",
        summary: "the best chunks of all documents within a token budget, under their documents' headings",
        budgets: true,
        extractive: true,
        read: |given| parameters(given).map(Method::CorpusRag),
    },
    Entry {
        name: "query-summary",
        paper: "HAMLET 3, stage 2",
        summary: "the whole text and a query to summarise it by; items of task summary only",
        budgets: false,
        extractive: true,
        read: |given| parameters(given).map(Method::QuerySummary),
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
    /// [`naive_rag`].
    NaiveRag(NaiveRag),
    /// [`agentic_rag`].
    AgenticRag(AgenticRag),
    /// [`rag`], best passage first.
    VanillaRag(Rag),
    /// [`rag`] in document order.
    DosRag(Rag),
    /// [`raptor`].
    Raptor(Raptor),
    /// [`read_agent`].
    ReadAgent(ReadAgent),
    /// [`memory_agent`].
    MemoryAgent(MemoryAgent),
    /// [`corpus_rag`].
    CorpusRag(CorpusRag),
    /// [`query_summary`].
    QuerySummary(QuerySummary),
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
    /// [`ParameterError::Wrong`] for a name it does not know, a value of the wrong kind, or values that do not go together.
    pub fn method(&self, given: &Value) -> Result<Method, ParameterError> {
        let wrong = |problem: String| ParameterError::Wrong { method: self.name.to_owned(), problem };
        let method = (self.read)(given).map_err(|error| wrong(error.to_string()))?;
        method.check().map_err(|problem| wrong(problem.to_owned()))?;
        Ok(method)
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
            Self::QuerySummary(_) => None,
            Self::NaiveRag(NaiveRag { max_tokens, .. }) | Self::AgenticRag(AgenticRag { max_tokens, .. }) => {
                Some(Cut { chunker: Chunker::Window, max_tokens: *max_tokens })
            }
            Self::ReadAgent(_) | Self::MemoryAgent(_) => None,
            Self::VanillaRag(rag) | Self::DosRag(rag) => {
                Some(Cut { chunker: Chunker::Dos, max_tokens: rag.max_tokens })
            }
            Self::Raptor(raptor) => Some(Cut { chunker: Chunker::Dos, max_tokens: raptor.max_tokens }),
            Self::CorpusRag(rag) => Some(Cut { chunker: Chunker::Window, max_tokens: rag.max_tokens }),
        }
    }

    /// The parameter that names its embedding model, if it has one; `None` in it asks for [`SAGASCALE_EMBEDDER`], or the
    /// run's where that is not installed.
    ///
    /// [`SAGASCALE_EMBEDDER`]: super::SAGASCALE_EMBEDDER
    pub fn embedder_mut(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::NaiveRag(NaiveRag { embedder, .. }) | Self::AgenticRag(AgenticRag { embedder, .. }) => Some(embedder),
            _ => None,
        }
    }

    /// What keeps its parameters from going together.
    fn check(&self) -> Result<(), &'static str> {
        let (dress, together, evidence) = match self {
            Self::ClosedBook(p) => (p.dress, p.together, false),
            Self::FullDocument(p) => (p.dress, p.together, p.evidence),
            _ => return Ok(()),
        };
        match dress {
            Dress::Novelqa => Ok(()),
            _ if together => Err("together=true needs dress=novelqa, the only form with a line for each answer"),
            _ if evidence => Err("evidence=true needs dress=novelqa, the only form that cites sentences"),
            _ => Ok(()),
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
            Self::Raptor(parameters) => raptor::prepare(host, setting, material, parameters).await.map(Some),
            Self::ReadAgent(parameters) => prepare_pages(host, setting, material, parameters).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Whether the prompts of all questions on the same books begin alike, with the whole text or all its gists: once one
    /// was asked, a provider has that in its cache.
    pub fn shares_its_prompts(&self) -> bool {
        matches!(self, Self::FullDocument(_) | Self::QuerySummary(_) | Self::ReadAgent(_))
    }

    /// Whether the questions on the same books go into one call for each of their [`batches`].
    pub fn asks_together(&self) -> bool {
        match self {
            Self::ClosedBook(ClosedBook { together, .. }) | Self::FullDocument(FullDocument { together, .. }) => {
                *together
            }
            _ => false,
        }
    }

    /// Tries to answer `items`, which are about the same books; one trial each, in their order. Where the method asks
    /// together, each of their [`batches`] goes into one call.
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
        if !self.asks_together() {
            let mut trials = Vec::new();
            for item in items {
                trials.push(self.try_one(host, setting, material, item, budget).await?);
            }
            return Ok(trials);
        }
        let mut trials: Vec<Option<Trial>> = items.iter().map(|_| None).collect();
        for batch in batches(items) {
            let tried = self.try_together(host, setting, material, &batch).await?;
            for (item, trial) in batch.iter().zip(tried) {
                let place =
                    items.iter().zip(&trials).position(|(other, trial)| trial.is_none() && std::ptr::eq(*other, *item));
                trials[place.expect("a batch holds items of the list, each once")] = Some(trial);
            }
        }
        Ok(trials.into_iter().map(|trial| trial.expect("every item is in a batch")).collect())
    }

    async fn try_together<H: Host>(
        &self,
        host: &H,
        setting: Setting<'_>,
        material: &Material<'_>,
        items: &[&Item],
    ) -> Result<Vec<Trial>, MethodError> {
        match self {
            Self::ClosedBook(parameters) => closed_book(host, setting, material, items, parameters).await,
            Self::FullDocument(parameters) => full_document(host, setting, material, items, parameters).await,
            _ => unreachable!("asks_together is true of these alone"),
        }
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
            Self::ClosedBook(_) | Self::FullDocument(_) => {
                self.try_together(host, setting, material, &[item]).await.map(|mut trials| trials.remove(0))
            }
            Self::NaiveRag(parameters) => naive_rag(host, setting, material, item, parameters).await,
            Self::AgenticRag(parameters) => agentic_rag(host, setting, material, item, parameters).await,
            Self::VanillaRag(parameters) => {
                rag(host, setting, material, item, parameters, PassageOrder::Score, within(budget)).await
            }
            Self::DosRag(parameters) => {
                rag(host, setting, material, item, parameters, PassageOrder::Document, within(budget)).await
            }
            Self::Raptor(parameters) => raptor::raptor(host, setting, material, item, parameters, within(budget)).await,
            Self::ReadAgent(parameters) => read_agent(host, setting, material, item, parameters).await,
            Self::MemoryAgent(parameters) => memory_agent(host, setting, material, item, parameters).await,
            Self::CorpusRag(parameters) => corpus_rag(host, setting, material, item, parameters, within(budget)).await,
            Self::QuerySummary(parameters) => query_summary(host, setting, material, item, parameters).await,
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
        for parameter in ["together", "evidence"] {
            let given = json!({"dress": "sagascale", parameter: true});
            let message = Method::named("full-document", &given).unwrap_err().to_string();
            assert!(message.contains(&format!("{parameter}=true needs dress=novelqa")), "{message}");
        }
        let message = Method::named("dos", &json!({})).unwrap_err().to_string();
        assert!(message.contains("closed-book, full-document"), "{message}");
    }
}
