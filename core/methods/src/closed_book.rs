//! Closed book: the question without the text. What is answered here was known before (NovelQA §4.6, SagaScale §3.2).

use super::cost::{Cost, Range, Sizes};
use super::read::{Shown, limit_for};
use super::style::View;
use super::{Answer, Method, MethodError, Preset, PromptStyle, Questions, Session, Stop};
use crate::Host;
use serde::{Deserialize, Serialize};

/// Asks the questions with the title of the work and nothing of its text.
///
/// Stronger Baselines, CorpusQA and HAMLET have no closed-book setting; their prompts without the text are ours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedBook {
    /// Paper whose prompt and answer form the method uses.
    pub style: PromptStyle,
    /// Whether all questions on a book go into one call, as NovelQA does; in its style alone.
    pub together: bool,
}

impl Method for ClosedBook {
    const PRESETS: &'static [Preset<Self>] = &[Preset::new(
        "closed-book",
        "NovelQA 4.6, SagaScale 3.2",
        "the question and the title, nothing of the text",
        Self::default,
    )];
    type Prepared = ();

    fn check(&self) -> Result<(), &'static str> {
        self.style.check(self.together, false)
    }

    fn asks_together(&self) -> bool {
        self.together
    }

    async fn answer<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        _prepared: Option<&()>,
    ) -> Result<Vec<Answer>, Stop> {
        session.limit_output(limit_for(session.settings().response_limit, questions, false));
        session.read(questions, Shown::nothing(), self.style).await
    }

    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
        let call = sizes.reading(questions, self.style, View::Nothing, Range::default())?;
        Ok(call.limited_to(limit_for(sizes.settings.response_limit, questions, false)).into())
    }
}
