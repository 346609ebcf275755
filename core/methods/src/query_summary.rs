//! Query-focused summary of a whole book (HAMLET, section 3, stage 2).

use super::cost::{Cost, Sizes};
use super::{Answer, FullDocument, Method, MethodError, OnOverflow, Preset, PromptStyle, Questions, Session, Stop};
use crate::Host;
use closeread_eval::{Item, Task};
use serde::{Deserialize, Serialize};

/// Hands the reader the whole text and a query, and takes its response as the summary, by the prompt `read-summary`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuerySummary {
    /// What to do with a book that exceeds the window. The paper's books fit (115K tokens at most).
    pub overflow: OnOverflow,
}

impl QuerySummary {
    fn reading(&self) -> FullDocument {
        FullDocument { overflow: self.overflow, style: PromptStyle::Hamlet, ..FullDocument::default() }
    }
}

impl Method for QuerySummary {
    const PRESETS: &'static [Preset<Self>] = &[Preset::new(
        "query-summary",
        "HAMLET 3, stage 2",
        "the whole text and a query to summarise it by; items of task summary only",
        Self::default,
    )];
    type Prepared = ();

    fn declines(&self, item: &Item) -> Option<&'static str> {
        (item.task != Task::Summary).then_some("query-summary answers items of task summary")
    }

    fn shares_its_prompts(&self) -> bool {
        true
    }

    async fn answer<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        _prepared: Option<&()>,
    ) -> Result<Vec<Answer>, Stop> {
        self.reading().answer(session, questions, None).await
    }

    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
        self.reading().cost(sizes, questions)
    }
}
